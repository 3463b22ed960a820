#include "analysis/events/activity.h"
#include "analysis/findings/internal.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_PART 25 /* of the wall time: so soon after the others ends who is told to */
#define TOLD_LEAST_NS 5000000u
#define IN_STEP 100 /* messages, at least; and one of so many may be missing */

/* How the work of others is bound to what is waited for. */
enum binding {
    BOUND_BY_WORK,      /* it is what is waited for: it stays, and is not part of the wait */
    BOUND_BY_ANSWERS,   /* it answers requests: it stays, and is part of the answers */
    BOUND_BY_EXCLUSION, /* it is merely in the way */
};

/* What threads lose, and how the others take part in it. */
struct loss {
    const struct finder *finder;
    enum finding_category category;
    enum binding binding;
    bool is_served;      /* ANSWERS: by threads that lose nothing */
    bool sleeps_stay;    /* who is waited for sleeps meanwhile: that is what it has to do */
    bool sleeps_in_vain; /* and that is not needed: it ends when it is told to */
    bool is_small_calls; /* that pass little: they need not be, and what they pass stays */
    bool on_cpu;         /* what is lost is time on a CPU */
    double in_bulk;      /* 0 … 1: much is handed over at a time: that part of what each wait took
                            of a CPU goes, too */
    const uint64_t *lost; /* by trace__threads */
    const uint64_t *with; /* CPU time of threads that goes with the loss, likewise; NULL: none */
    uint64_t end;         /* of the last one that loses */
    struct vec losers;    /* uint32_t: by trace__threads */
    bool in_turn;         /* no more goes on side by side than does */
    double sooner;        /* those of them that answer others would do so by that part: 0 … 1 */
    double freed;         /* SPINNING: so much of what others waited for CPUs, of which spinning
                             took one away: 0 … 1 */
};

static enum binding binding_of(enum finding_category category)
{
    switch (category) {
    case FINDING_NETWORK:
    case FINDING_PIPE:
    case FINDING_POLLING:
        return BOUND_BY_ANSWERS;
    case FINDING_LOCK:
    case FINDING_FILE_LOCK:
    case FINDING_STDIO:
    case FINDING_ALLOCATOR:
    case FINDING_YIELD:
    case FINDING_PAGE_FAULT:
    case FINDING_MEMORY_MAP:
    case FINDING_OVERLAP:
    case FINDING_TASK:
    case FINDING_SIGNAL:
    case FINDING_FALSE_SHARING:
    case FINDING_TRUE_SHARING:
    case FINDING_RETRY:
        return BOUND_BY_EXCLUSION;
    default:
        return BOUND_BY_WORK;
    }
}

static bool is_of_memory(enum finding_category category)
{
    return category == FINDING_PAGE_FAULT || category == FINDING_MEMORY_MAP;
}

static bool is_on_cpu(enum finding_category category)
{
    return is_of_memory(category) || category == FINDING_SPINNING || category == FINDING_SIGNAL ||
           category == FINDING_OVERLAP || category == FINDING_TASK ||
           category == FINDING_FALSE_SHARING || category == FINDING_TRUE_SHARING ||
           category == FINDING_REMOTE_MEMORY || category == FINDING_RETRY;
}

/* ---- threads that run until they are told to end --------------------------------------------- */

static bool loses(const struct loss *loss, size_t thread)
{
    return loss->finder->findings->had_work[thread] &&
           loss->lost[thread] > profile_thread_at(loss->finder, thread)->lifetime_ns / LOSES_PART;
}

static void find_losers(struct loss *loss)
{
    loss->losers = VEC_OF(uint32_t);
    loss->end = 0;
    for (uint32_t i = 0; i < loss->finder->profile->threads.count; i++) {
        if (!loses(loss, i))
            continue;
        vec__push(&loss->losers, &i);
        loss->end = ns__larger(loss->end, trace__thread_at(loss->finder->trace, i)->end_tick);
    }
}

uint64_t finder__soon_ns(const struct finder *finder)
{
    return ns__larger(finder->profile->wall_ns / TOLD_PART, TOLD_LEAST_NS);
}

bool finder__is_soon(const struct finder *finder, uint64_t tick, uint64_t later)
{
    return later >= tick && trace__ns(finder->trace, later - tick) <= finder__soon_ns(finder);
}

