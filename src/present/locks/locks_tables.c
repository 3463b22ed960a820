/* The tables of locks: locks, their sites, who waited for whom, the longest waits, the critical
 * path, and whether the parts add up. */
#include "present/locks/locks_shared.h"
#include "present/table/table_source.h"

/* ---- locks ----------------------------------------------------------------------------------- */

struct times_cells {
    uint64_t sum_ns, mean_ns, max_ns;
};

struct side_cells {
    uint64_t acquisitions, contended, busy, gave_up;
    struct times_cells wait, hold;
};

struct lock_cells {
    uint64_t rank;
    const char *kind;
    uint64_t address;
    const char *name;
    struct place_cells made;
    struct side_cells own, shared;
    struct times_cells wake, spread;
    uint32_t last_arriver;
    struct lock_row of; /* its other figures as they are */
};

#define LOCK(key, member, title, unit, help) \
    COLUMN_KEYED(key, lock_cells, member, title, unit, help)
#define TIMES(key, member, title, help)                                        \
    LOCK(key "_ns", member.sum_ns, title, "ns", help ", together"),            \
        LOCK(key "_mean_ns", member.mean_ns, NULL, "ns", help ", on average"), \
        LOCK(key "_max_ns", member.max_ns, NULL, "ns", help ", at most")

static const struct column lock_columns[] = {
    LOCK("rank", rank, "#", "", "place in heurt locks, from 1"),
    LOCK("kind", kind, "kind", "",
         "mutex, rwlock, spin lock, condition, semaphore, barrier, futex"),
    COLUMN_AS(COLUMN_ADDRESS, lock_cells, address, "address", "", "where it lies"),
    LOCK("name", name, "name", "", "variable at that address"),
    LOCK("initialised_function", made.function, NULL, "", "function that initialised it"),
    LOCK("initialised_file", made.file, NULL, "", "source file of that"),
    LOCK("initialised_line", made.line, NULL, "", "line of that"),
    LOCK("acquisitions", own.acquisitions, "taken", "", "times that it was had, alone"),
    LOCK("contended", own.contended, "contended", "", "times that a thread had to wait for that"),
    LOCK("busy", own.busy, NULL, "", "tries that failed"),
    LOCK("gave_up", own.gave_up, NULL, "", "waits that ended without it"),
    TIMES("wait", own.wait, "waited", "waits"),
    LOCK("wait_share", of.wait_share, "share", "share", "of all threads' lives"),
    TIMES("hold", own.hold, "held", "sections"),
    LOCK("read_acquisitions", shared.acquisitions, NULL, "", "times that readers had it"),
    LOCK("read_contended", shared.contended, NULL, "", "times that a reader had to wait"),
    LOCK("read_busy", shared.busy, NULL, "", "tries of readers that failed"),
    LOCK("read_gave_up", shared.gave_up, NULL, "", "waits of readers that ended without it"),
    TIMES("read_wait", shared.wait, NULL, "waits of readers"),
    TIMES("read_hold", shared.hold, NULL, "sections of readers"),
    LOCK("path_acquisitions", of.on_path.acquisitions, NULL, "", "of these, on the critical path"),
    LOCK("path_contended", of.on_path.contended, NULL, "", "of these, after a wait"),
    LOCK("path_wait_ns", of.on_path.wait_ns, NULL, "ns", "waited for these"),
    LOCK("path_hold_ns", of.on_path.hold_ns, "on the path", "ns",
         "of the critical path, with it held"),
    LOCK("signals", of.signals, NULL, "", "signals of a condition, posts of a semaphore"),
    LOCK("broadcasts", of.broadcasts, NULL, "", "of these, to all"),
    LOCK("signals_for_nobody", of.signals_for_nobody, NULL, "", "signals while nobody waited"),
    LOCK("wake_mean_ns", wake.mean_ns, NULL, "ns",
         "from who ended a wait to who waited, on average"),
    LOCK("wake_max_ns", wake.max_ns, NULL, "ns", "the same, at most"),
    LOCK("rounds", of.rounds, NULL, "", "of a barrier"),
    LOCK("spread_mean_ns", spread.mean_ns, NULL, "ns",
         "from the first to the last arrival at a barrier, on average"),
    LOCK("spread_max_ns", spread.max_ns, NULL, "ns", "the same, at most"),
    LOCK("last_arriver", last_arriver, NULL, "", "thread that arrived last most often"),
    LOCK("last_arrivals", of.last_arrivals, NULL, "", "how often it did"),
    LOCK("idle", of.is_idle, NULL, "", "whether threads wait there for work"),
};
static const struct table locks_table = TABLE(
    lock_cells, "locks", "a row a lock, condition, semaphore, barrier or futex", lock_columns);

