/* Of one lock: who blocked whom, what holders did meanwhile, and the longest waits. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_AT_MOST 12
#define BLAMES_AT_MOST 8
#define REST_FROM 0.01 /* of the waits: less is not worth a sentence */

/* ---- the classes of the lock in the report --------------------------------------------------- */

static bool is_class_of(const struct profile_class *class, const struct lock_row *row)
{
    return class->what.at.kind == row->object.kind && class->what.has_object &&
           class->what.object == row->object.address &&
           class->what.at.process == row->object.process;
}

static void merge_blame(struct vec *blames, const struct profile_blame *blame)
{
    VEC_EACH (known, blames, struct profile_blame) {
        if (known->process != blame->process || known->site != blame->site)
            continue;
        known->wait_ns += blame->wait_ns;
        known->waits += blame->waits;
        known->thread = known->thread == blame->thread ? known->thread : UINT32_MAX;
        for (int c = 0; c < COMPONENTS; c++)
            known->doing_ns[c] += blame->doing_ns[c];
        return;
    }
    vec__push(blames, blame);
}

static int by_wait(const void *left, const void *right)
{
    const struct profile_blame *a = left, *b = right;
    return ORDER(b->wait_ns, a->wait_ns) ?: ORDER(a->site, b->site);
}

struct vec row__blames(const struct locks_report *locks, const struct lock_row *row)
{
    struct vec blames = VEC_OF(struct profile_blame);
    if (!locks->report->profile)
        return blames;
    VEC_EACH (class, &locks->report->profile->classes, struct profile_class) {
        if (!is_class_of(class, row))
            continue;
        VEC_EACH (blame, &class->blames, struct profile_blame)
            merge_blame(&blames, blame);
    }
    vec__sort(&blames, by_wait);
    return blames;
}

/* The most frequent stack of the class of that site. */
static bool stack_of_site(const struct locks_report *locks, const struct lock_row *row,
                          uint64_t site, struct profile_stack *stack)
{
    if (!locks->report->profile)
        return false;
    VEC_EACH (class, &locks->report->profile->classes, struct profile_class) {
        if (!is_class_of(class, row) || class->what.at.site != site ||
            class->what.stacks.count == 0)
            continue;
        *stack = *VEC_AT(&class->what.stacks, struct profile_stack, 0);
        return true;
    }
    return false;
}

bool wait__stack(const struct locks_report *locks, const struct lock_row *row, uint64_t site,
                 const struct lock_wait *wait, struct profile_stack *stack, bool *is_own)
{
    *is_own = wait && wait->frame_count > 0;
    if (!*is_own)
        return stack_of_site(locks, row, site, stack);
    *stack = (struct profile_stack){1, wait->frames, wait->frame_count, row->object.process};
    return true;
}

/* ---- who blocked whom ------------------------------------------------------------------------ */

static const char *kept_by(const struct lock_row *row)
{
    switch (row->object.kind) {
    case CLASS_CONDITION:
        return "signalled by";
    case CLASS_SEMAPHORE:
        return "posted by";
    case CLASS_FUTEX:
        return "woken by";
    case CLASS_BARRIER:
        return "last to arrive";
    default:
        return "held by";
    }
}

#define NOBODY_HELD_IT                                                                    \
    "In the other %s nobody is known to have held it: it was free again, and who waited " \
    "did not have it yet."
#define NOBODY_ENDED_THEM "Of the other %s it is not known who ended the waits."

/* What is missing in a table of a lock's waits. */
static void put_rest(bool by_holders, uint64_t known_ns, const struct lock_row *row,
                     const struct style *style, FILE *out)
{
    char rest[16];
    uint64_t all_ns = lock_row__wait_ns(row);
    if (row->object.kind != CLASS_LOCK || known_ns >= all_ns ||
        ratio(all_ns - known_ns, all_ns) < REST_FROM)
        return;
    duration__format(all_ns - known_ns, rest);
    paragraph__take(style, out, "  ",
                    by_holders ? memory__format(NOBODY_HELD_IT, rest)
                               : memory__format(NOBODY_ENDED_THEM, rest));
}