/* Two that do the same work share it: neither is told by the other. */
static bool are_alike(const struct finder *finder, uint32_t a, uint32_t b)
{
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        if (class->what.at.kind != CLASS_JOIN && class__sum_on(class, a) && class__sum_on(class, b))
            return true;
    return false;
}

/* How long it waited for ends of threads; UINT64_MAX: it never did. */
static uint64_t joins_ns(const struct finder *finder, uint32_t thread)
{
    uint64_t ns = UINT64_MAX;
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        uint64_t sum_ns = class->what.at.kind == CLASS_JOIN ? class__sum_on(class, thread) : 0;
        if (sum_ns)
            ns = (ns == UINT64_MAX ? 0 : ns) + sum_ns;
    }
    return ns;
}

/* One that loses, and does other work, joins it at its end and hardly has to wait then. */
static bool is_joined_when_told(const struct loss *loss, uint32_t thread)
{
    const struct finder *finder = loss->finder;
    const struct trace_thread *told = trace__thread_at(finder->trace, thread);
    VEC_EACH (loser, &loss->losers, uint32_t) {
        const struct trace_thread *by = trace__thread_at(finder->trace, *loser);
        if (*loser != thread && by->process == told->process &&
            finder__is_soon(finder, told->end_tick, by->end_tick) &&
            joins_ns(finder, *loser) <= finder__soon_ns(finder) &&
            !are_alike(finder, *loser, thread))
            return true;
    }
    return false;
}

/* It loses nothing and ends as soon as the last of those that do has ended, or is joined then. Who
 * joins threads ends after them in any case. */
static bool runs_until_told(const struct loss *loss, uint32_t thread)
{
    if ((loss->binding == BOUND_BY_WORK && !loss->sleeps_in_vain) || !loss->end)
        return false;
    return (!loses(loss, thread) && joins_ns(loss->finder, thread) == UINT64_MAX &&
            finder__is_soon(loss->finder, loss->end,
                            trace__thread_at(loss->finder->trace, thread)->end_tick)) ||
           is_joined_when_told(loss, thread);
}

/* ---- what is left ---------------------------------------------------------------------------- */

unsigned finder__cpus(const struct finder *finder)
{
    const char *text = trace__meta(finder->trace, "cpus");
    unsigned long cpus = text ? strtoul(text, NULL, 10) : 0;
    return cpus ? (unsigned)cpus : 1;
}

/* Of CPU time, what was not the kernel's; 1: not known. */
static double user_part(const struct trace *trace)
{
    const struct heurt_session *session = trace__session(trace);
    return session->finished && session->cpu_ns
               ? 1 - (double)session->system_ns / (double)session->cpu_ns
               : 1;
}

static uint64_t overhead_of(const struct loss *loss, size_t thread)
{
    return profile_thread_at(loss->finder, thread)->component_ns[COMPONENT_OVERHEAD];
}

/* What of its CPU time may be lost at most. Memory is the kernel's work: what the program does
 * itself stays. */
static uint64_t most_cpu_of(const struct loss *loss, size_t thread)
{
    uint64_t cpu_ns = thread__cpu_ns(profile_thread_at(loss->finder, thread));
    double part = is_of_memory(loss->category) ? 1 - user_part(loss->finder->trace) : 1;
    return part > 0 ? (uint64_t)((double)cpu_ns * part) : cpu_ns;
}

static uint64_t lost_cpu_of(const struct loss *loss, size_t thread)
{
    return loss->on_cpu ? ns__smaller(loss->lost[thread], most_cpu_of(loss, thread)) : 0;
}

static bool is_message(const struct profile_class *class)
{
    return class->what.at.kind == CLASS_NETWORK || class->what.at.kind == CLASS_PIPE;
}

/* What its calls take at least that pass messages. */
static uint64_t least_of_messages(const struct finder *finder, uint32_t thread)
{
    uint64_t ns = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class) {
        if (!is_message(class))
            continue;
        VEC_EACH (row, &class->threads, struct profile_thread_row)
            ns += row->thread == thread ? row->count * class->min_ns : 0;
    }
    return ns;
}

static uint64_t work_with(const struct loss *loss, size_t thread)
{
    return loss->with ? loss->with[thread] : 0;
}

