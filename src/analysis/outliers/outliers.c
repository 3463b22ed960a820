#include "analysis/outliers/outliers.h"

#include "analysis/analysis.h"
#include "analysis/callsite/rules.h"
#include "analysis/outliers/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What callers see, and what it stands on. */
struct owned_stand_out {
    struct stand_out shown;
    struct survey survey; /* names are its table's */
    const char *pattern;  /* of threads; while it walks */
    size_t threads;
};

/* ---- likes ----------------------------------------------------------------------------------- */

struct likes *likes__at(struct vec *likes, size_t index)
{
    return VEC_REACH(likes, struct likes, index);
}

static struct recent_kind *recent_of(const struct survey *survey, const uint32_t key[3])
{
    uint32_t mixed = (key[0] * 0x9e3779b1u + key[1]) * 0x85ebca6bu + key[2] * 0xc2b2ae35u;
    return &survey->recent[mixed >> 22 & (RECENT_KINDS - 1)];
}

struct likes *survey__kind(struct survey *survey, const uint32_t key[3])
{
    struct recent_kind *recent = recent_of(survey, key);
    if (!recent->kind_and_1 || memcmp(recent->key, key, sizeof recent->key) != 0) {
        uint64_t kind =
            survey->kinds.count < KINDS_MAX
                ? map__put(&survey->kind_numbers, key, sizeof recent->key, survey->kinds.count)
                : map__get(&survey->kind_numbers, key, sizeof recent->key);
        if (kind == MAP_ABSENT)
            return NULL;
        memcpy(recent->key, key, sizeof recent->key);
        recent->kind_and_1 = (uint32_t)kind + 1;
    }
    return likes__at(&survey->kinds, recent->kind_and_1 - 1);
}

/* Programs without order have a shape for nearly every occurrence: these get no room. */
#define SHAPE_TIMES_MIN 4u

struct likes *survey__shape(struct survey *survey, uint32_t shape)
{
    uint32_t *index = VEC_REACH(&survey->shape_likes, uint32_t, shape);
    bool is_new = !*index && !survey->found &&
                  shapes__get(survey->shapes, shape)->time.count >= SHAPE_TIMES_MIN;
    if (is_new)
        *index = (uint32_t)survey->whole_of_shape.count + 1;
    return *index ? likes__at(&survey->whole_of_shape, *index - 1) : NULL;
}

static void set_limits(struct vec *likes)
{
    VEC_EACH (one, likes, struct likes) {
        one->limits = spread__limits(&one->spread);
        spread__free(&one->spread);
    }
}

static void free_likes(struct vec *likes)
{
    VEC_EACH (one, likes, struct likes)
        spread__free(&one->spread);
    vec__free(likes);
}

/* ---- points ---------------------------------------------------------------------------------- */

static int by_loss(const void *left, const void *right)
{
    const struct found_point *a = left, *b = right;
    return ORDER(b->lost, a->lost) ?: ORDER(a->start, b->start);
}

static int by_reason_and_loss(const void *left, const void *right)
{
    const struct found_point *a = left, *b = right;
    int order = (a->reason == POINT_RARE) - (b->reason == POINT_RARE);
    return order ?: by_loss(left, right);
}

static void cut(struct survey *survey)
{
    struct vec *points = &survey->points;
    if (points->count <= survey->limit)
        return;
    qsort(points->items, points->count, sizeof(struct found_point), by_loss);
    survey->limit_floor = VEC_AT(points, struct found_point, survey->limit - 1)->lost;
    survey->found->left_out += points->count - survey->limit;
    points->count = survey->limit;
}

struct found_point *survey__add_point(struct survey *survey, const struct found_point *point)
{
    struct vec *points = &survey->points;
    if (point->lost < survey->limit_floor) {
        survey->found->left_out++;
        return NULL;
    }
    if (points->count >= 2 * survey->limit)
        cut(survey);
    return vec__push(points, point);
}

uint32_t survey__path(struct survey *survey, uint32_t outer, uint32_t place)
{
    struct vec *paths = &survey->found->paths;
    const struct point_path path = {outer, place};
    uint64_t number = map__put(&survey->path_numbers, &path, sizeof path, paths->count);
    if (number == paths->count)
        vec__push(paths, &path);
    return (uint32_t)number;
}

/* ---- the whole trace ------------------------------------------------------------------------- */

static void start(struct owned_stand_out *owned, const struct trace *trace, size_t limit)
{
    struct survey *survey = &owned->survey;
    double ticks_a_ns = 0x1p30 / ((double)trace__ns(trace, 1u << 30) + 1e-9);
    class_table__start(&survey->table, trace, NULL);
    survey->shapes = shapes__new();
    survey->recent = memory__zeroed(RECENT_KINDS, sizeof *survey->recent);
    survey->kinds = VEC_OF(struct likes);
    survey->pieces_of_place = VEC_OF(struct likes);
    survey->whole_of_place = VEC_OF(struct likes);
    survey->whole_of_shape = VEC_OF(struct likes);
    survey->shape_likes = VEC_OF(uint32_t);
    survey->floor = (uint64_t)(STAND_OUT_FLOOR_NS * ticks_a_ns);
    survey->rare_floor = (uint64_t)(STAND_OUT_RARE_NS * ticks_a_ns);
    survey->limit = limit;
    owned->threads = trace__threads(trace)->count;
    survey->points = VEC_OF(struct found_point);
    owned->shown.points = VEC_OF(struct point);
    owned->shown.paths = VEC_OF(struct point_path);
    owned->shown.places = VEC_OF(struct class_definition);
    owned->shown.kept = memory__zeroed(owned->threads, sizeof *owned->shown.kept);
    for (size_t i = 0; i < owned->threads; i++)
        owned->shown.kept[i] = VEC_OF(struct kept_range);
}