static struct times_cells times_of(const struct lock_times *times)
{
    return (struct times_cells){times->sum_ns, times__mean_ns(times), times->max_ns};
}

static struct side_cells side_of(const struct lock_side *side)
{
    return (struct side_cells){side->acquisitions, side->contended,       side->busy,
                               side->gave_up,      times_of(&side->wait), times_of(&side->hold)};
}

static void add_lock(struct table_rows *rows, const struct locks_report *locks,
                     const struct lock_row *lock, size_t rank)
{
    const struct sync_object *object = &lock->object;
    bool is_barrier = object->kind == CLASS_BARRIER;
    *(struct lock_cells *)table_rows__add(rows) = (struct lock_cells){
        .rank = rank,
        .kind = object__noun(object),
        .address = object->address,
        .name = report__variable(locks->report, object->process, object->address),
        .made =
            place_cells__of_site(rows, locks->report, object->process, object->initialised_site),
        .own = side_of(&lock->exclusive),
        .shared = side_of(&lock->shared),
        .wake = times_of(&lock->wake),
        .spread = times_of(&lock->spread),
        .last_arriver = is_barrier ? report__tid(locks->report, lock->last_arriver) : UINT32_MAX,
        .of = *lock,
    };
}

struct table_rows lock_rows(const struct locks_report *locks, size_t rank)
{
    struct table_rows rows = table_rows__of(&locks_table);
    size_t at = 0;
    VEC_EACH (lock, &locks->result->rows, struct lock_row)
        if (++at == rank || rank == EVERY_ROW)
            add_lock(&rows, locks, lock, at);
    return rows;
}

static struct table_rows all_locks(const struct table_subject *subject)
{
    return lock_rows(subject->locks, EVERY_ROW);
}

const struct table_source locks_source = {&locks_table, MADE_OF(&locks_analysis), all_locks};

/* ---- a lock's parts -------------------------------------------------------------------------- */

/* What a row of a part says of its lock. */
struct whose_lock {
    uint64_t rank;
    const char *kind, *name;
    uint64_t address;
};

#define WHOSE(row)                                                                     \
    COLUMN_KEYED("rank", row, lock.rank, "#", "", "place of the lock in heurt locks"), \
        COLUMN_KEYED("kind", row, lock.kind, NULL, "", "mutex, rwlock, barrier …"),    \
        COLUMN_WHOLE("address", COLUMN_ADDRESS, row, lock.address, NULL, "",           \
                     "where the lock lies"),                                           \
        COLUMN_KEYED("name", row, lock.name, "lock", "", "variable at that address")
#define PLACE(row, prefix, member, title, help)                                          \
    COLUMN_KEYED(prefix "function", row, member.function, title, "", help),              \
        COLUMN_KEYED(prefix "module", row, member.module, NULL, "", "file of its code"), \
        COLUMN_KEYED(prefix "file", row, member.file, NULL, "", "its source file"),      \
        COLUMN_KEYED(prefix "line", row, member.line, NULL, "", "line in it")

static struct whose_lock whose(const struct locks_report *locks, const struct lock_row *lock)
{
    size_t rank = (size_t)(lock - VEC_AT(&locks->result->rows, struct lock_row, 0)) + 1;
    return (struct whose_lock){
        rank, object__noun(&lock->object),
        report__variable(locks->report, lock->object.process, lock->object.address),
        lock->object.address};
}

struct site_cells {
    struct whose_lock lock;
    struct place_cells place;
    uint64_t acquisitions, contended, wait_ns, hold_ns;
};

static const struct column site_columns[] = {
    WHOSE(site_cells),
    PLACE(site_cells, "", place, "in", "function that takes it; none: all others together"),
    COLUMN(site_cells, acquisitions, "taken", "", "acquisitions there"),
    COLUMN(site_cells, contended, "contended", "", "of these, after a wait"),
    COLUMN(site_cells, wait_ns, "waited", "ns", "waited there"),
    COLUMN(site_cells, hold_ns, "held", "ns", "held that was taken there"),
};
static const struct table sites_table =
    TABLE(site_cells, "lock_sites", "a row a lock and a place that takes it", site_columns);

static struct table_rows site_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&sites_table);
    const struct locks_report *locks = subject->locks;
    VEC_EACH (lock, &locks->result->rows, struct lock_row)
        VEC_EACH (site, &lock->sites, struct lock_site)
            *(struct site_cells *)table_rows__add(&rows) = (struct site_cells){
                whose(locks, lock),
                place_cells__of_site(&rows, locks->report, lock->object.process, site->site),
                site->acquisitions,
                site->contended,
                site->wait_ns,
                site->hold_ns};
    return rows;
}

const struct table_source lock_sites_source = {&sites_table, MADE_OF(&locks_analysis), site_rows};

