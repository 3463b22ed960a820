/* One thread's events as what it did in bodies of regions. */
#include "analysis/events/openmp_acts.h"
#include "analysis/events/thread_acts.h"
#include "analysis/events/time_off_cpu.h"
#include "analysis/openmp/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define NESTED_MOST 16u
#define NO_BODY SIZE_MAX
#define QUICK_TICKS 20000u /* that the runtime takes to make a task at most, left alone */

/* A region that the thread has called, or a body that it is in. */
struct open_part {
    bool is_call;
    size_t at; /* in the record's calls or bodies */
    struct team_times times;
    size_t loop; /* in the record's loops; SIZE_MAX: it is in none */
    uint64_t loop_begin;
    /* Since the last barrier. */
    uint64_t stretch_begin, spent_before; /* in no work */
    uint64_t ended_loop, loop_end;        /* the last one; site */
    uint32_t stretches;
};

/* A time that was no work, unless a wait that is told later was around it. */
struct away_time {
    uint64_t begin, end;
    bool wants_cpu; /* else it was in a wait that is none of OpenMP's */
};

#define HELD_MOST 8u
struct openmp_held {
    uint64_t address, since;
    size_t row; /* in the record's locks */
};

struct openmp_part {
    const struct trace *trace;
    struct thread_record record;
    struct thread_acts acts;
    struct open_part open[NESTED_MOST];
    uint32_t depth;
    struct vec aways; /* struct away_time, by their ends */
    size_t last_body; /* that has ended; NO_BODY: none since another began */
    bool is_in_wait;  /* wait and since are of it */
    enum wait_type wait;
    uint64_t since;
    uint64_t wait_end;       /* of the last one */
    struct thread_act waits; /* how it began */
    struct openmp_held held[HELD_MOST];
    uint32_t held_count;
    uint32_t wanted_first; /* of the record's, since the last body ended */
    uint32_t cpu;          /* that it was back on last, and 1 */
    uint64_t weight;       /* of the next lock that it acquires */
    uint64_t told;         /* when waits for tasks were told last, or the body began */
};

static struct open_part *innermost(struct openmp_part *part)
{
    return part->depth ? &part->open[part->depth - 1] : NULL;
}

static struct open_part *innermost_body(struct openmp_part *part)
{
    struct open_part *open = innermost(part);
    return open && !open->is_call ? open : NULL;
}

static struct region_body *body_at(struct openmp_part *part, size_t at)
{
    return VEC_AT(&part->record.bodies, struct region_body, at);
}

static struct region_sum *sum_at(struct openmp_part *part, size_t row)
{
    return VEC_AT(&part->record.sums, struct region_sum, row);
}

/* Of the body that it is in, or of the last one: tasks are run behind its end, too. NULL: none. */
static struct region_sum *sum_of_now(struct openmp_part *part)
{
    const struct open_part *open = innermost_body(part);
    size_t body = open ? open->at : part->last_body;
    return body == NO_BODY ? NULL : sum_at(part, body_at(part, body)->row);
}

/* ---- times that are no work ------------------------------------------------------------------ */

enum body_spent {
    SPENT_BARRIER,
    SPENT_LOCK,
    SPENT_TASK,
    SPENT_OTHER,
    SPENT_NO_CPU,
    SPENT_RECORDING
};

static void add_to(struct team_times *times, enum body_spent on, uint64_t ticks)
{
    uint64_t *const members[] = {
        [SPENT_BARRIER] = &times->barrier_ns, [SPENT_LOCK] = &times->lock_ns,
        [SPENT_TASK] = &times->task_ns,       [SPENT_OTHER] = &times->other_ns,
        [SPENT_NO_CPU] = &times->no_cpu_ns,   [SPENT_RECORDING] = &times->recording_ns};
    *members[on] += ticks;
}

/* In all bodies that it is in. */
static void spend(struct openmp_part *part, enum body_spent on, uint64_t ticks)
{
    for (uint32_t i = 0; i < part->depth; i++)
        if (!part->open[i].is_call)
            add_to(&part->open[i].times, on, ticks);
}

