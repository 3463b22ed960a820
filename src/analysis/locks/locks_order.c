/* locks_order.c: which lock was taken while which was held, and the circles in it.
 *
 * An edge is one pair of locks and of the ways in which they were held and wanted. A circle is one
 * of edges, each of which begins at the lock at which the one before ends, where at no lock both
 * only read. Of all circles the shortest ones through each edge are found.
 *
 * Of a thread that holds very many locks the last ones that it got are looked at, and the first
 * ones as gates: locks between them make a longer circle of a short one, but none is missed. */
#include "analysis/locks/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define CIRCLES_MOST 100u
#define LOOKS_MOST 20000000u /* edges that are looked at in all */
#define HELD_LOOKED_AT 16u
#define GATES_MOST (sizeof((struct order_edge *)0)->gates / sizeof(uint32_t))

void lock_order__start(struct lock_order *order)
{
    order->edges = VEC_OF(struct order_edge);
    order->recent = memory__zeroed(CACHE_PLACES, sizeof *order->recent);
}

void lock_order__free(struct lock_order *order)
{
    vec__free(&order->edges);
    map__free(&order->places);
    free(order->recent);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static uint64_t key_of(const struct held_lock *held, const struct sync_event *wanted)
{
    return (uint64_t)(held->object << 1 | held->how) << 32 | wanted->object << 1 |
           (wanted->how & 1);
}

static uint64_t find_edge(struct lock_order *order, uint64_t key)
{
    struct cached_place *recent =
        &order->recent[key * 0x9e3779b97f4a7c15ull >> 40 & (CACHE_PLACES - 1)];
    if (recent->object_and_1 && recent->first == key)
        return recent->place;
    order->is_full |= order->edges.count == EDGES_MOST;
    uint64_t place = order->is_full
                         ? map__get(&order->places, &key, sizeof key)
                         : map__put(&order->places, &key, sizeof key, order->edges.count);
    if (place != MAP_ABSENT)
        *recent = (struct cached_place){key, 0, 1, (uint32_t)place};
    return place;
}

static bool is_gate(const struct held_lock *held, size_t before, uint32_t object)
{
    for (size_t i = 0; i < before; i++) {
        if (held[i].object == object && held[i].how == SYNC_EVENT_EXCLUSIVE)
            return true;
    }
    return false;
}

/* The locks that the thread had got before the edge's. */
static void first_gates(struct order_edge *edge, const struct held_lock *held, size_t before)
{
    for (size_t i = 0; i < before && edge->gate_count < GATES_MOST; i++) {
        if (held[i].how == SYNC_EVENT_EXCLUSIVE && held[i].object != edge->wanted)
            edge->gates[edge->gate_count++] = held[i].object;
    }
}

static void keep_gates(struct order_edge *edge, const struct held_lock *held, size_t before)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < edge->gate_count; i++) {
        if (is_gate(held, before, edge->gates[i]))
            edge->gates[kept++] = edge->gates[i];
    }
    edge->gate_count = kept;
}

static void add_edge(struct lock_order *order, const struct sync_event *wanted,
                     const struct held_lock *held, size_t before)
{
    const struct held_lock *from = &held[before];
    before = before < HELD_LOOKED_AT ? before : HELD_LOOKED_AT;
    uint64_t place = find_edge(order, key_of(from, wanted));
    if (place == MAP_ABSENT)
        return;
    if (place == order->edges.count) {
        struct order_edge fresh = {.held = from->object,
                                   .wanted = wanted->object,
                                   .held_how = from->how,
                                   .wanted_how = wanted->how,
                                   .thread = wanted->thread,
                                   .site = wanted->site};
        first_gates(&fresh, held, before);
        vec__push(&order->edges, &fresh);
    }
    struct order_edge *edge = VEC_AT(&order->edges, struct order_edge, place);
    edge->times += wanted->weight;
    if (edge->thread != wanted->thread)
        edge->thread = SYNC_EVENT_NOBODY;
    if (edge->gate_count)
        keep_gates(edge, held, before);
}

/* Who only tried would not have waited: that closes no circle. */
void lock_order__take(struct locks_walk *walk, const struct sync_event *sync_event)
{
    if (sync_event->tried)
        return;
    const struct vec *held = sync_events__held(walk->sync_events, sync_event->thread);
    size_t first = held->count > HELD_LOOKED_AT + 1 ? held->count - HELD_LOOKED_AT - 1 : 0;
    for (size_t i = first; i < held->count; i++) {
        if (VEC_AT(held, struct held_lock, i)->object != sync_event->object)
            add_edge(&walk->order, sync_event, held->items, i);
    }
}

/* ---- which edges may be in a circle ---------------------------------------------------------- */

