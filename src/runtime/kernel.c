/* kernel.c: a thread's perf events: switches, the beginning of each page fault, and the end of
 * some.
 *
 * Each is opened, its ring is mapped, and its descriptor is closed at once: the mapping keeps the
 * event.  Two events, because the one that tells a fault's beginning fires before the kernel looks
 * at it, and the one for minor faults when it is done; and one that has a ring of its own cannot
 * write to the other's.  Both are of the user's part of the thread alone, which everybody may have
 * (perf_event_paranoid ≤ 2). */
#include "runtime/kernel.h"

#include "runtime/runtime.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define RAW_EPERM 1
#define RAW_EACCES 13
#define RAW_ENOSYS 38

#define PAGE_BYTES 4096u
#define RING_PAGES 8u /* some 1000 records */
#define RING_PAGES_LEAST 2u
#define RING_PAGES_MOST 128u
#define ENDS_PAGES 1u
#define KERNEL_SLOTS 8192u

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* What an OFF_CPU and a FAULT cost in all, the kernel's part and ours, in parts of what a first
 * page fault takes without records, which tells how fast the machine is in its kernel. The ratios
 * are those of `make bench-kernel`; to measure the costs themselves would take each process longer
 * than they do. */
#define OFF_CPU_COST(fault) ((fault)*6 / 5)
#define FAULT_COST(fault) ((fault)*2 / 5)

#define TOUCHED_PAGES 24u /* for three ends to be told */

static bool is_wanted(void)
{
    return heurt_state.session->flags & HEURT_SESSION_KERNEL;
}

/* Without the recorder's log. */
static bool is_ours(void)
{
    return is_wanted() && !(heurt_state.session->flags & HEURT_SESSION_KERNEL_LOG);
}

/* Ticks that a page fault takes: the median of some fresh pages'. */
static uint64_t touch_pages(void)
{
    uint64_t ticks[TOUCHED_PAGES];
    long memory = RAW6(mmap, 0, TOUCHED_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(memory))
        return 0;
    for (unsigned i = 0; i < TOUCHED_PAGES; i++) {
        uint64_t before = clock__tick();
        *(volatile char *)(memory + i * PAGE_BYTES) = 1;
        uint64_t took = clock__tick() - before;
        unsigned place = i;
        for (; place && ticks[place - 1] > took; place--)
            ticks[place] = ticks[place - 1];
        ticks[place] = took;
    }
    RAW2(munmap, memory, TOUCHED_PAGES * PAGE_BYTES);
    return ticks[TOUCHED_PAGES / 2];
}

static uint64_t ns_of(const struct kernel_clock *clock, uint64_t ticks)
{
    return (ticks << 16) / ((clock->rate >> (KERNEL_RATE_BITS - 16)) + 1);
}

void kernel__prepare(void)
{
    if (!is_ours())
        return;
    kernel_clock__begin(&heurt_state.kernel_clock);
    if (heurt_state.kernel_slots)
        return; /* of an attachment before: all empty again */
    long slots = RAW6(mmap, 0, KERNEL_SLOTS * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!is_error(slots) &&
        RAW3(madvise, slots, KERNEL_SLOTS * sizeof(uint64_t), MADV_WIPEONFORK) == 0)
        heurt_state.kernel_slots = (uint64_t *)slots;
}

/* The recorder has measured what its log costs. */
static void take_costs(const struct heurt_session *session)
{
    heurt_state.off_cpu_ticks = session->off_cpu_ticks;
    heurt_state.fault_ticks = session->fault_ticks;
}

