/* What a run's time went to: the rows add up to the wall time and to the lives of all threads, and
 * an instant is divided among the threads that had something to do. */
#include "scene.h"

#include "analysis/timeline/wall_ledger.h"

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

enum { A = 0x9a00, B = 0x9b00, LOCK = 0x7000, WORK = 1024, THREADS = 3 };

static struct run ledger_of(struct scene *scene)
{
    struct error error = {""};
    scene__profile(scene);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &wall_ledger_analysis, NULL);
    assert_int_equal(run__analyse(&run, &error), 0);
    const struct wall_ledger *ledger = run__result(&run, &wall_ledger_analysis);
    uint64_t wall_ns = 0, lives_ns = 0, lifetimes_ns = 0;
    VEC_EACH (row, &ledger->rows, struct wall_row) {
        wall_ns += row->wall_ns;
        lives_ns += row->lives_ns;
    }
    VEC_EACH (thread, &scene->profile->threads, struct profile_thread)
        lifetimes_ns += thread->lifetime_ns;
    assert_int_equal(wall_ns, scene->profile->wall_ns);
    assert_int_equal(wall_ns, ledger->wall_ns);
    assert_int_equal(lives_ns, lifetimes_ns);
    assert_int_equal(lives_ns, ledger->lives_ns);
    return run;
}

static struct wall_row sum_of(struct run *run, unsigned state)
{
    const struct wall_ledger *ledger = run__result(run, &wall_ledger_analysis);
    struct wall_row sum = {.state = state};
    VEC_EACH (row, &ledger->rows, struct wall_row)
        if (row->state == state) {
            sum.wall_ns += row->wall_ns;
            sum.lives_ns += row->lives_ns;
        }
    return sum;
}

static void assert_near(uint64_t figure, uint64_t truth)
{
    assert_in_range(figure, truth - 3, truth + 3);
}

/* Three threads have the lock one after another, twice: each works without it, for 500 and 100 more
 * each thread, waits for it at B, and holds it for 1000. */
static void crew(struct scene *scene)
{
    uint64_t end = 1000;
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "3"), 0);
    scene__function(scene, 0, WORK, 0x1000, "work", "");
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint64_t tick = 1000, mine = 2000 + 1000 * thread;
        scene__start(scene, thread, tick);
        for (unsigned round = 0; round < 2; round++, mine += 3000) {
            uint64_t work = 500 + 100 * thread;
            PUT(scene, thread, tick, WORK, 0);
            PUT(scene, thread, tick + work, WORK LEFT, 0);
            PUT(scene, thread, tick + work, WAIT, B, LOCK);
            PUT(scene, thread, mine, WAIT LEFT, 0);
            PUT(scene, thread, mine + 1000, GAVE, A, LOCK);
            tick = mine + 1000;
        }
        scene__end(scene, thread, tick);
        end = tick;
    }
    scene->end = (struct heurt_clock_pair){end, end};
}

/* By hand: waiters over threads that live then: (100 + 200 + 2000 + 500 + 1000 + 600 + 800 + 700 +
 * 600) / 3 while three live, 300 while all of them wait, 1000 / 2 while two live; the last 1000 are
 * one thread's alone. */
static void instants_are_divided(void **state)
{
    struct scene *scene = *state;
    crew(scene);
    struct run run = ledger_of(scene);
    struct wall_row lock = sum_of(&run, COMPONENT_LOCK);
    assert_near(lock.wall_ns, 6500 / 3 + 800);
    assert_int_equal(lock.lives_ns, 500 + 1500 + 1400 + 1400 + 2300 + 1300);
    assert_near(sum_of(&run, COMPONENT_RUNNING).wall_ns, 7000 - 6500 / 3 - 800);
    run__free(&run);
}

/* What functions have of a thread's time on a CPU is their own time. */
static void work_is_divided_by_functions(void **state)
{
    struct scene *scene = *state;
    uint64_t in_work = 0;
    crew(scene);
    struct run run = ledger_of(scene);
    const struct wall_ledger *ledger = run__result(&run, &wall_ledger_analysis);
    VEC_EACH (row, &ledger->rows, struct wall_row)
        if (row->state == COMPONENT_RUNNING && row->class != WALL_NO_CLASS) {
            assert_string_equal(VEC_AT(&scene->profile->classes, struct profile_class, row->class)
                                    ->what.at.function,
                                "work");
            in_work += row->lives_ns;
        }
    assert_near(in_work, 2 * (500 + 600 + 700));
    run__free(&run);
}

/* One thread works for 4000, the other one waits for its end from 1000 on and then works for 2000.
 */
static void who_waits_for_the_end_of_others_is_idle(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    PUT(scene, 0, 2000, HEURT_EVENT_JOIN, A, 0x200);
    scene__end(scene, 1, 5000);
    PUT(scene, 0, 5000, HEURT_EVENT_JOIN LEFT, 0);
    scene__end(scene, 0, 7000);
    scene->end = (struct heurt_clock_pair){7000, 7000};
    struct run run = ledger_of(scene);
    assert_near(sum_of(&run, COMPONENT_RUNNING).wall_ns, 6000);
    assert_near(sum_of(&run, STATE_IDLE).lives_ns, 3000);
    run__free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(instants_are_divided, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(work_is_divided_by_functions, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(who_waits_for_the_end_of_others_is_idle, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
