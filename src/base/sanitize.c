#include "base/sanitize.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FOREIGN UINT32_MAX

static size_t foreign_byte(uint32_t *point)
{
    *point = FOREIGN;
    return 1;
}

/* Length of the UTF-8 character at text (RFC 3629: shortest form, no surrogates, ≤ U+10FFFF) and
 * its code point; of a byte that begins none, 1 and FOREIGN. */
static size_t character_bytes(const char *text, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*text;
    *point = first;
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return foreign_byte(point);
    *point = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return foreign_byte(point);
        *point = *point << 6 | (text[i] & 0x3f);
    }
    if (*point < smallest[length] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000))
        return foreign_byte(point);
    return length;
}

/* A copy in which write has put each character, in WRITTEN_MOST bytes at most. */
#define WRITTEN_MOST 6
static char *rewrite(const char *text,
                     char *(*write)(char *to, const char *from, size_t length, uint32_t point))
{
    text = text ? text : "";
    char *copy = memory__zeroed(strlen(text) + 1, WRITTEN_MOST), *to = copy;
    for (uint32_t point; *text;) {
        size_t length = character_bytes(text, &point);
        to = write(to, text, length, point);
        text += length;
    }
    return copy;
}

/* Control characters (C0, DEL, C1), line separators, and marks of the direction of writing; and
 * what is no character. */
static bool is_harmful(uint32_t point)
{
    return point == FOREIGN || point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x061c ||
           (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

static char *write_shown(char *to, const char *from, size_t length, uint32_t point)
{
    if (!is_harmful(point))
        return mempcpy(to, from, length);
    if (point == '\n')
        return stpcpy(to, "\\n");
    if (point == '\t')
        return stpcpy(to, "\\t");
    point = point == FOREIGN ? (unsigned char)*from : point;
    return to + sprintf(to, point < 0x100 ? "\\x%02x" : "\\u%04x", point);
}

char *text__for_screen(const char *text)
{
    return rewrite(text, write_shown);
}

static char *write_utf8(char *to, const char *from, size_t length, uint32_t point)
{
    return point == FOREIGN ? stpcpy(to, "\xef\xbf\xbd") : mempcpy(to, from, length);
}

char *text__utf8(const char *text)
{
    return rewrite(text, write_utf8);
}

/* What stands in ASCII for the characters that screens are made of. */
static const struct {
    uint32_t point;
    const char *ascii;
} plain_characters[] = {
    {0xb7, "|"},     {0xd7, "x"},    {0x2013, "-"},   {0x2014, "-"}, {0x2019, "'"},
    {0x2026, "..."}, {0x2190, "<-"}, {0x2192, "->"},  {0x2248, "~"}, {0x2264, "<="},
    {0x2265, ">="},  {0xb5, "u"},    {0x2211, "sum"}, {0x2212, "-"},
};

static const char *plain_character(uint32_t point)
{
    for (size_t i = 0; i < sizeof plain_characters / sizeof *plain_characters; i++)
        if (plain_characters[i].point == point)
            return plain_characters[i].ascii;
    return point >= 0x2580 && point < 0x25a0 ? "#" : "?"; /* a block of a bar, or foreign */
}

static char *write_ascii(char *to, const char *from, size_t length, uint32_t point)
{
    return stpcpy(to, length == 1 && point != FOREIGN ? (const char[]){*from, 0}
                                                      : plain_character(point));
}

char *text__ascii(const char *text)
{
    return rewrite(text, write_ascii);
}

bool text__is_harmless(const char *text)
{
    for (uint32_t point; *text;) {
        text += character_bytes(text, &point);
        if (is_harmful(point))
            return false;
    }
    return true;
}

void text__blunt(char *text, const char *kept)
{
    char *to = text;
    for (uint32_t point; *text;) {
        size_t length = character_bytes(text, &point);
        if (is_harmful(point) && !strchr(kept, *text)) {
            *to++ = '?';
        } else {
            memmove(to, text, length);
            to += length;
        }
        text += length;
    }
    *to = 0;
}

void json__put_harmless(const char *json, FILE *out)
{
    const char *from = json;
    for (uint32_t point; *json;) {
        size_t length = character_bytes(json, &point);
        if (is_harmful(point) && point >= 0x7f && point != FOREIGN) {
            fwrite_unlocked(from, 1, (size_t)(json - from), out);
            fprintf(out, "\\u%04x", point);
            from = json + length;
        }
        json += length;
    }
    fputs_unlocked(from, out);
}
