/* Regions, loops and tasks of all threads, put together. */
#include "analysis/openmp/internal.h"
#include "analysis/openmp/openmp_runtimes.h"
#include "base/map.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the walk by threads --------------------------------------------------------------------- */

struct openmp_run {
    const struct run *run;
    struct vec records; /* struct thread_record, by trace__threads */
};

static void *start(struct run *run)
{
    struct openmp_run *self = memory__zeroed(1, sizeof *self);
    *self = (struct openmp_run){.run = run, .records = VEC_OF(struct thread_record)};
    return self;
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    const struct openmp_run *openmp = self;
    (void)lane;
    return openmp_walk__thread(openmp->run->trace, thread);
}

static void join(void *self, uint32_t thread, void *part)
{
    struct openmp_run *openmp = self;
    *VEC_REACH(&openmp->records, struct thread_record, thread) = openmp_walk__take(part);
}

static void *finish(void *self)
{
    struct openmp_run *openmp = self;
    struct openmp_use *use = openmp_use__of(openmp->run, &openmp->records);
    VEC_EACH (record, &openmp->records, struct thread_record)
        thread_record__free(record);
    vec__free(&openmp->records);
    free(openmp);
    return use;
}

static void openmp_use__free(void *result)
{
    struct openmp_use *use = result;
    if (!use)
        return;
    VEC_EACH (region, &use->regions, struct parallel_region) {
        vec__free(&region->members);
        vec__free(&region->sites);
    }
    VEC_EACH (loop, &use->loops, struct shared_loop) {
        vec__free(&loop->members);
        free(loop->costs);
    }
    VEC_EACH (barrier, &use->barriers, struct region_barrier)
        vec__free(&barrier->members);
    vec__free(&use->barriers);
    vec__free(&use->locks);
    vec__free(&use->hints);
    vec__free(&use->regions);
    vec__free(&use->loops);
    vec__free(&use->constructs);
    vec__free(&use->threads);
    vec__free(&use->serial);
    vec__free(&use->between);
    free(use);
}

/* Asked for by name it is made in any case. */
static bool is_needed(const struct trace *trace)
{
    VEC_EACH (process, trace__processes(trace), struct trace_process)
        VEC_EACH (module, &process->modules, struct trace_module)
            if (openmp_runtime__is(module->path))
                return true;
    return false;
}

const struct analysis openmp_analysis = {.name = "openmp",
                                         .is_needed = is_needed,
                                         .walk = WALK_THREADS,
                                         .start = start,
                                         .thread = thread,
                                         .event = openmp_walk__event,
                                         .end = openmp_walk__end,
                                         .join = join,
                                         .finish = finish,
                                         .free = openmp_use__free};

/* ---- what is put together -------------------------------------------------------------------- */

/* A body, with what it belongs to. */
struct placed_body {
    uint32_t process;
    const struct thread_record *record;
    const struct region_body *body;
    uint64_t end; /* ticks that it waited for the others behind its end */
};

struct placed_call {
    uint32_t process;
    const struct thread_record *record;
    const struct region_call *call;
};

struct gathered_regions {
    const struct trace *trace;
    const struct symbols *symbols; /* NULL: none are known */
    const struct vec *records;
    struct openmp_use *use;
    struct vec bodies, calls;      /* by process and number */
    struct map region_of, loop_of; /* by place: among the use's */
    struct map place_of;           /* by line: the first site of it */
};

static int by_body_number(const void *a, const void *b)
{
    const struct placed_body *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->body->number, right->body->number)
               ?: ORDER(left->body->place, right->body->place);
}

static int by_call_number(const void *a, const void *b)
{
    const struct placed_call *left = a, *right = b;
    return ORDER(left->process, right->process) ?: ORDER(left->call->number, right->call->number);
}

static void gather(struct gathered_regions *all)
{
    VEC_EACH (record, all->records, struct thread_record) {
        VEC_EACH (body, &record->bodies, const struct region_body)
            vec__push(&all->bodies, &(struct placed_body){record->process, record, body, 0});
        VEC_EACH (call, &record->calls, const struct region_call)
            vec__push(&all->calls, &(struct placed_call){record->process, record, call});
    }
    vec__sort(&all->bodies, by_body_number);
    vec__sort(&all->calls, by_call_number);
}

