/* Points of interest: in random programs every piece that was made long is found and kept, and
 * nearly all else is left out. */
#include "analysis/analysis.h"
#include "analysis/outliers/outliers.h"
#include "base/map.h"
#include "scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FUNCTIONS 12
#define STEPS 4
#define THREADS_MAX 4
#define START 1000 /* tick at which the threads begin */
#define NOTHING STAND_OUT_NOTHING

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u; /* splitmix64 (Steele, Lea, Flood) */
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return next_random(state) % limit;
}

static double share(uint64_t *state)
{
    return (double)(next_random(state) >> 11) / 0x1p53;
}

static double normal(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += share(state);
    return sum - 6;
}

/* ---- a program ------------------------------------------------------------------------------- */

/* Calls of one function in a row. */
struct step {
    uint32_t callee; /* a later function */
    uint32_t turns_min, turns_max;
    double chance;
};

struct program {
    uint64_t seed;
    struct step steps[FUNCTIONS][STEPS];
    uint32_t step_count[FUNCTIONS];
    bool is_lock[FUNCTIONS]; /* of those without steps */
    uint32_t threads;
    uint64_t events_a_thread;
};

static struct program make_program(uint64_t seed)
{
    struct program program = {.seed = seed};
    uint64_t chance = seed * 3 + 1;
    double size[FUNCTIONS];
    program.threads = 1 + (uint32_t)below(&chance, THREADS_MAX);
    program.events_a_thread = 8000 + below(&chance, 12000);
    for (uint32_t f = FUNCTIONS; f-- > 0;) {
        uint32_t later = FUNCTIONS - 1 - f;
        size[f] = 2;
        program.is_lock[f] = f && below(&chance, 4) == 0;
        program.step_count[f] =
            later && !program.is_lock[f] ? (uint32_t)below(&chance, STEPS) + (f < 3) : 0;
        for (uint32_t i = 0; i < program.step_count[f]; i++) {
            struct step *step = &program.steps[f][i];
            step->callee = f + 1 + (uint32_t)below(&chance, later);
            step->chance = (double[]){1, 1, 1, 0.5, 0.03}[below(&chance, 5)];
            step->turns_min = 1 + (uint32_t)below(&chance, 8);
            step->turns_max = step->turns_min + (uint32_t)below(&chance, 4);
            if (size[step->callee] * step->turns_max > 300)
                step->turns_min = step->turns_max = 1;
            size[f] += size[step->callee] * step->turns_max;
        }
    }
    return program;
}

struct anomaly {
    uint64_t piece; /* number, in the order in which they are made */
    uint64_t kind;
    uint32_t thread;
    uint64_t start, end; /* ticks, when it is made */
};

#define ANOMALIES_MAX 24

/* One run of it: the first only counts, the second writes. */
struct play {
    const struct program *program;
    struct scene *scene; /* NULL: only counts */
    uint64_t chance;
    uint64_t now, events, pieces;
    uint32_t thread;
    struct map kinds;       /* function, before, behind -> number */
    struct vec kind_counts; /* uint64_t */
    struct vec kind_of;     /* uint32_t: by piece */
    struct anomaly *anomalies;
    size_t anomaly_count, next;
};

static void put(struct play *play, uint32_t id, uint64_t first, uint64_t second, size_t words)
{
    const uint64_t payload[] = {0, first, second};
    play->events++;
    if (play->scene)
        scene__put(play->scene, play->thread, play->now, id, payload, words + 1);
}

/* ns; every kind has its own. */
static uint64_t usual_of(const struct play *play, uint32_t kind, double *slow_share)
{
    uint64_t chance = play->program->seed * 1000003 + kind;
    double usual = 200 * pow(250, share(&chance));
    *slow_share = below(&chance, 3) ? 0 : 0.1 + 0.4 * share(&chance);
    return (uint64_t)usual;
}

