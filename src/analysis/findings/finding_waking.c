#include "analysis/findings/internal.h"

#include "analysis/events/sampled_time.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES_LEAST 32
#define SAMPLED_WELL 2.0 /* times as much as samples stand for, or as they stand for too much */

/* Who gives a lock back that others wait for goes into the kernel to wake one, and the kernel tells
 * how long it handled a page fault, not what the way to it and back took. That is in no call which
 * is recorded: it looks like work. What the kernel had of the CPUs is known of the whole run,
 * so it is what is left when all is taken off that it did otherwise. Which threads it was for,
 * samples tell: they are of the program's own code alone. */

/* CPU time in calls and waits, faults, and the kernel's records: nearly all of it is the kernel's.
 */
static uint64_t explained_ns(const struct profile_thread *row)
{
    uint64_t faults_ns = row->component_ns[COMPONENT_PAGE_FAULT];
    uint64_t out_ns =
        row->component_ns[COMPONENT_RUNNING] + faults_ns + row->component_ns[COMPONENT_OVERHEAD];
    uint64_t records_ns =
        ns__smaller(row->kernel_overhead_ns, row->component_ns[COMPONENT_OVERHEAD]);
    return ns__without(thread__cpu_ns(row), out_ns) + faults_ns + records_ns;
}

/* What started the program, or was left when it ended, is in no thread. */
static uint64_t waking_ns(const struct finder *finder)
{
    const struct heurt_session *session = trace__session(finder->trace);
    uint64_t threads_ns = 0, explained = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        threads_ns += thread__cpu_ns(row);
        explained += finder->findings->had_work[i] ? explained_ns(row) : thread__cpu_ns(row);
    }
    explained += ns__without(session->cpu_ns, threads_ns);
    return session->finished ? ns__without(session->system_ns, explained) : 0;
}

static uint64_t sum_of(const uint64_t *ns, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ns[i];
    return sum;
}

/* How much time a sample's time stands for: what all threads spent in their own code is known; 0:
 * samples do not tell of it. */
static double times_sampled(const struct finder *finder, const struct sampled_time *time)
{
    const struct heurt_session *session = trace__session(finder->trace);
    double own_ns = (double)ns__without(session->cpu_ns, session->system_ns);
    double sampled_ns = (double)sum_of(time->ns, finder->profile->threads.count);
    double times = sampled_ns > 0 && session->finished ? own_ns / sampled_ns : 0;
    bool is_sampled_well = times >= 1 / SAMPLED_WELL && times <= SAMPLED_WELL;
    return time->samples >= SAMPLES_LEAST && is_sampled_well ? times : 0;
}

struct own_time *waking__own_times(const struct finder *finder)
{
    struct sampled_time time =
        sampled_time__of(finder->trace, finder->symbols, sampled_time__is_recording, NULL);
    size_t count = finder->profile->threads.count;
    double times = times_sampled(finder, &time);
    struct own_time *own = times > 0 ? memory__zeroed(count + 1, sizeof *own) : NULL;
    for (size_t i = 0; own && i < count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        uint64_t user_ns = (uint64_t)(times * (double)time.ns[i]);
        own[i].ns = (uint64_t)(times * (double)(time.ns[i] - time.of_ns[i]));
        own[i].waking_ns = finder->findings->had_work[i]
                               ? ns__without(thread__cpu_ns(row), user_ns + explained_ns(row))
                               : 0;
    }
    sampled_time__free(&time);
    return own;
}

static bool takes_the_kernel(enum class_kind kind)
{
    return kind == CLASS_FAULT || kind == CLASS_LOCK || kind == CLASS_CONDITION ||
           kind == CLASS_BARRIER || kind == CLASS_SEMAPHORE || kind == CLASS_FUTEX;
}

