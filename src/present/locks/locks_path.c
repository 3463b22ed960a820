/* heurt locks --path: the critical path, piece by piece. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_AT_MOST 20
#define TOTALS_AT_MOST 10

/* What stands for one of several threads or objects, by time. */
struct total {
    uint32_t index;
    uint64_t ns;
};

static int by_ns(const void *left, const void *right)
{
    const struct total *a = left, *b = right;
    return ORDER(b->ns, a->ns) ?: ORDER(a->index, b->index);
}

static void sort_totals(struct vec *totals)
{
    vec__sort(totals, by_ns);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void put_whole(const struct locks_report *locks, const struct style *style, FILE *out)
{
    char length[16], hand_over[16], each[16], share[16], pieces[32];
    const struct critical_path *path = locks->critical;
    paragraph__take(
        style, out, "  Critical path: ",
        memory__format(
            "%s long, %s pieces; %s of it is in sections; %s went to hand-overs between "
            "threads, %s each.",
            duration__format(path->length_ns, length), count__format(path->pieces.count, pieces),
            share__format(ratio(path->in_sections_ns, path->length_ns), share),
            duration__format(path->hand_over_ns, hand_over),
            duration__format(path->hand_overs ? path->hand_over_ns / path->hand_overs : 0, each)));
    locks_text__blocked(path->blocked_ns, path->length_ns, style, out);
}

/* ---- by thread and by lock ------------------------------------------------------------------- */

static void put_threads(const struct locks_report *locks, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"on it", RIGHT}, {"share", RIGHT}, {"thread", WRAPPED}};
    const struct critical_path *path = locks->critical;
    struct vec totals = VEC_OF(struct total);
    for (uint32_t i = 0; i < path->threads_ns.count; i++) {
        const struct total total = {i, *VEC_AT(&path->threads_ns, uint64_t, i)};
        if (total.ns)
            vec__push(&totals, &total);
    }
    sort_totals(&totals);
    heading__put(style, out, "by thread");
    struct grid grid = grid__start(columns, 3, 2);
    for (size_t i = 0; i < totals.count && i < TOTALS_AT_MOST; i++) {
        const struct total *total = VEC_AT(&totals, struct total, i);
        grid__duration(&grid, total->ns);
        grid__share(&grid, ratio(total->ns, path->length_ns));
        grid__take(&grid, thread__text(locks->report, total->index), INK_PLAIN);
    }
    if (totals.count > TOTALS_AT_MOST)
        grid__note(&grid, memory__format("and %zu more (--json has them all)",
                                         totals.count - TOTALS_AT_MOST));
    grid__end(&grid, style, out);
    vec__free(&totals);
}

static char *critical_name(const struct locks_report *locks, uint32_t object)
{
    if (object >= locks->critical->objects.count)
        return memory__text("?");
    return object__name(locks->report,
                        VEC_AT(&locks->critical->objects, struct sync_object, object));
}

static void put_lock(struct grid *grid, const struct locks_report *locks,
                     const struct critical_lock *lock)
{
    grid__duration(grid, lock->hold_ns);
    grid__share(grid, ratio(lock->hold_ns, locks->critical->length_ns));
    grid__count(grid, lock->acquisitions);
    grid__count(grid, lock->contended);
    grid__duration(grid, lock->wait_ns);
    grid__count(grid, lock->hand_overs);
    grid__take(grid, critical_name(locks, lock->object), INK_BOLD);
}

