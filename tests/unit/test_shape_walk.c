/* Shapes of small traces: what the recording does to itself is no part of them. */
#include "analysis/analysis.h"
#include "analysis/structure/structure.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum {
    F = HEURT_EVENT_FUNCTIONS,
    G = HEURT_EVENT_FUNCTIONS + 2,
    ACQUIRED = HEURT_EVENT_LOCK_ACQUIRED,
    WAIT = HEURT_EVENT_LOCK_WAIT,
};

static const uint64_t site = 0x400123;

static void define_functions(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__function(scene, 0, G, 0x402000, "g", "");
}

/* f { g; a lock that is free, or waited for }, with pauses of the recording after the ones given.
 */
static uint64_t put_f(struct scene *scene, uint64_t tick, bool waits, bool early, bool late)
{
    PUT(scene, 0, tick, F);
    if (early)
        PUT(scene, 0, tick += 100, HEURT_EVENT_PAUSED, 90);
    PUT(scene, 0, tick += 10, G);
    PUT(scene, 0, tick += 10, G | 1);
    if (waits) {
        PUT(scene, 0, tick += 10, WAIT, HEURT_SITE(site, HEURT_LOCK_MUTEX), 0x7000);
        PUT(scene, 0, tick += 30, WAIT | 1, 0);
    } else {
        PUT(scene, 0, tick += 10, ACQUIRED, HEURT_SITE(site, HEURT_LOCK_MUTEX), 0x7000);
    }
    if (late)
        PUT(scene, 0, tick += 1000, HEURT_EVENT_PAUSED, 990);
    PUT(scene, 0, tick += 10, F | 1);
    return tick + 10;
}

/* Checks that the thread's shape is a loop of that many iterations of f. */
static void expect_loop(const struct structure *structure, uint64_t iterations)
{
    assert_int_equal(structure->threads.count, 1);
    uint32_t root = VEC_AT(&structure->threads, struct structure_thread, 0)->root;
    assert_int_equal(shapes__get(structure->shapes, root)->item_count, 1);
    const struct shape_item *loop = shapes__items(structure->shapes, root);
    assert_int_equal(loop->iterations.sum, iterations);
    assert_int_equal(shapes__get(structure->shapes, loop->shape)->item_count, 1);
    const struct shape_item *f = shapes__items(structure->shapes, loop->shape);
    assert_int_equal(shapes__get(structure->shapes, f->shape)->item_count, 2);
}

static void pauses_take_nothing_out_of_its_place(void **state)
{
    struct scene *scene = *state;
    struct structure *structure;
    struct error error;
    uint64_t tick = 1100, iterations = 0;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    for (unsigned pauses = 0; pauses < 4; pauses++)
        for (unsigned waits = 0; waits < 2; waits++, iterations++)
            tick = put_f(scene, tick, waits, pauses & 1, pauses & 2);
    scene__end(scene, 0, tick);
    scene__profile(scene);
    assert_int_equal(
        run__one(scene->trace, NULL, &structure_analysis, NULL, (void **)&structure, &error), 0);
    expect_loop(structure, iterations);
    structure__free(structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pauses_take_nothing_out_of_its_place, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
