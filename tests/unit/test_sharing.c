#include "analysis/findings/findings.h"
#include "analysis/memory/sharing.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

enum { HITS = 0x8000, BEAT = 0x8020, SCORE = 0x9000, PUBLISH = 0x9100, SAMPLES = 40 };

/* Of a thread's time, that the line of two can cost (SLOWER_MOST in sharing_cost.c). */
#define MOST_PART (1 - 1 / 21.0)

/* One thread's samples, each ms: at one address by one instruction. */
struct work {
    uint32_t thread;
    uint64_t instruction, address;
    enum heurt_access access;
    uint64_t from_ms, to_ms;
    uint32_t iterations; /* in each ms */
    uint32_t pid;        /* 0: 100 */
    enum heurt_region region;
};

static void put_work(struct scene *scene, struct work work)
{
    for (uint64_t ms = work.from_ms; ms < work.to_ms; ms++) {
        struct heurt_sample sample = {.monotonic_ns = 1000 + ms * MS + work.thread * 1000,
                                      .instruction = work.instruction,
                                      .address = work.address,
                                      .pid = work.pid ?: 100,
                                      .tid = 1000 + work.thread,
                                      .weight_ns = MS,
                                      .access = (uint8_t)work.access,
                                      .region = (uint8_t)work.region & 7,
                                      .bytes = 8,
                                      .loop_least = work.iterations ? 16 : 0,
                                      .iterations = work.iterations,
                                      .iterations_ns = work.iterations ? MS : 0};
        assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL,
                                              HEURT_DEFINITION_SAMPLES, &sample, sizeof sample),
                         0);
    }
}

static struct sharings *find(struct scene *scene)
{
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000);
        scene__end(scene, i, 1000 + 1000 * MS);
    }
    scene->end = (struct heurt_clock_pair){2000 + 1000 * MS, 2000 + 1000 * MS};
    scene__profile(scene);
    symbols__put(scene->symbols, 0, SCORE, &(struct symbol){.function = "score"});
    symbols__put(scene->symbols, 0, PUBLISH, &(struct symbol){.function = "publish"});
    return sharings__find(scene->trace, scene->symbols);
}

static const struct sharing *only(const struct sharings *sharings)
{
    assert_int_equal(sharings->rows.count, 1);
    return VEC_AT(&sharings->rows, struct sharing, 0);
}

static void different_bytes_of_a_line_are_false_sharing(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_WRITE, 0, SAMPLES / 2, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_true(sharing->is_false);
    assert_int_equal(sharing->line, HITS);
    assert_int_equal(sharing->threads, 2);
    assert_int_equal(sharing->victim.instruction, SCORE);
    assert_int_equal(sharing->victim.address, HITS);
    assert_int_equal(sharing->by.instruction, PUBLISH);
    assert_int_equal(sharing->by.address, BEAT);
    /* Three more samples follow closely enough upon the other's last one. */
    assert_int_equal(sharing->victim.samples, SAMPLES / 2 + 3);
    sharings__free(sharings);
}

/* Of the second thread's process, which has it elsewhere. */
static void put_board(struct scene *scene, uint64_t inode)
{
    const struct heurt_shared_range ranges[] = {
        {.pid = 100, .start = 0x8000, .end = 0x9000, .device = 1, .inode = 7, .offset = 0x2000},
        {.pid = 101, .start = 0x5000, .end = 0x8000, .device = 1, .inode = inode, .offset = 0}};
    assert_int_equal(trace_writer__define(scene->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SHARED,
                                          ranges, sizeof ranges),
                     0);
}

static struct sharings *find_board(struct scene *scene, uint64_t inode)
{
    enum { ELSEWHERE = 0x7020 };
    scene__process(scene, 1, 101, HEURT_NO_SERIAL);
    scene->process_of[1] = 1;
    put_board(scene, inode);
    put_work(scene, (struct work){.instruction = SCORE,
                                  .address = HITS,
                                  .access = HEURT_ACCESS_UPDATE,
                                  .to_ms = SAMPLES,
                                  .region = HEURT_REGION_SHARED});
    put_work(scene, (struct work){.thread = 1,
                                  .instruction = PUBLISH,
                                  .address = ELSEWHERE,
                                  .access = HEURT_ACCESS_UPDATE,
                                  .to_ms = SAMPLES,
                                  .pid = 101,
                                  .region = HEURT_REGION_SHARED});
    return find(scene);
}

static void processes_share_a_line_wherever_each_has_it(void **state)
{
    struct sharings *sharings = find_board(*state, 7);
    const struct sharing *sharing = only(sharings);
    assert_true(sharing->is_false);
    assert_int_equal(sharing->threads, 2);
    assert_int_equal(
        sharing->victim.address == HITS ? sharing->by.address : sharing->victim.address, 0x7020);
    sharings__free(sharings);
}

