/* Streams of accesses, and how long a step of one takes. */
#include "base/memory.h"
#include "place/place_simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALVINGS 60
#define CALIBRATIONS 12

struct place_stream place_stream__of(uint32_t threads, uint32_t applications)
{
    struct place_stream stream = {.threads = threads,
                                  .applications = applications,
                                  .pages = VEC_OF(struct stream_page),
                                  .rows = VEC_OF(struct stream_row),
                                  .of = VEC_OF(uint32_t),
                                  .placed = VEC_OF(struct stream_thread),
                                  .steps = VEC_OF(struct stream_step),
                                  .quality = 1};
    for (uint32_t thread = 0; thread < threads; thread++)
        vec__push(&stream.of, NULL);
    return stream;
}

void place_stream__free(struct place_stream *stream)
{
    vec__free(&stream->pages);
    vec__free(&stream->rows);
    vec__free(&stream->of);
    vec__free(&stream->placed);
    vec__free(&stream->steps);
}

uint32_t place_stream__page(struct place_stream *stream, struct stream_page page)
{
    vec__push(&stream->pages, &page);
    return (uint32_t)stream->pages.count - 1;
}

void place_stream__access(struct place_stream *stream, uint32_t thread, uint32_t page, double reads,
                          double writes)
{
    vec__push(&stream->rows, &(struct stream_row){thread, page, (float)reads, (float)writes});
}

void place_stream__thread(struct place_stream *stream, struct stream_thread thread)
{
    vec__push(&stream->placed, &thread);
}

void place_stream__step(struct place_stream *stream, size_t first_row, size_t first_thread)
{
    vec__push(&stream->steps,
              &(struct stream_step){first_row, stream->rows.count - first_row, first_thread});
}

/* ---- a step -----------------------------------------------------------------------------------
 */

struct step_flows {
    const struct place_stream *stream;
    const struct place_machine *machine;
    const struct stream_thread *threads;
    double *flows; /* accesses: thread × nodes + to */
    double links[PLACE_ENGINE_NODES * PLACE_ENGINE_NODES];
    double loads[PLACE_ENGINE_NODES];
};

/* What waits at a queue with a service time of service_ns that count come to in ns. */
static double wait_ns(double service_ns, double count, double ns)
{
    double use = fmin(service_ns * count / ns, 1 - 1e-9);
    return service_ns * use / (2 * (1 - use));
}

static double access_ns(const struct step_flows *self, uint32_t from, uint32_t to, double ns)
{
    const struct place_machine *machine = self->machine;
    uint32_t cell = from * machine->nodes + to;
    double link = from == to ? 0 : wait_ns(machine->link_ns, self->links[cell], ns);
    return machine->latency_ns[cell] + wait_ns(machine->controller_ns, self->loads[to], ns) + link;
}

static double memory_ns(const struct step_flows *self, uint32_t thread, double ns)
{
    uint32_t nodes = self->machine->nodes;
    const double *flows = self->flows + (size_t)thread * nodes;
    double sum = 0;
    for (uint32_t to = 0; to < nodes; to++)
        if (flows[to] > 0)
            sum += flows[to] * access_ns(self, self->threads[thread].node, to, ns);
    return sum;
}

/* The longest thread's, if queues are as long as in a step of ns. */
static double longest(const struct step_flows *self, double ns)
{
    double most = 0;
    for (uint32_t thread = 0; thread < self->stream->threads; thread++)
        most = fmax(most, self->threads[thread].busy_ns + self->threads[thread].idle_ns +
                              memory_ns(self, thread, ns));
    return most;
}

/* Nothing is faster than what controllers and links can do. */
static double least_ns(const struct step_flows *self)
{
    uint32_t nodes = self->machine->nodes;
    double least = 1;
    for (uint32_t to = 0; to < nodes; to++)
        least = fmax(least, self->loads[to] * self->machine->controller_ns);
    for (uint32_t cell = 0; cell < nodes * nodes; cell++)
        least = fmax(least, self->links[cell] * self->machine->link_ns);
    return least;
}

static double solve(const struct step_flows *self)
{
    double low = least_ns(self), high = low;
    while (longest(self, high) > high)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > 1e-9 * high; i++) {
        double middle = (low + high) / 2;
        *(longest(self, middle) > middle ? &low : &high) = middle;
    }
    return high;
}

static void add_row(struct step_flows *self, const struct stream_row *row, const uint16_t *node,
                    const bool *copied, double *local)
{
    uint32_t nodes = self->machine->nodes, from = self->threads[row->thread].node;
    uint32_t to = copied && copied[row->page] ? from : node[row->page];
    double count = (double)row->reads + (double)row->writes;
    self->flows[(size_t)row->thread * nodes + to] += count;
    self->loads[to] += count;
    if (from == to)
        *local += count;
    else
        self->links[from * nodes + to] += count;
}

