#include "analysis/memory/memory_views.h"
#include "base/memory.h"
#include "present/memory/sharing_words.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

enum { SCORE = 0x9000, PUBLISH = 0x9100, LINE = 0x8000, FAR = 0x40000000 };

static void put_sample(struct scene *scene, uint32_t thread, uint64_t ms, uint64_t address,
                       enum heurt_access access)
{
    struct heurt_sample sample = {.monotonic_ns = 1000 + ms * MS + thread * 1000,
                                  .instruction = thread ? PUBLISH : SCORE,
                                  .address = address,
                                  .pid = 100,
                                  .tid = 1000 + thread,
                                  .weight_ns = MS,
                                  .access = (uint8_t)access,
                                  .bytes = 8};
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                                          &sample, sizeof sample),
                     0);
}

/* Threads from first on have no other events. */
static struct memory_use *find_in(struct scene *scene, uint32_t first)
{
    void *use = NULL;
    struct error error;
    for (uint32_t i = first; i < 2; i++) {
        scene__start(scene, i, 1000);
        scene__end(scene, i, 1000 + 1000 * MS);
    }
    scene->end = (struct heurt_clock_pair){2000 + 1000 * MS, 2000 + 1000 * MS};
    scene__profile(scene);
    symbols__put(scene->symbols, 0, SCORE, &(struct symbol){.function = "score"});
    symbols__put(scene->symbols, 0, PUBLISH, &(struct symbol){.function = "publish"});
    assert_int_equal(run__one(scene->trace, scene->symbols, &memory_analysis, NULL, &use, &error),
                     0);
    assert_non_null(use);
    return use;
}

static struct memory_use *find(struct scene *scene)
{
    return find_in(scene, 0);
}

static const struct memory_choice every = {MEMORY_EVERY, MEMORY_EVERY};

static void bytes_of_a_line_are_told_by_thread(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 40; ms++) {
        put_sample(scene, 0, ms, LINE, HEURT_ACCESS_UPDATE);
        put_sample(scene, 1, ms, ms % 2 ? LINE + 8 : LINE + 16,
                   ms % 2 ? HEURT_ACCESS_WRITE : HEURT_ACCESS_READ);
    }
    struct memory_use *use = find(scene);
    struct memory_lines lines = memory_lines__of(use, every);
    assert_int_equal(lines.lines.count, 1);
    const struct memory_line *line = VEC_AT(&lines.lines, struct memory_line, 0);
    assert_int_equal(line->address, LINE);
    assert_int_equal(line->ns, 80 * MS);
    assert_int_equal(line->met, 0);
    assert_int_equal(line->threads.count, 2);
    const struct line_thread *one = VEC_AT(&line->threads, struct line_thread, 0),
                             *other = VEC_AT(&line->threads, struct line_thread, 1);
    assert_int_equal(one->thread, 0);
    assert_int_equal(one->written_ns[7], 40 * MS);
    assert_int_equal(one->written_ns[8], 0);
    assert_true(line_thread__writes(other, 15) && !line_thread__writes(other, 16));
    assert_true(line_thread__reads(other, 16) && !line_thread__reads(other, 24));
    memory_lines__free(&lines);
    memory_analysis.free(use);
}

static void bytes_that_one_writes_and_another_reads_are_met(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 40; ms++) {
        put_sample(scene, 0, ms, LINE + 56, HEURT_ACCESS_WRITE);
        put_sample(scene, 1, ms, LINE + 60, HEURT_ACCESS_READ);
    }
    struct memory_use *use = find(scene);
    struct memory_lines lines = memory_lines__of(use, every);
    const struct memory_line *line = VEC_AT(&lines.lines, struct memory_line, 0);
    assert_true(line->met == 0xfull << 60); /* what goes on behind the line is of another one */
    memory_lines__free(&lines);
    memory_analysis.free(use);
}

