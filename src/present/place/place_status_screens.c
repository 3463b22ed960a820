#include "present/place/place_status_screens.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"
#include "present/table/document.h"
#include "present/table/table_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_DECISIONS 10u

/* ---- tables ---------------------------------------------------------------------------------- */

#define OF_APPLICATION(member, title, unit, help)                                                 \
    COLUMN_WHOLE(#member, COLUMN_TYPE_OF(status_application, member), status_application, member, \
                 title, unit, help)
static const struct column application_columns[] = {
    OF_APPLICATION(name, "process", "", "as the kernel calls it"),
    OF_APPLICATION(pid, "pid", "", "its number"),
    OF_APPLICATION(cpus, "CPUs", "", "that it used in the last round"),
    OF_APPLICATION(first_local, NULL, "share", "local accesses before anything was done"),
    OF_APPLICATION(local, "local", "share", "accesses from the node that has the page (LAR)"),
    OF_APPLICATION(first_imbalance, NULL, "share", "imbalance before anything was done"),
    OF_APPLICATION(imbalance, "imbalance", "share",
                   "standard deviation of what the nodes' memories have to do, of their mean"),
    OF_APPLICATION(reads, "reads", "share", "reads, of all accesses (MRR)"),
    OF_APPLICATION(owned, NULL, "share", "of its pages, those that one node uses"),
    OF_APPLICATION(samples, NULL, "", "in the last round"),
    OF_APPLICATION(moved, "moved", "", "pages of 4 KiB"),
    OF_APPLICATION(back, "back", "", "of them, as what was done made it worse"),
    OF_APPLICATION(advised, NULL, "", "pages of which each node should have a copy"),
    OF_APPLICATION(verdict, "now", "", "how it does"),
    OF_APPLICATION(advice, NULL, "", "what the program should do itself"),
    OF_APPLICATION(id, NULL, "", "another one after an exec"),
    OF_APPLICATION(has_ended, NULL, "", "1: it is there no more"),
};
static const struct table applications_table =
    TABLE(status_application, "place_applications", "a row a process", application_columns);

#define STATUS_FIELD_OF_DECISION(member) FIELD(#member, status_decision, member),
static const struct table decisions_table = OBJECT(
    status_decision, PLACE_STATUS_DECISION(STATUS_FIELD_OF_DECISION, STATUS_FIELD_OF_DECISION,
                                           STATUS_FIELD_OF_DECISION));
#define STATUS_FIELD_OF_SENSOR(member) FIELD(#member, status_sensor, member),
static const struct table sensors_table =
    OBJECT(status_sensor, PLACE_STATUS_SENSOR(STATUS_FIELD_OF_SENSOR, STATUS_FIELD_OF_SENSOR,
                                              STATUS_FIELD_OF_SENSOR));

static void add_copies(struct table_rows *rows, const struct vec *from)
{
    for (size_t i = 0; i < from->count; i++)
        memcpy(table_rows__add(rows), (const char *)from->items + i * from->item_bytes,
               from->item_bytes);
}

static struct table_rows copies(const struct table *table, const struct vec *from)
{
    struct table_rows rows = table_rows__of(table);
    add_copies(&rows, from);
    return rows;
}

static struct table_rows applications_of(const void *row)
{
    return copies(&applications_table, &((const struct place_status *)row)->applications);
}

static struct table_rows decisions_of(const void *row)
{
    return copies(&decisions_table, &((const struct place_status *)row)->decisions);
}

static struct table_rows sensors_of(const void *row)
{
    return copies(&sensors_table, &((const struct place_status *)row)->sensors);
}

#define STATUS_FIELD_OF_DAEMON(member) FIELD(#member, place_status, daemon.member),
static const struct table daemons_table =
    OBJECT(place_status,
           PLACE_STATUS_DAEMON(STATUS_FIELD_OF_DAEMON, STATUS_FIELD_OF_DAEMON,
                               STATUS_FIELD_OF_DAEMON) FIELD_LIST("applications", applications_of),
           FIELD_LIST("decisions", decisions_of), FIELD_LIST("sensors", sensors_of));

struct statuses_root {
    const struct vec *statuses;
};

static struct table_rows daemons_of(const void *row)
{
    return copies(&daemons_table, ((const struct statuses_root *)row)->statuses);
}

static const struct table statuses_root_table =
    OBJECT(statuses_root, FIELD_SCHEMA("heurt.place_status/1"), FIELD_LIST("daemons", daemons_of));