/* Calls of input and output take CPU time, in the kernel: no more than there is beside the work,
 * when its waits for threads, which go into the kernel and out again, have had theirs. */
static uint64_t transfer_cpu_of(const struct loss *loss, size_t thread)
{
    const struct profile_thread *row = profile_thread_at(loss->finder, thread);
    const uint64_t *ns = row->component_ns;
    uint64_t waits = finder__waits_of(loss->finder, (uint32_t)thread);
    uint64_t others_ns = ns[COMPONENT_RUNNING] + ns[COMPONENT_PAGE_FAULT] + ns[COMPONENT_OVERHEAD] +
                         waits * WAIT_CPU_NS;
    uint64_t calls_ns =
        ns[COMPONENT_DISK] +
        (loss->binding == BOUND_BY_ANSWERS ? 0 : ns[COMPONENT_NETWORK] + ns[COMPONENT_MESSAGE]);
    return ns__smaller(calls_ns, ns__without(thread__cpu_ns(row), others_ns));
}

/* What it does on a CPU without the loss and the recording. A wait for one that is merely in the
 * way takes CPU time, too, where it spins, or goes into the kernel and out again: that is no work.
 * What hands work over has to do so still. So have those who are served, to more servers; two that
 * only wait for each other may pass on much at a time, and a message takes what the quickest one
 * took. What the program's own code took for what is handed over, as samples tell, stays. */
static uint64_t left_cpu_of(const struct loss *loss, size_t thread)
{
    const struct profile_thread *row = profile_thread_at(loss->finder, thread);
    uint64_t gone_ns = lost_cpu_of(loss, thread) + overhead_of(loss, thread);
    if (is_of_memory(loss->category)) /* so are the records of that, and the way to it and back */
        gone_ns = ns__smaller(gone_ns + work_with(loss, thread), most_cpu_of(loss, thread));
    uint64_t left_ns = ns__without(thread__cpu_ns(row), gone_ns);
    uint64_t work_ns = row->component_ns[COMPONENT_RUNNING] +
                       row->component_ns[COMPONENT_PAGE_FAULT] + transfer_cpu_of(loss, thread);
    bool stays = loss->binding == BOUND_BY_WORK && !loss->in_bulk;
    if (loss->on_cpu || stays || loss->is_served)
        return left_ns;
    work_ns = ns__without(work_ns, work_with(loss, thread));
    if (loss->binding == BOUND_BY_ANSWERS)
        work_ns += least_of_messages(loss->finder, (uint32_t)thread);
    if (loss->in_bulk && loss->finder->own)
        work_ns = ns__larger(work_ns, loss->finder->own[thread].ns);
    double part = loss->in_bulk > 0 ? loss->in_bulk : 1;
    return left_ns - (uint64_t)(part * (double)ns__without(left_ns, work_ns));
}

/* Who spins has a CPU that others want: of their waits for one, as much as was spun. */
static double freed_by(const struct loss *loss)
{
    uint64_t spun_ns = 0, wanted_ns = 0;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++)
        if (loses(loss, i))
            spun_ns += lost_cpu_of(loss, i);
        else if (loss->finder->findings->had_work[i])
            wanted_ns += profile_thread_at(loss->finder, i)->component_ns[COMPONENT_RUNNABLE];
    return loss->category == FINDING_SPINNING && wanted_ns
               ? fmin(1, (double)spun_ns / (double)wanted_ns)
               : 0;
}

/* What of its life goes with the loss: the less it works, the less it waits for a CPU, too. */
static uint64_t gone_of(const struct loss *loss, size_t thread)
{
    const struct profile_thread *row = profile_thread_at(loss->finder, thread);
    if (loss->freed > 0 && !loses(loss, thread))
        return (uint64_t)(loss->freed * (double)row->component_ns[COMPONENT_RUNNABLE]);
    uint64_t cpu_ns = ns__without(thread__cpu_ns(row), overhead_of(loss, thread));
    uint64_t less_ns = ns__without(cpu_ns, left_cpu_of(loss, thread));
    double part = cpu_ns ? (double)less_ns / (double)cpu_ns : 0;
    return loss->lost[thread] + work_with(loss, thread) +
           (uint64_t)(part * (double)row->component_ns[COMPONENT_RUNNABLE]);
}

