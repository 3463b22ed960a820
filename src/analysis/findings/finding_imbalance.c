#include "analysis/findings/internal.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>
#include <string.h>

/* One thread works while the others are done: the last one of several that work side by side, or
 * who starts them and goes on alone between their lives, or behind them. */
#define TOGETHER 0.5     /* of a life: siblings that live side by side for so much of it */
#define OF_PLACE_LEAST 5 /* samples: fewer do not tell where */

/* Does not wait for half of its life; joining_ns: without what it waits for the end of others. */
static bool works_mostly(const struct finder *finder, uint32_t thread, uint64_t joining_ns)
{
    const struct profile_thread *row = profile_thread_at(finder, thread);
    uint64_t wanted_ns = joining_ns && row->runnable_ns != UINT64_MAX ? row->runnable_ns : 0;
    return thread__hardly_waits(row) ||
           thread__work_ns(row) + wanted_ns >= ns__without(row->lifetime_ns, joining_ns) / 2;
}

/* In waits for the end of others. */
static uint64_t joining_ns(const struct finder *finder, uint32_t thread)
{
    uint64_t ns = 0;
    VEC_EACH (class, &finder->profile->classes, struct profile_class)
        ns += class->what.at.kind == CLASS_JOIN ? class__sum_on(class, thread) : 0;
    return ns;
}

/* The one of those that had work which ends last; works: of those that work mostly. */
static uint32_t last_worker(const struct finder *finder, bool works)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < finder->profile->threads.count; i++)
        if (finder->findings->had_work[i] && (!works || works_mostly(finder, i, 0)) &&
            (last == UINT32_MAX || trace__thread_at(finder->trace, i)->end_tick >
                                       trace__thread_at(finder->trace, last)->end_tick))
            last = i;
    return last;
}

static bool is_sibling(const struct finder *finder, uint32_t thread, uint32_t last)
{
    const struct trace_thread *what = trace__thread_at(finder->trace, thread),
                              *of = trace__thread_at(finder->trace, last);
    bool waits_still = profile_thread_at(finder, thread)->idle_end_ns > 0;
    if (thread == last || !finder->findings->had_work[thread] || waits_still ||
        what->process != of->process || what->end_tick >= of->end_tick)
        return false;
    uint64_t from = ns__larger(what->start_tick, of->start_tick);
    uint64_t together = ns__without(what->end_tick, from);
    return (double)together >= TOGETHER * (double)(what->end_tick - what->start_tick);
}

/* ---- when it is alone ------------------------------------------------------------------------ */

struct life_bound { /* a sibling starts, or ends */
    uint64_t tick;
    bool ends;
};

static int by_tick(const void *a, const void *b)
{
    const struct life_bound *left = a, *right = b;
    return ORDER(left->tick, right->tick) ?: (int)right->ends - (int)left->ends;
}

/* Of a thread and its siblings. */
struct time_alone {
    uint32_t thread;
    uint64_t joining_ns; /* that it waits for the ends of others: else it works beside them */
    struct vec bounds;   /* struct life_bound, by time */
    uint32_t siblings, aside;
    uint32_t team;    /* that work at a time while all do, as far as there are CPUs */
    uint64_t lost_ns; /* of the CPUs that these would have used */
};

static void time_alone__free(struct time_alone *tail)
{
    vec__free(&tail->bounds);
}

/* How many live at a time at most. */
static uint32_t most_alive(const struct vec *bounds)
{
    uint32_t alive = 0, most = 0;
    VEC_EACH (bound, bounds, struct life_bound) {
        alive += bound->ends ? -1u : 1;
        most = alive > most ? alive : most;
    }
    return most;
}

/* From the first sibling's end on: of the time with fewer at work than there were, what is missing.
 * Who joins the others works when none is there, and while some are they are late, not it. */
static void find_lost(const struct finder *finder, struct time_alone *tail)
{
    uint64_t end = trace__thread_at(finder->trace, tail->thread)->end_tick, lost = 0, from = end;
    uint32_t alive = 0, any_ended = 0;
    VEC_EACH (bound, &tail->bounds, struct life_bound) {
        bool waits = alive && tail->joining_ns;
        uint32_t at_work = alive + 1;
        lost += any_ended && !waits && at_work < tail->team
                    ? (bound->tick - from) * (tail->team - at_work)
                    : 0;
        any_ended |= bound->ends;
        alive += bound->ends ? -1u : 1;
        from = bound->tick;
    }
    if (any_ended && tail->team > 1)
        lost += (end - from) * (tail->team - 1);
    tail->lost_ns = trace__ns(finder->trace, lost);
}

