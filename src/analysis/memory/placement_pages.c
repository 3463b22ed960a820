#include "analysis/memory/placement_pages.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/table.h"
#include "format/first_touches.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

#define HUGE_PAGES (512u) /* pages in a huge one */

/* ---- who touched them first ------------------------------------------------------------------ */

void placement_pages__find_touches(const struct trace *trace, struct placement *placement,
                                   const struct vec *since)
{
    struct vec touches = VEC_OF(struct first_touch);
    for (size_t i = 0; i < placement->pages.count; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        struct first_touch touch = {.address = page->address,
                                    .process = page->process,
                                    .since = *VEC_AT(since, uint64_t, i)};
        vec__push(&touches, &touch);
    }
    first_touches__find(trace, &touches);
    VEC_EACH (page, &placement->pages, struct placement_page) {
        const struct first_touch *touch = first_touches__at(&touches, page->process, page->address);
        if (!touch || touch->tick == UINT64_MAX)
            continue;
        page->is_touch_seen = true;
        page->touch_thread = touch->thread;
        page->touch_node = machine_nodes__of_cpu(&placement->nodes, touch->cpu);
    }
    vec__free(&touches);
}

/* ---- where they were found ------------------------------------------------------------------- */

static int by_page(const void *a, const void *b)
{
    const struct heurt_page *const *left = a, *const *right = b;
    return ORDER((*left)->pid, (*right)->pid) ?: ORDER((*left)->address, (*right)->address)
               ?: ORDER((*left)->monotonic_ns, (*right)->monotonic_ns);
}

static uint64_t since_start_ns(const struct trace *trace, uint64_t monotonic_ns)
{
    struct heurt_sample at = {.monotonic_ns = monotonic_ns};
    return trace__since_start_ns(trace, sample__tick(trace, &at));
}

static void follow(const struct trace *trace, const struct placement *placement,
                   struct placement_page *page, struct heurt_page *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t node = machine_nodes__index(&placement->nodes, rows[i]->node);
        page->is_huge |= rows[i]->flags & HEURT_PAGE_HUGE;
        if (node == NO_NODE)
            continue;
        if (i == 0) {
            page->first_node = page->node = node;
            page->seen_ns = since_start_ns(trace, rows[i]->monotonic_ns);
        }
        if (node != page->node && !page->moves++)
            page->moved_ns = since_start_ns(trace, rows[i]->monotonic_ns);
        page->node = node;
    }
}

static uint64_t huge_page_of(const struct placement_page *page)
{
    return page->address / HEURT_PAGE_BYTES / HUGE_PAGES;
}

/* Mappings are looked at now and then only: what is told of a page is so of the others that would
 * be in the same huge page. */
static void spread_huge(struct placement *placement)
{
    struct placement_page *pages = placement->pages.items;
    for (size_t i = 0, next; i < placement->pages.count; i = next) {
        bool is_huge = false;
        for (next = i; next < placement->pages.count && pages[next].object == pages[i].object &&
                       huge_page_of(&pages[next]) == huge_page_of(&pages[i]);)
            is_huge |= pages[next++].is_huge;
        for (size_t page = i; page < next; page++)
            pages[page].is_huge = is_huge;
    }
}

void placement_pages__find_moves(const struct trace *trace, struct placement *placement)
{
    struct vec rows = VEC_OF(const struct heurt_page *);
    VEC_EACH (row, trace__pages(trace), const struct heurt_page)
        vec__push(&rows, &row);
    vec__sort(&rows, by_page);
    VEC_EACH (page, &placement->pages, struct placement_page) {
        uint32_t pid = trace__process_at(trace, page->process)->pid;
        size_t first = VEC_FIRST(row, &rows, struct heurt_page *,
                                 (*row)->pid > pid ||
                                     ((*row)->pid == pid && (*row)->address >= page->address));
        size_t count = 0;
        struct heurt_page **at = VEC_AT(&rows, struct heurt_page *, first);
        while (first + count < rows.count && at[count]->pid == pid &&
               at[count]->address == page->address)
            count++;
        follow(trace, placement, page, at, count);
    }
    vec__free(&rows);
    spread_huge(placement);
}

