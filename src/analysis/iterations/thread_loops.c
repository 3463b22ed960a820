#include "analysis/iterations/thread_loops.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LOOPS_MAX 4096u      /* of a thread; later ones are not told */
#define STRETCHES_MAX 16384u /* more are put together, a loop's into one */

/* Iterations in a row. */
struct loop_stretch {
    uint32_t loop; /* index */
    uint64_t start, ticks;
};

/* ---- series ---------------------------------------------------------------------------------- */

struct iteration_series iteration_series__new(void)
{
    return (struct iteration_series){.samples = VEC_OF(struct iteration_sample),
                                     .stride = 1,
                                     .worst = extremes__of(ITERATION_EXTREMES)};
}

void iteration_series__free(struct iteration_series *series)
{
    free(series->histogram);
    vec__free(&series->samples);
    extremes__free(&series->worst);
}

/* All samples are iterations until now. */
static void start_histogram(struct iteration_series *series)
{
    series->histogram = memory__zeroed(HISTOGRAM_BUCKETS, sizeof *series->histogram);
    VEC_EACH (sample, &series->samples, struct iteration_sample)
        series->histogram[histogram__bucket(sample->longest)]++;
}

/* Every second sample goes into the one before it. */
static void halve(struct iteration_series *series)
{
    struct iteration_sample *samples = series->samples.items;
    if (!series->histogram)
        start_histogram(series);
    size_t left = series->samples.count / 2;
    for (size_t i = 0; i < left; i++) {
        uint64_t longest = samples[2 * i + 1].longest;
        samples[i] = samples[2 * i];
        if (longest > samples[i].longest)
            samples[i].longest = longest;
    }
    series->samples.count = left;
    series->stride *= 2;
}

static void add_sample(struct iteration_series *series, uint64_t start, uint64_t end)
{
    if (series->samples.count == ITERATION_SAMPLES_MAX && series->count % series->stride == 0)
        halve(series);
    if (series->count % series->stride == 0) {
        vec__push(&series->samples, &(struct iteration_sample){start, end, end - start});
        return;
    }
    struct iteration_sample *last =
        VEC_AT(&series->samples, struct iteration_sample, series->samples.count - 1);
    if (end - start > last->longest)
        last->longest = end - start;
}

static void add_iteration(struct iteration_series *series, uint32_t thread, uint32_t depth,
                          uint64_t start, uint64_t end)
{
    uint64_t duration = end - start;
    const struct extreme one = {.key = duration,
                                .start = start,
                                .end = end,
                                .duration = duration,
                                .index = series->count,
                                .thread = thread,
                                .depth = depth};
    add_sample(series, start, end);
    if (series->histogram)
        series->histogram[histogram__bucket(duration)]++;
    if (!series->count || duration < series->min)
        series->min = duration;
    if (!series->count || start < series->first_start)
        series->first_start = start;
    if (duration > series->max)
        series->max = duration;
    if (end > series->last_end)
        series->last_end = end;
    series->sum += duration;
    series->count++;
    extremes__offer(&series->worst, &one);
}

/* ---- loops ----------------------------------------------------------------------------------- */

void thread_loops__start(struct thread_loops *loops, uint32_t thread)
{
    *loops = (struct thread_loops){.thread = thread,
                                   .loops = VEC_OF(struct thread_loop),
                                   .stretches = VEC_OF(struct loop_stretch)};
}

void thread_loops__free(struct thread_loops *loops)
{
    VEC_EACH (loop, &loops->loops, struct thread_loop)
        iteration_series__free(&loop->iterations);
    vec__free(&loops->loops);
    vec__free(&loops->stretches);
    map__free(&loops->by_key);
}

static struct thread_loop *loop_at(const struct thread_loops *loops, uint64_t loop)
{
    return VEC_AT(&loops->loops, struct thread_loop, loop);
}

/* NULL: too many. */
static struct thread_loop *add_loop(struct thread_loops *loops, struct loop_key key)
{
    if (loops->loops.count == LOOPS_MAX)
        return NULL;
    map__put(&loops->by_key, &key, sizeof key, loops->loops.count);
    const struct thread_loop new = {.key = key, .iterations = iteration_series__new()};
    return vec__push(&loops->loops, &new);
}

/* What the instance was until now is what it is now, too. */
static struct thread_loop *rename_loop(struct thread_loops *loops, uint32_t loop,
                                       struct loop_key key)
{
    map__put(&loops->by_key, &key, sizeof key, loop);
    loop_at(loops, loop)->key = key;
    return loop_at(loops, loop);
}