static void put_away(struct openmp_part *part, uint64_t begin, uint64_t end, bool wants_cpu)
{
    if (!innermost_body(part) && begin < end && wants_cpu)
        vec__push(&part->record.wanted, &(struct wanted_time){begin, end});
    if (!innermost_body(part) || begin >= end)
        return;
    uint64_t since = body_at(part, innermost(part)->at)->begin;
    begin = begin > since ? begin : since;
    if (begin < end)
        vec__push(&part->aways, &(struct away_time){begin, end, wants_cpu});
}

/* Nothing is told any more that was around them. */
static void settle(struct openmp_part *part)
{
    VEC_EACH (away, &part->aways, const struct away_time)
        spend(part, away->wants_cpu ? SPENT_NO_CPU : SPENT_OTHER, away->end - away->begin);
    part->aways.count = 0;
}

/* Their ticks between begin and end, of one kind or both. */
struct time_range {
    uint64_t begin, end;
    bool waits, cpu;
};

static uint64_t ticks_in(const struct away_time *away, const struct time_range *cover)
{
    uint64_t from = away->begin > cover->begin ? away->begin : cover->begin;
    uint64_t to = away->end < cover->end ? away->end : cover->end;
    bool is_meant = away->wants_cpu ? cover->cpu : cover->waits;
    return is_meant && to > from ? to - from : 0;
}

/* The first that ends behind tick. */
static size_t first_behind(const struct openmp_part *part, uint64_t tick)
{
    size_t first = part->aways.count;
    while (first && VEC_AT(&part->aways, struct away_time, first - 1)->end > tick)
        first--;
    return first;
}

static uint64_t ticks_of(const struct openmp_part *part, const struct time_range *cover)
{
    uint64_t ticks = 0;
    for (size_t i = first_behind(part, cover->begin); i < part->aways.count; i++)
        ticks += ticks_in(VEC_AT(&part->aways, struct away_time, i), cover);
    return ticks;
}

/* A wait was around them: so many ticks at most are none of theirs. Returns how many. */
static uint64_t drop(struct openmp_part *part, const struct time_range *cover, uint64_t most)
{
    size_t kept = first_behind(part, cover->begin);
    uint64_t left = most;
    for (size_t i = kept; i < part->aways.count; i++) {
        struct away_time away = *VEC_AT(&part->aways, struct away_time, i);
        uint64_t ticks = ticks_in(&away, cover);
        ticks = ticks < left ? ticks : left;
        left -= ticks;
        away.end -= ticks;
        if (away.end > away.begin)
            *VEC_AT(&part->aways, struct away_time, kept++) = away;
    }
    part->aways.count = kept;
    return most - left;
}

static void drop_all(struct openmp_part *part, uint64_t begin, uint64_t end)
{
    drop(part, &(struct time_range){begin, end, true, true}, UINT64_MAX);
}

/* Of a wait in which tasks were run so many ticks were idle: other waits were; of the time without
 * a CPU the part that idle time has of the rest. */
static void drop_idle(struct openmp_part *part, uint64_t begin, uint64_t end, uint64_t idle)
{
    const struct time_range waits = {begin, end, .waits = true}, cpu = {begin, end, .cpu = true};
    uint64_t dropped = drop(part, &waits, idle), rest = end - begin - dropped;
    uint64_t wanted = ticks_of(part, &cpu);
    if (rest)
        drop(part, &cpu, (uint64_t)((double)wanted * (double)(idle - dropped) / (double)rest));
}

static void paused(struct openmp_part *part, uint64_t begin, uint64_t end)
{
    const struct open_part *open = innermost(part);
    if (!open) {
        part->record.paused += end - begin;
    } else if (open->is_call) {
        VEC_AT(&part->record.calls, struct region_call, open->at)->paused += end - begin;
    } else {
        drop_all(part, begin, end);
        spend(part, SPENT_RECORDING, end - begin);
    }
}

static void take_time(struct openmp_part *part, const struct event *event)
{
    struct off_cpu off = off_cpu__of(event);
    if (off.type == OFF_CPU_BLOCKED)
        put_away(part, off.begin, off.runnable, false);
    if (off.type == OFF_CPU_PAUSED)
        paused(part, off.begin, off.end);
    if (off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED) {
        put_away(part, off.runnable, off.end, true);
        part->record.moves += part->cpu && part->cpu != off.cpu + 1u && innermost_body(part);
        part->cpu = off.cpu + 1u;
    }
}

