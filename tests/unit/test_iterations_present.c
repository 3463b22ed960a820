/* Screens and documents of iterations and differences, of traces that are made for it, are compared
 * with files in tests/golden/iterations. */
#include "analysis/analysis.h"
#include "base/memory.h"
#include "golden.h"
#include "present/compare/difference_screens.h"
#include "present/iterations/iterations_screens.h"
#include "present/table/table_source.h"
#include "scene.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US 1000ull

enum {
    FETCH = 1024,
    COMPUTE = 1026,
    STORE = 1028,
    MARK = 1030,
};

#define SITE HEURT_SITE(0x7000, HEURT_LOCK_MUTEX)
#define LOCK 0x9000

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_80 = {.columns = 80, .colour = false, .unicode = true};
static const struct style terminal_ascii = {.columns = 80, .colour = true, .unicode = false};

/* What is made once for all tests: two workers in step with a slow iteration each, and a phase of
 * one thread before. */
struct made {
    struct scene *scene;
    struct iterations *iterations;
    struct report report;
};

static uint64_t call(struct scene *scene, uint32_t thread, uint32_t id, uint64_t at, uint64_t ticks)
{
    PUT(scene, thread, at, id);
    PUT(scene, thread, at + ticks, id + 1);
    return at + ticks;
}

/* An iteration of 100 us; compute waits for the lock, or has so many more stores in it. */
static void iteration(struct scene *scene, uint32_t thread, uint64_t at, uint64_t wait, int stores)
{
    at = call(scene, thread, FETCH, at, 20 * US) + 100;
    PUT(scene, thread, at, COMPUTE, 64, 128 + 16 * (uint64_t)stores);
    at += 5 * US;
    if (wait) {
        PUT(scene, thread, at, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
        at += wait;
        PUT(scene, thread, at, HEURT_EVENT_LOCK_WAIT + 1, 0);
    } else {
        PUT(scene, thread, at, HEURT_EVENT_LOCK_ACQUIRED, SITE, LOCK);
    }
    for (int i = 0; i < 1 + stores; i++)
        at = call(scene, thread, STORE, at + US, 10 * US);
    PUT(scene, thread, at + 60 * US, COMPUTE + 1);
}

static void write_scene(struct scene *scene)
{
    static const char *const names[] = {"fetch", "compute", "store"};
    scene->end = (struct heurt_clock_pair){10000 * US, 10000 * US};
    for (uint32_t i = 0; i < 3; i++)
        scene__function(scene, 0, FETCH + 2 * i, 0x1000 * (i + 1), names[i],
                        i == 1 ? "rows,columns" : "");
    scene__start(scene, 0, 2000);
    uint64_t at = 10 * US;
    for (int i = 0; i < 500; i++)
        at = call(scene, 0, STORE, at, (i == 250 ? 50 : 2) * US) + 100;
    for (uint32_t thread = 0; thread < 2; thread++) {
        if (thread)
            scene__start(scene, thread, 2000 * US);
        for (uint64_t i = 0; i < 40; i++)
            iteration(scene, thread, 2000 * US + i * 200 * US + thread * 100,
                      thread == 0 && i == 11 ? 90 * US : 0, thread == 1 && i == 30 ? 6 : 0);
        scene__end(scene, thread, 10000 * US);
    }
}

static int setup(void **state)
{
    static struct made made;
    struct error error;
    scene__setup((void **)&made.scene);
    write_scene(made.scene);
    scene__profile(made.scene);
    assert_int_equal(run__one(made.scene->trace, NULL, &iterations_analysis, NULL,
                              (void **)&made.iterations, &error),
                     0);
    made.report = (struct report){.trace = made.scene->trace,
                                  .symbols = made.scene->symbols,
                                  .profile = made.scene->profile,
                                  .directory = "heurt.data"};
    *state = &made;
    return 0;
}

static int teardown(void **state)
{
    struct made *made = *state;
    iterations__free(made->iterations);
    return scene__teardown((void **)&made->scene);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static char *iterations_text(const struct made *made, const struct iterations *iterations,
                             const struct style *style)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    iterations__put(&made->report, iterations, style, out);
    fclose(out);
    return text;
}

static void iterations_on_screens(void **state)
{
    const struct made *made = *state;
    golden__assert("iterations/known.txt", iterations_text(made, made->iterations, &to_file));
    golden__assert("iterations/known-80.txt",
                   iterations_text(made, made->iterations, &terminal_80));
    const struct style terminal_60 = {60, terminal_80.colour, terminal_80.unicode};
    golden__assert("iterations/known-60.txt",
                   iterations_text(made, made->iterations, &terminal_60));
    golden__assert("iterations/known-ascii.txt",
                   iterations_text(made, made->iterations, &terminal_ascii));
    const struct iterations none = {.phases = VEC_OF(struct iteration_phase)};
    golden__assert("iterations/none.txt", iterations_text(made, &none, &terminal_80));
}

static void iterations_as_json(void **state)
{
    const struct made *made = *state;
    struct table_rows rows = phase_rows(&made->report, made->iterations);
    struct json_object *phases = document__new_list(&rows);
    golden__assert("iterations/known.json",
                   memory__format("%s\n", json_object_to_json_string_ext(
                                              phases, JSON_C_TO_STRING_PRETTY |
                                                          JSON_C_TO_STRING_NOSLASHESCAPE)));
    json_object_put(phases);
    table_rows__free(&rows);
}

/* ---- differences ----------------------------------------------------------------------------- */

static char *difference_as(const struct difference_presenter *presenter,
                           const struct difference_view *view, const struct style *style)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    presenter->put(view, style, out);
    fclose(out);
    return text;
}

static const struct difference_selection slowest = {.slow = 1, .fast = 1};

static void a_class(void **state)
{
    const struct made *made = *state;
    struct error error;
    struct difference *difference;
    const struct profile_class *class = scene__class(made->scene, CLASS_CALL, "compute", 0, 0);
    assert_int_equal(difference__of_class(made->scene->trace, made->scene->profile, class, &slowest,
                                          &difference, &error),
                     0);
    const struct difference_view view = {
        .report = &made->report, .difference = difference, .rank = 2, .matching = 2};
    golden__assert("iterations/class.txt", difference_as(&difference_text, &view, &to_file));
    golden__assert("iterations/class-80.txt", difference_as(&difference_text, &view, &terminal_80));
    golden__assert("iterations/class-ascii.txt",
                   difference_as(&difference_text, &view, &terminal_ascii));
    golden__assert("iterations/class.json", difference_as(&difference_json, &view, &to_file));
    difference__free(difference);
}

static void a_iteration(void **state)
{
    const struct made *made = *state;
    struct error error;
    struct difference *difference;
    const struct difference_selection second = {.slow = 2};
    const struct iteration_phase *phase =
        VEC_AT(&made->iterations->phases, struct iteration_phase, 1);
    assert_int_equal(
        difference__of_iterations(made->scene->trace, phase, &second, &difference, &error), 0);
    const struct difference_view view = {.report = &made->report,
                                         .difference = difference,
                                         .matching = 1,
                                         .phase = phase,
                                         .phase_number = 2,
                                         .phases = 2};
    golden__assert("iterations/turn-80.txt", difference_as(&difference_text, &view, &terminal_80));
    golden__assert("iterations/turn.json", difference_as(&difference_json, &view, &to_file));
    difference__free(difference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_on_screens),
        cmocka_unit_test(iterations_as_json),
        cmocka_unit_test(a_class),
        cmocka_unit_test(a_iteration),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
