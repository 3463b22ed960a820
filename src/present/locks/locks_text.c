/* heurt locks: the first screen. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_MOST 15
#define WIDE_FROM_COLUMNS 116 /* a narrower terminal shows fewer figures */
#define BLOCKED_SHARE 0.05    /* of the critical path, to be worth a sentence */
#define ALARM_FROM 0.2        /* share of all threads' time that waits for one lock */

/* ---- header ---------------------------------------------------------------------------------- */

static char *counted(uint64_t count, const char *one, const char *many)
{
    char number[32];
    return memory__format("%s %s", count__format(count, number), count == 1 ? one : many);
}

static size_t rows_of(const struct locks_report *locks, enum class_kind kind)
{
    size_t count = 0;
    VEC_EACH (row, &locks->result->rows, struct lock_row)
        count += row->object.kind == kind;
    return count;
}

static void put_counts(struct flow *flow, const struct locks_report *locks)
{
    static const struct {
        enum class_kind kind;
        const char *one, *many;
    } kinds[] = {{CLASS_LOCK, "lock", "locks"},
                 {CLASS_CONDITION, "condition variable", "condition variables"},
                 {CLASS_SEMAPHORE, "semaphore", "semaphores"},
                 {CLASS_BARRIER, "barrier", "barriers"},
                 {CLASS_FUTEX, "futex", "futexes"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t count = rows_of(locks, kinds[i].kind) + locks->result->left_out[kinds[i].kind];
        if (count)
            flow__take(flow, counted(count, kinds[i].one, kinds[i].many), INK_PLAIN, 3);
    }
}

void locks__put_header(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char wall[16];
    const struct report *report = locks->report;
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(report, style), INK_BOLD, 3);
    flow__take(&flow, memory__format("took %s", duration__format(locks->result->wall_ns, wall)),
               INK_PLAIN, 3);
    flow__take(&flow, counted(trace__threads(report->trace)->count, "thread", "threads"), INK_PLAIN,
               3);
    put_counts(&flow, locks);
    flow__take(&flow, memory__text(report->directory), INK_PLAIN, 3);
    flow__end(&flow);
    char *words = filter__words(locks->filter);
    if (*words)
        paragraph__take(style, out, "  only: ", memory__text(words));
    free(words);
}

/* One clear sentence where there is nothing to show; then true. */
static bool put_nothing(const struct locks_report *locks, const struct style *style, FILE *out)
{
    if (locks->result->rows.count)
        return false;
    char *words = filter__words(locks->filter);
    fputc('\n', out);
    if (*words)
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "Nothing that was recorded is left by these filters; heurt locks without "
                       "them shows everything.");
    else if (trace__threads(locks->report->trace)->count == 0)
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "The trace is empty: no thread wrote any event, so that nothing is known of "
                       "locks. heurt check -- CMD tells whether the program can be recorded.");
    else
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "The program used no lock, condition variable, semaphore or barrier of "
                       "pthreads, C11 or futexes, so there is none to show. heurt report tells "
                       "where else time went.");
    free(words);
    return true;
}

/* ---- all locks together ---------------------------------------------------------------------- */

static void put_waiting(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char waited[16], share[16], contended[16], number[32];
    const struct locks_result *result = locks->result;
    paragraph__take(
        style, out, "  All locks: ",
        memory__format("%s waited, %s of thread time; %s of %s%s acquisitions waited.",
                       duration__format(result->wait_ns, waited),
                       share__format(result->wait_share, share),
                       share__format(ratio(result->contended, result->acquisitions), contended),
                       result->is_sampled ? "~" : "", count__format(result->acquisitions, number)));
}

/* Where it is a loss to wait: not for work. */
static void put_meetings(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char waited[16], share[16];
    const struct locks_result *result = locks->result;
    uint64_t wait_ns = 0;
    VEC_EACH (row, &result->rows, struct lock_row)
        wait_ns += row->object.kind == CLASS_LOCK || row->is_idle ? 0 : row->exclusive.wait.sum_ns;
    if (wait_ns)
        paragraph__take(
            style, out, "  Other waits: ",
            memory__format("%s waited at conditions, semaphores, barriers and futexes, "
                           "%s of thread time (not counting waits for work).",
                           duration__format(wait_ns, waited),
                           share__format(ratio(wait_ns, result->lifetime_sum_ns), share)));
}

static void put_sections(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char all[16], covered[16], share[16];
    const struct locks_result *result = locks->result;
    paragraph__take(
        style, out, "  Sections:  ",
        memory__format(
            "held %s; %s with what is nested on one thread counted once, %s "
            "of thread time.",
            duration__format(result->hold_sum_ns, all),
            duration__format(result->hold_covered_ns, covered),
            share__format(ratio(result->hold_covered_ns, result->lifetime_sum_ns), share)));
}

