#include "place/place_simulation.h"

#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT16_MAX

struct simulating {
    const struct place_simulation *options;
    const struct place_stream *stream;
    const struct place_machine *machine;
    struct place_result result;
    struct place_engine *engine; /* NULL: no Carrefour */
    bool copies;                 /* are made where they are decided */
    struct map index_of;         /* struct stream_page_key → index of a page */
    double *sums;                /* of accesses of all rows up to each, and with it */
    uint16_t *node;              /* by page */
    uint8_t *flags;
    bool *copied;
    double *busy_ns; /* by thread, since the last decision */
    struct step_times times;
    /* Since the last decision: */
    struct vec accesses; /* struct place_access */
    double since_ns, since_accesses, loads[PLACE_ENGINE_NODES];
    uint32_t since_steps;
    double extra_ns; /* that the next step takes more */
    double sampling;
    uint64_t chance;
    /* Of Linux' balancing: */
    uint16_t *last; /* by page: who had the last hinting fault */
    uint16_t *user; /* who has the next one */
    double *user_weight;
    size_t scanned; /* the next page */
    double unscanned_ns;
};

struct stream_page_key {
    uint64_t page, application;
};

const char *place_strategy__name(unsigned strategy)
{
    static const char *const names[PLACE_STRATEGIES] = {
        "first touch",           "interleave all", "AutoNUMA-like",     "Carrefour",
        "Carrefour with copies", "oracle",         "oracle with copies"};
    return strategy < PLACE_STRATEGIES ? names[strategy] : NULL;
}

struct place_simulation place_simulation__usual(void)
{
    return (struct place_simulation){.thresholds = place_thresholds__usual(),
                                     .interval_ns = 1e9,
                                     .sample_every = 20000,
                                     .seed = 1};
}

static const struct stream_page *page_at(const struct simulating *self, size_t index)
{
    return VEC_AT(&self->stream->pages, struct stream_page, index);
}

