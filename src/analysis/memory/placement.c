#include "analysis/memory/placement.h"

#include "analysis/memory/placement_pages.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/table.h"
#include "format/sampled_lines.h"

#include <math.h>
#include <stdlib.h>

struct placing {
    const struct trace *trace;
    const struct memory_use *use;
    struct placement *placement;
    struct map page_of;                /* struct placed_key → index */
    struct vec since;                  /* uint64_t by page */
    struct placement_object **objects; /* by memory_use's */
};

/* A page of two objects is two pages. */
struct placed_key {
    uint64_t process, address, object;
};

/* ---- what is asked of it --------------------------------------------------------------------- */

static size_t matrix_of(const struct placement *placement, uint32_t object)
{
    size_t cells = (size_t)placement->nodes.count * placement->nodes.count;
    return object == PLACEMENT_ALL ? 0 : (1 + (size_t)object) * cells;
}

uint64_t placement__ns(const struct placement *placement, uint32_t object, uint32_t from,
                       uint32_t to)
{
    return *VEC_AT(&placement->matrix, uint64_t,
                   matrix_of(placement, object) + (size_t)from * placement->nodes.count + to);
}

uint64_t placement__used(const struct placement *placement, size_t page, uint32_t from)
{
    return *VEC_AT(&placement->used, uint64_t, page * placement->nodes.count + from);
}

double placement__imbalance(const uint64_t *loads, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)loads[i];
    double mean = count ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        squares += ((double)loads[i] - mean) * ((double)loads[i] - mean);
    return mean > 0 ? sqrt(squares / (double)count) / mean : 0;
}

/* The node of the thread of a sample and that of its data. Where the processor tells what answered,
 * its word counts: local is the thread's own node, remote the page's, if that is another. False:
 * one of them is not known. */
static bool find_ends(const struct trace *trace, const struct machine_nodes *nodes,
                      const struct heurt_sample *sample, uint32_t *from, uint32_t *to)
{
    const struct heurt_placed *placed = trace__placed(trace, sample);
    const struct heurt_answer *answer = trace__answer(trace, sample);
    *from = placed ? machine_nodes__of_cpu(nodes, placed->cpu) : NO_NODE;
    *to = placed ? machine_nodes__index(nodes, placed->node) : NO_NODE;
    if (answer && answer->level == HEURT_LEVEL_MEMORY)
        *to = *from;
    else if (answer && *to == *from)
        *to = NO_NODE;
    return *from != NO_NODE && *to != NO_NODE;
}

/* Whether it is one of those that tell where memory is: all, or those that memory answered. */
static bool tells_placement(const struct trace *trace, const struct heurt_sample *sample)
{
    const struct heurt_answer *answer =
        trace__tells_answers(trace) ? trace__answer(trace, sample) : NULL;
    return !trace__tells_answers(trace) || (answer && answer__is_of_memory(answer));
}

bool placement__ends(const struct trace *trace, const struct machine_nodes *nodes,
                     const struct heurt_sample *sample, uint32_t *from, uint32_t *to)
{
    return tells_placement(trace, sample) && find_ends(trace, nodes, sample, from, to);
}

double placement__remote_share(const struct trace *trace, uint64_t *samples)
{
    struct machine_nodes nodes = machine_nodes__of(trace);
    uint64_t ns = 0, remote_ns = 0;
    *samples = 0;
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        uint32_t from, to;
        if (nodes.count < 2 || !placement__ends(trace, &nodes, sample, &from, &to))
            continue;
        ++*samples;
        ns += sample->weight_ns;
        remote_ns += from != to ? sample->weight_ns : 0;
    }
    machine_nodes__free(&nodes);
    return ns ? (double)remote_ns / (double)ns : 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static struct placed_key key_of(const struct placing *self, const struct memory_sample *at)
{
    return (struct placed_key){trace__thread_at(self->trace, at->thread)->process,
                               at->sample->address & ~(uint64_t)(HEURT_PAGE_BYTES - 1), at->object};
}

