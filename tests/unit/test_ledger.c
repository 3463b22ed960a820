/* What the kernel tells and what recording costs are parts of the right occurrences, and exclusive
 * times count each moment once. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define F 1024
#define G 1026
#define H 1028
#define LEFT | 1
#define WAIT HEURT_EVENT_LOCK_WAIT
#define SLEEP HEURT_EVENT_SLEEP
#define MUTEX HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)

static void define_functions(struct scene *scene)
{
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
}

/* Back on CPU 1 at tick. */
static void off_cpu(struct scene *scene, uint64_t tick, uint64_t ticks, enum heurt_off how,
                    uint64_t runnable)
{
    PUT(scene, 0, tick, HEURT_EVENT_OFF_CPU, HEURT_OFF(ticks, how), HEURT_BACK(runnable, 1), 0);
}

static const uint64_t *sums_of(const struct scene *scene, const char *function)
{
    return scene__class(scene, CLASS_CALL, function, 0, 0)->accumulator->component_sum;
}

static const uint64_t *thread_parts(const struct scene *scene)
{
    return VEC_AT(&scene->profile->threads, struct profile_thread, 0)->component_ns;
}

static void being_off_the_cpu_is_part_of_what_was_open(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1010, F);
    off_cpu(scene, 1060, 30, HEURT_OFF_PREEMPTED, 30);
    off_cpu(scene, 1090, 20, HEURT_OFF_BLOCKED, 4);
    off_cpu(scene, 1100, 5, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN);
    off_cpu(scene, 1120, 7, HEURT_OFF_FAULT, 2);
    off_cpu(scene, 1140, 9, HEURT_OFF_DISK, HEURT_NOT_KNOWN);
    PUT(scene, 0, 1150, HEURT_EVENT_FAULT, HEURT_OFF(3, HEURT_FAULT_ESTIMATED), 0x8000, 0);
    PUT(scene, 0, 1210, F LEFT);
    off_cpu(scene, 1300, 50, HEURT_OFF_PREEMPTED, 50);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const uint64_t *f = sums_of(scene, "f");
    assert_int_equal(f[COMPONENT_RUNNABLE], 30 + 4 + 2);
    assert_int_equal(f[COMPONENT_OTHER_BLOCKED], 16 + 5);
    assert_int_equal(f[COMPONENT_PAGE_FAULT], 5 + 3);
    assert_int_equal(f[COMPONENT_DISK], 9);
    assert_int_equal(f[COMPONENT_RUNNING], 200 - 30 - 20 - 5 - 7 - 9 - 3);
    const uint64_t *thread = thread_parts(scene);
    assert_int_equal(thread[COMPONENT_RUNNABLE], 36 + 50);
    assert_int_equal(thread[COMPONENT_RUNNING], 1000 - 30 - 20 - 5 - 7 - 9 - 3 - 50);
    assert_true(VEC_AT(&scene->profile->threads, struct profile_thread, 0)->has_kernel);
}

/* In a function it is the recording's; of a wait it is a part. */
static void being_stopped_by_the_recorder_is_its_cost(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1010, F);
    off_cpu(scene, 1060, 30, HEURT_OFF_STOPPED, 10);
    PUT(scene, 0, 1210, F LEFT);
    off_cpu(scene, 1300, 50, HEURT_OFF_STOPPED, HEURT_NOT_KNOWN);
    PUT(scene, 0, 1400, HEURT_EVENT_JOIN, 0x4000, 1);
    off_cpu(scene, 1440, 20, HEURT_OFF_STOPPED, HEURT_NOT_KNOWN);
    PUT(scene, 0, 1500, HEURT_EVENT_JOIN LEFT, 0);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const uint64_t *f = sums_of(scene, "f"), *thread = thread_parts(scene);
    assert_int_equal(f[COMPONENT_OVERHEAD], 20);
    assert_int_equal(f[COMPONENT_RUNNABLE], 10);
    assert_int_equal(f[COMPONENT_OTHER_BLOCKED], 0);
    assert_int_equal(thread[COMPONENT_OVERHEAD], 20 + 50);
    assert_int_equal(thread[COMPONENT_OTHER_BLOCKED], 100);
}

static void fault(struct scene *scene, uint64_t ended, uint64_t ticks, uint64_t address)
{
    PUT(scene, 0, ended, HEURT_EVENT_FAULT, HEURT_OFF(ticks, HEURT_FAULT_MEASURED), address,
        0x4000);
}