/* ---- owners ---------------------------------------------------------------------------------- */

struct agreement {
    double pairs, alike; /* of samples at one block */
    uint64_t evidence;   /* samples beyond the first of a block */
};

/* A block's samples by node. Where each is from the same one, all pairs are alike; where nodes use
 * it at random, as many as chance makes. (The most frequent node's share would be near 1 of any
 * block with few samples.) */
static void add_block(const double *by_node, uint32_t nodes, struct agreement *agreement)
{
    double all = 0, alike = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        all += by_node[i];
        alike += by_node[i] * (by_node[i] - 1);
    }
    if (all < 1.5)
        return;
    agreement->evidence += (uint64_t)(all - 0.5);
    agreement->pairs += all;
    agreement->alike += alike > 0 ? all * alike / (all * (all - 1)) : 0;
}

/* Of blocks of so many pages. */
static struct agreement agreement_of(const struct placement *placement,
                                     const struct placement_object *object, uint64_t block_pages)
{
    uint32_t nodes = placement->nodes.count;
    double *by_node = memory__zeroed(nodes, sizeof *by_node);
    struct agreement agreement = {0};
    uint64_t block = UINT64_MAX;
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        uint64_t in = page->address / HEURT_PAGE_BYTES / block_pages;
        if (in != block) {
            add_block(by_node, nodes, &agreement);
            for (uint32_t node = 0; node < nodes; node++)
                by_node[node] = 0;
        }
        block = in;
        for (uint32_t node = 0; node < nodes && page->ns; node++)
            by_node[node] +=
                (double)placement__used(placement, i, node) * page->samples / (double)page->ns;
    }
    add_block(by_node, nodes, &agreement);
    free(by_node);
    return agreement;
}

static double share_of(struct agreement agreement)
{
    return agreement.pairs > 0 ? agreement.alike / agreement.pairs : COLUMN_UNKNOWN;
}

/* Of the smallest blocks of which there are enough samples. */
static void find_owned(const struct placement *placement, struct placement_object *object)
{
    struct agreement agreement = {0};
    uint32_t pages = 1;
    for (; pages <= HUGE_PAGES; pages *= 2) {
        agreement = agreement_of(placement, object, pages);
        if (agreement.evidence >= PLACEMENT_SAMPLES_LEAST)
            break;
    }
    object->block_pages = pages;
    object->owned = share_of(agreement);
    object->owned_huge = share_of(agreement_of(placement, object, HUGE_PAGES));
}

/* ---- the kind -------------------------------------------------------------------------------- */

/* Neighbours on different nodes, as a part of how many of them would be by chance: near 0 where
 * parts lie side by side, 1 and more where each page is on another node than the one before. */
static double alternation_of(const struct placement *placement,
                             const struct placement_object *object)
{
    uint32_t nodes = placement->nodes.count;
    double *on = memory__zeroed(nodes, sizeof *on), all = 0, alike = 0, changes = 0;
    const struct placement_page *before = NULL;
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        if (page->node == NO_NODE)
            continue;
        changes += before && before->node != page->node;
        on[page->node]++;
        all++;
        before = page;
    }
    for (uint32_t i = 0; i < nodes; i++)
        alike += all ? on[i] * on[i] / (all * all) : 0;
    free(on);
    return all > 1 && alike < 1 ? changes / (all - 1) / (1 - alike) : 0;
}

#define MOSTLY 0.95    /* on one node */
#define ALTERNATES 0.5 /* of chance */
#define HALF(part, whole) ((part)*2 >= (whole))

static uint64_t ns_on(const struct placement *placement, const struct placement_object *object,
                      uint32_t node)
{
    uint64_t ns = 0;
    for (uint32_t from = 0; from < placement->nodes.count; from++)
        ns += placement__ns(placement, object->object, from, node);
    return ns;
}

/* All at a time, which a tenth of the samples may contradict (pages are asked for a little later
 * than they were accessed); or one by one, half of them. */
static bool has_moved(const struct placement_object *object)
{
    uint64_t samples = object->before_samples + object->after_samples;
    bool is_sharp = object->moved_pages > 1 && object->astray_samples * 10 <= samples &&
                    object->before_samples * 10 >= samples && object->after_samples * 10 >= samples;
    return is_sharp || (object->moved_pages && HALF(object->moved_pages, object->movable_pages));
}

