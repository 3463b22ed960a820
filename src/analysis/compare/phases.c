#include "analysis/compare/phases.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void told_phases__free(struct vec *phases)
{
    VEC_EACH (phase, phases, struct told_phase) {
        free(phase->text);
        texts__free(&phase->body);
    }
    vec__free(phases);
}

static bool has(const struct vec *body, const char *name)
{
    VEC_EACH (one, body, char *)
        if (strcmp(*one, name) == 0)
            return true;
    return false;
}

/* Of all places of both the part that both have; 0: they are not the same loop. */
static double likeness(const struct told_phase *one, const struct told_phase *other)
{
    size_t common = 0;
    VEC_EACH (name, &one->body, char *)
        common += has(&other->body, *name);
    size_t all = one->body.count + other->body.count - common;
    double part = all ? (double)common / (double)all : 1;
    return one->sort == other->sort && part >= PHASE_ALIKE ? part : 0;
}

/* What the best alignment of the first i of one side and the first k of the other is worth, at
 * place i · columns + k. */
struct phase_alignment {
    const struct vec *before, *after;
    size_t rows, columns;
    double *worth;
};

static const struct told_phase *phase_at(const struct vec *phases, size_t place)
{
    return VEC_AT(phases, struct told_phase, place);
}

static double worth_at(const struct phase_alignment *alignment, size_t i, size_t k)
{
    return alignment->worth[i * alignment->columns + k];
}

static double worth_of_match(const struct phase_alignment *alignment, size_t i, size_t k)
{
    double part = likeness(phase_at(alignment->before, i - 1), phase_at(alignment->after, k - 1));
    return part > 0 ? worth_at(alignment, i - 1, k - 1) + part : 0;
}

static void fill(struct phase_alignment *alignment)
{
    for (size_t i = 1; i < alignment->rows; i++)
        for (size_t k = 1; k < alignment->columns; k++) {
            double best = worth_at(alignment, i - 1, k), match = worth_of_match(alignment, i, k);
            best = worth_at(alignment, i, k - 1) > best ? worth_at(alignment, i, k - 1) : best;
            alignment->worth[i * alignment->columns + k] = match > best ? match : best;
        }
}

static void reverse(struct vec *pairs)
{
    for (size_t i = 0; i < pairs->count / 2; i++) {
        struct phase_pair *one = VEC_AT(pairs, struct phase_pair, i);
        struct phase_pair *other = VEC_AT(pairs, struct phase_pair, pairs->count - 1 - i);
        struct phase_pair kept = *one;
        *one = *other;
        *other = kept;
    }
}

/* From the end; what is gone stands before what is new. */
static struct vec follow(const struct phase_alignment *alignment)
{
    struct vec pairs = VEC_OF(struct phase_pair);
    size_t i = alignment->rows - 1, k = alignment->columns - 1;
    while (i || k) {
        struct phase_pair pair = {PHASE_NONE, PHASE_NONE};
        double here = worth_at(alignment, i, k);
        bool is_gap_after = k && here == worth_at(alignment, i, k - 1);
        bool is_gap_before = !is_gap_after && i && here == worth_at(alignment, i - 1, k);
        if (!is_gap_after)
            pair.before = (uint32_t)--i;
        if (!is_gap_before)
            pair.after = (uint32_t)--k;
        vec__push(&pairs, &pair);
    }
    reverse(&pairs);
    return pairs;
}

static size_t looked_at(const struct vec *phases)
{
    return phases->count < PHASES_ALIGNED ? phases->count : PHASES_ALIGNED;
}

struct vec phases__align(const struct vec *before, const struct vec *after)
{
    struct phase_alignment alignment = {before, after, looked_at(before) + 1, looked_at(after) + 1,
                                        NULL};
    alignment.worth = memory__zeroed(alignment.rows * alignment.columns, sizeof *alignment.worth);
    fill(&alignment);
    struct vec pairs = follow(&alignment);
    free(alignment.worth);
    return pairs;
}