/* What a page costs that is made again is lost; who touches it for the first time has to. */
static void faults_at_known_pages_are_a_class_by_their_instruction(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, HEURT_EVENT_KERNEL, 0);
    PUT(scene, 0, 1010, F);
    fault(scene, 1050, 10, 0x8000);
    fault(scene, 1080, 20, 0x8000);
    fault(scene, 1100, 5, 0x8abc);
    fault(scene, 1120, 6, 0x9000);
    PUT(scene, 0, 1210, F LEFT);
    fault(scene, 1300, 7, 0x8000);
    scene__end(scene, 0, 2000);
    scene__profile(scene); /* its audit, too: each moment is in one class */
    const struct profile_class *class = scene__class(scene, CLASS_FAULT, "page fault", 0x4001, 0);
    assert_int_equal(class->count, 3);
    assert_int_equal(class->sum_ns, 32);
    assert_int_equal(class->excess_ns, 32);
    assert_int_equal(class->why_ns[COMPONENT_PAGE_FAULT], 32);
    assert_int_equal(scene__classes(scene, CLASS_FAULT), 1);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_PAGE_FAULT], 41);
    assert_int_equal(thread_parts(scene)[COMPONENT_PAGE_FAULT], 48);
}

/* Records are read when a span ends: functions that were entered since then did not have them. */
static void records_belong_to_what_was_open_at_their_time(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1010, F);
    PUT(scene, 0, 1100, G);
    PUT(scene, 0, 1200, H);
    off_cpu(scene, 1009, 5, HEURT_OFF_PREEMPTED, 5);
    off_cpu(scene, 1090, 30, HEURT_OFF_PREEMPTED, 30);
    off_cpu(scene, 1190, 20, HEURT_OFF_PREEMPTED, 20);
    PUT(scene, 0, 1195, HEURT_EVENT_FAULT, HEURT_OFF(4, HEURT_FAULT_MEASURED), 0x8000, 0);
    off_cpu(scene, 1290, 10, HEURT_OFF_PREEMPTED, 10);
    PUT(scene, 0, 1300, H LEFT);
    PUT(scene, 0, 1400, G LEFT);
    PUT(scene, 0, 1500, F LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(sums_of(scene, "h")[COMPONENT_RUNNABLE], 10);
    assert_int_equal(sums_of(scene, "h")[COMPONENT_PAGE_FAULT], 0);
    assert_int_equal(sums_of(scene, "g")[COMPONENT_RUNNABLE], 30);
    assert_int_equal(sums_of(scene, "g")[COMPONENT_PAGE_FAULT], 4);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_RUNNABLE], 60);
    assert_int_equal(thread_parts(scene)[COMPONENT_RUNNABLE], 65);
}

/* They are written with each function that has them: its cost holds theirs. */
static void counts_of_instructions_cost_nothing_of_their_own(void **state)
{
    struct scene *scene = *state;
    const struct {
        struct heurt_process process;
        char path[8];
    } image = {{.pid = 1, .parent_process = HEURT_NO_SERIAL, .event_ticks = 5}, "app"};
    assert_int_equal(
        trace_writer__define(scene->writer, 0, HEURT_DEFINITION_PROCESS, &image, sizeof image), 0);
    scene__costs(scene, 3, 11);
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1009, HEURT_EVENT_INSTRUCTIONS, 500);
    PUT(scene, 0, 1010, F);
    PUT(scene, 0, 1099, HEURT_EVENT_INSTRUCTIONS, 600);
    PUT(scene, 0, 1100, G);
    PUT(scene, 0, 1199, HEURT_EVENT_INSTRUCTIONS, 700);
    PUT(scene, 0, 1200, G LEFT);
    PUT(scene, 0, 1299, HEURT_EVENT_INSTRUCTIONS, 800);
    PUT(scene, 0, 1300, F LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_OVERHEAD], 11);
    assert_int_equal(sums_of(scene, "g")[COMPONENT_OVERHEAD], 0);
}

/* What a wait waits for its kind tells; that it had no CPU afterwards, or first had to fetch a
 * page, is not waiting for it. */
static void waits_are_divided_too(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1010, F);
    PUT(scene, 0, 1100, WAIT, MUTEX, 0x7000);
    off_cpu(scene, 1180, 70, HEURT_OFF_BLOCKED, 25);
    PUT(scene, 0, 1190, HEURT_EVENT_FAULT, HEURT_OFF(3, HEURT_FAULT_MEASURED), 0x8000, 0);
    PUT(scene, 0, 1200, WAIT LEFT, 0);
    PUT(scene, 0, 1300, F LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    const struct profile_class *lock = scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0, 0);
    assert_int_equal(lock->accumulator->component_sum[COMPONENT_LOCK], 100 - 25 - 3);
    assert_int_equal(lock->accumulator->component_sum[COMPONENT_RUNNABLE], 25);
    assert_int_equal(lock->accumulator->component_sum[COMPONENT_PAGE_FAULT], 3);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_LOCK], 72);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_RUNNABLE], 25);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_OTHER_BLOCKED], 0);
    assert_int_equal(thread_parts(scene)[COMPONENT_LOCK], 72);
}

