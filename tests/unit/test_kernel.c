/* The kernel's records of a thread (src/runtime/records.c, compiled into this test): rings made up
 * word by word, and the events that come of them. Ticks are ns, but where clocks are tested. */
#include "runtime/openmp_hooks.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what the runtime has elsewhere ---------------------------------------------------------- */

static const uint64_t no_records;
struct state heurt_state;
__thread struct thread heurt_thread TLS_MODEL;

static struct {
    uint64_t delay_ns;
    unsigned looks; /* at it */
    bool ignored;
} system_of_test;

uint64_t *event__refill(uint64_t *at, unsigned words)
{
    (void)at, (void)words;
    fail_msg("an event too many");
    return NULL;
}

bool delay__read(uint64_t *ns)
{
    system_of_test.looks++;
    *ns = system_of_test.delay_ns;
    return true;
}

void kernel__ignore(struct thread *thread)
{
    system_of_test.ignored = true;
    thread->kernel_gate = &no_records;
}

void kernel__balance(struct thread *thread)
{
    (void)thread;
}

/* A region of libomp that the thread waits for the end of, and whose end is told by such an event.
 */
enum { REGION_ENDED = HEURT_EVENT_BARRIER_WAIT | 1 };
static uint64_t region_end;

uint64_t openmp__end_tick(const struct thread *thread)
{
    (void)thread;
    return region_end;
}

void openmp__tell_end(struct thread *thread)
{
    uint64_t *at = event__claim(thread, 2);
    at[1] = 0;
    event__publish(at, region_end, REGION_ENDED);
    region_end = 0;
}

static unsigned grown; /* times that a longer ring was asked for */

void kernel__grow(struct thread *thread)
{
    (void)thread;
    grown++;
}

/* ---- a thread with rings --------------------------------------------------------------------- */

enum { RING_WORDS = 64, ENDS_WORDS = 16, EVENT_WORDS = 512 };

struct scene {
    struct perf_event_mmap_page page, ends_page;
    uint64_t ring[RING_WORDS], ends[ENDS_WORDS], events[EVENT_WORDS];
    struct thread *thread;
    const uint64_t *at; /* the next event that is looked at */
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    memset(&heurt_state, 0, sizeof heurt_state);
    memset(&heurt_thread, 0, sizeof heurt_thread);
    memset(&system_of_test, 0, sizeof system_of_test);
    heurt_state.fault_ns = heurt_state.fault_least_ns = 1000;
    struct thread *thread = scene->thread = &heurt_thread;
    thread->next = scene->events;
    thread->limit = scene->events + EVENT_WORDS;
    thread->kernel.records =
        (struct kernel_ring){&scene->page, scene->ring, RING_WORDS - 1, .seen = 0};
    thread->kernel.ends =
        (struct kernel_ring){&scene->ends_page, scene->ends, ENDS_WORDS - 1, .seen = 0};
    kernel_clock__begin(&thread->kernel.clock);
    thread->kernel.major_faults = kernel__major_faults(); /* this program's own */
    scene->at = scene->events;
    *state = scene;
    return 0;
}

static int end(void **state)
{
    free(*state);
    return 0;
}

static void put_word(struct scene *scene, uint64_t word)
{
    scene->ring[scene->page.data_head / 8 % RING_WORDS] = word;
    scene->page.data_head += 8;
    assert_true(scene->page.data_head - scene->page.data_tail <= sizeof scene->ring);
}

static uint64_t header(uint32_t type, uint32_t misc, uint64_t bytes)
{
    return type | (uint64_t)misc << 32 | bytes << 48;
}

static void fault(struct scene *scene, uint64_t ns, uint64_t address)
{
    put_word(scene, header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 32));
    put_word(scene, ns);
    put_word(scene, address);
    put_word(scene, 3);
}

static void out(struct scene *scene, uint64_t ns, bool preempted)
{
    put_word(scene, header(PERF_RECORD_SWITCH,
                           PERF_RECORD_MISC_SWITCH_OUT |
                               (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
                           24));
    put_word(scene, ns);
    put_word(scene, 1);
}

static void in(struct scene *scene, uint64_t ns, uint32_t cpu)
{
    put_word(scene, header(PERF_RECORD_SWITCH, 0, 24));
    put_word(scene, ns);
    put_word(scene, cpu);
}

static void lost(struct scene *scene, uint64_t count)
{
    put_word(scene, header(PERF_RECORD_LOST, 0, 40));
    put_word(scene, 7);
    put_word(scene, count);
    put_word(scene, 1);
    put_word(scene, 1);
}

static void fault_ended(struct scene *scene, uint64_t ns)
{
    uint64_t *at = &scene->ends[scene->ends_page.data_head / 8 % ENDS_WORDS];
    at[0] = header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 16);
    at[1] = ns;
    scene->ends_page.data_head += 16;
}