void place_statuses__put_json(const struct vec *statuses, FILE *out)
{
    document__put(&statuses_root_table, &(struct statuses_root){statuses}, out);
}

void place_statuses__put_csv(const struct vec *statuses, FILE *out)
{
    struct table_rows rows = table_rows__of(&applications_table);
    VEC_EACH (status, statuses, struct place_status)
        add_copies(&rows, &status->applications);
    table_rows__put_csv(rows, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* "24 % → 98 %", or one where they are alike; "?" is not known. free() it. */
static char *change_text(const struct style *style, double first, double now)
{
    char before[16], after[16];
    if (isnan(now))
        return memory__text("?");
    share__format(first, before);
    share__format(now, after);
    return strcmp(before, after) == 0
               ? memory__text(after)
               : memory__format("%s %s %s", before, style->unicode ? "→" : "->", after);
}

static const char *state_of(const struct place_status *status)
{
    bool is_over = strcmp(status->daemon.state, "stopped") == 0;
    return is_over || place_status__is_alive(status) ? status->daemon.state
                                                     : "ended without being asked to";
}

static void put_head(const struct place_status *status, const struct style *style, FILE *out)
{
    const struct status_daemon *of = &status->daemon;
    char wall[16], interval[16];
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, memory__format("heurt place (%" PRIu64 "), %s", of->pid, of->whom), INK_BOLD,
               3);
    flow__take(&flow,
               memory__format("%s: %" PRIu64 " rounds in %s, one each %s", state_of(status),
                              of->rounds, duration__format(of->wall_ns, wall),
                              duration__format(of->interval_ns, interval)),
               INK_PLAIN, 3);
    flow__end(&flow);
    fputc('\n', out);
}

static void put_metrics(const struct place_status *status, const struct style *style, FILE *out)
{
    const struct status_daemon *of = &status->daemon;
    char *local = change_text(style, of->first_local, of->local),
         *imbalance = change_text(style, of->first_imbalance, of->imbalance);
    char moved[32], back[32], samples[32], used[32], share[16];
    bool is_known = !isnan(of->local);
    paragraph__take(style, out, "  ",
                    is_known ? memory__format("Now: %s. Local accesses %s, imbalance (%" PRIu64
                                              " nodes) %s; %s pages moved, %s of them back.",
                                              of->verdict, local, of->nodes, imbalance,
                                              count__format(of->moved, moved),
                                              count__format(of->back, back))
                             : memory__format("Now: %s. %s pages moved.", of->verdict,
                                              count__format(of->moved, moved)));
    paragraph__take(
        style, out, "  ",
        memory__format(
            "Processes: %" PRIu64 "; threads that are sampled %" PRIu64 " times a second: %" PRIu64
            ". %s samples until now; %s at memory, of which page and nodes "
            "are known. Time at memory: %s.",
            of->processes, of->hz, of->threads, count__format(of->samples, samples),
            count__format(of->used, used),
            isnan(of->memory_share) ? "not known" : share__format(of->memory_share, share)));
    free(local);
    free(imbalance);
}

static int by_moved(const void *a, const void *b)
{
    const struct status_application *left = a, *right = b;
    return ORDER(right->moved + right->advised, left->moved + left->advised)
               ?: ORDER(!(right->cpus > left->cpus), !(left->cpus > right->cpus))
               ?: ORDER(left->id, right->id);
}

static void put_application(const struct status_application *of, const struct style *style,
                            struct grid *grid)
{
    grid__take(grid, memory__text(of->name), INK_PLAIN);
    grid__cell(grid, memory__format("%" PRIu64, of->pid), INK_PLAIN);
    grid__cell(grid, memory__format("%.1f", of->cpus), INK_PLAIN);
    grid__cell(grid, change_text(style, of->first_local, of->local), INK_PLAIN);
    grid__cell(grid, change_text(style, of->first_imbalance, of->imbalance), INK_PLAIN);
    grid__count(grid, of->moved);
    grid__count(grid, of->back);
    grid__take(grid, memory__text(of->verdict), INK_PLAIN);
    if (*of->advice)
        grid__below(grid, memory__format("To try: %s.", of->advice));
}

static void put_applications(const struct place_status *status, const struct style *style,
                             FILE *out)
{
    static const struct grid_column columns[] = {
        {"process", LEFT},    {"pid", RIGHT},   {"CPUs", RIGHT}, {"local", RIGHT},
        {"imbalance", RIGHT}, {"moved", RIGHT}, {"back", RIGHT}, {"now", WRAPPED}};
    struct table_rows rows = applications_of(status);
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    size_t passed_over = 0;
    vec__sort(&rows.rows, by_moved);
    VEC_EACH (of, &rows.rows, struct status_application)
        if (of->moved || of->advised || of->samples)
            put_application(of, style, &grid);
        else
            passed_over++;
    if (rows.rows.count > passed_over)
        fputc('\n', out);
    grid__end(&grid, style, out);
    if (passed_over)
        paragraph__take(style, out, "  ",
                        memory__format("%zu %sthat use next to no CPU, or have ended.", passed_over,
                                       rows.rows.count > passed_over ? "more " : ""));
    table_rows__free(&rows);
}

static void put_decisions(const struct place_status *status, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"round", RIGHT}, {"process", LEFT}, {"pid", RIGHT},         {"decision", LEFT},
        {"pages", RIGHT}, {"done", RIGHT},   {"local before", RIGHT}};
    size_t count = status->decisions.count;
    if (!count)
        return;
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    fputc('\n', out);
    for (size_t i = count > SHOWN_DECISIONS ? count - SHOWN_DECISIONS : 0; i < count; i++) {
        const struct status_decision *of = VEC_AT(&status->decisions, struct status_decision, i);
        grid__count(&grid, of->round);
        grid__take(&grid, memory__text(of->name), INK_PLAIN);
        grid__cell(&grid, memory__format("%" PRIu64, of->pid), INK_PLAIN);
        grid__take(&grid, memory__text(of->decision), INK_PLAIN);
        grid__count(&grid, of->pages);
        grid__count(&grid, of->done);
        grid__cell(&grid, change_text(style, of->local, of->local), INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

/* free() it. NULL: nothing was. */
static char *refused_text(const struct status_daemon *of)
{
    const struct {
        uint64_t pages;
        const char *why;
    } parts[] = {{of->several, "several processes map them"},
                 {of->busy, "they are locked, pinned or in use"},
                 {of->gone, "they are there no more"},
                 {of->full, "the node has no memory left"},
                 {of->refused, "the node is not theirs, or the kernel refuses"},
                 {of->guarded, "they moved too often"}};
    char *text = NULL, count[32];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].pages)
            text = text__append(text, "%s%s as %s", text ? ", " : "Pages that did not move: ",
                                count__format(parts[i].pages, count), parts[i].why);
    return text ? text__append(text, ".") : NULL;
}