/* Always time_alone__free it. */
static struct time_alone tail_of(const struct finder *finder, uint32_t last, uint64_t joining_ns)
{
    struct time_alone tail = {
        .thread = last, .joining_ns = joining_ns, .bounds = VEC_OF(struct life_bound)};
    for (uint32_t i = 0; i < finder->profile->threads.count; i++) {
        const struct trace_thread *thread = trace__thread_at(finder->trace, i);
        if (!is_sibling(finder, i, last))
            continue;
        vec__push(&tail.bounds, &(struct life_bound){thread->start_tick, false});
        vec__push(&tail.bounds, &(struct life_bound){thread->end_tick, true});
        tail.siblings++;
        tail.aside += thread->is_aside;
    }
    vec__sort(&tail.bounds, by_tick);
    uint64_t team = most_alive(&tail.bounds) + (joining_ns == 0);
    tail.team = (uint32_t)ns__smaller(team, finder__cpus(finder));
    find_lost(finder, &tail);
    return tail;
}

/* Whether no sibling lives then, after one has ended. */
static bool is_alone_at(const struct time_alone *tail, uint64_t tick)
{
    size_t next = FIRST_WHERE(i, tail->bounds.count,
                              VEC_AT(&tail->bounds, struct life_bound, i)->tick > tick);
    uint32_t alive = 0;
    for (size_t i = 0; i < next; i++)
        alive += VEC_AT(&tail->bounds, struct life_bound, i)->ends ? -1u : 1;
    return next && !alive;
}

/* ---- where ----------------------------------------------------------------------------------- */

struct sampled_place {
    const struct symbol *symbol;
    uint64_t ns, samples;
};

/* The function of the program in which it was sampled most while it was alone; NULL: it was hardly
 * sampled then. */
static const struct symbol *place_alone(const struct finder *finder, const struct time_alone *tail)
{
    struct map numbers = {0};
    struct vec places = VEC_OF(struct sampled_place);
    struct sample_threads *known = sample_threads__new(finder->trace);
    struct sampled_place most = {0};
    VEC_EACH (sample, trace__samples(finder->trace), const struct heurt_sample) {
        if (sample_threads__of(known, sample) != tail->thread ||
            !is_alone_at(tail, sample__tick(finder->trace, sample)))
            continue;
        const struct symbol *symbol = program_frame__inlined(symbols__get(
            finder->symbols, trace__serial_of(finder->trace, tail->thread), sample->instruction));
        if (!symbol)
            continue;
        size_t place = map__put(&numbers, symbol->function, strlen(symbol->function), places.count);
        struct sampled_place *at = place == places.count
                                       ? vec__push(&places, &(struct sampled_place){symbol, 0, 0})
                                       : VEC_AT(&places, struct sampled_place, place);
        at->ns += sample->weight_ns;
        at->samples++;
        most = at->ns > most.ns ? *at : most;
    }
    sample_threads__free(known);
    vec__free(&places);
    map__free(&numbers);
    return most.samples >= OF_PLACE_LEAST ? most.symbol : NULL;
}

static bool is_of_main(const struct finder *finder, const struct profile_stack *stack)
{
    for (size_t i = stack->frame_count; i-- > 0;)
        for (const struct symbol *symbol =
                 symbols__get(finder->symbols, stack->process, stack->frames[i]);
             symbol; symbol = symbol->inlined_by)
            if (strcmp(symbol->function, "main") == 0)
                return true;
    return false;
}

/* The class's place in calls that begin where that thread does: in main, or not. */
static const struct symbol *place_of_calls(const struct finder *finder, uint32_t thread,
                                           const struct class_definition *what)
{
    const struct trace_thread *of = trace__thread_at(finder->trace, thread);
    struct class_definition own = *what;
    own.at.site = 0; /* that of one of the stacks, which may be another's */
    for (size_t i = 0; i < what->stacks.count; i++) {
        own.stacks.items = VEC_AT(&what->stacks, struct profile_stack, i);
        own.stacks.count = 1;
        if (is_of_main(finder, own.stacks.items) == (of->tid == of->pid))
            return program_frame__in_stack(finder->symbols, &own);
    }
    return program_frame__of_class(finder->symbols, what);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* What a thread lost in waits that are told by themselves: without these it were done sooner. */
static uint64_t told_loss_ns(const struct finder *finder, uint32_t thread)
{
    uint64_t ns, *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost);
    VEC_EACH (finding, &finder->findings->rows, struct finding)
        VEC_EACH (class, &finding->classes, uint32_t)
            if (!class__is_call(profile_class_at(finder->profile, *class)))
                class__add_lost(finder, *class, lost);
    ns = lost[thread];
    free(lost);
    return ns;
}

/* A call that is most of what the thread does tells more than the innermost function that samples
 * find; where it does several things, these know which it did while it was alone. */
