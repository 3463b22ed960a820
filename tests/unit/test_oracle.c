#include "analysis/memory/internal.h"
#include "analysis/memory/oracle.h"
#include "base/memory.h"
#include "fixture.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- samples against counts ------------------------------------------------------------------ */

enum { LOADS = 0x401000, STORES = 0x401010, ELSEWHERE = 0x402000, COUNTS = 0x501000 };

struct two_runs {
    struct trace *trace;
    struct symbols *symbols;
    struct memory_use sampled, counted;
};

static void name(struct two_runs *runs, uint64_t address, unsigned line)
{
    symbols__put(runs->symbols, 0, address,
                 &(struct symbol){.function = "work",
                                  .module = "/bin/app",
                                  .file = line ? "/src/app.c" : NULL,
                                  .line = line,
                                  .named = true});
}

static int start(void **state)
{
    struct two_runs *runs = memory__zeroed(1, sizeof *runs);
    runs->trace = fixture__open("process 0 100 /bin/app\nthread 0 main\n1000 thread_start\n");
    runs->symbols = symbols__new();
    runs->sampled.objects = VEC_OF(struct memory_object);
    runs->counted.objects = VEC_OF(struct memory_object);
    runs->sampled.samples = 1;
    runs->counted.counted.is_told = true;
    for (unsigned i = 0; i < 8; i++) {
        name(runs, LOADS + i, 10);
        name(runs, STORES + i, 20);
        name(runs, COUNTS + i, 10);
        name(runs, COUNTS + 0x10 + i, 20);
        name(runs, COUNTS + 0x20 + i, 0);
        name(runs, ELSEWHERE + i, 30);
    }
    *state = runs;
    return 0;
}

static void free_objects(struct vec *objects)
{
    VEC_EACH (object, objects, struct memory_object) {
        vec__free(&object->accesses);
        vec__free(&object->counted.rows);
    }
    vec__free(objects);
}

static int stop(void **state)
{
    struct two_runs *runs = *state;
    free_objects(&runs->sampled.objects);
    free_objects(&runs->counted.objects);
    symbols__free(runs->symbols);
    trace__close(runs->trace);
    free(runs);
    return 0;
}

static struct memory_object *object_called(struct memory_use *use, const char *name)
{
    VEC_EACH (object, &use->objects, struct memory_object)
        if (object->name && strcmp(object->name, name) == 0)
            return object;
    struct memory_object *object = vec__push(&use->objects, NULL);
    *object = (struct memory_object){.kind = MEMORY_STATIC,
                                     .name = name,
                                     .accesses = VEC_OF(struct line_access),
                                     .counted = {.rows = VEC_OF(struct counted_row)}};
    if (strcmp(name, "stack") == 0) {
        object->kind = MEMORY_STACK;
        object->name = NULL;
    }
    return object;
}

static void sample(struct two_runs *runs, const char *name, uint64_t at, enum heurt_access access,
                   uint64_t ns)
{
    vec__push(
        &object_called(&runs->sampled, name)->accesses,
        &(struct line_access){.instruction = at, .access = access, .samples = 1, .sampled_ns = ns});
}

static void count(struct two_runs *runs, const char *name, uint64_t at, enum heurt_access access,
                  uint64_t times)
{
    struct memory_object *object = object_called(&runs->counted, name);
    vec__push(&object->counted.rows,
              &(struct counted_row){.site = at, .access = access, .count = times});
    object->counted.reads += times;
    runs->counted.counted.reads += times;
}

static struct memory_oracle *compare(struct two_runs *runs)
{
    struct memory_oracle *oracle =
        memory_oracle__compare(&(struct oracle_side){&runs->sampled, runs->trace, runs->symbols},
                               &(struct oracle_side){&runs->counted, runs->trace, runs->symbols});
    assert_non_null(oracle);
    return oracle;
}

static const struct oracle_row *row_called(const struct memory_oracle *oracle, const char *object)
{
    VEC_EACH (row, &oracle->rows, const struct oracle_row)
        if (strcmp(row->object, object) == 0)
            return row;
    fail_msg("no object is called %s", object);
    return NULL;
}

#define NEAR(value, expected) assert_true((value) > (expected)-1e-9 && (value) < (expected) + 1e-9)

