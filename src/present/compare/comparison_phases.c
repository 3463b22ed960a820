/* The loops of two runs, laid beside each other. */
#include "base/memory.h"
#include "present/compare/comparison_screens.h"
#include "present/shared.h"

#include <stdlib.h>

#define PHASES_SHOWN 8 /* on a screen */
#define NOTED_MOST 4

static const struct told_phase *before_of(const struct compared_phases *phases,
                                          const struct phase_pair *pair)
{
    return pair->before == PHASE_NONE ? NULL
                                      : VEC_AT(&phases->before, struct told_phase, pair->before);
}

static const struct told_phase *after_of(const struct compared_phases *phases,
                                         const struct phase_pair *pair)
{
    return pair->after == PHASE_NONE ? NULL
                                     : VEC_AT(&phases->after, struct told_phase, pair->after);
}

/* ---- what is on one side alone --------------------------------------------------------------- */

static char *note_of(const struct told_phase *phase, unsigned number, const char *own,
                     const char *other)
{
    char count[32];
    return memory__format("Phase %u %s, %s iterations of a %s, was not found %s.", number, own,
                          count__format(phase->iterations, count), phase->text, other);
}

struct vec compared_phases__notes(const struct compared_phases *phases)
{
    struct vec notes = VEC_OF(char *);
    if (!phases || !phases->before.count || !phases->after.count)
        return notes;
    VEC_EACH (pair, &phases->pairs, struct phase_pair) {
        const struct told_phase *was = before_of(phases, pair), *is = after_of(phases, pair);
        if ((was && is) || notes.count == NOTED_MOST)
            continue;
        char *text = was ? note_of(was, pair->before + 1, "before", "after")
                         : note_of(is, pair->after + 1, "after", "before");
        vec__push(&notes, &text);
    }
    return notes;
}

/* ---- all of them ----------------------------------------------------------------------------- */

char *phase_pair__change(const struct compared_phases *phases, const struct phase_pair *pair)
{
    const struct told_phase *was = before_of(phases, pair), *is = after_of(phases, pair);
    if (!was || !is || !was->median_ns)
        return NULL;
    return part__format((double)is->median_ns / (double)was->median_ns - 1);
}

static void put_iterations(struct grid *grid, const struct told_phase *phase)
{
    char count[32];
    grid__cell(grid, memory__text(phase ? count__format(phase->iterations, count) : "none"),
               phase ? INK_PLAIN : INK_WARNING);
}

static void put_median(struct grid *grid, const struct told_phase *phase)
{
    if (phase)
        grid__duration(grid, phase->median_ns);
    else
        grid__cell(grid, memory__text(""), INK_PLAIN);
}

static void put_pair(struct grid *grid, const struct compared_phases *phases,
                     const struct phase_pair *pair)
{
    const struct told_phase *was = before_of(phases, pair), *is = after_of(phases, pair);
    char *change = phase_pair__change(phases, pair);
    grid__take(grid, memory__text((is ? is : was)->text), INK_PLAIN);
    put_iterations(grid, was);
    put_iterations(grid, is);
    put_median(grid, was);
    put_median(grid, is);
    grid__cell(grid, change ? change : memory__text(""), INK_PLAIN);
}

void compared_phases__put(const struct compared_phases *phases, const struct style *style,
                          FILE *out)
{
    static const struct grid_column columns[] = {{"iterations of", WRAPPED}, {"before", RIGHT},
                                                 {"after", RIGHT},           {"each before", RIGHT},
                                                 {"after", RIGHT},           {"", RIGHT}};
    if (!phases || !phases->pairs.count)
        return;
    struct grid grid = grid__start(columns, 6, 2);
    for (size_t i = 0; i < phases->pairs.count && i < PHASES_SHOWN; i++)
        put_pair(&grid, phases, VEC_AT(&phases->pairs, struct phase_pair, i));
    if (phases->pairs.count > PHASES_SHOWN)
        grid__note(&grid, memory__format("and %zu more", phases->pairs.count - PHASES_SHOWN));
    fputc('\n', out);
    grid__end(&grid, style, out);
}