static int by_pair_wait(const void *left, const void *right)
{
    const struct lock_pair *a = left, *b = right;
    int order = ORDER(b->wait_ns, a->wait_ns) ?: ORDER(a->holder_site, b->holder_site);
    return order ?: ORDER(a->waiter_site, b->waiter_site);
}

static void add_pair(struct vec *pairs, const struct lock_pair *added)
{
    VEC_EACH (pair, pairs, struct lock_pair) {
        if (pair->holder_site != added->holder_site || pair->waiter_site != added->waiter_site)
            continue;
        pair->waits += added->waits;
        pair->wait_ns += added->wait_ns;
        return;
    }
    vec__push(pairs, added);
}

/* Of locks by everybody who held it meanwhile, each for its time, as the table below. */
static struct vec pairs_of_holders(const struct locks_report *locks, const struct lock_row *row)
{
    struct vec pairs = VEC_OF(struct lock_pair);
    if (row->object.kind != CLASS_LOCK || !locks->report->profile)
        return pairs;
    VEC_EACH (class, &locks->report->profile->classes, struct profile_class) {
        if (!is_class_of(class, row))
            continue;
        VEC_EACH (blame, &class->blames, struct profile_blame)
            add_pair(&pairs, &(struct lock_pair){.holder_site = blame->site,
                                                 .waiter_site = class->what.at.site,
                                                 .waits = blame->waits,
                                                 .wait_ns = blame->wait_ns});
    }
    vec__sort(&pairs, by_pair_wait);
    return pairs;
}

static void put_pair(struct grid *grid, const struct locks_report *locks,
                     const struct lock_row *row, const struct lock_pair *pair,
                     const struct style *style)
{
    uint32_t process = row->object.process;
    grid__duration(grid, pair->wait_ns);
    grid__share(grid, ratio(pair->wait_ns, lock_row__wait_ns(row)));
    grid__count(grid, pair->waits);
    grid__take(grid, site__text(locks->report, process, pair->holder_site), INK_BOLD);
    grid__cell(grid, memory__text(style->unicode ? "→" : "->"), INK_DIM);
    grid__take(grid, site__text(locks->report, process, pair->waiter_site), INK_PLAIN);
}

void row__put_pairs(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out)
{
    const struct grid_column columns[] = {{"waited", RIGHT}, {"share", RIGHT},
                                          {"waits", RIGHT},  {kept_by(row), WRAPPED},
                                          {"", LEFT},        {"waited in", WRAPPED}};
    struct vec pairs = pairs_of_holders(locks, row);
    bool by_holders = pairs.count > 0;
    VEC_EACH (pair, &row->pairs, struct lock_pair) /* else by who ended the wait */
        if (!by_holders)
            vec__push(&pairs, pair);
    uint64_t known_ns = 0;
    if (pairs.count) {
        heading__put(style, out, "who blocked whom");
        struct grid grid = grid__start(columns, 6, 2);
        for (size_t i = 0; i < pairs.count && i < PAIRS_AT_MOST; i++)
            put_pair(&grid, locks, row, VEC_AT(&pairs, struct lock_pair, i), style);
        VEC_EACH (pair, &pairs, struct lock_pair)
            known_ns += pair->wait_ns;
        if (pairs.count > PAIRS_AT_MOST)
            grid__note(&grid, memory__format("and %zu more (--json has them all)",
                                             pairs.count - PAIRS_AT_MOST));
        grid__end(&grid, style, out);
        put_rest(by_holders, known_ns, row, style, out);
    }
    vec__free(&pairs);
}

/* ---- what holders did meanwhile -------------------------------------------------------------- */

static void put_blames(const struct locks_report *locks, const struct vec *blames,
                       const struct lock_row *row, const struct style *style, FILE *out)
{
    const struct grid_column columns[] = {
        {"waited", RIGHT}, {"waits", RIGHT}, {kept_by(row), WRAPPED}, {"which meanwhile", WRAPPED}};
    struct grid grid = grid__start(columns, 4, 2);
    for (size_t i = 0; i < blames->count && i < BLAMES_AT_MOST; i++) {
        const struct profile_blame *blame = VEC_AT(blames, struct profile_blame, i);
        grid__duration(&grid, blame->wait_ns);
        grid__count(&grid, blame->waits);
        grid__take(&grid, site__text(locks->report, blame->process, blame->site), INK_BOLD);
        grid__cell(&grid, blame__meanwhile(locks->report, blame), INK_PLAIN);
    }
    if (blames->count > BLAMES_AT_MOST)
        grid__note(&grid, memory__format("and %zu more (--json has them all)",
                                         blames->count - BLAMES_AT_MOST));
    grid__end(&grid, style, out);
}

