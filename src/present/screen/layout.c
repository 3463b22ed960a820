#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_WIDEST \
    120 /* without a terminal: longer cells stick out rather than push all others */
#define COLUMN_NARROWEST 8
#define COLUMN_GAP 2
#define PARAGRAPH_INDENT_MAX 16
#define BELOW_INDENT "     " /* of what stands below a row */

void ink__put(const struct style *style, FILE *out, enum ink ink, const char *text)
{
    static const char *const codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[33m"};
    if (style->colour && ink != INK_PLAIN && *text)
        fprintf(out, "%s%s\x1b[0m", codes[ink], text);
    else
        fputs(text, out);
}

/* Whether what ends there is a number, and no address or name that has digits at its end. */
static bool ends_number(const char *text, const char *end)
{
    const char *at = end;
    while (at > text && strchr("0123456789.,~+-", at[-1]))
        at--;
    return end > text && end[-1] >= '0' && end[-1] <= '9' &&
           (at == text || strchr(" (#", at[-1]) != NULL || (at[-1] & 0x80));
}

/* Whether a line may end at this blank: not between a number and its unit. */
static bool is_break(const char *text, const char *at)
{
    return *at == ' ' && !(ends_number(text, at) && !strchr("0123456789", at[1]));
}

/* ---- flow ------------------------------------------------------------------------------------ */

struct flow flow__start(const struct style *style, FILE *out, unsigned indent)
{
    return (struct flow){style, out, indent, 0, true};
}

static void flow__new_line(struct flow *flow)
{
    fprintf(flow->out, "\n%*s", (int)flow->indent, "");
    flow->column = flow->indent;
    flow->first = true;
}

void flow__add(struct flow *flow, const char *piece, enum ink ink, unsigned gap)
{
    unsigned width = text__width(piece);
    unsigned columns = flow->style->columns;
    if (!flow->first && columns && flow->column + gap + width > columns)
        flow__new_line(flow);
    if (!flow->first) {
        fprintf(flow->out, "%*s", (int)gap, "");
        flow->column += gap;
    }
    ink__put(flow->style, flow->out, ink, piece);
    flow->column += width;
    flow->first = false;
}

void flow__words(struct flow *flow, const char *sentence, enum ink ink)
{
    for (const char *word = sentence, *end; *word; word = end + strspn(end, " ")) {
        end = word;
        while (*end && !is_break(word, end))
            end++;
        char *piece = memory__format("%.*s", (int)(end - word), word);
        flow__add(flow, piece, ink, 1);
        free(piece);
    }
}

void flow__end(struct flow *flow)
{
    fputc('\n', flow->out);
    flow->column = 0;
    flow->first = true;
}

void paragraph__put(const struct style *style, FILE *out, enum ink ink, const char *lead,
                    const char *sentence)
{
    unsigned width = text__width(lead);
    struct flow flow = flow__start(style, out, width > PARAGRAPH_INDENT_MAX ? 4 : width);
    ink__put(style, out, ink, lead);
    flow.column = width;
    flow__words(&flow, sentence, INK_PLAIN);
    flow__end(&flow);
}

/* ---- bar ------------------------------------------------------------------------------------- */

char *bar__format(const struct style *style, double share, unsigned cells)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    char *bar = memory__zeroed(cells + 1, 3), *to = bar;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    unsigned steps = (unsigned)(share * cells * 8 + 0.5);
    if (steps == 0 && share > 0)
        steps = 1;
    if (!style->unicode) {
        memset(bar, '#', (steps + 7) / 8);
        return bar;
    }
    for (unsigned i = 0; i < steps / 8; i++)
        to = stpcpy(to, "█");
    stpcpy(to, eighths[steps % 8]);
    return bar;
}

/* ---- grids ----------------------------------------------------------------------------------- */

struct grid grid__start(const struct grid_column *columns, size_t column_count, unsigned indent)
{
    return (struct grid){columns, column_count, indent, VEC_OF(struct grid_cell)};
}