void kernel__calibrate(void)
{
    struct kernel_clock *clock = &heurt_state.kernel_clock;
    if (!is_wanted())
        return;
    if (!is_ours()) {
        take_costs(heurt_state.session);
        return;
    }
    kernel_clock__refresh(clock, clock__tick());
    uint64_t fault = touch_pages();
    heurt_state.fault_ns = ns_of(clock, fault); /* until one was measured */
    heurt_state.fault_least_ns = heurt_state.fault_ns / 2;
    heurt_state.off_cpu_ticks = (uint32_t)OFF_CPU_COST(fault);
    heurt_state.fault_ticks = (uint32_t)FAULT_COST(fault);
    heurt_state.fault_cost_ns = ns_of(clock, heurt_state.fault_ticks);
}

/* ---- what is missing is said once ------------------------------------------------------------ */

enum missing {
    MISSING_REFUSED = 1,
    MISSING_DESCRIPTOR = 2,
    MISSING_MEMORY = 4,
};

static void say_once(enum missing missing, const char *sentence)
{
    if (!(__atomic_fetch_or(&heurt_state.kernel_missing, missing, __ATOMIC_RELAXED) & missing))
        define__note(sentence);
}

static void say_why_not_opened(long error)
{
    if (error == -RAW_EPERM || error == -RAW_EACCES || error == -RAW_ENOSYS)
        say_once(
            MISSING_REFUSED,
            "The kernel tells nothing of switches and page faults: it refuses perf_event_open. "
            "sudo sysctl kernel.perf_event_paranoid=2 allows it; in a container --cap-add "
            "PERFMON.");
    else
        say_once(MISSING_DESCRIPTOR,
                 "The kernel tells nothing of some threads' switches and page faults, because "
                 "perf_event_open failed when they began (no descriptor left? ulimit -n).");
}

static void say_no_memory(void)
{
    say_once(
        MISSING_MEMORY,
        "The kernel tells nothing of some threads' switches and page faults: memory that it may "
        "lock is used up. sudo sysctl kernel.perf_event_mlock_kb=65536, or a larger ulimit "
        "-l, allows more.");
}

/* ---- a thread's events ----------------------------------------------------------------------- */

#define NEVER_WAKES (1u << 30)

/* clockid: that of the ticks where they are ns, else the one that runs as evenly as they do. */
#define RECORDS(clock)                                                                             \
    {                                                                                              \
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),                        \
        .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,                                   \
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU, .exclude_kernel = 1, \
        .exclude_hv = 1, .watermark = 1, .wakeup_watermark = NEVER_WAKES, .sample_id_all = 1,      \
        .use_clockid = 1, .clockid = clock, .context_switch = 1                                    \
    }
#define ENDS(clock)                                                                            \
    {                                                                                          \
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),                    \
        .config = PERF_COUNT_SW_PAGE_FAULTS_MIN, .sample_period = KERNEL_ENDS_PERIOD,          \
        .sample_type = PERF_SAMPLE_TIME, .exclude_kernel = 1, .exclude_hv = 1, .watermark = 1, \
        .wakeup_watermark = NEVER_WAKES, .use_clockid = 1, .clockid = clock                    \
    }
/* By whether ticks are those of the counter. */
static const struct perf_event_attr records_of[2] = {RECORDS(CLOCK_MONOTONIC),
                                                     RECORDS(CLOCK_MONOTONIC_RAW)};
static const struct perf_event_attr ends_of[2] = {ENDS(CLOCK_MONOTONIC), ENDS(CLOCK_MONOTONIC_RAW)};

