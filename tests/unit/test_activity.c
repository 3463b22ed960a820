/* How many threads are on a CPU at a time, of switches that are known. Ticks are ns; traces begin
 * at 1000. */
#include "analysis/events/activity.h"

#include "analysis/analysis.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct cpu_activity *activity_of(struct scene *scene)
{
    struct error error;
    void *activity;
    scene__profile(scene);
    assert_int_equal(run__one(scene->trace, NULL, &activity_analysis, NULL, &activity, &error), 0);
    return activity;
}

static void begins(struct scene *scene, uint32_t thread, uint64_t tick)
{
    scene__start(scene, thread, tick);
    PUT(scene, thread, tick, HEURT_EVENT_KERNEL, 1);
}

static void is_off(struct scene *scene, uint32_t thread, uint64_t from, uint64_t to,
                   enum heurt_off how)
{
    PUT(scene, thread, to, HEURT_EVENT_OFF_CPU, HEURT_OFF(to - from, how), HEURT_BACK(0, 1), 0);
}

/* Thread 0 runs 1000–2000 and 5000–6000, thread 1 1500–4000: together 1500–2000. */
static void times_on_cpus_are_summed_and_united(void **state)
{
    struct scene *scene = *state;
    begins(scene, 0, 1000);
    begins(scene, 1, 1500);
    is_off(scene, 0, 2000, 5000, HEURT_OFF_BLOCKED);
    scene__end(scene, 0, 6000);
    scene__end(scene, 1, 4000);
    struct cpu_activity *activity = activity_of(scene);
    assert_int_equal(activity->service_ns, 2000 + 2500);
    assert_int_equal(activity->active_ns, 3000 + 1000);
    assert_int_equal(activity->single_ns, 500 + 2000 + 1000);
    assert_int_equal(activity->most, 2);
    free(activity);
}

/* Two threads take one CPU in turns: never two of them, and it is never without one. */
static void turns_on_one_cpu_are_one_at_work(void **state)
{
    struct scene *scene = *state;
    begins(scene, 0, 1000);
    begins(scene, 1, 1000);
    for (uint64_t tick = 1000; tick < 9000; tick += 2000) {
        is_off(scene, 1, tick, tick + 1000, HEURT_OFF_PREEMPTED);
        is_off(scene, 0, tick + 1000, tick + 2000, HEURT_OFF_PREEMPTED);
    }
    scene__end(scene, 0, 9000);
    scene__end(scene, 1, 9000);
    struct cpu_activity *activity = activity_of(scene);
    assert_int_equal(activity->service_ns, 8000);
    assert_int_equal(activity->active_ns, 8000);
    assert_int_equal(activity->single_ns, 8000);
    assert_int_equal(activity->most, 1);
    free(activity);
}

static void without_the_kernel_nothing_is_known(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__end(scene, 0, 6000);
    assert_null(activity_of(scene));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_on_cpus_are_summed_and_united, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(turns_on_one_cpu_are_one_at_work, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(without_the_kernel_nothing_is_known, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
