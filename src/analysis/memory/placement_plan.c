#include "analysis/memory/placement_plan.h"

#include "base/memory.h"
#include "base/table.h"

#include <stdlib.h>

#define REMOTE_LEAST 0.01 /* of all time at memory: objects with less are left alone */
#define EACH_MOST 4096u

struct planning {
    const struct placement *placement;
    const struct memory_use *use;
    const struct placement_object *object;
    const struct memory_object *of;
    struct placement_action action;
};

static const struct placement_page *page_at(const struct planning *self, size_t index)
{
    return VEC_AT(&self->placement->pages, struct placement_page, self->object->first_page + index);
}

static uint32_t most_of(const uint64_t *by_node, uint32_t nodes)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < nodes; i++)
        if (by_node[i] > by_node[most])
            most = i;
    return most;
}

static void add_used(const struct planning *self, size_t index, uint64_t *by_node)
{
    for (uint32_t i = 0; i < self->placement->nodes.count; i++)
        by_node[i] += placement__used(self->placement, self->object->first_page + index, i);
}

/* ---- parts of one object --------------------------------------------------------------------- */

/* Where the object begins, and its length in pages. */
static void find_extent(struct planning *self)
{
    const struct placement_page *first = page_at(self, 0),
                                *last = page_at(self, self->object->pages - 1);
    const struct allocation *allocation = first->allocation;
    uint64_t page = ~(uint64_t)(HEURT_PAGE_BYTES - 1);
    self->action.address = first->address;
    self->action.pages = (last->address - first->address) / HEURT_PAGE_BYTES + 1;
    if (!allocation)
        return;
    uint64_t end = allocation->address + allocation->bytes;
    self->action.address = allocation->address & page;
    self->action.pages =
        (((end + HEURT_PAGE_BYTES - 1) & page) - self->action.address) / HEURT_PAGE_BYTES;
}

/* As many pages as hold more than PLACEMENT_TOP_SAMPLES samples in the mean, and no fewer than what
 * the pages' owners were found in. */
static uint64_t part_pages(const struct planning *self)
{
    uint64_t pages = self->object->block_pages;
    while (self->object->samples * pages < self->action.pages * (PLACEMENT_TOP_SAMPLES + 1))
        pages *= 2;
    return pages;
}

/* Neighbours of one node are one part. */
static void end_part(struct planning *self, uint64_t page, const uint64_t *by_node, uint64_t *local)
{
    uint32_t node = most_of(by_node, self->placement->nodes.count);
    const struct vec *parts = &self->action.parts;
    *local += by_node[node];
    if (parts->count && VEC_AT(parts, struct placement_part, parts->count - 1)->node == node)
        return;
    vec__push(&self->action.parts, &(struct placement_part){parts->count ? page : 0, node});
}

static void plan_parts(struct planning *self)
{
    uint32_t nodes = self->placement->nodes.count;
    uint64_t *by_node = memory__zeroed(nodes, sizeof *by_node), local = 0, all = 0;
    find_extent(self);
    uint64_t pages = part_pages(self), part = UINT64_MAX;
    for (size_t i = 0; i < self->object->pages; i++) {
        uint64_t at = (page_at(self, i)->address - self->action.address) / HEURT_PAGE_BYTES;
        if (part != UINT64_MAX && at / pages != part) {
            end_part(self, part * pages, by_node, &local);
            for (uint32_t node = 0; node < nodes; node++)
                by_node[node] = 0;
        }
        part = at / pages;
        add_used(self, i, by_node);
        all += page_at(self, i)->ns;
    }
    end_part(self, part * pages, by_node, &local);
    self->action.local = all ? (double)local / (double)all : COLUMN_UNKNOWN;
    self->action.what = PLACE_PARTS;
    free(by_node);
}

/* ---- in turn --------------------------------------------------------------------------------- */

#define CYCLE_MOST 64u          /* pages until it begins anew */
#define CYCLE_PAGES_MOST 16384u /* of an object: each is a mapping of its own for the kernel */