static void put_locks(const struct locks_report *locks, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"held", RIGHT},   {"share", RIGHT},      {"acquired", RIGHT}, {"contended", RIGHT},
        {"waited", RIGHT}, {"hand-overs", RIGHT}, {"lock", WRAPPED}};
    const struct critical_path *path = locks->critical;
    struct vec totals = VEC_OF(struct total);
    for (uint32_t i = 0; i < path->locks.count; i++) {
        const struct total total = {i, VEC_AT(&path->locks, struct critical_lock, i)->hold_ns};
        vec__push(&totals, &total);
    }
    sort_totals(&totals);
    if (totals.count)
        heading__put(style, out, "by lock: what of its sections is on the path");
    struct grid grid = grid__start(columns, 7, 2);
    for (size_t i = 0; i < totals.count && i < TOTALS_AT_MOST; i++)
        put_lock(
            &grid, locks,
            VEC_AT(&path->locks, struct critical_lock, VEC_AT(&totals, struct total, i)->index));
    if (totals.count > TOTALS_AT_MOST)
        grid__note(&grid, memory__format("and %zu more (--json has them all)",
                                         totals.count - TOTALS_AT_MOST));
    if (totals.count)
        grid__end(&grid, style, out);
    else
        vec__free(&grid.cells);
    vec__free(&totals);
}

/* ---- the pieces ------------------------------------------------------------------------------ */

static char *came_by(const struct locks_report *locks, const struct critical_piece *piece,
                     bool first)
{
    if (first)
        return memory__text("the program's start");
    if (piece->how == SYNC_EVENT_JOINED)
        return memory__text("the end of a thread that it joined");
    if (piece->how == SYNC_EVENT_STARTED)
        return memory__text("its creation");
    char *name = critical_name(locks, piece->object);
    const char *how = piece->how == SYNC_EVENT_ACQUIRED ? "release of"
                      : piece->how == SYNC_EVENT_LEFT   ? "last arrival at"
                                                        : "signal of";
    char *text = memory__format("%s %s", how, name);
    free(name);
    return text;
}

static void put_piece(struct grid *grid, const struct locks_report *locks, uint32_t index)
{
    const struct critical_piece *piece =
        VEC_AT(&locks->critical->pieces, struct critical_piece, index);
    grid__duration(grid, piece->length_ns);
    grid__duration(grid, piece->from_ns);
    grid__take(grid, thread__text(locks->report, piece->thread), INK_PLAIN);
    grid__take(grid, came_by(locks, piece, index == 0), INK_PLAIN);
}

static void put_pieces(const struct locks_report *locks, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"for", RIGHT}, {"from", RIGHT}, {"thread", WRAPPED}, {"to which it came by", WRAPPED}};
    char rest[16], number[32];
    const struct critical_path *path = locks->critical;
    struct vec totals = VEC_OF(struct total);
    uint64_t left = 0;
    for (uint32_t i = 0; i < path->pieces.count; i++) {
        const struct total total = {i, VEC_AT(&path->pieces, struct critical_piece, i)->length_ns};
        left += total.ns;
        vec__push(&totals, &total);
    }
    sort_totals(&totals);
    heading__put(style, out, "the longest pieces");
    struct grid grid = grid__start(columns, 4, 2);
    size_t shown = 0;
    for (; shown < totals.count && shown < PIECES_AT_MOST; shown++) {
        left -= VEC_AT(&totals, struct total, shown)->ns;
        put_piece(&grid, locks, VEC_AT(&totals, struct total, shown)->index);
    }
    if (shown < totals.count)
        grid__note(&grid, memory__format("and %s shorter ones, %s together (--json has them all)",
                                         count__format(totals.count - shown, number),
                                         duration__format(left, rest)));
    grid__end(&grid, style, out);
    vec__free(&totals);
}

void locks_text__path(const struct locks_report *locks, const struct style *style, FILE *out)
{
    locks__put_header(locks, style, out);
    if (!locks->critical)
        return;
    if (locks->critical->pieces.count == 0) {
        paragraph__put(style, out, INK_PLAIN, "  ",
                       "The trace is empty: no thread wrote any event, so that there is no path.");
        return;
    }
    put_whole(locks, style, out);
    locks_text__drawn(locks, style, out);
    put_threads(locks, style, out);
    put_locks(locks, style, out);
    put_pieces(locks, style, out);
}
