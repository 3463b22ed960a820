/* Predictions: relative to the run, and what the waits become that are left. */
#include "scene.h"

#include "analysis/replay/whatif.h"

#include <errno.h>
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

enum { A = 0x9a00, B = 0x9b00, FIRST = 0x7000, SECOND = 0x7100, WORK = 1024 };
enum { TURNS = 100, FIRST_TICKS = 10, SECOND_TICKS = 9, THREADS = 3 };

static void start(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_START, 0xf000 + thread, HEURT_NO_SERIAL, 0);
}

static void end(struct scene *scene, uint32_t thread, uint64_t tick)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_END, UINT64_MAX, UINT64_MAX);
    if (tick > scene->end.tick)
        scene->end = (struct heurt_clock_pair){tick, tick};
}

static struct whatif *open(struct scene *scene)
{
    struct whatif *whatif;
    struct error error = {""};
    scene__profile(scene);
    if (whatif__open(scene->trace, scene->symbols, scene->profile, UINT64_MAX, &whatif, &error) < 0)
        fail_msg("%s", error.text);
    return whatif;
}

static struct prediction predict(struct whatif *whatif, struct change change)
{
    struct prediction prediction;
    struct error error = {""};
    if (whatif__predict(whatif, &change, 1, &prediction, &error) < 0)
        fail_msg("%s", error.text);
    assert_true(prediction.least_ns <= prediction.wall_ns);
    assert_true(prediction.wall_ns <= prediction.most_ns);
    assert_true(prediction.gain[0] <= prediction.gain[1]);
    return prediction;
}

/* Three threads, each of which takes one lock for 10 ticks and then another one for 9, again and
 * again. The first lock is never free; for the second nobody has to wait:
 *
 *     0   |1st:10|2nd: 9|..11..|1st:10|
 *     1   |......|1st:10|2nd: 9|..11..|
 *     2   |.............|1st:10|2nd: 9|
 */
static struct whatif *two_locks_in_a_row(struct scene *scene)
{
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint64_t free_at = 1000;
        start(scene, thread, free_at);
        for (uint64_t turn = 0; turn < TURNS; turn++) {
            uint64_t begin = 1000 + FIRST_TICKS * (THREADS * turn + thread);
            uint64_t middle = begin + FIRST_TICKS;
            if (begin > free_at) {
                PUT(scene, thread, free_at, WAIT, A, FIRST);
                PUT(scene, thread, begin, WAIT LEFT, 0);
            } else {
                PUT(scene, thread, begin, GOT, A, FIRST);
            }
            PUT(scene, thread, middle, GAVE, A, FIRST);
            free_at = middle + SECOND_TICKS;
            PUT(scene, thread, middle, GOT, B, SECOND);
            PUT(scene, thread, free_at, GAVE, B, SECOND);
        }
        end(scene, thread, free_at);
    }
    return open(scene);
}

static void next_lock_saturates(void **state)
{
    struct whatif *whatif = two_locks_in_a_row(*state);
    const uint64_t wall = THREADS * TURNS * FIRST_TICKS + SECOND_TICKS;
    assert_int_equal(whatif__measured_ns(whatif), wall);
    assert_int_equal(whatif__replayed_ns(whatif), wall);
    assert_int_equal(whatif__unrecorded_ns(whatif), wall);

    struct prediction prediction =
        predict(whatif, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = FIRST});
    /* Alone, each thread would need 19 for a turn. But now the second lock is never free. */
    assert_int_equal(prediction.wall_ns, FIRST_TICKS + THREADS * TURNS * SECOND_TICKS);
    assert_true(prediction.gain[1] < 1.25 && prediction.gain[0] > 1);
    assert_int_equal(prediction.threads, THREADS);
    assert_int_equal(prediction.objects.count, 2);

    const struct whatif_object *object = VEC_AT(&prediction.objects, struct whatif_object, 0);
    assert_int_equal(object->address, SECOND);
    assert_int_equal(object->kind, CLASS_LOCK);
    assert_int_equal(object->waited_before_ns, 0);
    /* Each turn of three threads takes 27, of which each works 19. At first one waits for 9, one
     * for 18. */
    assert_in_range(object->waited_after_ns, (TURNS - 1) * THREADS * 8, TURNS * THREADS * 8 + 27);
    object++;
    assert_int_equal(object->address, FIRST);
    assert_int_equal(object->waited_after_ns, 0);
    assert_true(object->waited_before_ns > (TURNS - 1) * THREADS * 11);
    prediction__free(&prediction);
    whatif__close(whatif);
}

static void both_locks_removed(void **state)
{
    struct whatif *whatif = two_locks_in_a_row(*state);
    const struct change changes[] = {{.type = CHANGE_REMOVE_LOCK, .lock = FIRST},
                                     {.type = CHANGE_REMOVE_LOCK, .lock = SECOND}};
    struct prediction prediction;
    struct error error = {""};
    assert_int_equal(whatif__predict(whatif, changes, 2, &prediction, &error), 0);
    assert_int_equal(prediction.wall_ns, TURNS * (FIRST_TICKS + SECOND_TICKS));
    prediction__free(&prediction);
    whatif__close(whatif);
}