/* ---- up to a barrier ------------------------------------------------------------------------- */

static uint64_t times__sum(const struct team_times *times);

#define NEAR_TICKS 50000u /* behind a loop, of what belongs to its end */

/* The thread comes to a barrier then, or to its body's end; what it waits for there is not spent
 * yet. NULL: it is in no body. */
static struct region_stretch *stretch_ends(struct openmp_part *part, uint64_t tick)
{
    struct open_part *open = innermost_body(part);
    if (!open)
        return NULL;
    const struct region_body *body = body_at(part, open->at);
    uint64_t begin = open->stretch_begin, ticks = tick > begin ? tick - begin : 0;
    uint64_t away = ticks_of(part, &(struct time_range){begin, tick, true, true});
    uint64_t spent = times__sum(&open->times) + away;
    spent = spent > open->spent_before ? spent - open->spent_before : 0;
    bool is_of_loop = open->loop_end >= begin && open->ended_loop &&
                      tick - open->loop_end < NEAR_TICKS + ticks / 50;
    return vec__push(&part->record.stretches,
                     &(struct region_stretch){.number = body->number,
                                              .begin = begin,
                                              .end = tick,
                                              .work = ticks > spent ? ticks - spent : 0,
                                              .loop = is_of_loop ? open->ended_loop : 0,
                                              .place = body->place,
                                              .index = open->stretches++,
                                              .body = open->at});
}

/* It goes on, and all that it waited for is spent. */
static void stretch_begins(struct openmp_part *part, uint64_t tick)
{
    struct open_part *open = innermost_body(part);
    if (!open)
        return;
    open->stretch_begin = tick;
    open->spent_before = times__sum(&open->times);
    open->ended_loop = 0;
}

/* ---- waits and locks ------------------------------------------------------------------------- */

#define LOCKS_MOST 256u /* in regions of a thread, by place: more are not told apart */

static struct region_lock *lock_at(struct openmp_part *part, const struct thread_act *act)
{
    const struct open_part *open = innermost_body(part);
    struct vec *locks = &part->record.locks;
    struct region_lock fresh = {.process = part->record.process,
                                .region_site = sum_at(part, body_at(part, open->at)->row)->site,
                                .kind = act->how};
    if (locks->count < LOCKS_MOST) {
        fresh.site = act->site;
        fresh.address = act->object;
    }
    for (size_t i = locks->count; i-- > 0;) {
        struct region_lock *lock = VEC_AT(locks, struct region_lock, i);
        if (lock->address == fresh.address && lock->region_site == fresh.region_site &&
            lock->site == fresh.site)
            return lock;
    }
    return vec__push(locks, &fresh);
}

/* weight: so many times. It is in a body. */
static struct region_lock *lock_taken(struct openmp_part *part, const struct thread_act *act,
                                      uint64_t weight, uint64_t tick)
{
    struct vec *locks = &part->record.locks;
    struct region_lock *lock = lock_at(part, act);
    lock->count += weight;
    if (part->held_count < HELD_MOST)
        part->held[part->held_count++] = (struct openmp_held){
            act->object, tick, (size_t)(lock - (struct region_lock *)locks->items)};
    return lock;
}

static void wait_is_over(struct openmp_part *part, uint64_t tick, bool got)
{
    uint64_t ticks = tick > part->since ? tick - part->since : 0;
    part->is_in_wait = false;
    part->wait_end = tick;
    if (!innermost_body(part))
        return;
    drop_all(part, part->since, tick);
    if (part->wait == WAITS_FOR_LOCK && got) {
        struct team_counts *counts = &sum_of_now(part)->counts;
        counts->locks++;
        counts->locks_waited++;
        struct region_lock *lock = lock_taken(part, &part->waits, 1, tick);
        lock->waited++;
        lock->wait_ns += ticks;
    }
    bool is_of_team = part->wait == WAITS_FOR_BARRIER && part->waits.how == HEURT_BARRIER_OPENMP;
    struct region_stretch *stretch = is_of_team ? stretch_ends(part, part->since) : NULL;
    if (stretch) {
        stretch->barrier = part->waits.site;
        stretch->wait = ticks;
    }
    if (part->wait == WAITS_FOR_BARRIER)
        spend(part, SPENT_BARRIER, ticks);
    else if (part->wait == WAITS_FOR_LOCK)
        spend(part, SPENT_LOCK, ticks);
    else
        put_away(part, part->since, tick, false);
    if (stretch)
        stretch_begins(part, tick);
}

