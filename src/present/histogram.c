#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>

#define OCTAVES (HISTOGRAM_BUCKETS / HISTOGRAM_STEPS)
#define BAR_CELLS 40
#define BAR_CELLS_NARROW 24 /* on a terminal below NARROW_COLUMNS */
#define NARROW_COLUMNS 100

/* One line of the picture: the occurrences whose duration lies in [lower_ns, upper_ns). */
struct octave {
    uint64_t lower_ns, upper_ns;
    uint64_t count;
};

static void merge_buckets(const struct report *report, const uint64_t *histogram,
                          struct octave octaves[OCTAVES])
{
    for (unsigned o = 0; o < OCTAVES; o++) {
        unsigned first = o * HISTOGRAM_STEPS;
        octaves[o] = (struct octave){
            .lower_ns = trace__ns(report->trace, histogram__lower(first)),
            .upper_ns = o + 1 < OCTAVES
                            ? trace__ns(report->trace, histogram__lower(first + HISTOGRAM_STEPS))
                            : UINT64_MAX};
        for (unsigned i = 0; i < HISTOGRAM_STEPS; i++)
            octaves[o].count += histogram[first + i];
    }
}

/* The line that holds ns: the last one that begins at or below it. */
static unsigned octave_of(const struct octave *octaves, unsigned first, unsigned last, uint64_t ns)
{
    while (last > first && octaves[last].lower_ns > ns)
        last--;
    return last;
}

static char *marks(const struct octave *octaves, unsigned first, unsigned last, unsigned line,
                   const struct profile_class *class)
{
    const struct {
        const char *name;
        uint64_t ns;
    } known[] = {{"min", class->min_ns},
                 {"p50", class->p50_ns},
                 {"p99", class->p99_ns},
                 {"max", class->max_ns}};
    char *text = memory__text("");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (octave_of(octaves, first, last, known[i].ns) != line)
            continue;
        char buffer[16];
        char *longer = memory__format("%s%s%s %s", text, *text ? ", " : "", known[i].name,
                                      duration__format(known[i].ns, buffer));
        free(text);
        text = longer;
    }
    return text;
}

static void put_octave(struct table *table, const struct octave *octaves, unsigned first,
                       unsigned last, unsigned line, const struct profile_class *class,
                       const struct style *style, uint64_t most)
{
    char buffer[32], duration[16];
    const struct octave *octave = &octaves[line];
    bool narrow = style->columns && style->columns < NARROW_COLUMNS;
    unsigned cells = narrow ? BAR_CELLS_NARROW : BAR_CELLS;
    table__cell(table, memory__format("%s", duration__format(octave->lower_ns, duration)),
                INK_PLAIN);
    table__cell(table, memory__text(count__format(octave->count, buffer)), INK_PLAIN);
    table__cell(table, bar__format(style, (double)octave->count / (double)most, cells), INK_PLAIN);
    table__cell(table, marks(octaves, first, last, line, class), INK_BOLD);
}

void histogram__put(const struct report *report, const struct profile_class *class,
                    const struct style *style, FILE *out)
{
    struct octave octaves[OCTAVES];
    unsigned first = OCTAVES, last = 0;
    uint64_t most = 0;
    if (!class->histogram)
        return;
    merge_buckets(report, class->histogram, octaves);
    for (unsigned o = 0; o < OCTAVES; o++) {
        if (octaves[o].count == 0)
            continue;
        first = first < o ? first : o;
        last = o;
        most = octaves[o].count > most ? octaves[o].count : most;
    }
    if (most == 0)
        return;
    static const struct table_column columns[] = {{"from", ALIGN_RIGHT, false},
                                                  {"times", ALIGN_RIGHT, false},
                                                  {"", ALIGN_LEFT, false},
                                                  {"", ALIGN_LEFT, true}};
    struct table table = table__start(columns, 4, 2);
    for (unsigned o = first; o <= last; o++)
        put_octave(&table, octaves, first, last, o, class, style, most);
    table__end(&table, style, out);
}