/* Waits for what others ask it; where some ask again and again, others may do so for work. */
static bool serves(const struct loss *loss, uint32_t thread)
{
    bool polls = loss->category == FINDING_POLLING;
    VEC_EACH (class, &loss->finder->profile->classes, struct profile_class) {
        enum class_kind kind = class->what.at.kind;
        if ((kind == CLASS_POLL || kind == CLASS_NETWORK || kind == CLASS_PIPE ||
             (polls && kind == CLASS_YIELD)) &&
            class__sum_on(class, thread))
            return true;
    }
    return false;
}

/* What it does between two waits for work is what it is asked for. */
static bool waits_for_work(const struct loss *loss, size_t thread)
{
    return loss->finder->idle_ns[thread] >
           profile_thread_at(loss->finder, thread)->lifetime_ns / LOSES_PART;
}

/* What a thread does when the others lose nothing. */
enum thread_role {
    ROLE_OWN,   /* its own work, for as long as that takes */
    ROLE_TOLD,  /* it ends with the others: its work is no longer than theirs */
    ROLE_SERVES /* it does what the others ask it: its work stays, and is part of theirs */
};

static enum thread_role role_of(const struct loss *loss, size_t thread)
{
    if (loss->binding == BOUND_BY_ANSWERS && !loses(loss, thread) && serves(loss, (uint32_t)thread))
        return ROLE_SERVES;
    if (loss->category == FINDING_POLLING && waits_for_work(loss, thread))
        return ROLE_OWN;
    return runs_until_told(loss, (uint32_t)thread) ? ROLE_TOLD : ROLE_OWN;
}

struct work {
    uint64_t cpu_ns, served_ns; /* of all that stays; of those that serve, side by side */
    uint64_t lost_ns, most_overhead_ns;
};

static struct work all_work(const struct loss *loss, const enum thread_role *roles)
{
    struct work work = {0};
    uint64_t servers = 0;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++) {
        if (!loss->finder->findings->had_work[i])
            continue;
        uint64_t cpu_ns = left_cpu_of(loss, i);
        work.cpu_ns += roles[i] == ROLE_TOLD ? 0 : cpu_ns;
        work.served_ns += roles[i] == ROLE_SERVES ? cpu_ns : 0;
        servers += roles[i] == ROLE_SERVES;
        work.lost_ns += loss->lost[i];
        work.most_overhead_ns = ns__larger(work.most_overhead_ns, overhead_of(loss, i));
    }
    if (loss->category == FINDING_POLLING && servers) /* who asks waits for all of them */
        work.served_ns /= ns__smaller(servers, finder__cpus(loss->finder));
    return work;
}

/* Of the time in which losers that answer others are not idle, what they lose. */
static double sooner_by(const struct loss *loss)
{
    double lost_ns = 0, busy_ns = 0;
    VEC_EACH (loser, &loss->losers, uint32_t) {
        if (loss->binding == BOUND_BY_ANSWERS || !serves(loss, *loser))
            continue;
        lost_ns += (double)loss->lost[*loser];
        busy_ns += (double)ns__without(profile_thread_at(loss->finder, *loser)->lifetime_ns,
                                       loss->finder->idle_ns[*loser]);
    }
    return busy_ns > 0 ? fmin(1, lost_ns / busy_ns) : 0;
}

/* What a thread that loses nothing itself would wait less for answers. */
static uint64_t sooner_ns(const struct loss *loss, size_t thread)
{
    const uint64_t *ns = profile_thread_at(loss->finder, thread)->component_ns;
    return loses(loss, thread)
               ? 0
               : (uint64_t)(loss->sooner * (double)(ns[COMPONENT_NETWORK] + ns[COMPONENT_MESSAGE]));
}

/* Of the class's waits, the part that is for losers. */
static double part_for_losers(const struct loss *loss, const struct profile_class *class)
{
    uint64_t for_ns = 0, all_ns = 0;
    VEC_EACH (blame, &class->blames, struct profile_blame) {
        all_ns += blame->wait_ns;
        if (blame->thread != UINT32_MAX && loses(loss, blame->thread))
            for_ns += blame->wait_ns;
    }
    return all_ns ? (double)for_ns / (double)all_ns : 0;
}

