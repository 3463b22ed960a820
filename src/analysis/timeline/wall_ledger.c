#include "analysis/timeline/wall_ledger.h"

#include "analysis/events/spans.h"
#include "analysis/events/time_off_cpu.h"
#include "analysis/memory/remote.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define ROW_STATES WALL_STATES
#define PIECES_PENDING 65536u /* of a thread: an older one is in no wait that is still open */

/* Who has an instant: the first of these of whom one is there. */
enum wall_claim { CLAIM_WORK, CLAIM_OTHER, CLAIM_IDLE, CLAIMS };

/* What threads did in a piece of the run. */
struct wall_entry {
    uint32_t bucket;
    uint32_t claim;
    uint64_t row; /* class + 1 and state; or, on a CPU, the thread, behind all these */
    uint64_t ns;
};

/* Of a thread's time on a CPU that part is the class's own. */
struct own_part {
    uint32_t thread, class; /* or WALL_NO_CLASS: what is shared in code of none */
    double part;
    double shared[SHARED_KINDS]; /* of all of it, in part */
};

struct wall_walk {
    const struct trace *trace;
    const struct profile *profile;
    const struct findings *findings;
    struct class_table *table;
    struct vec places; /* uint32_t, by the class's number: in profile->classes */
    uint64_t bucket_ns;
    size_t row_count;       /* without those of threads */
    uint64_t *lives_ns;     /* by row, then by thread */
    struct vec entries;     /* struct wall_entry */
    struct vec own;         /* struct own_part, by thread */
    uint64_t *in_bucket;    /* by row, of one thread in one piece; zeroes but for those touched */
    struct vec touched;     /* uint64_t */
    double *own_ns;         /* by place, of one thread; zeroes but for those of functions */
    struct vec own_touched; /* uint32_t */
    struct vec shared;      /* struct shared_sample, by thread, then by time */
    bool *claimed;          /* which of these some occurrence has */
    double (*shared_ns)[SHARED_KINDS]; /* by place, as own_ns */
};

/* What a thread did from then to then that is not working. */
struct wall_piece {
    uint64_t begin_ns, end_ns;
    uint64_t row;
};

/* One thread's. */
struct wall_part {
    struct thread_watcher watcher; /* first: the watch gives this */
    struct wall_walk *walk;
    struct thread_fold *watch;
    uint32_t thread;
    bool is_over;
    bool knows_cpu;
    uint64_t begin_ns, end_ns; /* the life */
    uint64_t told_ns;          /* until then all is in the walk's sums */
    uint64_t bucket;           /* that in_bucket is of */
    struct vec pieces;         /* struct wall_piece: behind that, by time, not overlapping */
    uint64_t unfinished_row;   /* of the outermost wait that was open at the end */
    uint64_t unfinished_from;  /* ns; UINT64_MAX: it was in none */
};

static uint64_t row_of_state(unsigned state, uint32_t class)
{
    return (class == WALL_NO_CLASS ? 0 : class + 1ull) * ROW_STATES + state;
}

static unsigned state_in(uint64_t row)
{
    return row % ROW_STATES;
}

/* ---- into the sums --------------------------------------------------------------------------- */

static void end_bucket(struct wall_part *part)
{
    struct wall_walk *walk = part->walk;
    bool has_work = walk->findings->had_work[part->thread];
    VEC_EACH (row, &walk->touched, uint64_t) {
        bool is_idle = *row < walk->row_count && state_in(*row) == STATE_IDLE;
        const struct wall_entry entry = {.bucket = (uint32_t)part->bucket,
                                         .claim = is_idle    ? CLAIM_IDLE
                                                  : has_work ? CLAIM_WORK
                                                             : CLAIM_OTHER,
                                         .row = *row,
                                         .ns = walk->in_bucket[*row]};
        vec__push(&walk->entries, &entry);
        walk->in_bucket[*row] = 0;
    }
    walk->touched.count = 0;
}

