/* The tables of locks: locks, their sites, who waited for whom, the longest waits, the critical
 * path, and whether the parts add up. */
#include "present/locks/locks_tables.h"
#include "present/locks/locks_shared.h"
#include "present/table/table_source.h"

/* ---- durations of one kind, and one way to have a lock --------------------------------------- */

struct times_cells {
    const struct lock_times *of;
    uint64_t count, sum_ns, mean_ns, max_ns;
    uint64_t known_mean_ns, known_max_ns; /* UINT64_MAX: of none */
};

struct bucket_cells {
    uint64_t from_ns, count;
};

static const struct table buckets_table =
    OBJECT(bucket_cells, FIELDS(bucket_cells, from_ns, count));

/* Of each bucket that is not empty: its lower bound and its count. */
static struct table_rows bucket_rows(const void *row)
{
    const struct lock_times *times = ((const struct times_cells *)row)->of;
    struct table_rows rows = table_rows__of(&buckets_table);
    for (unsigned i = 0; i < LOCKS_BUCKETS; i++)
        if (times->buckets[i])
            TABLE_ROW(&rows, bucket_cells, i ? 1ull << i : 0, times->buckets[i]);
    return rows;
}

static const struct table times_table = OBJECT(
    times_cells, FIELDS(times_cells, count, sum_ns), FIELD("mean_ns", times_cells, known_mean_ns),
    FIELD("max_ns", times_cells, known_max_ns), FIELD_LIST("histogram", bucket_rows));

static struct times_cells times_of(const struct lock_times *times)
{
    uint64_t mean_ns = lock_times__mean_ns(times);
    return (struct times_cells){times,
                                times->count,
                                times->sum_ns,
                                mean_ns,
                                times->max_ns,
                                times->count ? mean_ns : UINT64_MAX,
                                times->count ? times->max_ns : UINT64_MAX};
}

struct side_cells {
    uint64_t acquisitions, contended, busy, gave_up;
    struct times_cells wait, hold;
};

static const struct table side_table =
    OBJECT(side_cells, FIELDS(side_cells, acquisitions, contended, busy, gave_up),
           FIELD_OBJECT("wait", side_cells, wait, times_table),
           FIELD_OBJECT("hold", side_cells, hold, times_table));

static struct side_cells side_of(const struct lock_side *side)
{
    return (struct side_cells){side->acquisitions, side->contended,       side->busy,
                               side->gave_up,      times_of(&side->wait), times_of(&side->hold)};
}

const struct table on_path_table =
    OBJECT(lock_on_path, FIELDS(lock_on_path, acquisitions, contended, wait_ns, hold_ns));

/* ---- a lock's parts -------------------------------------------------------------------------- */

/* What a row of a part says of its lock. */
struct whose_lock {
    const struct locks_report *locks;
    const struct lock_row *row;
    uint64_t rank;
    const char *kind, *name;
    uint64_t address;
};

#define WHOSE(row)                                                                              \
    FLAT("rank", row, lock.rank, "#", "", "place of the lock in heurt locks"),                  \
        FLAT("kind", row, lock.kind, NULL, "", "mutex, rwlock, barrier …"),                     \
        FLAT_AS(COLUMN_ADDRESS, "address", row, lock.address, NULL, "", "where the lock lies"), \
        FLAT("name", row, lock.name, "lock", "", "variable at that address")
/* A place: an object, or columns. */
#define PLACE(row, object, prefix, member, title, help)                          \
    FIELD_OPTIONAL(object, row, member, site_table),                             \
        FLAT(prefix "function", row, member.function, title, "", help),          \
        FLAT(prefix "module", row, member.module, NULL, "", "file of its code"), \
        FLAT(prefix "file", row, member.file, NULL, "", "its source file"),      \
        FLAT(prefix "line", row, member.line, NULL, "", "line in it")

static struct whose_lock whose(const struct locks_report *locks, const struct lock_row *lock)
{
    size_t rank = (size_t)(lock - VEC_AT(&locks->result->rows, struct lock_row, 0)) + 1;
    return (struct whose_lock){
        locks,
        lock,
        rank,
        object__noun(&lock->object),
        report__variable(locks->report, lock->object.process, lock->object.address),
        lock->object.address};
}