static size_t page_of(struct placing *self, const struct memory_sample *at)
{
    struct placed_key key = key_of(self, at);
    struct vec *pages = &self->placement->pages;
    uint64_t index = map__put(&self->page_of, &key, sizeof key, pages->count);
    if (index < pages->count)
        return index;
    struct placement_page page = {.process = (uint32_t)key.process,
                                  .object = at->object,
                                  .address = key.address,
                                  .first_node = NO_NODE,
                                  .node = NO_NODE,
                                  .touch_thread = UINT32_MAX,
                                  .touch_node = NO_NODE,
                                  .allocation = at->allocation};
    vec__push(pages, &page);
    for (uint32_t i = 0; i < self->placement->nodes.count; i++)
        vec__push(&self->placement->used, NULL);
    vec__push(&self->since, &(uint64_t){at->allocation ? at->allocation->tick : 0});
    return index;
}

static void add_to_page(struct placing *self, struct placement_page *page, size_t index,
                        uint32_t thread, uint32_t from, uint32_t to,
                        const struct heurt_sample *sample)
{
    if (!page->samples++) {
        page->touch_thread = thread;
        page->touch_node = from;
        page->first_node = to;
    }
    page->node = to;
    page->ns += sample->weight_ns;
    page->written_ns += sample__writes(sample) ? sample->weight_ns : 0;
    *VEC_AT(&self->placement->used, uint64_t, index * self->placement->nodes.count + from) +=
        sample->weight_ns;
}

static void add_sample(struct placing *self, const struct memory_sample *at)
{
    struct placement *placement = self->placement;
    uint32_t from, to;
    uint64_t ns = at->sample->weight_ns;
    if (!tells_placement(self->trace, at->sample)) {
        placement->cached_ns += ns;
        return;
    }
    if (!find_ends(self->trace, &placement->nodes, at->sample, &from, &to)) {
        placement->unknown_ns += ns;
        return;
    }
    size_t cell = (size_t)from * placement->nodes.count + to;
    *VEC_AT(&placement->matrix, uint64_t, matrix_of(placement, PLACEMENT_ALL) + cell) += ns;
    *VEC_AT(&placement->matrix, uint64_t, matrix_of(placement, at->object) + cell) += ns;
    size_t page = page_of(self, at);
    add_to_page(self, VEC_AT(&placement->pages, struct placement_page, page), page, at->thread,
                from, to, at->sample);
}

/* ---- pages side by side ---------------------------------------------------------------------- */

struct numbered_page {
    struct placement_page page;
    size_t number;
};

static int by_object_and_address(const void *a, const void *b)
{
    const struct placement_page *left = &((const struct numbered_page *)a)->page,
                                *right = &((const struct numbered_page *)b)->page;
    return ORDER(left->object, right->object) ?: ORDER(left->process, right->process)
               ?: ORDER(left->address, right->address);
}

/* With them what goes with them: by whom they are used, and since when. */
static void sort_pages(struct placing *self)
{
    struct placement *placement = self->placement;
    uint32_t nodes = placement->nodes.count;
    struct vec pages = VEC_OF(struct numbered_page), used = VEC_OF(uint64_t),
               since = VEC_OF(uint64_t);
    VEC_EACH (page, &placement->pages, struct placement_page)
        vec__push(&pages, &(struct numbered_page){*page, pages.count});
    vec__sort(&pages, by_object_and_address);
    placement->pages.count = 0;
    VEC_EACH (page, &pages, struct numbered_page) {
        vec__push(&placement->pages, &page->page);
        vec__push(&since, VEC_AT(&self->since, uint64_t, page->number));
        for (uint32_t i = 0; i < nodes; i++)
            vec__push(&used, VEC_AT(&placement->used, uint64_t, page->number * nodes + i));
    }
    map__free(&self->page_of);
    VEC_EACH (page, &placement->pages, struct placement_page) {
        struct placed_key key = {page->process, page->address, page->object};
        map__put(&self->page_of, &key, sizeof key, self->page_of.count);
    }
    vec__free(&pages);
    vec__free(&placement->used);
    vec__free(&self->since);
    placement->used = used;
    self->since = since;
}