void row__put_doing(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out)
{
    if (lock_row__wait_ns(row) == 0)
        return;
    heading__put(style, out, "what the blockers were doing");
    if (!locks->report->profile) {
        paragraph__put(
            style, out, INK_PLAIN, "  ",
            "Not shown: it is known of the whole run only, not of what --thread, --from, "
            "--to, --site or --min-wait leave.");
        return;
    }
    struct vec blames = row__blames(locks, row);
    if (blames.count) {
        uint64_t known_ns = 0;
        VEC_EACH (blame, &blames, struct profile_blame)
            known_ns += blame->wait_ns;
        put_blames(locks, &blames, row, style, out);
        put_rest(true, known_ns, row, style, out);
    } else
        paragraph__put(style, out, INK_PLAIN, "  ", "Of no wait is it known who ended it.");
    vec__free(&blames);
}

/* ---- the longest waits ----------------------------------------------------------------------- */

/* Stacks that stand for a site are shown once: shown has the sites (uint64_t). */
static bool is_shown(struct vec *shown, uint64_t site)
{
    VEC_EACH (known, shown, uint64_t)
        if (*known == site)
            return true;
    vec__push(shown, &site);
    return false;
}

static void put_stack(const struct locks_report *locks, const struct lock_row *row, uint64_t site,
                      const struct lock_wait *wait, struct vec *shown, const struct style *style,
                      FILE *out)
{
    struct profile_stack stack;
    bool is_own;
    if (!wait__stack(locks, row, site, wait, &stack, &is_own))
        return;
    const char *whose = wait ? "who waited" : "the other";
    if (!is_own && is_shown(shown, site)) {
        fprintf(out, "      %s: as above\n", whose);
        return;
    }
    fprintf(out, "      %s%s\n", whose,
            is_own ? ", in this wait:" : ", as most of the stacks that were taken there:");
    stack__put(locks->report, &stack, 8, style, out);
}

static void put_wait(const struct locks_report *locks, const struct lock_row *row,
                     const struct lock_wait *wait, struct vec *shown, const struct style *style,
                     FILE *out)
{
    char waited[16], since[16];
    uint32_t process = row->object.process;
    char *waiter = thread__text(locks->report, wait->thread);
    char *holder = thread__text(locks->report, wait->holder);
    char *where = site__text(locks->report, process, wait->site);
    char *other = site__text(locks->report, process, wait->holder_site);
    bool known = wait->holder != SYNC_EVENT_NOBODY;
    char *lead = memory__format("  %s  ", duration__format(wait->wait_ns, waited));
    paragraph__take(style, out, lead,
                    memory__format("at %s: %s in %s%s%s%s%s%s%s",
                                   duration__format(wait->since_start_ns, since), waiter, where,
                                   known ? ", " : "; who ended it is not known",
                                   known ? kept_by(row) : "", known ? " " : "", known ? holder : "",
                                   known ? " in " : "", known ? other : ""));
    put_stack(locks, row, wait->site, wait, shown, style, out);
    if (known && wait->holder_site)
        put_stack(locks, row, wait->holder_site, NULL, shown, style, out);
    free(lead);
    free(waiter);
    free(holder);
    free(where);
    free(other);
}

void row__put_longest(const struct locks_report *locks, const struct lock_row *row,
                      const struct style *style, FILE *out)
{
    if (row->longest.count == 0)
        return;
    heading__put(style, out, "the longest waits");
    struct vec shown = VEC_OF(uint64_t);
    VEC_EACH (wait, &row->longest, struct lock_wait)
        put_wait(locks, row, wait, &shown, style, out);
    vec__free(&shown);
}