/* What ends behind the run's end is in its last piece. */
static uint64_t bucket_at(const struct wall_walk *walk, uint64_t ns)
{
    uint64_t last_ns = walk->profile->wall_ns ? walk->profile->wall_ns - 1 : 0;
    return (ns < last_ns ? ns : last_ns) / walk->bucket_ns;
}

static void put_in_bucket(struct wall_part *part, uint64_t row, uint64_t bucket, uint64_t ns)
{
    struct wall_walk *walk = part->walk;
    if (bucket != part->bucket) {
        end_bucket(part);
        part->bucket = bucket;
    }
    if (!walk->in_bucket[row])
        vec__push(&walk->touched, &row);
    walk->in_bucket[row] += ns;
}

static void put(struct wall_part *part, uint64_t row, uint64_t until_ns)
{
    uint64_t until = until_ns < part->end_ns ? until_ns : part->end_ns;
    while (part->told_ns < until) {
        uint64_t bucket = bucket_at(part->walk, part->told_ns);
        uint64_t bucket_end = (bucket + 1) * part->walk->bucket_ns;
        uint64_t end =
            bucket == bucket_at(part->walk, until) || until < bucket_end ? until : bucket_end;
        part->walk->lives_ns[row] += end - part->told_ns;
        put_in_bucket(part, row, bucket, end - part->told_ns);
        part->told_ns = end;
    }
}

