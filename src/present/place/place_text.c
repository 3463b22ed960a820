/* Where memory is, on a screen. */
#include "base/memory.h"
#include "present/place/place_screens.h"
#include "present/report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MOST 20u  /* on a screen */
#define REMOTE_LEAST 0.01 /* of all time at memory: less is not shown */
#define NODES_MOST 8u     /* of which each has a column */

static double part(uint64_t some, uint64_t all)
{
    return all ? (double)some / (double)all : COLUMN_UNKNOWN;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static char *distances_text(const struct machine_nodes *nodes)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t from = 0; from < nodes->count; from++)
        for (uint32_t to = 0; to < nodes->count; to++) {
            uint32_t distance = machine_nodes__distance(nodes, from, to);
            if (from != to && distance) {
                least = distance < least ? distance : least;
                most = distance > most ? distance : most;
            }
        }
    if (!most)
        return memory__text("");
    return least == most
               ? memory__format(", at a distance of %" PRIu32, most)
               : memory__format(", at distances from %" PRIu32 " to %" PRIu32, least, most);
}

/* What may move memory without the program. */
static const char *balancing_text(const struct placement *placement)
{
    return placement->balancing && strcmp(placement->balancing, "0") != 0
               ? " The kernel moves pages to who uses them (kernel.numa_balancing)."
               : "";
}

static const char *huge_text(const struct placement *placement)
{
    return placement->huge_pages && strcmp(placement->huge_pages, "always") == 0
               ? " It makes huge pages for all memory: what lies within 2 MiB is on one node."
               : "";
}

/* " (of 12 % more they are not)", or "". */
static char *unknown_text(const struct placement *placement)
{
    char share[16];
    uint64_t all_ns = placement->all.ns + placement->unknown_ns;
    return placement->unknown_ns
               ? memory__format(" (of %s of the time at memory they are not)",
                                share__format(part(placement->unknown_ns, all_ns), share))
               : memory__text("");
}

static void put_machine(const struct place_report *shown, const struct style *style, FILE *out)
{
    const struct placement *placement = shown->placement;
    const struct placement_object *all = &placement->all;
    char samples[32], local[16], imbalance[16], reads[16];
    char *distances = distances_text(&placement->nodes);
    char *unknown = unknown_text(placement);
    char *nodes = memory__format(
        "%" PRIu32 " NUMA nodes%s. %s samples at memory of which the thread's node and the page's "
        "are known%s.",
        placement->nodes.count, distances, count__format(all->samples, samples), unknown);
    char cached[16];
    char *measured =
        placement->is_measured
            ? memory__format(
                  " What answered is told by the processor: these are the accesses that "
                  "memory answered; caches did so in %s of the time at memory.",
                  share__format(part(placement->cached_ns,
                                     all->ns + placement->unknown_ns + placement->cached_ns),
                                cached))
            : memory__text("");
    char *shares =
        memory__format("Of that time %s is local (%.0f %% is good), %s is reading; the imbalance "
                       "of the nodes that "
                       "have it is %s (up to %.0f %% is good).",
                       share__format(part(all->local_ns, all->ns), local), 100 * PLACEMENT_LAR_GOOD,
                       share__format(all->read_ratio, reads),
                       share__format(all->imbalance, imbalance), 100 * PLACEMENT_IMBALANCE_GOOD);
    paragraph__take(style, out, "  Seen: ",
                    memory__format("%s%s %s%s%s", nodes, measured, shares,
                                   balancing_text(placement), huge_text(placement)));
    free(measured);
    free(nodes);
    free(shares);
    free(distances);
    free(unknown);
}

/* ---- from node to node ----------------------------------------------------------------------- */

static void put_matrix(const struct placement *placement, uint32_t object,
                       const struct style *style, FILE *out)
{
    struct grid_column columns[NODES_MOST + 1] = {{"from", LEFT}};
    char *titles[NODES_MOST] = {0};
    uint32_t count = placement->nodes.count;
    if (count > NODES_MOST)
        return;
    for (uint32_t to = 0; to < count; to++) {
        titles[to] =
            memory__format("to node %" PRIu32, *VEC_AT(&placement->nodes.ids, uint32_t, to));
        columns[to + 1] = (struct grid_column){titles[to], RIGHT};
    }
    struct grid grid = grid__start(columns, count + 1, 2);
    for (uint32_t from = 0; from < count; from++) {
        grid__cell(&grid,
                   memory__format("node %" PRIu32, *VEC_AT(&placement->nodes.ids, uint32_t, from)),
                   INK_PLAIN);
        for (uint32_t to = 0; to < count; to++)
            grid__duration(&grid, placement__ns(placement, object, from, to));
    }
    grid__end(&grid, style, out);
    for (uint32_t to = 0; to < count; to++)
        free(titles[to]);
}

/* ---- objects --------------------------------------------------------------------------------- */

