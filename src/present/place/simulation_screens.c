#include "present/place/simulation_screens.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"
#include "present/table/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- policies ---------------------------------------------------------------------------------
 */

struct policy_cells {
    const char *policy;
    uint64_t time_ns, moved, copied, advised, undone, guarded, rounds;
    double times, local, imbalance;
};

#define POLICY(member, title, unit, help) COLUMN(policy_cells, member, title, unit, help)
static const struct column policy_columns[] = {
    POLICY(policy, "policy", "", "how memory is placed"),
    POLICY(time_ns, "time", "ns", "of the run, simulated"),
    COLUMN_AS(COLUMN_FACTOR, policy_cells, times, "times as fast", "×", "as by first touch"),
    POLICY(local, "local", "share", "accesses from the node that has the page (LAR)"),
    POLICY(imbalance, "imbalance", "share",
           "standard deviation of what the nodes' memories have to do, of their mean (MC-IMB)"),
    POLICY(moved, "moved", "", "pages of 4 KiB, each time that one is"),
    POLICY(copied, "copied", "", "pages of which each node got a copy"),
    POLICY(advised, "copies advised", "", "pages of which each node should have a copy"),
    POLICY(undone, NULL, "", "pages that were moved back, as the program became no faster"),
    POLICY(guarded, NULL, "", "pages that would have moved too often, in the round with most"),
    POLICY(rounds, NULL, "", "times that was decided"),
};
static const struct table policies_table =
    TABLE(policy_cells, "policies", "a row a policy", policy_columns);

static struct table_rows policy_rows(const struct simulation_view *view)
{
    struct table_rows rows = table_rows__of(&policies_table);
    double first_ns = view->results[STRATEGY_FIRST_TOUCH].ns;
    for (enum place_strategy strategy = 0; view->samples && strategy < PLACE_STRATEGIES;
         strategy++) {
        const struct place_result *result = &view->results[strategy];
        TABLE_ROW(&rows, policy_cells, .policy = place_strategy__name(strategy),
                  .time_ns = (uint64_t)result->ns, .times = first_ns / result->ns,
                  .local = result->local, .imbalance = result->imbalance, .moved = result->moved,
                  .copied = result->copied, .advised = result->advised, .undone = result->undone,
                  .guarded = result->guarded, .rounds = result->rounds);
    }
    return rows;
}

void simulation__put_csv(const struct simulation_view *view, FILE *out)
{
    table_rows__put_csv(policy_rows(view), out);
}

/* ---- what it stands on ------------------------------------------------------------------------
 */

static char *machine_note(const struct simulation_view *view)
{
    const struct place_machine *machine = view->machine;
    double most = 0;
    for (uint32_t i = 0; i < machine->nodes * machine->nodes; i++)
        most = fmax(most, machine->latency_ns[i]);
    return memory__format(
        "An access takes %.0f ns at the own node and up to %.0f ns at others%s; a node's memory "
        "does %.0f GB a second, and from one node to another go %.0f%s.",
        machine->latency_ns[0], most, machine->tells_latency ? "" : " (assumed)",
        PLACE_LINE_BYTES / machine->controller_ns, PLACE_LINE_BYTES / machine->link_ns,
        machine->tells_bandwidth ? "" : " (assumed)");
}

static char *samples_note(const struct simulation_view *view)
{
    char samples[32], pages[32], twice[32];
    return memory__format(
        "%s samples; pages: %s, with two samples or more: %s. Whose the others are no policy that "
        "watches can know. All is simulated, and caches are not.",
        count__format(view->samples, samples), count__format(view->pages, pages),
        count__format(view->twice, twice));
}

static struct vec notes_of(const struct simulation_view *view)
{
    struct vec notes = VEC_OF(char *);
    char *note = view->samples
                     ? samples_note(view)
                     : memory__text("No samples at memory of which the nodes are known: there is "
                                    "nothing to be replayed.");
    vec__push(&notes, &note);
    note = machine_note(view);
    vec__push(&notes, &note);
    if (view->is_dealt && view->samples) {
        note = memory__format("The trace is of another machine: its %" PRIu32
                              " threads are dealt to %" PRIu32
                              " nodes, and each page is where it was sampled first.",
                              view->threads, view->machine->nodes);
        vec__push(&notes, &note);
    }
    if (view->samples && view->results[STRATEGY_CARREFOUR].rounds < 2) {
        char interval[16];
        note =
            memory__format("The run is too short for decisions every %s: --interval sets another "
                           "time.",
                           duration__format((uint64_t)view->interval_ns, interval));
        vec__push(&notes, &note);
    }
    return notes;
}

/* ---- the screen -------------------------------------------------------------------------------
 */