static void what_lies_in_another_file_is_not_shared(void **state)
{
    struct sharings *sharings = find_board(*state, 8);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

static void the_same_bytes_are_true_sharing(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_ATOMIC, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_ATOMIC, 0, SAMPLES, 0});
    struct sharings *sharings = find(scene);
    assert_false(only(sharings)->is_false);
    sharings__free(sharings);
}

static void what_is_only_read_is_not_shared(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_READ, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_READ, 0, SAMPLES, 0});
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    assert_int_equal(sharings->samples, 2 * SAMPLES);
    sharings__free(sharings);
}

static void one_who_writes_speaks_to_one_who_reads(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_READ, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_WRITE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_WRITE, 0, SAMPLES, 0});
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

static void one_after_the_other_is_not_shared(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_UPDATE, 100, 100 + SAMPLES, 0});
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

/* Two milliseconds each, and never both: the line is handed over with the work. */
static void who_takes_turns_does_not_share(void **state)
{
    struct scene *scene = *state;
    for (uint64_t ms = 0; ms < 2 * SAMPLES; ms += 4) {
        put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, ms, ms + 2, 0});
        put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_UPDATE, ms + 2, ms + 4, 0});
    }
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

static void neighbouring_lines_are_not_shared(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS + 64, HEURT_ACCESS_UPDATE, 0, SAMPLES, 0});
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

static void who_spins_waits(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_SPIN, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_UPDATE, 0, 1, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_true(sharing->is_spun);
    assert_int_equal(sharing->lost_ns[0], SAMPLES * MS);
    assert_int_equal(sharing->lost_ns[1], 0);
    sharings__free(sharings);
}

/* Two take a lock by turns: what the one does that has it tells more than that it takes it, too. */
static void who_takes_a_lock_in_a_loop_waits(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 2; thread++)
        put_work(scene, (struct work){thread, SCORE, HITS, HEURT_ACCESS_TAKE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_WRITE, 0, 4, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_true(sharing->is_spun && !sharing->is_false);
    assert_in_range(sharing->lost_ns[0], SAMPLES * MS * 9 / 10, SAMPLES * MS);
    if (sharing->victim.thread == 0)
        assert_int_equal(sharing->by.access, HEURT_ACCESS_WRITE);
    sharings__free(sharings);
}

static void who_takes_a_lock_alone_does_not_wait(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_TAKE, 0, SAMPLES, 0});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_UPDATE, 0, 1, 0});
    struct sharings *sharings = find(scene);
    assert_int_equal(sharings->rows.count, 0);
    sharings__free(sharings);
}

/* Disturbed for 40 of 80 ms, each iteration takes 4 times as long then: 30 ms are lost. */
static void the_pace_alone_tells_what_is_lost(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, 40, 1000});
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 40, 80, 4000});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_UPDATE, 0, 38, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_int_equal(sharing->lost_ns[0], 30 * MS);
    assert_int_equal(sharing->most_lost_ns[0], 30 * MS);
    sharings__free(sharings);
}

/* 40 ns an iteration while the other is there, 20 without it, 18 if it need not be in one piece. */
static void what_is_done_in_one_piece_may_not_be_needed(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_ATOMIC, 0, 40, 25000});
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_ATOMIC, 40, 80, 50000});
    put_work(scene, (struct work){1, PUBLISH, HITS, HEURT_ACCESS_ATOMIC, 0, 38, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_false(sharing->is_false);
    assert_int_equal(sharing->lost_ns[0], 20 * MS);
    assert_int_equal(sharing->most_lost_ns[0], 26 * MS);
    sharings__free(sharings);
}

/* An iteration takes 50 us with loops inside of it, 25 where the other hardly disturbs: what its
 * few instructions take once tells nothing. Each sample was at the line: as much is lost as a line
 * can cost. */
static void the_fastest_tell_where_loops_are_inside(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, 96, 20});
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 96, 100, 40});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_UPDATE, 0, 100, 0});
    struct sharings *sharings = find(scene);
    const struct sharing *sharing = only(sharings);
    assert_true(sharing->lost_ns[0] > 47 * MS && sharing->lost_ns[0] < 49 * MS);
    assert_int_equal(sharing->most_lost_ns[0], (uint64_t)(100 * MS * MOST_PART));
    sharings__free(sharings);
}

/* Each sample is at the line, and what was taken for a counter goes on by 4 billion now and then:
 * that nothing would be left of the time is no gain. */