static void set_place(const struct finder *finder, struct finding *finding,
                      const struct time_alone *tail)
{
    uint64_t life_ns = profile_thread_at(finder, tail->thread)->lifetime_ns, in_class_ns = 0;
    finding->leader = thread__longest_class(finder, tail->thread, true);
    if (finding->leader != FINDING_NO_CLASS) {
        vec__push(&finding->classes, &finding->leader);
        finding->place = place_of_calls(finder, tail->thread,
                                        &profile_class_at(finder->profile, finding->leader)->what);
    }
    if (finding->leader != FINDING_NO_CLASS)
        in_class_ns =
            class__sum_on(profile_class_at(finder->profile, finding->leader), tail->thread);
    if (in_class_ns < ns__without(life_ns, tail->joining_ns) / 2)
        finding->place = place_alone(finder, tail) ?: finding->place;
}

static void add(struct finder *finder, const struct time_alone *tail)
{
    uint64_t wall_ns = finder->profile->wall_ns, told_ns = told_loss_ns(finder, tail->thread);
    uint64_t lost_ns = ns__without(tail->lost_ns, told_ns * (tail->team - 1));
    struct finding *finding = finder__add(finder, FINDING_IMBALANCE);
    finding->lost_ns = ns__smaller(lost_ns, finder->findings->working_ns);
    finding->told_part = 1 - (double)tail->aside / (double)(tail->siblings ? tail->siblings : 1);
    finding->thread = tail->thread;
    set_place(finder, finding, tail);
    finding__set_about(finding, (double)wall_ns / ((double)wall_ns - (double)lost_ns / tail->team));
    finding->confidence = CONFIDENCE_ESTIMATED;
}

/* Who ends after it waits for it, or did not work beside it. */
static bool is_waited_for(const struct finder *finder, const struct time_alone *tail)
{
    uint32_t end = last_worker(finder, false);
    return end == tail->thread || joining_ns(finder, end) >= tail->lost_ns / (tail->team ?: 1);
}

void finder__add_imbalance(struct finder *finder)
{
    uint32_t last = last_worker(finder, true), end = last_worker(finder, false);
    uint64_t joins_ns = end == UINT32_MAX ? 0 : joining_ns(finder, end);
    struct time_alone tails[2] = {{.bounds = VEC_OF(struct life_bound)},
                                  {.bounds = VEC_OF(struct life_bound)}};
    if (last != UINT32_MAX)
        tails[0] = tail_of(finder, last, 0);
    /* Who starts the others and waits for them works in between, or behind them. */
    if (joins_ns && works_mostly(finder, end, joins_ns))
        tails[1] = tail_of(finder, end, joins_ns);
    const struct time_alone *tail = &tails[tails[1].lost_ns > tails[0].lost_ns];
    if (tail->lost_ns && tail->lost_ns / tail->team < finder->profile->wall_ns &&
        is_waited_for(finder, tail))
        add(finder, tail);
    time_alone__free(&tails[0]);
    time_alone__free(&tails[1]);
}

/* ---- waiting for the last one ---------------------------------------------------------------- */

/* What threads that had work do on CPUs outside of waits, over the CPUs. */
static uint64_t work_over_cpus_ns(const struct finder *finder)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        if (finder->findings->had_work[i])
            ns += ns__smaller(
                ns__without(thread__cpu_ns(row), row->component_ns[COMPONENT_OVERHEAD]),
                row->component_ns[COMPONENT_RUNNING] + row->component_ns[COMPONENT_PAGE_FAULT]);
    }
    return ns / finder__cpus(finder);
}

/* Who comes late has work that all could share: then each waits for none, and all take the
 * mean of what they take now (as VTune's potential gain of a barrier: what is waited over the
 * threads), and no less than the CPUs need for it. The records of the waits would go with them:
 * without recording, what they cost the thread that has most of it is no part of the time, either.
 */
void finding__set_gain_of_dividing(const struct finder *finder, struct finding *finding,
                                   const uint64_t *lost)
{
    uint64_t lost_ns = 0, recording_ns = 0;
    uint64_t threads = finder->findings->working_threads;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        lost_ns += lost[i];
        if (finder->findings->had_work[i])
            recording_ns = ns__larger(
                recording_ns, profile_thread_at(finder, i)->component_ns[COMPONENT_OVERHEAD]);
    }
    uint64_t wall_ns = ns__without(finder->profile->wall_ns, recording_ns);
    uint64_t left_ns =
        ns__larger(ns__without(finder->profile->wall_ns, threads ? lost_ns / threads : 0),
                   work_over_cpus_ns(finder));
    finding__set_about(finding,
                       left_ns && left_ns < wall_ns ? (double)wall_ns / (double)left_ns : 1);
    finding->is_assumed = true;
    if (finding->confidence == CONFIDENCE_MEASURED)
        finding->confidence = CONFIDENCE_ESTIMATED;
}