/* Lines that one thread has are lines of their object, and no shared ones. */
static void lines_of_one_thread_are_told_of_their_object_alone(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 40; ms++)
        put_sample(scene, (uint32_t)(ms % 2), ms, LINE + ms % 2 * 64, HEURT_ACCESS_WRITE);
    struct memory_use *use = find(scene);
    struct memory_lines lines = memory_lines__of(use, every);
    assert_int_equal(lines.lines.count, 0);
    memory_lines__free(&lines);
    lines = memory_lines__of(use, (struct memory_choice){0, MEMORY_EVERY});
    assert_int_equal(lines.lines.count, 2);
    memory_lines__free(&lines);
    memory_analysis.free(use);
}

static uint64_t sum_of(const struct memory_pages *pages)
{
    uint64_t ns = 0;
    VEC_EACH (thread, &pages->threads, const struct page_thread)
        for (uint32_t i = 0; i < pages->columns; i++)
            ns += thread->column_ns[i];
    return ns;
}

static void pages_hold_all_time_in_as_many_columns_as_there_is_room(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 200; ms++)
        put_sample(scene, (uint32_t)(ms % 2), ms, LINE + ms / 2 * MEMORY_PAGE_BYTES,
                   HEURT_ACCESS_WRITE);
    struct memory_use *use = find(scene);
    for (uint32_t most = 1; most <= 128; most++) {
        struct memory_pages pages = memory_pages__of(use, every, most);
        assert_true(pages.columns <= most && pages.is_whole);
        assert_int_equal(pages.pages, 100);
        assert_int_equal(sum_of(&pages), 200 * MS);
        assert_int_equal(memory_pages__level(&pages, pages.most_ns), MEMORY_PAGE_LEVELS);
        assert_true(memory_pages__level(&pages, pages.least_ns) >= 1);
        assert_int_equal(memory_pages__level(&pages, 0), 0);
        memory_pages__free(&pages);
    }
    memory_analysis.free(use);
}

static void what_lies_between_far_pages_is_left_out(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 40; ms++)
        put_sample(scene, (uint32_t)(ms % 2), ms, ms % 2 ? LINE : FAR, HEURT_ACCESS_READ);
    struct memory_use *use = find(scene);
    struct memory_pages pages = memory_pages__of(use, every, 64);
    assert_false(pages.is_whole);
    assert_int_equal(pages.columns, 2);
    const struct page_thread *one = VEC_AT(&pages.threads, struct page_thread, 0);
    assert_int_equal(one->column_ns[0], 0);
    assert_int_equal(one->column_ns[1], 20 * MS);
    memory_pages__free(&pages);
    struct memory_dots dots = memory_dots__of(use, every, 10, 10);
    assert_int_equal(VEC_AT(&dots.dots, struct memory_dot, 0)->y, 0);
    assert_int_equal(VEC_AT(&dots.dots, struct memory_dot, dots.dots.count - 1)->y, 5);
    memory_dots__free(&dots);
    memory_analysis.free(use);
}

static void slices_that_are_alike_are_one(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 60; ms++)
        put_sample(scene, 0, ms, LINE, HEURT_ACCESS_WRITE);
    for (uint64_t ms = 60; ms < 120; ms++)
        put_sample(scene, 1, ms, LINE, HEURT_ACCESS_READ);
    struct memory_use *use = find(scene);
    struct memory_flow flow = memory_flow__of(scene->trace, scene->symbols, use, every, 12);
    assert_int_equal(flow.rows.count, 12);
    memory_flow__join(scene->trace, scene->symbols, &flow);
    assert_int_equal(flow.rows.count, 2);
    const struct flow_row *first = VEC_AT(&flow.rows, struct flow_row, 0),
                          *second = VEC_AT(&flow.rows, struct flow_row, 1);
    assert_int_equal(first->thread, 0);
    assert_int_equal(first->ns, 60 * MS);
    assert_int_equal(first->written_ns, 60 * MS);
    assert_int_equal(second->thread, 1);
    assert_int_equal(second->ns, 60 * MS);
    assert_int_equal(second->written_ns, 0);
    assert_int_equal(first->to_ns, second->from_ns);
    memory_flow__free(&flow);
    memory_analysis.free(use);
}

