#include "analysis/findings/internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Threads, or processes, that are started and waited for one after another: each is waited for
 * before the next one begins, so that no two of them work at a time. Threads that are waited for in
 * the order of their starts: the next one begins when the oldest has ended, also where younger ones
 * have long ended, so that fewer work at a time than could. */
#define OFTEN 3
#define LEAST_NS 1000000u /* that one lives in the mean: less is finding_creation.c's */
#define APART_PART 20     /* of their lives: so little may they overlap */
#define WAITED_PART 5     /* of their lives: all but so much of it somebody waits */
#define LIVES_PART 5      /* of the wall time: so much of it they live at least */

struct row_of_lives {
    uint64_t count, lives_ns, longest_ns, work_ns;
    uint64_t overlap_ns, until; /* until: the tick at which the last of them has ended */
};

/* life: in the order of their starts. */
static void add_life(const struct finder *finder, size_t thread, struct row_of_lives *lives)
{
    const struct trace_thread *life = trace__thread_at(finder->trace, thread);
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t ns = row->lifetime_ns;
    if (life->start_tick < lives->until)
        lives->overlap_ns +=
            trace__ns(finder->trace, ns__smaller(lives->until, life->end_tick) - life->start_tick);
    lives->count++;
    lives->lives_ns += ns;
    lives->longest_ns = ns__larger(lives->longest_ns, ns);
    lives->work_ns += ns__without(thread__cpu_ns(row), row->component_ns[COMPONENT_OVERHEAD]);
    lives->until = ns__larger(lives->until, life->end_tick);
}

/* What a process starts: threads of its own, and children. */
struct started {
    uint32_t first; /* its first thread; UINT32_MAX: none is known */
    struct row_of_lives threads, children;
    bool is_runner; /* other programs come of it */
};

/* Who forked a process that runs the same program: what another program needs of those before it
 * nobody knows. NULL: none. */
static struct started *parent_of(const struct finder *finder, uint32_t process,
                                 struct started *started)
{
    const struct trace_process *child = trace__process_at(finder->trace, process),
                               *first = trace__process_at(finder->trace, 0);
    const struct trace_process *parent = trace__process_of(finder->trace, child->parent_serial);
    return parent && parent != child && strcmp(parent->path, child->path) == 0
               ? &started[parent - first]
               : NULL;
}

/* Whose place that one took, or who started it: the last one before it of that number. NULL: none.
 */
static const struct trace_process *before(const struct trace_process *first,
                                          const struct trace_process *process, uint32_t pid)
{
    for (const struct trace_process *other = process; other-- > first;)
        if (other->pid == pid)
            return other;
    return NULL;
}

/* What is forked tells of whom; another program has the number of its predecessor, or of who
 * started it. */
static const struct trace_process *comes_of(const struct finder *finder,
                                            const struct trace_process *process)
{
    const struct trace_process *first = trace__process_at(finder->trace, 0);
    if (process->parent_serial != HEURT_NO_SERIAL)
        return trace__process_of(finder->trace, process->parent_serial);
    return before(first, process, process->pid) ?: before(first, process, process->parent_pid);
}

/* Marks those that become another program, or start one, or whose children do: a shell that waits
 * for one lives as long. Parents come before their children. */
static void mark_runners(const struct finder *finder, struct started *started)
{
    const struct trace_process *first = trace__process_at(finder->trace, 0);
    for (size_t i = trace__processes(finder->trace)->count; i-- > 0;) {
        const struct trace_process *parent = comes_of(finder, &first[i]);
        if (parent && parent != &first[i])
            started[parent - first].is_runner |=
                started[i].is_runner || strcmp(parent->path, first[i].path) != 0;
    }
}

/* By process; free() it. */
static struct started *started_by(const struct finder *finder)
{
    size_t processes = trace__processes(finder->trace)->count;
    struct started *started = memory__zeroed(processes, sizeof *started);
    for (size_t i = 0; i < processes; i++)
        started[i].first = UINT32_MAX;
    mark_runners(finder, started);
    for (uint32_t i = 0; i < finder->profile->threads.count; i++) {
        uint32_t process = trace__thread_at(finder->trace, i)->process;
        struct started *of = &started[process];
        if (of->first != UINT32_MAX) {
            add_life(finder, i, &of->threads);
            continue;
        }
        of->first = i;
        struct started *parent = parent_of(finder, process, started);
        if (parent && !of->is_runner)
            add_life(finder, i, &parent->children);
    }
    return started;
}

static bool is_one_by_one(const struct finder *finder, const struct row_of_lives *lives)
{
    return lives->count >= OFTEN && lives->lives_ns / lives->count >= LEAST_NS &&
           lives->lives_ns >= finder->profile->wall_ns / LIVES_PART &&
           lives->overlap_ns <= lives->lives_ns / APART_PART;
}

/* What is left of their time when as many work at a time as there are CPUs. */
static uint64_t together_ns(const struct finder *finder, const struct row_of_lives *lives)
{
    return ns__larger(lives->longest_ns, lives->work_ns / finder__cpus(finder));
}

/* taken_ns: in which they are done, of which the first thread waits most. */
static void add_joins(struct finder *finder, size_t first, enum join_order order, uint64_t taken_ns,
                      uint64_t lost_ns)
{
    uint64_t wall_ns = finder->profile->wall_ns;
    uint32_t leader = thread__longest_class(finder, first, false);
    if (leader == FINDING_NO_CLASS || !lost_ns || lost_ns >= wall_ns ||
        class__sum_on(profile_class_at(finder->profile, leader), first) <
            taken_ns - taken_ns / WAITED_PART)
        return;
    struct finding *finding = finder__add(finder, FINDING_JOIN);
    vec__push(&finding->classes, &leader);
    finding->leader = leader;
    finding->lost_ns = lost_ns;
    finding->place =
        program_frame__of_class(finder->symbols, &profile_class_at(finder->profile, leader)->what);
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding->join_order = order;
    finding->is_assumed = true;
    finding__set_about(finding, (double)wall_ns / (double)(wall_ns - lost_ns));
}

