/* heurt locks N: one of them in depth. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SITES_AT_MOST 12

/* ---- what it is ------------------------------------------------------------------------------ */

static void put_title(const struct locks_report *locks, const struct lock_row *row, size_t rank,
                      const struct style *style, FILE *out)
{
    char *name = object__short_name(locks->report, &row->object);
    char *text = memory__format("%s %zu: %s", object__noun(&row->object), rank, name);
    char *clean = text__for_screen(text);
    ink__put(style, out, INK_BOLD, clean);
    fputc('\n', out);
    free(clean);
    free(text);
    free(name);
}

static void put_made(const struct locks_report *locks, const struct lock_row *row,
                     const struct style *style, FILE *out)
{
    const struct sync_object *object = &row->object;
    if (!object->initialised_site) {
        paragraph__take(style, out, "  made      ",
                        memory__text("not seen: it is initialised in the source, or was before the "
                                     "recording began"));
        return;
    }
    char *where = site__text(locks->report, object->process, object->initialised_site);
    char *who = thread__text(locks->report, object->initialised_by);
    bool known = object->initialised_by != SYNC_EVENT_NOBODY;
    paragraph__take(style, out, "  made      ",
                    memory__format("in %s%s%s", where, known ? " by " : "", known ? who : ""));
    free(where);
    free(who);
}

static void put_variable(const struct locks_report *locks, const struct sync_object *object,
                         const struct style *style, FILE *out)
{
    const struct symbol *variable =
        symbols__variable(locks->report->symbols, object->process, object->address);
    if (!variable || !variable->file)
        return;
    const struct place place = {.file = variable->file, .line = variable->line};
    paragraph__take(style, out, "  declared  ", place__source(&place, true));
}

static void put_identity(const struct locks_report *locks, const struct lock_row *row,
                         const struct style *style, FILE *out)
{
    const struct sync_object *object = &row->object;
    const struct trace_process *process = report__process(locks->report, object->process);
    paragraph__take(style, out, "  address   ", memory__format("0x%" PRIx64, object->address));
    put_variable(locks, object, style, out);
    if (object->kind == CLASS_CONDITION && object->mutex) {
        struct sync_object mutex = {
            .process = object->process, .kind = CLASS_LOCK, .address = object->mutex};
        paragraph__take(style, out, "  mutex     ", object__name(locks->report, &mutex));
    }
    put_made(locks, row, style, out);
    if (process && trace__processes(locks->report->trace)->count > 1)
        paragraph__take(style, out, "  process   ",
                        memory__format("%s (pid %u)", process->path, process->pid));
    char *words = filter__words(locks->filter);
    if (*words)
        paragraph__take(style, out, "  only      ", memory__text(words));
    free(words);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* share: of the acquisitions; NaN: none is told. */
static void put_times(struct grid *grid, const char *of, const char *what,
                      const struct lock_times *times, double share)
{
    grid__cell(grid, memory__format("%s%s", of, what), INK_PLAIN);
    grid__count(grid, times->count);
    if (isnan(share))
        grid__cell(grid, memory__text(""), INK_PLAIN);
    else
        grid__share(grid, share);
    grid__duration(grid, times->sum_ns);
    grid__duration(grid, lock_times__mean_ns(times));
    grid__duration(grid, times->max_ns);
}

static void put_side(struct grid *grid, const char *of, const struct lock_side *side,
                     bool has_sections)
{
    put_times(grid, of, "waited", &side->wait, ratio(side->contended, side->acquisitions));
    if (has_sections)
        put_times(grid, of, "held", &side->hold, NAN);
}

static void put_attempts(const char *of, const struct lock_side *side, const struct style *style,
                         FILE *out)
{
    char acquired[32], busy[32], gave_up[32];
    paragraph__take(
        style, out, of,
        memory__format("%s times; tries that found it taken: %s, waits that ended without it: %s",
                       count__format(side->acquisitions, acquired), count__format(side->busy, busy),
                       count__format(side->gave_up, gave_up)));
}

static void put_sides(const struct lock_row *row, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"", LEFT},       {"times", RIGHT},
                                                 {"share", RIGHT}, {"in all", RIGHT},
                                                 {"mean", RIGHT},  {"max", RIGHT}};
    bool is_lock = row->object.kind == CLASS_LOCK, split = object__is_rwlock(&row->object);
    put_attempts(split ? "  writing   " : "  acquired  ", &row->exclusive, style, out);
    if (split)
        put_attempts("  reading   ", &row->shared, style, out);
    heading__put(style, out, "waits (share: of the acquisitions) and sections");
    struct grid grid = grid__start(columns, 6, 2);
    put_side(&grid, split ? "writers " : "", &row->exclusive, is_lock);
    if (split)
        put_side(&grid, "readers ", &row->shared, is_lock);
    grid__end(&grid, style, out);
}

