#include "analysis/ledger/checks.h"

/* The system counts some of these by the tick of its clock. */
#define TICKS_NS 8000000u
/* From a thread's start in the kernel to its first event, and from its last event to its end. */
#define AROUND_THREAD_NS 200000u
/* The same where CPUs are short: others have one for some slices of the scheduler meanwhile. */
#define AROUND_SHORT_NS 8000000u
#define SHORT_PART 10 /* of their lives: so much of it threads wanted a CPU */

static bool is_about(uint64_t a, uint64_t b, uint64_t slack)
{
    uint64_t more = a > b ? a - b : b - a;
    return more <= b / 100 + slack;
}

static struct profile_check at_most(uint64_t ours, uint64_t counted, uint64_t slack)
{
    return (struct profile_check){
        .known = true,
        .holds = ours <= counted || is_about(ours, counted, slack),
        .ours = ours,
        .counted = counted,
    };
}

/* Of all threads whose CPU time is known. */
static struct profile_check check_running(const struct profile *profile, const struct trace *trace)
{
    uint64_t running = 0, cpu = 0, threads = 0;
    VEC_EACH (thread, &profile->threads, struct profile_thread) {
        if (trace__thread_at(trace, thread->thread)->is_aside || thread->cpu_ns == UINT64_MAX ||
            !thread->cpu_ns)
            continue;
        running += thread->component_ns[COMPONENT_RUNNING];
        cpu += thread->cpu_ns;
        threads++;
    }
    return threads ? at_most(running, cpu, threads * AROUND_THREAD_NS) : (struct profile_check){0};
}

static uint64_t around_thread_ns(const struct profile *profile)
{
    uint64_t runnable = 0, lives = 0;
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        runnable += row->component_ns[COMPONENT_RUNNABLE];
        lives += row->lifetime_ns;
    }
    return runnable >= lives / SHORT_PART ? AROUND_SHORT_NS : AROUND_THREAD_NS;
}

/* When the kernel's life of a thread begins that is held against ours. A thread that records begins
 * at its first time on a CPU; one that the kernel alone knows when it is made. What came before a
 * process' first thread began to be recorded (the loader, plans) is not the program's time. */
static uint64_t kernels_start(const struct trace_thread *thread)
{
    const struct heurt_life *life = &thread->life->life;
    if (thread->pid == thread->tid)
        return thread->start_tick;
    return thread->start_tick <= life->start_tick ? life->start_tick
                                                  : life->start_tick + life->wait_ticks;
}

static struct profile_check check_lives(const struct profile *profile, const struct trace *trace)
{
    uint64_t ours = 0, kernels = 0, threads = 0;
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        const struct trace_thread *thread = trace__thread_at(trace, row->thread);
        if (thread->is_aside || trace__whole(trace) || !thread->life ||
            !(thread->life->life.flags & HEURT_LIFE_ENDED))
            continue;
        const struct heurt_life *life = &thread->life->life;
        uint64_t start = kernels_start(thread);
        bool was_replaced = life->exec_tick > thread->start_tick;
        uint64_t end = was_replaced ? thread->end_tick : life->end_tick;
        kernels += end > start ? trace__ns(trace, end - start) : 0;
        ours += row->lifetime_ns;
        threads++;
    }
    return (struct profile_check){
        .known = threads > 0,
        .holds = is_about(ours, kernels, threads * around_thread_ns(profile)),
        .ours = ours,
        .counted = kernels,
    };
}

/* What the system counted of processes that nobody waited for is not there; it counted nothing by
 * threads. */
static bool is_counted_by_system(const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    if (trace__has_asides(trace))
        return false;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        if (thread->life && !(thread->life->life.flags & HEURT_LIFE_ENDED))
            return false;
    return session->finished && session->faults;
}

/* How many page faults a record stands for is exact to some parts in ten thousand where the kernel
 * adapts it all the time (655,341 to 655,460 told of 655,398, by probes). */
#define COUNTED_PARTS 500

void checks__make(struct profile *profile, const struct trace *trace,
                  const struct thread_result *results)
{
    const struct heurt_session *session = trace__session(trace);
    struct profile_check *checks = profile->checks;
    uint64_t faults_ns = 0, faults = 0, counted = 0;
    VEC_EACH (row, &profile->threads, struct profile_thread) {
        faults_ns += row->component_ns[COMPONENT_PAGE_FAULT];
        faults += results[row->thread].fold.fault_count;
        counted += results[row->thread].fold.counted_faults;
    }
    checks[CHECK_RUNNING] = check_running(profile, trace);
    checks[CHECK_LIVES] = check_lives(profile, trace);
    if (!is_counted_by_system(trace))
        return;
    checks[CHECK_FAULT_COUNT] = at_most(faults, session->faults, counted / COUNTED_PARTS);
    /* A fault that waits for its page is not at work meanwhile. */
    uint64_t off_ns = 0;
    VEC_EACH (row, &profile->threads, struct profile_thread)
        off_ns += trace__ns(trace, results[row->thread].fold.fault_off);
    checks[CHECK_FAULT_TIME] =
        at_most(faults_ns > off_ns ? faults_ns - off_ns : 0, session->system_ns, TICKS_NS);
}

bool checks__doubt_running(const struct profile *profile)
{
    static const enum profile_check_name names[] = {CHECK_RUNNING, CHECK_FAULT_TIME,
                                                    CHECK_FAULT_COUNT};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (profile->checks[names[i]].known && !profile->checks[names[i]].holds)
            return true;
    return false;
}
