/* From records of the kernel to lives and their events (src/recorder/task_log.c). A tick is 2 ns.
 */
#include "recorder/task_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MOST = 4096, RUNS_MOST = 64 };

struct scene {
    struct task_log *log;
    struct heurt_run runs[RUNS_MOST];
    size_t run_count;
    uint64_t words[WORDS_MOST]; /* of all runs of the thread that is looked at */
    size_t count, at;
    uint32_t tid; /* whose words are kept */
    uint64_t delay_ns;
    uint64_t stopped_from_ns, stopped_to_ns;
    bool is_full;
};

static bool write_run(void *context, const struct heurt_run *run, const uint64_t *words,
                      size_t count)
{
    struct scene *scene = context;
    if (scene->is_full)
        return false;
    assert_true(scene->run_count < RUNS_MOST);
    scene->runs[scene->run_count++] = *run;
    if (run->tid != scene->tid || !count)
        return true;
    assert_true(scene->count + count <= WORDS_MOST);
    memcpy(scene->words + scene->count, words, count * sizeof *words);
    scene->count += count;
    return true;
}

static bool delay(void *context, uint32_t pid, uint32_t tid, uint64_t *ns)
{
    const struct scene *scene = context;
    (void)pid, (void)tid;
    *ns = scene->delay_ns;
    return scene->delay_ns;
}

static bool was_stopped(void *context, uint32_t pid, uint64_t ns)
{
    const struct scene *scene = context;
    (void)pid;
    return ns >= scene->stopped_from_ns && ns < scene->stopped_to_ns;
}

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->tid = 10;
    scene->log = task_log__new(&(struct task_log_settings){.write = write_run,
                                                           .delay = delay,
                                                           .stopped = was_stopped,
                                                           .context = scene,
                                                           .way_of_fault_ns = 100});
    task_log__set_clock(scene->log, (struct task_clock_pair){1000, 500});
    task_log__set_clock(scene->log, (struct task_clock_pair){1000000, 500000});
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    task_log__free(scene->log);
    free(scene);
    return 0;
}

static struct task_record record_of(enum task_record_kind kind, uint32_t tid, uint64_t ns)
{
    return (struct task_record){.kind = kind,
                                .pid = 10,
                                .tid = tid,
                                .cpu = 3,
                                .time_ns = ns,
                                .address = 0x1000,
                                .code = 0x2000,
                                .count = kind == TASK_LOST ? 5 : 1,
                                .name = "worker"};
}

static void add(struct scene *scene, enum task_record_kind kind, uint32_t tid, uint64_t ns)
{
    const struct task_record record = record_of(kind, tid, ns);
    task_log__add(scene->log, &record);
}

/* Of thread 10, one record of so many. */
static void add_faults(struct scene *scene, enum task_record_kind kind, uint64_t ns,
                       uint64_t address, uint64_t count)
{
    struct task_record record = record_of(kind, 10, ns);
    record.address = address;
    record.count = count;
    task_log__add(scene->log, &record);
}

/* ---- what was written ------------------------------------------------------------------------ */

static void expect(struct scene *scene, uint32_t id, uint64_t ns, size_t words,
                   const uint64_t *payload)
{
    assert_true(scene->at + words < scene->count);
    assert_int_equal(scene->words[scene->at] & 0xffff, id);
    assert_int_equal(scene->words[scene->at] >> HEURT_ID_BITS, ns / 2);
    assert_memory_equal(scene->words + scene->at + 1, payload, words * sizeof *payload);
    scene->at += words + 1;
}

static void expect_off(struct scene *scene, uint64_t ns, uint64_t off_ns, enum heurt_off how,
                       uint64_t runnable)
{
    const uint64_t payload[] = {HEURT_OFF(off_ns / 2, how), HEURT_BACK(runnable, 3), 0};
    expect(scene, HEURT_EVENT_OFF_CPU, ns, 3, payload);
}

static void expect_fault_at(struct scene *scene, uint64_t ns, uint64_t on_ns, uint64_t address,
                            enum heurt_fault how)
{
    const uint64_t payload[] = {HEURT_OFF(on_ns / 2, how), address, 0x2000};
    expect(scene, HEURT_EVENT_FAULT, ns, 3, payload);
}

static void expect_fault(struct scene *scene, uint64_t ns, uint64_t on_ns)
{
    expect_fault_at(scene, ns, on_ns, 0x1000, HEURT_FAULT_MEASURED);
}

static void expect_gap(struct scene *scene, uint64_t ns)
{
    expect(scene, HEURT_EVENT_KERNEL_LOST, ns, 1, (const uint64_t[]){1});
}

