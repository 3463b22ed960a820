/* A report on some threads: what they lost, in classes of their own; who kept them waiting, and
 * what the run would gain, is of all. */
#include "scene.h"

#include "analysis/findings/findings.h"
#include "analysis/findings/wall_gains.h"

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

/* Three threads on three CPUs have the lock one after another, twice: each works without it, for
 * 500 and 100 more each thread, waits for it at B, and holds it for 1000. */
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

/* The findings of these threads (a bit each), with their gains. run__free. */
static struct run tell(struct scene *scene, unsigned threads)
{
    bool aside[THREADS];
    struct error error = {""};
    for (unsigned i = 0; i < THREADS; i++)
        aside[i] = !(threads & 1u << i);
    trace__put_aside(scene->trace, aside);
    struct run run = run__of(scene->trace, scene->symbols);
    run__ask(&run, &findings_analysis, NULL);
    assert_int_equal(run__analyse(&run, &error), 0);
    struct profile *profile = run__result(&run, &profile_analysis);
    wall_gains__fill(scene->trace, scene->symbols, profile, run__result(&run, &findings_analysis),
                     0);
    profile__leave_out_asides(profile, scene->trace);
    assert_true(profile__adds_up(profile));
    return run;
}

/* The one of locks; what else there is is not asked. */
static const struct finding *lock_of(struct run *run)
{
    const struct findings *findings = run__result(run, &findings_analysis);
    const struct finding *found = NULL;
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->category == FINDING_LOCK) {
            assert_null(found);
            found = finding;
        }
    assert_non_null(found);
    return found;
}

/* What the thread waited for the lock: by construction. */
static uint64_t waited_ns(uint32_t thread)
{
    uint64_t work = 500 + 100 * thread, mine = 2000 + 1000 * thread;
    return (mine - (1000 + work)) + (mine + 3000 - (mine + 1000 + work));
}

static void a_finding_is_what_these_threads_lost(void **state)
{
    struct scene *scene = *state;
    crew(scene);
    scene__profile(scene);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        struct run run = tell(scene, 1u << thread);
        const struct finding *finding = lock_of(&run);
        const struct findings *findings = run__result(&run, &findings_analysis);
        assert_int_equal(finding->lost_ns, waited_ns(thread));
        assert_int_equal(finding->counts.waits, 2);
        assert_int_equal(finding->counts.taken, 2);
        assert_int_equal(findings->working_threads, 1);
        assert_int_equal(findings->working_ns, 5000 + 1000 * thread);
        assert_int_equal(findings->roles.count, 1);
        run__free(&run);
    }
}

static void what_each_lost_is_what_all_lost(void **state)
{
    struct scene *scene = *state;
    uint64_t sum_ns = 0;
    crew(scene);
    scene__profile(scene);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        struct run run = tell(scene, 1u << thread);
        sum_ns += lock_of(&run)->lost_ns;
        run__free(&run);
    }
    struct run run = tell(scene, ~0u);
    assert_int_equal(lock_of(&run)->lost_ns, sum_ns);
    run__free(&run);
}

static void classes_and_sums_are_of_these_threads(void **state)
{
    struct scene *scene = *state;
    crew(scene);
    scene__profile(scene);
    struct run run = tell(scene, 1u << 1 | 1u << 2);
    const struct profile *profile = run__result(&run, &profile_analysis);
    assert_int_equal(profile->threads.count, 2);
    assert_int_equal(profile->lifetime_sum_ns, 6000 + 7000);
    VEC_EACH (class, &profile->classes, struct profile_class) {
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            assert_true(row->thread == 1 || row->thread == 2);
        if (class->what.at.kind != CLASS_CALL)
            continue;
        assert_int_equal(class->count, 4);
        assert_int_equal(class->min_ns, 600); /* the first thread's 500 are none of theirs */
        assert_int_equal(class->max_ns, 700);
    }
    run__free(&run);
}

/* The first thread waits for the last one in its second round, which is aside. */
static void waits_are_blamed_on_any_thread(void **state)
{
    struct scene *scene = *state;
    crew(scene);
    scene__profile(scene);
    struct run run = tell(scene, 1u << 0);
    const struct profile *profile = run__result(&run, &profile_analysis);
    const struct profile_class *wait = NULL;
    VEC_EACH (class, &profile->classes, struct profile_class)
        wait = class->what.at.kind == CLASS_LOCK ? class : wait;
    assert_non_null(wait);
    assert_int_equal(wait->blames.count, 1);
    const struct profile_blame *blame = VEC_AT(&wait->blames, struct profile_blame, 0);
    assert_int_equal(blame->thread, UINT32_MAX); /* both others */
    assert_int_equal(blame->wait_ns, 2000 - 500);
    run__free(&run);
}

static void a_gain_is_of_the_whole_run(void **state)
{
    struct scene *scene = *state;
    crew(scene);
    scene__profile(scene);
    struct run all = tell(scene, ~0u);
    const struct finding *of_all = lock_of(&all);
    assert_true(of_all->wall_gain[1] > 1.01);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        struct run run = tell(scene, 1u << thread);
        const struct finding *finding = lock_of(&run);
        assert_true(finding->wall_gain[0] == of_all->wall_gain[0]);
        assert_true(finding->wall_gain[1] == of_all->wall_gain[1]);
        run__free(&run);
    }
    run__free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_finding_is_what_these_threads_lost, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(what_each_lost_is_what_all_lost, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(classes_and_sums_are_of_these_threads, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(waits_are_blamed_on_any_thread, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(a_gain_is_of_the_whole_run, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