/* Time and accesses differ by a thousand; what is accessed is the same. */
static void test_same_objects(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "table", LOADS, HEURT_ACCESS_READ, 9000);
    sample(runs, "sums", STORES, HEURT_ACCESS_UPDATE, 1000);
    count(runs, "table", COUNTS, HEURT_ACCESS_READ, 10);
    count(runs, "sums", COUNTS + 0x10, HEURT_ACCESS_WRITE, 1000000);
    struct memory_oracle *oracle = compare(runs);
    NEAR(oracle->distance, 0);
    NEAR(oracle->line_distance, 0);
    NEAR(row_called(oracle, "table")->sampled, 0.9);
    NEAR(row_called(oracle, "table")->expected, 0.9);
    assert_true(row_called(oracle, "table")->counted < 0.001);
    assert_int_equal(oracle->judged_ns, 10000);
    assert_int_equal(oracle->samples, 2);
    memory_oracle__free(oracle);
}

/* A fifth of the time at a place is told of an object that is never accessed there. */
static void test_wrong_object(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "table", LOADS, HEURT_ACCESS_READ, 800);
    sample(runs, "sums", LOADS, HEURT_ACCESS_READ, 200);
    count(runs, "table", COUNTS, HEURT_ACCESS_READ, 10);
    struct memory_oracle *oracle = compare(runs);
    NEAR(oracle->distance, 0.2);
    NEAR(row_called(oracle, "sums")->distance, 0.1);
    memory_oracle__free(oracle);
}

/* An instruction that is in two objects evenly is held against what is counted of it, 3 to 1. */
static void test_split(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "left", LOADS, HEURT_ACCESS_READ, 500);
    sample(runs, "right", LOADS, HEURT_ACCESS_READ, 500);
    count(runs, "left", COUNTS, HEURT_ACCESS_READ, 30);
    count(runs, "right", COUNTS, HEURT_ACCESS_READ, 10);
    struct memory_oracle *oracle = compare(runs);
    NEAR(oracle->distance, 0.25);
    NEAR(row_called(oracle, "left")->expected, 0.75);
    memory_oracle__free(oracle);
}

/* A line reads two objects and waits for one of them: each instruction is held against its own
 * access; what it writes is held against writes alone. */
static void test_several_accesses(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "table", LOADS, HEURT_ACCESS_READ, 900);
    sample(runs, "sums", LOADS + 1, HEURT_ACCESS_READ, 100);
    sample(runs, "out", LOADS + 2, HEURT_ACCESS_WRITE, 1000);
    count(runs, "table", COUNTS, HEURT_ACCESS_READ, 10);
    count(runs, "sums", COUNTS + 1, HEURT_ACCESS_READ, 10);
    count(runs, "out", COUNTS + 2, HEURT_ACCESS_WRITE, 10);
    struct memory_oracle *oracle = compare(runs);
    NEAR(oracle->distance, 0);
    NEAR(oracle->line_distance, 0.2);
    NEAR(row_called(oracle, "out")->by_line, 0.5);
    memory_oracle__free(oracle);
}

/* Variables that the compiler does not announce are aside, but not where it announces some. */
static void test_stacks(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "stack", LOADS, HEURT_ACCESS_READ, 300);
    sample(runs, "table", LOADS, HEURT_ACCESS_READ, 100);
    count(runs, "table", COUNTS, HEURT_ACCESS_READ, 10);
    struct memory_oracle *oracle = compare(runs);
    assert_int_equal(oracle->stack_ns, 300);
    assert_int_equal(oracle->judged_ns, 100);
    NEAR(oracle->distance, 0);
    memory_oracle__free(oracle);
    count(runs, "stack", COUNTS, HEURT_ACCESS_READ, 10);
    oracle = compare(runs);
    assert_int_equal(oracle->stack_ns, 0);
    NEAR(oracle->distance, 0.25);
    memory_oracle__free(oracle);
}

/* Code that does not count is aside; what has no line is looked for in its function. */
static void test_elsewhere(void **state)
{
    struct two_runs *runs = *state;
    sample(runs, "table", ELSEWHERE, HEURT_ACCESS_READ, 300);
    count(runs, "table", COUNTS, HEURT_ACCESS_READ, 10);
    struct memory_oracle *oracle = compare(runs);
    assert_int_equal(oracle->unjudged_ns, 300);
    assert_int_equal(oracle->judged_ns, 0);
    NEAR(oracle->distance, 0);
    memory_oracle__free(oracle);
    count(runs, "table", COUNTS + 0x20, HEURT_ACCESS_READ, 10);
    oracle = compare(runs);
    assert_int_equal(oracle->judged_ns, 300);
    memory_oracle__free(oracle);
}

/* ---- addresses that were worked out ---------------------------------------------------------- */

/* Nothing lay at an address that was made of a word that was read later: the thread was elsewhere.
 * One that its registers tell is believed, whatever lies there. */