static void slices_with_a_gap_between_them_stay_apart(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 120; ms++)
        if (ms < 40 || ms >= 80)
            put_sample(scene, 0, ms, LINE, HEURT_ACCESS_WRITE);
    struct memory_use *use = find(scene);
    struct memory_flow flow = memory_flow__of(scene->trace, scene->symbols, use, every, 12);
    memory_flow__join(scene->trace, scene->symbols, &flow);
    assert_int_equal(flow.rows.count, 2);
    assert_int_equal(VEC_AT(&flow.rows, struct flow_row, 0)->ns, 40 * MS);
    memory_flow__free(&flow);
    memory_analysis.free(use);
}

/* score is called in inner, which outer calls; behind that in outer alone, then in neither. */
static void calls_around_a_sample_are_known(void **state)
{
    enum { OUTER = 1024, INNER = 1026 };
    struct scene *scene = *state;
    scene__function(scene, 0, OUTER, 0x1000, "outer", "");
    scene__function(scene, 0, INNER, 0x2000, "inner", "");
    for (uint64_t ms = 0; ms < 30; ms++)
        put_sample(scene, 0, ms, LINE, HEURT_ACCESS_WRITE);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, OUTER);
    PUT(scene, 0, 1000, INNER);
    PUT(scene, 0, 1000 + 10 * MS, INNER | 1);
    PUT(scene, 0, 1000 + 20 * MS, OUTER | 1);
    scene__end(scene, 0, 1000 + 1000 * MS);
    struct memory_use *use = find_in(scene, 1);
    struct memory_callers callers = memory_callers__of(scene->trace, use, every);
    assert_int_equal(callers.calls.count, 3);
    for (size_t i = 0; i < 30; i++) {
        const struct memory_call *call =
            VEC_AT(&callers.calls, struct memory_call, callers.call_of[i]);
        if (i >= 20) {
            assert_int_equal(callers.call_of[i], MEMORY_NO_CALL);
            continue;
        }
        assert_string_equal(call->function->name, i < 10 ? "inner" : "outer");
        if (i < 10)
            call = VEC_AT(&callers.calls, struct memory_call, call->around);
        assert_string_equal(call->function->name, "outer");
        assert_int_equal(call->around, MEMORY_NO_CALL);
    }
    free(callers.call_of);
    vec__free(&callers.calls);
    struct memory_flow flow = memory_flow__of(scene->trace, scene->symbols, use, every, 3);
    memory_flow__join(scene->trace, scene->symbols, &flow);
    assert_int_equal(flow.rows.count, 3);
    memory_flow__free(&flow);
    memory_analysis.free(use);
}

static void who_was_there_before_others_is_known(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 40; ms++)
        put_sample(scene, ms >= 10 && ms % 2, ms, LINE, HEURT_ACCESS_WRITE);
    struct memory_use *use = find(scene);
    const struct first_sharing *first = &VEC_AT(&use->objects, struct memory_object, 0)->first;
    assert_int_equal(first->thread, 0);
    assert_int_equal(first->second, 1);
    assert_int_equal(first->before_samples, 11);
    assert_int_equal(first->before_ns, 11 * MS);
    assert_true(first->shared_ns >= 11 * MS && first->shared_ns < 12 * MS);
    memory_analysis.free(use);
}

