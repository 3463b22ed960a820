#include "analysis/critical_path/path.h"

#include "analysis/critical_path/internal.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CUTS_KEPT 2u /* of an object: a wait is ended by the last one; barriers: two rounds */

/* A place at which a thread's chain was closed, and from which another thread may go on. It holds
 * the branch. */
struct path_cut {
    uint32_t thread;
    uint64_t tick;
    uint64_t round; /* barriers */
    struct path_branch *branch;
};

/* A lock that a thread has. */
struct path_section {
    uint32_t object, weight;
    bool contended;
    uint64_t since, wait;
    uint64_t sync_event; /* number of its acquisition */
};

struct path_thread {
    struct path_branch *open; /* NULL: it has not begun, or has ended */
    uint64_t from;            /* what is later is not yet in the sums */
    uint64_t covered;         /* it has had a lock since then, when it has any */
    struct vec sections;      /* struct path_section: what it has now */
    bool waits;
    uint32_t waits_at;    /* object */
    struct vec creations; /* struct path_cut */
    bool has_created;     /* a thread that has begun: it tells of it next */
    bool came;            /* the open piece is its first one, which came to it like this: */
    struct path_piece piece;
};

/* Of an object; the last cuts are kept while somebody waits there. */
struct path_object {
    uint64_t waiting;
    struct vec cuts; /* struct path_cut */
};

/* The thread that ended last until now. */
struct path_end {
    struct path_branch *branch; /* NULL: none has ended yet */
    uint64_t tick;
    bool is_main;
};

struct path {
    const struct trace *trace;
    const struct sync_events *walk;
    struct branch_tree tree;
    bool keep_pieces;
    struct path_thread *threads;
    uint32_t thread_count;
    uint32_t main;        /* the first thread that began; SYNC_EVENT_NOBODY: none did */
    uint64_t not_begun;   /* threads */
    struct vec objects;   /* struct path_object */
    uint64_t joining;     /* threads that wait for another one's end */
    struct vec ended;     /* struct path_cut: since somebody has been joining */
    struct path_end end;  /* of those that ended until now */
    uint64_t sync_events; /* taken */
};

struct path *path__start(const struct trace *trace, const struct sync_events *walk,
                         bool keep_pieces)
{
    struct path *path = memory__zeroed(1, sizeof *path);
    path->trace = trace;
    path->walk = walk;
    path->keep_pieces = keep_pieces;
    path->thread_count = (uint32_t)trace__threads(trace)->count;
    path->threads = memory__zeroed(path->thread_count, sizeof *path->threads);
    path->main = SYNC_EVENT_NOBODY;
    path->not_begun = path->thread_count;
    path->objects = VEC_OF(struct path_object);
    path->ended = VEC_OF(struct path_cut);
    for (uint32_t i = 0; i < path->thread_count; i++) {
        path->threads[i].sections = VEC_OF(struct path_section);
        path->threads[i].creations = VEC_OF(struct path_cut);
    }
    return path;
}

