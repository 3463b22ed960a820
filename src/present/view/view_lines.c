#include "base/memory.h"
#include "present/view/internal.h"

#include <stdlib.h>
#include <string.h>

void lines__begin(struct line_writer *writer)
{
    *writer = (struct line_writer){0};
    writer->out = open_memstream(&writer->text, &writer->bytes);
    if (!writer->out)
        out_of_memory(0);
}

void lines__end(struct line_writer *writer, struct vec *lines, size_t item)
{
    fclose(writer->out);
    char *rest = writer->text;
    while (rest && *rest) {
        const struct view_line line = {memory__text(strsep(&rest, "\n")), item};
        vec__push(lines, &line);
    }
    free(writer->text);
}

void lines__free(struct vec *lines)
{
    VEC_EACH (line, lines, struct view_line)
        free(line->text);
    vec__free(lines);
}

static bool has_capitals(const char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            return true;
    return false;
}

bool line__has(const char *text, const char *wanted)
{
    char *plain = memory__text(text), *to = plain;
    for (const char *at = text; *at; at++) { /* without colours */
        if (*at == '\x1b')
            at += strcspn(at, "m");
        else
            *to++ = *at;
        if (!*at)
            break;
    }
    *to = 0;
    bool has = (has_capitals(wanted) ? strstr : strcasestr)(plain, wanted);
    free(plain);
    return has;
}

char *text__fit(char *text, unsigned columns, bool unicode)
{
    char *clean = text__for_screen(text), *fit;
    unsigned width = text__width(clean), dots = unicode ? 1 : 2;
    if (width <= columns)
        fit = memory__format("%s%*s", clean, (int)(columns - width), "");
    else if (columns <= dots)
        fit = memory__format("%*s", (int)columns, "");
    else
        fit = memory__format("%.*s%s", (int)text__bytes_of_columns(clean, columns - dots), clean,
                             unicode ? "…" : "..");
    free(clean);
    free(text);
    return fit;
}
