/* Windows drawn from a run: what a shorter run keeps of it, and the gains that it tells. */
#include "scene.h"

#include "analysis/events/drawn_run.h"
#include "analysis/replay/whatif.h"
#include "analysis/sync/sync_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define LEFT | 1

enum {
    WAIT = HEURT_EVENT_LOCK_WAIT,
    GOT = HEURT_EVENT_LOCK_ACQUIRED,
    GAVE = HEURT_EVENT_LOCK_RELEASED,
};

enum { A = 0x9a00, LOCK = 0x7000, OWN = 0x7100, DOOR = 0x7200, MUTEX = 0x7300, WORK = 1024 };
enum { TURNS = 4000, SECTION = 10, THREADS = 3 };

static void start(struct scene *scene, uint32_t thread, uint64_t tick, uint64_t creator)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_START, 0xf000 + thread, creator, 0);
}

static void end(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
    if (tick > scene->end.tick)
        scene->end = (struct heurt_clock_pair){tick, tick};
}

/* A lock that is never free: each thread works as long as all have it once. Thread THREADS creates
 * the others, holds a lock of its own, and joins them. */
static void one_lock(struct scene *scene)
{
    uint64_t last = 0;
    uint32_t parent = THREADS;
    start(scene, parent, 1000, HEURT_NO_SERIAL);
    PUT(scene, parent, 1000, GOT, A, OWN);
    for (uint32_t thread = 0; thread < THREADS; thread++)
        PUT(scene, parent, 1000, HEURT_EVENT_THREAD_CREATED, A, 0xf000 + thread, 0);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint64_t free_at = 1001;
        start(scene, thread, free_at, parent);
        PUT(scene, thread, free_at, WORK, 0);
        for (uint64_t turn = 0; turn < TURNS; turn++) {
            uint64_t begin = 1001 + SECTION * (THREADS * turn + thread);
            PUT(scene, thread, free_at + 1, WAIT, A, LOCK);
            PUT(scene, thread, begin + 2, WAIT LEFT, 0);
            free_at = begin + SECTION;
            PUT(scene, thread, free_at, GAVE, A, LOCK);
        }
        PUT(scene, thread, free_at, WORK LEFT, 0);
        end(scene, thread, free_at);
        PUT(scene, parent, thread ? last : 1002, HEURT_EVENT_JOIN, A, 0xf000 + thread);
        PUT(scene, parent, free_at + 1, HEURT_EVENT_JOIN LEFT, 0);
        last = free_at + 1;
    }
    PUT(scene, parent, last, GAVE, A, OWN);
    end(scene, parent, last);
}

static double gain_without(struct scene *scene, uint64_t lock, uint64_t most_events, double *share)
{
    struct whatif *whatif;
    struct error error = {""};
    struct prediction prediction;
    const struct change change = {.type = CHANGE_REMOVE_LOCK, .lock = lock};
    if (whatif__open(scene->trace, scene->symbols, scene->profile, most_events, &whatif, &error) <
            0 ||
        whatif__predict(whatif, &change, 1, &prediction, &error) < 0)
        fail_msg("%s", error.text);
    double gain = (double)whatif__unrecorded_ns(whatif) / (double)prediction.wall_ns;
    *share = whatif__replayed_share(whatif);
    assert_int_equal(whatif__measured_ns(whatif), trace__wall_ns(scene->trace));
    prediction__free(&prediction);
    whatif__close(whatif);
    return gain;
}

static void windows_tell_the_gain_of_the_run(void **state)
{
    struct scene *scene = *state;
    double share;
    scene__function(scene, 0, WORK, 0x1000, "work", "");
    one_lock(scene);
    scene__profile(scene);
    double whole = gain_without(scene, LOCK, UINT64_MAX, &share);
    assert_true(share == 1 && whole > 2);
    double drawn = gain_without(scene, LOCK, scene->profile->events / 10, &share);
    assert_true(share > 0.15 && share < 0.25);
    assert_true(drawn > 0.95 * whole && drawn < 1.05 * whole);
}

static struct drawn_run *make_drawn_run(const struct trace *trace, double share)
{
    void *run = NULL;
    run__one(trace, NULL, &drawn_analysis, &share, &run, NULL);
    return run;
}