/* What lies in a pause of the recording's own is in nobody's time. */
static void being_off_in_a_pause_is_not_counted(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1010, F);
    PUT(scene, 0, 1200, HEURT_EVENT_PAUSED, 100);
    off_cpu(scene, 1180, 50, HEURT_OFF_PREEMPTED, 50);
    off_cpu(scene, 1300, 20, HEURT_OFF_PREEMPTED, 20);
    PUT(scene, 0, 1400, F LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_RUNNABLE], 20);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_RUNNING], 390 - 100 - 20);
}

/* An f's own recording is around it, so it is its caller's. */
static void what_recording_costs_is_a_part_of_what_is_around_it(void **state)
{
    struct scene *scene = *state;
    scene__costs(scene, 0, 45);
    scene__function(scene, 0, F, 0x401000, "f", "");
    scene__costs(scene, 0, 7);
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1010, H);
    PUT(scene, 0, 1020, F);
    PUT(scene, 0, 1030, G);
    PUT(scene, 0, 1040, G LEFT);
    PUT(scene, 0, 1050, G);
    PUT(scene, 0, 1060, G LEFT);
    PUT(scene, 0, 1120, F LEFT);
    PUT(scene, 0, 1210, H LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(sums_of(scene, "g")[COMPONENT_OVERHEAD], 0);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_OVERHEAD], 14);
    assert_int_equal(sums_of(scene, "f")[COMPONENT_RUNNING], 86);
    assert_int_equal(sums_of(scene, "h")[COMPONENT_OVERHEAD], 59);
    assert_int_equal(sums_of(scene, "h")[COMPONENT_RUNNING], 141);
    assert_int_equal(scene->profile->overhead_ns, 7 + 45 + 7 + 7);
}

/* Of 1000 each, the samples say of the first thread that so many were the recorder's; of the second
 * there are none. Events cost 45. */
static void sample_costs(struct scene *scene, uint64_t sampled)
{
    enum { RECORDER = 0x9f00, OWN = 0x9f80 };
    scene__costs(scene, 0, 45);
    scene__function(scene, 0, F, 0x401000, "f", "");
    for (uint32_t i = 0; i < 2; i++) {
        scene__start(scene, i, 1000);
        PUT(scene, i, 1020, F);
        PUT(scene, i, 1120, F LEFT);
        scene__end(scene, i, 2000);
    }
    scene__samples(scene, 0, RECORDER, 1000, 1000 + sampled);
    scene__samples(scene, 0, OWN, 1000 + sampled, 2000);
    symbols__put(scene->symbols, 0, RECORDER,
                 &(struct symbol){.function = "write", .module = "/usr/lib/heurt/libheurt.so"});
    symbols__put(scene->symbols, 0, OWN, &(struct symbol){.function = "f", .module = "/app"});
    scene->end = (struct heurt_clock_pair){2000, 2000};
    scene__profile(scene);
}

static uint64_t component_of(const struct scene *scene, size_t thread, enum component component)
{
    return VEC_AT(&scene->profile->threads, struct profile_thread, thread)->component_ns[component];
}

static void samples_tell_what_recording_cost(void **state)
{
    struct scene *scene = *state;
    sample_costs(scene, 300);
    assert_int_equal(component_of(scene, 0, COMPONENT_OVERHEAD), 300);
    assert_int_equal(component_of(scene, 0, COMPONENT_RUNNING), 700);
    assert_int_equal(component_of(scene, 1, COMPONENT_OVERHEAD), 45);
    assert_int_equal(component_of(scene, 1, COMPONENT_RUNNING), 955);
    assert_int_equal(scene->profile->overhead_ns, 300 + 45);
}

static void few_samples_do_not_tell_what_recording_cost(void **state)
{
    struct scene *scene = *state;
    sample_costs(scene, 100); /* twice as much, ten of them */
    assert_int_equal(component_of(scene, 0, COMPONENT_OVERHEAD), 45);
    assert_int_equal(scene->profile->overhead_ns, 90);
}

/* A hundred of them, by the thread that they are of. */
static void samples_cost_something_themselves(void **state)
{
    struct scene *scene = *state;
    trace_writer__session(scene->writer)->sample_ns = 2;
    sample_costs(scene, 100);
    assert_int_equal(component_of(scene, 0, COMPONENT_OVERHEAD), 45 + 200);
    assert_int_equal(component_of(scene, 0, COMPONENT_RUNNING), 1000 - 45 - 200);
    assert_int_equal(component_of(scene, 1, COMPONENT_OVERHEAD), 45);
    assert_int_equal(scene->profile->overhead_ns, 90 + 200);
}