static void expect_no_more(struct scene *scene)
{
    assert_int_equal(scene->at, scene->count);
}

static const struct heurt_life *life_of(const struct scene *scene, uint32_t tid)
{
    for (size_t i = scene->run_count; i-- > 0;)
        if (scene->runs[i].tid == tid)
            return &scene->runs[i].life;
    fail_msg("nothing was written of %u", tid);
    return NULL;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_life_is_on_or_off_from_its_start_to_its_end(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_BLOCKED, 10, 12000);
    add(scene, TASK_ON_CPU, 10, 20000);
    add(scene, TASK_PREEMPTED, 10, 21000);
    add(scene, TASK_ON_CPU, 10, 25000);
    add(scene, TASK_ENDED, 10, 26000);
    expect_off(scene, 20000, 8000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_off(scene, 25000, 4000, HEURT_OFF_PREEMPTED, 2000);
    expect_no_more(scene);
    const struct heurt_life *life = life_of(scene, 10);
    assert_int_equal(life->start_tick, 5000);
    assert_int_equal(life->exec_tick, 5000);
    assert_int_equal(life->end_tick, 13000);
    assert_int_equal(life->cpu_ns, 4000);
    assert_int_equal(life->wait_ticks, 0);
    assert_int_equal(life->runnable_ns, 4000);
    assert_int_equal(life->flags, HEURT_LIFE_ENDED);
    assert_string_equal(life->name, "worker");
}

static void a_new_thread_wants_a_cpu_and_may_do_nothing_else(void **state)
{
    struct scene *scene = *state;
    scene->tid = 11;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_FORKED, 11, 11000);
    add(scene, TASK_ON_CPU, 11, 15000);
    add(scene, TASK_ENDED, 11, 40000);
    expect_off(scene, 15000, 4000, HEURT_OFF_PREEMPTED, 2000);
    assert_int_equal(life_of(scene, 11)->start_tick, 5500);
    assert_int_equal(life_of(scene, 11)->wait_ticks, 2000);
    assert_int_equal(life_of(scene, 11)->cpu_ns, 25000);
    assert_string_equal(life_of(scene, 11)->name, "worker"); /* as the one that made it */
}

static void being_off_is_a_page_faults_only_between_its_beginning_and_end(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_FAULT_BEGINS, 10, 11000); /* it takes 1000 on a CPU, and waits for a page */
    add(scene, TASK_BLOCKED, 10, 11500);
    add(scene, TASK_ON_CPU, 10, 31500);
    add(scene, TASK_FAULT_ENDS, 10, 32000);
    add(scene, TASK_BLOCKED, 10, 32010); /* a futex, at once */
    add(scene, TASK_ON_CPU, 10, 50010);
    add(scene, TASK_FAULT_BEGINS, 10, 51000); /* one that becomes a signal: it has no end */
    add(scene, TASK_BLOCKED, 10, 51500);
    add(scene, TASK_ON_CPU, 10, 52500);
    add(scene, TASK_FAULT_BEGINS, 10, 53000);
    add(scene, TASK_PREEMPTED, 10, 53100);
    add(scene, TASK_ON_CPU, 10, 54100);
    add(scene, TASK_FAULT_ENDS, 10, 54500);
    task_log__finish(scene->log, 54500);
    expect_off(scene, 31500, 20000, HEURT_OFF_FAULT, HEURT_NOT_KNOWN);
    expect_fault(scene, 32000, 1100);
    expect_off(scene, 50010, 18000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_off(scene, 52500, 1000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_off(scene, 54100, 1000, HEURT_OFF_PREEMPTED, 500);
    expect_fault(scene, 54500, 600);
    expect_no_more(scene);
}

static void faults_that_are_only_counted_lie_between_those_that_are_told(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_FAULT_BEGINS, 10, 11000);
    add(scene, TASK_FAULT_ENDS, 10, 12000);
    add_faults(scene, TASK_FAULT_ENDS, 32000, 0x5000, 5); /* the beginning is another's */
    add_faults(scene, TASK_FAULT_BEGINS, 40000, 0x7000, 4);
    add_faults(scene, TASK_FAULT_ENDS, 41900, 0x7000, 3);
    add_faults(scene, TASK_FAULT_BEGINS, 42000, 0x8000, 4); /* whose end is not told */
    add_faults(scene, TASK_FAULT_ENDS, 42900, 0x9000, 2);   /* more than there was time for */
    task_log__finish(scene->log, 60000);
    expect_fault(scene, 12000, 1100);
    for (uint64_t i = 0; i < 4; i++)
        expect_fault_at(scene, 16000 + 4000 * i, 1100, 0x5000, HEURT_FAULT_COUNTED);
    expect_fault_at(scene, 32000, 1100, 0x5000, HEURT_FAULT_ESTIMATED);
    for (uint64_t i = 0; i < 2; i++) /* the mean of 1100 and 2000 */
        expect_fault_at(scene, 36000 + 4000 * i, 1550, 0x7000, HEURT_FAULT_COUNTED);
    expect_fault_at(scene, 41900, 2000, 0x7000, HEURT_FAULT_MEASURED);
    expect_fault_at(scene, 42400, 500, 0x9000, HEURT_FAULT_COUNTED);
    expect_fault_at(scene, 42900, 500, 0x9000, HEURT_FAULT_ESTIMATED);
    expect_no_more(scene);
}