static void drain(struct scene *scene)
{
    assert_int_not_equal(kernel__drain(scene->thread), 0);
    assert_int_equal(scene->thread->kernel_seen, scene->page.data_head);
    assert_int_equal(scene->page.data_tail, scene->page.data_head);
}

/* The next event is of that id and tick and has these payload words. */
static void expect(struct scene *scene, uint64_t tick, uint32_t id, unsigned words,
                   const uint64_t *payload)
{
    assert_true(scene->at < scene->thread->next);
    assert_int_equal(*scene->at & 0xffff, id);
    assert_int_equal(*scene->at >> HEURT_ID_BITS, tick);
    for (unsigned i = 0; i < words; i++)
        assert_int_equal(scene->at[1 + i], payload[i]);
    scene->at += 1 + words;
}

static void expect_off(struct scene *scene, uint64_t back, uint64_t ticks, enum heurt_off how,
                       uint64_t runnable, uint32_t cpu)
{
    expect(scene, back, HEURT_EVENT_OFF_CPU, 3,
           (const uint64_t[]){HEURT_OFF(ticks, how), HEURT_BACK(runnable, cpu), 0});
}

static void expect_fault(struct scene *scene, uint64_t ended, uint64_t ticks, enum heurt_fault how,
                         uint64_t address)
{
    expect(scene, ended, HEURT_EVENT_FAULT, 3,
           (const uint64_t[]){HEURT_OFF(ticks, how), address, 0});
}

static void expect_no_more(const struct scene *scene)
{
    assert_ptr_equal(scene->at, scene->thread->next);
}

/* ---- switches -------------------------------------------------------------------------------- */

static void test_switches(void **state)
{
    struct scene *scene = *state;
    out(scene, 1000, false);
    in(scene, 3000, 5);
    out(scene, 4000, true);
    in(scene, 4500, 2);
    drain(scene);
    expect_off(scene, 3000, 2000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 5);
    expect_off(scene, 4500, 500, HEURT_OFF_PREEMPTED, 500, 2);
    expect_no_more(scene);
}