/* What waits that others end, and page faults, lost of the thread's time. */
static uint64_t waits_ns(const struct finder *finder, size_t thread)
{
    uint64_t ns = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        if (!takes_the_kernel(class->what.at.kind))
            continue;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            ns += row->thread == thread ? row->excess_ns : 0;
    }
    return ns;
}

/* What they lost, all together. */
static uint64_t all_waits_ns(const struct finder *finder)
{
    uint64_t ns = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        ns += takes_the_kernel(class->what.at.kind) ? class->excess_ns : 0;
    return ns;
}

uint64_t finder__waits_of(const struct finder *finder, uint32_t thread)
{
    double waits = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        enum class_kind kind = class->what.at.kind;
        if (!class_kind__waits_for_threads(kind) || kind == CLASS_FAULT)
            continue;
        bool is_taken = kind == CLASS_LOCK || kind == CLASS_SEMAPHORE;
        uint64_t count = is_taken ? class->contended : class->count;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            if (row->thread == thread && class->sum_ns)
                waits += (double)count * (double)row->sum_ns / (double)class->sum_ns;
    }
    return (uint64_t)waits;
}

/* Calls that are not recorded take the kernel's time, too: waking is no more than so much of each
 * wait for a lock. Of faults it is known how many there were, and not here. */
static uint64_t most_waking_ns(const struct finder *finder, const struct finding *finding,
                               size_t thread)
{
    return finding__is_for_lock(finding) ? finder__waits_of(finder, (uint32_t)thread) * WAIT_CPU_NS
                                         : UINT64_MAX;
}

/* The kernel's time for waking that goes with what the thread lost; where samples do not tell whose
 * it was: of that of all, as much as it has of what waits lost. */
static uint64_t waking_for(const struct finder *finder, size_t thread, uint64_t lost_ns,
                           uint64_t all_waking_ns, uint64_t all_lost_ns)
{
    uint64_t kernel_ns = finder->own ? finder->own[thread].waking_ns : all_waking_ns;
    uint64_t of_ns = finder->own ? ns__larger(waits_ns(finder, thread), lost_ns) : all_lost_ns;
    return (uint64_t)((double)kernel_ns * (double)lost_ns / (double)of_ns);
}

static void add_waking(const struct finder *finder, const struct finding *finding,
                       const uint64_t *lost, uint64_t *ns)
{
    size_t count = finder->profile->threads.count;
    uint64_t all_ns = ns__larger(all_waits_ns(finder), sum_of(lost, count));
    uint64_t all_waking_ns = finder->own ? 0 : waking_ns(finder);
    for (size_t i = 0; i < count; i++)
        if (lost[i])
            ns[i] += ns__smaller(waking_for(finder, i, lost[i], all_waking_ns, all_ns),
                                 most_waking_ns(finder, finding, i));
}

/* ---- the lock's own line --------------------------------------------------------------------- */

#define LINE_BYTES 64

static bool is_at_line(const struct sharing *sharing, uint64_t address)
{
    VEC_EACH (access, &sharing->accesses, struct line_access)
        if (access->address / LINE_BYTES == address / LINE_BYTES)
            return true;
    return false;
}

static bool is_of_lock(const struct finder *finder, const struct finding *finding,
                       const struct sharing *sharing)
{
    uint32_t serial = trace__process_at(finder->trace, sharing->process)->serial;
    VEC_EACH (place, &finding->classes, uint32_t) {
        const struct class_definition *what = &profile_class_at(finder->profile, *place)->what;
        if (what->has_object && what->at.process == serial && is_at_line(sharing, what->object))
            return true;
    }
    return false;
}

/* By thread: what its own line costs, or the code around it, whichever is more. Who spins there
 * waits, which is told. */