/* NULL: too many. */
static struct thread_loop *loop_of(struct thread_loops *loops, struct loop_key key,
                                   uint64_t instance)
{
    struct loop_instance *recent =
        &loops->recent[(instance * 31 + key.depth) & (LOOP_INSTANCES - 1)];
    bool is_known = key.kind == LOOP_OF_CALLS && recent->loop_and_1 && recent->number == instance &&
                    recent->depth == key.depth;
    struct thread_loop *same = is_known ? loop_at(loops, recent->loop_and_1 - 1) : NULL;
    if (same && memcmp(&same->key, &key, sizeof key) == 0)
        return same;
    uint64_t known = map__get(&loops->by_key, &key, sizeof key);
    struct thread_loop *loop = known != MAP_ABSENT ? loop_at(loops, known)
                               : is_known          ? rename_loop(loops, recent->loop_and_1 - 1, key)
                                                   : add_loop(loops, key);
    if (loop)
        *recent =
            (struct loop_instance){instance, key.depth, (uint32_t)(loop - loop_at(loops, 0)) + 1};
    return loop;
}

/* The older half: a loop's stretches become one. */
static void put_together(struct thread_loops *loops)
{
    struct loop_stretch *stretches = loops->stretches.items;
    size_t *place_and_1 = memory__zeroed(LOOPS_MAX, sizeof *place_and_1);
    size_t left = 0;
    for (size_t i = 0; i < loops->stretches.count; i++) {
        size_t *known = &place_and_1[stretches[i].loop];
        if (*known && i < loops->stretches.count / 2) {
            stretches[*known - 1].ticks += stretches[i].ticks;
        } else {
            stretches[left] = stretches[i];
            *known = ++left;
        }
    }
    loops->stretches.count = left;
    free(place_and_1);
}

/* The first stretch that begins at that tick or later. */
static size_t place_of(const struct thread_loops *loops, uint64_t start)
{
    return VEC_FIRST(stretch, &loops->stretches, struct loop_stretch, stretch->start >= start);
}

/* What began meanwhile is in something. */
static void enclose(struct thread_loops *loops, uint64_t start, uint64_t end)
{
    struct loop_stretch *stretches = loops->stretches.items;
    size_t first = place_of(loops, start), next = place_of(loops, end);
    if (first < next)
        memmove(stretches + first, stretches + next,
                (loops->stretches.count - next) * sizeof *stretches);
    loops->stretches.count -= next - first;
}

static void insert(struct vec *stretches, size_t place, const struct loop_stretch *stretch)
{
    vec__push(stretches, NULL);
    struct loop_stretch *at = VEC_AT(stretches, struct loop_stretch, place);
    memmove(at + 1, at, (stretches->count - 1 - place) * sizeof *at);
    *at = *stretch;
}

static void add_stretch(struct thread_loops *loops, uint32_t loop, uint64_t start, uint64_t ticks)
{
    size_t place = place_of(loops, start);
    struct loop_stretch *before =
        place ? VEC_AT(&loops->stretches, struct loop_stretch, place - 1) : NULL;
    if (before && before->loop == loop) {
        before->ticks += ticks;
        return;
    }
    if (loops->stretches.count == STRETCHES_MAX) {
        put_together(loops);
        place = place_of(loops, start);
    }
    insert(&loops->stretches, place, &(struct loop_stretch){loop, start, ticks});
}

/* Its first iterations enclose what is in them only when enough have come. */
static void extend_run(struct thread_loops *loops, struct thread_loop *loop, uint64_t start,
                       uint64_t end)
{
    uint32_t number = (uint32_t)(loop - loop_at(loops, 0));
    bool is_of_calls = loop->key.kind == LOOP_OF_CALLS;
    bool is_enough = is_of_calls && loop->run_iterations == LOOP_ITERATIONS_LEAST;
    if (is_of_calls && loop->run_iterations < LOOP_ITERATIONS_LEAST)
        return;
    uint64_t from = is_enough ? loop->run_start : start;
    enclose(loops, from, end);
    add_stretch(loops, number, from, is_enough ? loop->run_sum : end - start);
}

void thread_loops__iteration(struct thread_loops *loops, struct loop_key key, uint64_t instance,
                             uint64_t start, uint64_t end)
{
    struct thread_loop *loop = end < start ? NULL : loop_of(loops, key, instance);
    if (!loop)
        return;
    if (loop->instance != instance || !loop->run_iterations || start < loop->run_start) {
        loop->run_iterations = loop->run_sum = 0;
        loop->run_start = start;
    }
    loop->instance = instance;
    loop->run_iterations++;
    loop->run_sum += end - start;
    add_iteration(&loop->iterations, loops->thread, key.depth, start, end);
    extend_run(loops, loop, start, end);
}

void thread_loops__end(struct thread_loops *loops)
{
    VEC_EACH (stretch, &loops->stretches, struct loop_stretch)
        loop_at(loops, stretch->loop)->outermost += stretch->ticks;
}
