/* test_finding_answers.c: waits for answers and messages, and calls that pass little at a time. A
 * tick is a nanosecond. */
#include "findings_of.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LEFT | 1

enum { SITE = 0x9a00, LOCK = 0x7000, BEGIN = 1000, END = 11000 };

static struct findings *find_until(struct scene *scene, uint64_t tick)
{
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    return findings_of(scene, tick);
}

static void end(struct scene *scene, uint32_t thread, uint64_t tick, uint64_t cpu_ns)
{
    PUT(scene, thread, tick, HEURT_EVENT_THREAD_END, cpu_ns, 0);
}

/* ---- answers that come late ------------------------------------------------------------------ */

/* Two ask, each over a socket, and wait 90 of 100 for an answer. Two answer; of 80 that each takes
 * for it it waits 60 for a lock. */
static void who_makes_answers_late_comes_before_who_waits_for_them(void **state)
{
    enum { READ = HEURT_IO_READ, SOCKET = HEURT_DESCRIPTOR_SOCKET, ASKED = 0x9d00, WAITS = 0x9e00 };
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t fd = (uint64_t)SOCKET << 32 | (3 + i), pair = i & 1;
        scene__start(scene, i, BEGIN);
        PUT(scene, i, BEGIN, HEURT_EVENT_CHANNEL, fd, i < 2 ? 10 + pair : 20 + pair,
            i < 2 ? 20 + pair : 10 + pair);
    }
    for (uint64_t from = BEGIN; from < END; from += 100) {
        for (uint32_t i = 0; i < 2; i++) {
            const uint64_t asks = (uint64_t)SOCKET << 32 | (3 + i);
            const uint64_t answers = (uint64_t)SOCKET << 32 | (5 + i);
            PUT(scene, i, from + 2, HEURT_EVENT_IO, HEURT_SITE(ASKED, HEURT_IO_WRITE), asks, 8);
            PUT(scene, i, from + 3, HEURT_EVENT_IO LEFT, 8);
            PUT(scene, i, from + 5, HEURT_EVENT_IO, HEURT_SITE(ASKED, READ), asks, 8);
            PUT(scene, i, from + (from == BEGIN ? 8 : 95), HEURT_EVENT_IO LEFT, 8);
            PUT(scene, 2 + i, from + 1, HEURT_EVENT_IO, HEURT_SITE(WAITS, READ), answers, 8);
            PUT(scene, 2 + i, from + 10, HEURT_EVENT_IO LEFT, 8);
            PUT(scene, 2 + i, from + 11, HEURT_EVENT_LOCK_WAIT, SITE, LOCK);
            PUT(scene, 2 + i, from + 71, HEURT_EVENT_LOCK_WAIT LEFT, 0);
            PUT(scene, 2 + i, from + 75, HEURT_EVENT_LOCK_RELEASED, SITE, LOCK);
            PUT(scene, 2 + i, from + 90, HEURT_EVENT_IO, HEURT_SITE(WAITS, HEURT_IO_WRITE), answers,
                8);
            PUT(scene, 2 + i, from + 92, HEURT_EVENT_IO LEFT, 8);
        }
    }
    for (uint32_t i = 0; i < 4; i++)
        end(scene, i, END, i < 2 ? 1000 : 3000);
    symbols__put(scene->symbols, 0, ASKED, &(struct symbol){.function = "ask"});
    symbols__put(scene->symbols, 0, WAITS, &(struct symbol){.function = "serve"});
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "answer"});
    struct findings *findings = find_until(scene, END);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    assert_int_equal(first->category, FINDING_LOCK);
    assert_true(first->ranked && first->wall_gain[1] > 1.5);
    assert_true(find_kind(findings, FINDING_NETWORK)->lost_ns > first->lost_ns);
    findings__free(findings);
}

/* ---- who serves whom ------------------------------------------------------------------------- */

static void put_io(struct scene *scene, uint32_t thread, uint64_t fd, unsigned call, uint64_t from,
                   uint64_t until)
{
    PUT(scene, thread, from, HEURT_EVENT_IO,
        HEURT_SITE(call == HEURT_IO_READ ? SITE : SITE + 16, call),
        (uint64_t)HEURT_DESCRIPTOR_SOCKET << 32 | fd, 8);
    PUT(scene, thread, until, HEURT_EVENT_IO LEFT, 8);
}

/* Two ask and wait for the answer, 94 of 100 but for the first time. Each is served by a thread of
 * its own, which works on the answer for 80 of that; or both by one, one after the other, for 40
 * each. */