static void add_serial(struct finder *finder, size_t first, const struct row_of_lives *lives)
{
    add_joins(finder, first, JOIN_SERIAL, lives->lives_ns,
              ns__without(lives->lives_ns, together_ns(finder, lives)));
}

/* ---- in the order of their starts ------------------------------------------------------------ */

#define LEVELS 64u
#define MOMENTS_PART 50  /* of the time in which any live */
#define OFTEN_IN_ORDER 4 /* so many times as many as live at a time */
#define IN_ORDER_PART 2  /* of the time in which fewer live: in so much of it the oldest does */

struct life_change { /* a thread starts, or ends */
    uint64_t tick;
    uint32_t thread; /* by their starts */
    bool ends;
};

static int by_tick(const void *a, const void *b)
{
    const struct life_change *left = a, *right = b;
    return ORDER(left->tick, right->tick) ?: (int)right->ends - (int)left->ends;
}

/* Of the threads that a process starts, all but its first: struct life_change, by time. */
static struct vec changes_of(const struct finder *finder, uint32_t process, size_t first)
{
    struct vec changes = VEC_OF(struct life_change);
    uint32_t count = 0;
    for (size_t i = first + 1; i < finder->profile->threads.count; i++) {
        const struct trace_thread *thread = trace__thread_at(finder->trace, i);
        if (thread->process != process)
            continue;
        vec__push(&changes, &(struct life_change){thread->start_tick, count, false});
        vec__push(&changes, &(struct life_change){thread->end_tick, count++, true});
    }
    vec__sort(&changes, by_tick);
    return changes;
}

struct life_window {
    uint32_t most;         /* that live at a time */
    uint64_t full, scarce; /* ticks: in which so many live, and fewer */
    uint64_t in_order; /* of the scarce ones: until the last one starts, in which the oldest still
                          lives */
};

/* How many live at a time, but for moments: one may end a little after its result is taken, and the
 * next one has begun. 0: more than LEVELS do. */
static uint32_t most_at_a_time(const struct vec *changes)
{
    uint64_t ticks[LEVELS] = {0}, all = 0, above = 0, last = 0;
    uint32_t alive = 0, most = LEVELS;
    VEC_EACH (change, changes, struct life_change) {
        if (alive >= LEVELS)
            return 0;
        ticks[alive] += alive ? change->tick - last : 0;
        all += alive ? change->tick - last : 0;
        last = change->tick;
        alive += change->ends ? -1u : 1;
    }
    while (most && above + ticks[most - 1] <= all / MOMENTS_PART)
        above += ticks[--most];
    return most ? most - 1 : 0;
}

/* The oldest that may live is so many before the last that started. */
static struct life_window window_of(const struct vec *changes)
{
    struct life_window window = {.most = most_at_a_time(changes)};
    bool *ended = memory__zeroed(changes->count, sizeof *ended);
    uint32_t alive = 0, started = 0;
    uint64_t tick = 0;
    VEC_EACH (change, changes, struct life_change) {
        uint64_t ticks = change->tick - tick;
        bool is_last = started == changes->count / 2; /* what is left comes to its end */
        if (started && alive >= window.most)
            window.full += ticks;
        else if (started >= window.most) {
            window.scarce += ticks;
            window.in_order += is_last || ended[started - window.most] ? 0 : ticks;
        }
        ended[change->thread] = change->ends;
        started += !change->ends;
        alive += change->ends ? -1u : 1;
        tick = change->tick;
    }
    free(ended);
    return window;
}

static void add_in_order(struct finder *finder, uint32_t process, const struct started *started)
{
    const struct row_of_lives *lives = &started->threads;
    if (lives->count < OFTEN || lives->lives_ns / lives->count < LEAST_NS)
        return;
    struct vec changes = changes_of(finder, process, started->first);
    struct life_window window = window_of(&changes);
    vec__free(&changes);
    uint64_t taken_ns = trace__ns(finder->trace, window.full + window.scarce);
    uint64_t needs_ns = ns__larger(lives->longest_ns, lives->lives_ns / (window.most ?: 1));
    if (window.most < 2 || window.most > finder__cpus(finder) ||
        lives->count < (uint64_t)OFTEN_IN_ORDER * window.most ||
        window.in_order < window.scarce / IN_ORDER_PART ||
        taken_ns < finder->profile->wall_ns / LIVES_PART)
        return;
    uint64_t alone_ns = trace__ns(finder->trace, window.in_order);
    add_joins(finder, started->first, JOIN_IN_ORDER, taken_ns,
              ns__smaller(alone_ns - alone_ns / window.most, ns__without(taken_ns, needs_ns)));
}

void finder__add_serials(struct finder *finder)
{
    struct started *started = started_by(finder);
    for (uint32_t i = 0; i < trace__processes(finder->trace)->count; i++) {
        if (is_one_by_one(finder, &started[i].threads))
            add_serial(finder, started[i].first, &started[i].threads);
        else if (is_one_by_one(finder, &started[i].children))
            add_serial(finder, started[i].first, &started[i].children);
        else
            add_in_order(finder, i, &started[i]);
    }
    free(started);
}
