/* records.c: what the kernel wrote of a thread becomes events of its stream.
 *
 *     switch out … switch in                OFF_CPU, at the switch in
 *     fault begins …                        FAULT, at its end: which is told for every
 *                                           KERNEL_ENDS_PERIOD-th one by the second ring; the
 *                                           others take as long as those did in the mean, and no
 *                                           longer than until the next record
 *     fault begins, out … in                the thread was off within the fault
 *
 * Records are read in place.  What is read is given back to the kernel at the end; what is off the
 * CPU at the end of a ring (a child of vfork may read its parent's) is left there. */
#include "runtime/kernel.h"
#include "runtime/openmp_hooks.h"
#include "runtime/runtime.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/resource.h>

/* ---- times ----------------------------------------------------------------------------------- */

#define ONE_SECOND_NS 1000000000u
#define PAIR_TRIES 4
#define PAIR_TICKS_MOST 2000u /* a pair that took less was not interrupted: less than 1 µs */

static uint64_t scale(uint64_t value, uint64_t factor, unsigned bits)
{
    return (uint64_t)((unsigned __int128)value * factor >> bits);
}

/* One instant on both clocks, the one of several that took the least; returns how long. */
static uint64_t take_pair(uint64_t *tick, uint64_t *ns)
{
    uint64_t least = ~0ull;
    for (unsigned i = 0; i < PAIR_TRIES; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        uint64_t now = raw__clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t took = __builtin_ia32_rdtsc() - before;
        if (took >= least)
            continue;
        least = took;
        *tick = before + took / 2;
        *ns = now;
    }
    return least;
}

void kernel_clock__begin(struct kernel_clock *clock)
{
    *clock = (struct kernel_clock){.rate = 1ull << KERNEL_RATE_BITS};
    if (heurt_state.uses_tsc) {
        clock->pair_ticks = take_pair(&clock->base_tick, &clock->base_ns);
        clock->tick = clock->base_tick;
        clock->ns = clock->base_ns;
    }
}

static uint64_t rate_of(uint64_t ticks, uint64_t ns)
{
    while (ticks >> (64 - KERNEL_RATE_BITS)) {
        ticks >>= 1;
        ns >>= 1;
    }
    return ns ? (ticks << KERNEL_RATE_BITS) / ns : 0;
}

/* Whether the pair was interrupted: it took longer than system calls do on this machine, where one
 * alone may take a microsecond. */
static bool is_interrupted(struct kernel_clock *clock, uint64_t took)
{
    if (took < clock->pair_ticks)
        clock->pair_ticks = took;
    return took > PAIR_TICKS_MOST && took > clock->pair_ticks + clock->pair_ticks / 4;
}

/* A pair is right to some 0.1 µs, so the rate of two is wrong by as much in the time between them,
 * and in at most as much time again what is made of it by twice that. */
void kernel_clock__refresh(struct kernel_clock *clock, uint64_t tick)
{
    uint64_t tick_now, ns_now;
    if (!heurt_state.uses_tsc)
        return;
    uint64_t known = clock->tick - clock->base_tick;
    if (tick - clock->base_tick < 2 * known &&
        tick - clock->tick < kernel_clock__ticks(clock, ONE_SECOND_NS))
        return;
    if (thread__in_seccomp(&heurt_thread) ||
        (is_interrupted(clock, take_pair(&tick_now, &ns_now)) && known) || ns_now <= clock->base_ns)
        return;
    clock->tick = tick_now;
    clock->ns = ns_now;
    clock->rate = rate_of(tick_now - clock->base_tick, ns_now - clock->base_ns);
}

uint64_t kernel_clock__ticks(const struct kernel_clock *clock, uint64_t duration_ns)
{
    return scale(duration_ns, clock->rate, KERNEL_RATE_BITS);
}

uint64_t kernel_clock__tick(const struct kernel_clock *clock, uint64_t ns)
{
    return ns >= clock->ns ? clock->tick + kernel_clock__ticks(clock, ns - clock->ns)
                           : clock->tick - kernel_clock__ticks(clock, clock->ns - ns);
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* A record's first word: type in 32 bits, misc in 16, its length in bytes in 16. */
#define RECORD_TYPE(word) ((uint32_t)(word))
#define RECORD_MISC(word) ((uint32_t)((word) >> 32) & 0xffff)
#define RECORD_BYTES(word) ((word) >> 48)

/* Words of the records, as kernel.c asks for them: of a sample, of a switch, of a loss. */
enum { SAMPLE_TIME = 1, SAMPLE_ADDRESS = 2, SAMPLE_CPU = 3, SAMPLE_WORDS = 4 };
enum { SWITCH_TIME = 1, SWITCH_CPU = 2, SWITCH_WORDS = 3 };
enum { LOST_COUNT = 2, LOST_WORDS = 3 };
enum { END_TIME = 1, END_WORDS = 2 };

static uint64_t head_of(const struct kernel_ring *ring)
{
    return ring->page ? __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) : ring->seen;
}

