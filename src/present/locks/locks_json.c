/* heurt.locks/1: the contract is in docs/heurt-locks.md. Fields are added, never changed; what is
 * not known is null. */
#include "present/locks/locks_shared.h"
#include "present/screen/json_members.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

/* ---- parts of a lock ------------------------------------------------------------------------- */

static struct json_object *new_place(const struct locks_report *locks, uint32_t process,
                                     uint64_t site)
{
    char unknown[32];
    if (!site)
        return NULL;
    struct json_object *object = json_object_new_object();
    struct place place = place__of_site(locks->report, process, site, unknown);
    json__address(object, "address", site);
    json__place(object, &place);
    return object;
}

/* Of each bucket that is not empty: its lower bound and its count. */
static struct json_object *new_times(const struct lock_times *times)
{
    struct json_object *object = json_object_new_object();
    struct json_object *histogram = json_object_new_array();
    JSON_NUMBERS(object, {"count", times->count}, {"sum_ns", times->sum_ns},
                 {"mean_ns", times->count ? times__mean_ns(times) : UINT64_MAX},
                 {"max_ns", times->count ? times->max_ns : UINT64_MAX});
    for (unsigned i = 0; i < LOCKS_BUCKETS; i++) {
        if (!times->buckets[i])
            continue;
        struct json_object *bucket = json__entry(histogram);
        JSON_NUMBERS(bucket, {"from_ns", i ? 1ull << i : 0}, {"count", times->buckets[i]});
    }
    json__add(object, "histogram", histogram);
    return object;
}

static struct json_object *new_side(const struct lock_side *side)
{
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"acquisitions", side->acquisitions}, {"contended", side->contended},
                 {"busy", side->busy}, {"gave_up", side->gave_up});
    json__add(object, "wait", new_times(&side->wait));
    json__add(object, "hold", new_times(&side->hold));
    return object;
}

static struct json_object *new_on_path(const struct lock_on_path *on_path)
{
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"acquisitions", on_path->acquisitions}, {"contended", on_path->contended},
                 {"wait_ns", on_path->wait_ns}, {"hold_ns", on_path->hold_ns});
    return object;
}

static void add_identity(struct json_object *object, const struct locks_report *locks,
                         const struct sync_object *lock)
{
    json__text(object, "kind", object__noun(lock));
    json__address(object, "address", lock->address);
    json__text(object, "name", report__variable(locks->report, lock->process, lock->address));
    json__number(object, "process", lock->process);
    json__address(object, "mutex", lock->mutex ? lock->mutex : UINT64_MAX);
    struct json_object *made = new_place(locks, lock->process, lock->initialised_site);
    if (made)
        json__add(made, "thread", json__new_tid(locks->report, lock->initialised_by));
    json__add(object, "initialised", made);
}

/* Who signalled and how, and how long until somebody ran. */
static void add_waking(struct json_object *object, const struct lock_row *row)
{
    bool signals = row->object.kind != CLASS_LOCK && row->object.kind != CLASS_BARRIER;
    JSON_NUMBERS(object, {"signals", signals ? row->signals : UINT64_MAX},
                 {"broadcasts", signals ? row->broadcasts : UINT64_MAX},
                 {"signals_for_nobody", signals ? row->signals_for_nobody : UINT64_MAX});
    json__add(object, "wake", new_times(&row->wake));
}

static void add_rounds(struct json_object *object, const struct locks_report *locks,
                       const struct lock_row *row)
{
    bool is_barrier = row->object.kind == CLASS_BARRIER;
    json__number(object, "rounds", is_barrier ? row->rounds : UINT64_MAX);
    json__add(object, "spread", is_barrier ? new_times(&row->spread) : NULL);
    json__add(object, "last_arriver",
              is_barrier ? json__new_tid(locks->report, row->last_arriver) : NULL);
    json__number(object, "last_arrivals", is_barrier ? row->last_arrivals : UINT64_MAX);
}

static struct json_object *new_sites(const struct locks_report *locks, const struct lock_row *row)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (site, &row->sites, struct lock_site) {
        struct json_object *entry = json__entry(list);
        json__add(entry, "place", new_place(locks, row->object.process, site->site));
        JSON_NUMBERS(entry, {"acquisitions", site->acquisitions}, {"contended", site->contended},
                     {"wait_ns", site->wait_ns}, {"hold_ns", site->hold_ns});
    }
    return list;
}

