#include "present/screen/csv_line.h"

#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A field may end up on a terminal: of the control characters only line breaks and tabs stay. */
static void replace_controls(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && !strchr("\n\r\t", *text)) || *text == 0x7f)
            *text = '?';
}

void line__text(struct csv_line *line, const char *text)
{
    char *clean = text__utf8(text);
    replace_controls(clean);
    if (line->begun)
        fputc(',', line->out);
    line->begun = true;
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
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    line__text(line, digits);
}

void line__source_line(struct csv_line *line, uint32_t number)
{
    if (number)
        line__number(line, number);
    else
        line__text(line, "");
}
