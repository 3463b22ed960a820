/* openmp_hints.c: what to try, each from figures that say so.
 *
 * Time that is saved is of the wall time: what a region's work takes now, as its busiest thread and
 * the CPUs have it, less what it takes then. What a lock, a barrier or the runtime costs is taken
 * for gone as a whole: that is a bound. */
#include "analysis/openmp/internal.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SAVED_LEAST 0.01  /* of the wall time */
#define UNEVEN_LEAST 0.05 /* of what a stretch takes, that its imbalance costs */
#define LOCKED_LEAST 0.05 /* of a region's capacity, at one lock */
#define SMALL_SECTION_NS 1000u
#define SHORT_REGION_NS 200000u
#define SHORT_REGIONS 50u /* calls, before anybody need join them */
#define SMALL_TASKS 0.5   /* of a construct's */
#define TASK_AIM 20       /* times what making one costs */
#define IDLE_LEAST 0.1    /* of the capacity: threads that had no task to run */
#define SHORT_CHUNK_NS 1000u
#define CHUNK_AIM_NS 20000u
#define CROWDED_LEAST 0.1 /* of the capacity: threads that wanted a CPU */
#define MOVES_LEAST 20    /* of a thread, a second */
#define QUIET_MOST 0.05   /* of the capacity: else others make threads move */

struct hint_search {
    const struct run *run;
    const struct vec *records;
    struct openmp_use *use;
};