static struct findings *ask_and_serve(struct scene *scene, bool by_one)
{
    const uint64_t until = BEGIN + 10000;
    const uint32_t servers = by_one ? 1 : 2;
    for (uint32_t i = 0; i < 2 + servers; i++)
        scene__start(scene, i, BEGIN);
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t kind = (uint64_t)HEURT_DESCRIPTOR_SOCKET << 32;
        PUT(scene, i, BEGIN, HEURT_EVENT_CHANNEL, kind | (3 + i), 10 + i, 20 + i);
        PUT(scene, 2 + i % servers, BEGIN, HEURT_EVENT_CHANNEL, kind | (5 + i), 20 + i, 10 + i);
    }
    for (uint64_t from = BEGIN; from < until; from += 100) {
        const bool is_quick = from == BEGIN; /* the others are compared with these */
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t server = 2 + i % servers;
            const uint64_t began = from + (is_quick ? 5 + 3 * i : by_one && i ? 50 : 8);
            const uint64_t wrote = began + (is_quick ? 1 : by_one ? 40 : 80);
            put_io(scene, i, 3 + i, HEURT_IO_WRITE, from + 2, from + 3);
            put_io(scene, i, 3 + i, HEURT_IO_READ, from + 4, from + (is_quick ? 12 : 98));
            put_io(scene, server, 5 + i, HEURT_IO_READ, began - 1, began);
            put_io(scene, server, 5 + i, HEURT_IO_WRITE, wrote, wrote + 1);
        }
    }
    for (uint32_t i = 0; i < 2 + servers; i++)
        end(scene, i, until, i < 2 ? 1000 : 8500);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "take"});
    symbols__put(scene->symbols, 0, SITE + 16, &(struct symbol){.function = "give"});
    return find_until(scene, until);
}

static void an_answer_takes_what_it_takes(void **state)
{
    struct findings *findings = ask_and_serve(*state, false);
    const struct finding *finding = find_kind(findings, FINDING_NETWORK);
    assert_non_null(finding);
    assert_true(finding->is_served);
    assert_false(finding->ranked);
    assert_true(finding->wall_gain[1] < 1.3); /* 80 of 100 stay */
    findings__free(findings);
}

static void whose_turn_comes_late_waits_for_others(void **state)
{
    struct findings *findings = ask_and_serve(*state, true);
    const struct finding *finding = find_kind(findings, FINDING_NETWORK);
    assert_non_null(finding);
    assert_false(finding->is_served);
    assert_true(finding->ranked);
    assert_true(finding->wall_gain[1] > 1.5);
    findings__free(findings);
}

/* ---- input and output on a CPU ----------------------------------------------------------------
 */

/* Two send, or read 64 KiB, again and again, the first time for 10, then for 90 of 100. on_cpu: the
 * system works for them all that time; else they wait. */
static bool transfers_are_ranked(struct scene *scene, bool sends, bool on_cpu)
{
    const uint64_t until = BEGIN + 20000;
    const uint64_t kind = sends ? HEURT_DESCRIPTOR_SOCKET : HEURT_DESCRIPTOR_FILE;
    const unsigned call = sends ? HEURT_IO_SENDTO : HEURT_IO_READ;
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, BEGIN);
        PUT(scene, i, BEGIN, HEURT_EVENT_KERNEL, 0);
        for (uint64_t from = BEGIN; from < until; from += 100) {
            PUT(scene, i, from + 5, HEURT_EVENT_IO, HEURT_SITE(SITE, call), kind << 32 | 3, 65536);
            PUT(scene, i, from + (from == BEGIN ? 15 : 95), HEURT_EVENT_IO LEFT, 65536);
        }
        end(scene, i, until, on_cpu ? until - BEGIN : 3000);
    }
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "answer"});
    struct findings *findings = find_until(scene, until);
    const struct finding *finding = find_kind(findings, sends ? FINDING_NETWORK : FINDING_DISK);
    assert_non_null(finding);
    assert_int_equal(finding->is_work, on_cpu);
    bool is_ranked = finding->ranked;
    findings__free(findings);
    return is_ranked;
}

static void who_waits_to_send_is_held_up(void **state)
{
    assert_true(transfers_are_ranked(*state, true, false));
}

static void sending_on_a_cpu_is_no_wait(void **state)
{
    assert_false(transfers_are_ranked(*state, true, true));
}

static void who_waits_for_a_file_is_held_up(void **state)
{
    assert_true(transfers_are_ranked(*state, false, false));
}

static void reading_what_is_in_memory_is_no_wait(void **state)
{
    assert_false(transfers_are_ranked(*state, false, true));
}

/* ---- acknowledgements that are delayed ----------------------------------------------------- */