static void put_object(const struct place_report *shown, const struct placement_object *object,
                       size_t number, struct grid *grid)
{
    const struct memory_object *of =
        VEC_AT(&shown->use->objects, struct memory_object, object->object);
    grid__cell(grid, memory__format("%zu", number), INK_PLAIN);
    grid__duration(grid, object->ns - object->local_ns);
    grid__duration(grid, object->ns);
    grid__share(grid, part(object->local_ns, object->ns));
    grid__count(grid, object->pages);
    grid__take(grid, memory__text(memory_kind__name(of->kind)), INK_PLAIN);
    grid__take(grid, placement__kind_text(shown->placement, object), INK_PLAIN);
    char *title = placement__title(shown, object), *advice = placement__advice_text(shown, object);
    grid__below(grid, text__for_screen(title));
    if (*advice)
        grid__below(grid, text__for_screen(advice));
    free(title);
    free(advice);
}

static void put_objects(const struct place_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", RIGHT},      {"remote", RIGHT}, {"time", RIGHT}, {"local", RIGHT},
        {"pages", RIGHT}, {"memory", LEFT},  {"", WRAPPED}};
    struct grid grid = grid__start(columns, 7, 2);
    size_t number = 0, left = 0;
    char count[32];
    VEC_EACH (object, &shown->placement->objects, struct placement_object) {
        bool is_small = (double)(object->ns - object->local_ns) <
                        REMOTE_LEAST * (double)shown->placement->all.ns;
        number++;
        if (shown->rank ? number != shown->rank
                        : !shown->all && (number > OBJECTS_MOST || (is_small && number > 1)))
            left++;
        else
            put_object(shown, object, number, &grid);
    }
    grid__end(&grid, style, out);
    if (left && !shown->rank)
        paragraph__take(style, out, "  ",
                        memory__format("And %s more with little remote time: --all shows them.",
                                       count__format(left, count)));
}

/* ---- one object ------------------------------------------------------------------------------ */

struct node_pages {
    uint64_t pages, touched;
};

static void count_pages(const struct placement *placement, const struct placement_object *object,
                        struct node_pages *counts)
{
    for (size_t i = object->first_page; i < object->first_page + object->pages; i++) {
        const struct placement_page *page = VEC_AT(&placement->pages, struct placement_page, i);
        if (page->node != NO_NODE)
            counts[page->node].pages++;
        if (page->touch_node != NO_NODE)
            counts[page->touch_node].touched++;
    }
}

static void put_nodes(const struct place_report *shown, const struct placement_object *object,
                      const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", LEFT}, {"pages", RIGHT}, {"touched first", RIGHT}};
    const struct placement *placement = shown->placement;
    struct node_pages *counts = memory__zeroed(placement->nodes.count, sizeof *counts);
    struct grid grid = grid__start(columns, 3, 2);
    count_pages(placement, object, counts);
    for (uint32_t node = 0; node < placement->nodes.count; node++) {
        grid__cell(&grid,
                   memory__format("node %" PRIu32, *VEC_AT(&placement->nodes.ids, uint32_t, node)),
                   INK_PLAIN);
        grid__count(&grid, counts[node].pages);
        grid__count(&grid, counts[node].touched);
    }
    grid__end(&grid, style, out);
    free(counts);
}

static void put_one(const struct place_report *shown, const struct style *style, FILE *out)
{
    const struct placement_object *object =
        VEC_AT(&shown->placement->objects, struct placement_object, shown->rank - 1);
    put_objects(shown, style, out);
    fputc('\n', out);
    put_nodes(shown, object, style, out);
    fputc('\n', out);
    put_matrix(shown->placement, object->object, style, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* NULL: something is known. free() it. */
static char *why_nothing(const struct place_report *shown)
{
    char *nothing = report__why_nothing(shown->report);
    if (nothing)
        return nothing;
    if (!shown->use || !shown->use->samples)
        return memory__text(
            "No samples: which memory threads use was not looked at (heurt record takes samples "
            "unless functions are asked for or the kernel refuses them).");
    if (!shown->placement)
        return memory__text(
            "One NUMA node: all memory is equally far from all threads, and there is nothing to "
            "be placed.");
    return shown->placement->all.samples
               ? NULL
               : memory__text(
                     "No page's node is known: the kernel tells nobody here (move_pages and "
                     "/proc/PID/numa_maps are refused), or threads were at no memory when they "
                     "were "
                     "sampled.");
}

static void put_all(const struct place_report *shown, const struct style *style, FILE *out)
{
    put_machine(shown, style, out);
    fputc('\n', out);
    put_objects(shown, style, out);
    fputc('\n', out);
    put_matrix(shown->placement, PLACEMENT_ALL, style, out);
    char *hint = report__hint(shown->report, "place", "1");
    char *script = report__hint(shown->report, "place", "--script -o placed.sh");
    paragraph__take(style, out, "  More: ", memory__format("%s · %s", hint, script));
    free(hint);
    free(script);
}

static void put(const struct place_report *shown, const struct style *style, FILE *out)
{
    char *nothing = why_nothing(shown);
    text__head(shown->report, style, out);
    fputc('\n', out);
    if (nothing)
        paragraph__take(style, out, "  ", nothing);
    else if (shown->rank)
        put_one(shown, style, out);
    else
        put_all(shown, style, out);
}

const struct place_presenter place_text = {"text", put};
