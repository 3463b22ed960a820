#include "analysis/timeline/requests.h"

#include "analysis/events/spans.h"
#include "analysis/events/time_off_cpu.h"
#include "analysis/sync/sync_events.h"
#include "base/memory.h"

#include <stdlib.h>

#define STRETCHES_A_REQUEST 4096u /* more are put together */
#define NEVER UINT64_MAX
/* Of messages, in the middle. With more of them the waits for work that are known are not those
 * that requests lie between: a thread that blocks in read for each message of one connection. */
#define CALLS_A_REQUEST 20

struct requests_walk {
    const struct trace *trace;
    const struct profile *profile;
    const struct findings *findings;
    struct class_table *table;
    struct vec waits_as;     /* unsigned, by the class's number: a state */
    struct vec durations_ns; /* uint64_t, of all requests */
    struct vec slowest;      /* struct served_request, not sorted */
    uint64_t calls;          /* of the network, in what was done between waits for work */
};

/* One thread's. */
struct requests_part {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct requests_walk *walk;
    struct thread_fold *watch;
    struct thread_states states; /* since the last wait for work */
    bool knows_cpu, uses_network;
    uint64_t since_ns; /* when that ended; NEVER: there was none */
    struct served_wait wait;
    uint32_t thread;
};

static uint64_t since_start(const struct requests_part *part, uint64_t tick)
{
    return trace__since_start_ns(part->walk->trace, tick);
}

/* ---- one request ----------------------------------------------------------------------------- */

/* The one of the kept ones that took the least. */
static struct served_request *least_of(struct vec *slowest)
{
    struct served_request *least = slowest->items;
    VEC_EACH (request, slowest, struct served_request)
        least = request->duration_ns < least->duration_ns ? request : least;
    return least;
}

static void keep_slowest(struct vec *slowest, const struct served_request *request)
{
    if (slowest->count < REQUESTS_KEPT) {
        vec__push(slowest, request);
        return;
    }
    struct served_request *least = least_of(slowest);
    if (request->duration_ns > least->duration_ns)
        *least = *request;
}

static bool may_be_kept(struct vec *slowest, uint64_t duration_ns)
{
    return slowest->count < REQUESTS_KEPT || duration_ns > least_of(slowest)->duration_ns;
}

/* What it was made of; time of another wait for work in it, of which there is none but in a wait,
 * counts as one for something else. */
static void fill_components(struct requests_part *part, struct served_request *request)
{
    struct state_times times = {0};
    uint64_t end_ns = request->start_ns + request->duration_ns;
    thread_states__end(&part->states, end_ns);
    thread_states__fill(&part->states, request->start_ns, end_ns, 1, &times);
    for (unsigned i = 0; i < COMPONENTS; i++)
        request->component_ns[i] = times.ns[i];
    request->component_ns[COMPONENT_OTHER_BLOCKED] += times.ns[STATE_IDLE];
}

static void end_request(struct requests_part *part, uint64_t end_ns)
{
    struct requests_walk *walk = part->walk;
    uint64_t duration_ns = end_ns > part->since_ns ? end_ns - part->since_ns : 0;
    vec__push(&walk->durations_ns, &duration_ns);
    if (!may_be_kept(&walk->slowest, duration_ns))
        return;
    struct served_request request = {.thread = part->thread,
                                     .start_ns = part->since_ns,
                                     .duration_ns = duration_ns,
                                     .wait = part->wait};
    fill_components(part, &request);
    keep_slowest(&walk->slowest, &request);
}

static void begin_states(struct requests_part *part, uint64_t at_ns)
{
    part->states = thread_states__new(at_ns, STRETCHES_A_REQUEST);
    part->states.knows_cpu = part->knows_cpu;
}