/* What the walks need and the result does not. */
static void free_survey(struct survey *survey)
{
    shapes__free(survey->shapes);
    free(survey->recent);
    map__free(&survey->kind_numbers);
    map__free(&survey->path_numbers);
    free_likes(&survey->kinds);
    free_likes(&survey->pieces_of_place);
    free_likes(&survey->whole_of_place);
    free_likes(&survey->whole_of_shape);
    vec__free(&survey->shape_likes);
    vec__free(&survey->points);
}

/* What its first class is, without what tells classes of the place apart. */
static void describe(struct vec *places, const struct class_entry *entry)
{
    struct class_definition *place = VEC_REACH(places, struct class_definition, entry->place);
    if (place->at.function)
        return;
    *place = entry->what;
    place->has_object = false;
    place->object = 0;
    place->keys = VEC_OF(struct profile_key);
}

static struct point in_ns(const struct trace *trace, const struct found_point *found)
{
    struct point point = {
        .reason = found->reason,
        .thread = found->thread,
        .path = found->path,
        .previous = found->previous,
        .next = found->next,
        .start_ns = trace__since_start_ns(trace, found->start),
        .end_ns = trace__since_start_ns(trace, found->end),
        .took_ns = trace__ns(trace, found->took),
        .usual_ns = found->reason == POINT_RARE ? UINT64_MAX : trace__ns(trace, found->usual),
        .lost_ns = trace__ns(trace, found->lost),
    };
    for (unsigned i = 0; i < COMPONENTS; i++)
        point.component_ns[i] = trace__ns(trace, found->components[i]);
    return point;
}

static void finish(struct owned_stand_out *owned)
{
    struct stand_out *found = &owned->shown;
    cut(&owned->survey);
    vec__sort(&owned->survey.points, by_reason_and_loss);
    VEC_EACH (point, &owned->survey.points, struct found_point)
        *(struct point *)vec__push(&found->points, NULL) = in_ns(owned->survey.table.trace, point);
    VEC_EACH (entry, &owned->survey.table.entries, struct class_entry *)
        if (*entry)
            describe(&found->places, *entry);
    for (size_t i = 0; i < owned->threads; i++) {
        kept__join(&found->kept[i]);
        VEC_EACH (range, &found->kept[i], const struct kept_range)
            found->kept_events += range->last - range->first + 1;
    }
}

static bool is_asked_for(const struct vec *threads, uint32_t thread, const char *pattern)
{
    return !pattern || rule__is_thread(pattern, VEC_AT(threads, struct trace_thread, thread));
}

static void *walk_thread(void *self, unsigned lane, uint32_t thread)
{
    struct owned_stand_out *owned = self;
    struct survey *survey = &owned->survey;
    (void)lane;
    if (survey->found && !is_asked_for(trace__threads(survey->table.trace), thread, owned->pattern))
        return NULL;
    return survey__thread(survey, thread);
}

static void join_thread(void *self, uint32_t thread, void *part)
{
    (void)self, (void)thread;
    survey__end(part);
}

/* What is usual is that of all threads. */
static void *start_usual(struct run *run)
{
    const struct stand_out_options *options = run__options(run, &outliers_analysis);
    const char *pattern = options ? options->pattern : NULL;
    run->code = trace__is_aggregated(run->trace)
                    ? error__set(&run->error, -ENOTSUP,
                                 "the run was recorded with --aggregate, which keeps no single "
                                 "occurrences; record it without to see which stand out")
                    : rule__find_thread(pattern, run->trace, &run->error);
    if (run->code < 0)
        return NULL;
    struct owned_stand_out *owned = memory__zeroed(1, sizeof *owned);
    owned->pattern = pattern;
    start(owned, run->trace, options ? options->limit : STAND_OUT_LIMIT);
    return owned;
}

static void free_found(void *result)
{
    stand_out__free(result);
}

static const struct analysis usual_analysis = {.name = "what is usual",
                                               .walk = WALK_IN_ORDER,
                                               .start = start_usual,
                                               .thread = walk_thread,
                                               .event = survey__event,
                                               .join = join_thread,
                                               .free = free_found};

static void *start_finding(struct run *run)
{
    struct owned_stand_out *owned = run__take(run, &usual_analysis);
    struct survey *survey = &owned->survey;
    set_limits(&survey->kinds);
    set_limits(&survey->pieces_of_place);
    set_limits(&survey->whole_of_place);
    set_limits(&survey->whole_of_shape);
    survey->found = &owned->shown;
    vec__push(&owned->shown.paths, &(struct point_path){0, STAND_OUT_THREAD});
    return owned;
}

static void *finish_finding(void *self)
{
    struct owned_stand_out *owned = self;
    finish(owned);
    free_survey(&owned->survey);
    return &owned->shown;
}

const struct analysis outliers_analysis = {
    .name = "outliers",
    .after = (const struct analysis *const[]){&usual_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start_finding,
    .thread = walk_thread,
    .event = survey__event,
    .join = join_thread,
    .finish = finish_finding,
    .free = free_found};

void stand_out__free(struct stand_out *found)
{
    if (!found)
        return;
    struct owned_stand_out *owned = (struct owned_stand_out *)found;
    for (size_t i = 0; i < owned->threads; i++)
        vec__free(&found->kept[i]);
    free(found->kept);
    vec__free(&found->points);
    vec__free(&found->paths);
    vec__free(&found->places);
    class_table__free(&owned->survey.table);
    free(owned);
}