/* The edges that are left, by the lock that was held. */
struct graph {
    const struct order_edge *edges;
    uint32_t edge_count, object_count;
    bool *gone;       /* by edge: in no circle */
    uint32_t *first;  /* by object: its first place in sorted; one more at the end */
    uint32_t *sorted; /* edges by held */
    /* Of a search: by edge. */
    uint32_t *came_from, *queue, *seen;
    uint32_t search;
    uint64_t looks;
};

static void sort_edges(struct graph *graph)
{
    graph->first = memory__zeroed(graph->object_count + 2, sizeof *graph->first);
    graph->sorted = memory__zeroed(graph->edge_count + 1, sizeof *graph->sorted);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->first[graph->edges[i].held + 2]++;
    for (uint32_t i = 2; i < graph->object_count + 2; i++)
        graph->first[i] += graph->first[i - 1];
    for (uint32_t i = 0; i < graph->edge_count; i++)
        graph->sorted[graph->first[graph->edges[i].held + 1]++] = i;
}

/* Whether the edge is in no circle, as nothing leads to it (or, from_ends, on from it). */
static bool is_loose(const struct graph *graph, uint32_t edge, const uint32_t *degrees,
                     bool from_ends)
{
    return !graph->gone[edge] &&
           !degrees[from_ends ? graph->edges[edge].wanted : graph->edges[edge].held];
}

/* Takes away loose edges until there are none. Chains are mostly in the order of their edges. */
static void peel(struct graph *graph, bool from_ends)
{
    uint32_t *degrees = memory__zeroed(graph->object_count + 1, sizeof *degrees);
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (!graph->gone[i])
            degrees[from_ends ? graph->edges[i].held : graph->edges[i].wanted]++;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < graph->edge_count; i++) {
            uint32_t at = from_ends ? graph->edge_count - 1 - i : i;
            if (!is_loose(graph, at, degrees, from_ends))
                continue;
            graph->gone[at] = any = true;
            degrees[from_ends ? graph->edges[at].held : graph->edges[at].wanted]--;
        }
    }
    free(degrees);
}

static void graph_start(struct graph *graph, const struct locks_walk *walk)
{
    *graph = (struct graph){.edges = walk->order.edges.items,
                            .edge_count = (uint32_t)walk->order.edges.count,
                            .object_count = (uint32_t)walk->states.count};
    graph->gone = memory__zeroed(graph->edge_count, sizeof *graph->gone);
    graph->came_from = memory__zeroed(graph->edge_count, sizeof *graph->came_from);
    graph->queue = memory__zeroed(graph->edge_count, sizeof *graph->queue);
    graph->seen = memory__zeroed(graph->edge_count, sizeof *graph->seen);
    sort_edges(graph);
    peel(graph, false);
    peel(graph, true);
}

static void graph_free(struct graph *graph)
{
    free(graph->gone);
    free(graph->first);
    free(graph->sorted);
    free(graph->came_from);
    free(graph->queue);
    free(graph->seen);
}

/* ---- the shortest circle through an edge ----------------------------------------------------- */

/* Who wants the lock and who holds it keep each other out. */
static bool conflicts(const struct order_edge *before, const struct order_edge *after)
{
    return before->wanted_how == SYNC_EVENT_EXCLUSIVE || after->held_how == SYNC_EVENT_EXCLUSIVE;
}

/* Breadth first, from the edge start; returns the last edge of the circle, UINT32_MAX: none. */
static uint32_t search(struct graph *graph, uint32_t start)
{
    const struct order_edge *edges = graph->edges;
    uint32_t head = 0, tail = 0;
    graph->search++;
    graph->queue[tail++] = start;
    graph->seen[start] = graph->search;
    while (head < tail && graph->looks < LOOKS_MOST) {
        uint32_t at = graph->queue[head++];
        if (edges[at].wanted == edges[start].held && conflicts(&edges[at], &edges[start]))
            return at;
        for (uint32_t i = graph->first[edges[at].wanted]; i < graph->first[edges[at].wanted + 1];
             i++) {
            uint32_t next = graph->sorted[i];
            graph->looks++;
            if (graph->gone[next] || graph->seen[next] == graph->search ||
                !conflicts(&edges[at], &edges[next]))
                continue;
            graph->seen[next] = graph->search;
            graph->came_from[next] = at;
            graph->queue[tail++] = next;
        }
    }
    return UINT32_MAX;
}

/* ---- circles --------------------------------------------------------------------------------- */

static bool edge_has_gate(const struct order_edge *edge, uint32_t object)
{
    for (uint32_t i = 0; i < edge->gate_count; i++) {
        if (edge->gates[i] == object)
            return true;
    }
    return false;
}