/* The run took longer than the replay can tell: 200 at its end that no thread saw. */
static void prediction_is_relative_to_the_run(void **state)
{
    struct scene *scene = *state;
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    start(scene, 0, 1000);
    PUT(scene, 0, 1000, WORK);
    PUT(scene, 0, 2000, WORK LEFT);
    end(scene, 0, 2000);
    scene->end = (struct heurt_clock_pair){2200, 2200};
    struct whatif *whatif = open(scene);
    assert_int_equal(whatif__measured_ns(whatif), 1200);
    assert_int_equal(whatif__replayed_ns(whatif), 1000);
    struct prediction prediction =
        predict(whatif, (struct change){.type = CHANGE_SPEED, .pattern = "work", .factor = 2});
    assert_int_equal(prediction.wall_ns, 600);
    assert_int_equal(prediction.most_ns, 700); /* should these 200 stay */
    assert_true(prediction.gain[0] > 1.71 && prediction.gain[0] < 1.72);
    assert_int_equal(prediction.least_ns, 540); /* 10 % */
    prediction__free(&prediction);
    whatif__close(whatif);
}

/* What recording cost is in the measured time, and no gain of a cure. */
static void recording_is_no_gain(void **state)
{
    struct scene *scene = *state;
    scene__costs(scene, 50, 250);
    scene__function(scene, 0, WORK, 0x401000, "work", "");
    start(scene, 0, 1000);
    PUT(scene, 0, 1000, WORK);
    PUT(scene, 0, 1500, WORK LEFT);
    end(scene, 0, 2000);
    struct whatif *whatif = open(scene);
    assert_int_equal(whatif__replayed_ns(whatif), 1000);
    assert_int_equal(whatif__unrecorded_ns(whatif), 750);
    struct prediction prediction =
        predict(whatif, (struct change){.type = CHANGE_SPEED, .pattern = "work", .factor = 1});
    assert_int_equal(prediction.wall_ns, 750);
    assert_true(prediction.gain[0] > 0.999 && prediction.gain[1] < 1.001);
    prediction__free(&prediction);
    whatif__close(whatif);
}

static void check_not_opened(struct scene *scene, const char *part)
{
    struct whatif *whatif;
    struct error error = {""};
    scene__profile(scene);
    assert_int_equal(
        whatif__open(scene->trace, scene->symbols, scene->profile, UINT64_MAX, &whatif, &error),
        -ENOTSUP);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" says nothing of \"%s\"", error.text, part);
}

static void sampled_semaphores_are_refused(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000);
    PUT(scene, 0, 1100, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(HEURT_EVENT_SEMAPHORE_ACQUIRED, 10));
    PUT(scene, 0, 1100, HEURT_EVENT_SEMAPHORE_ACQUIRED, A, FIRST);
    end(scene, 0, 1300);
    check_not_opened(scene, "--overhead");
}

/* A section that was left out and kept another thread: half of it is taken to lie before that one
 * came. A function that began and ended within it stays in its place. */
static void a_section_that_was_left_out_holds_others_up(void **state)
{
    struct scene *scene = *state;
    start(scene, 0, 1000);
    start(scene, 1, 1000);
    scene__function(scene, 0, WORK, 0x9000, "work", "");
    PUT(scene, 0, 1000, HEURT_EVENT_SAMPLED, HEURT_SAMPLED(GOT, 10));
    PUT(scene, 0, 1010, GOT, A, FIRST);
    PUT(scene, 0, 1020, GAVE, A, FIRST);
    PUT(scene, 1, 1500, WAIT, B, FIRST);
    PUT(scene, 0, 1600, WORK);
    PUT(scene, 0, 1700, WORK LEFT);
    PUT(scene, 0, 2000, HEURT_EVENT_LOCK_HELD, A, FIRST, 500);
    PUT(scene, 0, 2000, GAVE, A, FIRST);
    PUT(scene, 1, 2000, WAIT LEFT, 0);
    PUT(scene, 1, 2100, GAVE, B, FIRST);
    end(scene, 0, 2200);
    end(scene, 1, 3000);
    struct whatif *whatif = open(scene);
    assert_int_equal(whatif__replayed_ns(whatif), 2000);
    struct prediction prediction =
        predict(whatif, (struct change){.type = CHANGE_REMOVE_LOCK, .lock = FIRST});
    assert_int_equal(prediction.wall_ns, 1500);
    prediction__free(&prediction);
    prediction =
        predict(whatif, (struct change){.type = CHANGE_SPEED, .pattern = "work", .factor = 2});
    assert_int_equal(prediction.wall_ns, 1950);
    prediction__free(&prediction);
    whatif__close(whatif);
}

static void change_that_cannot_be_is_told(void **state)
{
    struct whatif *whatif = two_locks_in_a_row(*state);
    struct change change = {.type = CHANGE_REMOVE_LOCK, .lock = 0x4321};
    struct prediction prediction;
    struct error error = {""};
    assert_true(whatif__predict(whatif, &change, 1, &prediction, &error) < 0);
    assert_non_null(strstr(error.text, "0x4321"));
    whatif__close(whatif);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)
    const struct CMUnitTest tests[] = {
        TEST(next_lock_saturates),
        TEST(both_locks_removed),
        TEST(prediction_is_relative_to_the_run),
        TEST(recording_is_no_gain),
        TEST(sampled_semaphores_are_refused),
        TEST(a_section_that_was_left_out_holds_others_up),
        TEST(change_that_cannot_be_is_told),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
