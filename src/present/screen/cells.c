/* Pieces of screens that several of them have. */
#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>

/* ---- parts of screens ------------------------------------------------------------------------ */

void heading__put(const struct style *style, FILE *out, const char *heading)
{
    fputc('\n', out);
    ink__put(style, out, INK_BOLD, heading);
    fputc('\n', out);
}

void paragraph__take(const struct style *style, FILE *out, const char *lead, char *text)
{
    char *clean = text__for_screen(text);
    paragraph__put(style, out, INK_DIM, lead, clean);
    free(clean);
    free(text);
}

void flow__take(struct flow *flow, char *text, enum ink ink, unsigned gap)
{
    char *clean = text__for_screen(text);
    unsigned room = flow->style->columns;
    if (room && text__width(clean) > room) {
        char *cut = memory__format(
            "%.*s...", (int)text__bytes_of_columns(clean, room > 3 ? room - 3 : 0), clean);
        free(clean);
        clean = cut;
    }
    flow__add(flow, clean, ink, gap);
    free(clean);
    free(text);
}

char *text__padded(char *text, unsigned width, bool in_front)
{
    unsigned used = text__width(text), blanks = used < width ? width - used : 0;
    char *all = in_front ? memory__format("%*s%s", (int)blanks, "", text)
                         : memory__format("%s%*s", text, (int)blanks, "");
    free(text);
    return all;
}

void flow__hint(struct flow *flow, const struct report *report, const char *verb, const char *rest)
{
    bool first = flow->column == flow->indent;
    char *command = report__hint(report, verb, rest);
    char *piece = memory__format("%s%s", first ? "" : flow->style->unicode ? "· " : "| ", command);
    flow__add(flow, piece, INK_PLAIN, 1);
    free(piece);
    free(command);
}

void grid__take(struct grid *grid, char *text, enum ink ink)
{
    grid__cell(grid, text__for_screen(text), ink);
    free(text);
}

void grid__duration(struct grid *grid, uint64_t ns)
{
    char buffer[16];
    grid__cell(grid, memory__text(duration__format(ns, buffer)), INK_PLAIN);
}

void grid__count(struct grid *grid, uint64_t count)
{
    char buffer[32];
    grid__cell(grid, memory__text(count__format(count, buffer)), INK_PLAIN);
}

void grid__share(struct grid *grid, double share)
{
    char buffer[16];
    grid__cell(grid, memory__text(share__format(share, buffer)), INK_PLAIN);
}