void place_step__time(const struct place_stream *stream, const struct place_machine *machine,
                      const struct stream_step *step, const uint16_t *node, const bool *copied,
                      struct step_times *times)
{
    struct step_flows self = {
        .stream = stream,
        .machine = machine,
        .threads = VEC_AT(&stream->placed, struct stream_thread, step->first_thread),
        .flows = memory__zeroed((size_t)stream->threads * machine->nodes, sizeof(double))};
    times->local = times->accesses = 0;
    for (size_t i = 0; i < step->rows; i++)
        add_row(&self, VEC_AT(&stream->rows, struct stream_row, step->first_row + i), node, copied,
                &times->local);
    for (uint32_t to = 0; to < machine->nodes; to++)
        times->accesses += self.loads[to];
    times->ns = solve(&self);
    times->imbalance = place_loads__imbalance(self.loads, machine->nodes);
    memcpy(times->loads, self.loads, machine->nodes * sizeof *self.loads);
    for (uint32_t thread = 0; times->busy_ns && thread < stream->threads; thread++)
        times->busy_ns[thread] = self.threads[thread].busy_ns + memory_ns(&self, thread, times->ns);
    free(self.flows);
}

double place_static__ns(const struct place_stream *stream, const struct place_machine *machine,
                        const uint16_t *node, const bool *copied)
{
    double sum = 0;
    struct step_times times = {0};
    VEC_EACH (step, &stream->steps, struct stream_step) {
        bool is_same = step != (struct stream_step *)stream->steps.items &&
                       step->first_row == step[-1].first_row && step->rows == step[-1].rows &&
                       step->first_thread == step[-1].first_thread;
        if (!is_same)
            place_step__time(stream, machine, step, node, copied, &times);
        sum += times.ns;
    }
    return sum;
}

/* ---- of times, accesses -----------------------------------------------------------------------
 */

/* The rows' times are kept, and what an access takes is found in turns: with more accesses each
 * waits longer, and so there are fewer of them. */
static void calibrate_step(struct place_stream *stream, const struct place_machine *machine,
                           const struct stream_step *step, double step_ns)
{
    struct step_flows self = {.stream = stream, .machine = machine};
    self.threads = VEC_AT(&stream->placed, struct stream_thread, step->first_thread);
    struct stream_row *rows = VEC_AT(&stream->rows, struct stream_row, step->first_row);
    double *each = memory__zeroed(step->rows + 1, sizeof *each);
    for (int turn = 0; turn < CALIBRATIONS; turn++) {
        for (size_t i = 0; i < step->rows; i++) {
            uint32_t from = self.threads[rows[i].thread].node,
                     to = VEC_AT(&stream->pages, struct stream_page, rows[i].page)->node;
            double now = access_ns(&self, from, to, step_ns);
            each[i] = turn ? (each[i] + now) / 2 : now;
        }
        memset(self.loads, 0, sizeof self.loads);
        memset(self.links, 0, sizeof self.links);
        for (size_t i = 0; i < step->rows; i++) {
            uint32_t from = self.threads[rows[i].thread].node,
                     to = VEC_AT(&stream->pages, struct stream_page, rows[i].page)->node;
            double count = ((double)rows[i].reads + (double)rows[i].writes) / each[i];
            self.loads[to] += count;
            self.links[from * machine->nodes + to] += from == to ? 0 : count;
        }
    }
    for (size_t i = 0; i < step->rows; i++) {
        rows[i].reads = (float)((double)rows[i].reads / each[i]);
        rows[i].writes = (float)((double)rows[i].writes / each[i]);
    }
    free(each);
}

static double step_ns(const struct place_stream *stream, const struct stream_step *step)
{
    const struct stream_thread *threads =
        VEC_AT(&stream->placed, struct stream_thread, step->first_thread);
    double *ns = memory__zeroed(stream->threads + 1, sizeof *ns), most = 1;
    for (size_t i = 0; i < step->rows; i++) {
        const struct stream_row *row =
            VEC_AT(&stream->rows, struct stream_row, step->first_row + i);
        ns[row->thread] += (double)row->reads + (double)row->writes;
    }
    for (uint32_t thread = 0; thread < stream->threads; thread++)
        most = fmax(most, ns[thread] + threads[thread].busy_ns + threads[thread].idle_ns);
    free(ns);
    return most;
}

void place_stream__calibrate(struct place_stream *stream, const struct place_machine *machine)
{
    VEC_EACH (step, &stream->steps, struct stream_step)
        calibrate_step(stream, machine, step, step_ns(stream, step));
}