/* Compilers copy code, and a line then has several calls: they go by the first of them. */
static uint64_t place_of(struct gathered_regions *all, uint32_t process, uint64_t site)
{
    const struct symbol *symbol = all->symbols ? symbols__get(all->symbols, process, site) : NULL;
    if (!symbol || !symbol->file || !symbol->line)
        return site;
    char *key = memory__format("%" PRIu32, process);
    for (; symbol; symbol = symbol->inlined_by) {
        char *longer = memory__format("%s %s %s:%" PRIu32, key, symbol->function,
                                      symbol->file ? symbol->file : "", symbol->line);
        free(key);
        key = longer;
    }
    uint64_t place = map__put(&all->place_of, key, strlen(key), site);
    free(key);
    return place;
}

static struct parallel_region *region_at(struct gathered_regions *all, uint32_t process,
                                         uint64_t site)
{
    uint64_t call = site;
    site = place_of(all, process, site);
    uint64_t key[2] = {process, site};
    uint64_t at = map__put(&all->region_of, key, sizeof key, all->use->regions.count);
    if (at == all->use->regions.count)
        vec__push(&all->use->regions,
                  &(struct parallel_region){.process = process,
                                            .site = site,
                                            .is_nested = true,
                                            .members = VEC_OF(struct team_member),
                                            .sites = VEC_OF(uint64_t)});
    struct parallel_region *region = VEC_AT(&all->use->regions, struct parallel_region, at);
    VEC_EACH (known, &region->sites, const uint64_t)
        if (*known == call)
            return region;
    vec__push(&region->sites, &call);
    return region;
}

/* ---- calls of regions ------------------------------------------------------------------------ */