void locks_text__blocked(uint64_t blocked, uint64_t path, const struct style *style, FILE *out)
{
    char share[16];
    if (ratio(blocked, path) >= BLOCKED_SHARE)
        paragraph__take(
            style, out, "    ",
            memory__format("In %s of it its thread was off the CPU for what no thread "
                           "of the program is known to have ended: sleep, I/O, a signal.",
                           share__format(ratio(blocked, path), share)));
}

void locks_text__drawn(const struct locks_report *locks, const struct style *style, FILE *out)
{
    const struct locks_result *result = locks->result;
    char number[32], all[32];
    if (!result->is_sampled)
        return;
    double error =
        result->hold_sum_ns ? 100 * (double)result->hold_error_ns / (double)result->hold_sum_ns : 0;
    char *budget = report__budget(locks->report);
    paragraph__take(
        style, out, "  ~ ",
        memory__format("drawn: %s of %s acquisitions without a wait, to keep within %s; waits are "
                       "all there (heurt record --locks all)",
                       count__format(result->drawn, number), count__format(result->drawn_of, all),
                       budget));
    paragraph__take(
        style, out, "    ",
        memory__format("Numbers, times held (to %.2g %%) and the path are estimates; an order of "
                       "locks may be missing.",
                       error));
    free(budget);
}

static void put_on_path(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char share[16], length[16], waited[16], number[32], contended[32];
    const struct locks_result *result = locks->result;
    if (result->path_ns == 0)
        return;
    paragraph__take(
        style, out, "  Critical path: ",
        memory__format("%s of its %s is in sections, of %s acquisitions; %s of these waited, %s "
                       "together.",
                       share__format(ratio(result->on_path.hold_ns, result->path_ns), share),
                       duration__format(result->path_ns, length),
                       count__format(result->on_path.acquisitions, number),
                       count__format(result->on_path.contended, contended),
                       duration__format(result->on_path.wait_ns, waited)));
    locks_text__blocked(result->path_blocked_ns, result->path_ns, style, out);
}