/* Counted ones are dated before it, and what it waited for is written already. */
static void what_is_counted_with_a_fault_that_waits_comes_later(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add_faults(scene, TASK_FAULT_BEGINS, 11000, 0x1000, 3);
    add(scene, TASK_BLOCKED, 10, 11500);
    add(scene, TASK_ON_CPU, 10, 31500);
    add_faults(scene, TASK_FAULT_ENDS, 32000, 0x1000, 2);
    add_faults(scene, TASK_FAULT_ENDS, 42000, 0x5000, 1);
    task_log__finish(scene->log, 50000);
    expect_off(scene, 31500, 20000, HEURT_OFF_FAULT, HEURT_NOT_KNOWN);
    expect_fault(scene, 32000, 1100);
    expect_fault_at(scene, 37000, 1100, 0x5000, HEURT_FAULT_COUNTED);
    expect_fault_at(scene, 42000, 1100, 0x5000, HEURT_FAULT_ESTIMATED);
    expect_no_more(scene);
}

static void a_major_fault_waits_though_its_beginning_is_not_told(void **state)
{
    struct scene *scene = *state;
    struct task_record major = record_of(TASK_FAULT_ENDS, 10, 32000);
    major.is_major = true;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_BLOCKED, 10, 11000); /* a futex */
    add(scene, TASK_ON_CPU, 10, 15000);
    add(scene, TASK_BLOCKED, 10, 16000);
    add(scene, TASK_ON_CPU, 10, 31500);
    task_log__add(scene->log, &major);
    task_log__finish(scene->log, 50000);
    expect_off(scene, 15000, 4000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_off(scene, 31500, 15500, HEURT_OFF_FAULT, HEURT_NOT_KNOWN);
    expect_fault_at(scene, 32000, 0, 0x1000, HEURT_FAULT_ESTIMATED);
    expect_no_more(scene);
}

static void a_beginning_whose_end_is_not_told_holds_nothing_back(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_FAULT_BEGINS, 10, 11000);
    add(scene, TASK_FAULT_ENDS, 10, 12000);
    add_faults(scene, TASK_FAULT_BEGINS, 20000, 0x5000, 7);
    add(scene, TASK_BLOCKED, 10, 40000);
    add(scene, TASK_ON_CPU, 10, 50000);
    task_log__flush(scene->log);
    expect_fault(scene, 12000, 1100);
    expect_off(scene, 50000, 10000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_no_more(scene);
}

static void what_contradicts_itself_is_a_gap(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_LOST, 10, 11000);
    add(scene, TASK_ON_CPU, 10, 20000); /* its being off was lost */
    add(scene, TASK_FAULT_ENDS, 10, 21000);
    add(scene, TASK_BLOCKED, 10, 22000);
    add(scene, TASK_PREEMPTED, 10, 30000); /* that it came back was */
    add(scene, TASK_ON_CPU, 10, 31000);
    task_log__finish(scene->log, 32000);
    expect_gap(scene, 20000);
    expect_gap(scene, 21000);
    expect_gap(scene, 30000);
    expect_off(scene, 31000, 1000, HEURT_OFF_PREEMPTED, 500);
    expect_no_more(scene);
    assert_int_equal(life_of(scene, 10)->cpu_ns, 12000 + 1000);
    assert_int_equal(life_of(scene, 10)->flags, 0);
}