static char *sensors_text(const struct place_status *status)
{
    char *there = NULL, *missing = NULL;
    VEC_EACH (sensor, &status->sensors, struct status_sensor) {
        char **text = *sensor->missing ? &missing : &there;
        *text = text__append(*text, "%s%s (%s)", *text ? ", " : "", sensor->name,
                             *sensor->missing ? sensor->missing : sensor->tells);
    }
    char *text =
        memory__format("Seen by: %s.%s%s%s", there ? there : "nothing", missing ? " Not by: " : "",
                       missing ? missing : "", missing ? "." : "");
    free(there);
    free(missing);
    return text;
}

static void put_notes(const struct place_status *status, const struct style *style, FILE *out)
{
    const struct status_daemon *of = &status->daemon;
    char memory[16], *refused = refused_text(of);
    fputc('\n', out);
    if (refused)
        paragraph__take(style, out, "  ", refused);
    paragraph__take(style, out, "  ", sensors_text(status));
    paragraph__take(
        style, out, "  ",
        memory__format("It took %.1f %% of a CPU, and %s of memory.",
                       of->wall_ns ? 100.0 * (double)of->cpu_ns / (double)of->wall_ns : 0,
                       bytes__format(of->memory_bytes, memory)));
}

void place_statuses__put_text(const struct vec *statuses, const struct style *style, FILE *out)
{
    size_t number = 0;
    if (!statuses->count)
        paragraph__take(style, out, "",
                        memory__text("No heurt place of this user is moving memory, or has been "
                                     "since the last start: heurt place -p PID does it."));
    VEC_EACH (status, statuses, struct place_status) {
        if (number++)
            fputc('\n', out);
        put_head(status, style, out);
        put_metrics(status, style, out);
        if (status->applications.count)
            put_applications(status, style, out);
        put_decisions(status, style, out);
        put_notes(status, style, out);
    }
}