static uint64_t less(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

static uint64_t ticks_of(const struct region_call *call)
{
    return less(less(call->end, call->begin), call->paused);
}

/* The bodies of one call, which is over when the last of them has nothing more to do. */
struct team {
    struct placed_body *bodies;
    size_t count;
    const struct region_call *call;
    const struct thread_record *caller;
    uint64_t last_end; /* at most the call's */
    const struct region_body *last;
};

static uint64_t end_within(const struct region_body *body, const struct region_call *call)
{
    uint64_t end = body->late_end > body->end ? body->late_end : body->end;
    return end < call->end ? end : call->end;
}

static void find_last(struct team *team)
{
    team->last_end = team->call->begin;
    for (size_t i = 0; i < team->count; i++) {
        uint64_t end = end_within(team->bodies[i].body, team->call);
        if (end >= team->last_end) {
            team->last_end = end;
            team->last = team->bodies[i].body;
        }
    }
}

/* Of the time from begin to end, as far as the thread told of it. */
static uint64_t wanted_in(const struct thread_record *record, uint32_t first, uint32_t behind,
                          uint64_t begin, uint64_t end)
{
    uint64_t ticks = 0;
    for (uint32_t i = first; i < behind && i < record->wanted.count; i++) {
        const struct wanted_time *wanted = VEC_AT(&record->wanted, struct wanted_time, i);
        uint64_t from = wanted->begin > begin ? wanted->begin : begin;
        uint64_t to = wanted->end < end ? wanted->end : end;
        ticks += to > from ? to - from : 0;
    }
    return ticks;
}

/* Who begins late, or goes on late behind all the others, may want a CPU. */
static void add_edges(struct team_times *times, const struct team *team, struct placed_body *placed,
                      const struct trace *trace)
{
    const struct region_body *body = placed->body;
    const struct region_call *call = team->call;
    uint64_t fork = less(less(body->begin, call->begin), call->paused);
    uint64_t end = less(less(team->last_end, body->end), body->late);
    uint64_t join = less(call->end, team->last_end);
    uint64_t before = wanted_in(placed->record, body->wanted_first, body->wanted_behind,
                                call->begin, body->begin);
    uint64_t behind =
        wanted_in(team->caller, call->wanted_first, call->wanted_behind, team->last_end, call->end);
    placed->end = end;
    before = before < fork ? before : fork;
    behind = behind < join ? behind : join;
    times->no_cpu_ns += trace__ns(trace, before + behind);
    times->fork_ns += trace__ns(trace, fork - before);
    times->end_ns += trace__ns(trace, end);
    times->barrier_ns += trace__ns(trace, end);
    times->join_ns += trace__ns(trace, join - behind);
}

static void add_call(struct gathered_regions *all, const struct placed_call *placed,
                     struct placed_body *bodies, size_t count)
{
    const struct region_call *call = placed->call;
    struct parallel_region *region = region_at(all, placed->process, call->site);
    struct team team = {.bodies = bodies, .count = count, .call = call, .caller = placed->record};
    uint32_t size = count ? bodies[0].body->team : 1;
    size = size > count ? size : count ? (uint32_t)count : 1;
    uint64_t ticks = ticks_of(call);
    region->count++;
    region->ns += trace__ns(all->trace, ticks);
    region->capacity_ns += trace__ns(all->trace, ticks * size);
    region->threads = size > region->threads ? size : region->threads;
    region->is_nested &= call->is_nested;
    region->times.other_ns += trace__ns(all->trace, ticks * (size - count));
    find_last(&team);
    for (size_t i = 0; i < count; i++) {
        struct team_member *member =
            VEC_REACH(&region->members, struct team_member, bodies[i].body->place);
        member->bodies++;
        member->last += bodies[i].body == team.last;
        region->waiting += bodies[i].body->waits;
        add_edges(&member->times, &team, &bodies[i], all->trace);
    }
}

/* Bodies and calls are in the same order. */
static void add_calls(struct gathered_regions *all)
{
    size_t at = 0;
    VEC_EACH (call, &all->calls, const struct placed_call) {
        struct placed_body *bodies = all->bodies.items;
        while (at < all->bodies.count && (bodies[at].process < call->process ||
                                          (bodies[at].process == call->process &&
                                           bodies[at].body->number < call->call->number)))
            at++;
        size_t first = at;
        while (at < all->bodies.count && bodies[at].process == call->process &&
               bodies[at].body->number == call->call->number)
            at++;
        add_call(all, call, bodies + first, at - first);
    }
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Figures one by one. */
static void add_all(uint64_t *sums, const uint64_t *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += figures[i];
}
#define ADD_ALL(sums, figures) \
    add_all((uint64_t *)(sums), (const uint64_t *)(figures), sizeof *(sums) / sizeof(uint64_t))

static struct team_times times__in_ns(const struct trace *trace, struct team_times times)
{
    uint64_t *figures = (uint64_t *)&times;
    for (size_t i = 0; i < sizeof times / sizeof *figures; i++)
        figures[i] = trace__ns(trace, figures[i]);
    return times;
}

static void add_sums(struct gathered_regions *all, const struct thread_record *record)
{
    VEC_EACH (sum, &record->sums, const struct region_sum) {
        struct parallel_region *region = region_at(all, record->process, sum->site);
        struct team_member *member = VEC_REACH(&region->members, struct team_member, sum->place);
        struct team_times times = times__in_ns(all->trace, sum->times);
        struct team_counts counts = sum->counts;
        counts.entered_ns = trace__ns(all->trace, counts.entered_ns);
        counts.task_work_ns = trace__ns(all->trace, counts.task_work_ns);
        counts.made_ns = trace__ns(all->trace, counts.made_ns);
        ADD_ALL(&member->times, &times);
        ADD_ALL(&member->counts, &counts);
    }
}

static void add_loops(struct gathered_regions *all, const struct thread_record *record)
{
    VEC_EACH (chunk, &record->chunks, struct told_chunk) {
        chunk->loop = place_of(all, record->process, chunk->loop);
        chunk->region = place_of(all, record->process, chunk->region);
    }
    for (size_t i = 0; i < record->loops.count; i++) {
        const struct shared_loop *loop = VEC_AT(&record->loops, struct shared_loop, i);
        uint64_t site = place_of(all, loop->process, loop->site);
        uint64_t region_site = place_of(all, loop->process, loop->region_site);
        uint64_t key[3] = {loop->process, site, region_site};
        uint64_t at = map__put(&all->loop_of, key, sizeof key, all->use->loops.count);
        if (at == all->use->loops.count) {
            struct shared_loop *fresh = vec__push(&all->use->loops, NULL);
            *fresh = (struct shared_loop){.process = loop->process,
                                          .site = site,
                                          .region_site = region_site,
                                          .members = VEC_OF(struct loop_member)};
        }
        struct shared_loop *sum = VEC_AT(&all->use->loops, struct shared_loop, at);
        struct loop_member *member = VEC_REACH(&sum->members, struct loop_member,
                                               *VEC_AT(&record->loop_places, uint32_t, i));
        uint64_t ns = trace__ns(all->trace, loop->ns);
        uint64_t longest_ns = trace__ns(all->trace, loop->longest_ns);
        sum->schedule = loop->schedule;
        sum->chunk = loop->chunk;
        sum->times += loop->times;
        sum->iterations += loop->iterations;
        sum->chunks += loop->chunks;
        sum->ns += ns;
        sum->longest_ns = longest_ns > sum->longest_ns ? longest_ns : sum->longest_ns;
        member->times += loop->times;
        member->iterations += loop->iterations;
        member->chunks += loop->chunks;
        member->ns += ns;
    }
}

static void sum_members(struct parallel_region *region)
{
    VEC_EACH (member, &region->members, struct team_member) {
        ADD_ALL(&region->times, &member->times);
        ADD_ALL(&region->counts, &member->counts);
    }
}

static int by_lock_wait(const void *a, const void *b)
{
    const struct region_lock *left = a, *right = b;
    return ORDER(right->wait_ns, left->wait_ns) ?: ORDER(right->count, left->count)
               ?: ORDER(left->process, right->process) ?: ORDER(left->site, right->site)
               ?: ORDER(left->address, right->address);
}

static void add_locks(struct gathered_regions *all)
{
    struct map places = {0};
    struct vec *locks = &all->use->locks;
    VEC_EACH (record, all->records, const struct thread_record)
        VEC_EACH (lock, &record->locks, const struct region_lock) {
            uint64_t key[4] = {lock->process, place_of(all, lock->process, lock->region_site),
                               place_of(all, lock->process, lock->site), lock->address};
            uint64_t at = map__put(&places, key, sizeof key, locks->count);
            if (at == locks->count) {
                struct region_lock fresh = {.process = lock->process,
                                            .region_site = key[1],
                                            .site = key[2],
                                            .kind = lock->kind,
                                            .address = lock->address};
                vec__push(locks, &fresh);
            }
            struct region_lock *sum = VEC_AT(locks, struct region_lock, at);
            sum->count += lock->count;
            sum->waited += lock->waited;
            sum->held += lock->held;
            sum->wait_ns += trace__ns(all->trace, lock->wait_ns);
            sum->held_ns += trace__ns(all->trace, lock->held_ns);
        }
    vec__sort(locks, by_lock_wait);
    map__free(&places);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void place_tasks(struct gathered_regions *all, const struct thread_record *record)
{
    VEC_EACH (tally, &record->constructs, struct task_tally)
        tally->sums.site = place_of(all, record->process, tally->sums.site);
}

/* Adds what the thread lost in the region, if that has tasks. */
static void lose_for_tasks(struct gathered_regions *all, const struct thread_record *record,
                           uint64_t site, uint64_t ticks)
{
    if (region_at(all, record->process, site)->counts.tasks)
        VEC_AT(&all->use->threads, struct team_thread, record->thread)->task_lost_ns +=
            trace__ns(all->trace, ticks);
}

static void find_threads(struct gathered_regions *all)
{
    VEC_EACH (record, all->records, const struct thread_record) {
        *VEC_REACH(&all->use->threads, struct team_thread, record->thread) =
            (struct team_thread){.bodies = record->bodies.count};
        VEC_EACH (sum, &record->sums, const struct region_sum)
            lose_for_tasks(all, record, sum->site,
                           sum->times.task_ns + sum->times.barrier_ns + sum->counts.made_ns);
    }
    VEC_EACH (placed, &all->bodies, const struct placed_body)
        lose_for_tasks(all, placed->record,
                       VEC_AT(&placed->record->sums, struct region_sum, placed->body->row)->site,
                       placed->end);
}

/* ---- the whole run --------------------------------------------------------------------------- */

/* From the begin of a thread's first region to the end of its last one; none: last is 0. */
struct caller_span {
    uint64_t first, last;
};

static struct caller_span caller_span__of(const struct thread_record *record)
{
    struct caller_span span = {UINT64_MAX, 0};
    VEC_EACH (call, &record->calls, const struct region_call) {
        if (call->is_nested)
            continue;
        span.first = call->begin < span.first ? call->begin : span.first;
        span.last = call->end > span.last ? call->end : span.last;
    }
    return span;
}

/* Of a thread that calls regions: its time in none, and teams that were smaller than they might be.
 */
static void add_caller(struct gathered_regions *all, const struct thread_record *record)
{
    struct efficiency *efficiency = &all->use->efficiency;
    const struct trace_thread *thread = trace__thread_at(all->trace, record->thread);
    uint64_t life = less(thread->end_tick, thread->start_tick), inside = 0;
    uint64_t paused = record->paused;
    struct caller_span span = caller_span__of(record);
    VEC_EACH (call, &record->calls, const struct region_call) {
        if (call->is_nested)
            continue;
        inside += ticks_of(call);
        paused += call->paused;
    }
    if (!span.last)
        return;
    life = less(life, paused);
    uint64_t serial_ns = trace__ns(all->trace, less(life, inside));
    efficiency->capacity_ns += trace__ns(all->trace, life) * efficiency->threads;
    efficiency->life_ns += trace__ns(all->trace, life);
    efficiency->serial_ns += serial_ns;
    efficiency->between_ns += trace__ns(all->trace, less(span.last - span.first, inside));
    efficiency->serial_lost_ns += serial_ns * (efficiency->threads - 1);
}

static int by_first(const void *a, const void *b)
{
    const struct caller_span *left = a, *right = b;
    return ORDER(left->first, right->first);
}

/* How many of them there are at a time: all their lengths, over that of what any of them covers. */
static double callers_at_a_time(const struct vec *records)
{
    struct vec spans = VEC_OF(struct caller_span);
    VEC_EACH (record, records, const struct thread_record) {
        struct caller_span span = caller_span__of(record);
        if (span.last)
            vec__push(&spans, &span);
    }
    vec__sort(&spans, by_first);
    uint64_t sum = 0, covered = 0, behind = 0;
    VEC_EACH (span, &spans, const struct caller_span) {
        sum += less(span->last, span->first);
        covered += less(span->last, span->first > behind ? span->first : behind);
        behind = span->last > behind ? span->last : behind;
    }
    double callers = covered ? (double)sum / (double)covered : (double)(spans.count > 0);
    vec__free(&spans);
    return callers;
}

static void find_efficiency(struct gathered_regions *all)
{
    struct efficiency *efficiency = &all->use->efficiency;
    uint64_t regions_ns = 0, capacity_ns = 0;
    VEC_EACH (region, &all->use->regions, const struct parallel_region) {
        if (region->is_nested)
            continue;
        if (region->threads > efficiency->threads)
            efficiency->threads = region->threads;
        regions_ns += region->ns;
        capacity_ns += region->capacity_ns;
        ADD_ALL(&efficiency->times, &region->times);
    }
    efficiency->unused_ns = less(regions_ns * efficiency->threads, capacity_ns);
    VEC_EACH (record, all->records, const struct thread_record)
        add_caller(all, record);
    efficiency->callers = callers_at_a_time(all->records);
}

static int by_capacity(const void *a, const void *b)
{
    const struct parallel_region *left = a, *right = b;
    return ORDER(right->capacity_ns, left->capacity_ns) ?: ORDER(left->process, right->process)
               ?: ORDER(left->site, right->site);
}

static int by_loop_time(const void *a, const void *b)
{
    const struct shared_loop *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->process, right->process)
               ?: ORDER(left->site, right->site);
}

static uint32_t cpus_of(const struct trace *trace)
{
    const char *cpus = trace__meta(trace, "cpus");
    long count = cpus ? strtol(cpus, NULL, 10) : 0;
    return count > 0 ? (uint32_t)count : 1;
}

static uint64_t place_for_barrier(void *all, uint32_t process, uint64_t address)
{
    return place_of(all, process, address);
}

static struct openmp_use *put_together(struct gathered_regions *all, const struct run *run)
{
    struct openmp_use *use = all->use;
    add_calls(all);
    VEC_EACH (record, all->records, const struct thread_record) {
        add_sums(all, record);
        add_loops(all, record);
        place_tasks(all, record);
    }
    VEC_EACH (region, &use->regions, struct parallel_region)
        sum_members(region);
    openmp_barriers__find(all->trace, all->records, place_for_barrier, all, use);
    add_locks(all);
    openmp_tasks__find(all->trace, all->records, use);
    find_threads(all);
    VEC_EACH (region, &use->regions, struct parallel_region) {
        uint64_t saved_ns = region_tasks__saved_ns(use, region, false);
        region->saved_ns = saved_ns > region->saved_ns ? saved_ns : region->saved_ns;
    }
    find_efficiency(all);
    use->serial = serial_parts__of(run, all->records);
    use->between = serial_parts__between(run, all->records);
    vec__sort(&use->regions, by_capacity);
    vec__sort(&use->loops, by_loop_time);
    openmp_hints__find(run, all->records, use);
    return use;
}

struct openmp_use *openmp_use__of(const struct run *run, const struct vec *records)
{
    struct gathered_regions all = {.trace = run->trace,
                                   .symbols = run->symbols,
                                   .records = records,
                                   .bodies = VEC_OF(struct placed_body),
                                   .calls = VEC_OF(struct placed_call)};
    gather(&all);
    if (all.calls.count) {
        all.use = memory__zeroed(1, sizeof *all.use);
        *all.use = (struct openmp_use){.regions = VEC_OF(struct parallel_region),
                                       .loops = VEC_OF(struct shared_loop),
                                       .constructs = VEC_OF(struct task_construct),
                                       .threads = VEC_OF(struct team_thread),
                                       .barriers = VEC_OF(struct region_barrier),
                                       .locks = VEC_OF(struct region_lock),
                                       .hints = VEC_OF(struct openmp_hint),
                                       .cpus = cpus_of(run->trace),
                                       .wall_ns = trace__wall_ns(run->trace)};
        put_together(&all, run);
    }
    vec__free(&all.bodies);
    vec__free(&all.calls);
    map__free(&all.region_of);
    map__free(&all.loop_of);
    map__free(&all.place_of);
    return all.use;
}

/* ---- what is asked --------------------------------------------------------------------------- */

double parallel_region__gain(const struct openmp_use *use, const struct parallel_region *region)
{
    uint64_t rest = less(use->wall_ns, region->saved_ns);
    return rest ? (double)use->wall_ns / (double)rest : 1;
}

double efficiency__value(const struct efficiency *efficiency)
{
    uint64_t work_ns = efficiency->serial_ns + efficiency->times.work_ns;
    double value = efficiency->capacity_ns ? (double)work_ns / (double)efficiency->capacity_ns : 0;
    return value < 1 ? value : 1;
}

double efficiency__of_serial(const struct efficiency *efficiency)
{
    return efficiency->capacity_ns
               ? 1 - (double)efficiency->serial_lost_ns / (double)efficiency->capacity_ns
               : 1;
}

double efficiency__of_regions(const struct efficiency *efficiency)
{
    return efficiency__value(efficiency) + 1 - efficiency__of_serial(efficiency);
}

double efficiency__no_cpu(const struct efficiency *efficiency)
{
    return efficiency->capacity_ns
               ? (double)efficiency->times.no_cpu_ns / (double)efficiency->capacity_ns
               : 0;
}

double efficiency__balance(const struct openmp_use *use)
{
    uint64_t uneven_ns = 0;
    VEC_EACH (region, &use->regions, const struct parallel_region)
        uneven_ns += region->is_nested ? 0 : region->chain_ns - region->mean_ns;
    uint64_t life_ns = use->efficiency.life_ns;
    return life_ns ? 1 - (double)uneven_ns / (double)life_ns : 1;
}

uint64_t team_counts__entry_ns(const struct team_counts *counts)
{
    uint64_t at_once = less(counts->locks, counts->locks_waited);
    return counts->entered
               ? (uint64_t)((double)counts->entered_ns / (double)counts->entered * (double)at_once)
               : 0;
}