/* No record's word lies around the end of the ring: all lengths are multiples of 8. */
static uint64_t word_at(const struct kernel_ring *ring, uint64_t at, unsigned word)
{
    return ring->words[(at / 8 + word) & ring->word_mask];
}

/* The record at at is of that type and has that many words. */
static bool is(uint64_t first, uint32_t type, unsigned words)
{
    return RECORD_TYPE(first) == type && RECORD_BYTES(first) >= words * 8;
}

static bool is_impossible(uint64_t first, uint64_t left)
{
    return RECORD_BYTES(first) < 8 || RECORD_BYTES(first) % 8 || RECORD_BYTES(first) > left;
}

/* ---- one look at the rings ------------------------------------------------------------------- */

struct drain {
    struct thread *thread;
    struct kernel *kernel;
    uint64_t at, head; /* bytes of the first ring */
    uint64_t now;      /* tick before it began */
    /* The page fault that has begun, and not yet ended or been taken for ended. */
    uint64_t fault_ns; /* 0: there is none */
    uint64_t fault_address;
    uint64_t fault_off_ns; /* in which it was off the CPU */
    /* Where it is off the CPU: */
    uint64_t out_ns; /* 0: it is on it */
    enum heurt_off how;
    bool within_fault;
    /* How much of what is off and not preempted was waiting for a CPU. */
    bool knows_share;
    uint64_t share; /* << SHARE_BITS */
    bool counted_majors;
    bool lost; /* records */
};

#define SHARE_BITS 20

/* A thread that must make no system call writes as long as it has room. */
static bool has_room(const struct thread *thread, unsigned words)
{
    return !thread__in_seccomp(thread) || (thread->limit && thread->next + words <= thread->limit);
}

static uint64_t *claim(struct drain *drain, unsigned words)
{
    if (!has_room(drain->thread, words)) {
        kernel__ignore(drain->thread);
        return NULL;
    }
    return event__claim(drain->thread, words);
}

/* ---- page faults ----------------------------------------------------------------------------- */

/* When the next page fault ended whose end is told, of those from from_ns on; 0: there is none. */
static uint64_t next_end(struct kernel_ring *ends, uint64_t from_ns)
{
    uint64_t head = head_of(ends);
    while (ends->seen < head) {
        uint64_t first = word_at(ends, ends->seen, 0);
        if (is_impossible(first, head - ends->seen)) {
            ends->seen = head;
            return 0;
        }
        uint64_t time = word_at(ends, ends->seen, END_TIME);
        if (is(first, PERF_RECORD_SAMPLE, END_WORDS) && time >= from_ns)
            return time;
        ends->seen += RECORD_BYTES(first);
    }
    return 0;
}

#define FAULTS_REMEMBERED 64

static void remember_fault(struct kernel *kernel, uint64_t ns)
{
    if (kernel->measured_faults == FAULTS_REMEMBERED) {
        kernel->measured_faults /= 2;
        kernel->measured_ns /= 2;
    }
    kernel->measured_faults++;
    kernel->measured_ns += ns;
    kernel->mean_ns = kernel->measured_ns / kernel->measured_faults;
    __atomic_store_n(&heurt_state.fault_ns, kernel->mean_ns, __ATOMIC_RELAXED);
}

