#include "present/screen/csv_line.h"

#include "present/screen/fields.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

static void begin_field(struct csv_line *line)
{
    if (line->begun)
        putc_unlocked(',', line->out);
    line->begun = true;
}

/* How much of it is of ASCII that need not be changed, nor stand in quotes. */
static size_t plain_bytes(const char *text)
{
    static const bool ends[256] = {
        [0 ... 0x1f] = true, [','] = true, ['"'] = true, [0x7f ... 0xff] = true};
    size_t bytes = 0;
    while (!ends[(uint8_t)text[bytes]])
        bytes++;
    return bytes;
}

void line__text(struct csv_line *line, const char *text)
{
    begin_field(line);
    size_t plain = text ? plain_bytes(text) : 0;
    if (text && !text[plain]) {
        fwrite_unlocked(text, 1, plain, line->out);
        return;
    }
    char *clean = text__utf8(text);
    text__blunt(clean, "\n\r\t"); /* a field may end up on a terminal */
    if (!clean[strcspn(clean, ",\"\r\n")]) {
        fputs(clean, line->out);
        free(clean);
        return;
    }
    fputc('"', line->out);
    for (const char *at = clean; *at; at++) {
        if (*at == '"')
            fputc('"', line->out);
        fputc(*at, line->out);
    }
    fputc('"', line->out);
    free(clean);
}

void line__number(struct csv_line *line, uint64_t value)
{
    begin_field(line);
    text__put_number(line->out, value);
}