/* What a thread that loses nothing itself would wait less at barriers for those that do. */
static uint64_t late_ns(const struct loss *loss, size_t thread)
{
    double ns = 0;
    uint64_t most_ns = 0;
    if (loss->binding != BOUND_BY_EXCLUSION || loses(loss, thread))
        return 0;
    VEC_EACH (loser, &loss->losers, uint32_t)
        most_ns = ns__larger(most_ns, loss->lost[*loser]);
    VEC_EACH (class, &loss->finder->profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_BARRIER && !class->idle)
            ns += part_for_losers(loss, class) * (double)class__sum_on(class, thread);
    return ns__smaller((uint64_t)ns, most_ns);
}

/* How long a thread with work of its own takes: an answer that it waits for takes at least what is
 * done for it, its share by the time it waits. */
static uint64_t chain_of(const struct loss *loss, const struct work *work, size_t thread)
{
    const struct profile_thread *row = profile_thread_at(loss->finder, thread);
    uint64_t slept_ns = loss->sleeps_stay ? row->component_ns[COMPONENT_SLEEP] : 0;
    uint64_t gone_ns = gone_of(loss, thread) + sooner_ns(loss, thread) + late_ns(loss, thread) +
                       ns__without(loss->finder->idle_ns[thread], slept_ns);
    uint64_t rest_ns = ns__without(profile_thread_at(loss->finder, thread)->lifetime_ns,
                                   gone_ns + overhead_of(loss, thread));
    double share = work->lost_ns ? (double)loss->lost[thread] / (double)work->lost_ns : 0;
    return ns__larger(rest_ns,
                      left_cpu_of(loss, thread) + (uint64_t)((double)work->served_ns * share));
}

/* ---- what can be gained at most -------------------------------------------------------------- */

struct life {
    uint64_t start, end, gone_ns;
    uint64_t row_ns; /* what goes of it and of such that end before it begins, one after another */
};

static int by_end(const void *a, const void *b)
{
    const struct life *left = a, *right = b;
    return ORDER(left->end, right->end);
}

/* Of lives in order of their ends: the first that has not ended at that tick. */
static size_t first_after(const struct life *lives, size_t count, uint64_t tick)
{
    return FIRST_WHERE(i, count, lives[i].end > tick);
}

/* Of threads that had work, in the order of their ends. */
static size_t lives_of(const struct loss *loss, struct life *lives)
{
    size_t used = 0;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++) {
        const struct trace_thread *thread = trace__thread_at(loss->finder->trace, i);
        if (loss->finder->findings->had_work[i])
            lives[used++] = (struct life){thread->start_tick, thread->end_tick, gone_of(loss, i)};
    }
    qsort(lives, used, sizeof *lives, by_end);
    return used;
}

/* No more is gained than threads lost that live one after another, however idle the others are. */
static uint64_t most_gone_in_a_row(const struct loss *loss)
{
    struct life *lives = memory__zeroed(loss->finder->profile->threads.count, sizeof *lives);
    size_t used = lives_of(loss, lives);
    for (size_t i = 0; i < used; i++) {
        size_t before = first_after(lives, i, lives[i].start);
        uint64_t row_ns = lives[i].gone_ns + (before ? lives[before - 1].row_ns : 0);
        lives[i].row_ns = ns__larger(row_ns, i ? lives[i - 1].row_ns : 0);
    }
    uint64_t gone_ns = used ? lives[used - 1].row_ns : 0;
    free(lives);
    return gone_ns;
}

/* The longest chain of those that have work of their own. */
static uint64_t longest_chain(const struct loss *loss, const struct work *work,
                              const enum thread_role *roles)
{
    uint64_t chain_ns = 0;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++)
        if (loss->finder->findings->had_work[i] && roles[i] == ROLE_OWN)
            chain_ns = ns__larger(chain_ns, chain_of(loss, work, i));
    return chain_ns;
}

static enum thread_role *roles_of(struct loss *loss, bool *is_assumed)
{
    size_t count = loss->finder->profile->threads.count;
    enum thread_role *roles = memory__zeroed(count, sizeof *roles);
    *is_assumed = loss->binding == BOUND_BY_ANSWERS; /* that they need not come one by one */
    for (size_t i = 0; i < count; i++) {
        if (!loss->finder->findings->had_work[i])
            continue;
        roles[i] = role_of(loss, i);
        *is_assumed |= roles[i] != ROLE_OWN;
        loss->is_served |= roles[i] == ROLE_SERVES;
    }
    return roles;
}