static struct place_cells place_of(struct table_rows *rows, const struct whose_lock *lock,
                                   uint64_t site)
{
    return place_cells__of_site(rows, lock->locks->report, lock->row->object.process, site);
}

struct site_cells {
    struct whose_lock lock;
    struct place_cells place;
    struct lock_site of; /* its figures as they are */
};

static const struct column site_columns[] = {
    WHOSE(site_cells),
    PLACE(site_cells, "place", "", place, "in",
          "function that takes it; none: all others together"),
    COLUMN_KEYED("acquisitions", site_cells, of.acquisitions, "taken", "", "acquisitions there"),
    COLUMN_KEYED("contended", site_cells, of.contended, "contended", "", "of these, after a wait"),
    COLUMN_KEYED("wait_ns", site_cells, of.wait_ns, "waited", "ns", "waited there"),
    COLUMN_KEYED("hold_ns", site_cells, of.hold_ns, "held", "ns", "held that was taken there"),
};
static const struct table sites_table =
    TABLE(site_cells, "lock_sites", "a row a lock and a place that takes it", site_columns);

static void add_sites(struct table_rows *rows, const struct whose_lock *lock)
{
    VEC_EACH (site, &lock->row->sites, struct lock_site)
        TABLE_ROW(rows, site_cells, *lock, place_of(rows, lock, site->site), *site);
}

struct pair_cells {
    struct whose_lock lock;
    struct place_cells holder, waiter;
    struct lock_pair of;
};

static const struct column pair_columns[] = {
    WHOSE(pair_cells),
    PLACE(pair_cells, "holder", "holder_", holder, "held by",
          "function that had taken it, or ended the wait"),
    PLACE(pair_cells, "waiter", "waiter_", waiter, "waited in", "function that waited for it"),
    COLUMN_KEYED("waits", pair_cells, of.waits, "waits", "", "waits of these two"),
    COLUMN_KEYED("wait_ns", pair_cells, of.wait_ns, "waited", "ns", "how long they took, together"),
};
static const struct table pairs_table =
    TABLE(pair_cells, "lock_pairs", "a row a lock, a holder and a waiter", pair_columns);

static void add_pairs(struct table_rows *rows, const struct whose_lock *lock)
{
    VEC_EACH (pair, &lock->row->pairs, struct lock_pair)
        TABLE_ROW(rows, pair_cells, *lock, place_of(rows, lock, pair->holder_site),
                  place_of(rows, lock, pair->waiter_site), *pair);
}

struct wait_cells {
    struct whose_lock lock;
    struct lock_wait of;
    uint32_t tid, holder_tid;
    struct place_cells waiter, holder;
};

static struct table_rows stack_of(const struct wait_cells *cells, uint64_t site,
                                  const struct lock_wait *wait)
{
    struct table_rows rows = table_rows__of(&wait_stack_table);
    struct stack_cells stack = {.report = cells->lock.locks->report};
    if (site && wait__stack(cells->lock.locks, cells->lock.row, site, wait, &stack.stack,
                            &stack.of_this_wait))
        vec__push(&rows.rows, &stack);
    return rows;
}

static struct table_rows stack_of_waiter(const void *row)
{
    const struct wait_cells *cells = row;
    return stack_of(cells, cells->of.site, &cells->of);
}

static struct table_rows stack_of_holder(const void *row)
{
    const struct wait_cells *cells = row;
    return stack_of(cells, cells->of.holder_site, NULL);
}

static const struct column wait_columns[] = {
    WHOSE(wait_cells),
    COLUMN_KEYED("since_start_ns", wait_cells, of.since_start_ns, "at", "ns",
                 "when it began, since the start of the run"),
    COLUMN_KEYED("wait_ns", wait_cells, of.wait_ns, "waited", "ns", "how long it took"),
    FIELD("thread", wait_cells, tid),
    FIELD("holder_thread", wait_cells, holder_tid),
    FLAT("tid", wait_cells, tid, "thread", "", "the thread that waited"),
    PLACE(wait_cells, "waiter", "waiter_", waiter, "in", "function that waited"),
    FLAT("holder_tid", wait_cells, holder_tid, "for", "", "the thread that ended the wait"),
    PLACE(wait_cells, "holder", "holder_", holder, "which was in",
          "function that had taken it, or ended the wait"),
    FIELD_ONE("waiter_stack", stack_of_waiter),
    FIELD_ONE("holder_stack", stack_of_holder),
};
static const struct table waits_table =
    TABLE(wait_cells, "lock_waits", "the longest waits of each lock, a row each", wait_columns);