/* A wait for work: what is before it is a request, if any. */
static void take_idle(struct requests_part *part, uint64_t begin_ns, uint64_t end_ns)
{
    if (part->since_ns != NEVER && part->uses_network)
        end_request(part, begin_ns);
    thread_states__free(&part->states);
    begin_states(part, end_ns);
    part->since_ns = end_ns;
    part->uses_network = false;
    part->wait = (struct served_wait){.by = UINT32_MAX};
}

/* ---- what a thread does ---------------------------------------------------------------------- */

static void take_wait(struct requests_part *part, uint32_t number, uint64_t end_tick)
{
    uint64_t ns = trace__ns(part->walk->trace, end_tick - part->watcher.entered);
    if (ns > part->wait.wait_ns)
        part->wait = (struct served_wait){
            .class = number, .start_tick = part->watcher.entered, .wait_ns = ns, .by = UINT32_MAX};
}

static unsigned state_of(const struct requests_walk *walk, const struct class_entry *entry,
                         uint32_t number)
{
    if (number < walk->waits_as.count)
        return *VEC_AT(&walk->waits_as, unsigned, number);
    return entry->idle ? STATE_IDLE : (unsigned)entry->fold.component;
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct requests_part *part = (struct requests_part *)watcher;
    (void)arguments, (void)argument_count;
    if (entry->fold.component == COMPONENT_RUNNING)
        return;
    uint32_t number = class_entry__number(entry);
    bool sleeps = entry->fold.component == COMPONENT_SLEEP; /* and nobody asks for something */
    unsigned state = sleeps ? COMPONENT_SLEEP : state_of(part->walk, entry, number);
    uint64_t begin_ns = since_start(part, watcher->entered);
    uint64_t end_ns = since_start(part, occurrence->end);
    if (state == STATE_IDLE)
        return take_idle(part, begin_ns, end_ns);
    if (entry->fold.component == COMPONENT_NETWORK) {
        part->uses_network = true;
        part->walk->calls++;
    }
    thread_states__add_wait(&part->states, state, begin_ns, end_ns,
                            entry->what.at.kind == CLASS_YIELD);
    take_wait(part, number, occurrence->end);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static struct vec waits_of(const struct profile *profile, const struct findings *findings)
{
    struct vec waits = VEC_OF(unsigned);
    for (size_t i = 0; i < profile->classes.count; i++)
        *VEC_REACH(&waits, unsigned, VEC_AT(&profile->classes, struct profile_class, i)->number) =
            (unsigned)findings->waits_as[i];
    return waits;
}

static bool serves(const struct profile *profile, const struct findings *findings)
{
    uint64_t sums[COMPONENTS];
    bool waits_for_work = false;
    profile__component_ns(profile, sums);
    for (size_t i = 0; i < profile->classes.count; i++)
        waits_for_work |= (unsigned)findings->waits_as[i] == STATE_IDLE;
    return sums[COMPONENT_NETWORK] && waits_for_work;
}

static void *start(struct run *run)
{
    const struct findings *findings = run__result(run, &findings_analysis);
    const struct profile *profile = run__result(run, &profile_analysis);
    if (!profile || !findings || trace__is_aggregated(run->trace) || !serves(profile, findings))
        return NULL;
    struct requests_walk *walk = memory__zeroed(1, sizeof *walk);
    *walk = (struct requests_walk){.trace = run->trace,
                                   .profile = profile,
                                   .findings = findings,
                                   .table = profile__table(profile),
                                   .waits_as = waits_of(profile, findings),
                                   .durations_ns = VEC_OF(uint64_t),
                                   .slowest = VEC_OF(struct served_request)};
    return walk;
}

/* Threads that only wait, or are aside, serve nobody. */
static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct requests_walk *walk = self;
    (void)lane;
    if (!walk->findings->had_work[thread])
        return NULL;
    struct requests_part *part = memory__zeroed(1, sizeof *part);
    part->walk = walk;
    part->thread = thread;
    part->since_ns = NEVER;
    part->knows_cpu = VEC_AT(&walk->profile->threads, struct profile_thread, thread)->has_kernel;
    begin_states(part, since_start(part, trace__thread_at(walk->trace, thread)->start_tick));
    part->watcher = (struct thread_watcher){.occurrence = occurrence};
    part->watch = thread_watch__start(walk->table, thread, &part->watcher);
    return part;
}