/* Asks so often, and waits so long for each answer; the first one comes at once. */
static bool waits_for_acknowledgements(struct scene *scene, unsigned often, uint64_t each)
{
    enum { ASKS = 0x9d00 };
    const uint64_t fd = (uint64_t)HEURT_DESCRIPTOR_SOCKET << 32 | 3, step = 50000000;
    const uint64_t until = BEGIN + (often + 1) * step;
    scene__start(scene, 0, BEGIN);
    for (uint64_t k = 0; k <= often; k++) {
        const uint64_t from = BEGIN + k * step;
        PUT(scene, 0, from + 10, HEURT_EVENT_IO, HEURT_SITE(ASKS, HEURT_IO_READ), fd, 8);
        PUT(scene, 0, from + 10 + (k ? each : 1000), HEURT_EVENT_IO LEFT, 8);
    }
    end(scene, 0, until, (often + 1) * 1000000);
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "ask"});
    struct findings *findings = find_until(scene, until);
    const struct finding *finding = find_kind(findings, FINDING_NETWORK);
    assert_non_null(finding);
    bool is_of_pieces = finding->is_of_pieces;
    findings__free(findings);
    return is_of_pieces;
}

static void waits_as_long_as_acknowledgements_are_delayed_are_told(void **state)
{
    assert_true(waits_for_acknowledgements(*state, 12, 40400000));
}

static void other_waits_for_answers_are_not(void **state)
{
    assert_false(waits_for_acknowledgements(*state, 12, 30000000));
}

static void few_waits_may_be_as_long_by_chance(void **state)
{
    assert_false(waits_for_acknowledgements(*state, 3, 40400000));
}

/* ---- two in step ----------------------------------------------------------------------------- */

/* Each works 50 of 100 and waits for the other one's message for 50, so that only one works at a
 * time. */