/* The shortest of the process, with its records. */
static void remember_least(uint64_t ns)
{
    if (ns < __atomic_load_n(&heurt_state.fault_least_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&heurt_state.fault_least_ns, ns, __ATOMIC_RELAXED);
}

static uint64_t mean_fault(const struct kernel *kernel)
{
    return kernel->measured_faults ? kernel->mean_ns
                                   : __atomic_load_n(&heurt_state.fault_ns, __ATOMIC_RELAXED);
}

uint64_t kernel__told_fault(struct kernel *kernel)
{
    const struct kernel_ring *ring = &kernel->records;
    uint64_t least = 0, begin = 0, head = head_of(ring);
    for (uint64_t at = 0, first; at < head; at += RECORD_BYTES(first)) {
        first = word_at(ring, at, 0);
        if (is_impossible(first, head - at))
            break;
        if (!is(first, PERF_RECORD_SAMPLE, SAMPLE_WORDS))
            continue;
        uint64_t time = word_at(ring, at, SAMPLE_TIME),
                 end = begin ? next_end(&kernel->ends, begin) : 0;
        if (end && end < time && (!least || end - begin < least))
            least = end - begin;
        begin = time;
    }
    return least;
}

/* What a fault took without what its records cost, most of which is within it: the fold takes that
 * for what recording costs. */
static uint64_t without_records(uint64_t on_ns)
{
    uint64_t cost = heurt_state.fault_cost_ns;
    return on_ns > cost + on_ns / 4 ? on_ns - cost : on_ns / 4;
}

/* The way into the kernel and back is added behind the end. */
static uint64_t way_of_fault(void)
{
    return __atomic_load_n(&heurt_state.fault_way_ns, __ATOMIC_RELAXED);
}

static void write_fault(struct drain *drain, uint64_t end_ns, uint64_t on_ns, enum heurt_fault how)
{
    const struct kernel_clock *clock = &drain->kernel->clock;
    uint64_t tick = kernel_clock__tick(clock, end_ns), ticks = kernel_clock__ticks(clock, on_ns);
    if (tick > drain->now) { /* an estimate: it had ended by then */
        uint64_t over = tick - drain->now;
        ticks = ticks > over ? ticks - over : 0;
        tick = drain->now;
    }
    uint64_t *at = claim(drain, 4);
    if (!at)
        return;
    at[1] = HEURT_OFF(ticks, how);
    at[2] = drain->fault_address;
    at[3] = 0; /* the instruction is not asked for */
    event__publish(at, tick, HEURT_EVENT_FAULT);
}

/* The page fault that has begun, if any, had ended at bound_ns. */
static void end_fault(struct drain *drain, uint64_t bound_ns)
{
    struct kernel *kernel = drain->kernel;
    uint64_t begin = drain->fault_ns, off = drain->fault_off_ns;
    if (!begin)
        return;
    drain->fault_ns = 0;
    uint64_t end = next_end(&kernel->ends, begin);
    if (end && end <= bound_ns && end - begin >= off) {
        uint64_t on = without_records(end - begin - off);
        remember_fault(kernel, on);
        remember_least(end - begin - off);
        write_fault(drain, end + way_of_fault(), on + way_of_fault(), HEURT_FAULT_MEASURED);
        return;
    }
    uint64_t on = mean_fault(kernel), most = without_records(bound_ns - begin - off);
    on = on < most ? on : most;
    on += way_of_fault();
    write_fault(drain, begin + off + on, on, HEURT_FAULT_ESTIMATED);
}

static void begin_fault(struct drain *drain)
{
    const struct kernel_ring *ring = &drain->kernel->records;
    uint64_t time = word_at(ring, drain->at, SAMPLE_TIME);
    end_fault(drain, time);
    drain->kernel->faults++;
    drain->fault_ns = time;
    drain->fault_address = word_at(ring, drain->at, SAMPLE_ADDRESS);
    drain->fault_off_ns = 0;
}

/* Whether another page fault begins behind this record and before that time. */
static bool another_begins(const struct drain *drain, uint64_t before_ns)
{
    const struct kernel_ring *ring = &drain->kernel->records;
    for (uint64_t at = drain->at; at < drain->head;) {
        uint64_t first = word_at(ring, at, 0);
        if (is_impossible(first, drain->head - at))
            return false;
        if (is(first, PERF_RECORD_SAMPLE, SAMPLE_WORDS))
            return word_at(ring, at, SAMPLE_TIME) < before_ns;
        at += RECORD_BYTES(first);
    }
    return false;
}

#define MAJOR_FAULT_NS 1000000u /* on the CPU until it waits for what it reads */

uint64_t kernel__major_faults(void)
{
    struct rusage usage;
    return RAW2(getrusage, RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_majflt : 0;
}

/* Whether a page was read since this was last asked. */
static bool takes_major_fault(struct drain *drain)
{
    struct kernel *kernel = drain->kernel;
    if (thread__in_seccomp(drain->thread))
        return false;
    drain->counted_majors = true;
    if (kernel__major_faults() <= kernel->major_faults)
        return false;
    kernel->major_faults++;
    return true;
}

/* Whether the thread, which is switched out, is within the page fault that has begun. Where its end
 * is not told: before any fault can be done, and whatever else blocks can have begun, it is within
 * it; later only where a page was read. */
static bool is_within_fault(struct drain *drain, uint64_t out_ns, bool preempted)
{
    if (!drain->fault_ns)
        return false;
    uint64_t end = next_end(&drain->kernel->ends, drain->fault_ns);
    if (end && (end < out_ns || !another_begins(drain, end)))
        return end > out_ns;
    uint64_t on = out_ns - drain->fault_ns - drain->fault_off_ns;
    return on < __atomic_load_n(&heurt_state.fault_least_ns, __ATOMIC_RELAXED) ||
           (!preempted && on < MAJOR_FAULT_NS && takes_major_fault(drain));
}

/* ---- switches -------------------------------------------------------------------------------- */

static void switched_out(struct drain *drain, uint64_t first)
{
    uint64_t time = word_at(&drain->kernel->records, drain->at, SWITCH_TIME);
    bool preempted = RECORD_MISC(first) & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    drain->within_fault = is_within_fault(drain, time, preempted);
    if (!drain->within_fault)
        end_fault(drain, time);
    drain->out_ns = time;
    drain->how = preempted             ? HEURT_OFF_PREEMPTED
                 : drain->within_fault ? HEURT_OFF_FAULT
                                       : HEURT_OFF_BLOCKED;
}

/* Of a thread that was preempted, all. */
static uint64_t runnable_ticks(const struct drain *drain, uint64_t off_ticks)
{
    if (drain->how == HEURT_OFF_PREEMPTED)
        return off_ticks;
    return drain->knows_share ? scale(off_ticks, drain->share, SHARE_BITS) : HEURT_NOT_KNOWN;
}

static void write_off(struct drain *drain, uint64_t since, uint64_t tick, uint32_t cpu)
{
    uint64_t *at = claim(drain, 4);
    if (!at)
        return;
    at[1] = HEURT_OFF(tick - since, drain->how);
    at[2] = HEURT_BACK(runnable_ticks(drain, tick - since), cpu);
    at[3] = 0;
    event__publish(at, tick, HEURT_EVENT_OFF_CPU);
}

static void switched_in(struct drain *drain)
{
    const struct kernel_ring *ring = &drain->kernel->records;
    const struct kernel_clock *clock = &drain->kernel->clock;
    uint64_t time = word_at(ring, drain->at, SWITCH_TIME), out_ns = drain->out_ns;
    uint32_t cpu = (uint32_t)word_at(ring, drain->at, SWITCH_CPU);
    drain->kernel->switches++;
    drain->out_ns = 0;
    if (!out_ns || time < out_ns)
        return;
    if (drain->within_fault)
        drain->fault_off_ns += time - out_ns;
    uint64_t tick = kernel_clock__tick(clock, time), since = kernel_clock__tick(clock, out_ns);
    uint64_t end = drain->thread->openmp.joined ? openmp__end_tick(drain->thread) : 0;
    if (unlikely(end && tick > end)) { /* its waits are told one after the other */
        if (since < end)
            write_off(drain, since, end, cpu);
        since = since > end ? since : end;
        openmp__tell_end(drain->thread);
    }
    write_off(drain, since, tick, cpu);
}

static void lost(struct drain *drain, uint64_t count)
{
    drain->fault_ns = drain->out_ns = 0;
    drain->lost = true;
    uint64_t *at = claim(drain, 2);
    if (!at)
        return;
    at[1] = count;
    event__publish(at, drain->now, HEURT_EVENT_KERNEL_LOST);
}

/* ---- waiting for a CPU ----------------------------------------------------------------------- */

/* Looking costs some 7 µs: at most one part in forty of what was blocked. */
#define DELAY_WORTH_NS 300000u

/* Adds up how long the thread was off in what is to be read. */
static void add_up(struct drain *drain)
{
    const struct kernel_ring *ring = &drain->kernel->records;
    uint64_t out_ns = 0;
    bool preempted = false;
    for (uint64_t at = drain->at, first; at < drain->head; at += RECORD_BYTES(first)) {
        first = word_at(ring, at, 0);
        if (is_impossible(first, drain->head - at))
            return;
        if (!is(first, PERF_RECORD_SWITCH, SWITCH_WORDS))
            continue;
        uint64_t time = word_at(ring, at, SWITCH_TIME);
        if (!(RECORD_MISC(first) & PERF_RECORD_MISC_SWITCH_OUT) && out_ns && time > out_ns)
            *(preempted ? &drain->kernel->preempted_ns : &drain->kernel->blocked_ns) +=
                time - out_ns;
        preempted = RECORD_MISC(first) & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        out_ns = RECORD_MISC(first) & PERF_RECORD_MISC_SWITCH_OUT ? time : 0;
    }
}

/* What the thread waited for a CPU since the last look, less what it was preempted, is divided
 * among all that was blocked since then; of what is read now, each gets its part. Returns the ticks
 * that looking took. */
static uint64_t find_share(struct drain *drain)
{
    struct kernel *kernel = drain->kernel;
    uint64_t began = clock__tick(), delay;
    if (!delay__read(&delay)) {
        kernel->knows_delay = false;
        return 0;
    }
    uint64_t waited = delay - kernel->delay_ns, blocked = kernel->blocked_ns;
    waited = waited > kernel->preempted_ns ? waited - kernel->preempted_ns : 0;
    waited = waited < blocked ? waited : blocked;
    while (waited >> (63 - SHARE_BITS)) {
        waited >>= 1;
        blocked >>= 1;
    }
    drain->share = (waited << SHARE_BITS) / blocked;
    drain->knows_share = true;
    kernel->delay_ns = delay;
    kernel->blocked_ns = kernel->preempted_ns = 0;
    return clock__tick() - began;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Counts everything up to the head as read. */
static void give_up_ring(struct drain *drain)
{
    drain->at = drain->thread->kernel_seen = drain->head;
    lost(drain, 1);
}

/* What a handler that jumps away interrupts is read, and not written: once rather than twice. */
static void read_record(struct drain *drain)
{
    const struct kernel_ring *ring = &drain->kernel->records;
    uint64_t first = word_at(ring, drain->at, 0);
    if (is_impossible(first, drain->head - drain->at)) {
        give_up_ring(drain);
        return;
    }
    bool out = is(first, PERF_RECORD_SWITCH, SWITCH_WORDS) &&
               RECORD_MISC(first) & PERF_RECORD_MISC_SWITCH_OUT;
    uint64_t next = drain->at + RECORD_BYTES(first);
    if (!out)
        drain->thread->kernel_seen = next;
    if (out)
        switched_out(drain, first);
    else if (is(first, PERF_RECORD_SWITCH, SWITCH_WORDS))
        switched_in(drain);
    else if (is(first, PERF_RECORD_SAMPLE, SAMPLE_WORDS))
        begin_fault(drain);
    else if (is(first, PERF_RECORD_LOST, LOST_WORDS))
        lost(drain, word_at(ring, drain->at, LOST_COUNT));
    drain->at = next;
}

static void read_rings(struct drain *drain)
{
    struct kernel *kernel = drain->kernel;
    uint64_t paused = 0;
    kernel_clock__refresh(&kernel->clock, drain->now);
    add_up(drain);
    if (kernel->blocked_ns >= DELAY_WORTH_NS && kernel->knows_delay &&
        !thread__in_seccomp(drain->thread))
        paused = find_share(drain);
    while (drain->at < drain->head)
        read_record(drain);
    end_fault(drain, UINT64_MAX);
    if (drain->counted_majors)
        kernel->major_faults = kernel__major_faults();
    if (paused) {
        kernel->pause_end = drain->now + paused;
        kernel->pause_ticks = paused;
    }
    kernel->records.page->data_tail = drain->thread->kernel_seen;
    if (kernel->ends.page)
        kernel->ends.page->data_tail = kernel->ends.seen;
    kernel__balance(drain->thread);
    if (drain->lost)
        kernel__grow(drain->thread);
}

/* A drain that a handler interrupted and then jumped out of is none any more: its frame is gone. */
static bool is_draining(const struct thread *thread, const void *frame)
{
    const void *other = thread->kernel.draining;
    bool on_stack = (uint64_t)frame >= thread->stack_low && (uint64_t)frame < thread->stack_high &&
                    (uint64_t)other >= thread->stack_low && (uint64_t)other < thread->stack_high;
    return other && !(on_stack && frame > other);
}

uint64_t kernel__drain(struct thread *thread)
{
    const void *frame = __builtin_frame_address(0);
    struct kernel *kernel = &thread->kernel;
    if (!kernel->records.page || thread->forking || is_draining(thread, frame))
        return 0;
    if (!has_room(thread, 4)) {
        kernel__ignore(thread);
        return 0;
    }
    kernel->draining = frame;
    struct drain drain = {
        .thread = thread,
        .kernel = kernel,
        .at = thread->kernel_seen,
        .head = head_of(&kernel->records),
        .now = clock__tick(),
    };
    read_rings(&drain);
    kernel->draining = NULL;
    return drain.now;
}

void kernel__drained(struct thread *thread)
{
    struct kernel *kernel = &thread->kernel;
    uint64_t ticks = kernel->pause_ticks;
    if (!ticks || !has_room(thread, 2))
        return;
    kernel->pause_ticks = 0;
    uint64_t *at = event__claim(thread, 2);
    if (!at)
        return;
    at[1] = ticks;
    event__publish(at, kernel->pause_end, HEURT_EVENT_PAUSED);
}