static struct json_object *new_pairs(const struct locks_report *locks, const struct lock_row *row)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (pair, &row->pairs, struct lock_pair) {
        struct json_object *entry = json__entry(list);
        json__add(entry, "holder", new_place(locks, row->object.process, pair->holder_site));
        json__add(entry, "waiter", new_place(locks, row->object.process, pair->waiter_site));
        JSON_NUMBERS(entry, {"waits", pair->waits}, {"wait_ns", pair->wait_ns});
    }
    return list;
}

/* null: not known. */
static struct json_object *new_holders(const struct locks_report *locks, const struct lock_row *row)
{
    if (!locks->report->profile)
        return NULL;
    struct json_object *list = json_object_new_array();
    struct vec blames = row__blames(locks, row);
    VEC_EACH (blame, &blames, struct profile_blame) {
        struct json_object *entry = json__entry(list);
        json__add(entry, "place", new_place(locks, blame->process, blame->site));
        json__add(entry, "thread", json__new_tid(locks->report, blame->thread));
        JSON_NUMBERS(entry, {"waits", blame->waits}, {"wait_ns", blame->wait_ns});
        json__add(entry, "doing_ns", json__new_doing(blame->doing_ns));
    }
    vec__free(&blames);
    return list;
}

/* ---- the longest waits ----------------------------------------------------------------------- */

static void add_stack(struct json_object *object, const char *name,
                      const struct locks_report *locks, const struct lock_row *row, uint64_t site,
                      const struct lock_wait *wait)
{
    struct profile_stack stack;
    bool is_own;
    struct json_object *entry = NULL;
    if (site && wait__stack(locks, row, site, wait, &stack, &is_own)) {
        entry = json__new_stack(locks->report, &stack);
        json__boolean(entry, "of_this_wait", is_own);
    }
    json__add(object, name, entry);
}

static struct json_object *new_longest(const struct locks_report *locks, const struct lock_row *row)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (wait, &row->longest, struct lock_wait) {
        struct json_object *entry = json__entry(list);
        JSON_NUMBERS(entry, {"since_start_ns", wait->since_start_ns}, {"wait_ns", wait->wait_ns});
        json__add(entry, "thread", json__new_tid(locks->report, wait->thread));
        json__add(entry, "holder_thread", json__new_tid(locks->report, wait->holder));
        json__add(entry, "waiter", new_place(locks, row->object.process, wait->site));
        json__add(entry, "holder", new_place(locks, row->object.process, wait->holder_site));
        add_stack(entry, "waiter_stack", locks, row, wait->site, wait);
        add_stack(entry, "holder_stack", locks, row, wait->holder_site, NULL);
    }
    return list;
}

static struct json_object *new_steps(const uint64_t *steps, uint64_t count)
{
    struct json_object *list = steps ? json_object_new_array() : NULL;
    for (uint64_t i = 0; list && i < count; i++)
        json_object_array_add(list, json_object_new_uint64(steps[i]));
    return list;
}

