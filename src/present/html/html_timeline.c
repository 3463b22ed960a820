/* The timeline as the page reads it: levels of pieces in base64, waits column by column. */
#include "base/memory.h"
#include "present/html/internal.h"
#include "present/locks/locks_shared.h"
#include "present/report/report_parts.h"
#include "present/table/table_source.h"

#include <stdlib.h>
#include <string.h>

/* ---- bytes as text (RFC 4648) ---------------------------------------------------------------- */

static char *base64(const struct vec *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = memory__zeroed(bytes->count / 3 + 2, 4), *to = text;
    for (size_t i = 0; i < bytes->count; i += 3) {
        uint32_t word = 0;
        size_t left = bytes->count - i;
        for (size_t k = 0; k < 3; k++)
            word = word << 8 | (k < left ? *VEC_AT(bytes, uint8_t, i + k) : 0u);
        for (size_t k = 0; k < 4; k++)
            *to++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

struct lane_cells {
    const struct timeline *timeline;
    const struct timeline_lane *of;
    uint32_t tid, pid, process; /* process: serial */
    const char *name;
    bool had_work;
    uint64_t from_ns, to_ns;
};

static struct table_rows lane_state_rows(const void *row)
{
    return number_rows(((const struct lane_cells *)row)->of->state_ns, TIMELINE_STATES);
}

static struct table_rows lane_level_rows(const void *row)
{
    const struct lane_cells *lane = row;
    struct table_rows rows = table_rows__of(&texts_table);
    for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
        if (lane->timeline->is_kept[level])
            text_rows__take(&rows, base64(&lane->of->levels[level]));
    return rows;
}

static const struct table lanes_table =
    OBJECT(lane_cells, FIELDS(lane_cells, tid, pid, process, name, had_work, from_ns, to_ns),
           FIELD_LIST("state_ns", lane_state_rows), FIELD_LIST("levels", lane_level_rows));

/* ---- states ---------------------------------------------------------------------------------- */

/* The same again follow, on a CPU. */
struct state_cells {
    const char *key, *words;
};

static const struct table states_table = OBJECT(state_cells, FIELDS(state_cells, key, words));

/* ---- all of it ------------------------------------------------------------------------------- */

struct timeline_cells {
    const struct html_page *page;
    uint64_t from_ns, to_ns, all_waits, all_waits_ns;
};

static const struct timeline *timeline_of(const void *row)
{
    return ((const struct timeline_cells *)row)->page->timeline;
}

static struct table_rows state_rows(const void *row)
{
    const struct report *report = ((const struct timeline_cells *)row)->page->report;
    struct table_rows rows = table_rows__of(&states_table);
    for (unsigned i = 0; i < COMPONENTS; i++)
        TABLE_ROW(&rows, state_cells, component__key((enum component)i),
                  component__doing(report, (enum component)i));
    TABLE_ROW(&rows, state_cells, "idle", "idle");
    return rows;
}

static struct table_rows level_rows(const void *row)
{
    const struct timeline *timeline = timeline_of(row);
    struct table_rows rows = table_rows__of(&numbers_table);
    for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
        if (timeline->is_kept[level])
            vec__push(&rows.rows, &timeline->least_ns[level]);
    return rows;
}

/* As the report calls its role; else as it is named. */
static const char *lane_name(struct table_rows *rows, const struct report *report,
                             const struct trace_thread *thread, uint32_t place)
{
    const struct findings *findings = report->findings;
    const struct role *role = findings && findings->roles.count
                                  ? VEC_AT(&findings->roles, struct role, findings->roles_of[place])
                                  : NULL;
    char *name = role && !role->name ? role__bare_name(role) : NULL;
    if (name || !role)
        return name ? table_rows__keep(rows, name) : thread->name;
    char *library = role__of_library(role);
    if (role->is_of_openmp || *library)
        name = memory__format("%sthread%s", role->is_of_openmp ? "OpenMP " : "", library);
    free(library);
    return name ? table_rows__keep(rows, name) : thread->name;
}

static struct table_rows lane_rows(const void *row)
{
    const struct html_page *page = ((const struct timeline_cells *)row)->page;
    const struct vec *threads = trace__threads(page->report->trace);
    struct table_rows rows = table_rows__of(&lanes_table);
    VEC_EACH (lane, &page->timeline->lanes, struct timeline_lane) {
        const struct trace_thread *thread = VEC_AT(threads, struct trace_thread, lane->thread);
        bool had_work = page->report->findings && page->report->findings->had_work[lane->thread];
        TABLE_ROW(&rows, lane_cells, page->timeline, lane, thread->tid, thread->pid,
                  trace__serial_of(page->report->trace, lane->thread),
                  lane_name(&rows, page->report, thread, lane->thread), had_work, lane->from_ns,
                  lane->to_ns);
    }
    return rows;
}

/* ---- waits ----------------------------------------------------------------------------------- */

#define WAIT_COLUMN(name, value)                                        \
    static struct table_rows wait_##name##_rows(const void *row)        \
    {                                                                   \
        struct table_rows rows = table_rows__of(&numbers_table);        \
        VEC_EACH (wait, &timeline_of(row)->waits, struct timeline_wait) \
            *(uint64_t *)table_rows__add(&rows) = (value);              \
        return rows;                                                    \
    }

/* What is not known is null. */
#define IF_KNOWN(number) ((number) == UINT32_MAX ? UINT64_MAX : (number))

WAIT_COLUMN(lane, wait->thread)
WAIT_COLUMN(by, IF_KNOWN(wait->by))
WAIT_COLUMN(object, IF_KNOWN(wait->object))
WAIT_COLUMN(from, wait->from_ns)
WAIT_COLUMN(ns, wait->ns)
WAIT_COLUMN(by_ns, wait->by_ns)

WAIT_COLUMN(site, wait->site)
WAIT_COLUMN(by_site, wait->by_site)

static const struct table waits_table =
    OBJECT(timeline_cells, FIELD_LIST("lane", wait_lane_rows), FIELD_LIST("by", wait_by_rows),
           FIELD_LIST("object", wait_object_rows), FIELD_LIST("from_ns", wait_from_rows),
           FIELD_LIST("ns", wait_ns_rows), FIELD_LIST("by_ns", wait_by_ns_rows),
           FIELD_LIST("site", wait_site_rows), FIELD_LIST("by_site", wait_by_site_rows));

/* ---- their places ---------------------------------------------------------------------------- */

struct wait_site {
    uint32_t process; /* serial */
    uint64_t site;
};

static void add_site(struct vec *sites, const struct report *report, uint32_t thread, uint64_t site)
{
    if (site && thread != SYNC_EVENT_NOBODY)
        vec__push(sites, &(struct wait_site){trace__serial_of(report->trace, thread), site});
}

static int by_site(const void *left, const void *right)
{
    const struct wait_site *a = left, *b = right;
    return ORDER(a->process, b->process) ?: ORDER(a->site, b->site);
}

static struct vec sites_of_waits(const struct html_page *page)
{
    struct vec sites = VEC_OF(struct wait_site);
    VEC_EACH (wait, &page->timeline->waits, struct timeline_wait) {
        add_site(&sites, page->report, wait->thread, wait->site);
        add_site(&sites, page->report, wait->by, wait->by_site);
    }
    vec__sort(&sites, by_site);
    return sites;
}

struct wait_site_cells {
    uint32_t process;
    uint64_t site;
    const char *text;
};

static const struct table wait_sites_table =
    OBJECT(wait_site_cells, FIELDS(wait_site_cells, process, site, text));

/* Each once. */
static struct table_rows site_rows(const void *row)
{
    const struct html_page *page = ((const struct timeline_cells *)row)->page;
    struct table_rows rows = table_rows__of(&wait_sites_table);
    struct vec sites = sites_of_waits(page);
    const struct wait_site *last = NULL;
    VEC_EACH (site, &sites, struct wait_site) {
        if (last && by_site(last, site) == 0)
            continue;
        last = site;
        struct wait_site_cells *cells = table_rows__add(&rows);
        *cells = (struct wait_site_cells){site->process, site->site, NULL};
        cells->text = table_rows__keep(&rows, site__text(page->report, site->process, site->site));
    }
    vec__free(&sites);
    return rows;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct waited_object_cells {
    uint64_t number, address;
    uint32_t process;
    const char *kind, *name;
};

static const struct table objects_table =
    OBJECT(waited_object_cells, FIELD("number", waited_object_cells, number),
           FIELD_AS(COLUMN_ADDRESS, "address", waited_object_cells, address),
           FIELDS(waited_object_cells, process, kind, name));

static bool *objects_of_waits(const struct timeline *timeline)
{
    bool *are = memory__zeroed(timeline->objects.count + 1, sizeof *are);
    VEC_EACH (wait, &timeline->waits, struct timeline_wait)
        if (wait->object < timeline->objects.count)
            are[wait->object] = true;
    return are;
}

/* Those that were waited for. */
static struct table_rows object_rows(const void *row)
{
    const struct timeline *timeline = timeline_of(row);
    const struct report *report = ((const struct timeline_cells *)row)->page->report;
    struct table_rows rows = table_rows__of(&objects_table);
    bool *is_wanted = objects_of_waits(timeline);
    for (size_t i = 0; i < timeline->objects.count; i++) {
        const struct sync_object *object = VEC_AT(&timeline->objects, struct sync_object, i);
        if (!is_wanted[i])
            continue;
        struct waited_object_cells *cells = table_rows__add(&rows);
        *cells = (struct waited_object_cells){i, object->address, object->process,
                                              object__noun(object), NULL};
        cells->name = table_rows__keep(&rows, object__short_name(report, object));
    }
    free(is_wanted);
    return rows;
}

static const struct table timeline_table = OBJECT(
    timeline_cells, FIELDS(timeline_cells, from_ns, to_ns, all_waits, all_waits_ns),
    FIELD_LIST("states", state_rows), FIELD_LIST("least_ns", level_rows),
    FIELD_LIST("lanes", lane_rows), FIELD_LIST("sites", site_rows),
    FIELD_LIST("objects", object_rows), FIELD_OBJECT("waits", timeline_cells, page, waits_table));
_Static_assert(offsetof(struct timeline_cells, page) == 0, "the waits' object is the whole row");

struct table_rows html_timeline__row(const struct html_page *page)
{
    struct table_rows rows = table_rows__of(&timeline_table);
    const struct timeline *timeline = page->timeline;
    if (timeline && timeline->to_ns)
        TABLE_ROW(&rows, timeline_cells, page, timeline->from_ns, timeline->to_ns,
                  timeline->all_waits, timeline->all_waits_ns);
    return rows;
}