static uint64_t own_sum(const struct scene *scene, const char *function)
{
    return scene__class(scene, CLASS_CALL, function, 0, 0)->accumulator->own_sum;
}

static void exclusive_times_count_each_moment_once(void **state)
{
    struct scene *scene = *state;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, F); /* f { g { f { } } wait } */
    PUT(scene, 0, 1010, G);
    PUT(scene, 0, 1030, F);
    PUT(scene, 0, 1070, F LEFT);
    PUT(scene, 0, 1080, G LEFT);
    PUT(scene, 0, 1100, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_USLEEP), 20);
    PUT(scene, 0, 1130, SLEEP LEFT);
    PUT(scene, 0, 1200, F LEFT);
    PUT(scene, 0, 1200, G);
    PUT(scene, 0, 1210, G LEFT);
    PUT(scene, 0, 1300, H); /* never left */
    PUT(scene, 0, 1310, G);
    PUT(scene, 0, 1360, G LEFT);
    scene__end(scene, 0, 2000);
    scene__profile(scene);
    assert_int_equal(own_sum(scene, "f"), (200 - 70 - 30) + 40);
    assert_int_equal(own_sum(scene, "g"), 30 + 10 + 50);
    const struct profile_class *sleep = scene__class(scene, CLASS_SLEEP, "usleep", 0, 0);
    assert_int_equal(sleep->accumulator->own_sum, 30);
    assert_int_equal(scene__class(scene, CLASS_CALL, "f", 0, 0)->exclusive_excess_ns,
                     100 + 40 - 2 * 40);
    assert_int_equal(scene__class(scene, CLASS_CALL, "g", 0, 0)->exclusive_excess_ns, 90 - 3 * 10);
}

/* A function that polls waits for work; one that reads a pipe and polls, for the part of it that
 * polls have of all such waits of the thread. */
static void waiting_for_work_is_idle(void **state)
{
    struct scene *scene = *state;
    const uint64_t pipe = (uint64_t)HEURT_DESCRIPTOR_PIPE << 32 | 3;
    define_functions(scene);
    scene__start(scene, 0, 1000);
    PUT(scene, 0, 1000, F);
    PUT(scene, 0, 1010, F LEFT);
    PUT(scene, 0, 1100, F);
    PUT(scene, 0, 1105, HEURT_EVENT_IO, HEURT_SITE(0x9000, HEURT_IO_POLL), 3, 100);
    PUT(scene, 0, 1205, HEURT_EVENT_IO LEFT, 1);
    PUT(scene, 0, 1210, F LEFT);
    scene__end(scene, 0, 2000);
    scene__start(scene, 1, 1000);
    PUT(scene, 1, 1000, G);
    PUT(scene, 1, 1010, G LEFT);
    PUT(scene, 1, 1100, G);
    PUT(scene, 1, 1105, HEURT_EVENT_IO, HEURT_SITE(0x9000, HEURT_IO_POLL), 3, 100);
    PUT(scene, 1, 1145, HEURT_EVENT_IO LEFT, 1);
    PUT(scene, 1, 1145, HEURT_EVENT_IO, HEURT_SITE(0x9000, HEURT_IO_READ), pipe, 100);
    PUT(scene, 1, 1305, HEURT_EVENT_IO LEFT, 1);
    PUT(scene, 1, 1310, G LEFT);
    scene__end(scene, 1, 2000);
    scene__profile(scene);
    const struct profile_class *f = scene__class(scene, CLASS_CALL, "f", 0, 0);
    const struct profile_class *g = scene__class(scene, CLASS_CALL, "g", 0, 0);
    assert_int_equal(f->why_ns[REASON_IDLE], 100);
    assert_int_equal(f->why_ns[COMPONENT_OTHER_BLOCKED], 0);
    assert_true(f->idle && f->verdict == VERDICT_UNCLEAR);
    assert_int_equal(g->why_ns[REASON_IDLE], 40);
    assert_int_equal(g->why_ns[COMPONENT_OTHER_BLOCKED], 160);
    assert_true(!g->idle && g->verdict == VERDICT_INTERFERENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(being_stopped_by_the_recorder_is_its_cost, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(being_off_the_cpu_is_part_of_what_was_open, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(records_belong_to_what_was_open_at_their_time, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(waits_are_divided_too, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(counts_of_instructions_cost_nothing_of_their_own,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(being_off_in_a_pause_is_not_counted, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(faults_at_known_pages_are_a_class_by_their_instruction,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(what_recording_costs_is_a_part_of_what_is_around_it,
                                        scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(samples_tell_what_recording_cost, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(samples_cost_something_themselves, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(few_samples_do_not_tell_what_recording_cost, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(waiting_for_work_is_idle, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(exclusive_times_count_each_moment_once, scene__setup,
                                        scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
