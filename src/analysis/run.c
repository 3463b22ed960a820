#include "analysis/analysis.h"

#include "analysis/sync/sync_events.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define LANES_MOST 64u
#define GROUP_MOST 16u /* more walk another time */

/* An analysis in a run. */
struct run_row {
    const struct analysis *analysis;
    const void *options;
    bool is_over; /* it has its result, or will have none */
    bool has_failed;
    void *self, *result;
};

static unsigned cpus_now(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* What aggregated runs tell of a class, only one lane can read: texts are the lane's that meets it.
 */
static unsigned lanes_for(const struct trace *trace)
{
    size_t threads = trace__is_aggregated(trace) ? 1 : trace__threads(trace)->count;
    unsigned cpus = cpus_now(), lanes = cpus < LANES_MOST ? cpus : LANES_MOST;
    lanes = lanes < threads ? lanes : (unsigned)threads;
    return lanes ? lanes : 1;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

struct run run__of(const struct trace *trace, const struct symbols *symbols)
{
    return (struct run){.trace = trace,
                        .symbols = symbols,
                        .lanes = lanes_for(trace),
                        .rows = VEC_OF(struct run_row *)};
}

static struct run_row *find_row(const struct run *run, const struct analysis *analysis)
{
    VEC_EACH (row, &run->rows, struct run_row *)
        if ((*row)->analysis == analysis)
            return *row;
    return NULL;
}

void run__ask(struct run *run, const struct analysis *analysis, const void *options)
{
    struct run_row *row = find_row(run, analysis);
    for (size_t i = 0; !row && analysis->after && analysis->after[i]; i++)
        if (!find_row(run, analysis->after[i]) &&
            (!analysis->after[i]->is_needed || analysis->after[i]->is_needed(run->trace)))
            run__ask(run, analysis->after[i], NULL);
    if (!row) {
        row = memory__zeroed(1, sizeof *row);
        vec__push(&run->rows, &row);
        row->analysis = analysis;
    }
    row->options = options;
}

bool run__is_asked(const struct run *run, const struct analysis *analysis)
{
    return find_row(run, analysis);
}

void *run__result(const struct run *run, const struct analysis *analysis)
{
    const struct run_row *row = find_row(run, analysis);
    return row ? row->result : NULL;
}

const void *run__options(const struct run *run, const struct analysis *analysis)
{
    const struct run_row *row = find_row(run, analysis);
    return row ? row->options : NULL;
}

void *run__take(struct run *run, const struct analysis *analysis)
{
    struct run_row *row = find_row(run, analysis);
    void *result = row ? row->result : NULL;
    if (row)
        row->result = NULL;
    return result;
}

/* What stands on others goes before them. */
void run__free(struct run *run)
{
    for (size_t i = run->rows.count; i-- > 0;) {
        struct run_row *row = *VEC_AT(&run->rows, struct run_row *, i);
        if (row->result && row->analysis->free)
            row->analysis->free(row->result);
        free(row);
    }
    vec__free(&run->rows);
}

/* ---- the walk by threads --------------------------------------------------------------------- */

/* Those that share a walk. */
struct walk_group {
    struct run *run;
    struct run_row *rows[GROUP_MOST];
    size_t count;
};

/* What all lanes share; mutex: all but what is constant. */
struct walk_crew {
    const struct walk_group *group;
    uint32_t threads;
    pthread_mutex_t mutex;
    uint32_t next;   /* thread that nobody has begun */
    uint32_t joined; /* threads */
    bool joins;      /* somebody does */
    void **parts;    /* by thread, those of the group */
    bool *ended;     /* by thread: its parts are there */
};

struct lane {
    struct walk_crew *crew;
    unsigned number;
    pthread_t thread;
};

/* Joins what follows those that are joined; one does it for all. With the mutex, which is open
 * while it joins. */
static void join_ended(struct walk_crew *crew)
{
    const struct walk_group *group = crew->group;
    if (crew->joins)
        return;
    crew->joins = true;
    while (crew->joined < crew->threads && crew->ended[crew->joined]) {
        uint32_t thread = crew->joined;
        void **parts = &crew->parts[thread * group->count];
        pthread_mutex_unlock(&crew->mutex);
        for (size_t i = 0; i < group->count; i++)
            if (parts[i] && group->rows[i]->analysis->join)
                group->rows[i]->analysis->join(group->rows[i]->self, thread, parts[i]);
        pthread_mutex_lock(&crew->mutex);
        crew->joined++;
    }
    crew->joins = false;
}

/* True: there may be more. */
static inline bool take_some(struct trace_cursor *cursor,
                             void (*take)(void *part, struct event_words *words), void *part)
{
    if (take) {
        struct event_words words = trace_cursor__words(cursor);
        take(part, &words);
        trace_cursor__pass(cursor, &words);
    }
    return true;
}

static void tell_events(const struct walk_group *group, uint32_t thread, void *const *parts)
{
    const struct trace *trace = group->run->trace;
    struct trace_cursor cursor;
    struct event event;
    void *listeners[GROUP_MOST];
    void (*listen[GROUP_MOST])(void *part, const struct event *event);
    void (*take)(void *part, struct event_words *words) = NULL;
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        listeners[count] = parts[i];
        listen[count] = group->rows[i]->analysis->event;
        if (!parts[i] || !listen[count])
            continue;
        take = count++ ? NULL : group->rows[i]->analysis->events;
    }
    if (!count)
        return;
    trace_cursor__start(&cursor, trace, trace__thread_at(trace, thread));
    while (take_some(&cursor, take, listeners[0]) && trace_cursor__next(&cursor, &event)) {
        listen[0](listeners[0], &event); /* as most often, the only one */
        for (size_t i = 1; i < count; i++)
            listen[i](listeners[i], &event);
    }
}

static void walk_thread(const struct walk_group *group, unsigned lane, uint32_t thread,
                        void **parts)
{
    for (size_t i = 0; i < group->count; i++)
        parts[i] = group->rows[i]->analysis->thread(group->rows[i]->self, lane, thread);
    tell_events(group, thread, parts);
    for (size_t i = 0; i < group->count; i++)
        if (parts[i] && group->rows[i]->analysis->end)
            group->rows[i]->analysis->end(parts[i]);
}

static void *walk_in_lane(void *argument)
{
    const struct lane *lane = argument;
    struct walk_crew *crew = lane->crew;
    pthread_mutex_lock(&crew->mutex);
    while (crew->next < crew->threads) {
        uint32_t thread = crew->next++;
        pthread_mutex_unlock(&crew->mutex);
        walk_thread(crew->group, lane->number, thread, &crew->parts[thread * crew->group->count]);
        pthread_mutex_lock(&crew->mutex);
        crew->ended[thread] = true;
        join_ended(crew);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void walk_by_threads(const struct walk_group *group, unsigned lanes)
{
    struct walk_crew crew = {.group = group,
                             .threads = (uint32_t)trace__threads(group->run->trace)->count};
    struct lane lane[LANES_MOST];
    unsigned started = 1;
    pthread_mutex_init(&crew.mutex, NULL);
    crew.parts = memory__zeroed(crew.threads * group->count, sizeof *crew.parts);
    crew.ended = memory__zeroed(crew.threads, sizeof *crew.ended);
    for (unsigned i = 0; i < LANES_MOST; i++)
        lane[i] = (struct lane){.crew = &crew, .number = i};
    while (started < lanes &&
           pthread_create(&lane[started].thread, NULL, walk_in_lane, &lane[started]) == 0)
        started++;
    walk_in_lane(&lane[0]);
    while (started > 1)
        pthread_join(lane[--started].thread, NULL);
    pthread_mutex_destroy(&crew.mutex);
    free(crew.parts);
    free(crew.ended);
}

/* ---- one thread after the other -------------------------------------------------------------- */

static bool stands_on(const struct analysis *analysis, const struct analysis *other)
{
    for (size_t i = 0; analysis->after && analysis->after[i]; i++)
        if (analysis->after[i] == other || stands_on(analysis->after[i], other))
            return true;
    return false;
}

/* Whether both stand on one result: they fold into the classes of one table, which knows one
 * thread at a time. */
static bool share_result(const struct walk_group *group, const struct run_row *one,
                         const struct run_row *other)
{
    VEC_EACH (row, &group->run->rows, struct run_row *)
        if (stands_on(one->analysis, (*row)->analysis) &&
            stands_on(other->analysis, (*row)->analysis))
            return true;
    return false;
}

/* Analyses of a group one after the other, beside those with which they share no result. */
struct walk_apart {
    struct walk_group group;
    pthread_t thread;
    bool has_thread;
};

static void *walk_alone(void *argument)
{
    const struct walk_group *all = &((struct walk_apart *)argument)->group;
    for (size_t i = 0; i < all->count; i++) {
        struct walk_group one = {all->run, {all->rows[i]}, 1};
        walk_by_threads(&one, 1);
    }
    return NULL;
}

static void add_group(struct walk_group *group, const struct walk_group *more)
{
    for (size_t i = 0; i < more->count; i++)
        group->rows[group->count++] = more->rows[i];
}

static bool is_shared(const struct walk_group *group, const struct run_row *row)
{
    bool is = false;
    for (size_t i = 0; i < group->count; i++)
        is |= share_result(group, group->rows[i], row);
    return is;
}

/* Returns how many there are. */
static size_t part_group(const struct walk_group *group, struct walk_apart *apart)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct walk_apart with = {.group = {group->run, {group->rows[i]}, 1}};
        size_t kept = 0;
        for (size_t j = 0; j < count; j++)
            if (is_shared(&apart[j].group, group->rows[i]))
                add_group(&with.group, &apart[j].group);
            else
                apart[kept++] = apart[j];
        apart[kept] = with;
        count = kept + 1;
    }
    return count;
}

static void walk_in_order(const struct walk_group *group)
{
    struct walk_apart apart[GROUP_MOST];
    unsigned cpus = cpus_now();
    size_t count = part_group(group, apart);
    for (size_t i = 0; i < count; i++) {
        apart[i].has_thread = i + 1 < count && i + 1 < cpus &&
                              pthread_create(&apart[i].thread, NULL, walk_alone, &apart[i]) == 0;
        if (!apart[i].has_thread)
            walk_alone(&apart[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (apart[i].has_thread)
            pthread_join(apart[i].thread, NULL);
}

/* ---- the walk by time ------------------------------------------------------------------------ */

static void walk_by_time(const struct walk_group *group)
{
    struct sync_event event;
    bool wants[GROUP_MOST], any = group->count > 0;
    for (size_t i = 0; i < group->count; i++)
        wants[i] = true;
    while (any && sync_events__next(group->run->sync_events, &event)) {
        any = false;
        for (size_t i = 0; i < group->count; i++) {
            wants[i] = wants[i] && group->rows[i]->analysis->sync(group->rows[i]->self, &event);
            any |= wants[i];
        }
    }
}

static void start_by_time(struct run *run, enum walk walk, const struct analysis *alone)
{
    struct sync_scope scope = {.details = walk == WALK_TIME_DETAILS,
                               .messages = walk == WALK_TIME_MESSAGES};
    if (alone && alone->scope)
        alone->scope(run, &scope);
    run->sync_events = sync_events__start_for(run->trace, &scope);
    free((void *)scope.left_out);
}

/* ---- how far it is --------------------------------------------------------------------------- */

/* What walks of each kind cost, about; one that has nothing to find out is over at once. */
static uint64_t cost_of(const struct run_row *row)
{
    static const uint64_t costs[WALKS] = {[WALK_THREADS] = 2,
                                          [WALK_IN_ORDER] = 3,
                                          [WALK_TIME] = 4,
                                          [WALK_TIME_DETAILS] = 4,
                                          [WALK_TIME_MESSAGES] = 4};
    return costs[row->analysis->walk];
}

static void expect_walks(struct run *run)
{
    uint64_t all = 0;
    VEC_EACH (row, &run->rows, struct run_row *)
        all += (*row)->is_over ? 0 : cost_of(*row);
    __atomic_store_n(&run->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&run->all, all, __ATOMIC_RELAXED);
}

static void begin_walk(struct run *run, uint64_t cost)
{
    __atomic_store_n(&run->walked_before, trace__chunks_walked(run->trace), __ATOMIC_RELAXED);
    __atomic_store_n(&run->now, cost, __ATOMIC_RELAXED);
}

static void end_walk(struct run *run)
{
    uint64_t cost = __atomic_exchange_n(&run->now, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&run->done, cost, __ATOMIC_RELAXED);
}

static uint64_t chunks_of(const struct trace *trace)
{
    uint64_t chunks = 0;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        chunks += thread->chunks.count;
    return chunks;
}

double run__done(const struct run *run)
{
    uint64_t all = __atomic_load_n(&run->all, __ATOMIC_RELAXED);
    uint64_t chunks = chunks_of(run->trace);
    uint64_t walked =
        trace__chunks_walked(run->trace) - __atomic_load_n(&run->walked_before, __ATOMIC_RELAXED);
    double part = chunks && walked < chunks ? (double)walked / (double)chunks : 1;
    double done = (double)__atomic_load_n(&run->done, __ATOMIC_RELAXED) +
                  part * (double)__atomic_load_n(&run->now, __ATOMIC_RELAXED);
    return all && done < (double)all ? done / (double)all : 1;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Whether all that it stands on is over. */
static bool is_ready(const struct run *run, struct run_row *row)
{
    for (size_t i = 0; row->analysis->after && row->analysis->after[i]; i++) {
        const struct run_row *other = find_row(run, row->analysis->after[i]);
        if (other && !other->is_over)
            return false;
        row->has_failed |= other && other->has_failed;
    }
    return true;
}

/* Those that can be run now, of the first kind of walk of which there are any. */
static struct walk_group next_group(struct run *run)
{
    struct walk_group group = {.run = run};
    enum walk walk = WALKS;
    VEC_EACH (row, &run->rows, struct run_row *) {
        if ((*row)->is_over || !is_ready(run, *row) || (*row)->analysis->walk > walk)
            continue;
        group.count = (*row)->analysis->walk < walk ? 0 : group.count;
        walk = (*row)->analysis->walk;
        if (group.count < GROUP_MOST)
            group.rows[group.count++] = *row;
    }
    return group;
}

/* What an analysis said, of which the first failure is kept. */
static void took(struct run *run, struct run_row *row, int *first, struct error *error)
{
    row->has_failed |= run->code < 0;
    if (run->code < 0 && *first == 0) {
        *first = run->code;
        if (error)
            *error = run->error;
    }
    run->code = 0;
}

/* Those that have something to find out are left in the group. */
static void start_all(struct walk_group *group, int *code, struct error *error)
{
    size_t count = group->count;
    uint64_t cost = 0;
    for (size_t i = 0; i < count; i++)
        cost += cost_of(group->rows[i]);
    begin_walk(group->run, cost);
    group->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct run_row *row = group->rows[i];
        row->is_over = true;
        if (row->has_failed)
            continue;
        group->run->options = row->options;
        row->self = row->analysis->start(group->run);
        took(group->run, row, code, error);
        if (row->self)
            group->rows[group->count++] = row;
    }
}

static void run_group(struct walk_group *group, int *code, struct error *error)
{
    struct run *run = group->run;
    enum walk walk = group->rows[0]->analysis->walk;
    if (walk >= WALK_TIME)
        start_by_time(run, walk, group->count == 1 ? group->rows[0]->analysis : NULL);
    start_all(group, code, error);
    if (walk >= WALK_TIME)
        walk_by_time(group);
    else if (walk == WALK_IN_ORDER && group->count)
        walk_in_order(group);
    else if (walk == WALK_THREADS && group->count)
        walk_by_threads(group, run->lanes);
    for (size_t i = 0; i < group->count; i++) {
        struct run_row *row = group->rows[i];
        row->result = row->analysis->finish ? row->analysis->finish(row->self) : row->self;
        took(run, row, code, error);
    }
    sync_events__free(run->sync_events);
    run->sync_events = NULL;
    end_walk(run);
}

int run__analyse(struct run *run, struct error *error)
{
    struct walk_group group;
    int code = 0;
    expect_walks(run);
    while ((group = next_group(run)).count)
        run_group(&group, &code, error);
    return code;
}

int run__one(const struct trace *trace, const struct symbols *symbols,
             const struct analysis *analysis, const void *options, void **result,
             struct error *error)
{
    struct run run = run__of(trace, symbols);
    run__ask(&run, analysis, options);
    int code = run__analyse(&run, error);
    *result = run__take(&run, analysis);
    run__free(&run);
    return code;
}