static struct json_object *new_lock(const struct locks_report *locks, const struct lock_row *row,
                                    size_t rank)
{
    struct json_object *object = json_object_new_object();
    json__number(object, "rank", rank);
    add_identity(object, locks, &row->object);
    json__number(object, "wait_ns", row__wait_ns(row));
    json__share(object, "wait_share", row->wait_share);
    json__boolean(object, "idle", row->is_idle);
    JSON_NUMBERS(object, {"acquisitions", row__acquisitions(row)},
                 {"contended", row__contended(row)});
    json__add(object, "exclusive", new_side(&row->exclusive));
    json__add(object, "shared", object__is_rwlock(&row->object) ? new_side(&row->shared) : NULL);
    add_waking(object, row);
    add_rounds(object, locks, row);
    json__add(object, "on_path", new_on_path(&row->on_path));
    json__add(object, "sites", new_sites(locks, row));
    json__add(object, "pairs", new_pairs(locks, row));
    json__add(object, "holders", new_holders(locks, row));
    json__add(object, "longest", new_longest(locks, row));
    json__add(object, "acquiring_ns", new_steps(row->acquiring_ns, locks->result->steps));
    return object;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void add_filter(struct json_object *root, const struct locks_filter *filter)
{
    struct json_object *object = json__object(root, "filter");
    json__text(object, "lock", filter->lock);
    json__text(object, "site", filter->site);
    json__text(object, "thread", filter->thread);
    JSON_NUMBERS(object, {"min_wait_ns", filter->min_wait_ns}, {"from_ns", filter->from_ns},
                 {"to_ns", filter->to_ns ? filter->to_ns : UINT64_MAX});
}

static void add_totals(struct json_object *root, const struct locks_result *result)
{
    struct json_object *object = json__object(root, "all");
    JSON_NUMBERS(object, {"acquisitions", result->acquisitions}, {"contended", result->contended},
                 {"wait_ns", result->wait_ns});
    json__share(object, "wait_share", ratio(result->wait_ns, result->lifetime_sum_ns));
    JSON_NUMBERS(object, {"hold_sum_ns", result->hold_sum_ns},
                 {"hold_covered_ns", result->hold_covered_ns});
    json__add(object, "on_path", new_on_path(&result->on_path));
    JSON_NUMBERS(object, {"path_ns", result->path_ns},
                 {"path_blocked_ns", result->path_blocked_ns});
    json__boolean(object, "sampled", result->is_sampled);
    JSON_NUMBERS(object, {"drawn", result->drawn}, {"drawn_of", result->drawn_of},
                 {"hold_error_ns", result->hold_error_ns});
}

static void add_pressure(struct json_object *root, const struct locks_result *result)
{
    struct json_object *object = json__object(root, "pressure");
    JSON_NUMBERS(object, {"step_ns", result->step_ns}, {"steps", result->steps},
                 {"from_ns", result->steps_from_ns});
    json__add(object, "acquiring_ns", new_steps(result->acquiring_ns, result->steps));
    json__add(object, "running_ns", new_steps(result->running_ns, result->steps));
}

/* Places in rows become ranks. */
static struct json_object *new_order(const struct locks_report *locks,
                                     const struct lock_inversion *inversion, size_t place)
{
    size_t count = inversion->objects.count;
    uint32_t taken = *VEC_AT(&inversion->objects, uint32_t, place);
    uint32_t held = *VEC_AT(&inversion->objects, uint32_t, (place + count - 1) % count);
    bool known = taken < locks->result->rows.count;
    uint32_t process =
        known ? VEC_AT(&locks->result->rows, struct lock_row, taken)->object.process : 0;
    struct json_object *object = json_object_new_object();
    JSON_NUMBERS(object, {"held", held + 1ull}, {"taken", taken + 1ull},
                 {"times", *VEC_AT(&inversion->times, uint64_t, place)});
    json__add(object, "place",
              new_place(locks, process, *VEC_AT(&inversion->sites, uint64_t, place)));
    return object;
}

static void add_inversions(struct json_object *root, const struct locks_report *locks)
{
    struct json_object *list = json__list(root, "inversions");
    VEC_EACH (inversion, &locks->result->inversions, struct lock_inversion) {
        struct json_object *object = json__entry(list);
        struct json_object *orders = json_object_new_array();
        for (size_t i = 0; i < inversion->objects.count; i++)
            json_object_array_add(orders, new_order(locks, inversion, i));
        json__boolean(object, "guarded", inversion->guarded);
        json__boolean(object, "one_thread", inversion->one_thread);
        json__add(object, "orders", orders);
    }
}

static void add_warnings(struct json_object *root, const struct locks_report *locks)
{
    json__warnings(root, locks->report);
    struct json_object *list = json_object_object_get(root, "warnings");
    VEC_EACH (warning, &locks->result->warnings, char *)
        json_object_array_add(list, json__new_text(*warning));
}

static void add_audit(struct json_object *root, const struct locks_report *locks)
{
    struct json_object *object = json__object(root, "audit");
    struct table_rows checks = lock_check_rows(locks);
    json__boolean(object, "holds", locks__add_up(locks));
    json__add(object, "checks", table_rows__json(&checks));
    table_rows__free(&checks);
}

/* ---- the critical path ----------------------------------------------------------------------- */

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

/* The address of the object with that number. */
static void add_object(struct json_object *entry, const struct critical_path *critical,
                       uint32_t object)
{
    if (object < critical->objects.count)
        json__address(entry, "object",
                      VEC_AT(&critical->objects, struct sync_object, object)->address);
    else
        json__add(entry, "object", NULL);
}

static struct json_object *new_pieces(const struct locks_report *locks)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (piece, &locks->critical->pieces, struct critical_piece) {
        struct json_object *entry = json__entry(list);
        json__add(entry, "thread", json__new_tid(locks->report, piece->thread));
        JSON_NUMBERS(entry, {"from_ns", piece->from_ns}, {"to_ns", piece->to_ns});
        json__text(entry, "by", came_by(piece->how));
        add_object(entry, locks->critical, piece->object);
    }
    return list;
}