static uint64_t *beside_ns(const struct finder *finder, const struct finding *finding)
{
    size_t count = finder->profile->threads.count;
    uint64_t *ns = memory__zeroed(count, sizeof *ns);
    uint64_t *around = memory__zeroed(count, sizeof *around);
    VEC_EACH (sharing, &finder->findings->sharings->rows, struct sharing) {
        bool is_beside = !sharing->is_spun && is_of_lock(finder, finding, sharing);
        for (size_t i = 0; is_beside && i < count; i++)
            ns[i] += sharing->lost_ns[i];
    }
    VEC_EACH (place, &finding->beside, uint32_t)
        class__add_lost(finder, *place, around);
    for (size_t i = 0; i < count; i++)
        ns[i] = ns__larger(ns[i], around[i]);
    free(around);
    return ns;
}

uint64_t *waking__find(const struct finder *finder, const struct finding *finding,
                       const uint64_t *lost)
{
    size_t count = finder->profile->threads.count;
    uint64_t *ns = memory__zeroed(count, sizeof *ns), *beside = beside_ns(finder, finding);
    add_waking(finder, finding, lost, ns);
    for (size_t i = 0; i < count; i++)
        ns[i] = ns__smaller(ns[i] + beside[i],
                            profile_thread_at(finder, i)->component_ns[COMPONENT_RUNNING]);
    free(beside);
    return ns;
}

/* ---- no findings of their own ---------------------------------------------------------------- */

static bool is_same_place(const struct finding *a, const struct finding *b)
{
    return a->place && b->place && strcmp(a->place->function, b->place->function) == 0;
}

static uint64_t taken_of(const struct finder *finder, const struct finding *finding)
{
    uint64_t count = 0;
    VEC_EACH (place, &finding->classes, uint32_t)
        count += profile_class_at(finder->profile, *place)->count;
    return count;
}

/* Each occurrence of the slower code takes the lock. */
static bool is_around(const struct finder *finder, const struct finding *slower,
                      const struct finding *lock)
{
    return slower->category == FINDING_OVERLAP && is_same_place(slower, lock) &&
           taken_of(finder, lock) >= taken_of(finder, slower);
}

static void add_to_leader(const struct finder *finder, struct finding *lock)
{
    uint64_t *ns = beside_ns(finder, lock), sum = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        sum += finder->findings->had_work[i] ? ns[i] : 0;
    lock->lost_ns += sum;
    lock->beside_ns += sum;
    lock->told_beside_ns += finder__told_ns(finder, ns);
    lock->confidence = CONFIDENCE_ESTIMATED;
    *VEC_AT(&lock->losses, uint64_t, 0) += sum;
    finding__estimate_gain(finder, lock);
    free(ns);
}

static bool takes_over(const struct finder *finder, struct finding *lock, struct finding *other)
{
    bool is_line = other->sharing && is_of_lock(finder, lock, other->sharing);
    if (other == lock || (!is_line && !is_around(finder, other, lock)))
        return false;
    VEC_EACH (place, &other->classes, uint32_t)
        vec__push(&lock->beside, place);
    return true;
}

static bool takes_over_any(const struct finder *finder, struct finding *lock, bool *gone)
{
    struct vec *rows = &finder->findings->rows;
    bool any = false;
    for (size_t i = 0; i < rows->count; i++) {
        if (gone[i] || !takes_over(finder, lock, VEC_AT(rows, struct finding, i)))
            continue;
        gone[i] = any = true;
    }
    return any;
}

void finder__add_beside(struct finder *finder)
{
    struct vec *rows = &finder->findings->rows;
    bool *gone = memory__zeroed(rows->count + 1, sizeof *gone);
    size_t kept = 0;
    VEC_EACH (lock, rows, struct finding)
        if (finding__is_for_lock(lock) && lock->losses.count && takes_over_any(finder, lock, gone))
            add_to_leader(finder, lock);
    for (size_t i = 0; i < rows->count; i++) {
        struct finding *finding = VEC_AT(rows, struct finding, i);
        if (gone[i])
            finding__free(finding);
        else
            *VEC_AT(rows, struct finding, kept++) = *finding;
    }
    rows->count = kept;
    free(gone);
}