static uint64_t jittered(struct play *play, uint32_t kind)
{
    double slow_share, usual = (double)usual_of(play, kind, &slow_share);
    if (slow_share > 0 && share(&play->chance) < slow_share)
        usual *= 4;
    double by = normal(&play->chance);
    return (uint64_t)(kind % 2 ? usual * (1 + 0.05 * by) : usual * exp(0.2 * by));
}

/* At least three times what is usual there, where that is the slower of two usual durations. */
static uint64_t made_long(struct play *play, uint32_t kind)
{
    double slow_share, usual = (double)usual_of(play, kind, &slow_share);
    if (*VEC_AT(&play->kind_counts, uint64_t, kind) < 32)
        return 20000000; /* few or nothing to compare it with */
    if (slow_share > 0)
        usual *= 4;
    uint64_t chance = play->program->seed + play->pieces;
    double factor = 3.05 * pow(30, share(&chance));
    uint64_t took = (uint64_t)(usual * factor);
    uint64_t least = (uint64_t)(usual * 1.2) + STAND_OUT_FLOOR_NS * 9 / 8;
    return took > least ? took : least;
}

/* The time until the next event. */
static void piece(struct play *play, uint32_t within, uint32_t before, uint32_t behind)
{
    const uint32_t key[3] = {within, before, behind};
    uint32_t kind = (uint32_t)map__put(&play->kinds, key, sizeof key, play->kind_counts.count);
    if (kind == play->kind_counts.count)
        vec__push(&play->kind_counts, NULL);
    if (!play->scene) {
        (*VEC_AT(&play->kind_counts, uint64_t, kind))++;
        vec__push(&play->kind_of, &kind);
    }
    uint64_t took = jittered(play, kind);
    bool is_anomaly =
        play->next < play->anomaly_count && play->anomalies[play->next].piece == play->pieces;
    if (is_anomaly && play->scene) {
        struct anomaly *anomaly = &play->anomalies[play->next++];
        took = made_long(play, kind);
        anomaly->thread = play->thread;
        anomaly->kind = kind;
        anomaly->start = play->now;
        anomaly->end = play->now + took;
    }
    play->now += took;
    play->pieces++;
}

/* A lock that is free, mostly. */
static void take_lock(struct play *play, uint32_t f)
{
    uint64_t site = HEURT_SITE(0x9000 + f, HEURT_LOCK_MUTEX);
    bool is_free = share(&play->chance) < 0.8;
    if (is_free) {
        put(play, HEURT_EVENT_LOCK_ACQUIRED, site, 0x7000, 2);
        return;
    }
    put(play, HEURT_EVENT_LOCK_WAIT, site, 0x7000, 2);
    piece(play, f, NOTHING, NOTHING);
    put(play, HEURT_EVENT_LOCK_WAIT | 1, 0, 0, 1);
}

static void call(struct play *play, uint32_t f)
{
    const struct program *program = play->program;
    uint32_t before = NOTHING;
    if (program->is_lock[f]) {
        take_lock(play, f);
        return;
    }
    put(play, HEURT_EVENT_FUNCTIONS + 2 * f, 0, 0, 0);
    for (uint32_t i = 0; i < program->step_count[f]; i++) {
        const struct step *step = &program->steps[f][i];
        uint32_t turns =
            step->turns_min + (uint32_t)below(&play->chance, step->turns_max - step->turns_min + 1);
        if (share(&play->chance) >= step->chance)
            continue;
        for (; turns; turns--, before = step->callee) {
            piece(play, f, before, step->callee);
            call(play, step->callee);
        }
    }
    piece(play, f, before, NOTHING);
    put(play, (HEURT_EVENT_FUNCTIONS + 2 * f) | 1, 0, 0, 0);
}