size_t path__branches(const struct path *path)
{
    return path->tree.live;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static void drop_cut(struct path *path, struct vec *cuts, size_t place)
{
    struct path_cut *cut = VEC_AT(cuts, struct path_cut, place);
    tree__drop(&path->tree, cut->branch);
    cuts->count--;
    memmove(cut, cut + 1, (cuts->count - place) * sizeof *cut);
}

static void drop_cuts(struct path *path, struct vec *cuts)
{
    VEC_EACH (cut, cuts, struct path_cut) {
        tree__drop(&path->tree, cut->branch);
    }
    cuts->count = 0;
}

/* The place of the last cut of that thread at that tick, or the count. */
static size_t find_cut(const struct vec *cuts, uint32_t thread, uint64_t tick)
{
    for (size_t i = cuts->count; i-- > 0;) {
        const struct path_cut *cut = VEC_AT(cuts, struct path_cut, i);
        if (cut->thread == thread && cut->tick == tick)
            return i;
    }
    return cuts->count;
}

static struct path_object *object_at(struct path *path, uint32_t object)
{
    while (path->objects.count <= object) {
        struct path_object fresh = {.cuts = VEC_OF(struct path_cut)};
        vec__push(&path->objects, &fresh);
    }
    return VEC_AT(&path->objects, struct path_object, object);
}

/* ---- a thread's chain ------------------------------------------------------------------------ */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t ticks_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

static void count_section(struct path_branch *branch, const struct path_section *section)
{
    struct path_sum *sum = path_sums__at(&branch->locks, section->object);
    sum->acquisitions += section->weight;
    sum->contended += section->contended;
    sum->wait += section->wait;
}

/* What of the section is on the open piece until tick. */
static void charge_section(struct path_thread *thread, const struct path_section *section,
                           uint64_t tick)
{
    uint64_t ticks = ticks_between(later(section->since, thread->from), tick);
    path_sums__at(&thread->open->locks, section->object)->ticks += ticks * section->weight;
}

static void charge_covered(struct path_thread *thread, uint64_t tick)
{
    thread->open->in_sections += ticks_between(later(thread->covered, thread->from), tick);
}

static void keep_piece(struct path *path, struct path_thread *thread, uint64_t tick)
{
    if (!path->keep_pieces || (!thread->came && tick == thread->from))
        return;
    thread->piece.start = thread->from;
    thread->piece.end = tick;
    branch__keep_piece(thread->open, &thread->piece, !thread->came);
    thread->came = false;
}

/* All until tick is in the open branch's sums. */
static void charge(struct path *path, uint32_t index, uint64_t tick)
{
    struct path_thread *thread = &path->threads[index];
    VEC_EACH (section, &thread->sections, struct path_section) {
        charge_section(thread, section, tick);
    }
    if (thread->sections.count)
        charge_covered(thread, tick);
    struct path_sum *sum = path_sums__at(&thread->open->threads, index);
    sum->ticks += tick - thread->from;
    sum->last = path->sync_events;
    keep_piece(path, thread, tick);
    thread->from = tick;
}

/* Closes the chain at that tick, no earlier than its last piece's start, and goes on with it. The
 * cut's branch is the caller's. */
static struct path_cut cut_chain(struct path *path, uint32_t index, uint64_t tick)
{
    struct path_thread *thread = &path->threads[index];
    struct path_cut cut = {
        .thread = index, .tick = later(tick, thread->from), .branch = thread->open};
    charge(path, index, cut.tick);
    cut.branch->closed = path->sync_events;
    thread->open = tree__branch(&path->tree, cut.branch);
    return cut;
}

/* From that tick on the thread is on a new chain: the one that was closed at the cut, whose branch
 * stays the caller's. NULL: a chain of its own. */
static void begin_chain(struct path *path, const struct sync_event *sync_event,
                        const struct path_cut *cut)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    tree__drop(&path->tree, thread->open);
    thread->open = tree__branch(&path->tree, cut ? cut->branch : NULL);
    thread->from = sync_event->tick;
    thread->came = true;
    thread->piece = (struct path_piece){
        .thread = sync_event->thread,
        .object = sync_event->object,
        .how = sync_event->type,
    };
    if (!cut) {
        thread->open->start = sync_event->tick;
        return;
    }
    thread->open->hand_overs = 1;
    thread->open->hand_over = ticks_between(cut->tick, sync_event->tick);
    VEC_EACH (section, &thread->sections, struct path_section) {
        if (!branch__was_on(cut->branch, sync_event->thread, section->sync_event))
            count_section(thread->open, section);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void thread__created(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    bool has_begun = thread->has_created;
    thread->has_created = false;
    if (has_begun || !path->not_begun)
        return;
    struct path_cut cut = cut_chain(path, sync_event->thread, sync_event->tick);
    if (thread->creations.count >= path->not_begun)
        drop_cut(path, &thread->creations, 0);
    vec__push(&thread->creations, &cut);
}

/* The thread's chain as it is now, or was not long ago: for what is told only later. */
static bool cut_now(struct path *path, uint32_t thread, uint64_t tick, uint64_t now,
                    struct path_cut *cut)
{
    if (!path->threads[thread].open)
        return false;
    *cut = cut_chain(path, thread, tick && tick < now ? tick : now);
    return true;
}

/* The creator's chain when it created the thread. Mostly the thread begins before its creator
 * tells of it. */
static bool creation_of(struct path *path, const struct sync_event *sync_event,
                        struct path_cut *cut)
{
    struct path_thread *creator = &path->threads[sync_event->by];
    size_t place = find_cut(&creator->creations, sync_event->by, sync_event->by_tick);
    if (place < creator->creations.count) {
        *cut = *VEC_AT(&creator->creations, struct path_cut, place);
        branch__hold(cut->branch);
        drop_cut(path, &creator->creations, place);
        return true;
    }
    creator->has_created = sync_event->by_tick >= sync_event->tick &&
                           trace__thread_at(path->trace, sync_event->by)->process ==
                               trace__thread_at(path->trace, sync_event->thread)->process;
    return cut_now(path, sync_event->by, sync_event->by_tick, sync_event->tick, cut);
}

static void thread__started(struct path *path, const struct sync_event *sync_event)
{
    struct path_cut cut;
    bool is_created = sync_event->by < path->thread_count && sync_event->by != sync_event->thread &&
                      creation_of(path, sync_event, &cut);
    begin_chain(path, sync_event, is_created ? &cut : NULL);
    path->not_begun -= path->not_begun > 0;
    if (path->main == SYNC_EVENT_NOBODY)
        path->main = sync_event->thread;
    if (is_created)
        tree__drop(&path->tree, cut.branch);
}

/* The program ends with the last thread that ends; of several with the main thread, or the one that
 * is told of first, which does not still wait for others. */
static bool is_better_end(const struct path_end *end, const struct path_end *than)
{
    return !than->branch || end->tick > than->tick || (end->tick == than->tick && end->is_main);
}

static void consider_end(struct path *path, const struct path_cut *cut)
{
    struct path_end end = {cut->branch, cut->tick, cut->thread == path->main};
    if (!is_better_end(&end, &path->end))
        return;
    branch__hold(end.branch);
    tree__drop(&path->tree, path->end.branch);
    path->end = end;
}

/* Threads whose end is not in the trace end late in the walk, but perhaps at an early tick. */
static void thread__ended(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    struct path_cut cut = {.thread = sync_event->thread,
                           .tick = later(sync_event->tick, thread->from),
                           .branch = thread->open};
    charge(path, cut.thread, cut.tick);
    cut.branch->closed = path->sync_events;
    thread->open = NULL;
    vec__free(&thread->sections);
    consider_end(path, &cut);
    if (path->joining)
        vec__push(&path->ended, &cut);
    else
        tree__drop(&path->tree, cut.branch);
}

/* What it was off its CPU for. If another thread ends a wait around it, none of it stays. */
static void thread__back(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    if (sync_event->how != COMPONENT_RUNNABLE && sync_event->how != COMPONENT_PAGE_FAULT)
        thread->open->blocked +=
            ticks_between(later(sync_event->since, thread->from), sync_event->tick);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static bool is_of_kind(const struct path *path, uint32_t object, enum class_kind kind)
{
    return object != SYNC_EVENT_NO_OBJECT && sync_events__object(path->walk, object)->kind == kind;
}

/* Keeps the thread's chain as it is for who waits at the object. */
static void cut_at(struct path *path, const struct sync_event *sync_event)
{
    struct path_object *object = object_at(path, sync_event->object);
    struct path_cut cut = cut_chain(path, sync_event->thread, sync_event->tick);
    cut.round = sync_event->round;
    struct path_cut *last =
        object->cuts.count ? VEC_AT(&object->cuts, struct path_cut, object->cuts.count - 1) : NULL;
    if (sync_event->type == SYNC_EVENT_WAITS && last && last->round == cut.round)
        drop_cut(path, &object->cuts, object->cuts.count - 1); /* it was not the last to arrive */
    else if (object->cuts.count == CUTS_KEPT)
        drop_cut(path, &object->cuts, 0);
    vec__push(&object->cuts, &cut);
}

static void thread__waits(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    thread->waits = true;
    thread->waits_at = sync_event->object;
    if (sync_event->object == SYNC_EVENT_NO_OBJECT) {
        path->joining++;
        return;
    }
    object_at(path, sync_event->object)->waiting++;
    if (is_of_kind(path, sync_event->object, CLASS_BARRIER))
        cut_at(path, sync_event);
}

/* The thread waits no longer. When nobody does, nobody goes on from what was kept for it. */
static void wait__ends(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    if (!thread->waits)
        return;
    thread->waits = false;
    if (thread->waits_at == SYNC_EVENT_NO_OBJECT) {
        if (--path->joining == 0)
            drop_cuts(path, &path->ended);
        return;
    }
    struct path_object *object = object_at(path, thread->waits_at);
    if (--object->waiting == 0)
        drop_cuts(path, &object->cuts);
}

/* The chain of who ended the wait, as it was then; a thread whose end is not in the trace is joined
 * as it is. */
static bool waker_of(struct path *path, const struct sync_event *sync_event, struct path_cut *cut)
{
    bool is_join = sync_event->object == SYNC_EVENT_NO_OBJECT;
    const struct vec *cuts = is_join ? &path->ended : &object_at(path, sync_event->object)->cuts;
    size_t place = find_cut(cuts, sync_event->by, sync_event->by_tick);
    if (place == cuts->count)
        return is_join && cut_now(path, sync_event->by, sync_event->by_tick, sync_event->tick, cut);
    *cut = *VEC_AT(cuts, struct path_cut, place);
    branch__hold(cut->branch);
    return true;
}

/* Goes over to the chain of who ended the wait, if anybody did. */
static void follow(struct path *path, const struct sync_event *sync_event)
{
    struct path_cut cut;
    if (!sync_event->since || sync_event->by >= path->thread_count ||
        sync_event->by == sync_event->thread || sync_event->by_tick <= sync_event->since ||
        !waker_of(path, sync_event, &cut))
        return;
    begin_chain(path, sync_event, &cut);
    tree__drop(&path->tree, cut.branch);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void end_section(struct path_thread *thread, size_t place, uint64_t tick)
{
    struct path_section *section = VEC_AT(&thread->sections, struct path_section, place);
    charge_section(thread, section, tick);
    thread->sections.count--;
    memmove(section, section + 1, (thread->sections.count - place) * sizeof *section);
    if (!thread->sections.count)
        charge_covered(thread, tick);
}

static bool is_held(const struct path *path, uint32_t thread, uint32_t object)
{
    VEC_EACH (held, sync_events__held(path->walk, thread), struct held_lock) {
        if (held->object == object)
            return true;
    }
    return false;
}

/* Where events were lost, releases may be among them. */
static void end_lost_sections(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    if (thread->sections.count == sync_event->held)
        return;
    for (size_t i = thread->sections.count; i-- > 0;) {
        if (!is_held(path, sync_event->thread,
                     VEC_AT(&thread->sections, struct path_section, i)->object))
            end_section(thread, i, sync_event->tick);
    }
}

static void lock__acquired(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    struct path_section section = {
        .object = sync_event->object,
        .weight = sync_event->weight,
        .contended = sync_event->since != 0,
        .since = sync_event->tick,
        .sync_event = path->sync_events,
    };
    end_lost_sections(path, sync_event);
    if (section.contended)
        section.wait = ticks_between(sync_event->since + sync_event->paused, sync_event->tick);
    count_section(thread->open, &section);
    if (is_of_kind(path, sync_event->object, CLASS_SEMAPHORE))
        return; /* nobody has it */
    if (!thread->sections.count)
        thread->covered = sync_event->tick;
    vec__push(&thread->sections, &section);
}

static void section__released(struct path *path, const struct sync_event *sync_event)
{
    struct path_thread *thread = &path->threads[sync_event->thread];
    for (size_t i = thread->sections.count; i-- > 0;) {
        if (VEC_AT(&thread->sections, struct path_section, i)->object != sync_event->object)
            continue;
        end_section(thread, i, sync_event->tick);
        break;
    }
    if (object_at(path, sync_event->object)->waiting)
        cut_at(path, sync_event);
}

/* ---- the walk -------------------------------------------------------------------------------- */

void path__take(struct path *path, const struct sync_event *sync_event)
{
    path->sync_events++;
    if (sync_event->type != SYNC_EVENT_STARTED && !path->threads[sync_event->thread].open)
        return;
    switch (sync_event->type) {
    case SYNC_EVENT_STARTED:
        thread__started(path, sync_event);
        break;
    case SYNC_EVENT_ENDED:
        thread__ended(path, sync_event);
        break;
    case SYNC_EVENT_CREATED:
        thread__created(path, sync_event);
        break;
    case SYNC_EVENT_WAITS:
        thread__waits(path, sync_event);
        break;
    case SYNC_EVENT_ACQUIRED:
        follow(path, sync_event);
        wait__ends(path, sync_event);
        lock__acquired(path, sync_event);
        break;
    case SYNC_EVENT_RELEASED:
        section__released(path, sync_event);
        break;
    case SYNC_EVENT_WOKEN:
    case SYNC_EVENT_LEFT:
    case SYNC_EVENT_JOINED:
        follow(path, sync_event);
        wait__ends(path, sync_event);
        break;
    case SYNC_EVENT_GAVE_UP:
        wait__ends(path, sync_event);
        break;
    case SYNC_EVENT_SIGNALLED:
        if (object_at(path, sync_event->object)->waiting)
            cut_at(path, sync_event);
        break;
    case SYNC_EVENT_BACK:
        thread__back(path, sync_event);
        break;
    default:
        break;
    }
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_object(const void *left, const void *right)
{
    const struct path_lock *a = left, *b = right;
    return ORDER(a->object, b->object);
}

static void tell_locks(const struct path_sums *locks, struct vec *rows)
{
    for (uint32_t i = 0; i < locks->capacity; i++) {
        const struct path_sum *sum = &locks->slots[i];
        if (sum->key == PATH_NO_KEY)
            continue;
        struct path_lock *row = vec__push(rows, NULL);
        *row = (struct path_lock){
            .object = sum->key,
            .acquisitions = sum->acquisitions,
            .contended = sum->contended,
            .wait = sum->wait,
            .hold = sum->ticks,
        };
    }
    vec__sort(rows, by_object);
}

static void tell_threads(const struct path_sums *sums, struct vec *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct path_sum *sum = path_sums__find(sums, i);
        vec__push(threads, sum ? &sum->ticks : NULL);
    }
}

static void turn_round(struct vec *pieces)
{
    for (size_t i = 0; i < pieces->count / 2; i++) {
        struct path_piece *first = VEC_AT(pieces, struct path_piece, i);
        struct path_piece *last = VEC_AT(pieces, struct path_piece, pieces->count - 1 - i);
        struct path_piece piece = *first;
        *first = *last;
        *last = piece;
    }
}

/* From the last one back: one that goes on is one with the piece before. */
static void tell_pieces(const struct kept_piece *last, struct vec *pieces)
{
    bool joins = false;
    for (; last; last = last->before) {
        if (joins) {
            struct path_piece *whole = VEC_AT(pieces, struct path_piece, pieces->count - 1);
            uint64_t end = whole->end;
            *whole = last->piece;
            whole->end = end;
        } else {
            vec__push(pieces, &last->piece);
        }
        joins = last->goes_on;
    }
    turn_round(pieces);
}

void path__finish(struct path *path, struct path_result *result)
{
    *result = (struct path_result){
        .locks = VEC_OF(struct path_lock),
        .threads = VEC_OF(uint64_t),
        .pieces = VEC_OF(struct path_piece),
    };
    struct path_sums locks = {0}, threads = {0};
    for (const struct path_branch *branch = path->end.branch; branch; branch = branch->parent) {
        path_sums__add(&locks, &branch->locks);
        path_sums__add(&threads, &branch->threads);
        result->hand_over += branch->hand_over;
        result->hand_overs += branch->hand_overs;
        result->in_sections += branch->in_sections;
        result->blocked += branch->blocked;
    }
    if (path->end.branch) {
        result->start = path->end.branch->start;
        result->end = path->end.tick;
        tell_pieces(path->end.branch->last_piece, &result->pieces);
    }
    tell_locks(&locks, &result->locks);
    tell_threads(&threads, &result->threads, path->thread_count);
    path_sums__free(&locks);
    path_sums__free(&threads);
}

void path_result__free(struct path_result *result)
{
    vec__free(&result->locks);
    vec__free(&result->threads);
    vec__free(&result->pieces);
}

void path__free(struct path *path)
{
    if (!path)
        return;
    VEC_EACH (object, &path->objects, struct path_object) {
        drop_cuts(path, &object->cuts);
        vec__free(&object->cuts);
    }
    for (uint32_t i = 0; i < path->thread_count; i++) {
        drop_cuts(path, &path->threads[i].creations);
        vec__free(&path->threads[i].creations);
        vec__free(&path->threads[i].sections);
        tree__drop(&path->tree, path->threads[i].open);
    }
    drop_cuts(path, &path->ended);
    vec__free(&path->ended);
    vec__free(&path->objects);
    tree__drop(&path->tree, path->end.branch);
    tree__free(&path->tree);
    free(path->threads);
    free(path);
}