static void dots_are_bounded_and_hold_all_time(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 900; ms++)
        for (uint32_t thread = 0; thread < 2; thread++)
            put_sample(scene, thread, ms, LINE + ms * 7919 % 4096 * 64,
                       thread ? HEURT_ACCESS_WRITE : HEURT_ACCESS_READ);
    struct memory_use *use = find(scene);
    struct memory_dots dots = memory_dots__of(use, every, 9, 5);
    uint64_t ns = 0;
    assert_true(dots.dots.count <= 45);
    VEC_EACH (dot, &dots.dots, const struct memory_dot) {
        assert_true(dot->x < 9 && dot->y < 5 && dot->most_ns <= dot->ns);
        ns += dot->ns;
    }
    assert_int_equal(ns, 1800 * MS);
    memory_dots__free(&dots);
    memory_analysis.free(use);
}

static void assert_data(const struct scene *scene, uint64_t offset, uint64_t bytes,
                        const char *expected)
{
    struct report report = {.trace = scene->trace, .symbols = scene->symbols};
    struct allocation object = {
        .call = HEURT_ALLOCATION_MALLOC, .site = 0x7000, .born = 0x7000, .address = LINE};
    object.bytes = bytes;
    struct line_access access = {.instruction = SCORE, .address = LINE + offset, .bytes = 8};
    access.object = &object;
    char *text = access__data(&report, 0, NULL, &access);
    assert_string_equal(text, expected);
    free(text);
}

static void an_object_is_known_by_what_it_was_allocated_as(void **state)
{
    static const struct symbol_member members[] = {{0, 8, "left"}, {16, 8, "right"}};
    struct scene *scene = *state;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    symbols__put_made_type(scene->symbols, 0, 0x7000,
                           &(struct symbol_type){"pair", 56, members, 2});
    assert_data(scene, 16, 56, "pair.right");
    assert_data(scene, 72, 112, "pair[1].right");
    /* Rounded up: the first is there, and nobody knows what is behind it. */
    assert_data(scene, 16, 128, "pair.right");
    assert_data(scene, 72, 128, "bytes 72 to 79 of 128");
    assert_data(scene, 16, 40, "bytes 16 to 23 of 40");
    /* The code sees a part of it only. */
    symbols__put_field(
        scene->symbols, 0, SCORE,
        &(struct symbol_field){.name = "part", .type = "part", .field = "x", .size = 40});
    assert_data(scene, 16, 56, "pair.right");
}

