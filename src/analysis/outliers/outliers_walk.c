#include "analysis/events/time_off_cpu.h"
#include "analysis/outliers/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define NO_PATH UINT32_MAX

/* An occurrence that is open, or the thread outside of all. */
struct outlier_level {
    uint32_t place;
    uint32_t path;            /* NO_PATH: not known yet */
    enum component component; /* of what no record of the kernel tells */
    bool is_join;             /* the time of another thread: never a point */
    struct watched_event enter;
    uint32_t previous;                 /* in it, or STAND_OUT_NOTHING */
    struct kept_range previous_events; /* its enter and its leave */
    uint64_t lost;                     /* by what stands out in it. Ticks */
    bool is_kept;
};

struct survey_walk {
    struct shape_watcher watcher; /* first: the walk gives this */
    struct survey *survey;
    struct thread_shape *shape;
    uint32_t thread;
    struct vec levels;         /* struct outlier_level: the thread, then the open spans */
    struct watched_event edge; /* the enter or leave before: the piece's beginning */
    uint64_t away[COMPONENTS]; /* what the kernel told of the piece */
    struct found_point *last;  /* a piece of which the kernel may still tell, or NULL */
    enum component last_component;
};

static struct outlier_level *top(const struct survey_walk *walk)
{
    return VEC_AT(&walk->levels, struct outlier_level, walk->levels.count - 1);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static void keep(const struct survey_walk *walk, uint64_t first, uint64_t last)
{
    vec__push(&walk->survey->found->kept[walk->thread], &(struct kept_range){first, last});
}

/* An occurrence's enter and leave. */
static void keep_edges(const struct survey_walk *walk, struct kept_range events)
{
    keep(walk, events.first, events.first);
    keep(walk, events.last, events.last);
}

#define KEPT_OF_PIECE 8u /* records in it, at its beginning and at its end */

/* The piece, and the occurrences on both sides; of the next one is_kept must be set. */
static void keep_piece(const struct survey_walk *walk, struct outlier_level *level)
{
    uint64_t first = walk->edge.number, last = walk->watcher.now.number;
    if (last - first > 2 * KEPT_OF_PIECE) {
        keep(walk, first, first + KEPT_OF_PIECE);
        keep(walk, last - KEPT_OF_PIECE, last);
    } else {
        keep(walk, first, last);
    }
    if (level->previous != STAND_OUT_NOTHING)
        keep_edges(walk, level->previous_events);
    level->is_kept = true;
}

/* ---- points ---------------------------------------------------------------------------------- */

static uint32_t path_of(const struct survey_walk *walk)
{
    size_t known = walk->levels.count - 1;
    while (VEC_AT(&walk->levels, struct outlier_level, known)->path == NO_PATH)
        known--; /* the thread's is always known */
    while (++known < walk->levels.count) {
        struct outlier_level *level = VEC_AT(&walk->levels, struct outlier_level, known);
        level->path = survey__path(walk->survey, level[-1].path, level->place);
    }
    return top(walk)->path;
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* What the kernel told of the piece, the rest to what it is in. */
static void divide(struct found_point *point, const uint64_t away[COMPONENTS], enum component rest)
{
    uint64_t left = point->took;
    for (unsigned i = 0; i < COMPONENTS; i++)
        point->components[i] = take(&left, away[i]);
    point->components[rest] += left;
}

static bool is_above(const struct spread_limits *limits, uint64_t took, uint64_t floor)
{
    return took >= limits->bound && took - limits->usual >= floor;
}

#define LIKES_OF_PLACE_MIN 16u /* kinds of pieces differ more than those of one kind */

/* False: it does not stand out. */
static bool judge(const struct survey *survey, const struct likes *kind, const struct likes *others,
                  struct found_point *point)
{
    if (kind->limits.count >= SPREAD_MIN) {
        point->reason = POINT_LONG;
        point->usual = kind->limits.usual;
        point->lost = point->took - point->usual;
        return is_above(&kind->limits, point->took, survey->floor);
    }
    point->reason = POINT_RARE;
    point->lost = point->took;
    return point->took >= survey->rare_floor &&
           (others->limits.count < LIKES_OF_PLACE_MIN || point->took >= others->limits.bound);
}

/* Returns whether it is a point. */
static bool judge_piece(struct survey_walk *walk, struct outlier_level *level, uint32_t next,
                        uint64_t took, const struct likes *kind, const struct likes *others)
{
    struct found_point point = {.thread = walk->thread,
                                .previous = level->previous,
                                .next = next,
                                .start = walk->edge.tick,
                                .end = walk->watcher.now.tick,
                                .took = took};
    if (!judge(walk->survey, kind, others, &point))
        return false;
    level->lost += point.lost;
    if (level->is_join)
        return false;
    point.path = path_of(walk);
    divide(&point, walk->away, level->component);
    walk->last = survey__add_point(walk->survey, &point);
    walk->last_component = level->component;
    if (walk->last)
        keep_piece(walk, level);
    return walk->last;
}

/* An occurrence that holds others and has ended. */
static void judge_whole(struct survey_walk *walk, struct outlier_level *level,
                        const struct fold_occurrence *occurrence, const struct likes *shape,
                        const struct likes *place)
{
    const struct spread_limits *limits =
        shape && shape->limits.count >= LIKES_OF_PLACE_MIN ? &shape->limits : &place->limits;
    uint64_t duration = occurrence->duration;
    uint64_t rest = duration > level->lost ? duration - level->lost : 0;
    if (limits->count < LIKES_OF_PLACE_MIN || !is_above(limits, rest, walk->survey->floor))
        return;
    struct found_point point = {.reason = POINT_WHOLE,
                                .thread = walk->thread,
                                .path = path_of(walk),
                                .previous = STAND_OUT_NOTHING,
                                .next = STAND_OUT_NOTHING,
                                .start = level->enter.tick,
                                .end = walk->watcher.now.tick,
                                .took = duration,
                                .usual = limits->usual,
                                .lost = rest - limits->usual};
    for (unsigned i = 0; i < COMPONENTS; i++)
        point.components[i] = occurrence->components[i];
    level->lost += point.lost;
    walk->last = NULL;
    level->is_kept |= survey__add_point(walk->survey, &point) != NULL;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* The piece between the edge before and this one ends, within the innermost level. Returns whether
 * it is a point. */
static bool end_piece(struct survey_walk *walk, uint32_t next)
{
    struct survey *survey = walk->survey;
    struct outlier_level *level = top(walk);
    uint64_t before = walk->edge.own_time, now = walk->watcher.now.own_time;
    uint64_t took = now > before ? now - before : 0;
    struct likes *kind =
        survey__kind(survey, (const uint32_t[3]){level->place, level->previous, next});
    struct likes *others = likes__at(&survey->pieces_of_place, level->place + 1);
    bool is_point = false;
    if (survey->found) {
        is_point = judge_piece(walk, level, next, took, kind ? kind : others, others);
    } else {
        if (kind)
            spread__add(&kind->spread, took);
        spread__add(&others->spread, took);
    }
    return is_point;
}

static void pass_edge(struct survey_walk *walk)
{
    walk->edge = walk->watcher.now;
    for (unsigned i = 0; i < COMPONENTS; i++)
        walk->away[i] = 0;
}

/* What its end was not told of leaves what was in it to what is around it. */
static void drop_to(struct survey_walk *walk, size_t count)
{
    while (walk->levels.count > count) {
        const struct outlier_level inner = *top(walk);
        walk->levels.count--;
        top(walk)->lost += inner.lost;
        top(walk)->is_kept |= inner.is_kept;
        if (inner.previous != STAND_OUT_NOTHING) {
            top(walk)->previous = inner.previous;
            top(walk)->previous_events = inner.previous_events;
        }
    }
}

static void open_level(struct survey_walk *walk, const struct class_entry *entry)
{
    struct outlier_level level = {.place = entry->place,
                                  .path = NO_PATH,
                                  .component = entry->fold.component,
                                  .is_join = entry->what.at.kind == CLASS_JOIN,
                                  .enter = walk->watcher.now,
                                  .previous = STAND_OUT_NOTHING};
    level.is_kept = end_piece(walk, level.place);
    vec__push(&walk->levels, &level);
    pass_edge(walk);
}

static void opened(struct shape_watcher *watcher, struct class_entry *entry, uint32_t depth)
{
    struct survey_walk *walk = (struct survey_walk *)watcher;
    drop_to(walk, depth + 1);
    open_level(walk, entry);
}

static void end_whole(struct survey_walk *walk, const struct fold_occurrence *occurrence,
                      uint32_t shape_number)
{
    struct survey *survey = walk->survey;
    struct outlier_level *level = top(walk);
    struct likes *shape = survey__shape(survey, shape_number);
    struct likes *place = likes__at(&survey->whole_of_place, level->place);
    if (survey->found) {
        judge_whole(walk, level, occurrence, shape, place);
    } else {
        if (shape)
            spread__add(&shape->spread, occurrence->duration);
        spread__add(&place->spread, occurrence->duration);
    }
}

static void close_level(struct survey_walk *walk)
{
    const struct outlier_level ended = *top(walk);
    const struct kept_range events = {ended.enter.number, walk->watcher.now.number};
    if (ended.is_kept)
        keep_edges(walk, events);
    drop_to(walk, walk->levels.count - 1);
    top(walk)->previous = ended.place;
    top(walk)->previous_events = events;
}

static void ended(struct shape_watcher *watcher, struct class_entry *entry,
                  const struct fold_occurrence *occurrence, uint32_t shape)
{
    struct survey_walk *walk = (struct survey_walk *)watcher;
    drop_to(walk, occurrence->depth + 2);
    if (walk->levels.count == occurrence->depth + 2 && top(walk)->place != entry->place)
        drop_to(walk, occurrence->depth + 1);       /* left open where events were lost */
    if (walk->levels.count < occurrence->depth + 2) /* had at once: nobody told of its enter */
        open_level(walk, entry);
    end_piece(walk, STAND_OUT_NOTHING);
    if (top(walk)->previous != STAND_OUT_NOTHING)
        end_whole(walk, occurrence, shape);
    close_level(walk);
    pass_edge(walk);
}

/* ---- what the kernel tells ------------------------------------------------------------------- */

/* A part of the piece before, when it began there, else of this one. */
static void tell_away(struct survey_walk *walk, uint64_t begin, enum component component,
                      uint64_t ticks)
{
    struct found_point *last = walk->last;
    if (begin >= walk->edge.tick)
        walk->away[component] += ticks;
    else if (last && begin >= last->start && begin < last->end)
        last->components[component] += take(&last->components[walk->last_component], ticks);
}

/* What a known wait waits for, its kind tells. */
static void off_cpu(struct survey_walk *walk, const struct off_cpu *off)
{
    bool is_before = off->begin < walk->edge.tick;
    enum component within = is_before ? walk->last_component : top(walk)->component;
    tell_away(walk, off->begin, COMPONENT_RUNNABLE, off->end - off->runnable);
    if (off->why == COMPONENT_PAGE_FAULT || within == COMPONENT_RUNNING)
        tell_away(walk, off->begin, off->why, off->runnable - off->begin);
}

static void kernel(struct shape_watcher *watcher, const struct event *event)
{
    const struct off_cpu off = off_cpu__of(event);
    if (off.type != OFF_CPU_NOTHING)
        off_cpu((struct survey_walk *)watcher, &off);
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void end_thread(struct survey_walk *walk)
{
    struct survey *survey = walk->survey;
    uint64_t events = walk->watcher.now.number;
    drop_to(walk, 1);
    end_piece(walk, STAND_OUT_NOTHING);
    if (!survey->found)
        return;
    survey->found->events += events;
    VEC_EACH (range, &survey->found->kept[walk->thread], struct kept_range)
        if (range->last >= events) /* ended with the thread, not by an event */
            range->last = events - (events > 0);
}

void *survey__thread(struct survey *survey, uint32_t thread)
{
    const struct trace_thread *traced = trace__thread_at(survey->table.trace, thread);
    const struct outlier_level outside = {
        .place = STAND_OUT_THREAD, .component = COMPONENT_RUNNING, .previous = STAND_OUT_NOTHING};
    struct survey_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct survey_walk){
        .watcher = {.occurrence = ended, .opened = opened, .kernel = kernel},
        .survey = survey,
        .thread = thread,
        .levels = VEC_OF(struct outlier_level),
        .edge = {.tick = traced->start_tick, .own_time = traced->start_tick},
    };
    vec__push(&walk->levels, &outside);
    walk->shape = thread_shape__start(&survey->table, survey->shapes, thread, &walk->watcher);
    return walk;
}

void survey__event(void *part, const struct event *event)
{
    thread_shape__event(((struct survey_walk *)part)->shape, event);
}

void survey__end(void *part)
{
    struct survey_walk *walk = part;
    thread_shape__end(walk->shape);
    end_thread(walk);
    vec__free(&walk->levels);
    free(walk);
}