struct pair_cells {
    struct whose_lock lock;
    struct place_cells holder, waiter;
    uint64_t waits, wait_ns;
};

static const struct column pair_columns[] = {
    WHOSE(pair_cells),
    PLACE(pair_cells, "holder_", holder, "held by",
          "function that had taken it, or ended the wait"),
    PLACE(pair_cells, "waiter_", waiter, "waited in", "function that waited for it"),
    COLUMN(pair_cells, waits, "waits", "", "waits of these two"),
    COLUMN(pair_cells, wait_ns, "waited", "ns", "how long they took, together"),
};
static const struct table pairs_table =
    TABLE(pair_cells, "lock_pairs", "a row a lock, a holder and a waiter", pair_columns);

static struct table_rows pair_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&pairs_table);
    const struct report *report = subject->locks->report;
    VEC_EACH (lock, &subject->locks->result->rows, struct lock_row) {
        uint32_t process = lock->object.process;
        VEC_EACH (pair, &lock->pairs, struct lock_pair)
            *(struct pair_cells *)table_rows__add(&rows) =
                (struct pair_cells){whose(subject->locks, lock),
                                    place_cells__of_site(&rows, report, process, pair->holder_site),
                                    place_cells__of_site(&rows, report, process, pair->waiter_site),
                                    pair->waits, pair->wait_ns};
    }
    return rows;
}

const struct table_source lock_pairs_source = {&pairs_table, MADE_OF(&locks_analysis), pair_rows};

struct wait_cells {
    struct whose_lock lock;
    uint64_t since_start_ns, wait_ns;
    uint32_t tid, holder_tid;
    struct place_cells waiter, holder;
};

static const struct column wait_columns[] = {
    WHOSE(wait_cells),
    COLUMN(wait_cells, since_start_ns, "at", "ns", "when it began, since the start of the run"),
    COLUMN(wait_cells, wait_ns, "waited", "ns", "how long it took"),
    COLUMN(wait_cells, tid, "thread", "", "the thread that waited"),
    PLACE(wait_cells, "waiter_", waiter, "in", "function that waited"),
    COLUMN(wait_cells, holder_tid, "for", "", "the thread that ended the wait"),
    PLACE(wait_cells, "holder_", holder, "which was in",
          "function that had taken it, or ended the wait"),
};
static const struct table waits_table =
    TABLE(wait_cells, "lock_waits", "the longest waits of each lock, a row each", wait_columns);

static struct table_rows wait_rows(const struct table_subject *subject)
{
    struct table_rows rows = table_rows__of(&waits_table);
    const struct report *report = subject->locks->report;
    VEC_EACH (lock, &subject->locks->result->rows, struct lock_row) {
        uint32_t process = lock->object.process;
        VEC_EACH (wait, &lock->longest, struct lock_wait)
            *(struct wait_cells *)table_rows__add(&rows) = (struct wait_cells){
                whose(subject->locks, lock),
                wait->since_start_ns,
                wait->wait_ns,
                report__tid(report, wait->thread),
                report__tid(report, wait->holder),
                place_cells__of_site(&rows, report, process, wait->site),
                place_cells__of_site(&rows, report, process, wait->holder_site)};
    }
    return rows;
}

const struct table_source lock_waits_source = {&waits_table, MADE_OF(&locks_analysis), wait_rows};

/* ---- the critical path ----------------------------------------------------------------------- */

struct piece_cells {
    uint32_t tid;
    uint64_t from_ns, to_ns;
    const char *by;
    uint64_t address;
    const char *name;
};

static const struct column piece_columns[] = {
    COLUMN(piece_cells, tid, "thread", "", "the thread that the path is on"),
    COLUMN(piece_cells, from_ns, "from", "ns", "since the start of the run"),
    COLUMN(piece_cells, to_ns, "to", "ns", "since the start of the run"),
    COLUMN(piece_cells, by, "came by", "", "kind of what handed it over; start, join"),
    COLUMN_AS(COLUMN_ADDRESS, piece_cells, address, "address", "", "where that lies"),
    COLUMN(piece_cells, name, "name", "", "variable at that address"),
};
static const struct table path_table = TABLE(
    piece_cells, "path", "the critical path, a row a piece, in the order of time", piece_columns);

static void add_piece(struct table_rows *rows, const struct locks_report *locks,
                      const struct critical_piece *piece)
{
    const struct report *report = locks->report;
    const struct vec *objects = &locks->critical->objects;
    struct piece_cells *row = table_rows__add(rows);
    *row = (struct piece_cells){report__tid(report, piece->thread),
                                piece->from_ns,
                                piece->to_ns,
                                piece->how == SYNC_EVENT_JOINED ? "join" : "start",
                                UINT64_MAX,
                                NULL};
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