/* ns by node for each page of a cycle. Returns what would be local. */
static uint64_t fold_cycle(const struct planning *self, uint64_t length, uint64_t *by_node)
{
    uint32_t nodes = self->placement->nodes.count;
    uint64_t local = 0;
    for (size_t i = 0; i < length * nodes; i++)
        by_node[i] = 0;
    for (size_t i = 0; i < self->object->pages; i++) {
        uint64_t at = (page_at(self, i)->address - self->action.address) / HEURT_PAGE_BYTES;
        add_used(self, i, by_node + at % length * nodes);
    }
    for (size_t i = 0; i < length; i++)
        local += by_node[i * nodes + most_of(by_node + i * nodes, nodes)];
    return local;
}

static void plan_cycle(struct planning *self, uint64_t length, const uint64_t *by_node,
                       double local)
{
    uint32_t nodes = self->placement->nodes.count;
    self->action.parts.count = 0;
    for (size_t i = 0; i < length; i++)
        vec__push(&self->action.parts,
                  &(struct placement_part){i, most_of(by_node + i * nodes, nodes)});
    self->action.what = PLACE_CYCLE;
    self->action.local = local;
}

/* Threads that take every other page: parts would not tell their pages apart. The shortest cycle
 * that does, of which each page has enough samples. */
static void find_cycle(struct planning *self)
{
    uint32_t nodes = self->placement->nodes.count;
    uint64_t *by_node = memory__zeroed((size_t)CYCLE_MOST * nodes, sizeof *by_node);
    double all = 0;
    for (size_t i = 0; i < self->object->pages; i++)
        all += (double)page_at(self, i)->ns;
    for (uint64_t length = 2; length <= CYCLE_MOST; length++) {
        if (length * (PLACEMENT_TOP_SAMPLES + 1) > self->object->samples)
            break;
        double local = (double)fold_cycle(self, length, by_node) / all;
        if (local < PLACEMENT_LAR_GOOD || local <= self->action.local)
            continue;
        plan_cycle(self, length, by_node, local);
        break;
    }
    free(by_node);
}

/* ---- several objects of one place ------------------------------------------------------------ */

struct each_object {
    const struct allocation *allocation;
    size_t first, count; /* pages */
};

static int by_allocation(const void *a, const void *b)
{
    const struct each_object *left = a, *right = b;
    return ORDER(left->allocation->tick, right->allocation->tick)
               ?: ORDER(left->allocation->number, right->allocation->number);
}

/* By when they were allocated. */
static struct vec each_object_of(const struct planning *self)
{
    struct vec all = VEC_OF(struct each_object);
    for (size_t i = 0; i < self->object->pages; i++) {
        const struct allocation *allocation = page_at(self, i)->allocation;
        struct each_object *last =
            all.count ? VEC_AT(&all, struct each_object, all.count - 1) : NULL;
        if (!allocation)
            continue;
        if (last && last->allocation == allocation)
            last->count = i + 1 - last->first;
        else
            vec__push(&all, &(struct each_object){allocation, i, 1});
    }
    vec__sort(&all, by_allocation);
    return all;
}

static void plan_each(struct planning *self)
{
    uint32_t nodes = self->placement->nodes.count;
    uint64_t *by_node = memory__zeroed(nodes, sizeof *by_node), local = 0, all_ns = 0;
    struct vec all = each_object_of(self);
    VEC_EACH (one, &all, struct each_object) {
        for (uint32_t node = 0; node < nodes; node++)
            by_node[node] = 0;
        for (size_t i = one->first; i < one->first + one->count; i++)
            add_used(self, i, by_node);
        uint32_t node = most_of(by_node, nodes);
        for (uint32_t i = 0; i < nodes; i++)
            all_ns += by_node[i];
        local += by_node[node];
        if (self->action.parts.count < EACH_MOST)
            vec__push(&self->action.parts,
                      &(struct placement_part){self->action.parts.count, node});
    }
    self->action.local = all_ns ? (double)local / (double)all_ns : COLUMN_UNKNOWN;
    self->action.what = PLACE_EACH;
    vec__free(&all);
    free(by_node);
}

/* ---- one object ------------------------------------------------------------------------------ */