/* Time in which no thread lives that has work. lives: room for them all. */
static uint64_t unused_ns(const struct loss *loss, struct life *lives)
{
    const struct finder *finder = loss->finder;
    size_t count = lives_of(loss, lives);
    uint64_t used_ns = 0, from = UINT64_MAX;
    for (size_t i = count; i-- > 0; from = ns__smaller(from, lives[i].start)) {
        uint64_t end = ns__smaller(lives[i].end, from); /* those that end later are counted */
        used_ns += end > lives[i].start ? trace__ns(finder->trace, end - lives[i].start) : 0;
    }
    return ns__without(finder->profile->wall_ns, used_ns);
}

/* What recording cost of the wall time: that thread which has most of it, and those without work
 * while there is none: the start of a recording is long where CPUs are short. */
static uint64_t recording_ns(const struct loss *loss, const struct work *work)
{
    size_t count = loss->finder->profile->threads.count;
    struct life *lives = memory__zeroed(count, sizeof *lives);
    uint64_t others_ns = 0;
    for (size_t i = 0; i < count; i++)
        others_ns += loss->finder->findings->had_work[i] ? 0 : overhead_of(loss, i);
    others_ns = ns__smaller(others_ns, unused_ns(loss, lives));
    free(lives);
    return work->most_overhead_ns + others_ns;
}

/* Who looks now and then whether there is work, until its process ends, holds nobody up: of threads
 * that lose, none has come to its own end, and others have. */
static bool asks_for_work(const struct loss *loss)
{
    bool any_ended = false;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++) {
        const struct trace_thread *thread = trace__thread_at(loss->finder->trace, i);
        if (loss->lost[i] && thread->ended)
            return false;
        any_ended |= thread->ended;
    }
    return loss->category == FINDING_POLLING && any_ended;
}

/* Who asks others is served for as long as that takes, by however many. Without what recording cost
 * them of it: at most what one of them lost by it. */
static uint64_t longest_served(const struct loss *loss, const struct work *work)
{
    uint64_t longest_ns = 0;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++)
        if (loss->binding == BOUND_BY_ANSWERS && loses(loss, i))
            longest_ns = ns__larger(longest_ns, profile_thread_at(loss->finder, i)->served_ns);
    return ns__without(longest_ns, work->most_overhead_ns);
}

/* Who asks again and again waits for what the program's own threads do meanwhile, which takes as
 * long if it is told at once, unless they then do more side by side. Of the time with one of them
 * on a CPU, asking is none. */
static uint64_t work_while_asking(const struct loss *loss)
{
    if (!loss->in_turn)
        return 0;
    uint64_t work_ns = cpu_activity__of(loss->finder->trace).active_ns;
    for (size_t i = 0; i < loss->finder->profile->threads.count; i++)
        work_ns = ns__without(work_ns, lost_cpu_of(loss, i) + overhead_of(loss, i));
    return work_ns;
}

/* Wall time over what it would be had no thread lost that, both without what recording cost. */
static double gain_without(struct loss *loss, bool *is_assumed)
{
    *is_assumed = false;
    if (asks_for_work(loss))
        return 1;
    loss->binding = loss->is_small_calls ? BOUND_BY_WORK : binding_of(loss->category);
    loss->on_cpu = loss->is_small_calls || is_on_cpu(loss->category);
    find_losers(loss);
    loss->sooner = sooner_by(loss);
    loss->freed = freed_by(loss);
    enum thread_role *roles = roles_of(loss, is_assumed);
    *is_assumed |= loss->sooner > 0;
    struct work work = all_work(loss, roles);
    uint64_t wall_ns = ns__without(loss->finder->profile->wall_ns, recording_ns(loss, &work));
    uint64_t least_ns =
        ns__larger(longest_chain(loss, &work, roles), work.cpu_ns / finder__cpus(loss->finder));
    least_ns = ns__larger(least_ns, longest_served(loss, &work));
    least_ns = ns__larger(least_ns, work_while_asking(loss));
    free(roles);
    vec__free(&loss->losers);
    least_ns = ns__larger(least_ns, ns__without(wall_ns, most_gone_in_a_row(loss)));
    return least_ns && least_ns < wall_ns ? (double)wall_ns / (double)least_ns : 1;
}