static void put_waits(const struct lock_row *row, const struct style *style, FILE *out)
{
    char waited[16], share[16], mean[16], most[16], number[32];
    struct lock_times wait = row->exclusive.wait;
    wait.count += row->shared.wait.count;
    wait.sum_ns += row->shared.wait.sum_ns;
    wait.max_ns = wait.max_ns > row->shared.wait.max_ns ? wait.max_ns : row->shared.wait.max_ns;
    paragraph__take(style, out, "  waited    ",
                    memory__format("%s, %s of thread time: %s times, %s on average, %s at most",
                                   duration__format(wait.sum_ns, waited),
                                   share__format(row->wait_share, share),
                                   count__format(wait.count, number),
                                   duration__format(lock_times__mean_ns(&wait), mean),
                                   duration__format(wait.max_ns, most)));
    if (row->is_idle)
        paragraph__take(style, out, "  idle      ",
                        memory__text("who ends these waits does not wait there in turn: they are "
                                     "for work, events or time, and no loss"));
}

/* Of a condition, a futex, a barrier. */
static char *gave_up_text(const struct lock_row *row)
{
    char number[32];
    return memory__format("%s wait%s ended by time-outs, or with the trace",
                          count__format(row->exclusive.gave_up, number),
                          row->exclusive.gave_up == 1 ? "" : "s");
}

static const char *woken_from(enum class_kind kind)
{
    switch (kind) {
    case CLASS_LOCK:
        return "the release until who waited has it";
    case CLASS_SEMAPHORE:
        return "the post until who waited goes on";
    case CLASS_BARRIER:
        return "the last arrival until the others go on";
    default:
        return "the signal until who waited goes on";
    }
}

static void put_wakes(const struct lock_row *row, const struct style *style, FILE *out)
{
    char mean[16], most[16], number[32];
    if (row->wake.count == 0)
        return;
    paragraph__take(style, out, "  wake-up   ",
                    memory__format("%s on average, %s at most, from %s (%s times)",
                                   duration__format(lock_times__mean_ns(&row->wake), mean),
                                   duration__format(row->wake.max_ns, most),
                                   woken_from(row->object.kind),
                                   count__format(row->wake.count, number)));
}

static void put_signals(const struct lock_row *row, const struct style *style, FILE *out)
{
    char all[32], broadcasts[32], nobody[32];
    if (row->object.kind == CLASS_SEMAPHORE)
        paragraph__take(style, out, "  posts     ", memory__text(count__format(row->signals, all)));
    if (row->object.kind == CLASS_CONDITION)
        paragraph__take(style, out, "  signals   ",
                        memory__format("%s, of these %s broadcasts; %s when nobody waited",
                                       count__format(row->signals, all),
                                       count__format(row->broadcasts, broadcasts),
                                       count__format(row->signals_for_nobody, nobody)));
}

static void put_rounds(const struct locks_report *locks, const struct lock_row *row,
                       const struct style *style, FILE *out)
{
    char rounds[32], mean[16], most[16], share[16];
    if (row->object.kind != CLASS_BARRIER)
        return;
    paragraph__take(style, out, "  rounds    ",
                    memory__format("%s; %s on average from the first arrival to the last, %s at "
                                   "most",
                                   count__format(row->rounds, rounds),
                                   duration__format(lock_times__mean_ns(&row->spread), mean),
                                   duration__format(row->spread.max_ns, most)));
    if (row->last_arriver == SYNC_EVENT_NOBODY)
        return;
    char *thread = thread__text(locks->report, row->last_arriver);
    paragraph__take(style, out, "  last      ",
                    memory__format("%s in %s of the rounds", thread,
                                   share__format(ratio(row->last_arrivals, row->rounds), share)));
    free(thread);
}

/* ---- on and off the critical path ------------------------------------------------------------ */

static void put_path_line(struct grid *grid, const char *name, uint64_t acquisitions,
                          uint64_t contended, uint64_t wait_ns, uint64_t hold_ns)
{
    grid__cell(grid, memory__text(name), INK_PLAIN);
    grid__count(grid, acquisitions);
    grid__count(grid, contended);
    grid__duration(grid, wait_ns);
    grid__duration(grid, hold_ns);
}