/* The chances of a play do not depend on whether it writes, nor on what anomalies take. */
static void play_all(struct play *play)
{
    const struct program *program = play->program;
    for (play->thread = 0; play->thread < program->threads; play->thread++) {
        uint32_t before = NOTHING;
        uint64_t events = play->events;
        play->now = START;
        if (play->scene)
            scene__start(play->scene, play->thread, START);
        play->chance = program->seed * 77 + play->thread;
        for (; play->events - events < program->events_a_thread; before = 0) {
            piece(play, FUNCTIONS, before, 0);
            call(play, 0);
        }
        piece(play, FUNCTIONS, before, NOTHING);
        put(play, HEURT_EVENT_THREAD_END, 77, UINT64_MAX, 2);
    }
}

static void define_functions(const struct program *program, struct scene *scene)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        char name[8];
        snprintf(name, sizeof name, "f%u", f);
        if (!program->is_lock[f])
            scene__function(scene, 0, HEURT_EVENT_FUNCTIONS + 2 * f, 0x1000 + 16 * f, name, "");
    }
}

static int by_piece(const void *left, const void *right)
{
    const struct anomaly *a = left, *b = right;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

/* Anywhere, though of no kind more than one in 16. */
static size_t choose(const struct play *counted, uint64_t seed, struct anomaly *anomalies)
{
    uint64_t chance = seed * 13 + 5;
    size_t wanted = 1 + below(&chance, ANOMALIES_MAX), count = 0;
    for (size_t tries = 0; count < wanted && tries < 10 * wanted; tries++) {
        struct anomaly one = {.piece = below(&chance, counted->pieces)};
        one.kind = *VEC_AT(&counted->kind_of, uint32_t, one.piece);
        uint64_t of_kind = 1;
        bool is_new = true;
        for (size_t i = 0; i < count; i++) {
            is_new &= anomalies[i].piece != one.piece;
            of_kind += anomalies[i].kind == one.kind;
        }
        if (is_new &&
            (of_kind == 1 || of_kind * 16 <= *VEC_AT(&counted->kind_counts, uint64_t, one.kind)))
            anomalies[count++] = one;
    }
    qsort(anomalies, count, sizeof *anomalies, by_piece);
    return count;
}

static void end_play(struct play *play)
{
    map__free(&play->kinds);
    vec__free(&play->kind_counts);
    vec__free(&play->kind_of);
}

/* Writes the program's trace; with anomalies when there is room for them. Returns how many. */
static size_t record(const struct program *program, struct scene *scene, struct anomaly *anomalies)
{
    struct play play = {
        .program = program, .kind_counts = VEC_OF(uint64_t), .kind_of = VEC_OF(uint32_t)};
    play_all(&play);
    size_t count = anomalies ? choose(&play, program->seed, anomalies) : 0;
    play.scene = scene;
    play.pieces = play.events = 0;
    play.anomalies = anomalies;
    play.anomaly_count = count;
    define_functions(program, scene);
    play_all(&play);
    end_play(&play);
    assert_int_equal(play.next, count);
    return count;
}

/* ---- what is found --------------------------------------------------------------------------- */

static struct stand_out *find(struct scene *scene, size_t limit)
{
    struct error error = {""};
    struct stand_out *found = NULL;
    if (trace_writer__finish(scene->writer, 0, scene->end, &error) < 0 ||
        trace__open(scene->directory, &scene->trace, &error) < 0 ||
        run__one(scene->trace, NULL, &outliers_analysis, &(struct stand_out_options){NULL, limit},
                 (void **)&found, &error) < 0)
        fail_msg("%s", error.text);
    scene->writer = NULL;
    return found;
}

/* Sessions of tests start at tick 1000, and a tick is a ns. */
static uint64_t since_start(uint64_t tick)
{
    return tick - 1000;
}

static const struct point *point_at(const struct stand_out *found, uint32_t thread, uint64_t start,
                                    uint64_t end)
{
    VEC_EACH (point, &found->points, const struct point)
        if (point->thread == thread && point->start_ns == since_start(start) &&
            point->end_ns == since_start(end) && point->reason != POINT_WHOLE)
            return point;
    return NULL;
}

static void assert_found(const struct program *program, const struct stand_out *found,
                         const struct anomaly *anomalies, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!point_at(found, anomalies[i].thread, anomalies[i].start, anomalies[i].end))
            fail_msg("seed %lu: on thread %u the piece from %lu to %lu (kind %lu) was not found",
                     program->seed, anomalies[i].thread, anomalies[i].start, anomalies[i].end,
                     anomalies[i].kind);
}