void grid__cell(struct grid *grid, char *text, enum ink ink)
{
    struct grid_cell cell = {text, ink};
    vec__push(&grid->cells, &cell);
}

static void put_across(struct grid *grid, char *text, enum ink ink)
{
    grid__cell(grid, text, ink);
    for (size_t i = 1; i < grid->column_count; i++)
        grid__cell(grid, NULL, INK_PLAIN);
}

void grid__note(struct grid *grid, char *text)
{
    put_across(grid, text, INK_DIM);
}

void grid__below(struct grid *grid, char *text)
{
    put_across(grid, text, INK_PLAIN);
}

static const struct grid_cell *grid__at(const struct grid *grid, size_t row, size_t column)
{
    return VEC_AT(&grid->cells, struct grid_cell, row * grid->column_count + column);
}

static size_t grid__rows(const struct grid *grid)
{
    return grid->cells.count / grid->column_count;
}

static bool row__is_note(const struct grid *grid, size_t row)
{
    return grid->column_count > 1 && grid__at(grid, row, 1)->text == NULL;
}

static unsigned natural_width(const struct grid *grid, size_t column, bool limited)
{
    unsigned widest = text__width(grid->columns[column].title);
    for (size_t row = 0; row < grid__rows(grid); row++) {
        unsigned width =
            row__is_note(grid, row) ? 0 : text__width(grid__at(grid, row, column)->text);
        if (!limited && width > COLUMN_WIDEST)
            continue;
        widest = width > widest ? width : widest;
    }
    return widest;
}

static unsigned longest_word(const char *title)
{
    unsigned longest = 0;
    for (const char *word = title, *end; *word; word = end + strspn(end, " ")) {
        end = word + strcspn(word, " ");
        unsigned width = (unsigned)(end - word);
        longest = width > longest ? width : longest;
    }
    return longest;
}

/* How wide a column is where wrapped ones are cut to cap: no word of a title is broken. */
static unsigned cut_width(const struct grid_column *column, unsigned width, unsigned cap)
{
    unsigned least = longest_word(column->title);
    cap = cap > least ? cap : least;
    return column->alignment == WRAPPED && width > cap ? cap : width;
}

static unsigned sum_of_widths(const struct grid *grid, const unsigned *widths, unsigned cap)
{
    unsigned sum = grid->indent + (unsigned)(grid->column_count - 1) * COLUMN_GAP;
    for (size_t i = 0; i < grid->column_count; i++)
        sum += cut_width(&grid->columns[i], widths[i], cap);
    return sum;
}

/* The wrapped columns share what the others leave: all are cut to one width, the widest that
 * fits, and those that need less keep what they need. */
static void fit_widths(const struct grid *grid, unsigned *widths, unsigned columns)
{
    for (size_t i = 0; i < grid->column_count; i++)
        widths[i] = natural_width(grid, i, columns != 0);
    if (!columns)
        return;
    unsigned cap = columns;
    while (cap > COLUMN_NARROWEST && sum_of_widths(grid, widths, cap) > columns)
        cap--;
    for (size_t i = 0; i < grid->column_count; i++)
        widths[i] = cut_width(&grid->columns[i], widths[i], cap);
}

/* Where a long word is best broken, of so many bytes of it: behind the parts that paths, names of
 * C++ and lists of arguments have, else within a name, before an offset or behind a '_'. */
static size_t broken_at(const char *word, size_t fits)
{
    for (size_t end = fits; end > 1; end--)
        if (strchr("/,(<", word[end - 1]) || (word[end - 1] == ':' && word[end] != ':'))
            return end;
    for (size_t end = fits; end > fits / 2; end--)
        if (word[end] == '+' || word[end - 1] == '_')
            return end;
    return fits;
}

/* Bytes of text that go on this line; *next is where the following line begins. */
static size_t line_bytes(const char *text, unsigned width, const char **next)
{
    size_t fits = text__bytes_of_columns(text, width);
    if (!text[fits]) {
        *next = text + fits;
        return fits;
    }
    size_t end = fits;
    while (end > 0 && !is_break(text, text + end))
        end--;
    if (end == 0) { /* one long word */
        end = broken_at(text, fits);
        *next = text + end;
        return end;
    }
    *next = text + end + strspn(text + end, " ");
    return end;
}