static void acquired(struct openmp_part *part, const struct thread_act *act)
{
    if (innermost_body(part)) {
        sum_of_now(part)->counts.locks += part->weight;
        lock_taken(part, act, part->weight, act->tick);
    }
    part->weight = 1;
}

static void released(struct openmp_part *part, const struct thread_act *act)
{
    for (uint32_t i = part->held_count; i-- > 0;) {
        const struct openmp_held held = part->held[i];
        if (held.address != act->object)
            continue;
        struct region_lock *lock = VEC_AT(&part->record.locks, struct region_lock, held.row);
        uint64_t ticks = act->tick > held.since ? act->tick - held.since : 0;
        uint64_t away = ticks_of(part, &(struct time_range){held.since, act->tick, true, true});
        lock->held++;
        lock->held_ns += ticks > away ? ticks - away : 0;
        part->held[i] = part->held[--part->held_count];
        return;
    }
}

/* A wait that is told when it is over stands behind what the runtime did in it, such as taking
 * memory, and began before that all the same: but not before what it is in. */
static uint64_t begin_of_wait(struct openmp_part *part, const struct thread_act *act)
{
    const struct open_part *open = innermost_body(part);
    uint64_t tick = act->event->tick < act->tick ? act->event->tick : act->tick;
    uint64_t least = open ? body_at(part, open->at)->begin : act->tick;
    least = part->wait_end > least ? part->wait_end : least;
    return tick > least ? tick : least;
}

static void take_act(struct openmp_part *part, const struct thread_act *act)
{
    switch (act->type) {
    case ACT_WAITS:
        part->is_in_wait = true;
        part->wait = act->wait;
        part->since = begin_of_wait(part, act);
        part->waits = *act;
        break;
    case ACT_GOT:
    case ACT_CAME_BACK:
        if (part->is_in_wait)
            wait_is_over(part, act->tick, act->type == ACT_GOT);
        break;
    case ACT_WAIT_UNSEEN:
        part->is_in_wait = false;
        break;
    case ACT_DRAWN:
        part->weight = act->weight ? act->weight : 1;
        break;
    case ACT_ACQUIRED:
        acquired(part, act);
        break;
    case ACT_RELEASED:
        released(part, act);
        break;
    default:
        break;
    }
}

/* ---- regions and bodies ---------------------------------------------------------------------- */

static uint32_t row_of(struct thread_record *record, uint64_t site, uint32_t place)
{
    for (size_t i = record->sums.count; i-- > 0;) {
        const struct region_sum *sum = VEC_AT(&record->sums, struct region_sum, i);
        if (sum->site == site && sum->place == place)
            return (uint32_t)i;
    }
    vec__push(&record->sums, &(struct region_sum){.site = site, .place = place});
    return (uint32_t)record->sums.count - 1;
}

static void begin_call(struct openmp_part *part, const struct openmp_act *act)
{
    bool is_nested = innermost_body(part);
    if (part->depth == NESTED_MOST)
        return;
    part->open[part->depth++] = (struct open_part){.is_call = true, .at = part->record.calls.count};
    vec__push(&part->record.calls, &(struct region_call){.number = act->a,
                                                         .site = act->site,
                                                         .begin = act->tick,
                                                         .thread = part->record.thread,
                                                         .is_nested = is_nested});
}

