/* Two threads call f once, for LONG ms, and then g, CALLS times. */
#include "analysis/timeline/long_functions.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

enum {
    F = 1024,
    G = 1026,
    IN_F = 0x9000,
    IN_F_TOO = 0x9004,
    IN_G = 0x9100,
    LONG = 300,
    CALLS = 50
};

static void put_sample(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t instruction,
                       uint64_t address)
{
    struct heurt_sample sample = {.monotonic_ns = 1000 + ms * MS + MS / 2 + thread * 1000,
                                  .instruction = instruction,
                                  .address = address,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = address ? HEURT_ACCESS_UPDATE : HEURT_ACCESS_NONE,
                                  .bytes = 8};
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                                          &sample, sizeof sample),
                     0);
}

static void name(struct scene *scene, uint64_t address, const char *function, uint32_t line)
{
    symbols__put(
        scene->symbols, 0, address,
        &(struct symbol){.function = function, .module = "/app", .file = "/a.c", .line = line});
}

/* is_recorded: f's call is. */
static struct long_functions *find(struct scene *scene, bool is_recorded)
{
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__function(scene, 0, G, 0x402000, "g", "");
    name(scene, IN_F, "f", 10);
    name(scene, IN_F_TOO, "f", 20);
    name(scene, IN_G, "g", 30);
    for (uint32_t thread = 0; thread < 2; thread++) {
        uint64_t ms = 0;
        scene__start(scene, thread, 1000);
        if (is_recorded)
            PUT(scene, thread, 1000, F);
        for (; ms < LONG; ms++)
            put_sample(scene, thread, ms, ms % 3 ? IN_F : IN_F_TOO, 0x8000 + 16 * thread);
        if (is_recorded)
            PUT(scene, thread, 1000 + ms * MS, F | 1);
        for (unsigned i = 0; i < CALLS; i++, ms++) {
            PUT(scene, thread, 1000 + ms * MS, G);
            put_sample(scene, thread, ms, IN_G, 0);
            PUT(scene, thread, 1000 + ms * MS + MS - 10, G | 1);
        }
        scene__end(scene, thread, 1000 + ms * MS);
        scene->end = (struct heurt_clock_pair){1000 + ms * MS, 1000 + ms * MS};
    }
    scene__profile(scene);
    void *found = NULL;
    struct error error = {""};
    assert_int_equal(
        run__one(scene->trace, scene->symbols, &long_functions_analysis, NULL, &found, &error), 0);
    assert_non_null(found);
    return found;
}

static const struct long_function *only(const struct long_functions *found)
{
    assert_int_equal(found->rows.count, 1);
    return VEC_AT(&found->rows, struct long_function, 0);
}

static void what_is_called_once_is_told_from_samples(void **state)
{
    struct long_functions *found = find(*state, true);
    const struct long_function *row = only(found);
    assert_string_equal(row->symbol->function, "f");
    assert_int_equal(row->ns, 2 * LONG * MS);
    assert_int_equal(row->calls, 2);
    assert_int_equal(row->threads.count, 2);
    assert_int_equal(VEC_AT(&row->threads, struct function_thread, 1)->ns, LONG * MS);
    assert_int_equal(found->all_ns, 2 * (LONG + CALLS) * MS);
    assert_int_equal(found->seldom_ns, 2 * LONG * MS);
    long_functions_analysis.free(found);
}

static void its_lines_and_what_sharing_costs_there_are_told(void **state)
{
    struct long_functions *found = find(*state, true);
    const struct long_function *row = only(found);
    assert_int_equal(row->lines.count, 2);
    const struct function_line *first = VEC_AT(&row->lines, struct function_line, 0),
                               *second = VEC_AT(&row->lines, struct function_line, 1);
    assert_int_equal(first->symbol->line, 10);
    assert_int_equal(first->ns, 2 * LONG / 3 * 2 * MS);
    assert_int_equal(second->symbol->line, 20);
    assert_true(row->false_ns > LONG * MS && row->false_ns <= 2 * LONG * MS);
    assert_int_equal(row->true_ns, 0);
    long_functions_analysis.free(found);
}

static void what_was_not_recorded_is_told_too(void **state)
{
    struct long_functions *found = find(*state, false);
    const struct long_function *row = only(found);
    assert_string_equal(row->symbol->function, "f");
    assert_int_equal(row->calls, 0);
    long_functions_analysis.free(found);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_called_once_is_told_from_samples),
        TEST(its_lines_and_what_sharing_costs_there_are_told),
        TEST(what_was_not_recorded_is_told_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