/* ---- objects --------------------------------------------------------------------------------- */

static void add_matrix(const struct placement *placement, struct placement_object *object)
{
    uint32_t count = placement->nodes.count;
    uint64_t *loads = memory__zeroed(count, sizeof *loads), most_load = 0, most_use = 0;
    for (uint32_t from = 0; from < count; from++) {
        uint64_t use = 0;
        for (uint32_t to = 0; to < count; to++) {
            uint64_t ns = placement__ns(placement, object->object, from, to);
            object->ns += ns;
            object->local_ns += from == to ? ns : 0;
            loads[to] += ns;
            use += ns;
        }
        if (use > most_use) {
            most_use = use;
            object->top_user = from;
        }
    }
    for (uint32_t from = 0; from < count; from++) {
        uint64_t use = 0;
        for (uint32_t to = 0; to < count; to++)
            use += placement__ns(placement, object->object, from, to);
        object->user_nodes += use * 20 >= object->ns && use;
        if (loads[from] > most_load) {
            most_load = loads[from];
            object->top_node = from;
        }
    }
    object->imbalance = placement__imbalance(loads, count);
    free(loads);
}

static void add_pages(const struct placement *placement, struct placement_object *object)
{
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        object->samples += page->samples;
        object->written_ns += page->written_ns;
        object->moved_pages += page->moves > 0;
        object->huge_pages += page->is_huge;
    }
    object->read_ratio =
        object->ns ? 1 - (double)object->written_ns / (double)object->ns : COLUMN_UNKNOWN;
}

/* ---- what was when --------------------------------------------------------------------------- */

/* A sample of which both nodes are known. */
struct placed_sample {
    struct placement_object *object;
    const struct placement_page *page;
    uint32_t thread, from, to;
    uint64_t at_ns, ns; /* since the run's start; that it stands for */
};

/* By time: struct placed_sample. */
static struct vec placed_samples(struct placing *self)
{
    struct placement *placement = self->placement;
    struct vec samples = VEC_OF(struct placed_sample);
    VEC_EACH (at, &self->use->at_memory, const struct memory_sample) {
        uint32_t from, to;
        struct placed_key key = key_of(self, at);
        uint64_t page = map__get(&self->page_of, &key, sizeof key);
        if (page == MAP_ABSENT ||
            !placement__ends(self->trace, &placement->nodes, at->sample, &from, &to))
            continue;
        struct placed_sample one = {.object = self->objects[at->object],
                                    .page = VEC_AT(&placement->pages, struct placement_page, page),
                                    .thread = at->thread,
                                    .from = from,
                                    .to = to,
                                    .at_ns = at->since_ns,
                                    .ns = at->sample->weight_ns};
        vec__push(&samples, &one);
    }
    return samples;
}

/* The division by time with the fewest samples on the wrong side: of those until it as many as
 * possible are where the pages were first, and as few as possible elsewhere. */
static void find_division(struct placing *self, const struct vec *samples)
{
    size_t count = self->use->objects.count;
    int64_t *score = memory__zeroed(count + 1, sizeof *score);
    int64_t *best = memory__zeroed(count + 1, sizeof *best);
    VEC_EACH (sample, samples, const struct placed_sample) {
        uint32_t object = sample->object->object;
        if (!sample->object->moved_pages)
            continue;
        score[object] += sample->to == sample->object->moved_from ? 1 : -1;
        if (score[object] > best[object]) {
            best[object] = score[object];
            sample->object->moved_ns = sample->at_ns + 1;
        }
    }
    free(score);
    free(best);
}

static void add_history(const struct placed_sample *sample)
{
    struct placement_object *object = sample->object;
    const struct placement_page *page = sample->page;
    bool is_remote = sample->from != sample->to, is_before = sample->at_ns < object->moved_ns;
    object->touched_ns += page->is_touch_seen && is_remote ? sample->ns : 0;
    object->touched_self_ns +=
        page->is_touch_seen && is_remote && page->touch_thread == sample->thread ? sample->ns : 0;
    if (!object->moved_pages)
        return;
    object->astray_samples += is_before != (sample->to == object->moved_from);
    *(is_before ? &object->before_samples : &object->after_samples) += 1;
    *(is_before ? &object->before_ns : &object->after_ns) += sample->ns;
    *(is_before ? &object->before_local_ns : &object->after_local_ns) += is_remote ? 0 : sample->ns;
}