static void two_in_step_wait_for_each_other(void **state)
{
    enum { ROUNDS = 200, ASKS = 0x9d00, GIVES = 0x9e00, PIPE = HEURT_DESCRIPTOR_PIPE };
    const uint64_t until = BEGIN + ROUNDS * 100;
    struct scene *scene = *state;
    for (uint32_t i = 0; i < 2; i++)
        scene__start(scene, i, BEGIN);
    for (uint64_t k = 0; k < ROUNDS; k++) {
        for (uint32_t i = 0; i < 2; i++) {
            const uint64_t from = BEGIN + 100 * k + 50 * i, fd = (uint64_t)PIPE << 32 | (3 + i);
            const uint64_t waits = k == 100 ? 1 : 49;
            PUT(scene, i, from, HEURT_EVENT_IO, HEURT_SITE(i ? GIVES : ASKS, HEURT_IO_READ), fd, 8);
            PUT(scene, i, from + waits, HEURT_EVENT_IO LEFT, 8);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        end(scene, i, until + 50, ROUNDS * 51);
    symbols__put(scene->symbols, 0, ASKS, &(struct symbol){.function = "ask"});
    symbols__put(scene->symbols, 0, GIVES, &(struct symbol){.function = "give"});
    struct findings *findings = find_until(scene, until + 50);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    assert_int_equal(first->category, FINDING_PIPE);
    assert_true(first->ranked);
    assert_true(first->wall_gain[0] > 1.5 && first->wall_gain[1] < 2.2);
    findings__free(findings);
}

/* ---- little at a time ------------------------------------------------------------------------ */

/* Half of the time that a thread works is in 12,000 writes of 500 ns. */
static void writes_of_little_could_be_one(void **state)
{
    enum { WRITES = 12000, EACH = 1000 };
    const uint64_t until = BEGIN + WRITES * EACH;
    struct scene *scene = *state;
    scene__start(scene, 0, BEGIN);
    for (uint64_t k = 0; k < WRITES; k++) {
        uint64_t from = BEGIN + k * EACH;
        PUT(scene, 0, from + 500, HEURT_EVENT_IO, HEURT_SITE(SITE, HEURT_IO_WRITE),
            (uint64_t)HEURT_DESCRIPTOR_FILE << 32 | 3, 16);
        PUT(scene, 0, from + 999, HEURT_EVENT_IO LEFT, 16);
    }
    end(scene, 0, until, WRITES * EACH);
    symbols__put(scene->symbols, 0, SITE, &(struct symbol){.function = "append"});
    struct findings *findings = find_until(scene, until);
    const struct finding *finding = find_kind(findings, FINDING_DISK);
    assert_non_null(finding);
    assert_true(finding->ranked);
    assert_in_range(finding->lost_ns, WRITES * EACH * 4 / 10, WRITES * EACH * 6 / 10);
    assert_true(finding->wall_gain[0] > 1.7 && finding->wall_gain[1] < 2.2);
    findings__free(findings);
}

/* ---- who is waited for sleeps ---------------------------------------------------------------- */

enum { WAITS_AT = 0x9e00, WAKES_AT = 0x9e10, SLEEPS_AT = 0x9e20, SEEN = 0x7800 };

/* Thread 0 works 20 of 100, then waits for thread 1, which sleeps 90 of each 100 and wakes it
 * behind each; 20 times. late: it sleeps once more at the end, and is waited for. */
static struct findings *find_sleeper(struct scene *scene, bool late)
{
    uint64_t end = late ? 3090 : 3000;
    scene__start(scene, 0, 1000);
    PUT(scene, 1, 1000, HEURT_EVENT_THREAD_START, 77, HEURT_NO_SERIAL, 0);
    for (uint64_t from = 1000; from < 3000; from += 100) {
        PUT(scene, 1, from, HEURT_EVENT_SLEEP, HEURT_SITE(SLEEPS_AT, HEURT_SLEEP_USLEEP), 90);
        PUT(scene, 0, from + 20, HEURT_EVENT_FUTEX_WAIT, WAITS_AT, SEEN);
        scene__put(scene, 1, from + 90, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
        PUT(scene, 1, from + 95, HEURT_EVENT_FUTEX_WOKEN, WAKES_AT, SEEN);
        PUT(scene, 0, from + 98, HEURT_EVENT_FUTEX_WAIT LEFT, 0);
    }
    PUT(scene, 0, 3000, HEURT_EVENT_JOIN, WAITS_AT, 77);
    if (late) {
        PUT(scene, 1, 3000, HEURT_EVENT_SLEEP, HEURT_SITE(SLEEPS_AT, HEURT_SLEEP_USLEEP), 90);
        scene__put(scene, 1, 3090, HEURT_EVENT_SLEEP LEFT, (uint64_t[]){0}, 1);
    }
    PUT(scene, 1, end, HEURT_EVENT_THREAD_END, 200, 0);
    PUT(scene, 0, end + 1, HEURT_EVENT_JOIN LEFT, 0);
    PUT(scene, 0, end + 1, HEURT_EVENT_THREAD_END, 440, 0);
    scene->end = (struct heurt_clock_pair){end + 1, end + 1};
    assert_int_equal(trace_writer__meta(scene->writer, "cpus", "2"), 0);
    const struct profile *profile = scene__profile(scene); /* makes scene->symbols */
    symbols__put(scene->symbols, 0, WAITS_AT, &(struct symbol){.function = "synchronise"});
    symbols__put(scene->symbols, 0, WAKES_AT, &(struct symbol){.function = "quiet"});
    symbols__put(scene->symbols, 0, SLEEPS_AT, &(struct symbol){.function = "port"});
    return findings__find(scene->trace, scene->symbols, profile);
}

static void who_sleeps_on_when_nobody_waits_need_not_be_waited_for(void **state)
{
    struct findings *findings = find_sleeper(*state, true);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    const struct profile *profile = ((struct scene *)*state)->profile;
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->sleep_and_1 && first->is_assumed && first->ranked);
    assert_int_equal(
        VEC_AT(&profile->classes, struct profile_class, first->sleep_and_1 - 1)->what.at.site,
        SLEEPS_AT);
    assert_true(first->wall_gain[0] > 2); /* 20 of 100 are work */
    findings__free(findings);
}

/* What it sleeps for may be what is waited for. */
static void who_ends_when_it_is_waited_for_no_more_may_be_needed(void **state)
{
    struct findings *findings = find_sleeper(*state, false);
    const struct finding *first = VEC_AT(&findings->rows, struct finding, 0);
    assert_int_equal(first->category, FINDING_CONDITION);
    assert_true(first->sleep_and_1 && first->is_assumed);
    assert_true(first->wall_gain[0] < 1.1 && first->wall_gain[1] > 2);
    findings__free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, scene__setup, scene__teardown)
        TEST(who_makes_answers_late_comes_before_who_waits_for_them),
        TEST(an_answer_takes_what_it_takes),
        TEST(whose_turn_comes_late_waits_for_others),
        TEST(who_waits_to_send_is_held_up),
        TEST(sending_on_a_cpu_is_no_wait),
        TEST(who_waits_for_a_file_is_held_up),
        TEST(reading_what_is_in_memory_is_no_wait),
        TEST(waits_as_long_as_acknowledgements_are_delayed_are_told),
        TEST(other_waits_for_answers_are_not),
        TEST(few_waits_may_be_as_long_by_chance),
        TEST(two_in_step_wait_for_each_other),
        TEST(writes_of_little_could_be_one),
        TEST(who_sleeps_on_when_nobody_waits_need_not_be_waited_for),
        TEST(who_ends_when_it_is_waited_for_no_more_may_be_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
