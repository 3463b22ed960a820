/* What samples tell of pages. */
#include "base/memory.h"
#include "place/place_engine_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORGOTTEN 0.25f /* a sample weighs less: its page is known no more */
#define MOVED_TIMES 8   /* as many rounds as make a steady owner */

struct merging {
    struct place_engine *engine;
    float aged; /* what a sample of the last round still weighs */
    struct vec pages, counts;
};

static uint64_t unit_of(const struct place_access *access)
{
    return access->flags & PLACE_HUGE ? access->page & ~(uint64_t)(PLACE_HUGE_PAGES - 1)
                                      : access->page;
}

static int by_unit(const void *a, const void *b)
{
    const struct place_access *left = a, *right = b;
    return ORDER(left->application, right->application) ?: ORDER(unit_of(left), unit_of(right))
               ?: ORDER(left->page, right->page);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Of two of these samples, the chance that both are from one node; a page weighs as its samples. */
static void add_pairs(struct place_pairs *pairs, const struct place_access *accesses, size_t count)
{
    double of_node[PLACE_ENGINE_NODES] = {0}, same = 0, all = (double)count;
    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        same += 2 * of_node[accesses[i].from]++;
    pairs->same += same / (all - 1);
    pairs->all += all;
}

static void age_pairs(struct place_pairs *pairs, double aged)
{
    pairs->same *= aged;
    pairs->all *= aged;
}

static void add_large(struct known_application *application, const struct place_access *accesses,
                      size_t count)
{
    add_pairs(&application->huge, accesses, count);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && accesses[next].page == accesses[i].page;)
            next++;
        add_pairs(&application->small, accesses + i, next - i);
    }
}

/* ---- one page -------------------------------------------------------------------------------- */

static uint16_t top_of(const float *counts, uint32_t nodes)
{
    uint16_t top = 0;
    for (uint32_t node = 1; node < nodes; node++)
        if (counts[node] > counts[top])
            top = (uint16_t)node;
    return top;
}

static void follow_run(struct tracked_page *page, uint16_t from)
{
    page->run = from == page->last ? page->run + (page->run < UINT16_MAX) : 1;
    page->last = from;
}

/* Another node has it altogether now, for twice as many samples as a decision takes: then what was
 * before tells nothing of what will be. */
static bool has_new_owner(const struct merging *self, const struct tracked_page *page,
                          const float *before)
{
    const struct place_thresholds *thresholds = &self->engine->thresholds;
    return page->run >= 2 * thresholds->page_samples && page->last != page->owner &&
           before[page->owner] >=
               (float)thresholds->owner_share * (page->total - before[page->last]);
}

