#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"

#include <string.h>

#define LINES_MOST 12
#define BAR_CELLS 40
#define BAR_CELLS_NARROW 24 /* on a terminal below NARROW_COLUMNS */
#define NARROW_COLUMNS 100

/* The picture: lines from first to last, of which the longest counts most. */
struct picture {
    const struct duration_bin *bins;
    unsigned first, last;
    uint64_t most;
    const struct bin_mark *marks;
    unsigned mark_count;
};

/* The line that holds ns: the last one that begins at or below it and is not empty. */
static unsigned line_of(const struct picture *picture, uint64_t ns)
{
    unsigned line = picture->last;
    while (line > picture->first &&
           (picture->bins[line].lower_ns > ns || !picture->bins[line].count))
        line--;
    return line;
}

static char *marks_of(const struct picture *picture, unsigned line)
{
    char *text = memory__text("");
    for (unsigned i = 0; i < picture->mark_count; i++) {
        const struct bin_mark *mark = &picture->marks[i];
        if (line_of(picture, mark->ns) != line)
            continue;
        char buffer[16];
        text = text__append(text, "%s%s %s", *text ? ", " : "", mark->name,
                            duration__format(mark->ns, buffer));
    }
    return text;
}

/* "5 us", "1.02 us": round ones without zeroes behind the point. */
static char *bound__text(uint64_t ns)
{
    char buffer[16], *text = memory__text(duration__format(ns, buffer));
    char *point = strchr(text, '.');
    size_t zeroes = point ? strspn(point + 1, "0") : 0;
    if (zeroes && point[1 + zeroes] == ' ')
        memmove(point, point + 1 + zeroes, strlen(point + 1 + zeroes) + 1);
    return text;
}

static void put_bin(struct grid *grid, const struct picture *picture, unsigned line,
                    const struct style *style)
{
    const struct duration_bin *bin = &picture->bins[line];
    bool narrow = style->columns && style->columns < NARROW_COLUMNS;
    unsigned cells = narrow ? BAR_CELLS_NARROW : BAR_CELLS;
    double share = (double)bin->count / (double)picture->most;
    grid__cell(grid, bound__text(bin->lower_ns), INK_PLAIN);
    grid__count(grid, bin->count);
    grid__cell(grid, bar__format(style, share, cells), INK_PLAIN);
    grid__cell(grid, marks_of(picture, line), INK_BOLD);
}

void bins__put(const struct duration_bin *bins, unsigned count, const struct bin_mark *marks,
               unsigned mark_count, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"from", RIGHT}, {"times", RIGHT}, {"", LEFT}, {"", WRAPPED}};
    struct picture picture = {bins, count, 0, 0, marks, mark_count};
    for (unsigned i = 0; i < count; i++) {
        if (bins[i].count == 0)
            continue;
        picture.first = picture.first < i ? picture.first : i;
        picture.last = i;
        picture.most = bins[i].count > picture.most ? bins[i].count : picture.most;
    }
    if (picture.most == 0)
        return;
    struct grid grid = grid__start(columns, 4, 2);
    for (unsigned i = picture.first; i <= picture.last; i++)
        if (bins[i].count)
            put_bin(&grid, &picture, i, style);
    grid__end(&grid, style, out);
}

static unsigned filled(const struct duration_bin *bins, unsigned count)
{
    unsigned lines = 0;
    for (unsigned i = 0; i < count; i++)
        lines += bins[i].count > 0;
    return lines;
}

/* Where too many lines would not be empty, one for each power of ten: bins[1] begins at 1 ns. */
static unsigned join_decades(struct duration_bin *bins, unsigned count)
{
    unsigned used = 1;
    for (unsigned i = 1; i < count; i++) {
        struct duration_bin bin = bins[i];
        if ((i - 1) % 3 == 0)
            bins[used++] = bin;
        else
            bins[used - 1].count += bin.count;
    }
    return used;
}

void histogram__put(const struct report *report, const struct profile_class *class,
                    const struct style *style, FILE *out)
{
    const struct bin_mark marks[] = {{"min", class->min_ns},
                                     {"p50", class->p50_ns},
                                     {"p99", class->p99_ns},
                                     {"max", class->max_ns}};
    struct duration_bin bins[PROFILE_BINS];
    unsigned count = PROFILE_BINS;
    if (!profile_class__bins(class, report->trace, bins))
        return;
    if (filled(bins, count) > LINES_MOST)
        count = join_decades(bins, count);
    bins__put(bins, count, marks, 4, style, out);
}
