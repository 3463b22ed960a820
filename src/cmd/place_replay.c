#include "cmd/place_replay.h"

#include "analysis/memory/placement.h"
#include "base/map.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/load.h"
#include "cmd/pager_print.h"
#include "format/sampled_lines.h"
#include "present/place/simulation_screens.h"

#include <math.h>
#include <stdlib.h>

#define STEPS_AN_INTERVAL 4
#define STEP_LEAST_NS 1000000u
#define QUALITY_OF_TIME 0.5 /* samples of time skid, and tell reads more than writes */
#define THREADS_MOST 4096u
#define STEPS_MOST 100000u

/* ---- from a trace to a stream -----------------------------------------------------------------
 */

struct replaying {
    const struct trace *trace;
    const struct memory_use *use;
    const struct place_machine *machine;
    struct machine_nodes nodes; /* of the trace */
    struct place_stream stream;
    struct simulation_view *view;
    uint64_t wall_ns, step_ns;
    size_t steps;
    struct map page_of; /* struct replayed_page → index */
    struct vec at;      /* struct replayed_row, by step */
    double *cpu_ns;     /* by step and thread: of all samples */
    uint32_t
        *number; /* by thread of the trace: + 1 in the order of their first samples at memory */
    struct vec threads; /* uint32_t: those of the trace */
};

struct replayed_page {
    uint64_t page, process;
};

struct replayed_row {
    size_t step;
    struct stream_row row;
    uint16_t from;
};

/* False: the trace's own nodes are not this machine's, and threads are dealt to its. */
static bool are_nodes_known(const struct replaying *self)
{
    return self->nodes.count == self->machine->nodes;
}

static uint32_t number_of(struct replaying *self, uint32_t thread)
{
    if (!self->number[thread] && self->threads.count < THREADS_MOST) {
        vec__push(&self->threads, &thread);
        self->number[thread] = (uint32_t)self->threads.count;
    }
    return self->number[thread] ? self->number[thread] - 1 : UINT32_MAX;
}

/* Until all threads are known a dealt one has its number for a node: see deal(). */
static bool find_nodes(const struct replaying *self, const struct memory_sample *at, uint32_t *from,
                       uint32_t *to)
{
    *from = *to = 0;
    return !are_nodes_known(self) || self->machine->nodes == 1 ||
           placement__ends(self->trace, &self->nodes, at->sample, from, to);
}

static uint32_t page_of(struct replaying *self, const struct memory_sample *at, uint32_t to)
{
    const struct memory_object *object =
        VEC_AT(&self->use->objects, struct memory_object, at->object);
    const struct replayed_page key = {at->sample->address / HEURT_PAGE_BYTES, object->process};
    uint64_t index = map__put(&self->page_of, &key, sizeof key, self->stream.pages.count);
    if (index == self->stream.pages.count)
        place_stream__page(
            &self->stream,
            (struct stream_page){.page = key.page,
                                 .application = object->process,
                                 .node = (uint16_t)to,
                                 .flags = object->kind == MEMORY_SHARED ? PLACE_SEVERAL : 0});
    return (uint32_t)index;
}

static size_t step_of(const struct replaying *self, uint64_t since_ns)
{
    size_t step = since_ns / self->step_ns;
    return step < self->steps ? step : self->steps - 1;
}

static void add_sample(struct replaying *self, const struct memory_sample *at)
{
    uint32_t from, to, thread;
    double ns = at->sample->weight_ns;
    bool writes = sample__writes(at->sample);
    if (!find_nodes(self, at, &from, &to) || !(ns > 0) ||
        (thread = number_of(self, at->thread)) == UINT32_MAX) {
        self->view->unknown++;
        return;
    }
    const struct replayed_row row = {
        step_of(self, at->since_ns),
        {thread, page_of(self, at, to), writes ? 0 : (float)ns, writes ? (float)ns : 0},
        (uint16_t)from};
    vec__push(&self->at, &row);
    self->view->samples++;
}

static int by_step(const void *a, const void *b)
{
    const struct replayed_row *left = a, *right = b;
    return ORDER(left->step, right->step) ?: ORDER(left->row.page, right->row.page)
               ?: ORDER(left->row.thread, right->row.thread);
}

/* Threads go to nodes in blocks, as many to each; a page is where its first sample's thread is. */
static void deal(struct replaying *self)
{
    bool *is_touched = memory__zeroed(self->stream.pages.count + 1, sizeof *is_touched);
    uint64_t threads = self->threads.count;
    VEC_EACH (at, &self->at, struct replayed_row) {
        at->from = (uint16_t)(at->row.thread * (uint64_t)self->machine->nodes / threads);
        if (!is_touched[at->row.page])
            VEC_AT(&self->stream.pages, struct stream_page, at->row.page)->node = at->from;
        is_touched[at->row.page] = true;
    }
    free(is_touched);
}