static void put_cell(const struct grid *grid, size_t column, const char *text, size_t bytes,
                     enum ink ink, unsigned width, bool last, const struct style *style, FILE *out)
{
    char *part = memory__format("%.*s", (int)bytes, text);
    unsigned used = text__width(part), pad = used < width ? width - used : 0;
    bool right = grid->columns[column].alignment == RIGHT;
    if (right)
        fprintf(out, "%*s", (int)pad, "");
    ink__put(style, out, ink, part);
    if (!last)
        fprintf(out, "%*s", (int)((right ? 0 : pad) + COLUMN_GAP), "");
    free(part);
}

/* Whether any cell from column on still has text: no blanks are left at a line's end. */
static bool any_left(const char **rest, size_t column, size_t column_count)
{
    for (size_t i = column; i < column_count; i++)
        if (*rest[i])
            return true;
    return false;
}

static void put_row(const struct grid *grid, const char **rest, const enum ink *inks,
                    const unsigned *widths, const struct style *style, FILE *out)
{
    do {
        fprintf(out, "%*s", (int)grid->indent, "");
        for (size_t i = 0; i < grid->column_count && any_left(rest, i, grid->column_count); i++) {
            const char *next = rest[i] + strlen(rest[i]);
            size_t bytes = strlen(rest[i]);
            if (style->columns && grid->columns[i].alignment == WRAPPED)
                bytes = line_bytes(rest[i], widths[i], &next);
            bool last = !any_left(rest, i + 1, grid->column_count);
            put_cell(grid, i, rest[i], bytes, inks[i], widths[i], last, style, out);
            rest[i] = next;
        }
        fputc('\n', out);
    } while (any_left(rest, 0, grid->column_count));
}

static void put_titles(const struct grid *grid, const char **rest, enum ink *inks,
                       const unsigned *widths, const struct style *style, FILE *out)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        rest[i] = grid->columns[i].title;
        inks[i] = INK_DIM;
    }
    put_row(grid, rest, inks, widths, style, out);
}

static void put_note(const struct grid *grid, size_t row, const struct style *style, FILE *out)
{
    const struct grid_cell *cell = grid__at(grid, row, 0);
    if (cell->ink == INK_PLAIN) {
        paragraph__put(style, out, INK_PLAIN, BELOW_INDENT, cell->text);
        return;
    }
    fprintf(out, "%*s", *cell->text ? (int)grid->indent : 0, "");
    ink__put(style, out, cell->ink, cell->text);
    fputc('\n', out);
}

static void put_table(struct grid *grid, bool titles, const struct style *style, FILE *out)
{
    const char **rest = memory__zeroed(grid->column_count, sizeof *rest);
    enum ink *inks = memory__zeroed(grid->column_count, sizeof *inks);
    unsigned *widths = memory__zeroed(grid->column_count, sizeof *widths);
    fit_widths(grid, widths, style->columns);
    if (titles)
        put_titles(grid, rest, inks, widths, style, out);
    for (size_t row = 0; row < grid__rows(grid); row++) {
        if (row__is_note(grid, row)) {
            put_note(grid, row, style, out);
            continue;
        }
        for (size_t i = 0; i < grid->column_count; i++) {
            rest[i] = grid__at(grid, row, i)->text;
            inks[i] = grid__at(grid, row, i)->ink;
        }
        put_row(grid, rest, inks, widths, style, out);
    }
    free(rest);
    free(inks);
    free(widths);
}

static void free_table(struct grid *grid)
{
    VEC_EACH (cell, &grid->cells, struct grid_cell)
        free(cell->text);
    vec__free(&grid->cells);
}

void grid__end(struct grid *grid, const struct style *style, FILE *out)
{
    put_table(grid, true, style, out);
    free_table(grid);
}

void grid__end_without_titles(struct grid *grid, const struct style *style, FILE *out)
{
    put_table(grid, false, style, out);
    free_table(grid);
}