static void add_waits(struct table_rows *rows, const struct whose_lock *lock)
{
    const struct report *report = lock->locks->report;
    VEC_EACH (wait, &lock->row->longest, struct lock_wait)
        TABLE_ROW(rows, wait_cells, *lock, *wait, report__tid(report, wait->thread),
                  report__tid(report, wait->holder), place_of(rows, lock, wait->site),
                  place_of(rows, lock, wait->holder_site));
}

/* What add makes of all locks. */
static struct table_rows parts_of_all(const struct table *table,
                                      void (*add)(struct table_rows *rows,
                                                  const struct whose_lock *lock),
                                      const struct locks_report *locks)
{
    struct table_rows rows = table_rows__of(table);
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        const struct whose_lock lock = whose(locks, row);
        add(&rows, &lock);
    }
    return rows;
}

static struct table_rows all_sites(const struct table_subject *subject)
{
    return parts_of_all(&sites_table, add_sites, subject->locks);
}

static struct table_rows all_pairs(const struct table_subject *subject)
{
    return parts_of_all(&pairs_table, add_pairs, subject->locks);
}

static struct table_rows all_waits(const struct table_subject *subject)
{
    return parts_of_all(&waits_table, add_waits, subject->locks);
}

const struct table_source lock_sites_source = {&sites_table, MADE_OF(&locks_analysis), all_sites};
const struct table_source lock_pairs_source = {&pairs_table, MADE_OF(&locks_analysis), all_pairs};
const struct table_source lock_waits_source = {&waits_table, MADE_OF(&locks_analysis), all_waits};

/* ---- locks ----------------------------------------------------------------------------------- */

struct lock_cells {
    struct whose_lock lock;
    uint64_t process, mutex;
    struct place_cells made;
    uint32_t made_by;
    uint64_t wait_ns, acquisitions, contended; /* either way */
    struct side_cells own, shared;
    struct times_cells wake, spread;
    uint64_t signals, broadcasts, signals_for_nobody; /* UINT64_MAX: there is no such thing */
    uint64_t rounds, last_arrivals;                   /* likewise */
    uint32_t last_arriver;
    struct lock_row of; /* its other figures as they are */
};

struct made_cells {
    struct place_cells place;
    uint32_t thread;
};

static const struct table made_table =
    OBJECT(made_cells, FIELD_AS(COLUMN_ADDRESS, "address", made_cells, place.address),
           FIELDS_OF_PLACE(made_cells, place), FIELD("thread", made_cells, thread));

static struct table_rows made_row(const void *row)
{
    const struct lock_cells *cells = row;
    struct table_rows rows = table_rows__of(&made_table);
    if (cells->of.object.initialised_site)
        TABLE_ROW(&rows, made_cells, cells->made, cells->made_by);
    return rows;
}

static struct table_rows shared_row(const void *row)
{
    const struct lock_cells *cells = row;
    return table_rows__if(object__is_rwlock(&cells->of.object), &side_table, &cells->shared);
}

static struct table_rows spread_row(const void *row)
{
    const struct lock_cells *cells = row;
    return table_rows__if(cells->of.object.kind == CLASS_BARRIER, &times_table, &cells->spread);
}

static struct table_rows sites_of(const void *row)
{
    struct table_rows rows = table_rows__of(&sites_table);
    add_sites(&rows, &((const struct lock_cells *)row)->lock);
    return rows;
}

static struct table_rows pairs_of(const void *row)
{
    struct table_rows rows = table_rows__of(&pairs_table);
    add_pairs(&rows, &((const struct lock_cells *)row)->lock);
    return rows;
}