static void test_worked_out(void **state)
{
    struct scene *scene = *state;
    struct memory_use *use;
    struct error error;
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1500, HEURT_EVENT_ALLOCATED, 0x400100, 0x10000, 64);
    scene__end(scene, 0, 1000000);
    for (int i = 0; i < 4; i++) {
        struct heurt_sample sample = {.monotonic_ns = 2000 + (uint64_t)i * 1000,
                                      .instruction = LOADS,
                                      .address = i < 2 ? 0x10008 : 0x20000,
                                      .pid = 100,
                                      .tid = 1000,
                                      .weight_ns = 10,
                                      .access = HEURT_ACCESS_READ,
                                      .region = HEURT_REGION_HEAP,
                                      .is_worked_out = i % 2,
                                      .bytes = 8};
        assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL,
                                              HEURT_DEFINITION_SAMPLES, &sample, sizeof sample),
                         0);
    }
    scene->end = (struct heurt_clock_pair){2000000, 2000000};
    scene__profile(scene);
    assert_int_equal(
        run__one(scene->trace, scene->symbols, &memory_analysis, NULL, (void **)&use, &error), 0);
    assert_int_equal(use->memory_ns, 30);
    assert_int_equal(use->unknown_ns, 10);
    assert_int_equal(use->objects.count, 2);
    memory_analysis.free(use);
}

/* ---- kinds of lines -------------------------------------------------------------------------- */

struct counted_made {
    uint32_t thread, generation;
    uint8_t first, behind;
    enum heurt_access access;
    uint64_t count;
};

static enum counted_kind kind_of(const struct counted_made *made, size_t count)
{
    struct vec objects = VEC_OF(struct memory_object), all = VEC_OF(struct counted_at);
    struct memory_object *object = vec__push(&objects, NULL);
    for (size_t i = 0; i < count; i++)
        vec__push(&all, &(struct counted_at){.thread = made[i].thread,
                                             .generation = made[i].generation,
                                             .first = made[i].first,
                                             .behind = made[i].behind,
                                             .access = made[i].access,
                                             .count = made[i].count});
    counted_lines__judge(&all, &objects);
    enum counted_kind kind = counted_object__kind(&object->counted);
    vec__free(&objects);
    vec__free(&all);
    return kind;
}

#define KIND_OF(...)                                    \
    kind_of((const struct counted_made[]){__VA_ARGS__}, \
            sizeof((const struct counted_made[]){__VA_ARGS__}) / sizeof(struct counted_made))

#define READ HEURT_ACCESS_READ
#define WRITE HEURT_ACCESS_WRITE
#define ATOMIC HEURT_ACCESS_ATOMIC

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 100}, {0, 0, 8, 16, READ, 50}), COUNTED_PRIVATE);
    assert_int_equal(KIND_OF({0, 0, 0, 8, READ, 100}, {1, 0, 0, 8, READ, 50}), COUNTED_READ_ONLY);
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 100}, {1, 0, 8, 16, WRITE, 50}),
                     COUNTED_FALSE_SHARING);
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 100}, {1, 0, 56, 64, READ, 50}),
                     COUNTED_FALSE_SHARING);
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 100}, {1, 0, 7, 9, READ, 50}),
                     COUNTED_TRUE_SHARING);
    assert_int_equal(KIND_OF({0, 0, 8, 16, ATOMIC, 100}, {1, 0, 8, 16, ATOMIC, 50}),
                     COUNTED_TRUE_SHARING);
}

/* Who makes an object, and what lay there before, have no part in it. */
static void test_passers(void **state)
{
    (void)state;
    assert_int_equal(
        KIND_OF({0, 0, 0, 8, WRITE, 1}, {1, 0, 0, 8, READ, 1000}, {2, 0, 0, 8, READ, 1000}),
        COUNTED_READ_ONLY);
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 1}, {1, 0, 0, 8, ATOMIC, 1000}), COUNTED_PRIVATE);
    assert_int_equal(KIND_OF({0, 0, 0, 8, WRITE, 500}, {1, 1, 0, 8, WRITE, 500}), COUNTED_PRIVATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_objects, start, stop),
        cmocka_unit_test_setup_teardown(test_wrong_object, start, stop),
        cmocka_unit_test_setup_teardown(test_split, start, stop),
        cmocka_unit_test_setup_teardown(test_several_accesses, start, stop),
        cmocka_unit_test_setup_teardown(test_stacks, start, stop),
        cmocka_unit_test_setup_teardown(test_elsewhere, start, stop),
        cmocka_unit_test_setup_teardown(test_worked_out, scene__setup, scene__teardown),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_passers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