static struct json_object *new_path_threads(const struct locks_report *locks)
{
    struct json_object *list = json_object_new_array();
    const struct vec *threads = &locks->critical->threads_ns;
    for (uint32_t i = 0; i < threads->count; i++) {
        uint64_t ns = *VEC_AT(threads, uint64_t, i);
        if (!ns)
            continue;
        struct json_object *entry = json__entry(list);
        json__add(entry, "thread", json__new_tid(locks->report, i));
        json__number(entry, "ns", ns);
    }
    return list;
}

static struct json_object *new_path_locks(const struct locks_report *locks)
{
    struct json_object *list = json_object_new_array();
    VEC_EACH (lock, &locks->critical->locks, struct critical_lock) {
        struct json_object *entry = json__entry(list);
        add_object(entry, locks->critical, lock->object);
        JSON_NUMBERS(entry, {"acquisitions", lock->acquisitions}, {"contended", lock->contended},
                     {"wait_ns", lock->wait_ns}, {"hold_ns", lock->hold_ns});
    }
    return list;
}

/* null: not asked for. */
static void add_path(struct json_object *root, const struct locks_report *locks)
{
    if (!locks->critical) {
        json__add(root, "path", NULL);
        return;
    }
    struct json_object *object = json__object(root, "path");
    const struct critical_path *path = locks->critical;
    JSON_NUMBERS(object, {"from_ns", path->from_ns}, {"to_ns", path->to_ns},
                 {"hand_over_ns", path->hand_over_ns}, {"hand_overs", path->hand_overs},
                 {"in_sections_ns", path->in_sections_ns}, {"blocked_ns", path->blocked_ns});
    json__add(object, "threads", new_path_threads(locks));
    json__add(object, "locks", new_path_locks(locks));
    json__add(object, "pieces", new_pieces(locks));
}

/* ---- the document ---------------------------------------------------------------------------- */

static void put_document(const struct locks_report *locks, size_t only_rank,
                         const struct style *style, FILE *out)
{
    (void)style;
    struct json_object *root = json_object_new_object(), *list = json_object_new_array();
    size_t rank = 0;
    json__text(root, "schema", "heurt.locks/1");
    json__command(root, locks->report);
    json__exit(root, locks->report);
    json__machine(root, locks->report);
    JSON_NUMBERS(root, {"wall_ns", locks->result->wall_ns},
                 {"lifetime_ns", locks->result->lifetime_sum_ns},
                 {"threads", trace__threads(locks->report->trace)->count});
    add_filter(root, locks->filter);
    add_totals(root, locks->result);
    add_pressure(root, locks->result);
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        rank++;
        if (only_rank == EVERY_ROW || only_rank == rank)
            json_object_array_add(list, new_lock(locks, row, rank));
    }
    json__add(root, "locks", list);
    add_inversions(root, locks);
    add_audit(root, locks);
    add_path(root, locks);
    add_warnings(root, locks);
    json__put(root, out);
}

static void whole(const struct locks_report *locks, const struct style *style, FILE *out)
{
    put_document(locks, EVERY_ROW, style, out);
}

const struct locks_presenter locks_json = {"json", put_document, whole, whole};