/* circle: const struct order_edge *, in their order. */
static bool is_guarded(const struct vec *circle)
{
    const struct order_edge *first = *VEC_AT(circle, const struct order_edge *, 0);
    for (uint32_t i = 0; i < first->gate_count; i++) {
        bool all = true;
        VEC_EACH (edge, circle, const struct order_edge *)
            all &= edge_has_gate(*edge, first->gates[i]) && (*edge)->held != first->gates[i];
        if (all)
            return true;
    }
    return false;
}

static bool is_of_one_thread(const struct vec *circle)
{
    uint32_t thread = (*VEC_AT(circle, const struct order_edge *, 0))->thread;
    bool one = thread != SYNC_EVENT_NOBODY;
    VEC_EACH (edge, circle, const struct order_edge *)
        one &= (*edge)->thread == thread;
    return one;
}

/* The circle that ends with that edge, beginning at the object with the smallest number. */
static struct vec circle_of(const struct graph *graph, uint32_t start, uint32_t last)
{
    struct vec circle = VEC_OF(const struct order_edge *), turned = circle;
    for (uint32_t at = last;; at = graph->came_from[at]) {
        const struct order_edge *edge = &graph->edges[at];
        vec__push(&circle, &edge);
        if (at == start)
            break;
    }
    size_t least = 0;
    for (size_t i = 0; i < circle.count; i++) {
        if ((*VEC_AT(&circle, const struct order_edge *, i))->held <
            (*VEC_AT(&circle, const struct order_edge *, least))->held)
            least = i;
    }
    for (size_t i = 0; i < circle.count; i++) /* it is from its end to its start */
        vec__push(&turned, VEC_AT(&circle, const struct order_edge *,
                                  (least + circle.count - i) % circle.count));
    vec__free(&circle);
    return turned;
}

static bool is_same(const struct lock_inversion *inversion, const struct vec *circle,
                    const uint32_t *row_of)
{
    if (inversion->objects.count != circle->count)
        return false;
    for (size_t i = 0; i < circle->count; i++) {
        if (*VEC_AT(&inversion->objects, uint32_t, i) !=
            row_of[(*VEC_AT(circle, const struct order_edge *, i))->held])
            return false;
    }
    return true;
}

/* Each edge is told at the lock that it ends at, so that the first object's is the last edge. */
static void add_inversion(struct locks_result *result, const struct vec *circle,
                          const uint32_t *row_of)
{
    struct lock_inversion inversion = {.objects = VEC_OF(uint32_t),
                                       .sites = VEC_OF(uint64_t),
                                       .times = VEC_OF(uint64_t),
                                       .guarded = is_guarded(circle),
                                       .one_thread = is_of_one_thread(circle)};
    for (size_t i = 0; i < circle->count; i++) {
        const struct order_edge *edge = *VEC_AT(circle, const struct order_edge *, i);
        const struct order_edge *before =
            *VEC_AT(circle, const struct order_edge *, (i + circle->count - 1) % circle->count);
        vec__push(&inversion.objects, &row_of[edge->held]);
        vec__push(&inversion.sites, &before->site);
        vec__push(&inversion.times, &before->times);
    }
    vec__push(&result->inversions, &inversion);
}

static bool is_shown(const struct vec *circle, const uint32_t *row_of)
{
    bool shown = true;
    VEC_EACH (edge, circle, const struct order_edge *)
        shown &= row_of[(*edge)->held] != UINT32_MAX;
    return shown;
}

static void take_circle(struct locks_result *result, const struct vec *circle,
                        const uint32_t *row_of)
{
    if (!is_shown(circle, row_of))
        return;
    VEC_EACH (inversion, &result->inversions, struct lock_inversion) {
        if (is_same(inversion, circle, row_of)) {
            inversion->guarded &= is_guarded(circle);
            inversion->one_thread &= is_of_one_thread(circle);
            return;
        }
    }
    add_inversion(result, circle, row_of);
}

static void warn(struct locks_result *result, const char *sentence)
{
    char *text = memory__text(sentence);
    vec__push(&result->warnings, &text);
}

void lock_order__find(const struct locks_walk *walk, const uint32_t *row_of,
                      struct locks_result *result)
{
    struct graph graph;
    graph_start(&graph, walk);
    for (uint32_t i = 0; i < graph.edge_count && result->inversions.count < CIRCLES_MOST; i++) {
        uint32_t last = graph.gone[i] ? UINT32_MAX : search(&graph, i);
        if (last == UINT32_MAX)
            continue;
        struct vec circle = circle_of(&graph, i, last);
        take_circle(result, &circle, row_of);
        vec__free(&circle);
    }
    if (walk->order.is_full)
        warn(result, "so many locks were taken while others were held that not all orders were "
                     "looked at for inversions");
    if (result->inversions.count == CIRCLES_MOST || graph.looks >= LOOKS_MOST)
        warn(result, "there may be more inversions of locks than those that are shown");
    graph_free(&graph);
}