struct open_enter {
    uint32_t id;
    bool is_kept;
};

/* Whether the enter that the event ends, if there is one, was kept; takes it off what is open. */
static bool end_span(struct vec *open, const struct event *event, bool is_kept)
{
    for (size_t i = open->count; i-- > 0;) {
        const struct open_enter enter = *VEC_AT(open, struct open_enter, i);
        bool is_it = event->id == HEURT_EVENT_UNWOUND ? enter.id >= HEURT_EVENT_FUNCTIONS
                                                      : enter.id == (event->id & ~1u);
        if (!is_it)
            continue;
        open->count = i;
        return enter.is_kept == is_kept;
    }
    return true;
}

/* Walks over the thread as an exporter does. Of an enter and its leave both are kept, or none.
 * Returns the ticks of what is kept (uint64_t). */
static struct vec walk_kept(const struct scene *scene, const struct stand_out *found,
                            uint32_t thread)
{
    struct vec kept = VEC_OF(uint64_t), open = VEC_OF(struct open_enter);
    struct kept_walk walk = {.ranges = &found->kept[thread]};
    struct trace_cursor cursor;
    struct event event;
    trace_cursor__start(&cursor, scene->trace,
                        VEC_AT(trace__threads(scene->trace), struct trace_thread, thread));
    while (trace_cursor__next(&cursor, &event)) {
        bool is_kept = kept_walk__keeps(&walk);
        if (is_kept)
            vec__push(&kept, &event.tick);
        if (event.id == HEURT_EVENT_LOST)
            open.count = 0;
        else if (event.id % 2 || event.id == HEURT_EVENT_UNWOUND)
            assert_true(end_span(&open, &event, is_kept));
        else if (event__is_span(event.id))
            vec__push(&open, &(struct open_enter){event.id, is_kept});
    }
    vec__free(&open);
    return kept;
}

static bool holds(const struct vec *ticks, uint64_t wanted)
{
    VEC_EACH (tick, ticks, const uint64_t)
        if (*tick == wanted)
            return true;
    return false;
}

static void assert_kept(const struct scene *scene, const struct stand_out *found,
                        const struct anomaly *anomalies, size_t count, uint32_t threads)
{
    uint64_t kept_events = 0;
    for (uint32_t thread = 0; thread < threads; thread++) {
        struct vec kept = walk_kept(scene, found, thread);
        for (size_t i = 0; i < count; i++)
            if (anomalies[i].thread == thread)
                assert_true(holds(&kept, anomalies[i].end) &&
                            (anomalies[i].start == START || holds(&kept, anomalies[i].start)));
        kept_events += kept.count;
        vec__free(&kept);
    }
    assert_int_equal(kept_events, found->kept_events);
}

#define SEEDS 100

static double kept_share(const struct stand_out *found)
{
    return (double)found->kept_events / (double)found->events;
}

/* Returns the share of the events that are kept. */
static double check_program(uint64_t seed)
{
    struct scene scene;
    struct anomaly anomalies[ANOMALIES_MAX];
    const struct program program = make_program(seed);
    scene__begin(&scene);
    size_t count = record(&program, &scene, anomalies);
    struct stand_out *found = find(&scene, STAND_OUT_LIMIT);
    assert_found(&program, found, anomalies, count);
    assert_kept(&scene, found, anomalies, count, program.threads);
    double kept = kept_share(found);
    stand_out__free(found);
    scene__free(&scene);
    return kept;
}