static void put_totals(const struct locks_report *locks, const struct style *style, FILE *out)
{
    bool any_lock = rows_of(locks, CLASS_LOCK) > 0;
    if (any_lock) {
        put_waiting(locks, style, out);
        put_sections(locks, style, out);
    }
    put_meetings(locks, style, out);
    if (!any_lock)
        return;
    put_on_path(locks, style, out);
    locks_text__drawn(locks, style, out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct grid_column wide_columns[] = {
    {"#", RIGHT},       {"lock", WRAPPED},    {"kind", LEFT},      {"waited", RIGHT},
    {"of time", RIGHT}, {"contended", RIGHT}, {"acquired", RIGHT}, {"held mean", RIGHT},
    {"max", RIGHT},     {"on path", RIGHT},   {"sections", RIGHT},
};
static const struct grid_column narrow_columns[] = {
    {"#", RIGHT},         {"lock", WRAPPED},   {"waited", RIGHT}, {"of time", RIGHT},
    {"contended", RIGHT}, {"acquired", RIGHT}, {"held", RIGHT},   {"on path", RIGHT},
};

/* One line: a lock, or its writers, or its readers. */
struct lock_line {
    const struct lock_row *row;
    const struct lock_side *side;
    size_t rank;    /* 0: the second line of a lock */
    const char *of; /* " writers", " readers" or "" */
};

/* The kind has a column of its own. */
static void put_wide_name(struct grid *grid, const struct locks_report *locks,
                          const struct lock_line *line)
{
    const struct sync_object *object = &line->row->object;
    char *known = line->rank ? object__known_as(locks->report, object) : memory__text("");
    grid__take(grid,
               line->rank
                   ? memory__format("%s%s0x%" PRIx64, known, *known ? " " : "", object->address)
                   : memory__text(""),
               INK_BOLD);
    grid__cell(grid, memory__format("%s%s", object__noun(object), line->of), INK_PLAIN);
    free(known);
}

static void put_narrow_name(struct grid *grid, const struct locks_report *locks,
                            const struct lock_line *line)
{
    const struct sync_object *object = &line->row->object;
    char *name =
        line->rank ? object__name(locks->report, object) : memory__text(object__noun(object));
    grid__take(grid, memory__format("%s%s", name, line->of), INK_BOLD);
    free(name);
}

static void put_sampled_count(struct grid *grid, const struct locks_report *locks, uint64_t count)
{
    char number[32];
    grid__cell(
        grid,
        memory__format("%s%s", locks->result->is_sampled ? "~" : "", count__format(count, number)),
        INK_PLAIN);
}

static void put_path_cells(struct grid *grid, const struct locks_report *locks,
                           const struct lock_line *line, bool wide)
{
    const struct lock_on_path *on_path = &line->row->on_path;
    if (!line->rank || locks->result->path_ns == 0) {
        grid__cell(grid, memory__text(""), INK_PLAIN);
        if (wide)
            grid__cell(grid, memory__text(""), INK_PLAIN);
        return;
    }
    grid__share(grid, ratio(on_path->hold_ns, locks->result->path_ns));
    if (wide)
        grid__count(grid, on_path->acquisitions);
}

static void put_line(struct grid *grid, const struct locks_report *locks,
                     const struct lock_line *line, bool wide)
{
    char share[16];
    const struct lock_side *side = line->side;
    double of_time = ratio(side->wait.sum_ns, locks->result->lifetime_sum_ns);
    grid__cell(grid, line->rank ? memory__format("%zu", line->rank) : memory__text(""), INK_PLAIN);
    if (wide)
        put_wide_name(grid, locks, line);
    else
        put_narrow_name(grid, locks, line);
    grid__duration(grid, side->wait.sum_ns);
    grid__cell(grid, memory__text(share__format(of_time, share)),
               of_time >= ALARM_FROM ? INK_ALARM : INK_PLAIN);
    grid__share(grid, ratio(side->contended, side->acquisitions));
    put_sampled_count(grid, locks, side->acquisitions);
    grid__duration(grid, lock_times__mean_ns(&side->hold));
    if (wide)
        grid__duration(grid, side->hold.max_ns);
    put_path_cells(grid, locks, line, wide);
}

static void put_row(struct grid *grid, const struct locks_report *locks, const struct lock_row *row,
                    size_t rank, bool wide)
{
    bool split = object__is_rwlock(&row->object);
    const struct lock_line first = {row, &row->exclusive, rank, split ? " writers" : ""};
    const struct lock_line second = {row, &row->shared, 0, " readers"};
    put_line(grid, locks, &first, wide);
    if (split)
        put_line(grid, locks, &second, wide);
}

static void put_hidden(struct grid *grid, size_t hidden, size_t quiet)
{
    grid__note(grid, quiet == hidden
                         ? memory__format("    and %zu more that nobody waited for (--csv has "
                                          "them)",
                                          hidden)
                         : memory__format("    and %zu more, of which nobody waited for %zu "
                                          "(--csv has them)",
                                          hidden, quiet));
}

/* Locks that nobody waited for are counted only, when there are others. */
static void put_locks(const struct locks_report *locks, const struct style *style, FILE *out)
{
    size_t shown = 0, quiet = 0, rank = 0, all = rows_of(locks, CLASS_LOCK);
    bool wide = style->columns == 0 || style->columns >= WIDE_FROM_COLUMNS;
    if (all == 0)
        return;
    struct grid grid = wide ? grid__start(wide_columns, 11, 1) : grid__start(narrow_columns, 8, 1);
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        rank++;
        if (row->object.kind != CLASS_LOCK)
            continue;
        bool waited = lock_row__wait_ns(row) > 0;
        if (shown >= ROWS_AT_MOST || (!waited && shown >= 3)) {
            quiet += !waited;
            continue;
        }
        put_row(&grid, locks, row, rank, wide);
        shown++;
    }
    if (shown < all)
        put_hidden(&grid, all - shown, quiet);
    fputc('\n', out);
    grid__end(&grid, style, out);
}

/* ---- the end of the screen ------------------------------------------------------------------- */

static void put_warnings(const struct locks_report *locks, const struct style *style, FILE *out)
{
    struct vec warnings = report__warnings(locks->report);
    VEC_EACH (sentence, &locks->result->warnings, char *) {
        char *copy = memory__text(*sentence);
        vec__push(&warnings, &copy);
    }
    text__warnings_of(locks->report, &warnings, style, out);
    texts__free(&warnings);
}

static const struct lock_row *worst_lock(const struct locks_report *locks)
{
    VEC_EACH (row, &locks->result->rows, struct lock_row)
        if (row->object.kind == CLASS_LOCK && lock_row__wait_ns(row))
            return row;
    return NULL;
}

static void put_next(const struct locks_report *locks, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 8);
    const struct lock_row *worst = worst_lock(locks);
    fputs("\n  next: ", out);
    flow.column = flow.indent;
    if (locks->result->rows.count) {
        flow__hint(&flow, locks->report, "locks", "1");
        flow__hint(&flow, locks->report, "locks", "--path");
    } else {
        flow__hint(&flow, locks->report, "report", "");
    }
    if (worst) {
        char *change = memory__format("--remove lock=0x%" PRIx64, worst->object.address);
        flow__hint(&flow, locks->report, "locks", "--dot");
        flow__hint(&flow, locks->report, "whatif", change);
        free(change);
    }
    flow__end(&flow);
}

static void rows(const struct locks_report *locks, size_t rank, const struct style *style,
                 FILE *out)
{
    if (rank) {
        locks_text__one(locks, rank, style, out);
        return;
    }
    locks__put_header(locks, style, out);
    if (!put_nothing(locks, style, out)) {
        put_totals(locks, style, out);
        put_locks(locks, style, out);
        sync_objects__put(locks, style, out);
        strips__put(locks, style, out);
        inversions__put(locks, style, out);
    }
    put_warnings(locks, style, out);
    put_next(locks, style, out);
}

const struct locks_presenter locks_text = {"text", rows, locks_text__path, locks_text__audit};
