#include "base/sanitize.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 character at text (RFC 3629: shortest form, no surrogates, ≤ U+10FFFF) and
 * its code point; 0 when the bytes are none. */
static size_t character_bytes(const unsigned char *text, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = *text;
    *point = first;
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    *point = first & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3f);
    }
    if (*point < smallest[length] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000))
        return 0;
    return length;
}

/* Control characters (C0, DEL, C1), line separators, and marks of the direction of writing. */
static bool is_obeyed(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x061c ||
           (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

static size_t put_escape(char *to, uint32_t point)
{
    if (point == '\n')
        return (size_t)sprintf(to, "\\n");
    if (point == '\t')
        return (size_t)sprintf(to, "\\t");
    return (size_t)sprintf(to, point < 0x100 ? "\\x%02x" : "\\u%04x", point);
}

char *text__for_screen(const char *text)
{
    const unsigned char *from = (const unsigned char *)(text ? text : "");
    char *clean = memory__zeroed(strlen((const char *)from) + 1, 6);
    char *to = clean;
    while (*from) {
        uint32_t point;
        size_t length = character_bytes(from, &point);
        if (length == 0 || is_obeyed(point)) {
            to += put_escape(to, length ? point : *from);
        } else {
            memcpy(to, from, length);
            to += length;
        }
        from += length ? length : 1;
    }
    return clean;
}

char *text__utf8(const char *text)
{
    const unsigned char *from = (const unsigned char *)(text ? text : "");
    char *clean = memory__zeroed(strlen((const char *)from) + 1, 3);
    char *to = clean;
    while (*from) {
        uint32_t point;
        size_t length = character_bytes(from, &point);
        memcpy(to, length ? (const char *)from : "\xef\xbf\xbd", length ? length : 3);
        to += length ? length : 3;
        from += length ? length : 1;
    }
    return clean;
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

char *text__ascii(const char *text)
{
    const unsigned char *from = (const unsigned char *)(text ? text : "");
    char *plain = memory__zeroed(strlen((const char *)from) + 1, 3);
    char *to = plain;
    while (*from) {
        uint32_t point;
        size_t length = character_bytes(from, &point);
        if (length == 1)
            *to++ = (char)*from;
        else
            to = stpcpy(to, length ? plain_character(point) : "?");
        from += length ? length : 1;
    }
    return plain;
}

/* Bytes of what stands first in text, and whether a terminal may obey it: also what is no UTF-8. */
static size_t first_bytes(const char *text, bool *is_harmful)
{
    uint32_t point;
    size_t length = character_bytes((const unsigned char *)text, &point);
    *is_harmful = length == 0 || is_obeyed(point);
    return length ? length : 1;
}

bool text__is_harmless(const char *text)
{
    bool is_harmful = false;
    while (*text && !is_harmful)
        text += first_bytes(text, &is_harmful);
    return !is_harmful;
}

void text__blunt(char *text, const char *kept)
{
    char *to = text;
    while (*text) {
        bool is_harmful;
        size_t length = first_bytes(text, &is_harmful);
        if (is_harmful && !strchr(kept, *text)) {
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
    while (*json) {
        uint32_t point;
        size_t length = character_bytes((const unsigned char *)json, &point);
        if (length && is_obeyed(point) && point >= 0x7f) {
            fwrite_unlocked(from, 1, (size_t)(json - from), out);
            fprintf(out, "\\u%04x", point);
            from = json + length;
        }
        json += length ? length : 1;
    }
    fputs_unlocked(from, out);
}