static enum placement_kind kind_of(const struct placement *placement,
                                   const struct placement_object *object)
{
    if (object->samples < PLACEMENT_SAMPLES_LEAST)
        return PLACEMENT_UNKNOWN;
    if (has_moved(object))
        return PLACEMENT_MOVED;
    if ((double)object->local_ns >= PLACEMENT_LAR_GOOD * (double)object->ns)
        return PLACEMENT_LOCAL;
    if (HALF(object->huge_pages, object->pages) && object->owned >= PLACEMENT_OWNED &&
        object->owned_huge < PLACEMENT_OWNED)
        return PLACEMENT_HUGE;
    if ((double)ns_on(placement, object, object->top_node) >= MOSTLY * (double)object->ns)
        return PLACEMENT_ONE_NODE;
    return alternation_of(placement, object) >= ALTERNATES ? PLACEMENT_SPREAD : PLACEMENT_APART;
}

/* ---- the advice ------------------------------------------------------------------------------ */

static enum placement_advice advice_of_owned(const struct placement_object *object)
{
    if (object->touched_ns && HALF(object->touched_self_ns, object->touched_ns))
        return ADVICE_PIN;
    return object->user_nodes > 1 ? ADVICE_PARALLEL_TOUCH : ADVICE_LOCAL;
}

static enum placement_advice advice_of(const struct placement_object *object)
{
    bool is_owned = object->owned >= PLACEMENT_OWNED;
    switch (object->kind) {
    case PLACEMENT_UNKNOWN:
    case PLACEMENT_LOCAL:
        return ADVICE_NONE;
    case PLACEMENT_HUGE:
        return ADVICE_SMALL_PAGES;
    default:
        if (is_owned)
            return advice_of_owned(object);
        if (object->read_ratio >= PLACEMENT_READ_ONLY)
            return ADVICE_REPLICATE;
        return object->imbalance > PLACEMENT_IMBALANCE_GOOD ? ADVICE_INTERLEAVE : ADVICE_NONE;
    }
}

static void find_touchers(const struct placement *placement, struct placement_object *object)
{
    struct map count_of = {0};
    struct vec counts = VEC_OF(uint64_t);
    uint64_t most = 0, all = 0;
    object->touch_thread = UINT32_MAX;
    object->touch_node = NO_NODE;
    bool any_seen = false;
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++)
        any_seen |= VEC_AT(&placement->pages, struct placement_page, i)->is_touch_seen;
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        if (page->touch_thread == UINT32_MAX || page->is_touch_seen != any_seen)
            continue;
        uint64_t at =
            map__put(&count_of, &page->touch_thread, sizeof page->touch_thread, counts.count);
        uint64_t *count = VEC_REACH(&counts, uint64_t, at);
        all++;
        if (++*count > most) {
            most = *count;
            object->touch_thread = page->touch_thread;
            object->touch_node = page->touch_node;
        }
    }
    object->is_touch_seen = any_seen;
    VEC_EACH (count, &counts, uint64_t)
        object->touch_threads += *count * 20 >= all;
    map__free(&count_of);
    vec__free(&counts);
}

void placement_object__find_source(const struct placement *placement,
                                   struct placement_object *object)
{
    uint64_t *from = memory__zeroed(placement->nodes.count, sizeof *from);
    object->moved_from = NO_NODE;
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        if (!page->moves || page->first_node == NO_NODE)
            continue;
        from[page->first_node]++;
        if (object->moved_from == NO_NODE || from[page->first_node] > from[object->moved_from])
            object->moved_from = page->first_node;
    }
    free(from);
}

static void count_movable(const struct placement *placement, struct placement_object *object)
{
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++)
        object->movable_pages +=
            VEC_AT(&placement->pages, struct placement_page, i)->seen_ns < object->moved_ns;
}

void placement_object__judge(const struct placement *placement, struct placement_object *object)
{
    count_movable(placement, object);
    find_owned(placement, object);
    find_touchers(placement, object);
    object->kind = kind_of(placement, object);
    object->advice = advice_of(object);
}