static size_t index_of(const struct simulating *self, uint64_t page, uint64_t application)
{
    const struct stream_page_key key = {page, application};
    return map__get(&self->index_of, &key, sizeof key);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static void take_sample(struct simulating *self, const struct stream_thread *threads,
                        const struct stream_row *row, bool writes)
{
    const struct stream_page *page = page_at(self, row->page);
    uint16_t from = threads[row->thread].node;
    const struct place_access access = {
        .page = page->page,
        .application = page->application,
        .from = from,
        .to = self->copied[row->page] ? from : self->node[row->page],
        .flags = (uint8_t)(self->flags[row->page] | (writes ? PLACE_WRITES : 0))};
    vec__push(&self->accesses, &access);
}

static bool draws_write(struct simulating *self, const struct stream_row *row)
{
    double writes = (double)row->writes, all = (double)row->reads + writes;
    return place_chance__next(&self->chance) * all < writes;
}

/* Each row of a recorded stream was a sample; of others they are drawn. */
static void take_samples(struct simulating *self, const struct stream_step *step)
{
    const struct stream_thread *threads =
        VEC_AT(&self->stream->placed, struct stream_thread, step->first_thread);
    const struct stream_row *rows = VEC_AT(&self->stream->rows, struct stream_row, step->first_row);
    size_t before = self->accesses.count;
    if (self->stream->is_sampled) {
        for (size_t i = 0; i < step->rows; i++)
            if (place_chance__next(&self->chance) < self->sampling)
                take_sample(self, threads, &rows[i], rows[i].writes > 0);
        return;
    }
    const double *sums = self->sums + step->first_row;
    double first = step->rows ? sums[0] - (double)rows[0].reads - (double)rows[0].writes : 0;
    double all = step->rows ? sums[step->rows - 1] - first : 0;
    size_t count = (size_t)(all / self->options->sample_every * self->sampling +
                            place_chance__next(&self->chance));
    for (size_t i = 0; i < count && step->rows; i++) {
        double at = first + place_chance__next(&self->chance) * all;
        size_t row = FIRST_WHERE(place, step->rows - 1, sums[place] > at);
        take_sample(self, threads, &rows[row], draws_write(self, &rows[row]));
    }
    self->extra_ns +=
        (double)(self->accesses.count - before) * PLACE_SAMPLE_NS / fmax(self->stream->threads, 1);
}

/* A write to a page with copies is a fault: they go, and who decides is told. */
static void end_copies(struct simulating *self, const struct stream_step *step)
{
    const struct stream_thread *threads =
        VEC_AT(&self->stream->placed, struct stream_thread, step->first_thread);
    for (size_t i = 0; i < step->rows; i++) {
        const struct stream_row *row =
            VEC_AT(&self->stream->rows, struct stream_row, step->first_row + i);
        if (!(row->writes > 0) || !self->copied[row->page])
            continue;
        take_sample(self, threads, row, true);
        self->copied[row->page] = false;
        self->extra_ns += PLACE_FAULT_NS;
    }
}

/* ---- what is decided --------------------------------------------------------------------------
 */

static void move_page(struct simulating *self, size_t index, uint16_t to)
{
    self->node[index] = to;
    self->result.moved++;
    self->extra_ns += PLACE_MOVE_NS;
}

static void apply_to(struct simulating *self, const struct place_decision *decision, size_t index)
{
    switch (decision->kind) {
    case PLACE_MIGRATE:
    case PLACE_SPREAD:
        move_page(self, index, decision->to);
        break;
    case PLACE_BACK:
        move_page(self, index, decision->to);
        self->result.undone++;
        break;
    case PLACE_REPLICATE:
        if (decision->is_advice) {
            self->result.advised++;
            break;
        }
        self->copied[index] = true;
        self->result.copied++;
        self->extra_ns += PLACE_MOVE_NS * (self->machine->nodes - 1);
        break;
    case PLACE_COLLAPSE:
        self->copied[index] = false;
        break;
    default:
        self->flags[index] &= (uint8_t)~PLACE_HUGE;
    }
}

static void apply(struct simulating *self, const struct place_decision *decision)
{
    uint64_t pages = decision->is_huge ? PLACE_HUGE_PAGES : 1;
    for (uint64_t i = 0; i < pages; i++) {
        size_t index = index_of(self, decision->page + i, decision->application);
        if (index != MAP_ABSENT)
            apply_to(self, decision, index);
    }
    self->result.split += decision->kind == PLACE_SPLIT;
}

static void add_application(const struct simulating *self, uint32_t id, struct vec *applications)
{
    struct place_application application = {
        .id = id,
        .progress = self->stream->tells_progress ? self->since_steps / self->since_ns * 1e9 : NAN};
    for (uint32_t thread = 0; thread < self->stream->threads; thread++)
        if (*VEC_AT(&self->stream->of, uint32_t, thread) == id)
            application.cpus += self->busy_ns[thread] / self->since_ns;
    vec__push(applications, &application);
}

static void decide(struct simulating *self)
{
    struct vec applications = VEC_OF(struct place_application);
    for (uint32_t id = 0; id < self->stream->applications; id++)
        add_application(self, id, &applications);
    const struct place_facts facts = {
        .maptu = self->stream->is_sampled ? NAN : self->since_accesses / self->since_ns * 1000,
        .memory_share = 1,
        .memory_used = self->options->memory_used,
        .controllers = self->stream->is_sampled ? NULL : self->loads,
        .quality = self->stream->quality,
        .can_replicate = self->copies,
        .applications = applications.items,
        .application_count = applications.count,
        .accesses = self->accesses.items,
        .access_count = self->accesses.count};
    struct place_outcome outcome = place_engine__step(self->engine, &facts);
    if (self->options->told)
        self->options->told(self->options->context, self->result.rounds, &outcome);
    VEC_EACH (decision, &outcome.decisions, struct place_decision)
        apply(self, decision);
    self->sampling = outcome.sampling;
    self->result.guarded =
        self->result.guarded > outcome.guarded ? self->result.guarded : outcome.guarded;
    self->result.rounds++;
    place_outcome__free(&outcome);
    vec__free(&applications);
}

static void follow_with_engine(struct simulating *self, const struct stream_step *step)
{
    take_samples(self, step);
    self->since_ns += self->times.ns;
    self->since_accesses += self->times.accesses;
    self->since_steps++;
    for (uint32_t node = 0; node < self->machine->nodes; node++)
        self->loads[node] += self->times.loads[node];
    for (uint32_t thread = 0; thread < self->stream->threads; thread++)
        self->busy_ns[thread] += self->times.busy_ns[thread];
    if (self->since_ns < self->options->interval_ns)
        return;
    decide(self);
    self->accesses.count = 0;
    self->since_ns = self->since_accesses = 0;
    self->since_steps = 0;
    memset(self->loads, 0, sizeof self->loads);
    memset(self->busy_ns, 0, self->stream->threads * sizeof *self->busy_ns);
}

/* ---- as Linux' NUMA balancing -----------------------------------------------------------------
 */

/* Who is at each page next: of its users in the step one by chance, by their accesses. */
static void draw_users(struct simulating *self, const struct stream_step *step)
{
    const struct stream_thread *threads =
        VEC_AT(&self->stream->placed, struct stream_thread, step->first_thread);
    memset(self->user_weight, 0, self->stream->pages.count * sizeof *self->user_weight);
    for (size_t i = 0; i < step->rows; i++) {
        const struct stream_row *row =
            VEC_AT(&self->stream->rows, struct stream_row, step->first_row + i);
        double weight = (double)row->reads + (double)row->writes;
        self->user_weight[row->page] += weight;
        if (place_chance__next(&self->chance) * self->user_weight[row->page] < weight)
            self->user[row->page] = threads[row->thread].node;
    }
}

/* A fault that finds the same node as the last one there moves the page (kernel: two-stage
 * filter of should_numa_migrate_memory). */
static void fault(struct simulating *self, size_t page)
{
    if (!(self->user_weight[page] > 0))
        return;
    self->extra_ns += PLACE_FAULT_NS / fmax(self->stream->threads, 1);
    if (self->last[page] == self->user[page] && self->node[page] != self->user[page] &&
        !(self->flags[page] & (PLACE_FIXED | PLACE_SEVERAL)))
        move_page(self, page, self->user[page]);
    self->last[page] = self->user[page];
}

/* Large pages have a fault as a whole; that is their first page's here. */
static void follow_with_balancing(struct simulating *self, const struct stream_step *step)
{
    size_t pages = self->stream->pages.count;
    self->unscanned_ns += self->times.ns;
    if (self->unscanned_ns < PLACE_SCAN_LEAST_NS || !pages)
        return;
    draw_users(self, step);
    double scans = floor(self->unscanned_ns / PLACE_SCAN_LEAST_NS);
    size_t left = (size_t)fmin(scans * PLACE_SCAN_PAGES, (double)pages);
    self->unscanned_ns -= scans * PLACE_SCAN_LEAST_NS;
    for (; left; left--) {
        fault(self, self->scanned);
        self->scanned = (self->scanned + 1) % pages;
    }
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static void prepare_pages(struct simulating *self)
{
    const struct place_stream *stream = self->stream;
    for (size_t i = 0; i < stream->pages.count; i++) {
        const struct stream_page *page = page_at(self, i);
        const struct stream_page_key key = {page->page, page->application};
        map__put(&self->index_of, &key, sizeof key, i);
        bool is_free = !(page->flags & PLACE_FIXED);
        self->node[i] = self->result.strategy == STRATEGY_INTERLEAVE && is_free
                            ? (uint16_t)(page->page % self->machine->nodes)
                            : page->node;
        self->flags[i] = page->flags;
        self->last[i] = NOBODY;
    }
    double sum = 0;
    for (size_t i = 0; i < stream->rows.count; i++) {
        const struct stream_row *row = VEC_AT(&stream->rows, struct stream_row, i);
        self->sums[i] = sum += (double)row->reads + (double)row->writes;
    }
}

static void prepare(struct simulating *self)
{
    const struct place_stream *stream = self->stream;
    enum place_strategy strategy = self->result.strategy;
    size_t pages = stream->pages.count + 1;
    self->sums = memory__zeroed(stream->rows.count + 1, sizeof *self->sums);
    self->node = memory__zeroed(pages, sizeof *self->node);
    self->flags = memory__zeroed(pages, sizeof *self->flags);
    self->copied = memory__zeroed(pages, sizeof *self->copied);
    self->last = memory__zeroed(pages, sizeof *self->last);
    self->user = memory__zeroed(pages, sizeof *self->user);
    self->user_weight = memory__zeroed(pages, sizeof *self->user_weight);
    self->busy_ns = memory__zeroed(stream->threads + 1, sizeof *self->busy_ns);
    self->times.busy_ns = memory__zeroed(stream->threads + 1, sizeof *self->times.busy_ns);
    self->accesses = VEC_OF(struct place_access);
    prepare_pages(self);
    if (strategy == STRATEGY_CARREFOUR || strategy == STRATEGY_CARREFOUR_COPIES)
        self->engine = place_engine__new(self->machine->nodes, &self->options->thresholds,
                                         self->options->seed);
    self->copies = strategy == STRATEGY_CARREFOUR_COPIES;
    if (strategy == STRATEGY_ORACLE || strategy == STRATEGY_ORACLE_COPIES) {
        free(self->node);
        free(self->copied);
        place_oracle__find(stream, self->machine, strategy == STRATEGY_ORACLE_COPIES, &self->node,
                           &self->copied);
    }
}

static void end(struct simulating *self)
{
    map__free(&self->index_of);
    vec__free(&self->accesses);
    place_engine__free(self->engine);
    free(self->sums);
    free(self->node);
    free(self->flags);
    free(self->copied);
    free(self->last);
    free(self->user);
    free(self->user_weight);
    free(self->busy_ns);
    free(self->times.busy_ns);
}

static void run_step(struct simulating *self, const struct stream_step *step, double *accesses)
{
    struct place_result *result = &self->result;
    if (self->engine)
        end_copies(self, step);
    place_step__time(self->stream, self->machine, step, self->node, self->copied, &self->times);
    self->times.ns += self->extra_ns;
    self->extra_ns = 0;
    result->ns += self->times.ns;
    result->local += self->times.local;
    result->imbalance +=
        self->times.accesses > 0 ? self->times.imbalance * self->times.accesses : 0;
    *accesses += self->times.accesses;
    result->last_local = self->times.local / self->times.accesses;
    result->last_imbalance = self->times.imbalance;
    if (self->engine)
        follow_with_engine(self, step);
    else if (result->strategy == STRATEGY_AUTONUMA)
        follow_with_balancing(self, step);
}

struct place_result place_simulation__run(const struct place_simulation *simulation,
                                          const struct place_stream *stream,
                                          const struct place_machine *machine,
                                          enum place_strategy strategy)
{
    struct simulating self = {.options = simulation,
                              .stream = stream,
                              .machine = machine,
                              .result = {.strategy = strategy},
                              .sampling = 1,
                              .chance = simulation->seed ^ 0x5bd1e995u};
    double accesses = 0;
    prepare(&self);
    VEC_EACH (step, &stream->steps, struct stream_step)
        run_step(&self, step, &accesses);
    self.result.local = accesses > 0 ? self.result.local / accesses : NAN;
    self.result.imbalance = accesses > 0 ? self.result.imbalance / accesses : NAN;
    if (simulation->ends)
        memcpy(simulation->ends, self.node, stream->pages.count * sizeof *self.node);
    end(&self);
    return self.result;
}