static void event(void *self, const struct event *event)
{
    struct requests_part *part = self;
    struct off_cpu off = off_cpu__of(event);
    if (off.type != OFF_CPU_NOTHING) {
        uint64_t runnable_ns = since_start(part, off.runnable), end_ns = since_start(part, off.end);
        thread_states__add(&part->states, off.why, since_start(part, off.begin), runnable_ns);
        if (off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED)
            thread_states__add(&part->states, COMPONENT_RUNNABLE, runnable_ns, end_ns);
    }
    thread_watch__event(part->watch, event);
}

static void events(void *self, struct event_words *words)
{
    thread_watch__functions(((struct requests_part *)self)->watch, words);
}

static void end(void *self)
{
    struct requests_part *part = self;
    thread_watch__end(part->watch);
    thread_states__free(&part->states);
}

static void join(void *self, uint32_t thread, void *part)
{
    (void)self, (void)thread;
    free(part);
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_size(const void *left, const void *right)
{
    return ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

static int by_duration(const void *left, const void *right)
{
    const struct served_request *one = left, *other = right;
    int order = ORDER(other->duration_ns, one->duration_ns);
    return order ? order : ORDER(one->start_ns, other->start_ns);
}

static void *finish(void *self)
{
    struct requests_walk *walk = self;
    struct requests *requests = memory__zeroed(1, sizeof *requests);
    struct vec *all = &walk->durations_ns;
    size_t count = walk->calls / CALLS_A_REQUEST <= all->count ? all->count : 0;
    vec__sort(all, by_size);
    vec__sort(&walk->slowest, by_duration);
    if (!count)
        walk->slowest.count = 0;
    *requests = (struct requests){.count = count, .slowest = walk->slowest};
    if (count) {
        requests->median_ns = *VEC_AT(all, uint64_t, count / 2);
        requests->p99_ns = *VEC_AT(all, uint64_t, count - 1 - count / 100);
        requests->longest_ns = *VEC_AT(all, uint64_t, count - 1);
    }
    vec__free(all);
    vec__free(&walk->waits_as);
    free(walk);
    return requests;
}

static void free_requests(void *result)
{
    vec__free(&((struct requests *)result)->slowest);
    free(result);
}

const struct analysis requests_analysis = {
    .name = "requests",
    .after = (const struct analysis *const[]){&findings_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = thread,
    .event = event,
    .events = events,
    .end = end,
    .join = join,
    .finish = finish,
    .free = free_requests,
};

/* ---- whom waits were for --------------------------------------------------------------------- */

static void blame(struct requests *requests, const struct sync_events *walk,
                  const struct sync_event *event)
{
    VEC_EACH (request, &requests->slowest, struct served_request) {
        struct served_wait *wait = &request->wait;
        if (request->thread != event->thread || !wait->wait_ns || wait->start_tick != event->since)
            continue;
        const struct sync_object *object =
            event->object != SYNC_EVENT_NO_OBJECT ? sync_events__object(walk, event->object) : NULL;
        wait->by = event->by;
        wait->by_site = event->by != SYNC_EVENT_NOBODY ? event->by_site : 0;
        wait->object = object ? object->address : 0;
        wait->process = object ? object->process : 0;
    }
}

void requests__blame(const struct trace *trace, struct requests *requests)
{
    struct sync_event event;
    struct sync_events *walk = sync_events__start(trace);
    while (sync_events__next(walk, &event))
        if (event.since && (event.type == SYNC_EVENT_ACQUIRED || event.type == SYNC_EVENT_WOKEN ||
                            event.type == SYNC_EVENT_LEFT))
            blame(requests, walk, &event);
    sync_events__free(walk);
}