static void what_the_system_counted_as_waiting_for_a_cpu_is_divided(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_BLOCKED, 10, 100000);
    add(scene, TASK_ON_CPU, 10, 400000);
    add(scene, TASK_PREEMPTED, 10, 500000);
    add(scene, TASK_ON_CPU, 10, 520000);
    add(scene, TASK_BLOCKED, 10, 600000);
    add(scene, TASK_ON_CPU, 10, 700000);
    scene->delay_ns = 60000; /* of which 20000 are the preemption's */
    task_log__flush(scene->log);
    expect_off(scene, 400000, 300000, HEURT_OFF_BLOCKED, 15000);
    expect_off(scene, 520000, 20000, HEURT_OFF_PREEMPTED, 10000);
    expect_off(scene, 700000, 100000, HEURT_OFF_BLOCKED, 5000);
    assert_int_equal(life_of(scene, 10)->runnable_ns, 60000);
    expect_no_more(scene);
}

/* What went off before or after that did so by itself; who was preempted wanted to go on. */
static void who_goes_off_while_the_recorder_stops_its_process_is_stopped(void **state)
{
    struct scene *scene = *state;
    scene->stopped_from_ns = 50000;
    scene->stopped_to_ns = 60000;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_BLOCKED, 10, 40000);
    add(scene, TASK_ON_CPU, 10, 52000);
    add(scene, TASK_BLOCKED, 10, 54000);
    add(scene, TASK_ON_CPU, 10, 64000);
    add(scene, TASK_BLOCKED, 10, 70000);
    add(scene, TASK_ON_CPU, 10, 80000);
    task_log__finish(scene->log, 90000);
    expect_off(scene, 52000, 12000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_off(scene, 64000, 10000, HEURT_OFF_STOPPED, HEURT_NOT_KNOWN);
    expect_off(scene, 80000, 10000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    expect_no_more(scene);
}

static void exec_ends_all_others_and_goes_on_as_the_first(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    add(scene, TASK_FORKED, 11, 11000);
    add(scene, TASK_ON_CPU, 11, 12000);
    add(scene, TASK_ENDED, 10, 20000);
    add(scene, TASK_EXECED, 10, 21000); /* thread 11's: it has the first one's tid now */
    task_log__finish(scene->log, 30000);
    assert_int_equal(life_of(scene, 11)->end_tick, 10500);
    assert_int_equal(life_of(scene, 10)->start_tick, 10500);
    assert_int_equal(life_of(scene, 10)->cpu_ns, 9000);
}

static void a_thread_with_the_tid_of_an_ended_one_is_another(void **state)
{
    struct scene *scene = *state;
    add(scene, TASK_EXECED, 10, 10000);
    for (int i = 0; i < 3; i++) {
        add(scene, TASK_FORKED, 11, 20000 + 1000 * (uint64_t)i);
        add(scene, TASK_ON_CPU, 11, 20100 + 1000 * (uint64_t)i);
        add(scene, TASK_ENDED, 11, 20200 + 1000 * (uint64_t)i);
    }
    assert_int_equal(scene->run_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(scene->runs[i].life.start_tick, 10000 + 500 * i);
        assert_int_equal(scene->runs[i].life.cpu_ns, 100);
    }
}

static void long_rows_are_written_in_runs_and_what_finds_no_room_is_counted(void **state)
{
    struct scene *scene = *state;
    uint64_t ns = 10000;
    add(scene, TASK_EXECED, 10, ns);
    for (int i = 0; i < 600; i++) {
        add(scene, TASK_PREEMPTED, 10, ns += 100);
        add(scene, TASK_ON_CPU, 10, ns += 100);
    }
    assert_true(scene->run_count > 3);
    task_log__flush(scene->log);
    assert_int_equal(scene->count, 600 * 4);
    scene->is_full = true;
    add(scene, TASK_PREEMPTED, 10, ns += 100);
    add(scene, TASK_ON_CPU, 10, ns += 100);
    task_log__flush(scene->log);
    assert_int_equal(task_log__refused(scene->log), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_life_is_on_or_off_from_its_start_to_its_end),
        TEST(a_new_thread_wants_a_cpu_and_may_do_nothing_else),
        TEST(being_off_is_a_page_faults_only_between_its_beginning_and_end),
        TEST(faults_that_are_only_counted_lie_between_those_that_are_told),
        TEST(what_is_counted_with_a_fault_that_waits_comes_later),
        TEST(a_major_fault_waits_though_its_beginning_is_not_told),
        TEST(a_beginning_whose_end_is_not_told_holds_nothing_back),
        TEST(what_contradicts_itself_is_a_gap),
        TEST(what_the_system_counted_as_waiting_for_a_cpu_is_divided),
        TEST(who_goes_off_while_the_recorder_stops_its_process_is_stopped),
        TEST(exec_ends_all_others_and_goes_on_as_the_first),
        TEST(a_thread_with_the_tid_of_an_ended_one_is_another),
        TEST(long_rows_are_written_in_runs_and_what_finds_no_room_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