static uint64_t less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static void put_path(const struct locks_report *locks, const struct lock_row *row,
                     const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"", LEFT}, {"acquired", RIGHT}, {"contended", RIGHT}, {"waited", RIGHT}, {"held", RIGHT}};
    char share[16], heading[96];
    const struct lock_on_path *on = &row->on_path;
    if (row->object.kind != CLASS_LOCK || locks->result->path_ns == 0)
        return;
    uint64_t hold_ns = row->exclusive.hold.sum_ns + row->shared.hold.sum_ns;
    snprintf(heading, sizeof heading,
             "on and off the critical path (%s of the path is in its sections)",
             share__format(ratio(on->hold_ns, locks->result->path_ns), share));
    heading__put(style, out, heading);
    struct grid grid = grid__start(columns, 5, 2);
    put_path_line(&grid, "on", on->acquisitions, on->contended, on->wait_ns, on->hold_ns);
    put_path_line(&grid, "off", less(lock_row__acquisitions(row), on->acquisitions),
                  less(lock_row__contended(row), on->contended),
                  less(lock_row__wait_ns(row), on->wait_ns), less(hold_ns, on->hold_ns));
    put_path_line(&grid, "all", lock_row__acquisitions(row), lock_row__contended(row),
                  lock_row__wait_ns(row), hold_ns);
    grid__end(&grid, style, out);
}

/* ---- where it is taken ----------------------------------------------------------------------- */

static void put_site(struct grid *grid, const struct locks_report *locks,
                     const struct lock_row *row, const struct lock_site *site)
{
    char unknown[32];
    struct place place = place__of_site(locks->report, row->object.process, site->site, unknown);
    grid__duration(grid, site->wait_ns);
    grid__share(grid, ratio(site->contended, site->acquisitions));
    grid__count(grid, site->acquisitions);
    grid__duration(grid, site->hold_ns);
    grid__take(grid, function__short(place.function), INK_BOLD);
    grid__take(grid, place__source(&place, true), INK_PLAIN);
}

static void put_sites(const struct locks_report *locks, const struct lock_row *row,
                      const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {{"waited", RIGHT},   {"contended", RIGHT},
                                                 {"acquired", RIGHT}, {"held", RIGHT},
                                                 {"in", WRAPPED},     {"", WRAPPED}};
    if (row->sites.count == 0)
        return;
    heading__put(style, out, "where it is taken");
    struct grid grid = grid__start(columns, 6, 2);
    for (size_t i = 0; i < row->sites.count && i < SITES_AT_MOST; i++)
        put_site(&grid, locks, row, VEC_AT(&row->sites, struct lock_site, i));
    if (row->sites.count > SITES_AT_MOST)
        grid__note(&grid, memory__format("and %zu more (--json has them all)",
                                         row->sites.count - SITES_AT_MOST));
    grid__end(&grid, style, out);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void put_histogram(const struct lock_times *times, const char *heading,
                          const struct style *style, FILE *out)
{
    struct duration_bin bins[LOCKS_BUCKETS];
    const struct bin_mark marks[] = {{"mean", lock_times__mean_ns(times)}, {"max", times->max_ns}};
    if (times->count == 0)
        return;
    heading__put(style, out, heading);
    for (unsigned i = 0; i < LOCKS_BUCKETS; i++)
        bins[i] = (struct duration_bin){i ? 1ull << i : 0, times->buckets[i]};
    bins__put(bins, LOCKS_BUCKETS, marks, 2, style, out);
}

static void put_histograms(const struct lock_row *row, const struct style *style, FILE *out)
{
    bool split = object__is_rwlock(&row->object), is_barrier = row->object.kind == CLASS_BARRIER;
    put_histogram(&row->exclusive.wait,
                  split ? "how long writers waited for it" : "how long they waited", style, out);
    put_histogram(&row->shared.wait, "how long readers waited for it", style, out);
    put_histogram(&row->exclusive.hold, split ? "how long writers held it" : "how long it was held",
                  style, out);
    put_histogram(&row->shared.hold, "how long readers held it", style, out);
    if (row->object.kind != CLASS_LOCK)
        put_histogram(&row->wake, "how long wake-ups took", style, out);
    if (is_barrier)
        put_histogram(&row->spread, "from the first arrival to the last", style, out);
}

void locks_text__one(const struct locks_report *locks, size_t rank, const struct style *style,
                     FILE *out)
{
    if (rank < 1 || rank > locks->result->rows.count)
        return;
    const struct lock_row *row = VEC_AT(&locks->result->rows, struct lock_row, rank - 1);
    bool is_counted = row->object.kind == CLASS_LOCK || row->object.kind == CLASS_SEMAPHORE;
    put_title(locks, row, rank, style, out);
    put_identity(locks, row, style, out);
    put_waits(row, style, out);
    if (row->exclusive.gave_up && !is_counted)
        paragraph__take(style, out, "  gave up   ", gave_up_text(row));
    put_wakes(row, style, out);
    put_signals(row, style, out);
    put_rounds(locks, row, style, out);
    if (is_counted)
        put_sides(row, style, out);
    put_path(locks, row, style, out);
    put_sites(locks, row, style, out);
    row__put_pairs(locks, row, style, out);
    row__put_doing(locks, row, style, out);
    put_histograms(row, style, out);
    row__put_longest(locks, row, style, out);
    strip__put_row(locks, row, style, out);
}