static bool map_ring(struct kernel_ring *ring, long descriptor, unsigned pages)
{
    long memory =
        RAW6(mmap, 0, (1 + pages) * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (is_error(memory))
        return false;
    ring->page = (volatile struct perf_event_mmap_page *)memory;
    ring->words = (const uint64_t *)(memory + PAGE_BYTES);
    ring->word_mask = pages * PAGE_BYTES / 8 - 1;
    ring->seen = 0;
    return true;
}

static void unmap_ring(struct kernel_ring *ring)
{
    if (ring->page)
        RAW2(munmap, ring->page, (ring->word_mask + 1) * 8 + PAGE_BYTES);
    ring->page = NULL;
}

static bool open_ring(struct kernel_ring *ring, const struct perf_event_attr *attributes,
                      unsigned pages, unsigned pages_least)
{
    long descriptor = RAW6(perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (is_error(descriptor)) {
        say_why_not_opened(descriptor);
        return false;
    }
    bool mapped = map_ring(ring, descriptor, pages) ||
                  (pages_least < pages && map_ring(ring, descriptor, pages_least));
    RAW1(close, descriptor);
    if (!mapped)
        say_no_memory();
    return mapped;
}

/* A place for the way to the ring that a forked child does not inherit. */
static uint64_t *take_slot(const struct thread *thread)
{
    uint64_t head = (uint64_t)&thread->kernel.records.page->data_head;
    for (unsigned i = 0; i < KERNEL_SLOTS; i++) {
        uint64_t *slot = &heurt_state.kernel_slots[(thread->serial + i) % KERNEL_SLOTS];
        uint64_t none = 0;
        if (!*slot && __atomic_compare_exchange_n(slot, &none, head, false, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED))
            return slot;
    }
    return NULL;
}

void kernel__grow(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    struct kernel_ring longer = {0};
    uint64_t pages = (kernel->records.word_mask + 1) * 8 / PAGE_BYTES * 4;
    if (pages > RING_PAGES_MOST || thread__in_seccomp(thread))
        return;
    uint64_t mask = signals__block();
    long descriptor = RAW6(perf_event_open, &records_of[heurt_state.uses_tsc], 0, -1, -1,
                           PERF_FLAG_FD_CLOEXEC, 0);
    if (!is_error(descriptor)) {
        if (map_ring(&longer, descriptor, (unsigned)pages)) {
            unmap_ring(&kernel->records);
            kernel->records = longer;
            thread->kernel_seen = 0;
            *kernel->slot = (uint64_t)&longer.page->data_head;
        }
        RAW1(close, descriptor);
    }
    signals__restore(mask);
}

static bool open_events(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    if (!heurt_state.kernel_slots || heurt_state.kernel_missing & MISSING_REFUSED ||
        !open_ring(&kernel->records, &records_of[heurt_state.uses_tsc], RING_PAGES,
                   RING_PAGES_LEAST))
        return false;
    open_ring(&kernel->ends, &ends_of[heurt_state.uses_tsc], ENDS_PAGES, ENDS_PAGES);
    kernel->slot = take_slot(thread);
    if (kernel->slot)
        return true;
    unmap_ring(&kernel->records);
    unmap_ring(&kernel->ends);
    return false;
}

/* The second event costs each switch a fifth of what both do, so a thread that switches much more
 * than it faults does without, until that changes. */
#define BALANCE_AFTER 512u

void kernel__balance(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    if (kernel->switches + kernel->faults < BALANCE_AFTER)
        return;
    bool wanted = kernel->faults >= kernel->switches / 4;
    kernel->switches = kernel->faults = 0;
    if (wanted == (kernel->ends.page != NULL) || thread__in_seccomp(thread))
        return;
    uint64_t mask = signals__block();
    if (wanted)
        open_ring(&kernel->ends, &ends_of[heurt_state.uses_tsc], ENDS_PAGES, ENDS_PAGES);
    else
        unmap_ring(&kernel->ends);
    signals__restore(mask);
}

static void write_begin(struct thread *thread)
{
    uint64_t *at = event__claim(thread, 2);
    uint32_t cpu = 0;
    if (!at)
        return;
    RAW3(getcpu, &cpu, NULL, NULL);
    at[1] = cpu;
    event__publish(at, clock__tick(), HEURT_EVENT_KERNEL);
}

/* A page fault is told from where the kernel begins to look at it until it is done. The way there
 * and back is what fresh pages take beside that. */
static void find_way(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    const struct kernel_clock *clock = &kernel->clock;
    uint64_t took = ns_of(clock, touch_pages()), told = kernel__told_fault(kernel);
    uint64_t way = told && took > told ? took - told : 0;
    __atomic_store_n(&heurt_state.fault_way_ns, way < told ? way : told, __ATOMIC_RELAXED);
    thread->kernel_seen = kernel->records.page->data_head;
    kernel->records.page->data_tail = thread->kernel_seen;
}

void kernel__begin(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    /* Of a thread that begins the system has counted nothing yet. */
    kernel->knows_delay = is_wanted();
    kernel->first_delay_ns = 0;
    /* The child of a vfork has its parent's memory, not a record of its own. */
    if (!is_ours() || thread__in_seccomp(thread) || (uint32_t)RAW0(getpid) != heurt_state.pid)
        return;
    kernel->clock = heurt_state.kernel_clock;
    kernel->measured_ns = kernel->measured_faults = 0;
    kernel->major_faults = kernel__major_faults();
    kernel->blocked_ns = kernel->preempted_ns = kernel->switches = kernel->faults = 0;
    kernel->pause_ticks = 0;
    kernel->draining = NULL;
    bool opened = open_events(thread);
    kernel->knows_delay = delay__read(&kernel->delay_ns);
    kernel->first_delay_ns = kernel->delay_ns;
    if (opened) {
        thread->kernel_seen = 0;
        kernel_clock__refresh(&kernel->clock, clock__tick());
        if (!__atomic_exchange_n(&heurt_state.fault_way_known, true, __ATOMIC_RELAXED))
            find_way(thread);
    }
    if (!opened)
        return;
    write_begin(thread);
    thread->kernel_gate = kernel->slot;
}

void kernel__ignore(struct thread *thread)
{
    static const uint64_t no_records;
    thread->kernel_gate = &no_records;
    if (thread->kernel.slot)
        __atomic_store_n(thread->kernel.slot, 0, __ATOMIC_RELAXED);
    thread->kernel.slot = NULL;
}

void kernel__end(struct thread *thread)
{
    kernel__ignore(thread);
    unmap_ring(&thread->kernel.records);
    unmap_ring(&thread->kernel.ends);
}

void kernel__forget(struct thread *thread)
{
    kernel__ignore(thread);
    thread->kernel.records.page = thread->kernel.ends.page = NULL;
    thread->kernel.knows_delay = false;
}

/* ---- waiting for a CPU, as the system counts it ---------------------------------------------- */

/* The second of the numbers: cpu ns, ns that it waited for a CPU, turns. */
bool delay__read(uint64_t *ns)
{
    char text[96];
    long descriptor = RAW3(open, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC, 0);
    if (is_error(descriptor))
        return false;
    long length = RAW3(read, descriptor, text, sizeof text);
    RAW1(close, descriptor);
    uint64_t number = 0;
    unsigned spaces = 0;
    for (long i = 0; i < length && spaces < 2; i++) {
        if (text[i] == ' ')
            spaces++;
        else if (spaces == 1 && text[i] >= '0' && text[i] <= '9')
            number = number * 10 + (uint64_t)(text[i] - '0');
    }
    *ns = number;
    return spaces == 2;
}

/* To read the system's count takes 20 us and more, which is not worth it for a thread that lived no
 * hundred times as long. The recorder's log has a lower bound of it. */
#define LIFE_SHORT_NS 3000000u

static bool lived_shortly(const struct thread *thread)
{
    return heurt_state.session->flags & HEURT_SESSION_KERNEL_LOG && thread->sequence == 1 &&
           thread->chunk && clock__tick() - thread->chunk->start.tick < clock__ticks(LIFE_SHORT_NS);
}

uint64_t kernel__runnable_ns(const struct thread *thread)
{
    uint64_t now;
    return thread->kernel.knows_delay && !lived_shortly(thread) && delay__read(&now)
               ? now - thread->kernel.first_delay_ns
               : ~0ull;
}