static struct table_rows waits_of(const void *row)
{
    struct table_rows rows = table_rows__of(&waits_table);
    add_waits(&rows, &((const struct lock_cells *)row)->lock);
    return rows;
}

struct holder_cells {
    struct place_cells place;
    uint32_t tid;
    struct profile_blame of;
};

static const struct table holders_table =
    OBJECT(holder_cells, FIELD_OPTIONAL("place", holder_cells, place, site_table),
           FIELD("thread", holder_cells, tid), FIELDS_OF(holder_cells, of, waits, wait_ns),
           FIELD_COMPONENTS("doing_ns", holder_cells, of.doing_ns));

static struct table_rows holders_of(const void *row)
{
    const struct whose_lock *lock = &((const struct lock_cells *)row)->lock;
    const struct report *report = lock->locks->report;
    struct table_rows rows = table_rows__of(report->profile ? &holders_table : NULL);
    struct vec blames = row__blames(lock->locks, lock->row);
    VEC_EACH (blame, &blames, struct profile_blame)
        TABLE_ROW(&rows, holder_cells,
                  place_cells__of_site(&rows, report, blame->process, blame->site),
                  report__tid(report, blame->thread), *blame);
    vec__free(&blames);
    return rows;
}

static struct table_rows steps_of(const void *row)
{
    const struct whose_lock *lock = &((const struct lock_cells *)row)->lock;
    return number_rows(lock->row->acquiring_ns, lock->locks->result->steps);
}

#define LOCK(key, member, title, unit, help) \
    COLUMN_KEYED(key, lock_cells, member, title, unit, help)
#define PART(key, member, title, unit, help) FLAT(key, lock_cells, member, title, unit, help)
#define TIMES(key, member, title, help)                                        \
    PART(key "_ns", member.sum_ns, title, "ns", help ", together"),            \
        PART(key "_mean_ns", member.mean_ns, NULL, "ns", help ", on average"), \
        PART(key "_max_ns", member.max_ns, NULL, "ns", help ", at most")

