/* A part of a run: waits are cut at its bounds, functions that cross them are left out, and what
 * threads had before it is known. */
#include "scene.h"

#include "analysis/events/run_part.h"
#include "analysis/findings/findings.h"
#include "format/part.h"

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

enum { A = 0x9a00, B = 0x9b00, LOCK = 0x7000, WORK = 1024, AROUND = 1026 };

/* Thread 0 holds the lock from 2000 to 9000, thread 1 waits for it meanwhile, and thread 2 lives
 * until 3000. Thread 0 works ten times for 500, in a function that is open all the while. */
static void one_holds(struct scene *scene)
{
    scene__function(scene, 0, WORK, 0x1000, "work", "");
    scene__function(scene, 0, AROUND, 0x1100, "around", "");
    for (uint32_t thread = 0; thread < 3; thread++)
        scene__start(scene, thread, 1000);
    PUT(scene, 0, 1000, AROUND, 0);
    PUT(scene, 0, 2000, GOT, A, LOCK);
    for (uint64_t i = 0; i < 10; i++) {
        PUT(scene, 0, 2100 + 600 * i, WORK, 0);
        PUT(scene, 0, 2600 + 600 * i, WORK LEFT, 0);
    }
    PUT(scene, 0, 9000, GAVE, A, LOCK);
    PUT(scene, 0, 9100, AROUND LEFT, 0);
    scene__end(scene, 0, 10000);
    PUT(scene, 1, 2500, WAIT, B, LOCK);
    PUT(scene, 1, 9000, WAIT LEFT, 0);
    PUT(scene, 1, 9500, GAVE, B, LOCK);
    scene__end(scene, 1, 10000);
    scene__end(scene, 2, 3000);
    scene->end = (struct heurt_clock_pair){10000, 10000};
}

/* The part, analysed. run__free and trace__close_part. */
static struct trace *analyse(struct scene *scene, uint64_t from, uint64_t to, struct run *run)
{
    const struct part_bounds bounds = {from, to};
    void *part = NULL;
    struct error error = {""};
    scene__profile(scene);
    assert_int_equal(run__one(scene->trace, NULL, &part_analysis, &bounds, &part, &error), 0);
    *run = run__of(part, scene->symbols);
    run__ask(run, &findings_analysis, NULL);
    assert_int_equal(run__analyse(run, &error), 0);
    assert_true(profile__adds_up(run__result(run, &profile_analysis)));
    return part;
}

static void end_part(struct run *run, struct trace *part)
{
    run__free(run);
    trace__close_part(part);
}

static const struct profile_class *class_of(const struct profile *profile, const char *function,
                                            uint64_t site)
{
    VEC_EACH (class, &profile->classes, struct profile_class)
        if (strcmp(class->what.at.function, function) == 0 &&
            (!site || class->what.at.site == site))
            return class;
    return NULL;
}

static void a_wait_is_cut_at_both_ends(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 4000, 7000, &run);
    const struct profile *profile = run__result(&run, &profile_analysis);
    const struct profile_class *wait = class_of(profile, "pthread_mutex_lock", B);
    assert_int_equal(profile->wall_ns, 3000);
    assert_int_equal(profile->lifetime_sum_ns, 2 * 3000);
    assert_int_equal(wait->count, 1);
    assert_int_equal(wait->sum_ns, 3000);
    assert_int_equal(wait->excess_ns, 3000);
    end_part(&run, part);
}

static void who_held_the_lock_before_is_known(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 4000, 7000, &run);
    const struct profile_class *wait =
        class_of(run__result(&run, &profile_analysis), "pthread_mutex_lock", B);
    assert_int_equal(wait->blames.count, 1);
    const struct profile_blame *blame = VEC_AT(&wait->blames, struct profile_blame, 0);
    assert_int_equal(blame->site, A);
    assert_int_equal(blame->thread, 0);
    assert_int_equal(blame->wait_ns, 3000);
    end_part(&run, part);
}

/* From 4000 to 7000 are those that begin at 4500, 5100, 5700 and 6300. */
static void functions_that_cross_a_bound_are_left_out(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 4000, 7000, &run);
    const struct profile *profile = run__result(&run, &profile_analysis);
    const struct profile_class *work = class_of(profile, "work", 0);
    assert_int_equal(work->count, 4);
    assert_int_equal(work->min_ns, 500);
    assert_int_equal(work->max_ns, 500);
    const struct profile_class *around = class_of(profile, "around", 0);
    assert_true(!around || !around->count);
    end_part(&run, part);
}

static void threads_that_had_ended_are_not_in_it(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 4000, 7000, &run);
    assert_int_equal(trace__threads(part)->count, 2);
    assert_int_equal(trace__threads(scene->trace)->count, 3);
    assert_ptr_equal(trace__whole(part), scene->trace);
    end_part(&run, part);
}

static void who_only_waits_for_a_lock_had_work(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 4000, 7000, &run);
    const struct findings *findings = run__result(&run, &findings_analysis);
    assert_int_equal(findings->working_threads, 2);
    assert_int_equal(findings->rows.count, 1);
    assert_int_equal(VEC_AT(&findings->rows, struct finding, 0)->category, FINDING_LOCK);
    end_part(&run, part);
}

/* What is whole in the part is as in the run. */
static void all_of_the_run_is_the_run(void **state)
{
    struct scene *scene = *state;
    struct run run;
    one_holds(scene);
    struct trace *part = analyse(scene, 0, UINT64_MAX, &run);
    const struct profile *profile = run__result(&run, &profile_analysis);
    assert_int_equal(profile->wall_ns, scene->profile->wall_ns);
    assert_int_equal(profile->lifetime_sum_ns, scene->profile->lifetime_sum_ns);
    assert_int_equal(profile->classes.count, scene->profile->classes.count);
    for (size_t i = 0; i < profile->classes.count; i++) {
        const struct profile_class *left = VEC_AT(&profile->classes, struct profile_class, i);
        const struct profile_class *right =
            VEC_AT(&scene->profile->classes, struct profile_class, i);
        assert_int_equal(left->count, right->count);
        assert_int_equal(left->sum_ns, right->sum_ns);
    }
    end_part(&run, part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_wait_is_cut_at_both_ends, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(who_held_the_lock_before_is_known, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(functions_that_cross_a_bound_are_left_out, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(threads_that_had_ended_are_not_in_it, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(who_only_waits_for_a_lock_had_work, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(all_of_the_run_is_the_run, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