/* CPU time by step and thread, of samples at memory or not. */
static void add_cpu(struct replaying *self)
{
    struct map thread_of = {0};
    const struct vec *threads = trace__threads(self->trace);
    size_t count = self->threads.count;
    for (size_t i = 0; i < threads->count; i++) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, i);
        const uint32_t key[] = {thread->pid, thread->tid};
        if (self->number[i])
            map__put(&thread_of, key, sizeof key, self->number[i] - 1);
    }
    VEC_EACH (sample, trace__samples(self->trace), const struct heurt_sample) {
        const uint32_t key[] = {sample->pid, sample->tid};
        uint64_t thread = map__get(&thread_of, key, sizeof key);
        uint64_t since = trace__since_start_ns(self->trace, sample__tick(self->trace, sample));
        if (thread != MAP_ABSENT)
            self->cpu_ns[step_of(self, since) * count + thread] += sample->weight_ns;
    }
    map__free(&thread_of);
}

/* A thread computes where it was sampled elsewhere; what nobody's CPU time fills is waited by all,
 * whatever the placement. */
static void put_threads(struct replaying *self, size_t step, const double *memory_ns,
                        const uint16_t *node)
{
    size_t count = self->threads.count;
    const double *cpu_ns = self->cpu_ns + step * count;
    double most = 0, left = (double)(self->wall_ns - step * self->step_ns);
    double whole = fmin((double)self->step_ns, left);
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fmax(cpu_ns[i], memory_ns[i]));
    for (size_t i = 0; i < count; i++)
        place_stream__thread(&self->stream,
                             (struct stream_thread){node[i], fmax(cpu_ns[i] - memory_ns[i], 0),
                                                    fmax(whole - most, 0)});
}

static void put_steps(struct replaying *self)
{
    size_t count = self->threads.count, next = 0;
    double *memory_ns = memory__zeroed(count + 1, sizeof *memory_ns);
    uint16_t *node = memory__zeroed(count + 1, sizeof *node);
    const struct replayed_row *rows = self->at.items;
    for (size_t i = self->at.count; i-- > 0;)
        node[rows[i].row.thread] = rows[i].from;
    for (size_t step = 0; step < self->steps; step++) {
        size_t first_row = self->stream.rows.count, first_thread = self->stream.placed.count;
        for (size_t i = 0; i < count; i++)
            memory_ns[i] = 0;
        for (; next < self->at.count && rows[next].step == step; next++) {
            const struct stream_row *row = &rows[next].row;
            vec__push(&self->stream.rows, row);
            memory_ns[row->thread] += (double)row->reads + (double)row->writes;
            node[row->thread] = rows[next].from;
        }
        put_threads(self, step, memory_ns, node);
        place_stream__step(&self->stream, first_row, first_thread);
    }
    free(memory_ns);
    free(node);
}

static void count_pages(const struct replaying *self)
{
    uint32_t *samples = memory__zeroed(self->stream.pages.count + 1, sizeof *samples);
    VEC_EACH (at, &self->at, const struct replayed_row)
        self->view->twice += ++samples[at->row.page] == 2;
    self->view->pages = self->stream.pages.count;
    free(samples);
}

static void make_stream(struct replaying *self)
{
    const struct vec *threads = trace__threads(self->trace);
    self->number = memory__zeroed(threads->count + 1, sizeof *self->number);
    VEC_EACH (at, &self->use->at_memory, const struct memory_sample)
        add_sample(self, at);
    if (!are_nodes_known(self) && self->at.count)
        deal(self);
    vec__sort(&self->at, by_step);
    self->stream.threads = (uint32_t)self->threads.count;
    self->stream.of.count = 0;
    VEC_EACH (thread, &self->threads, uint32_t)
        vec__push(&self->stream.of, &trace__thread_at(self->trace, *thread)->process);
    self->cpu_ns = memory__zeroed(self->steps * self->threads.count + 1, sizeof *self->cpu_ns);
    add_cpu(self);
    put_steps(self);
    count_pages(self);
    place_stream__calibrate(&self->stream, self->machine);
}

static void end(struct replaying *self)
{
    machine_nodes__free(&self->nodes);
    place_stream__free(&self->stream);
    map__free(&self->page_of);
    vec__free(&self->at);
    vec__free(&self->threads);
    free(self->cpu_ns);
    free(self->number);
}

/* ---- showing ----------------------------------------------------------------------------------
 */

