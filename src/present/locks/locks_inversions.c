/* Locks that were taken in both orders. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <stdlib.h>

#define INVERSIONS_AT_MOST 8

static const struct lock_row *row_of(const struct locks_report *locks,
                                     const struct lock_inversion *inversion, size_t place)
{
    uint32_t row = *VEC_AT(&inversion->objects, uint32_t, place);
    return row < locks->result->rows.count ? VEC_AT(&locks->result->rows, struct lock_row, row)
                                           : NULL;
}

static char *name_of(const struct locks_report *locks, const struct lock_row *row)
{
    return row ? object__clear_name(locks->report, &row->object) : memory__text("?");
}

/* "b_lock while a_lock is held, in audit bank.c:77 (3 times)" */
static char *order_text(const struct locks_report *locks, const struct lock_inversion *inversion,
                        size_t place)
{
    char number[32];
    size_t count = inversion->objects.count;
    const struct lock_row *second = row_of(locks, inversion, place);
    const struct lock_row *first = row_of(locks, inversion, (place + count - 1) % count);
    uint64_t times = *VEC_AT(&inversion->times, uint64_t, place);
    char *held = name_of(locks, first), *taken = name_of(locks, second);
    char *where = site__text(locks->report, second ? second->object.process : 0,
                             *VEC_AT(&inversion->sites, uint64_t, place));
    char *text = memory__format("%s while %s is held, in %s (%s time%s)", taken, held, where,
                                count__format(times, number), times == 1 ? "" : "s");
    free(held);
    free(taken);
    free(where);
    return text;
}

/* What it means. */
static const char *verdict_of(const struct lock_inversion *inversion)
{
    if (inversion->guarded)
        return "always under one other lock, so that threads cannot block each other for ever here";
    if (inversion->one_thread)
        return "by one and the same thread, which is harmless until another one does it, too";
    return "no common lock guards them, so threads can block each other for ever";
}

static void put_inversion(const struct locks_report *locks, const struct lock_inversion *inversion,
                          const struct style *style, FILE *out)
{
    bool harmless = inversion->guarded || inversion->one_thread;
    char *text = memory__format(
        "locks are taken in %s: %s:", inversion->objects.count == 2 ? "both orders" : "a circle",
        verdict_of(inversion));
    paragraph__put(style, out, harmless ? INK_DIM : INK_ALARM,
                   harmless ? "  note: " : "  warning: ", text);
    for (size_t i = 0; i < inversion->objects.count; i++)
        paragraph__take(style, out, "    - ", order_text(locks, inversion, i));
    free(text);
}

void inversions__put(const struct locks_report *locks, const struct style *style, FILE *out)
{
    size_t shown = 0;
    const struct vec *inversions = &locks->result->inversions;
    if (inversions->count)
        fputc('\n', out);
    VEC_EACH (inversion, inversions, struct lock_inversion)
        if (shown++ < INVERSIONS_AT_MOST)
            put_inversion(locks, inversion, style, out);
    if (inversions->count > INVERSIONS_AT_MOST)
        fprintf(out, "  and %zu more (--json has them all)\n",
                inversions->count - INVERSIONS_AT_MOST);
}