static uint64_t first_seed(void)
{
    const char *wanted = getenv("HEURT_SEED");
    uint64_t seed = wanted ? strtoull(wanted, NULL, 0) : 1;
    print_message("seeds %lu to %lu (HEURT_SEED is the first)\n", seed, seed + SEEDS - 1);
    return seed;
}

static void all_anomalies_are_found(void **state)
{
    double worst = 0, sum = 0;
    uint64_t seed = first_seed(), worst_seed = seed;
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        double kept = check_program(seed + i);
        sum += kept;
        if (kept > worst) {
            worst = kept;
            worst_seed = seed + i;
        }
    }
    print_message("kept: %.2f %% of the events, at most %.2f %% (seed %lu)\n", 100 * sum / SEEDS,
                  100 * worst, worst_seed);
    assert_true(worst <= 0.05);
}

/* Nothing was made long: what stands out does so by chance. */
static void few_stand_out_by_chance(void **state)
{
    uint64_t seed = first_seed(), points = 0, events = 0;
    (void)state;
    for (uint64_t i = 0; i < SEEDS; i++) {
        struct scene scene;
        const struct program program = make_program(seed + i);
        scene__begin(&scene);
        record(&program, &scene, NULL);
        struct stand_out *found = find(&scene, STAND_OUT_LIMIT);
        VEC_EACH (point, &found->points, const struct point)
            points += point->reason != POINT_RARE;
        events += found->events;
        stand_out__free(found);
        scene__free(&scene);
    }
    print_message("%lu points of %lu events\n", points, events);
    assert_true(points * 2000 < events);
}

/* ---- one after the other --------------------------------------------------------------------- */

#define OUTER HEURT_EVENT_FUNCTIONS
#define INNER (HEURT_EVENT_FUNCTIONS + 2)
#define CALLS 200

static void define_two(struct scene *scene)
{
    scene__function(scene, 0, OUTER, 0x1000, "outer", "");
    scene__function(scene, 0, INNER, 0x2000, "inner", "");
    scene__start(scene, 0, START);
}

/* outer() calls inner() so often, each of which takes 10 us. Returns when it is left. */
static uint64_t call_outer(struct scene *scene, uint64_t now, uint32_t turns)
{
    PUT(scene, 0, now, OUTER);
    for (now += 1000; turns; turns--, now += 11000) {
        PUT(scene, 0, now, INNER);
        PUT(scene, 0, now + 10000, INNER | 1);
    }
    PUT(scene, 0, now, OUTER | 1);
    return now;
}

static const struct point *only_point(const struct stand_out *found)
{
    assert_int_equal(found->points.count, 1);
    return found->points.items;
}

static void assert_path(const struct stand_out *found, uint32_t path, const char *expected)
{
    char text[64] = "";
    for (; path; path = VEC_AT(&found->paths, struct point_path, path)->outer) {
        char inner[64];
        uint32_t place = VEC_AT(&found->paths, struct point_path, path)->place;
        strcpy(inner, text);
        snprintf(text, sizeof text, "/%.20s%.40s",
                 VEC_AT(&found->places, struct class_definition, place)->at.function, inner);
    }
    assert_string_equal(text, expected);
}

/* Of many turns more than usual none is long: the occurrence that holds them is. */
static void more_turns(void **state)
{
    struct scene *scene = *state;
    uint64_t now = START, start = 0, end = 0;
    define_two(scene);
    for (int i = 0; i < CALLS; i++) {
        now = call_outer(scene, now + 1000, i == 77 ? 100 : 10);
        if (i == 77) {
            end = now;
            start = now - 100 * 11000 - 1000;
        }
    }
    struct stand_out *found = find(scene, STAND_OUT_LIMIT);
    const struct point *point = only_point(found);
    assert_int_equal(point->reason, POINT_WHOLE);
    assert_int_equal(point->start_ns, since_start(start));
    assert_int_equal(point->end_ns, since_start(end));
    assert_path(found, point->path, "/outer");
    assert_int_equal(found->kept_events, 2);
    stand_out__free(found);
}