/* Others of the same object tell what lies behind the first one in memory that was rounded up. */
static void others_tell_of_elements_behind_the_first(void **state)
{
    static const struct symbol_member members[] = {
        {0, 8, "left"},
        {16, 4, "rows[].seen", {{8, 2}}, 1},
        {20, 4, "rows[].lost", {{8, 2}}, 1},
        {32, 4, "open–shut", {{0}}, 0},
    };
    const struct symbol_type pair = {"pair", 40, members, 4};
    struct scene *scene = *state;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    struct report report = {.trace = scene->trace, .symbols = scene->symbols};
    struct allocation object = {.call = HEURT_ALLOCATION_MALLOC, .site = 0x7000, .born = 0x7000};
    object.address = LINE;
    object.bytes = 128;
    symbols__put_field(
        scene->symbols, 0, SCORE,
        &(struct symbol_field){
            .name = "pair.left", .type = "pair", .field = "left", .size = 40, .layout = &pair});
    struct vec beside = VEC_OF(struct line_access);
    struct line_access access = {.instruction = SCORE + 64, .bytes = 4, .object = &object};
    static const struct {
        uint64_t known, offset; /* of the one that is told, and of the other */
        const char *alone, *with;
    } cases[] = {
        {40, 56, "bytes 56 to 59 of 128", "pair[1].rows[0].seen"},
        {40, 68, "bytes 68 to 71 of 128", "pair[1].rows[1].lost"},
        {80, 72, "bytes 72 to 75 of 128", "pair[1].open–shut"},
        {0, 32, "bytes 32 to 35 of 128", "pair.open–shut"},
        {0, 72, "bytes 72 to 75 of 128", "bytes 72 to 75 of 128"},  /* nobody saw a second one */
        {41, 56, "bytes 56 to 59 of 128", "bytes 56 to 59 of 128"}, /* there is none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line_access told = {.instruction = SCORE, .bytes = 8, .object = &object};
        told.address = LINE + cases[i].known;
        access.address = LINE + cases[i].offset;
        beside.count = 0;
        vec__push(&beside, &access);
        char *alone = access__data(&report, 0, &beside, &access);
        vec__push(&beside, &told);
        char *with = access__data(&report, 0, &beside, &access);
        assert_string_equal(alone, cases[i].alone);
        assert_string_equal(with, cases[i].with);
        free(alone);
        free(with);
    }
    vec__free(&beside);
}

/* A stride tells, too: the same instruction a whole type away. */
static void an_instruction_that_strides_tells_of_elements(void **state)
{
    static const struct symbol_member members[] = {{0, 8, "left"}, {16, 8, "right"}};
    struct scene *scene = *state;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    struct report report = {.trace = scene->trace, .symbols = scene->symbols};
    struct allocation object = {.call = HEURT_ALLOCATION_MALLOC, .site = 0x7000, .born = 0x7000};
    object.address = LINE;
    object.bytes = 128;
    symbols__put_made_type(scene->symbols, 0, 0x7000,
                           &(struct symbol_type){"pair", 24, members, 2});
    for (uint64_t apart = 23; apart <= 24; apart++) {
        struct vec beside = VEC_OF(struct line_access);
        struct line_access access = {.instruction = SCORE, .bytes = 8, .object = &object};
        access.address = LINE + 40;
        vec__push(&beside, &access);
        access.address += apart;
        vec__push(&beside, &access);
        access.address -= apart;
        char *text = access__data(&report, 0, &beside, &access);
        assert_string_equal(text, apart == 24 ? "pair[1].right" : "bytes 40 to 47 of 128");
        free(text);
        vec__free(&beside);
    }
}

/* What the program calls its own member is told, not what the library has in it. */
static void a_member_of_the_program_is_told_and_not_the_librarys(void **state)
{
    static const struct symbol_member own[] = {{0, 8, "requests"}};
    struct scene *scene = *state;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    symbols__put_field(scene->symbols, 0, SCORE,
                       &(struct symbol_field){.name = "std::__atomic_base._M_i",
                                              .type = "std::__atomic_base",
                                              .field = "_M_i",
                                              .size = 8});
    assert_data(scene, 8, 16, "std::__atomic_base[1]._M_i");
    symbols__put_made_type(scene->symbols, 0, 0x7000, &(struct symbol_type){"counter", 8, own, 1});
    assert_data(scene, 8, 16, "counter[1].requests");
}

/* Who uses what of the line: an offset and a thread. */
struct use_of_line {
    uint64_t offset;
    uint32_t thread;
};

/* The first one is told, and the last one against it. object: may be NULL. */
static void assert_advice(const struct scene *scene, const struct allocation *object,
                          const struct use_of_line *uses, size_t count, const char *expected)
{
    struct report report = {.trace = scene->trace, .symbols = scene->symbols};
    struct sharing sharing = {
        .is_false = true, .line = LINE, .accesses = VEC_OF(struct line_access)};
    for (size_t i = 0; i < count; i++) {
        struct line_access access = {.thread = uses[i].thread,
                                     .instruction = PUBLISH + 16 * i,
                                     .address = LINE + uses[i].offset,
                                     .bytes = 8,
                                     .access = HEURT_ACCESS_WRITE,
                                     .samples = 9,
                                     .sampled_ns = 9 * MS,
                                     .object = object};
        vec__push(&sharing.accesses, &access);
    }
    sharing.victim = *VEC_AT(&sharing.accesses, struct line_access, 0);
    sharing.by = *VEC_AT(&sharing.accesses, struct line_access, count - 1);
    char *text = sharing__fix(&report, &sharing);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    vec__free(&sharing.accesses);
}

#define ADVICE(scene, object, expected, ...)                                                      \
    assert_advice(scene, object, (const struct use_of_line[]){__VA_ARGS__},                       \
                  sizeof((const struct use_of_line[]){__VA_ARGS__}) / sizeof(struct use_of_line), \
                  expected)

/* Lines begin wherever another thread's fields do. */
static void advice_takes_apart_what_threads_use(void **state)
{
    static const char *const names[] = {"all.a", "all.b", "all.c", "all.d", "all.e", "x"};
    struct scene *scene = *state;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        symbols__put_variable(scene->symbols, 0, LINE + 8 * i,
                              &(struct symbol){.function = names[i], .named = true});
    ADVICE(scene, NULL, "alignas(64) on all.b", {0, 0}, {8, 1});
    ADVICE(scene, NULL, "alignas(64) on all.b", {8, 1}, {0, 0});
    ADVICE(scene, NULL, "alignas(64) on all.c", {0, 0}, {8, 0}, {16, 1}, {24, 1});
    ADVICE(scene, NULL, "alignas(64) on each of all.b and all.c", {0, 0}, {16, 0}, {8, 1});
    ADVICE(
        scene, NULL,
        "put what one thread uses together, and alignas(64) on the first of what each thread uses",
        {0, 0}, {16, 0}, {32, 0}, {8, 1}, {24, 1});
    /* Variables of their own may be laid out in any order. */
    ADVICE(scene, NULL, "alignas(64) on each of all.b and x", {8, 0}, {40, 1});
}

static void advice_about_an_object_tells_its_new_size(void **state)
{
    static const struct symbol_member members[] = {{0, 8, "left"}, {16, 8, "right"}};
    struct scene *scene = *state;
    struct allocation object = {.call = HEURT_ALLOCATION_MALLOC, .site = 0x7000, .born = 0x7000};
    object.address = LINE;
    object.bytes = 64;
    put_sample(scene, 0, 1, LINE, HEURT_ACCESS_WRITE);
    memory_analysis.free(find(scene));
    symbols__put_made_type(scene->symbols, 0, 0x7000,
                           &(struct symbol_type){"pair", 32, members, 2});
    ADVICE(scene, &object, "alignas(64) on pair.right (32 → 128 bytes)", {0, 0}, {16, 1});
    ADVICE(scene, &object, "alignas(64) on pair (32 → 64 bytes)", {0, 0}, {32, 1});
    ADVICE(scene, &object, "what each thread uses of pair in a struct of its own with alignas(64)",
           {0, 0}, {16, 1}, {32, 1});
    object.address -= 16; /* it does not begin at a line: nor would elements of 64 bytes */
    ADVICE(scene, &object, "alignas(64) on pair (32 → 64 bytes), in memory of aligned_alloc(64, …)",
           {0, 0}, {16, 1});
    object.call = HEURT_ALLOCATION_NEW; /* which knows of alignas */
    ADVICE(scene, &object, "alignas(64) on pair (32 → 64 bytes)", {0, 0}, {16, 1});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_of_a_line_are_told_by_thread),
        TEST(bytes_that_one_writes_and_another_reads_are_met),
        TEST(lines_of_one_thread_are_told_of_their_object_alone),
        TEST(pages_hold_all_time_in_as_many_columns_as_there_is_room),
        TEST(what_lies_between_far_pages_is_left_out),
        TEST(slices_that_are_alike_are_one),
        TEST(slices_with_a_gap_between_them_stay_apart),
        TEST(calls_around_a_sample_are_known),
        TEST(who_was_there_before_others_is_known),
        TEST(dots_are_bounded_and_hold_all_time),
        TEST(an_object_is_known_by_what_it_was_allocated_as),
        TEST(others_tell_of_elements_behind_the_first),
        TEST(an_instruction_that_strides_tells_of_elements),
        TEST(a_member_of_the_program_is_told_and_not_the_librarys),
        TEST(advice_takes_apart_what_threads_use),
        TEST(advice_about_an_object_tells_its_new_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