/* ---- gains ----------------------------------------------------------------------------------- */

void class__add_lost(const struct finder *finder, uint32_t place, uint64_t *lost)
{
    const struct profile_class *class = profile_class_at(finder->profile, place);
    double all = 0, part;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        all += (double)class__waited_ns(class, row);
    part = class__working_part(finder, class) * all;
    part = part > 0 ? (double)class__lost_ns(finder, place) / part : 0;
    VEC_EACH (row, &class->threads, struct profile_thread_row)
        if (finder->findings->had_work[row->thread])
            lost[row->thread] += (uint64_t)((double)class__waited_ns(class, row) * part);
}

void finding__set_about(struct finding *finding, double gain)
{
    finding->wall_gain[0] = 1 + (gain - 1) * 0.9;
    finding->wall_gain[1] = 1 + (gain - 1) * 1.1;
}

/* Of a hand-over both ends stay, and whatever is between them has room for all. */
static bool has_handover(const struct finder *finder, const struct finding *finding)
{
    VEC_EACH (class, &finding->classes, uint32_t)
        if (finder->partner[*class] != NO_GROUP)
            return true;
    return false;
}

/* Two thirds of what it lost. */
static bool is_mostly_served(const struct finder *finder, const struct finding *finding,
                             const uint64_t *lost)
{
    uint64_t served_ns = 0;
    if (binding_of(finding->category) != BOUND_BY_ANSWERS)
        return false;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        served_ns += ns__smaller(lost[i], profile_thread_at(finder, i)->served_ns);
    return 3 * served_ns > 2 * finding->lost_ns;
}

/* Most of what it lost. */
static bool is_of_small_calls(const struct finder *finder, const struct finding *finding)
{
    uint64_t small_ns = 0, all_ns = 0;
    VEC_EACH (place, &finding->classes, uint32_t) {
        uint64_t ns = class__lost_ns(finder, *place);
        small_ns += class__is_small_calls(profile_class_at(finder->profile, *place)) ? ns : 0;
        all_ns += ns;
    }
    return small_ns > all_ns / 2;
}

/* What is gained where nobody needs what others sleep for. Whether any of them may. */
static bool add_gain_of_sleepers(const struct finder *finder, struct finding *finding,
                                 struct loss *loss)
{
    bool are_told;
    double least = finding->wall_gain[0];
    loss->sleeps_in_vain = true;
    double gain = gain_without(loss, &are_told);
    loss->sleeps_in_vain = false;
    if (!are_told || gain <= finding->wall_gain[1])
        return false;
    finding__set_about(finding, gain);
    finding->wall_gain[0] = sleepers__go_on(finder, finding) ? finding->wall_gain[0] : least;
    return true;
}

void finding__set_estimate(const struct finder *finder, struct finding *finding,
                           const uint64_t *lost)
{
    finding__find_told_part(finder, finding, lost);
    finding__find_sleepers(finder, finding);
    struct loss loss = {.finder = finder,
                        .category = finding->category,
                        .sleeps_stay = finding->sleep_and_1 > 0,
                        .is_small_calls = is_of_small_calls(finder, finding),
                        .in_bulk = finding->in_vain, /* who is woken for nothing need not wake */
                        .lost = lost};
    bool has_more = finding__is_for_lock(finding) || is_of_memory(finding->category);
    bool is_handed = has_handover(finder, finding), is_assumed;
    bool may_be_bulk = is_handed || finding->category == FINDING_CONDITION ||
                       finding->category == FINDING_SEMAPHORE;
    uint64_t *with = has_more || may_be_bulk ? waking__find(finder, finding, lost) : NULL;
    loss.with = has_more ? with : NULL;
    loss.in_turn = finding->category == FINDING_POLLING;
    finding__set_about(finding, gain_without(&loss, &is_assumed));
    finding->is_in_answers = loss.sooner > 0;
    if (loss.in_turn) {
        bool is_of_turns;
        loss.in_turn = false;
        finding->wall_gain[1] = fmax(finding->wall_gain[1], gain_without(&loss, &is_of_turns));
    }
    if (loss.sleeps_stay && loss.binding == BOUND_BY_WORK)
        is_assumed |= add_gain_of_sleepers(finder, finding, &loss);
    if (may_be_bulk) {
        bool is_of_bulk;
        loss.with = with;
        loss.in_bulk = finding->in_vain > 0 ? finding->in_vain : 1;
        finding->wall_gain[1] = fmax(finding->wall_gain[1], gain_without(&loss, &is_of_bulk));
    }
    free(with);
    finding->is_assumed = is_assumed || is_handed;
    finding->is_served = is_mostly_served(finder, finding, lost);
    if (finding->is_assumed && finding->confidence == CONFIDENCE_MEASURED)
        finding->confidence = CONFIDENCE_ESTIMATED;
}