static void put_row(const struct simulation_view *view, enum place_strategy strategy,
                    struct grid *grid)
{
    const struct place_result *result = &view->results[strategy];
    grid__take(grid, memory__text(place_strategy__name(strategy)), INK_PLAIN);
    grid__duration(grid, (uint64_t)result->ns);
    grid__cell(grid, memory__format("%.2f×", view->results[STRATEGY_FIRST_TOUCH].ns / result->ns),
               INK_PLAIN);
    grid__share(grid, result->local);
    grid__share(grid, result->imbalance);
    grid__count(grid, result->moved);
    grid__count(grid, result->copied);
}

static void put_policies(const struct simulation_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"policy", LEFT},     {"time", RIGHT},  {"times as fast", RIGHT}, {"local", RIGHT},
        {"imbalance", RIGHT}, {"moved", RIGHT}, {"copied", RIGHT}};
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    for (enum place_strategy strategy = 0; strategy < PLACE_STRATEGIES; strategy++)
        put_row(view, strategy, &grid);
    grid__end(&grid, style, out);
}

void simulation__put_text(const struct simulation_view *view, const struct style *style, FILE *out)
{
    struct vec notes = notes_of(view);
    char *command = report__command(view->report);
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, text__for_screen(command), INK_BOLD, 3);
    flow__take(&flow,
               memory__format("replayed on a machine of %" PRIu32 " NUMA node%s",
                              view->machine->nodes, view->machine->nodes == 1 ? "" : "s"),
               INK_PLAIN, 3);
    flow__end(&flow);
    fputc('\n', out);
    if (view->samples) {
        put_policies(view, style, out);
        fputc('\n', out);
    }
    free(command);
    VEC_EACH (note, &notes, char *)
        paragraph__take(style, out, "  ", memory__text(*note));
    texts__free(&notes);
}

/* ---- the document -----------------------------------------------------------------------------
 */

struct simulation_root {
    const struct simulation_view *view;
    const char *command;
    uint32_t nodes, threads;
    uint64_t samples, unknown, pages, sampled_twice, steps, step_ns, interval_ns;
    double local_ns;
    bool latency_told, bandwidth_told, dealt;
};

static struct table_rows policies_of_root(const void *root)
{
    return policy_rows(((const struct simulation_root *)root)->view);
}

static struct table_rows notes_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&texts_table);
    struct vec notes = notes_of(((const struct simulation_root *)root)->view);
    VEC_EACH (text, &notes, char *)
        text_rows__take(&rows, memory__text(*text));
    texts__free(&notes);
    return rows;
}

static const struct table root_table =
    OBJECT(simulation_root, FIELD_SCHEMA("heurt.place_simulation/1"),
           FIELDS(simulation_root, command, nodes, threads, samples, unknown, pages, sampled_twice,
                  steps, step_ns, interval_ns, local_ns, latency_told),
           FIELDS(simulation_root, bandwidth_told, dealt), FIELD_LIST("policies", policies_of_root),
           FIELD_LIST("notes", notes_of_root));

void simulation__put_json(const struct simulation_view *view, FILE *out)
{
    char *command = report__command(view->report);
    const struct simulation_root root = {.view = view,
                                         .command = command,
                                         .nodes = view->machine->nodes,
                                         .threads = view->threads,
                                         .samples = view->samples,
                                         .unknown = view->unknown,
                                         .pages = view->pages,
                                         .sampled_twice = view->twice,
                                         .steps = view->steps,
                                         .step_ns = view->step_ns,
                                         .interval_ns = (uint64_t)view->interval_ns,
                                         .local_ns = view->machine->latency_ns[0],
                                         .latency_told = view->machine->tells_latency,
                                         .bandwidth_told = view->machine->tells_bandwidth,
                                         .dealt = view->is_dealt};
    document__put(&root_table, &root, out);
    free(command);
}

/* ---- thresholds -------------------------------------------------------------------------------
 */

struct threshold_cells {
    const char *name, *source, *meaning;
    double value, usual;
};

#define THRESHOLD(member, title, unit, help) COLUMN(threshold_cells, member, title, unit, help)
static const struct column threshold_columns[] = {
    THRESHOLD(name, "threshold", "", "as --set names it"),
    THRESHOLD(value, "value", "", "that is used"),
    THRESHOLD(usual, NULL, "", "that is used unless another one is set"),
    THRESHOLD(source, "source", "", "where it comes from: docs/placement-engine.md"),
    THRESHOLD(meaning, "meaning", "", "in a few words"),
};
static const struct table thresholds_table =
    TABLE(threshold_cells, "thresholds", "a row a threshold", threshold_columns);

void thresholds__put(const struct place_thresholds *thresholds, const struct table_format *format,
                     const struct style *style, FILE *out)
{
    struct table_rows rows = table_rows__of(&thresholds_table);
    for (size_t i = 0; i < place_threshold_count; i++) {
        const struct place_threshold *row = &place_threshold_rows[i];
        TABLE_ROW(&rows, threshold_cells, .name = row->name, .source = row->source,
                  .meaning = row->meaning,
                  .value = *(const double *)((const char *)thresholds + row->at),
                  .usual = row->value);
    }
    table_format__put_rows(format, rows, style, out);
}
