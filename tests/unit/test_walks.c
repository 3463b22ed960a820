/* How often the analyses walk over a trace: what it costs to ask a question of a long one.
 *
 * The trace has two threads, a lock that one of them waits for, and a function whose occurrences
 * are divided by structure and differ on the CPU, so that every walk there is takes place. Who
 * saves a walk lowers its number here; who needs one more has to say so here. */
#include "scene.h"

#include "analysis/locks/locks.h"
#include "analysis/replay/whatif.h"
#include "analysis/structure/structure.h"
#include "format/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028, THREADS = 2, CALLS = 150 };
#define LEFT | 1
#define SITE HEURT_SITE(0x401500, HEURT_LOCK_MUTEX)

static uint64_t call(struct scene *scene, uint32_t thread, uint32_t inside, uint64_t tick,
                     uint64_t ticks)
{
    PUT(scene, thread, tick, F, ticks);
    PUT(scene, thread, tick + 10, inside);
    PUT(scene, thread, tick + 50, inside LEFT);
    PUT(scene, thread, tick + ticks, F LEFT);
    return tick + ticks;
}

static uint64_t calls(struct scene *scene, uint32_t thread, uint64_t tick)
{
    for (unsigned i = 0; i < CALLS; i++) {
        tick = call(scene, thread, G, tick, 100 + (i % 10 == 3 ? 300 : 0));
        tick = call(scene, thread, H, tick, 1000 + (i % 10 == 7 ? 500 : 0));
    }
    return tick;
}

static void fill(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "n");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
    PUT(scene, 0, 1000, HEURT_EVENT_LOCK_ACQUIRED, SITE, 0x70);
    PUT(scene, 1, 1500, HEURT_EVENT_LOCK_WAIT, SITE, 0x70);
    PUT(scene, 0, 90000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    PUT(scene, 1, 91000, HEURT_EVENT_LOCK_WAIT LEFT, 0);
    PUT(scene, 1, 92000, HEURT_EVENT_LOCK_RELEASED, SITE, 0x70);
    for (uint32_t i = 0; i < THREADS; i++)
        scene__end(scene, i, calls(scene, i, 100000));
    scene__profile(scene);
}

static uint64_t walks_since(const struct scene *scene, uint64_t before)
{
    uint64_t cursors = trace__cursors_started(scene->trace) - before;
    assert_int_equal(cursors % THREADS, 0);
    return cursors / THREADS;
}

static void check_profile(const struct scene *scene, enum class_view view, uint64_t walks,
                          uint64_t walks_of_gain)
{
    struct profile *profile;
    struct whatif *whatif;
    struct error error = {""};
    uint64_t before = trace__cursors_started(scene->trace);
    assert_int_equal(profile__compute_by(view, scene->trace, scene->symbols, &scene->rules, 0.2,
                                         &profile, &error),
                     0);
    assert_int_equal(walks_since(scene, before), walks);
    before = trace__cursors_started(scene->trace);
    assert_int_equal(whatif__open(scene->trace, scene->symbols, profile, &whatif, &error), 0);
    assert_int_equal(walks_since(scene, before), walks_of_gain);
    whatif__close(whatif);
    profile__free(profile);
}

static void walks_of_a_report(void **state)
{
    struct scene *scene = *state;
    fill(scene);
    /* The fold, single occurrences, blame by time; then links by time, times off the CPU, rows. */
    check_profile(scene, CLASSES_BY_SITE, 3, 3);
    /* Signatures more; ends of the parts of divided sites more. */
    check_profile(scene, CLASSES_BY_STRUCTURE, 4, 4);
}

static void walks_of_locks_and_structure(void **state)
{
    struct scene *scene = *state;
    struct locks_result *locks;
    struct structure *structure;
    struct error error = {""};
    fill(scene);
    uint64_t before = trace__cursors_started(scene->trace);
    assert_int_equal(locks__compute(scene->trace, NULL, &(struct locks_filter){0}, &locks, &error),
                     0);
    assert_int_equal(walks_since(scene, before), 1);
    locks__free(locks);
    before = trace__cursors_started(scene->trace);
    assert_int_equal(structure__compute(scene->trace, &structure, &error), 0);
    assert_int_equal(walks_since(scene, before), 1);
    structure__free(structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(walks_of_a_report, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(walks_of_locks_and_structure, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
