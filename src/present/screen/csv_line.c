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

/* Of ASCII alone, which need not be changed, nor stand in quotes. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text == 0x7f || *text == ',' || *text == '"')
            return false;
    return true;
}

void line__text(struct csv_line *line, const char *text)
{
    begin_field(line);
    if (text && is_plain(text)) {
        fputs_unlocked(text, line->out);
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