static void add_samples(const struct merging *self, struct tracked_page *page, float *counts,
                        const struct place_access *accesses, size_t count)
{
    float now[PLACE_ENGINE_NODES] = {0};
    bool is_other = (page->flags ^ accesses->flags) & PLACE_HUGE;
    page->flags = 0;
    page->was_written = false;
    for (size_t i = 0; i < count; i++) {
        now[accesses[i].from]++;
        follow_run(page, accesses[i].from);
        page->flags |= accesses[i].flags & (uint8_t)~PLACE_WRITES;
        page->was_written |= accesses[i].flags & PLACE_WRITES;
        page->writes += accesses[i].flags & PLACE_WRITES ? 1 : 0;
        page->node = accesses[i].to;
    }
    bool is_new = has_new_owner(self, page, counts);
    if (is_other || is_new) {
        memset(counts, 0, self->engine->nodes * sizeof *counts);
        page->total = 0;
    }
    for (uint32_t node = 0; node < self->engine->nodes && !is_new; node++)
        counts[node] += now[node];
    counts[page->last] += is_new ? (float)page->run : 0;
    page->total += is_new ? (float)page->run : (float)count;
    uint16_t owner = top_of(counts, self->engine->nodes);
    bool is_owned = counts[owner] >= (float)self->engine->thresholds.owner_share * page->total;
    page->steady = owner == page->owner && is_owned ? page->steady : self->engine->round;
    page->owner = owner;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Pages that moved are known for longer, so that they do not begin anew. */
static bool is_worth_keeping(const struct place_engine *engine, const struct tracked_page *page)
{
    return page->total >= FORGOTTEN || page->is_copied || page->is_never_copied ||
           (page->moves &&
            engine->round - page->moved < MOVED_TIMES * engine->thresholds.bounce_rounds);
}

static struct tracked_page *put_page(struct merging *self, const struct tracked_page *page,
                                     const float *counts)
{
    uint32_t nodes = self->engine->nodes;
    float *own = vec__extend(&self->counts, nodes);
    for (uint32_t node = 0; node < nodes; node++)
        own[node] = counts ? counts[node] * self->aged : 0;
    struct tracked_page *put = vec__push(&self->pages, page);
    put->total *= self->aged;
    put->writes *= self->aged;
    put->was_written = false;
    if (self->engine->round - put->steady >= self->engine->thresholds.bounce_rounds &&
        put->run >= self->engine->thresholds.bounce_samples)
        put->moves = 0;
    return put;
}

static void keep_old(struct merging *self, size_t index)
{
    const struct tracked_page *page = VEC_AT(&self->engine->pages, struct tracked_page, index);
    if (is_worth_keeping(self->engine, page) &&
        place_engine__application(self->engine, page->application))
        put_page(self, page, place_engine__counts(self->engine, index));
}

static void take_group(struct merging *self, const struct place_access *accesses, size_t count,
                       size_t old, bool is_known)
{
    struct place_engine *engine = self->engine;
    struct known_application *application =
        place_engine__application(engine, accesses->application);
    const struct tracked_page new = {.application = accesses->application,
                                     .page = unit_of(accesses),
                                     .flags = accesses->flags,
                                     .owner = accesses->from,
                                     .steady = engine->round};
    if (!application)
        return;
    struct tracked_page *page =
        is_known ? put_page(self, VEC_AT(&engine->pages, struct tracked_page, old),
                            place_engine__counts(engine, old))
                 : put_page(self, &new, NULL);
    add_samples(self, page, VEC_AT(&self->counts, float, self->counts.count - engine->nodes),
                accesses, count);
    add_pairs(&application->pairs, accesses, count);
    if (accesses->flags & PLACE_HUGE)
        add_large(application, accesses, count);
}

static int order_of(const struct tracked_page *page, const struct place_access *access)
{
    return ORDER(page->application, access->application) ?: ORDER(page->page, unit_of(access));
}

static void merge(struct merging *self, const struct place_access *accesses, size_t count)
{
    const struct vec *pages = &self->engine->pages;
    size_t old = 0;
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && accesses[next].application == accesses[i].application &&
                           unit_of(&accesses[next]) == unit_of(&accesses[i]);)
            next++;
        while (old < pages->count &&
               order_of(VEC_AT(pages, struct tracked_page, old), &accesses[i]) < 0)
            keep_old(self, old++);
        bool is_known = old < pages->count &&
                        order_of(VEC_AT(pages, struct tracked_page, old), &accesses[i]) == 0;
        take_group(self, accesses + i, next - i, old, is_known);
        old += is_known;
    }
    while (old < pages->count)
        keep_old(self, old++);
}

/* What accesses of this round tell of their application. */
static void add_to_applications(struct place_engine *self, const struct place_access *accesses,
                                size_t count)
{
    struct known_application *application = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct place_access *access = &accesses[i];
        if (!application || application->id != access->application)
            application = place_engine__application(self, access->application);
        if (!application)
            continue;
        application->metrics.samples++;
        application->metrics.local += access->from == access->to;
        application->metrics.reads += !(access->flags & PLACE_WRITES);
        application->loads[access->to]++;
        application->users[access->from]++;
        application->huge_samples += (access->flags & PLACE_HUGE) != 0;
        application->huge_local += (access->flags & PLACE_HUGE) && access->from == access->to;
    }
}

void place_pages__take(struct place_engine *self, const struct place_facts *facts)
{
    struct merging merging = {.engine = self,
                              .aged = (float)exp2(-1 / self->thresholds.history_rounds),
                              .pages = VEC_OF(struct tracked_page),
                              .counts = VEC_OF(float)};
    struct vec accesses = VEC_OF(struct place_access);
    for (size_t i = 0; i < facts->access_count; i++)
        vec__push(&accesses, &facts->accesses[i]);
    vec__sort(&accesses, by_unit);
    VEC_EACH (application, &self->applications, struct known_application) {
        age_pairs(&application->pairs, merging.aged);
        age_pairs(&application->huge, merging.aged);
        age_pairs(&application->small, merging.aged);
    }
    add_to_applications(self, accesses.items, accesses.count);
    merge(&merging, accesses.items, accesses.count);
    vec__free(&accesses);
    vec__free(&self->pages);
    vec__free(&self->counts);
    self->pages = merging.pages;
    self->counts = merging.counts;
}
