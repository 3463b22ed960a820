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
    const struct octave *octaves;
    unsigned first, last;
    uint64_t most;
    const struct octave_mark *marks;
    unsigned mark_count;
};

/* The line that holds ns: the last one that begins at or below it. */
static unsigned line_of(const struct picture *picture, uint64_t ns)
{
    unsigned line = picture->last;
    while (line > picture->first && picture->octaves[line].lower_ns > ns)
        line--;
    return line;
}

static char *marks_of(const struct picture *picture, unsigned line)
{
    char *text = memory__text("");
    for (unsigned i = 0; i < picture->mark_count; i++) {
        const struct octave_mark *mark = &picture->marks[i];
        if (line_of(picture, mark->ns) != line)
            continue;
        char buffer[16];
        text = text__append(text, "%s%s %s", *text ? ", " : "", mark->name,
                            duration__format(mark->ns, buffer));
    }
    return text;
}

static void put_octave(struct grid *grid, const struct picture *picture, unsigned line,
                       const struct style *style)
{
    const struct octave *octave = &picture->octaves[line];
    bool narrow = style->columns && style->columns < NARROW_COLUMNS;
    unsigned cells = narrow ? BAR_CELLS_NARROW : BAR_CELLS;
    double share = (double)octave->count / (double)picture->most;
    grid__duration(grid, octave->lower_ns);
    grid__count(grid, octave->count);
    grid__cell(grid, bar__format(style, share, cells), INK_PLAIN);
    grid__cell(grid, marks_of(picture, line), INK_BOLD);
}

void octaves__put(const struct octave *octaves, unsigned count, const struct octave_mark *marks,
                  unsigned mark_count, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"from", RIGHT}, {"times", RIGHT}, {"", LEFT}, {"", WRAPPED}};
    struct picture picture = {octaves, count, 0, 0, marks, mark_count};
    for (unsigned o = 0; o < count; o++) {
        if (octaves[o].count == 0)
            continue;
        picture.first = picture.first < o ? picture.first : o;
        picture.last = o;
        picture.most = octaves[o].count > picture.most ? octaves[o].count : picture.most;
    }
    if (picture.most == 0)
        return;
    struct grid grid = grid__start(columns, 4, 2);
    for (unsigned o = picture.first; o <= picture.last; o++)
        if (octaves[o].count)
            put_octave(&grid, &picture, o, style);
    grid__end(&grid, style, out);
}

static unsigned filled(const struct octave *octaves, unsigned count)
{
    unsigned lines = 0;
    for (unsigned i = 0; i < count; i++)
        lines += octaves[i].count > 0;
    return lines;
}

/* Lines of so many octaves as it takes to have no more than LINES_MOST that are not empty. Returns
 * how many lines there are. */
static unsigned join_octaves(const struct octave *octaves, unsigned count, struct octave *lines)
{
    unsigned used = 0;
    for (unsigned width = 1; width <= count; width++) {
        used = (count + width - 1) / width;
        memset(lines, 0, used * sizeof *lines);
        for (unsigned i = 0; i < count; i++) {
            lines[i / width].lower_ns = octaves[i / width * width].lower_ns;
            lines[i / width].count += octaves[i].count;
        }
        if (filled(lines, used) <= LINES_MOST)
            break;
    }
    return used;
}

void histogram__put(const struct report *report, const struct profile_class *class,
                    const struct style *style, FILE *out)
{
    const struct octave_mark marks[] = {{"min", class->min_ns},
                                        {"p50", class->p50_ns},
                                        {"p99", class->p99_ns},
                                        {"max", class->max_ns}};
    struct octave octaves[PROFILE_OCTAVES], lines[PROFILE_OCTAVES];
    if (!profile_class__octaves(class, report->trace, octaves))
        return;
    unsigned count = join_octaves(octaves, PROFILE_OCTAVES, lines);
    octaves__put(lines, count, marks, 4, style, out);
}