static void begin_body(struct openmp_part *part, const struct openmp_act *act)
{
    settle(part);
    if (part->depth == NESTED_MOST)
        return;
    part->open[part->depth++] = (struct open_part){
        .at = part->record.bodies.count, .loop = SIZE_MAX, .stretch_begin = act->tick};
    part->last_body = NO_BODY;
    part->told = act->tick;
    vec__push(&part->record.bodies,
              &(struct region_body){.number = act->a,
                                    .begin = act->tick,
                                    .place = act->number,
                                    .team = act->team,
                                    .wanted_first = part->wanted_first,
                                    .wanted_behind = (uint32_t)part->record.wanted.count,
                                    .row = row_of(&part->record, act->site, act->number)});
}

static uint64_t times__sum(const struct team_times *times)
{
    return times->barrier_ns + times->lock_ns + times->task_ns + times->other_ns +
           times->no_cpu_ns + times->recording_ns;
}

static void add_times(struct team_times *sum, const struct team_times *times)
{
    for (enum body_spent on = SPENT_BARRIER; on <= SPENT_RECORDING; on++) {
        const uint64_t of[] = {times->barrier_ns, times->lock_ns,   times->task_ns,
                               times->other_ns,   times->no_cpu_ns, times->recording_ns};
        add_to(sum, on, of[on]);
    }
    sum->work_ns += times->work_ns;
}

static void end_body(struct openmp_part *part, uint64_t tick)
{
    struct open_part *open = innermost_body(part);
    if (!open)
        return;
    stretch_ends(part, tick);
    settle(part);
    struct region_body *body = body_at(part, open->at);
    struct region_sum *sum = sum_at(part, body->row);
    uint64_t ticks = tick - body->begin, waited = times__sum(&open->times);
    body->end = tick;
    body->work = ticks > waited ? ticks - waited : 0;
    open->times.work_ns = body->work;
    add_times(&sum->times, &open->times);
    part->last_body = open->at;
    part->held_count = 0;
    part->wanted_first = (uint32_t)part->record.wanted.count;
    part->depth--;
}