/* A call of outer() that turns so often as no other. */
struct long_call {
    uint64_t start, end;
};

/* outer() turns 8 to 12 times, each 10 us with 5 %; one call in 200 3 to 30 times as often.
 */
static struct vec write_calls(struct scene *scene, uint64_t seed)
{
    struct vec calls = VEC_OF(struct long_call);
    uint64_t chance = seed, now = START;
    define_two(scene);
    for (int i = 0; i < 10 * CALLS; i++) {
        bool is_long = below(&chance, 200) == 0;
        uint64_t turns = 8 + below(&chance, 5), start = now += 1000;
        if (is_long)
            turns = (uint64_t)(12 * 3 * pow(10, share(&chance)));
        PUT(scene, 0, now, OUTER);
        for (; turns; turns--) {
            PUT(scene, 0, now += 500, INNER);
            now += (uint64_t)(10000 * (1 + 0.05 * normal(&chance)));
            PUT(scene, 0, now, INNER | 1);
        }
        PUT(scene, 0, now += 500, OUTER | 1);
        if (is_long)
            vec__push(&calls, &(struct long_call){start, now});
    }
    return calls;
}

static bool is_whole_at(const struct stand_out *found, const struct long_call *call)
{
    VEC_EACH (point, &found->points, const struct point)
        if (point->reason == POINT_WHOLE && point->start_ns == since_start(call->start) &&
            point->end_ns == since_start(call->end))
            return true;
    return false;
}

static void random_turns(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 5; seed++) {
        struct scene scene;
        scene__begin(&scene);
        struct vec calls = write_calls(&scene, seed);
        struct stand_out *found = find(&scene, STAND_OUT_LIMIT);
        assert_int_equal(found->points.count, calls.count);
        VEC_EACH (call, &calls, const struct long_call)
            if (!is_whole_at(found, call))
                fail_msg("seed %lu: the call from %lu to %lu was not found", seed, call->start,
                         call->end);
        assert_int_equal(found->kept_events, 2 * calls.count);
        vec__free(&calls);
        stand_out__free(found);
        scene__free(&scene);
    }
}

/* What explains a loss is the innermost; what was off the CPU in it is told. */
static void innermost_and_why(void **state)
{
    struct scene *scene = *state;
    uint64_t now = START, at = 0;
    define_two(scene);
    for (int i = 0; i < CALLS; i++) {
        now = call_outer(scene, now + 1000, 9) + 500;
        PUT(scene, 0, now, OUTER);
        PUT(scene, 0, now + 1000, INNER);
        if (i == 50) {
            at = now + 1000;
            now += 400000;
            PUT(scene, 0, now, HEURT_EVENT_OFF_CPU, HEURT_SITE(300000, HEURT_OFF_DISK), 20000, 0);
        }
        PUT(scene, 0, now + 11000, INNER | 1);
        PUT(scene, 0, now + 12000, OUTER | 1);
        now += 12000;
    }
    struct stand_out *found = find(scene, STAND_OUT_LIMIT);
    const struct point *point = only_point(found);
    assert_int_equal(point->reason, POINT_LONG);
    assert_int_equal(point->start_ns, since_start(at));
    assert_int_equal(point->took_ns, 410000);
    assert_in_range(point->usual_ns, 9000, 11000);
    assert_path(found, point->path, "/outer/inner");
    assert_int_equal(point->component_ns[COMPONENT_DISK], 280000);
    assert_int_equal(point->component_ns[COMPONENT_RUNNABLE], 20000);
    assert_int_equal(point->component_ns[COMPONENT_RUNNING], 110000);
    assert_int_equal(found->kept_events, 5);
    stand_out__free(found);
}