static const struct column lock_columns[] = {
    LOCK("rank", lock.rank, "#", "", "place in heurt locks, from 1"),
    LOCK("kind", lock.kind, "kind", "",
         "mutex, rwlock, spin lock, condition, semaphore, barrier, futex"),
    COLUMN_WHOLE("address", COLUMN_ADDRESS, lock_cells, lock.address, "address", "",
                 "where it lies"),
    LOCK("name", lock.name, "name", "", "variable at that address"),
    FIELD("process", lock_cells, process),
    FIELD_AS(COLUMN_ADDRESS, "mutex", lock_cells, mutex),
    FIELD_ONE("initialised", made_row),
    PART("initialised_function", made.function, NULL, "", "function that initialised it"),
    PART("initialised_file", made.file, NULL, "", "source file of that"),
    PART("initialised_line", made.line, NULL, "", "line of that"),
    PART("acquisitions", own.acquisitions, "taken", "", "times that it was had, alone"),
    PART("contended", own.contended, "contended", "", "times that a thread had to wait for that"),
    PART("busy", own.busy, NULL, "", "tries that failed"),
    PART("gave_up", own.gave_up, NULL, "", "waits that ended without it"),
    TIMES("wait", own.wait, "waited", "waits"),
    FIELD("wait_ns", lock_cells, wait_ns),
    LOCK("wait_share", of.wait_share, "share", "share", "of all threads' lives"),
    TIMES("hold", own.hold, "held", "sections"),
    PART("read_acquisitions", shared.acquisitions, NULL, "", "times that readers had it"),
    PART("read_contended", shared.contended, NULL, "", "times that a reader had to wait"),
    PART("read_busy", shared.busy, NULL, "", "tries of readers that failed"),
    PART("read_gave_up", shared.gave_up, NULL, "", "waits of readers that ended without it"),
    TIMES("read_wait", shared.wait, NULL, "waits of readers"),
    TIMES("read_hold", shared.hold, NULL, "sections of readers"),
    PART("path_acquisitions", of.on_path.acquisitions, NULL, "", "of these, on the critical path"),
    PART("path_contended", of.on_path.contended, NULL, "", "of these, after a wait"),
    PART("path_wait_ns", of.on_path.wait_ns, NULL, "ns", "waited for these"),
    PART("path_hold_ns", of.on_path.hold_ns, "on the path", "ns",
         "of the critical path, with it held"),
    PART("signals", of.signals, NULL, "", "signals of a condition, posts of a semaphore"),
    PART("broadcasts", of.broadcasts, NULL, "", "of these, to all"),
    PART("signals_for_nobody", of.signals_for_nobody, NULL, "", "signals while nobody waited"),
    PART("wake_mean_ns", wake.mean_ns, NULL, "ns",
         "from who ended a wait to who waited, on average"),
    PART("wake_max_ns", wake.max_ns, NULL, "ns", "the same, at most"),
    PART("rounds", of.rounds, NULL, "", "of a barrier"),
    PART("spread_mean_ns", spread.mean_ns, NULL, "ns",
         "from the first to the last arrival at a barrier, on average"),
    PART("spread_max_ns", spread.max_ns, NULL, "ns", "the same, at most"),
    LOCK("last_arriver", last_arriver, NULL, "", "thread that arrived last most often"),
    PART("last_arrivals", of.last_arrivals, NULL, "", "how often it did"),
    LOCK("idle", of.is_idle, NULL, "", "whether threads wait there for work"),
    FIELDS(lock_cells, acquisitions, contended),
    FIELD_OBJECT("exclusive", lock_cells, own, side_table),
    FIELD_ONE("shared", shared_row),
    FIELDS(lock_cells, signals, broadcasts, signals_for_nobody),
    FIELD_OBJECT("wake", lock_cells, wake, times_table),
    FIELD("rounds", lock_cells, rounds),
    FIELD_ONE("spread", spread_row),
    FIELD("last_arrivals", lock_cells, last_arrivals),
    FIELD_OBJECT("on_path", lock_cells, of.on_path, on_path_table),
    FIELD_LIST("sites", sites_of),
    FIELD_LIST("pairs", pairs_of),
    FIELD_LIST("holders", holders_of),
    FIELD_LIST("longest", waits_of),
    FIELD_LIST("acquiring_ns", steps_of),
};
static const struct table locks_table = TABLE(
    lock_cells, "locks", "a row a lock, condition, semaphore, barrier or futex", lock_columns);

static uint64_t known_if(bool is_known, uint64_t value)
{
    return is_known ? value : UINT64_MAX;
}

static void add_lock(struct table_rows *rows, const struct locks_report *locks,
                     const struct lock_row *lock)
{
    const struct sync_object *object = &lock->object;
    bool is_barrier = object->kind == CLASS_BARRIER;
    bool signals = object->kind != CLASS_LOCK && !is_barrier;
    TABLE_ROW(
        rows, lock_cells, .lock = whose(locks, lock), .process = object->process,
        .mutex = known_if(object->mutex != 0, object->mutex),
        .made =
            place_cells__of_site(rows, locks->report, object->process, object->initialised_site),
        .made_by = report__tid(locks->report, object->initialised_by),
        .wait_ns = lock_row__wait_ns(lock), .acquisitions = lock_row__acquisitions(lock),
        .contended = lock_row__contended(lock), .own = side_of(&lock->exclusive),
        .shared = side_of(&lock->shared), .wake = times_of(&lock->wake),
        .spread = times_of(&lock->spread), .signals = known_if(signals, lock->signals),
        .broadcasts = known_if(signals, lock->broadcasts),
        .signals_for_nobody = known_if(signals, lock->signals_for_nobody),
        .rounds = known_if(is_barrier, lock->rounds),
        .last_arrivals = known_if(is_barrier, lock->last_arrivals),
        .last_arriver = is_barrier ? report__tid(locks->report, lock->last_arriver) : UINT32_MAX,
        .of = *lock);
}

struct table_rows lock_rows(const struct locks_report *locks, size_t rank)
{
    struct table_rows rows = table_rows__of(&locks_table);
    size_t at = 0;
    VEC_EACH (lock, &locks->result->rows, struct lock_row)
        if (++at == rank || rank == EVERY_ROW)
            add_lock(&rows, locks, lock);
    return rows;
}