static uint64_t descriptor_of(const struct profile_class *class)
{
    VEC_EACH (key, &class->what.keys, struct profile_key)
        if (strcmp(key->name, "fd") == 0)
            return key->value;
    return UINT64_MAX;
}

/* Two go in step who wait for a message as often as each other: for each other's. */
static bool goes_in_step(const struct profile_class *a, const struct profile_class *b)
{
    if (!is_message(a) || !is_message(b) || a->count < IN_STEP || a->threads.count != 1 ||
        b->threads.count != 1 ||
        VEC_AT(&a->threads, struct profile_thread_row, 0)->thread ==
            VEC_AT(&b->threads, struct profile_thread_row, 0)->thread)
        return false;
    uint64_t more = ns__larger(a->count, b->count), fewer = ns__smaller(a->count, b->count);
    return more - fewer <= more / IN_STEP;
}

/* Who waits at a descriptor for an answer has asked there, too. */
static bool is_of_exchange(const struct finder *finder, const struct finding *finding,
                           uint32_t place)
{
    const struct profile_class *other = profile_class_at(finder->profile, place);
    bool is_asked = false;
    if (!is_message(other))
        return false;
    VEC_EACH (own, &finding->classes, uint32_t) {
        const struct profile_class *class = profile_class_at(finder->profile, *own);
        if (*own == place)
            return false;
        is_asked |= *own == finding->leader && goes_in_step(class, other) &&
                    class__lost_ns(finder, place) >= class__lost_ns(finder, *own) / LOSES_PART;
        is_asked |= is_message(class) && class->what.at.process == other->what.at.process &&
                    descriptor_of(class) == descriptor_of(other);
    }
    return is_asked;
}

/* Counts with the finding that lost most of the exchange. */
static void add_exchange(const struct finder *finder, const struct finding *finding, uint64_t *lost)
{
    uint64_t own_ns = 0, others_ns = 0;
    if (finding->category != FINDING_NETWORK && finding->category != FINDING_PIPE)
        return;
    VEC_EACH (class, &finding->classes, uint32_t)
        own_ns += class__lost_ns(finder, *class);
    for (uint32_t i = 0; i < finder->profile->classes.count; i++)
        others_ns += is_of_exchange(finder, finding, i) ? class__lost_ns(finder, i) : 0;
    for (uint32_t i = 0; i < finder->profile->classes.count && others_ns <= own_ns; i++)
        if (is_of_exchange(finder, finding, i))
            class__add_lost(finder, i, lost);
}

/* What threads were in page faults for, beside the faults that are told one by one. */
static void add_other_faults(const struct finder *finder, uint64_t *lost)
{
    uint64_t sum, *ns = finder__outside(finder, COMPONENT_PAGE_FAULT, &sum);
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        lost[i] += ns[i];
    free(ns);
}

void finding__estimate_gain(const struct finder *finder, struct finding *finding)
{
    uint64_t *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost);
    VEC_EACH (class, &finding->classes, uint32_t)
        class__add_lost(finder, *class, lost);
    add_exchange(finder, finding, lost);
    if (is_of_memory(finding->category))
        add_other_faults(finder, lost);
    if (finding->category == FINDING_LATCH || finding->category == FINDING_BARRIER)
        finding__set_gain_of_dividing(finder, finding, lost);
    else
        finding__set_estimate(finder, finding, lost);
    double of_stages = has_handover(finder, finding) ? stages__gain(finder, finding, lost) : 1;
    if (of_stages > finding->wall_gain[1])
        finding__set_about(finding, of_stages);
    free(lost);
}
