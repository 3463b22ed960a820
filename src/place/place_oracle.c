/* A placement by who knows all accesses: the fastest of several. */
#include "base/memory.h"
#include "place/place_simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 4 /* over all pages, in search of a better node for each */

struct oracle_pages {
    const struct place_stream *stream;
    const struct place_machine *machine;
    double *uses; /* accesses by page and node that they are from */
    double loads[PLACE_ENGINE_NODES];
    double links[PLACE_ENGINE_NODES * PLACE_ENGINE_NODES];
    double ns; /* that the accesses spread over */
};

static double uses_of(const struct oracle_pages *self, size_t page)
{
    double sum = 0;
    for (uint32_t from = 0; from < self->machine->nodes; from++)
        sum += self->uses[page * self->machine->nodes + from];
    return sum;
}

static void count_uses(struct oracle_pages *self, bool *is_written)
{
    const struct place_stream *stream = self->stream;
    VEC_EACH (step, &stream->steps, struct stream_step) {
        const struct stream_thread *threads =
            VEC_AT(&stream->placed, struct stream_thread, step->first_thread);
        for (size_t i = 0; i < step->rows; i++) {
            const struct stream_row *row =
                VEC_AT(&stream->rows, struct stream_row, step->first_row + i);
            self->uses[(size_t)row->page * self->machine->nodes + threads[row->thread].node] +=
                (double)row->reads + (double)row->writes;
            is_written[row->page] |= row->writes > 0;
        }
    }
}

static double waits(double service_ns, double count, double ns)
{
    double use = fmin(service_ns * count / ns, 0.99);
    return service_ns * use / (2 * (1 - use));
}

/* What the page's accesses take there, with how much all others make of queues. */
static double cost(const struct oracle_pages *self, size_t page, uint32_t to)
{
    const struct place_machine *machine = self->machine;
    double sum = 0, all = uses_of(self, page);
    /* Twice: all others at the node wait longer, too. */
    sum += 2 * all * waits(machine->controller_ns, self->loads[to] + all, self->ns);
    for (uint32_t from = 0; from < machine->nodes; from++) {
        double uses = self->uses[page * machine->nodes + from];
        uint32_t cell = from * machine->nodes + to;
        sum += uses * machine->latency_ns[cell];
        if (from != to)
            sum += 2 * uses * waits(machine->link_ns, self->links[cell] + uses, self->ns);
    }
    return sum;
}

static void put(struct oracle_pages *self, size_t page, uint32_t to, double sign)
{
    uint32_t nodes = self->machine->nodes;
    for (uint32_t from = 0; from < nodes; from++) {
        double uses = sign * self->uses[page * nodes + from];
        self->loads[to] += uses;
        self->links[from * nodes + to] += from == to ? 0 : uses;
    }
}

static uint16_t best_node(const struct oracle_pages *self, size_t page)
{
    uint16_t best = 0;
    double least = cost(self, page, 0);
    for (uint16_t node = 1; node < self->machine->nodes; node++) {
        double now = cost(self, page, node);
        if (now < least) {
            least = now;
            best = node;
        }
    }
    return best;
}

/* What no policy may move, the oracle does not, either. */
static bool is_settled(const struct oracle_pages *self, size_t page, const bool *copied)
{
    return (copied && copied[page]) ||
           VEC_AT(&self->stream->pages, struct stream_page, page)->flags &
               (PLACE_FIXED | PLACE_SEVERAL);
}

/* From the placement in node on. */
static void improve(struct oracle_pages *self, uint16_t *node, const bool *copied)
{
    size_t pages = self->stream->pages.count;
    memset(self->loads, 0, sizeof self->loads);
    memset(self->links, 0, sizeof self->links);
    for (size_t page = 0; page < pages; page++)
        if (!copied || !copied[page])
            put(self, page, node[page], 1);
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t page = 0; page < pages; page++) {
            if (is_settled(self, page, copied))
                continue;
            put(self, page, node[page], -1);
            node[page] = best_node(self, page);
            put(self, page, node[page], 1);
        }
}

/* To who uses each page most. */
static void give_to_owners(const struct oracle_pages *self, uint16_t *node)
{
    uint32_t nodes = self->machine->nodes;
    for (size_t page = 0; page < self->stream->pages.count; page++)
        for (uint16_t from = 0; from < nodes && !is_settled(self, page, NULL); from++)
            if (self->uses[page * nodes + from] > self->uses[page * nodes + node[page]])
                node[page] = from;
}

/* Keeps the faster of both in best. */
static void keep_faster(const struct oracle_pages *self, const uint16_t *node, const bool *copied,
                        uint16_t *best, double *best_ns)
{
    double ns = place_static__ns(self->stream, self->machine, node, copied);
    if (ns >= *best_ns)
        return;
    *best_ns = ns;
    memcpy(best, node, self->stream->pages.count * sizeof *best);
}

static void search(struct oracle_pages *self, const bool *copied, uint16_t *best)
{
    size_t pages = self->stream->pages.count;
    uint16_t *node = memory__zeroed(pages + 1, sizeof *node);
    double best_ns = place_static__ns(self->stream, self->machine, best, copied);
    self->ns = fmax(best_ns, 1);
    memcpy(node, best, pages * sizeof *node);
    give_to_owners(self, node);
    keep_faster(self, node, copied, best, &best_ns);
    improve(self, node, copied);
    keep_faster(self, node, copied, best, &best_ns);
    for (size_t page = 0; page < pages; page++)
        if (!is_settled(self, page, NULL))
            node[page] = (uint16_t)(page % self->machine->nodes);
    keep_faster(self, node, copied, best, &best_ns);
    self->ns = fmax(best_ns, 1);
    improve(self, node, copied);
    keep_faster(self, node, copied, best, &best_ns);
    free(node);
}

void place_oracle__find(const struct place_stream *stream, const struct place_machine *machine,
                        bool with_copies, uint16_t **node, bool **copied)
{
    size_t pages = stream->pages.count;
    struct oracle_pages self = {.stream = stream,
                                .machine = machine,
                                .uses = memory__zeroed(pages * machine->nodes + 1, sizeof(double))};
    *node = memory__zeroed(pages + 1, sizeof **node);
    *copied = memory__zeroed(pages + 1, sizeof **copied);
    bool *is_written = memory__zeroed(pages + 1, sizeof *is_written);
    count_uses(&self, is_written);
    for (size_t page = 0; page < pages; page++) {
        (*node)[page] = VEC_AT(&stream->pages, struct stream_page, page)->node;
        (*copied)[page] = with_copies && !is_written[page];
    }
    search(&self, *copied, *node);
    free(self.uses);
    free(is_written);
}