/* Objects of other sizes that the place allocates are something else. */
static void find_sizes(struct planning *self)
{
    self->action.least_bytes = UINT64_MAX;
    for (size_t i = 0; i < self->object->pages; i++) {
        const struct allocation *allocation = page_at(self, i)->allocation;
        uint64_t bytes = allocation ? allocation->bytes : 0;
        if (bytes && bytes < self->action.least_bytes)
            self->action.least_bytes = bytes;
        if (bytes > self->action.most_bytes)
            self->action.most_bytes = bytes;
    }
}

/* Objects within one page cannot be placed by themselves; stacks and what nobody allocated have no
 * name that would be the same in another run. */
static bool can_be_placed(const struct planning *self)
{
    switch (self->of->kind) {
    case MEMORY_HEAP:
    case MEMORY_MAPPED:
        return self->of->site && self->action.most_bytes >= HEURT_PAGE_BYTES;
    case MEMORY_STATIC:
        return true;
    default:
        return false;
    }
}

static bool plan_object(struct planning *self)
{
    self->action = (struct placement_action){.object = self->object->object,
                                             .parts = VEC_OF(struct placement_part),
                                             .local = COLUMN_UNKNOWN};
    find_sizes(self);
    if (!can_be_placed(self))
        return false;
    switch (self->object->advice) {
    case ADVICE_INTERLEAVE:
    case ADVICE_REPLICATE: /* what comes near it from outside */
        find_extent(self);
        self->action.what = PLACE_INTERLEAVE;
        return true;
    case ADVICE_SMALL_PAGES:
    case ADVICE_LOCAL:
    case ADVICE_PARALLEL_TOUCH:
        if (self->of->objects > 1)
            plan_each(self);
        else
            plan_parts(self);
        if (self->action.what == PLACE_PARTS && self->action.local < PLACEMENT_LAR_GOOD &&
            self->action.pages <= CYCLE_PAGES_MOST)
            find_cycle(self);
        self->action.no_huge_pages = self->object->advice == ADVICE_SMALL_PAGES;
        return true;
    default:
        return false;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static uint64_t remote_of(const struct placement_object *object)
{
    return object->ns - object->local_ns;
}

/* One policy for all is simpler, and also places what is not told. */
static enum placement_whole whole_of(const struct placement *placement,
                                     const struct placement_plan *plan)
{
    const struct placement_object *all = &placement->all;
    bool are_interleaved = plan->actions.count > 0;
    uint64_t placed_ns = 0;
    VEC_EACH (action, &plan->actions, struct placement_action) {
        are_interleaved &= action->what == PLACE_INTERLEAVE;
        VEC_EACH (object, &placement->objects, struct placement_object)
            placed_ns += object->object == action->object ? object->ns : 0;
    }
    if (all->user_nodes == 1 && all->ns &&
        (double)all->local_ns < PLACEMENT_LAR_GOOD * (double)all->ns)
        return PLAN_BIND;
    if (are_interleaved && placed_ns * 10 >= all->ns * 9)
        return PLAN_INTERLEAVE;
    return plan->actions.count ? PLAN_OBJECTS : PLAN_NOTHING;
}

struct placement_plan placement_plan__make(const struct placement *placement,
                                           const struct memory_use *use)
{
    struct placement_plan plan = {.actions = VEC_OF(struct placement_action)};
    VEC_EACH (object, &placement->objects, struct placement_object) {
        struct planning self = {.placement = placement,
                                .use = use,
                                .object = object,
                                .of = VEC_AT(&use->objects, struct memory_object, object->object)};
        if ((double)remote_of(object) < REMOTE_LEAST * (double)placement->all.ns)
            continue;
        if (plan_object(&self))
            vec__push(&plan.actions, &self.action);
        else
            vec__free(&self.action.parts);
    }
    plan.whole = whole_of(placement, &plan);
    plan.node = placement->all.top_user;
    return plan;
}

void placement_plan__free(struct placement_plan *plan)
{
    VEC_EACH (action, &plan->actions, struct placement_action)
        vec__free(&action->parts);
    vec__free(&plan->actions);
}