static void all_windows_are_the_run(void **state)
{
    struct scene *scene = *state;
    struct event event;
    scene__function(scene, 0, WORK, 0x1000, "work", "");
    one_lock(scene);
    scene__profile(scene);
    struct drawn_run *run = make_drawn_run(scene->trace, 1);
    struct trace_merge *whole = trace_merge__start(scene->trace);
    struct trace_merge *drawn = trace_merge__start(drawn_run__trace(run));
    for (size_t i, k; trace_merge__next(whole, &event, &i);) {
        struct event same;
        assert_true(trace_merge__next(drawn, &same, &k));
        assert_true(same.tick == event.tick && same.id == event.id && k == i);
        assert_true(same.words == event.words &&
                    memcmp(same.payload, event.payload, same.words * sizeof *same.payload) == 0);
    }
    trace_merge__free(whole);
    trace_merge__free(drawn);
    drawn_run__free(run);
}

/* Of each thread: how many locks it has, how many calls of WORK are open, and how many waits. */
struct open_things {
    int64_t locks, calls, waits;
};

static void count_open(struct open_things *things, const struct event *event)
{
    things->locks += event->id == GOT || (event->id == (WAIT LEFT) && event->payload[0] == 0);
    things->locks -= event->id == GAVE;
    things->calls += event->id == WORK;
    things->calls -= event->id == (WORK LEFT);
    things->waits += event->id == WAIT || event->id == HEURT_EVENT_JOIN;
    things->waits -= event->id == (WAIT LEFT) || event->id == (HEURT_EVENT_JOIN LEFT);
}

/* Takes all events until then. */
static size_t count_until(struct trace_cursor *cursor, struct event *next, bool *has, uint64_t tick,
                          struct open_things *things)
{
    size_t count = 0;
    for (; *has && next->tick <= tick; *has = trace_cursor__next(cursor, next), count++)
        count_open(things, next);
    return count;
}

static const struct trace_thread *thread_of(const struct trace *trace, size_t index)
{
    return VEC_AT(trace__threads(trace), struct trace_thread, index);
}

/* What each thread has open is the same at every event of a window. */
static void seams_change_nothing_that_is_open(void **state)
{
    struct scene *scene = *state;
    size_t kept = 0, events = 0, compared = 0;
    scene__function(scene, 0, WORK, 0x1000, "work", "");
    one_lock(scene);
    scene__profile(scene);
    struct drawn_run *run = make_drawn_run(scene->trace, 0.2);
    for (size_t i = 0; i <= THREADS; i++) {
        struct trace_cursor whole, drawn;
        struct open_things in_whole = {0}, in_drawn = {0};
        struct event event, same;
        trace_cursor__start(&whole, scene->trace, thread_of(scene->trace, i));
        trace_cursor__start(&drawn, drawn_run__trace(run), thread_of(drawn_run__trace(run), i));
        bool has = trace_cursor__next(&whole, &event), has_same = trace_cursor__next(&drawn, &same);
        uint64_t next = 0;
        for (uint64_t last = 0, last_drawn = 0, drawn_tick; has; last_drawn = drawn_tick) {
            uint64_t tick = event.tick;
            events += count_until(&whole, &event, &has, tick, &in_whole);
            bool is_in = drawn_run__tick(run, tick, &drawn_tick);
            assert_false(is_in && tick < next);
            next = drawn_run__next_tick(run, tick);
            assert_true(is_in == (next == tick));
            kept += count_until(&drawn, &same, &has_same, drawn_tick, &in_drawn);
            bool is_in_window =
                is_in && tick - last > SECTION / 2 && drawn_tick - last_drawn == tick - last;
            if (is_in_window)
                assert_memory_equal(&in_whole, &in_drawn, sizeof in_whole);
            compared += is_in_window;
            last = tick;
        }
        assert_false(has_same);
        assert_memory_equal(&in_whole, &in_drawn, sizeof in_whole);
    }
    assert_true(kept < events / 3 && compared > kept / 2);
    drawn_run__free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(windows_tell_the_gain_of_the_run, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(all_windows_are_the_run, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(seams_change_nothing_that_is_open, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