static void put_pieces(struct wall_part *part, size_t count)
{
    uint64_t working = part->walk->row_count + part->thread;
    for (size_t i = 0; i < count; i++) {
        const struct wall_piece *piece = VEC_AT(&part->pieces, struct wall_piece, i);
        put(part, working, piece->begin_ns);
        put(part, piece->row, piece->end_ns);
    }
    part->pieces.count -= count;
    if (part->pieces.count == 0)
        return;
    memmove(part->pieces.items, VEC_AT(&part->pieces, struct wall_piece, count),
            part->pieces.count * sizeof(struct wall_piece));
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void add(struct wall_part *part, uint64_t row, uint64_t begin_ns, uint64_t end_ns)
{
    size_t count = part->pieces.count;
    uint64_t after_ns =
        count ? VEC_AT(&part->pieces, struct wall_piece, count - 1)->end_ns : part->told_ns;
    begin_ns = begin_ns > after_ns ? begin_ns : after_ns;
    if (begin_ns >= end_ns)
        return;
    vec__push(&part->pieces, &(struct wall_piece){begin_ns, end_ns, row});
    if (part->pieces.count > PIECES_PENDING)
        put_pieces(part, PIECES_PENDING / 2);
}

/* What is so within a wait, too. */
static bool stays_in_wait(uint64_t row)
{
    return state_in(row) == COMPONENT_RUNNABLE || state_in(row) == COMPONENT_PAGE_FAULT ||
           state_in(row) == COMPONENT_OVERHEAD;
}

/* A wait takes over what was told in it, as in thread_states__add_wait. */
static void add_wait(struct wall_part *part, uint64_t row, uint64_t begin_ns, uint64_t end_ns,
                     bool is_whole)
{
    struct vec inside = VEC_OF(struct wall_piece);
    size_t first = VEC_FIRST(piece, &part->pieces, struct wall_piece, piece->begin_ns >= begin_ns);
    for (size_t i = first; i < part->pieces.count; i++)
        vec__push(&inside, VEC_AT(&part->pieces, struct wall_piece, i));
    part->pieces.count = first;
    uint64_t at = begin_ns;
    VEC_EACH (piece, &inside, struct wall_piece) {
        if (is_whole || !stays_in_wait(piece->row))
            continue;
        add(part, row, at, piece->begin_ns);
        add(part, piece->row, piece->begin_ns, piece->end_ns);
        at = piece->end_ns;
    }
    add(part, row, at, end_ns);
    vec__free(&inside);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static uint64_t since_start(const struct wall_part *part, uint64_t tick)
{
    return trace__since_start_ns(part->walk->trace, tick);
}

static uint32_t place_of(const struct wall_walk *walk, const struct class_entry *entry)
{
    uint32_t number = class_entry__number(entry);
    return number < walk->places.count ? *VEC_AT(&walk->places, uint32_t, number) : WALL_NO_CLASS;
}

static uint64_t row_of_wait(const struct wall_walk *walk, const struct class_entry *entry)
{
    uint32_t place = place_of(walk, entry);
    unsigned state = place != WALL_NO_CLASS ? (unsigned)walk->findings->waits_as[place]
                     : entry->idle          ? STATE_IDLE
                                            : (unsigned)entry->fold.component;
    return state == STATE_IDLE ? row_of_state(STATE_IDLE, WALL_NO_CLASS)
                               : row_of_state(state, place);
}

static void tell_wait(struct wall_part *part, const struct class_entry *entry,
                      const struct fold_occurrence *occurrence)
{
    uint64_t row = row_of_wait(part->walk, entry);
    uint64_t begin_ns = since_start(part, part->watcher.entered);
    add_wait(part, row, begin_ns, since_start(part, occurrence->end),
             entry->what.at.kind == CLASS_YIELD);
    if (part->is_over) {
        part->unfinished_row = row;
        part->unfinished_from = begin_ns;
    }
}

/* Of such calls hardly a sample meets one that is recorded. */
static bool is_drawn(const struct profile *profile, uint32_t place)
{
    const struct profile_class *class = VEC_AT(&profile->classes, struct profile_class, place);
    return class->what.at.kind == CLASS_CALL && class->recorded < class->count;
}

/* What is shared in an occurrence is that of the innermost one, which ends first. */
static void claim(struct wall_part *part, uint64_t from, uint64_t to,
                  double shared_ns[SHARED_KINDS])
{
    struct wall_walk *walk = part->walk;
    size_t first =
        VEC_FIRST(at, &walk->shared, struct shared_sample,
                  at->thread > part->thread || (at->thread == part->thread && at->tick >= from));
    for (size_t i = first; i < walk->shared.count; i++) {
        const struct shared_sample *at = VEC_AT(&walk->shared, struct shared_sample, i);
        if (at->thread != part->thread || at->tick >= to)
            break;
        shared_ns[shared_sample__kind(at)] += walk->claimed[i] ? 0 : at->lost_ns;
        walk->claimed[i] = true;
    }
}

static void tell_code(struct wall_part *part, struct class_entry *entry,
                      const struct fold_occurrence *occurrence)
{
    struct wall_walk *walk = part->walk;
    uint32_t place = place_of(walk, watcher__class(&part->watcher, walk->table, entry));
    if (place == WALL_NO_CLASS || !class_kind__is_code(entry->what.at.kind))
        return;
    double ns = (double)trace__ns(walk->trace, occurrence->own) * occurrence->weight;
    if (walk->own_ns[place] == 0 && ns > 0)
        vec__push(&walk->own_touched, &place);
    walk->own_ns[place] += ns;
    if (ns > 0 && !is_drawn(walk->profile, place))
        claim(part, occurrence->start, occurrence->end, walk->shared_ns[place]);
}

static void occurrence(struct thread_watcher *watcher, struct class_entry *entry,
                       const struct fold_occurrence *occurrence, const uint64_t *arguments,
                       size_t argument_count)
{
    struct wall_part *part = (struct wall_part *)watcher;
    (void)arguments, (void)argument_count;
    if (entry->fold.component != COMPONENT_RUNNING)
        tell_wait(part, entry, occurrence);
    else
        tell_code(part, entry, occurrence);
}

static struct vec places_of(const struct profile *profile)
{
    struct vec places = VEC_OF(uint32_t);
    for (uint32_t i = 0; i < profile->classes.count; i++) {
        uint32_t number = VEC_AT(&profile->classes, struct profile_class, i)->number;
        while (places.count <= number)
            vec__push(&places, &(uint32_t){WALL_NO_CLASS});
        *VEC_AT(&places, uint32_t, number) = i;
    }
    return places;
}

static uint64_t bucket_ns_for(const struct profile *profile, size_t threads)
{
    size_t buckets = threads ? WALL_ENTRIES / threads : WALL_BUCKETS_MOST;
    buckets = buckets < WALL_BUCKETS_LEAST  ? WALL_BUCKETS_LEAST
              : buckets > WALL_BUCKETS_MOST ? WALL_BUCKETS_MOST
                                            : buckets;
    return profile->wall_ns / buckets + 1;
}

static void *start(struct run *run)
{
    const struct findings *findings = run__result(run, &findings_analysis);
    const struct profile *profile = run__result(run, &profile_analysis);
    size_t threads = trace__threads(run->trace)->count;
    if (!profile || !findings || trace__is_aggregated(run->trace))
        return NULL;
    struct wall_walk *walk = memory__zeroed(1, sizeof *walk);
    size_t rows = (profile->classes.count + 1) * ROW_STATES;
    *walk = (struct wall_walk){
        .trace = run->trace,
        .profile = profile,
        .findings = findings,
        .table = profile__table(profile),
        .places = places_of(profile),
        .bucket_ns = bucket_ns_for(profile, threads),
        .row_count = rows,
        .lives_ns = memory__zeroed(rows + threads, sizeof(uint64_t)),
        .entries = VEC_OF(struct wall_entry),
        .own = VEC_OF(struct own_part),
        .in_bucket = memory__zeroed(rows + threads, sizeof(uint64_t)),
        .touched = VEC_OF(uint64_t),
        .own_ns = memory__zeroed(profile->classes.count, sizeof(double)),
        .own_touched = VEC_OF(uint32_t),
        .shared_ns = memory__zeroed(profile->classes.count + 1, sizeof *walk->shared_ns),
        .shared = remotes__all_samples(run__result(run, &remote_analysis),
                                       run__result(run, &sharings_analysis), run->trace)};
    walk->claimed = memory__zeroed(walk->shared.count + 1, sizeof(bool));
    return walk;
}

static const struct profile_thread *thread_row(const struct wall_part *part)
{
    return VEC_AT(&part->walk->profile->threads, struct profile_thread, part->thread);
}

static void *thread(void *self, unsigned lane, uint32_t thread)
{
    struct wall_walk *walk = self;
    struct wall_part *part = memory__zeroed(1, sizeof *part);
    (void)lane;
    *part = (struct wall_part){.walk = walk,
                               .thread = thread,
                               .pieces = VEC_OF(struct wall_piece),
                               .unfinished_from = UINT64_MAX};
    part->begin_ns = part->told_ns =
        since_start(part, trace__thread_at(walk->trace, thread)->start_tick);
    part->end_ns = part->begin_ns + thread_row(part)->lifetime_ns;
    part->watcher = (struct thread_watcher){.occurrence = occurrence,
                                            .unfinished = true,
                                            .signatures = class_table__has_parts(walk->table)};
    part->watch = thread_watch__start(walk->table, thread, &part->watcher);
    return part;
}

static void event(void *self, const struct event *event)
{
    struct wall_part *part = self;
    struct off_cpu off = off_cpu__of(event);
    if (off.type != OFF_CPU_NOTHING) {
        uint64_t runnable_ns = since_start(part, off.runnable);
        add(part, row_of_state(off.why, WALL_NO_CLASS), since_start(part, off.begin), runnable_ns);
        if (off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED)
            add(part, row_of_state(COMPONENT_RUNNABLE, WALL_NO_CLASS), runnable_ns,
                since_start(part, off.end));
    }
    thread_watch__event(part->watch, event);
}

/* A thread that was in a wait when the trace ended waited on, as in the profile. */
static void wait_on(struct wall_part *part)
{
    const struct profile_thread *row = thread_row(part);
    bool is_idle = row->idle_end_ns && row->idle_end == state_in(part->unfinished_row);
    if (part->unfinished_from != UINT64_MAX)
        add_wait(part, is_idle ? row_of_state(STATE_IDLE, WALL_NO_CLASS) : part->unfinished_row,
                 part->unfinished_from, part->end_ns, false);
}

static double sum_of_kinds(const double shared[SHARED_KINDS])
{
    double sum = 0;
    for (unsigned kind = 0; kind < SHARED_KINDS; kind++)
        sum += shared[kind];
    return sum;
}

/* Of a part of the thread's time: no more than that. Takes shared_ns, which is zeroes then. */
static struct own_part own_part_of(uint32_t thread, uint32_t class, double part, double all_ns,
                                   double shared_ns[SHARED_KINDS])
{
    struct own_part own = {thread, class, part, {0}};
    double shared = all_ns > 0 ? sum_of_kinds(shared_ns) / all_ns : 0;
    double most = shared > part ? part / shared : 1;
    for (unsigned i = 0; i < SHARED_KINDS; i++) {
        own.shared[i] = all_ns > 0 ? shared_ns[i] / all_ns * most : 0;
        shared_ns[i] = 0;
    }
    return own;
}

/* What is left beside code of which no call was recorded was in calls that are drawn: as long as
 * they ran. own: of the thread, from first on. */
static void give_to_drawn(struct wall_walk *walk, size_t first, const double shared[SHARED_KINDS])
{
    double drawn = 0;
    for (size_t i = first; i < walk->own.count; i++) {
        const struct own_part *own = VEC_AT(&walk->own, struct own_part, i);
        drawn += is_drawn(walk->profile, own->class) ? own->part : 0;
    }
    double sum = sum_of_kinds(shared), most = sum > drawn ? drawn / sum : 1;
    for (size_t i = first; drawn > 0 && i < walk->own.count; i++) {
        struct own_part *own = VEC_AT(&walk->own, struct own_part, i);
        for (unsigned k = 0; k < SHARED_KINDS && is_drawn(walk->profile, own->class); k++)
            own->shared[k] += shared[k] * most * own->part / drawn;
    }
}

/* What no occurrence has: first in code of which no call was recorded. */
static void keep_unclaimed(struct wall_part *part, size_t first, double all_ns, double left)
{
    struct wall_walk *walk = part->walk;
    double shared_ns[SHARED_KINDS] = {0}, rest[SHARED_KINDS];
    claim(part, 0, UINT64_MAX, shared_ns);
    if (!(sum_of_kinds(shared_ns) > 0) || !(all_ns > 0))
        return;
    for (unsigned i = 0; i < SHARED_KINDS; i++)
        rest[i] = shared_ns[i] / all_ns;
    struct own_part own =
        own_part_of(part->thread, WALL_NO_CLASS, left > 0 ? left : 0, all_ns, shared_ns);
    for (unsigned i = 0; i < SHARED_KINDS; i++)
        rest[i] -= own.shared[i];
    give_to_drawn(walk, first, rest);
    vec__push(&walk->own, &own);
}

/* What of the thread's time on a CPU each class has: more than that time is none. */
static void keep_own(struct wall_part *part)
{
    struct wall_walk *walk = part->walk;
    double all_ns = (double)walk->lives_ns[walk->row_count + part->thread], sum_ns = 0;
    size_t first = walk->own.count;
    VEC_EACH (place, &walk->own_touched, uint32_t)
        sum_ns += walk->own_ns[*place];
    all_ns = sum_ns > all_ns ? sum_ns : all_ns;
    VEC_EACH (place, &walk->own_touched, uint32_t) {
        struct own_part own = own_part_of(part->thread, *place, walk->own_ns[*place] / all_ns,
                                          all_ns, walk->shared_ns[*place]);
        vec__push(&walk->own, &own);
        walk->own_ns[*place] = 0;
    }
    walk->own_touched.count = 0;
    keep_unclaimed(part, first, all_ns, all_ns > 0 ? 1 - sum_ns / all_ns : 0);
}

static void end(void *self)
{
    struct wall_part *part = self;
    part->is_over = true;
    thread_watch__end(part->watch);
    wait_on(part);
    put_pieces(part, part->pieces.count);
    put(part, part->walk->row_count + part->thread, part->end_ns);
    end_bucket(part);
    keep_own(part);
}

static void join(void *self, uint32_t thread, void *one)
{
    struct wall_part *part = one;
    (void)self, (void)thread;
    vec__free(&part->pieces);
    free(part);
}

/* ---- the wall -------------------------------------------------------------------------------- */

static int by_bucket(const void *left, const void *right)
{
    const struct wall_entry *one = left, *other = right;
    int order = ORDER(one->bucket, other->bucket);
    order = order ? order : ORDER(one->claim, other->claim);
    return order ? order : ORDER(one->row, other->row);
}

/* Gives the entries as much as they claim, at most what is left, by their times. */
static double share_out(const struct wall_entry *entries, size_t count, double left_ns,
                        double *wall_ns)
{
    double claimed_ns = 0;
    for (size_t i = 0; i < count; i++)
        claimed_ns += (double)entries[i].ns;
    double given_ns = claimed_ns < left_ns ? claimed_ns : left_ns;
    for (size_t i = 0; i < count; i++)
        wall_ns[entries[i].row] += given_ns * ((double)entries[i].ns / claimed_ns);
    return left_ns - given_ns;
}

static uint64_t bucket_length(const struct wall_walk *walk, uint64_t bucket)
{
    uint64_t left_ns = walk->profile->wall_ns - bucket * walk->bucket_ns;
    return left_ns < walk->bucket_ns ? left_ns : walk->bucket_ns;
}

/* By row, then by thread. free() it. */
static double *share_wall(struct wall_walk *walk, size_t rows)
{
    double *wall_ns = memory__zeroed(rows, sizeof *wall_ns);
    const struct wall_entry *entries = walk->entries.items;
    size_t at = 0, count = walk->entries.count;
    vec__sort(&walk->entries, by_bucket);
    entries = walk->entries.items;
    const uint64_t buckets = walk->profile->wall_ns ? bucket_at(walk, UINT64_MAX) + 1 : 0;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        double left_ns = (double)bucket_length(walk, bucket);
        while (at < count && entries[at].bucket == bucket) {
            size_t end = at;
            while (end < count && entries[end].bucket == bucket &&
                   entries[end].claim == entries[at].claim)
                end++;
            left_ns = share_out(&entries[at], end - at, left_ns, wall_ns);
            at = end;
        }
        wall_ns[row_of_state(WALL_NOBODY, WALL_NO_CLASS)] += left_ns;
    }
    return wall_ns;
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Moves what a thread's classes have of its time on a CPU there, and the rest to no class. */
static void divide_working(const struct wall_walk *walk, double *ns)
{
    size_t threads = trace__threads(walk->trace)->count;
    uint64_t rest = row_of_state(COMPONENT_RUNNING, WALL_NO_CLASS);
    double *left = &ns[walk->row_count];
    for (size_t thread = 0; thread < threads; thread++)
        ns[rest] += left[thread];
    VEC_EACH (own, &walk->own, struct own_part) {
        double own_ns = left[own->thread] * own->part;
        double calm_ns = own_ns - left[own->thread] * sum_of_kinds(own->shared);
        ns[row_of_state(COMPONENT_RUNNING, own->class)] += calm_ns;
        for (unsigned kind = 0; kind < SHARED_KINDS; kind++)
            ns[row_of_state(WALL_FALSE_SHARING + kind, own->class)] +=
                left[own->thread] * own->shared[kind];
        ns[rest] -= own_ns;
    }
    memset(left, 0, threads * sizeof *left);
}

/* In whole ns that add up to all_ns: each is what has been reached so far less what was before, so
 * that none is wrong by more than one. */
static uint64_t *in_whole_ns(const double *ns, size_t count, uint64_t all_ns)
{
    uint64_t *whole = memory__zeroed(count, sizeof *whole), before = 0;
    double sum = 0, reached = 0;
    size_t last = 0;
    for (size_t i = 0; i < count; i++)
        sum += ns[i] > 0 ? ns[i] : 0;
    for (size_t i = 0; i < count; i++) {
        if (!(ns[i] > 0))
            continue;
        reached += ns[i];
        uint64_t until = (uint64_t)(reached / sum * (double)all_ns);
        until = until < before ? before : until > all_ns ? all_ns : until;
        whole[i] = until - before;
        before = until;
        last = i;
    }
    whole[last] += all_ns - before;
    return whole;
}

static int by_wall(const void *left, const void *right)
{
    const struct wall_row *one = left, *other = right;
    int order = ORDER(other->wall_ns, one->wall_ns);
    return order ? order : ORDER(other->lives_ns, one->lives_ns);
}

static uint64_t sum_of_lives(const struct profile *profile)
{
    uint64_t sum = 0;
    VEC_EACH (thread, &profile->threads, struct profile_thread)
        sum += thread->lifetime_ns;
    return sum;
}

static void fill_rows(struct wall_walk *walk, struct wall_ledger *ledger)
{
    size_t all = walk->row_count + trace__threads(walk->trace)->count;
    double *wall = share_wall(walk, all), *lives = memory__zeroed(all, sizeof *lives);
    for (size_t i = 0; i < all; i++)
        lives[i] = (double)walk->lives_ns[i];
    divide_working(walk, wall);
    divide_working(walk, lives);
    uint64_t *wall_ns = in_whole_ns(wall, walk->row_count, ledger->wall_ns);
    uint64_t *lives_ns = in_whole_ns(lives, walk->row_count, ledger->lives_ns);
    for (size_t i = 0; i < walk->row_count; i++)
        if (wall_ns[i] || lives_ns[i])
            vec__push(
                &ledger->rows,
                &(struct wall_row){state_in(i),
                                   i < ROW_STATES ? WALL_NO_CLASS : (uint32_t)(i / ROW_STATES - 1),
                                   wall_ns[i], lives_ns[i]});
    vec__sort(&ledger->rows, by_wall);
    free(wall);
    free(lives);
    free(wall_ns);
    free(lives_ns);
}

static void *finish_walk(void *self)
{
    struct wall_walk *walk = self;
    struct wall_ledger *ledger = memory__zeroed(1, sizeof *ledger);
    *ledger = (struct wall_ledger){VEC_OF(struct wall_row), walk->profile->wall_ns,
                                   sum_of_lives(walk->profile)};
    fill_rows(walk, ledger);
    vec__free(&walk->places);
    vec__free(&walk->entries);
    vec__free(&walk->own);
    vec__free(&walk->touched);
    vec__free(&walk->own_touched);
    vec__free(&walk->shared);
    free(walk->claimed);
    free(walk->shared_ns);
    free(walk->lives_ns);
    free(walk->in_bucket);
    free(walk->own_ns);
    free(walk);
    return ledger;
}

static void free_ledger(void *result)
{
    struct wall_ledger *ledger = result;
    vec__free(&ledger->rows);
    free(ledger);
}

const struct analysis wall_ledger_analysis = {
    .name = "wall_ledger",
    .after = (const struct analysis *const[]){&findings_analysis, &sharings_analysis,
                                              &remote_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = thread,
    .event = event,
    .end = end,
    .join = join,
    .finish = finish_walk,
    .free = free_ledger,
};