struct replay_showing {
    const struct simulation_view *view;
    enum place_format format;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct replay_showing *showing = subject;
    if (showing->format == PLACE_JSON)
        simulation__put_json(showing->view, out);
    else if (showing->format == PLACE_CSV)
        simulation__put_csv(showing->view, out);
    else
        simulation__put_text(showing->view, style, out);
}

static void simulate(const struct place_simulation *simulation, struct replaying *self)
{
    for (enum place_strategy strategy = 0; strategy < PLACE_STRATEGIES; strategy++)
        self->view->results[strategy] =
            place_simulation__run(simulation, &self->stream, self->machine, strategy);
}

static int replay_loaded(const struct place_replay *replay, const struct loaded *loaded,
                         const struct place_simulation *simulation,
                         const struct place_machine *machine)
{
    uint64_t wall_ns = trace__wall_ns(loaded->trace);
    uint64_t step_ns = (uint64_t)(simulation->interval_ns / STEPS_AN_INTERVAL);
    step_ns = step_ns > STEP_LEAST_NS ? step_ns : STEP_LEAST_NS;
    step_ns = wall_ns / step_ns < STEPS_MOST ? step_ns : wall_ns / STEPS_MOST + 1;
    struct simulation_view view = {.report = &loaded->report,
                                   .machine = machine,
                                   .step_ns = step_ns,
                                   .interval_ns = simulation->interval_ns};
    struct replaying self = {
        .trace = loaded->trace,
        .use = run__result(&loaded->run, &memory_analysis),
        .machine = machine,
        .nodes = machine_nodes__of(loaded->trace),
        .stream = place_stream__of(0, (uint32_t)trace__processes(loaded->trace)->count),
        .view = &view,
        .wall_ns = wall_ns,
        .step_ns = step_ns,
        .steps = (wall_ns + step_ns - 1) / step_ns + !wall_ns,
        .at = VEC_OF(struct replayed_row),
        .threads = VEC_OF(uint32_t)};
    view.is_dealt = !are_nodes_known(&self);
    self.stream.is_sampled = true;
    self.stream.quality = trace__tells_answers(loaded->trace) ? 1 : QUALITY_OF_TIME;
    if (self.use)
        make_stream(&self);
    view.steps = self.steps;
    view.threads = self.stream.threads;
    if (view.samples)
        simulate(simulation, &self);
    int status = show_either(replay->format == PLACE_TEXT, present,
                             &(struct replay_showing){&view, replay->format}, replay->width);
    end(&self);
    return status;
}

static struct place_machine machine_of(const struct trace *trace)
{
    struct machine_nodes nodes = machine_nodes__of(trace);
    struct place_machine machine = place_machine__of(&nodes);
    machine_nodes__free(&nodes);
    return machine;
}

/* 0, or EXIT_USAGE after a sentence. */
static int set_thresholds(const struct place_replay *replay, struct place_thresholds *thresholds)
{
    struct error error;
    VEC_EACH (text, &replay->set, const char *)
        if (place_thresholds__set(thresholds, *text, &error)) {
            say("%s", error.text);
            return EXIT_USAGE;
        }
    return 0;
}

int place_replay__show(const struct place_replay *replay)
{
    struct place_simulation simulation = place_simulation__usual();
    struct place_machine machine = {0};
    struct loaded loaded;
    struct error error;
    int status = set_thresholds(replay, &simulation.thresholds);
    if (status)
        return status;
    if (replay->interval_ns)
        simulation.interval_ns = (double)replay->interval_ns;
    if (replay->machine && place_machine__read(replay->machine, &machine, &error))
        return failed(&error);
    status = loaded__open(replay->directory, &loaded);
    if (status)
        return status;
    if (!replay->machine)
        machine = machine_of(loaded.trace);
    run__ask(&loaded.run, &memory_analysis, NULL);
    status = loaded__analyse(&loaded);
    status = status ? status : replay_loaded(replay, &loaded, &simulation, &machine);
    loaded__close(&loaded);
    return status;
}

/* ---- thresholds -------------------------------------------------------------------------------
 */

struct thresholds_showing {
    struct place_thresholds thresholds;
    enum place_format format;
};

static void present_thresholds(const void *subject, const struct style *style, FILE *out)
{
    const struct thresholds_showing *showing = subject;
    thresholds__put(&showing->thresholds,
                    showing->format == PLACE_JSON  ? &table_json
                    : showing->format == PLACE_CSV ? &table_csv
                                                   : &table_text,
                    style, out);
}

int place_replay__show_thresholds(const struct place_replay *replay)
{
    struct thresholds_showing showing = {place_thresholds__usual(), replay->format};
    int status = set_thresholds(replay, &showing.thresholds);
    return status ? status
                  : show_either(replay->format == PLACE_TEXT, present_thresholds, &showing,
                                replay->width);
}