/* What the caller of a nested region waits for at its end is no work of the body that it is in. */
static void end_call(struct openmp_part *part, uint64_t tick)
{
    struct open_part *open = innermost(part);
    if (!open || !open->is_call)
        return;
    struct region_call *call = VEC_AT(&part->record.calls, struct region_call, open->at);
    call->end = tick;
    call->wanted_first = part->wanted_first;
    call->wanted_behind = (uint32_t)part->record.wanted.count;
    part->depth--;
    if (!innermost_body(part) || part->last_body == NO_BODY)
        return;
    const struct region_body *body = body_at(part, part->last_body);
    uint64_t tail = tick - body->end;
    drop_all(part, body->end, tick);
    spend(part, SPENT_BARRIER, tail > body->late ? tail - body->late : 0);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static size_t loop_of(struct openmp_part *part, const struct openmp_act *act)
{
    const struct open_part *open = innermost_body(part);
    const struct region_body *body = body_at(part, open->at);
    uint64_t region_site = sum_at(part, body->row)->site;
    struct thread_record *record = &part->record;
    for (size_t i = 0; i < record->loops.count; i++) {
        const struct shared_loop *loop = VEC_AT(&record->loops, struct shared_loop, i);
        if (loop->site == act->site && loop->region_site == region_site &&
            *VEC_AT(&record->loop_places, uint32_t, i) == body->place)
            return i;
    }
    vec__push(&record->loops, &(struct shared_loop){.process = record->process,
                                                    .site = act->site,
                                                    .region_site = region_site});
    vec__push(&record->loop_places, &body->place);
    return record->loops.count - 1;
}

static void begin_loop(struct openmp_part *part, const struct openmp_act *act)
{
    struct open_part *open = innermost_body(part);
    if (!open)
        return;
    open->loop = loop_of(part, act);
    open->loop_begin = act->tick;
    struct shared_loop *loop = VEC_AT(&part->record.loops, struct shared_loop, open->loop);
    loop->schedule = act->schedule;
    loop->chunk = act->a;
    loop->times++;
}

static void end_loop(struct openmp_part *part, const struct openmp_act *act)
{
    struct open_part *open = innermost_body(part);
    if (!open || open->loop == SIZE_MAX)
        return;
    struct shared_loop *loop = VEC_AT(&part->record.loops, struct shared_loop, open->loop);
    struct team_counts *counts = &sum_of_now(part)->counts;
    loop->chunks += act->a;
    loop->iterations += act->b;
    loop->ns += act->tick - open->loop_begin;
    open->ended_loop = loop->site;
    open->loop_end = act->tick;
    counts->chunks += act->a;
    counts->iterations += act->b;
    open->loop = SIZE_MAX;
}

static void take_chunk(struct openmp_part *part, const struct openmp_act *act)
{
    const struct open_part *open = innermost_body(part);
    if (!open || open->loop == SIZE_MAX)
        return;
    struct shared_loop *loop = VEC_AT(&part->record.loops, struct shared_loop, open->loop);
    loop->longest_ns = act->ticks > loop->longest_ns ? act->ticks : loop->longest_ns;
    if (part->record.chunks.count >= TOLD_CHUNKS_MOST)
        return;
    uint64_t begin = act->ticks < act->tick ? act->tick - act->ticks : 0;
    uint64_t away = ticks_of(part, &(struct time_range){begin, act->tick, true, true});
    vec__push(&part->record.chunks,
              &(struct told_chunk){.loop = loop->site,
                                   .region = loop->region_site,
                                   .first = (int64_t)act->b,
                                   .iterations = act->a,
                                   .work = act->ticks > away ? act->ticks - away : 0});
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void tasks_made(struct openmp_part *part, const struct openmp_act *act)
{
    struct task_tally *tally =
        task_tally__at(&part->record.constructs, part->record.process, act->site);
    struct region_sum *sum = sum_of_now(part);
    tally->sums.calls += act->a;
    tally->sums.calls_ns += act->ticks;
    if (act->ticks <= act->a * QUICK_TICKS) {
        tally->quick += act->a;
        tally->quick_ticks += act->ticks;
    }
    if (!sum)
        return;
    sum->counts.made += act->a;
    sum->counts.made_ns += act->ticks;
}

static void tasks_run(struct openmp_part *part, const struct openmp_act *act)
{
    task_tally__add_run(task_tally__at(&part->record.constructs, part->record.process, act->site),
                        act->a, act->b, act->ticks);
    struct region_sum *sum = sum_of_now(part);
    if (!sum)
        return;
    sum->counts.tasks += act->a;
    sum->counts.stolen += act->b;
    sum->counts.task_work_ns += act->ticks;
    if (innermost_body(part))
        return;
    struct region_body *body = body_at(part, part->last_body);
    body->late += act->ticks;
    body->late_end = act->tick;
    sum->times.work_ns += act->ticks;
}

/* Of its ticks a were in no task. What is off the CPU then is in no task, as far as that goes. */
static void waited(struct openmp_part *part, const struct openmp_act *act, enum body_spent on)
{
    const struct open_part *open = innermost_body(part);
    size_t body = open ? open->at : part->last_body;
    if (on == SPENT_TASK && body != NO_BODY)
        body_at(part, body)->waits = true;
    if (!open)
        return;
    bool is_barrier = act->type == OPENMP_BARRIER && act->ticks <= act->tick;
    uint64_t tasks = act->ticks > act->a ? act->ticks - act->a : 0;
    struct region_stretch *stretch = is_barrier ? stretch_ends(part, act->tick - act->ticks) : NULL;
    if (stretch) { /* tasks that it ran there are of what goes before */
        stretch->barrier = act->site;
        stretch->wait = act->a;
        stretch->work += tasks;
    }
    bool is_one = on == SPENT_BARRIER || act->b == 1;
    uint64_t begin = act->tick - act->ticks;
    if (!is_one) /* of several nobody knows where they were, but since when */
        begin = part->told < begin ? part->told : begin;
    if (act->ticks <= act->tick && act->a <= act->ticks)
        drop_idle(part, begin, act->tick, act->a);
    part->told = act->tick;
    spend(part, on, act->a);
    if (on == SPENT_TASK)
        sum_of_now(part)->counts.taskwaits += act->b;
    if (stretch)
        stretch_begins(part, act->tick);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void take_count(struct openmp_part *part, const struct openmp_act *act)
{
    struct region_sum *sum = sum_of_now(part);
    if (!sum)
        return;
    sum->counts.singles += act->type == OPENMP_SINGLE;
    sum->counts.cancels += act->type == OPENMP_CANCELLED;
    if (act->type == OPENMP_ENTERED) {
        sum->counts.entered += act->a;
        sum->counts.entered_ns += act->ticks;
    }
}

static void take_openmp(struct openmp_part *part, const struct openmp_act *act)
{
    switch (act->type) {
    case OPENMP_REGION_BEGINS:
        begin_call(part, act);
        break;
    case OPENMP_REGION_ENDS:
        end_call(part, act->tick);
        break;
    case OPENMP_BODY_BEGINS:
        begin_body(part, act);
        break;
    case OPENMP_BODY_ENDS:
        end_body(part, act->tick);
        break;
    case OPENMP_LOOP_BEGINS:
        begin_loop(part, act);
        break;
    case OPENMP_LOOP_ENDS:
        end_loop(part, act);
        break;
    case OPENMP_CHUNK:
        take_chunk(part, act);
        break;
    case OPENMP_TASKS_MADE:
        tasks_made(part, act);
        break;
    case OPENMP_TASKS_RUN:
        tasks_run(part, act);
        break;
    case OPENMP_BARRIER:
        waited(part, act, SPENT_BARRIER);
        break;
    case OPENMP_TASKWAIT:
        waited(part, act, SPENT_TASK);
        break;
    case OPENMP_SINK:
        waited(part, act, SPENT_LOCK);
        break;
    default:
        take_count(part, act);
    }
}

void *openmp_walk__thread(const struct trace *trace, uint32_t thread)
{
    struct openmp_part *part = memory__zeroed(1, sizeof *part);
    part->trace = trace;
    part->record = (struct thread_record){.thread = thread,
                                          .process = trace__serial_of(trace, thread),
                                          .bodies = VEC_OF(struct region_body),
                                          .calls = VEC_OF(struct region_call),
                                          .sums = VEC_OF(struct region_sum),
                                          .loops = VEC_OF(struct shared_loop),
                                          .loop_places = VEC_OF(uint32_t),
                                          .constructs = VEC_OF(struct task_tally),
                                          .wanted = VEC_OF(struct wanted_time),
                                          .stretches = VEC_OF(struct region_stretch),
                                          .chunks = VEC_OF(struct told_chunk),
                                          .locks = VEC_OF(struct region_lock)};
    part->aways = VEC_OF(struct away_time);
    part->last_body = NO_BODY;
    part->weight = 1;
    thread_acts__start(&part->acts, trace__thread_at(trace, thread));
    return part;
}

void openmp_walk__event(void *self, const struct event *event)
{
    struct openmp_part *part = self;
    struct openmp_act act = openmp_act__of(event);
    struct thread_act next;
    take_time(part, event);
    for (thread_acts__put(&part->acts, event); thread_acts__next(&part->acts, &next);)
        take_act(part, &next);
    if (act.type != OPENMP_ACT_NOTHING)
        take_openmp(part, &act);
}

/* What is open when the thread ends, or the trace, ends then. */
void openmp_walk__end(void *self)
{
    struct openmp_part *part = self;
    uint64_t tick = trace__thread_at(part->trace, part->record.thread)->end_tick;
    while (part->depth) {
        if (part->is_in_wait && innermost_body(part) && tick > part->since)
            wait_is_over(part, tick, false);
        if (innermost(part)->is_call)
            end_call(part, tick);
        else
            end_body(part, tick);
    }
}

struct thread_record openmp_walk__take(void *self)
{
    struct openmp_part *part = self;
    struct thread_record record = part->record;
    vec__free(&part->aways);
    free(part);
    return record;
}

void thread_record__free(struct thread_record *record)
{
    vec__free(&record->bodies);
    vec__free(&record->calls);
    vec__free(&record->sums);
    vec__free(&record->loops);
    vec__free(&record->loop_places);
    vec__free(&record->constructs);
    vec__free(&record->wanted);
    vec__free(&record->stretches);
    vec__free(&record->chunks);
    vec__free(&record->locks);
}