/* What a thread is off the CPU is of two waits, of which the first ends meanwhile. */
static void test_region_that_ends(void **state)
{
    struct scene *scene = *state;
    scene->thread->openmp.joined = 1;
    region_end = 2500;
    out(scene, 1000, false);
    in(scene, 1800, 0);
    out(scene, 2000, false);
    in(scene, 3000, 1);
    out(scene, 3100, false);
    in(scene, 3200, 1);
    drain(scene);
    expect_off(scene, 1800, 800, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
    expect_off(scene, 2500, 500, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect(scene, 2500, REGION_ENDED, 1, (const uint64_t[]){0});
    expect_off(scene, 3000, 500, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_off(scene, 3200, 100, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_no_more(scene);
}

/* Between two times off the CPU. */
static void test_region_that_ended(void **state)
{
    struct scene *scene = *state;
    scene->thread->openmp.joined = 1;
    region_end = 1900;
    out(scene, 1000, false);
    in(scene, 1800, 0);
    out(scene, 2000, false);
    in(scene, 3000, 1);
    drain(scene);
    expect_off(scene, 1800, 800, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
    expect(scene, 1900, REGION_ENDED, 1, (const uint64_t[]){0});
    expect_off(scene, 3000, 1000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_no_more(scene);
}

static void test_in_without_out(void **state)
{
    struct scene *scene = *state;
    in(scene, 3000, 5);
    out(scene, 4000, false);
    in(scene, 4500, 2);
    in(scene, 4600, 2);
    drain(scene);
    expect_off(scene, 4500, 500, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 2);
    expect_no_more(scene);
}

/* A child of vfork sees its parent out: the parent writes that when it is back. */
static void test_out_without_in_stays(void **state)
{
    struct scene *scene = *state;
    fault(scene, 500, 0x1000);
    out(scene, 4000, false);
    kernel__drain(scene->thread);
    assert_int_equal(scene->thread->kernel_seen, 32);
    expect_fault(scene, 1500, 1000, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_no_more(scene);
    in(scene, 9000, 2);
    drain(scene);
    expect_off(scene, 9000, 5000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 2);
    expect_no_more(scene);
}

/* Records of 3, 4 and 5 words, so that every kind lies around the end of the ring at some time. */
static void test_wrap_around(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 1; i <= 200; i++) {
        uint64_t now = i * 100000;
        out(scene, now, true);
        in(scene, now + 10, (uint32_t)i);
        if (i % 3 == 0)
            lost(scene, i);
        fault(scene, now + 20, i << 12);
        fault_ended(scene, now + 50);
        drain(scene);
        expect_off(scene, now + 10, 10, HEURT_OFF_PREEMPTED, 10, (uint32_t)i);
        if (i % 3 == 0) {
            assert_int_equal(*scene->at & 0xffff, HEURT_EVENT_KERNEL_LOST);
            assert_int_equal(scene->at[1], i);
            scene->at += 2;
        }
        expect_fault(scene, now + 50, 30, HEURT_FAULT_MEASURED, i << 12);
        expect_no_more(scene);
        scene->thread->next = scene->events;
        scene->at = scene->events;
    }
}

static void test_lost(void **state)
{
    struct scene *scene = *state;
    grown = 0;
    out(scene, 1000, false);
    lost(scene, 17);
    in(scene, 3000, 5); /* of another switch out, perhaps */
    out(scene, 4000, false);
    in(scene, 4100, 1);
    drain(scene);
    assert_int_equal(*scene->at & 0xffff, HEURT_EVENT_KERNEL_LOST);
    assert_int_equal(scene->at[1], 17);
    scene->at += 2;
    expect_off(scene, 4100, 100, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_no_more(scene);
    assert_int_equal(grown, 1);
    out(scene, 5000, false);
    in(scene, 5100, 1);
    drain(scene);
    assert_int_equal(grown, 1);
}

/* What cannot be a record ends the reading, and is counted. */
static void test_damaged(void **state)
{
    struct scene *scene = *state;
    static const uint64_t wrong[] = {0, 4, 12, 4000};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_word(scene, header(PERF_RECORD_SWITCH, 0, wrong[i]));
        put_word(scene, 1);
        drain(scene);
        assert_int_equal(*scene->at & 0xffff, HEURT_EVENT_KERNEL_LOST);
        scene->at += 2;
        expect_no_more(scene);
    }
}

/* ---- page faults ----------------------------------------------------------------------------- */

static void test_faults(void **state)
{
    struct scene *scene = *state;
    fault(scene, 10000, 0x1000); /* before any was measured */
    fault(scene, 20000, 0x2000);
    fault_ended(scene, 22000);
    fault(scene, 30000, 0x3000); /* as long as the one that was */
    fault(scene, 31500, 0x4000); /* which is too long for the next */
    fault(scene, 32000, 0x5000);
    fault_ended(scene, 36000);
    fault(scene, 40000, 0x6000); /* the mean of both */
    drain(scene);
    expect_fault(scene, 11000, 1000, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_fault(scene, 22000, 2000, HEURT_FAULT_MEASURED, 0x2000);
    expect_fault(scene, 31500, 1500, HEURT_FAULT_ESTIMATED, 0x3000);
    expect_fault(scene, 32000, 500, HEURT_FAULT_ESTIMATED, 0x4000);
    expect_fault(scene, 36000, 4000, HEURT_FAULT_MEASURED, 0x5000);
    expect_fault(scene, 43000, 3000, HEURT_FAULT_ESTIMATED, 0x6000);
    expect_no_more(scene);
    assert_int_equal(heurt_state.fault_ns, 3000); /* for threads that have measured none */
}

/* The way into the kernel and back is added to every one, and is not measured with them. */
static void test_way_of_fault(void **state)
{
    struct scene *scene = *state;
    heurt_state.fault_way_ns = 600;
    fault(scene, 10000, 0x1000);
    fault_ended(scene, 12000);
    fault(scene, 20000, 0x2000);
    drain(scene);
    expect_fault(scene, 12600, 2600, HEURT_FAULT_MEASURED, 0x1000);
    expect_fault(scene, 22600, 2600, HEURT_FAULT_ESTIMATED, 0x2000);
    expect_no_more(scene);
    assert_int_equal(heurt_state.fault_ns, 2000);
}

/* Of fresh pages, some of whose ends are told. */
static void test_told_fault(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(kernel__told_fault(&scene->thread->kernel), 0);
    for (uint64_t i = 1; i <= 9; i++) {
        fault(scene, i * 10000, i << 12);
        if (i % 3 == 0)
            fault_ended(scene, i * 10000 + (i == 6 ? 900 : 1500));
    }
    assert_int_equal(kernel__told_fault(&scene->thread->kernel), 900);
}

/* What recording a fault costs is none of the fault's. */
static void test_fault_without_records(void **state)
{
    struct scene *scene = *state;
    heurt_state.fault_cost_ns = 300;
    fault(scene, 10000, 0x1000);
    fault_ended(scene, 12000);
    fault(scene, 20000, 0x2000);
    fault(scene, 30000, 0x3000);
    fault_ended(scene, 30100); /* less than that: a part */
    drain(scene);
    expect_fault(scene, 12000, 1700, HEURT_FAULT_MEASURED, 0x1000);
    expect_fault(scene, 21700, 1700, HEURT_FAULT_ESTIMATED, 0x2000);
    expect_fault(scene, 30100, 25, HEURT_FAULT_MEASURED, 0x3000);
    expect_no_more(scene);
}

/* Ends of faults whose beginnings were lost are nobody's. */
static void test_end_without_begin(void **state)
{
    struct scene *scene = *state;
    fault_ended(scene, 9000);
    fault_ended(scene, 9500);
    fault(scene, 10000, 0x1000);
    drain(scene);
    expect_fault(scene, 11000, 1000, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_no_more(scene);
}

/* An estimate does not reach beyond now: whatever it was, it has ended. */
static void test_estimate_ends_now(void **state)
{
    struct scene *scene = *state;
    heurt_state.fault_ns = 1ull << 40;
    uint64_t begin = clock__tick();
    fault(scene, begin, 0x1000);
    uint64_t now = kernel__drain(scene->thread);
    assert_true(now >= begin);
    expect_fault(scene, now, now - begin, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_no_more(scene);
}

/* Off the CPU soon after a fault began: within it, and its own time is what is left of the mean. */
static void test_fault_blocked(void **state)
{
    struct scene *scene = *state;
    fault(scene, 10000, 0x1000);
    out(scene, 10400, false);
    in(scene, 90400, 1);
    out(scene, 90500, true);
    in(scene, 90600, 1);
    drain(scene);
    expect_off(scene, 90400, 80000, HEURT_OFF_FAULT, HEURT_NOT_KNOWN, 1);
    expect_off(scene, 90600, 100, HEURT_OFF_PREEMPTED, 100, 1);
    expect_fault(scene, 91100, 1000, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_no_more(scene);
}

/* Off the CPU later than a fault takes: after it. */
static void test_blocked_after_fault(void **state)
{
    struct scene *scene = *state;
    fault(scene, 10000, 0x1000);
    out(scene, 11400, false);
    in(scene, 90000, 1);
    drain(scene);
    expect_fault(scene, 11000, 1000, HEURT_FAULT_ESTIMATED, 0x1000);
    expect_off(scene, 90000, 78600, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_no_more(scene);
}

/* However long some faults took: a wait that begins when another may be done is none of it. */
static void test_blocked_after_short_fault(void **state)
{
    struct scene *scene = *state;
    fault(scene, 10000, 0x1000);
    fault_ended(scene, 60000);
    fault(scene, 70000, 0x2000);
    out(scene, 71000, false);
    in(scene, 900000, 1);
    drain(scene);
    expect_fault(scene, 60000, 50000, HEURT_FAULT_MEASURED, 0x1000);
    expect_fault(scene, 71000, 1000, HEURT_FAULT_ESTIMATED, 0x2000);
    expect_off(scene, 900000, 829000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_no_more(scene);
}

/* The end that is told decides, whatever the mean is. */
static void test_told_end_decides(void **state)
{
    struct scene *scene = *state;
    fault(scene, 10000, 0x1000);
    fault_ended(scene, 10100);
    out(scene, 10400, false);
    in(scene, 20000, 1);
    fault(scene, 30000, 0x2000);
    out(scene, 70000, true);
    in(scene, 80000, 1);
    fault_ended(scene, 90000);
    fault(scene, 95000, 0x3000); /* its end is told, the one's before is not */
    fault(scene, 200000, 0x4000);
    out(scene, 200050, false);
    in(scene, 300000, 1);
    fault(scene, 400000, 0x5000);
    fault_ended(scene, 400010);
    drain(scene);
    expect_fault(scene, 10100, 100, HEURT_FAULT_MEASURED, 0x1000);
    expect_off(scene, 20000, 9600, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 1);
    expect_off(scene, 80000, 10000, HEURT_OFF_PREEMPTED, 10000, 1);
    expect_fault(scene, 90000, 50000, HEURT_FAULT_MEASURED, 0x2000);
    expect_fault(scene, 95000 + 25050, 25050, HEURT_FAULT_ESTIMATED, 0x3000);
    expect_off(scene, 300000, 99950, HEURT_OFF_FAULT, HEURT_NOT_KNOWN, 1);
    expect_fault(scene, 300000 + 25000, 25050, HEURT_FAULT_ESTIMATED, 0x4000);
    expect_fault(scene, 400010, 10, HEURT_FAULT_MEASURED, 0x5000);
    expect_no_more(scene);
}

/* ---- waiting for a CPU ----------------------------------------------------------------------- */

#define MS 1000000ull

/* Of 4 ms that were blocked in two drains, and 1 ms preempted, 3 ms were without a CPU: 2 of the 4.
 */
static void test_runnable(void **state)
{
    struct scene *scene = *state;
    scene->thread->kernel.knows_delay = true;
    scene->thread->kernel.delay_ns = 100 * MS;
    system_of_test.delay_ns = 103 * MS;
    out(scene, 10 * MS, false);
    in(scene, 10 * MS + 1000, 0); /* not worth a look */
    drain(scene);
    expect_off(scene, 10 * MS + 1000, 1000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
    expect_no_more(scene);
    assert_int_equal(system_of_test.looks, 0);
    out(scene, 20 * MS, true);
    in(scene, 21 * MS, 0);
    out(scene, 30 * MS, false);
    in(scene, 33 * MS, 0);
    out(scene, 40 * MS, false);
    in(scene, 41 * MS - 1000, 0);
    drain(scene);
    assert_int_equal(system_of_test.looks, 1);
    expect_off(scene, 21 * MS, MS, HEURT_OFF_PREEMPTED, MS, 0);
    expect_off(scene, 33 * MS, 3 * MS, HEURT_OFF_BLOCKED, 3 * MS / 2, 0);
    expect_off(scene, 41 * MS - 1000, MS - 1000, HEURT_OFF_BLOCKED, (MS - 1000) / 2, 0);
    expect_no_more(scene);
    kernel__drained(scene->thread);
    assert_int_equal(*scene->at & 0xffff, HEURT_EVENT_PAUSED); /* looking is in no span */
    scene->at += 2;
    expect_no_more(scene);
    assert_int_equal(scene->thread->kernel.delay_ns, 103 * MS);
}

/* It is never more than what was blocked, however long that was. */
static void test_runnable_at_most(void **state)
{
    struct scene *scene = *state;
    const uint64_t week = 7 * 86400 * 1000 * MS;
    scene->thread->kernel.knows_delay = true;
    system_of_test.delay_ns = 2 * week;
    out(scene, MS, false);
    in(scene, MS + week / 16, 0);
    drain(scene);
    expect_off(scene, (MS + week / 16) & HEURT_TICK_MASK, week / 16, HEURT_OFF_BLOCKED, week / 16,
               0);
}

/* ---- who reads when -------------------------------------------------------------------------- */

/* A thread that must make no system call reads on while it has room, and makes none. */
static void test_caged(void **state)
{
    struct scene *scene = *state;
    scene->thread->in_seccomp = scene->thread->kernel.knows_delay = true;
    scene->thread->limit = scene->events + 6;
    out(scene, 10 * MS, false);
    in(scene, 20 * MS, 0);
    drain(scene);
    assert_int_equal(system_of_test.looks, 0);
    expect_off(scene, 20 * MS, 10 * MS, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 0);
    out(scene, 30 * MS, false);
    in(scene, 40 * MS, 0);
    assert_int_equal(kernel__drain(scene->thread), 0);
    assert_true(system_of_test.ignored);
    expect_no_more(scene);
}

/* What a handler finds while the thread is reading stays for the thread; unless it jumped away. */
static void test_handler(void **state)
{
    struct scene *scene = *state;
    char here;
    scene->thread->stack_low = (uint64_t)&here - 65536;
    scene->thread->stack_high = (uint64_t)&here + 65536;
    out(scene, 1000, false);
    in(scene, 3000, 5);
    scene->thread->kernel.draining = &here; /* a frame below which we are called */
    assert_int_equal(kernel__drain(scene->thread), 0);
    expect_no_more(scene);
    scene->thread->kernel.draining = (void *)((uint64_t)&here - 8192); /* one that is gone */
    drain(scene);
    expect_off(scene, 3000, 2000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 5);
}

static void test_look(void **state)
{
    struct scene *scene = *state;
    const uint64_t gate = (uint64_t)&scene->page.data_head;
    scene->thread->kernel_gate = &no_records;
    out(scene, 1000, false);
    in(scene, 3000, 5);
    assert_int_equal(kernel__look(scene->thread), 0);
    expect_no_more(scene);
    scene->thread->kernel_gate = &gate;
    event__write0(scene->thread, HEURT_EVENT_LOCK_WAIT); /* no end of anything */
    assert_int_equal(*scene->at++ & 0xffff, HEURT_EVENT_LOCK_WAIT);
    expect_no_more(scene);
    uint64_t before = clock__tick();
    event__write1(scene->thread, HEURT_EVENT_LOCK_WAIT | 1, 0);
    expect_off(scene, 3000, 2000, HEURT_OFF_BLOCKED, HEURT_NOT_KNOWN, 5);
    assert_int_equal(*scene->at & 0xffff, HEURT_EVENT_LOCK_WAIT | 1);
    assert_true(*scene->at >> HEURT_ID_BITS >= (before & HEURT_TICK_MASK));
    scene->at += 2;
    expect_no_more(scene);
    assert_int_equal(kernel__look(scene->thread), 0);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* A time of the kernel's clock is at the tick that it was read at, to 1 µs and the time that
 * reading it took; also of times before the last pair and long after it. */
static void expect_right(const struct kernel_clock *clock)
{
    uint64_t before = __builtin_ia32_rdtsc(), ns = raw__clock_ns(CLOCK_MONOTONIC_RAW);
    uint64_t after = __builtin_ia32_rdtsc(), tick = kernel_clock__tick(clock, ns);
    uint64_t one_us = kernel_clock__ticks(clock, 1000);
    assert_true(tick + one_us >= before);
    assert_true(tick <= after + one_us);
}

static void test_clock(void **state)
{
    struct scene *scene = *state;
    struct kernel_clock *clock = &scene->thread->kernel.clock;
    heurt_state.uses_tsc = true;
    kernel_clock__begin(clock);
    struct timespec wait = {.tv_nsec = 200000};
    nanosleep(&wait, NULL);
    kernel_clock__refresh(clock, __builtin_ia32_rdtsc());
    unsigned pairs = 0;
    for (unsigned i = 0; i < 12; i++, wait.tv_nsec = 100000 << i % 12) {
        uint64_t last = clock->tick;
        nanosleep(&wait, NULL);
        if (__builtin_ia32_rdtsc() - clock->base_tick < 2 * (clock->tick - clock->base_tick))
            expect_right(clock); /* nothing is due */
        kernel_clock__refresh(clock, __builtin_ia32_rdtsc());
        pairs += clock->tick != last;
        expect_right(clock);
        assert_true(kernel_clock__tick(clock, clock->base_ns) + kernel_clock__ticks(clock, 1000) >=
                        clock->base_tick &&
                    kernel_clock__tick(clock, clock->base_ns) <=
                        clock->base_tick + kernel_clock__ticks(clock, 1000));
    }
    assert_in_range(pairs, 2, 12);
}

/* After years, and at rates that are no whole numbers, nothing overflows. */
static void test_clock_far(void **state)
{
    (void)state;
    struct kernel_clock clock = {.rate = 5ull << 31, .tick = 1ull << 60, .ns = 1ull << 58};
    assert_int_equal(kernel_clock__tick(&clock, (1ull << 58) + 1000), (1ull << 60) + 2500);
    assert_int_equal(kernel_clock__tick(&clock, (1ull << 58) - 1000), (1ull << 60) - 2500);
    assert_int_equal(kernel_clock__ticks(&clock, 1ull << 58), 5ull << 57);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_switches),
        TEST(test_region_that_ends),
        TEST(test_region_that_ended),
        TEST(test_in_without_out),
        TEST(test_out_without_in_stays),
        TEST(test_wrap_around),
        TEST(test_lost),
        TEST(test_damaged),
        TEST(test_faults),
        TEST(test_way_of_fault),
        TEST(test_told_fault),
        TEST(test_fault_without_records),
        TEST(test_end_without_begin),
        TEST(test_estimate_ends_now),
        TEST(test_fault_blocked),
        TEST(test_blocked_after_fault),
        TEST(test_blocked_after_short_fault),
        TEST(test_told_end_decides),
        TEST(test_runnable),
        TEST(test_runnable_at_most),
        TEST(test_caged),
        TEST(test_handler),
        TEST(test_look),
        TEST(test_clock),
        TEST(test_clock_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