static uint64_t less(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

/* A hint that gains nothing to speak of is none; saved_ns 0: it is not known what. */
static void add(struct hint_search *self, struct openmp_hint hint)
{
    uint64_t wall = self->use->wall_ns;
    if (hint.saved_ns && (double)hint.saved_ns < SAVED_LEAST * (double)wall)
        return;
    if (hint.saved_ns >= wall)
        return;
    hint.gain = hint.saved_ns ? (double)wall / (double)(wall - hint.saved_ns) : 0;
    vec__push(&self->use->hints, &hint);
}

static const struct parallel_region *region_at(const struct openmp_use *use, uint32_t process,
                                               uint64_t site)
{
    VEC_EACH (region, &use->regions, const struct parallel_region)
        if (region->process == process && region->site == site)
            return region;
    return NULL;
}

/* ---- loops and barriers ---------------------------------------------------------------------- */

static struct shared_loop *loop_at(const struct openmp_use *use,
                                   const struct region_barrier *barrier)
{
    VEC_EACH (loop, &use->loops, struct shared_loop)
        if (barrier->loop_site && loop->process == barrier->process &&
            loop->site == barrier->loop_site && loop->region_site == barrier->region_site)
            return loop;
    return NULL;
}

static void spread(struct loop_costs *costs, double from, double to, double ns)
{
    from = from < 0 ? 0 : from;
    to = to > COST_PARTS ? COST_PARTS : to;
    for (double at = from; at < to;) {
        double part = (double)(size_t)at, end = part + 1 < to ? part + 1 : to;
        costs->ns[(size_t)at] += ns * (end - at) / (to - from);
        at = end;
    }
}

struct chunk_range {
    int64_t first, last; /* first iterations of chunks */
    uint64_t last_count, iterations, work, count;
};

/* Places by which loops are told were put into chunks before. */
static bool is_of(const struct thread_record *record, const struct told_chunk *chunk,
                  const struct shared_loop *loop)
{
    return record->process == loop->process && chunk->loop == loop->site &&
           chunk->region == loop->region_site;
}

static struct chunk_range range_of(const struct hint_search *self, const struct shared_loop *loop)
{
    struct chunk_range range = {INT64_MAX, INT64_MIN, 0, 0, 0, 0};
    VEC_EACH (record, self->records, const struct thread_record)
        VEC_EACH (chunk, &record->chunks, const struct told_chunk) {
            if (!is_of(record, chunk, loop))
                continue;
            range.first = chunk->first < range.first ? chunk->first : range.first;
            if (chunk->first > range.last) {
                range.last = chunk->first;
                range.last_count = chunk->iterations;
            }
            range.iterations += chunk->iterations;
            range.work += chunk->work;
            range.count++;
        }
    return range;
}

/* From the chunks that were told; what those cost that were not is the same everywhere. False: too
 * little was told. times: how often the loop was run, by a team. */
static bool costs_of_chunks(const struct hint_search *self, const struct shared_loop *loop,
                            const struct region_barrier *barrier, struct loop_costs *costs)
{
    struct chunk_range range = range_of(self, loop);
    uint64_t times = barrier->times ? barrier->times : 1;
    costs->iterations = loop->iterations / times;
    if (!range.count || range.last <= range.first || !costs->iterations || range.iterations == 0)
        return false;
    double step =
        (double)(range.last - range.first) /
        (double)(costs->iterations > range.last_count ? costs->iterations - range.last_count : 1);
    VEC_EACH (record, self->records, const struct thread_record)
        VEC_EACH (chunk, &record->chunks, const struct told_chunk) {
            if (!is_of(record, chunk, loop))
                continue;
            double from = (double)(chunk->first - range.first) / step;
            double scale = COST_PARTS / (double)costs->iterations;
            uint64_t ns = trace__ns(self->run->trace, chunk->work);
            spread(costs, from * scale, (from + (double)chunk->iterations) * scale,
                   (double)ns / (double)times);
        }
    uint64_t told = trace__ns(self->run->trace, range.work);
    uint64_t untold = barrier->work_ns > told ? barrier->work_ns - told : 0;
    for (unsigned i = 0; i < COST_PARTS; i++) {
        costs->ns[i] += (double)untold / (double)times / COST_PARTS;
        costs->ns_in_all += costs->ns[i];
    }
    return true;
}

static struct openmp_hint of_barrier(const struct region_barrier *barrier,
                                     enum openmp_hint_kind kind)
{
    return (struct openmp_hint){.kind = kind,
                                .process = barrier->process,
                                .region_site = barrier->region_site,
                                .site = barrier->loop_site ? barrier->loop_site : barrier->site};
}

static double uneven_of(const struct region_barrier *barrier)
{
    return barrier->mean_ns ? (double)barrier->chain_ns / (double)barrier->mean_ns : 1;
}

/* Where chunks are told. */
static void find_costs(struct hint_search *self, const struct region_barrier *barrier)
{
    struct shared_loop *loop = loop_at(self->use, barrier);
    if (!loop || loop->costs)
        return;
    loop->costs = memory__zeroed(1, sizeof *loop->costs);
    if (costs_of_chunks(self, loop, barrier, loop->costs))
        return;
    free(loop->costs);
    loop->costs = NULL;
}

/* A loop of which chunks are known is run again by its chunks. */
static bool is_replayed(struct hint_search *self, const struct region_barrier *barrier,
                        const struct shared_loop *loop, struct openmp_hint *hint)
{
    if (!loop->costs)
        return false;
    uint64_t n = loop_costs__best_chunk(loop->costs, barrier->threads, self->use->cpus);
    double span = loop_costs__span_ns(loop->costs, n, barrier->threads, self->use->cpus);
    hint->kind = n ? HINT_DYNAMIC : HINT_GUIDED;
    hint->n = n;
    const struct parallel_region *region =
        region_at(self->use, barrier->process, barrier->region_site);
    uint64_t saved = less(barrier->span_ns, (uint64_t)(span * (double)barrier->times));
    hint->saved_ns = (uint64_t)((double)saved * (region ? region->stretched : 1));
    hint->is_bound = false;
    return true;
}

/* Too few for the team: the busiest thread has one more than others. */
static bool has_few_iterations(const struct shared_loop *loop, const struct region_barrier *barrier)
{
    uint64_t each = barrier->times ? loop->iterations / barrier->times : 0;
    return each > 0 && each < 4ull * barrier->threads && loop->schedule != HEURT_SCHEDULE_SECTIONS;
}

/* Nobody may share them otherwise: iterations in order, tasks that threads take as they can. */
static bool is_fixed(const struct hint_search *self, const struct region_barrier *barrier,
                     const struct shared_loop *loop)
{
    const struct parallel_region *region =
        region_at(self->use, barrier->process, barrier->region_site);
    return region && region->counts.tasks
               ? !loop
               : loop && loop->schedule & (HEURT_SCHEDULE_ORDERED | HEURT_SCHEDULE_DOACROSS);
}

static void look_at_balance(struct hint_search *self, const struct region_barrier *barrier)
{
    const struct shared_loop *loop = loop_at(self->use, barrier);
    struct openmp_hint hint = of_barrier(barrier, HINT_EVEN);
    hint.figure = uneven_of(barrier);
    hint.saved_ns = barrier->saved_ns;
    hint.is_bound = true;
    if ((double)barrier->saved_ns < UNEVEN_LEAST * (double)barrier->span_ns || !barrier->saved_ns ||
        is_fixed(self, barrier, loop))
        return;
    if (loop && has_few_iterations(loop, barrier)) {
        hint.kind = HINT_COLLAPSE;
        hint.figure = (double)loop->iterations / (double)barrier->times;
    } else if (loop && loop->schedule != HEURT_SCHEDULE_SECTIONS) {
        if (!is_replayed(self, barrier, loop, &hint))
            hint.kind = HINT_DYNAMIC;
    }
    add(self, hint);
}

static void look_at_nowait(struct hint_search *self, const struct region_barrier *barrier)
{
    struct openmp_hint hint = of_barrier(barrier, HINT_NOWAIT);
    hint.saved_ns = barrier->joined_ns;
    hint.is_bound = true;
    if (barrier->site && (double)barrier->joined_ns >= UNEVEN_LEAST * (double)barrier->span_ns)
        add(self, hint);
}

static void look_at_chunks(struct hint_search *self, const struct shared_loop *loop)
{
    bool asks = loop->schedule == HEURT_SCHEDULE_DYNAMIC || loop->schedule == HEURT_SCHEDULE_GUIDED;
    uint64_t each = loop->chunks ? loop->ns / loop->chunks : 0;
    uint64_t iterations = loop->chunks ? loop->iterations / loop->chunks : 0;
    if (!asks || !each || each >= SHORT_CHUNK_NS || loop->chunks < 1000)
        return;
    add(self, (struct openmp_hint){.kind = HINT_LARGER_CHUNKS,
                                   .process = loop->process,
                                   .region_site = loop->region_site,
                                   .site = loop->site,
                                   .figure = (double)each,
                                   .n = (iterations ? iterations : 1) * CHUNK_AIM_NS / each});
}

/* ---- regions --------------------------------------------------------------------------------- */

/* The least that its work takes on these CPUs, as it is divided. */
static uint64_t span_of(const struct openmp_use *use, const struct parallel_region *region)
{
    uint64_t sum = 0;
    VEC_EACH (barrier, &use->barriers, const struct region_barrier)
        if (barrier->process == region->process && barrier->region_site == region->site)
            sum += barrier->span_ns;
    return sum;
}

static struct openmp_hint of_region(const struct parallel_region *region,
                                    enum openmp_hint_kind kind)
{
    return (struct openmp_hint){
        .kind = kind, .process = region->process, .region_site = region->site, .is_bound = true};
}

static void look_at_length(struct hint_search *self, const struct parallel_region *region)
{
    struct openmp_hint hint = of_region(region, HINT_JOIN_REGIONS);
    uint64_t each = region->count ? region->ns / region->count : 0;
    uint64_t edges = region->times.fork_ns + region->times.join_ns;
    if (region->count < SHORT_REGIONS || each >= SHORT_REGION_NS || region->is_nested)
        return;
    hint.figure = (double)each;
    hint.saved_ns = edges / (region->threads ? region->threads : 1);
    if ((double)edges >= UNEVEN_LEAST * (double)region->capacity_ns)
        add(self, hint);
}

static const struct task_construct *small_tasks(const struct openmp_use *use)
{
    VEC_EACH (construct, &use->constructs, const struct task_construct)
        if (construct->count && (double)construct->small >= SMALL_TASKS * (double)construct->count)
            return construct;
    return NULL;
}

static void look_at_task_size(struct hint_search *self, const struct parallel_region *region,
                              const struct task_construct *tasks)
{
    struct openmp_hint hint = of_region(region, HINT_LARGER_TASKS);
    uint64_t each = tasks->ns / tasks->count;
    hint.site = tasks->site;
    hint.figure = (double)each;
    hint.n = each ? (TASK_AIM * self->use->task_cost_ns + each - 1) / each : 0;
    hint.saved_ns = region_tasks__saved_ns(self->use, region, true);
    if (hint.n > 1)
        add(self, hint);
}

/* One thread makes few tasks at a time and waits for them: who has done one finds no other. Or
 * tasks wait for those that they made: libgomp's threads do no others meanwhile. */
static void look_at_task_waits(struct hint_search *self, const struct parallel_region *region)
{
    bool is_nested = region->waiting > region->count;
    struct openmp_hint hint = of_region(region, is_nested ? HINT_NO_TASKWAIT : HINT_FEWER_WAITS);
    const struct task_construct *construct = self->use->constructs.items;
    uint64_t waits = region->counts.taskwaits, tasks = region->counts.tasks;
    uint64_t idle_ns = region->times.task_ns + (is_nested ? 0 : region->times.barrier_ns);
    if (waits < 2 * region->count || tasks >= 4 * waits * region->threads ||
        (double)idle_ns < IDLE_LEAST * (double)region->capacity_ns)
        return;
    hint.site = construct->site;
    hint.n = (tasks + waits / 2) / waits;
    hint.figure = (double)idle_ns / (double)region->capacity_ns;
    hint.saved_ns = region_tasks__saved_ns(self->use, region, false);
    if (hint.saved_ns)
        add(self, hint);
}

static void look_at_tasks(struct hint_search *self, const struct parallel_region *region)
{
    const struct task_construct *small = small_tasks(self->use);
    if (!region->counts.tasks || region->is_nested)
        return;
    if (small)
        look_at_task_size(self, region, small);
    else
        look_at_task_waits(self, region);
}

static bool is_crowded(const struct hint_search *self, const struct parallel_region *region)
{
    return region->threads > self->use->cpus &&
           (double)region->times.no_cpu_ns >= CROWDED_LEAST * (double)region->capacity_ns;
}

static void look_at_threads(struct hint_search *self, const struct parallel_region *region)
{
    const struct openmp_use *use = self->use;
    struct openmp_hint fewer = of_region(region, HINT_FEWER_THREADS);
    struct openmp_hint passive = of_region(region, HINT_PASSIVE);
    if (!is_crowded(self, region) || region->is_nested)
        return;
    fewer.n = use->cpus;
    fewer.figure = (double)region->times.no_cpu_ns / (double)region->capacity_ns;
    fewer.saved_ns = less(region->ns, span_of(use, region));
    add(self, fewer);
    passive.figure =
        (double)(region->times.barrier_ns + region->times.lock_ns) / (double)region->capacity_ns;
    if (passive.figure >= CROWDED_LEAST)
        add(self, passive);
}

/* Of the largest region alone: it is asked for the whole run. */
static void look_at_moves(struct hint_search *self, const struct parallel_region *region)
{
    uint64_t moves = 0;
    double seconds = (double)region->capacity_ns / 1e9;
    VEC_EACH (record, self->records, const struct thread_record)
        moves += record->moves;
    struct openmp_hint hint = of_region(region, HINT_BIND);
    hint.figure = seconds > 0 ? (double)moves / seconds : 0;
    if (hint.figure >= MOVES_LEAST && region->threads <= self->use->cpus && region->threads > 1 &&
        (double)region->times.no_cpu_ns < QUIET_MOST * (double)region->capacity_ns)
        add(self, hint);
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Entering it costs its part of all entries that were free. */
static uint64_t cost_of(const struct region_lock *lock, const struct parallel_region *region)
{
    double part = region->counts.locks ? (double)lock->count / (double)region->counts.locks : 0;
    return lock->wait_ns + (uint64_t)(part * (double)team_counts__entry_ns(&region->counts));
}

static enum openmp_hint_kind kind_for(const struct region_lock *lock, uint64_t held_ns)
{
    if (lock->kind == HEURT_LOCK_ORDERED)
        return HINT_SHORTER_SECTION;
    if (lock->kind != HEURT_LOCK_CRITICAL)
        return HINT_SEVERAL_LOCKS;
    return held_ns < SMALL_SECTION_NS ? HINT_REDUCTION : HINT_SHORTER_SECTION;
}

static void look_at_lock(struct hint_search *self, const struct region_lock *lock)
{
    const struct parallel_region *region = region_at(self->use, lock->process, lock->region_site);
    if (!region || !lock->address)
        return;
    uint64_t cost = cost_of(lock, region), held = lock->held ? lock->held_ns / lock->held : 0;
    struct openmp_hint hint = of_region(region, kind_for(lock, held));
    uint64_t span = span_of(self->use, region), threads = region->threads ? region->threads : 1;
    hint.site = lock->site;
    hint.lock = lock->address;
    hint.figure = (double)held;
    hint.saved_ns = less(region->ns, span);
    hint.saved_ns = cost / threads < hint.saved_ns ? cost / threads : hint.saved_ns;
    if ((double)cost >= LOCKED_LEAST * (double)region->capacity_ns && hint.saved_ns)
        add(self, hint);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_gain(const void *a, const void *b)
{
    const struct openmp_hint *left = a, *right = b;
    return ORDER(right->saved_ns, left->saved_ns) ?: ORDER(left->kind, right->kind)
               ?: ORDER(left->region_site, right->region_site) ?: ORDER(left->site, right->site);
}

void openmp_hints__find(const struct run *run, const struct vec *records, struct openmp_use *use)
{
    struct hint_search self = {run, records, use};
    VEC_EACH (barrier, &use->barriers, const struct region_barrier) {
        find_costs(&self, barrier);
        look_at_balance(&self, barrier);
        look_at_nowait(&self, barrier);
    }
    VEC_EACH (loop, &use->loops, const struct shared_loop)
        look_at_chunks(&self, loop);
    VEC_EACH (region, &use->regions, const struct parallel_region) {
        look_at_length(&self, region);
        look_at_tasks(&self, region);
        look_at_threads(&self, region);
    }
    if (use->regions.count)
        look_at_moves(&self, VEC_AT(&use->regions, struct parallel_region, 0));
    VEC_EACH (lock, &use->locks, const struct region_lock)
        look_at_lock(&self, lock);
    vec__sort(&use->hints, by_gain);
}

const struct openmp_hint *openmp_use__chunk_hint(const struct openmp_use *use)
{
    VEC_EACH (hint, &use->hints, const struct openmp_hint)
        if (hint->kind == HINT_LARGER_CHUNKS)
            return hint;
    return NULL;
}