static struct table_rows all_locks(const struct table_subject *subject)
{
    return lock_rows(subject->locks, EVERY_ROW);
}

const struct table_source locks_source = {&locks_table, MADE_OF(&locks_analysis), all_locks};

/* ---- the critical path ----------------------------------------------------------------------- */

struct piece_cells {
    uint32_t tid;
    struct critical_piece of; /* its times as they are */
    const char *by;
    uint64_t address;
    const char *name;
};

static const char *came_by(enum sync_event_type how)
{
    switch (how) {
    case SYNC_EVENT_ACQUIRED:
        return "lock";
    case SYNC_EVENT_WOKEN:
        return "signal";
    case SYNC_EVENT_LEFT:
        return "barrier";
    case SYNC_EVENT_JOINED:
        return "join";
    default:
        return "start";
    }
}

static const struct column piece_columns[] = {
    FIELD("thread", piece_cells, tid),
    FLAT("tid", piece_cells, tid, "thread", "", "the thread that the path is on"),
    COLUMN_KEYED("from_ns", piece_cells, of.from_ns, "from", "ns", "since the start of the run"),
    COLUMN_KEYED("to_ns", piece_cells, of.to_ns, "to", "ns", "since the start of the run"),
    FIELD_NAMED("by", piece_cells, of.how, came_by),
    FLAT("by", piece_cells, by, "came by", "", "kind of what handed it over; start, join"),
    FIELD_AS(COLUMN_ADDRESS, "object", piece_cells, address),
    FLAT_AS(COLUMN_ADDRESS, "address", piece_cells, address, "address", "", "where that lies"),
    FLAT("name", piece_cells, name, "name", "", "variable at that address"),
};
static const struct table path_table = TABLE(
    piece_cells, "path", "the critical path, a row a piece, in the order of time", piece_columns);

static void add_piece(struct table_rows *rows, const struct locks_report *locks,
                      const struct critical_piece *piece)
{
    const struct report *report = locks->report;
    const struct vec *objects = &locks->critical->objects;
    struct piece_cells *row = table_rows__add(rows);
    *row =
        (struct piece_cells){report__tid(report, piece->thread), *piece,
                             piece->how == SYNC_EVENT_JOINED ? "join" : "start", UINT64_MAX, NULL};
    if (piece->object >= objects->count)
        return;
    const struct sync_object *object = VEC_AT(objects, struct sync_object, piece->object);
    row->by = object__noun(object);
    row->address = object->address;
    row->name = report__variable(report, object->process, object->address);
}

struct table_rows path_rows(const struct locks_report *locks)
{
    struct table_rows rows = table_rows__of(&path_table);
    if (locks->critical)
        VEC_EACH (piece, &locks->critical->pieces, struct critical_piece)
            add_piece(&rows, locks, piece);
    return rows;
}

static struct table_rows rows_of_path(const struct table_subject *subject)
{
    return path_rows(subject->locks);
}

const struct table_source path_source = {&path_table, MADE_OF(&locks_analysis, &path_analysis),
                                         rows_of_path};

/* ---- checks ---------------------------------------------------------------------------------- */

static const struct column check_columns[] = {
    COLUMN(locks_check, what, "what", "", "what is added up"),
    COLUMN(locks_check, of, "of", "", "whose sum is left"),
    COLUMN(locks_check, with, "with", "", "whose sum is right"),
    COLUMN(locks_check, left, "left", "", "ticks, or numbers"),
    COLUMN(locks_check, right, "right", "", "ticks, or numbers"),
    COLUMN(locks_check, is_most, NULL, "", "whether left need only be no more than right"),
    COLUMN(locks_check, is_good, "holds", "", "whether it is so"),
};
static const struct table checks_table =
    TABLE(locks_check, "checks", "a row a check of heurt locks --audit", check_columns);

struct table_rows lock_check_rows(const struct locks_report *locks)
{
    struct table_rows rows = table_rows__of(&checks_table);
    VEC_EACH (check, &locks->result->checks, struct locks_check)
        *(struct locks_check *)table_rows__add(&rows) = *check;
    return rows;
}