/* Of more than the limit the worst are kept, the others counted. */
static void the_worst_above_the_limit(void **state)
{
    struct scene *scene = *state;
    uint64_t now = START;
    define_two(scene);
    for (int i = 0; i < 20 * CALLS; i++) {
        now += 1000;
        PUT(scene, 0, now, INNER);
        now += i % CALLS == 9 ? 100000 + (uint64_t)i : 10000;
        PUT(scene, 0, now, INNER | 1);
    }
    struct stand_out *found = find(scene, 3);
    assert_int_equal(found->points.count, 3);
    assert_int_equal(found->left_out, 17);
    const struct point *points = found->points.items;
    for (int i = 0; i < 3; i++)
        assert_int_equal(points[i].took_ns, 100000 + (19 - i) * CALLS + 9);
    stand_out__free(found);
}

/* ---- what no program does -------------------------------------------------------------------- */

static const uint32_t soup_ids[] = {
    OUTER,     INNER,     HEURT_EVENT_LOCK_WAIT,     HEURT_EVENT_IO,
    OUTER | 1, INNER | 1, HEURT_EVENT_LOCK_WAIT | 1, HEURT_EVENT_IO | 1,
    OUTER,     INNER,     HEURT_EVENT_LOCK_ACQUIRED, HEURT_EVENT_UNWOUND,
    OUTER | 1, INNER | 1, HEURT_EVENT_OFF_CPU,       HEURT_EVENT_FAULT,
    OUTER,     OUTER | 1, HEURT_EVENT_PAUSED,        HEURT_EVENT_LOST,
};

/* Enters and leaves at random; ticks step back now and then. */
static void write_soup(struct scene *scene, uint64_t seed)
{
    uint64_t chance = seed, now = 100 * START;
    define_two(scene);
    for (int i = 0; i < 3000; i++) {
        uint64_t kind = below(&chance, sizeof soup_ids / sizeof soup_ids[0]);
        uint64_t first = HEURT_SITE(1 + below(&chance, 100000), below(&chance, 3));
        now += below(&chance, 50) ? below(&chance, 20000) : (uint64_t)-500;
        if (soup_ids[kind] == HEURT_EVENT_LOST && below(&chance, 20))
            continue;
        if (soup_ids[kind] >= HEURT_EVENT_FUNCTIONS)
            PUT(scene, 0, now, soup_ids[kind]);
        else if (soup_ids[kind] % 2)
            PUT(scene, 0, now, soup_ids[kind], 0);
        else
            PUT(scene, 0, now, soup_ids[kind], first, below(&chance, 100000), 0);
    }
}

/* Whatever a trace holds: what a point takes has its parts, and no leave is kept without its enter.
 */
static void soups(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct scene scene;
        scene__begin(&scene);
        write_soup(&scene, seed);
        struct stand_out *found = find(&scene, 50);
        assert_true(found->points.count <= 50);
        VEC_EACH (point, &found->points, const struct point) {
            uint64_t sum = 0;
            for (unsigned i = 0; i < COMPONENTS; i++)
                sum += point->component_ns[i];
            assert_int_equal(sum, point->took_ns);
            assert_true(point->lost_ns <= point->took_ns);
            assert_true(point->path < found->paths.count);
        }
        struct vec kept = walk_kept(&scene, found, 0);
        assert_int_equal(kept.count, found->kept_events);
        vec__free(&kept);
        stand_out__free(found);
        scene__free(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_anomalies_are_found),
        cmocka_unit_test(few_stand_out_by_chance),
        cmocka_unit_test(soups),
        cmocka_unit_test_setup_teardown(more_turns, scene__setup, scene__teardown),
        cmocka_unit_test(random_turns),
        cmocka_unit_test_setup_teardown(innermost_and_why, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(the_worst_above_the_limit, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