static void add_histories(struct placing *self)
{
    self->objects = memory__zeroed(self->use->objects.count + 1, sizeof *self->objects);
    VEC_EACH (object, &self->placement->objects, struct placement_object)
        self->objects[object->object] = object;
    struct vec samples = placed_samples(self);
    find_division(self, &samples);
    VEC_EACH (sample, &samples, const struct placed_sample)
        add_history(sample);
    vec__free(&samples);
    free(self->objects);
}

/* ---- the objects ----------------------------------------------------------------------------- */

static int by_remote(const void *a, const void *b)
{
    const struct placement_object *left = a, *right = b;
    return ORDER(right->ns - right->local_ns, left->ns - left->local_ns)
               ?: ORDER(right->ns, left->ns) ?: ORDER(left->object, right->object);
}

static void make_objects(struct placing *self)
{
    struct placement *placement = self->placement;
    const struct placement_page *pages = placement->pages.items;
    for (size_t i = 0, next; i < placement->pages.count; i = next) {
        for (next = i + 1; next < placement->pages.count && pages[next].object == pages[i].object;)
            next++;
        struct placement_object object = {
            .object = pages[i].object, .first_page = i, .pages = next - i};
        add_matrix(placement, &object);
        add_pages(placement, &object);
        vec__push(&placement->objects, &object);
    }
    vec__sort(&placement->objects, by_remote);
    VEC_EACH (object, &placement->objects, struct placement_object)
        placement_object__find_source(placement, object);
    add_histories(self);
    VEC_EACH (object, &placement->objects, struct placement_object)
        placement_object__judge(placement, object);
    placement->all =
        (struct placement_object){.object = PLACEMENT_ALL, .pages = placement->pages.count};
    add_matrix(placement, &placement->all);
    add_pages(placement, &placement->all);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void free_placement(void *result)
{
    struct placement *placement = result;
    if (!placement)
        return;
    machine_nodes__free(&placement->nodes);
    vec__free(&placement->objects);
    vec__free(&placement->pages);
    vec__free(&placement->used);
    vec__free(&placement->matrix);
    free(placement);
}

static void *start(struct run *run)
{
    struct placement *placement = memory__zeroed(1, sizeof *placement);
    struct placing self = {.trace = run->trace,
                           .use = run__result(run, &memory_analysis),
                           .placement = placement,
                           .since = VEC_OF(uint64_t)};
    *placement = (struct placement){.nodes = machine_nodes__of(run->trace),
                                    .objects = VEC_OF(struct placement_object),
                                    .pages = VEC_OF(struct placement_page),
                                    .used = VEC_OF(uint64_t),
                                    .matrix = VEC_OF(uint64_t),
                                    .is_measured = trace__tells_answers(run->trace),
                                    .balancing = trace__meta(run->trace, BALANCING_META),
                                    .huge_pages = trace__meta(run->trace, HUGE_PAGES_META)};
    if (placement->nodes.count < 2 || !self.use) {
        free_placement(placement);
        return NULL;
    }
    VEC_REACH(&placement->matrix, uint64_t,
              matrix_of(placement, (uint32_t)self.use->objects.count));
    VEC_EACH (at, &self.use->at_memory, const struct memory_sample)
        add_sample(&self, at);
    sort_pages(&self);
    placement_pages__find_touches(run->trace, placement, &self.since);
    placement_pages__find_moves(run->trace, placement);
    make_objects(&self);
    map__free(&self.page_of);
    vec__free(&self.since);
    return placement;
}

static const struct analysis *const after[] = {&memory_analysis, NULL};

const struct analysis placement_analysis = {
    .name = "placement", .after = after, .start = start, .free = free_placement};
