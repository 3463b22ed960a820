/* locks_critical.c: what of locks is on the critical path. */
#include "analysis/locks/internal.h"

/* ---- figures --------------------------------------------------------------------------------- */

static void add_lock(const struct locks_walk *walk, struct locks_result *result,
                     const struct path_lock *lock)
{
    const struct trace *trace = walk->trace;
    const struct lock_state *state = VEC_AT(&walk->states, struct lock_state, lock->object);
    if (!state->passes || state->kind != CLASS_LOCK)
        return;
    result->on_path.acquisitions += lock->acquisitions;
    result->on_path.contended += lock->contended;
    result->on_path.wait_ns += trace__ns(trace, lock->wait);
    result->on_path.hold_ns += trace__ns(trace, lock->hold);
}

/* What is nested counts once, as far as that is known: sampled sections stand for others. */
static void take_locks(const struct locks_walk *walk, const struct path_result *path,
                       const uint32_t *row_of, struct locks_result *result)
{
    const struct trace *trace = walk->trace;
    VEC_EACH (lock, &path->locks, struct path_lock) {
        if (lock->object >= walk->states.count)
            continue;
        add_lock(walk, result, lock);
        if (row_of[lock->object] == UINT32_MAX)
            continue;
        uint64_t hold_ns = trace__ns(trace, lock->hold);
        if (walk->is_sampled && hold_ns > result->path_ns)
            hold_ns = result->path_ns;
        VEC_AT(&result->rows, struct lock_row, row_of[lock->object])->on_path =
            (struct lock_on_path){lock->acquisitions, lock->contended, trace__ns(trace, lock->wait),
                                  hold_ns};
    }
    uint64_t most = walk->is_sampled ? result->path_ns : trace__ns(trace, path->in_sections);
    bool is_whole = !walk->filter->lock && !walk->is_sampled;
    if (is_whole || most < result->on_path.hold_ns)
        result->on_path.hold_ns = most;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static uint64_t ticks_of_threads(const struct path_result *path)
{
    uint64_t ticks = path->hand_over;
    VEC_EACH (thread, &path->threads, uint64_t)
        ticks += *thread;
    return ticks;
}

static uint64_t ticks_of_locks(const struct path_result *path)
{
    uint64_t ticks = 0;
    VEC_EACH (lock, &path->locks, struct path_lock)
        ticks += lock->hold;
    return ticks;
}

static void check_path(const struct locks_walk *walk, const struct path_result *path,
                       struct locks_result *result)
{
    locks_check__add(result, &(struct locks_check){.what = "ticks of the critical path",
                                                   .of = "threads, and hand-overs",
                                                   .with = "its start to its end",
                                                   .left = ticks_of_threads(path),
                                                   .right = path->end - path->start});
    if (!walk->is_sampled)
        locks_check__add(result, &(struct locks_check){.what = "ticks of the critical path",
                                                       .of = "sections, nested ones once",
                                                       .with = "sections, each",
                                                       .left = path->in_sections,
                                                       .right = ticks_of_locks(path),
                                                       .is_most = true});
}

void locks_path__fill(const struct locks_walk *walk, const uint32_t *row_of,
                      struct locks_result *result)
{
    struct path_result path;
    path__finish(walk->path, &path);
    result->path_ns = trace__ns(walk->trace, path.end - path.start);
    result->path_blocked_ns = trace__ns(walk->trace, path.blocked);
    take_locks(walk, &path, row_of, result);
    check_path(walk, &path, result);
    path_result__free(&path);
}

/* ---- the simple marking ---------------------------------------------------------------------- */

/* Finds the path once more. Whether there was nothing but locks to wait for. */
static bool find_path(const struct trace *trace, struct path_result *result)
{
    struct sync_events *walk = sync_events__start(trace);
    struct path *path = path__start(trace, walk, false);
    struct sync_event sync_event;
    bool only_locks = true;
    while (sync_events__next(walk, &sync_event))
        path__take(path, &sync_event);
    for (uint32_t i = 0; i < sync_events__objects(walk); i++)
        only_locks &= sync_events__object(walk, i)->kind == CLASS_LOCK;
    path__finish(path, result);
    path__free(path);
    sync_events__free(walk);
    return only_locks;
}

static void check_mark(struct locks_result *result, const char *what, uint64_t left, uint64_t right)
{
    locks_check__add(result, &(struct locks_check){.what = what,
                                                   .of = "the walk",
                                                   .with = "the simple marking",
                                                   .left = left,
                                                   .right = right});
}

/* Locks of which the two paths do not have the same. */
static uint64_t different_locks(const struct path_result *left, const struct path_result *right)
{
    size_t most = left->locks.count > right->locks.count ? left->locks.count : right->locks.count;
    uint64_t different = 0;
    for (size_t i = 0; i < most; i++) {
        const struct path_lock *a = VEC_AT(&left->locks, struct path_lock, i);
        const struct path_lock *b = VEC_AT(&right->locks, struct path_lock, i);
        different += i >= left->locks.count || i >= right->locks.count || a->object != b->object ||
                     a->acquisitions != b->acquisitions || a->contended != b->contended ||
                     a->wait != b->wait || a->hold != b->hold;
    }
    return different;
}

bool locks__mark(const struct trace *trace, struct locks_result *result)
{
    struct path_result path, marked;
    bool only_locks = find_path(trace, &path);
    if (only_locks) {
        path__mark(trace, &marked);
        check_mark(result, "start of the critical path", path.start, marked.start);
        check_mark(result, "end of the critical path", path.end, marked.end);
        check_mark(result, "hand-overs on it", path.hand_overs, marked.hand_overs);
        check_mark(result, "ticks of hand-overs on it", path.hand_over, marked.hand_over);
        check_mark(result, "ticks of it in sections", path.in_sections, marked.in_sections);
        check_mark(result, "locks on it with other figures", different_locks(&path, &marked), 0);
        path_result__free(&marked);
    }
    path_result__free(&path);
    return only_locks;
}