static void a_line_costs_no_more_than_its_transfers(void **state)
{
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t at = i ? PUBLISH : SCORE, data = i ? BEAT : HITS;
        scene__start(scene, i, 1000);
        put_work(scene, (struct work){i, at, data, HEURT_ACCESS_UPDATE, 0, 20, UINT32_MAX});
        put_work(scene, (struct work){i, at, data, HEURT_ACCESS_UPDATE, 20, 1000, i ? 20 : 0});
        scene__end(scene, i, 1000 + 1000 * MS);
    }
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    scene->end = (struct heurt_clock_pair){1000 + 1000 * MS, 1000 + 1000 * MS};
    const struct profile *profile = scene__profile(scene);
    struct findings *findings = findings__find(scene->trace, scene->symbols, profile);
    assert_true(findings->rows.count >= 1);
    VEC_EACH (finding, &findings->rows, struct finding) {
        assert_int_equal(finding->category, FINDING_FALSE_SHARING);
        for (uint32_t i = 0; i < 2; i++)
            assert_true(finding->sharing->most_lost_ns[i] <= (uint64_t)(1000 * MS * MOST_PART));
        assert_true(finding->wall_gain[1] > 2 && finding->wall_gain[1] <= 1 + 20 * 1.1001);
    }
    findings__free(findings);
}

/* Of 1000 ms one waits for 500, and loses 30 while the other one is at the lock's line. */
static void what_the_line_of_a_lock_costs_goes_with_its_waits(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 0, 40, 1000});
    put_work(scene, (struct work){0, SCORE, HITS, HEURT_ACCESS_UPDATE, 40, 80, 4000});
    put_work(scene, (struct work){1, PUBLISH, BEAT, HEURT_ACCESS_UPDATE, 0, 38, 0});
    PUT(scene, 0, 1000 + 100 * MS, HEURT_EVENT_LOCK_WAIT, SCORE, HITS);
    PUT(scene, 0, 1000 + 600 * MS, HEURT_EVENT_LOCK_WAIT | 1, 0);
    scene__end(scene, 0, 1000 + 1000 * MS);
    scene__end(scene, 1, 1000 + 200 * MS);
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    scene->end = (struct heurt_clock_pair){1000 + 1000 * MS, 1000 + 1000 * MS};
    const struct profile *profile = scene__profile(scene);
    struct findings *findings = findings__find(scene->trace, scene->symbols, profile);
    const struct finding *of_lock = NULL;
    VEC_EACH (finding, &findings->rows, struct finding) {
        of_lock = finding->category == FINDING_LOCK ? finding : of_lock;
        assert_null(finding->sharing); /* it is no finding of its own */
    }
    assert_non_null(of_lock);
    const uint64_t other_ns = (uint64_t)(38 * MS * MOST_PART); /* is always at the line */
    assert_int_equal(of_lock->beside_ns, 30 * MS + other_ns);
    assert_int_equal(of_lock->lost_ns, 530 * MS + other_ns);
    double without_line = 1 + (1000.0 / 500 - 1) * 1.1;
    assert_true(of_lock->wall_gain[1] > without_line);
    assert_true(of_lock->wall_gain[0] < 1000.0 / 470 && of_lock->wall_gain[1] > 1000.0 / 470);
    findings__free(findings);
}

/* A quarter of one thread's samples is in a function that spins, by its name: so is that of its
 * time. */
static void a_function_that_spins_is_known_by_its_name(void **state)
{
    struct scene *scene = *state;
    put_work(scene, (struct work){0, SCORE, 0, HEURT_ACCESS_NONE, 0, 30, 0});
    put_work(scene, (struct work){0, PUBLISH, 0, HEURT_ACCESS_NONE, 30, 40, 0});
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000 + 1000 * MS, HEURT_EVENT_THREAD_END, 800 * MS, 0);
    scene->end = (struct heurt_clock_pair){1000 + 1000 * MS, 1000 + 1000 * MS};
    const struct profile *profile = scene__profile(scene);
    symbols__put(scene->symbols, 0, SCORE, &(struct symbol){.function = "flip_spin"});
    symbols__put(scene->symbols, 0, PUBLISH, &(struct symbol){.function = "Monitor::TrySpin(int)"});
    struct findings *findings = findings__find(scene->trace, scene->symbols, profile);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    assert_int_equal(first->category, FINDING_SPINNING);
    assert_int_equal(first->lost_ns, 200 * MS);
    assert_string_equal(first->place->function, "Monitor::TrySpin(int)");
    findings__free(findings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene__setup, scene__teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(different_bytes_of_a_line_are_false_sharing),
        TEST(the_same_bytes_are_true_sharing),
        TEST(processes_share_a_line_wherever_each_has_it),
        TEST(what_lies_in_another_file_is_not_shared),
        TEST(what_is_only_read_is_not_shared),
        TEST(one_who_writes_speaks_to_one_who_reads),
        TEST(one_after_the_other_is_not_shared),
        TEST(who_takes_turns_does_not_share),
        TEST(neighbouring_lines_are_not_shared),
        TEST(who_spins_waits),
        TEST(who_takes_a_lock_in_a_loop_waits),
        TEST(who_takes_a_lock_alone_does_not_wait),
        TEST(the_pace_alone_tells_what_is_lost),
        TEST(what_is_done_in_one_piece_may_not_be_needed),
        TEST(the_fastest_tell_where_loops_are_inside),
        TEST(a_line_costs_no_more_than_its_transfers),
        TEST(what_the_line_of_a_lock_costs_goes_with_its_waits),
        TEST(a_function_that_spins_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
