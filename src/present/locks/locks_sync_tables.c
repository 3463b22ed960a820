/* Where threads meet: conditions, semaphores, barriers and futexes, a short table each. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_AT_MOST 8

/* A section: its rows' kind, its heading, and what stands in a line behind # and name. */
struct section_cells {
    enum class_kind kind;
    const char *heading, *idle_heading;
    const struct grid_column *columns;
    size_t column_count;
    void (*put)(struct grid *grid, const struct locks_report *locks, const struct lock_row *row);
};

static void put_wake(struct grid *grid, const struct lock_row *row)
{
    if (row->wake.count == 0) {
        grid__cell(grid, memory__text("-"), INK_PLAIN);
        grid__cell(grid, memory__text("-"), INK_PLAIN);
        return;
    }
    grid__duration(grid, lock_times__mean_ns(&row->wake));
    grid__duration(grid, row->wake.max_ns);
}

static void put_condition(struct grid *grid, const struct locks_report *locks,
                          const struct lock_row *row)
{
    (void)locks;
    grid__duration(grid, row->exclusive.wait.sum_ns);
    grid__count(grid, row->exclusive.wait.count);
    grid__count(grid, row->signals);
    grid__count(grid, row->signals_for_nobody);
    put_wake(grid, row);
}

static void put_semaphore(struct grid *grid, const struct locks_report *locks,
                          const struct lock_row *row)
{
    (void)locks;
    grid__duration(grid, row->exclusive.wait.sum_ns);
    grid__count(grid, row->exclusive.acquisitions);
    grid__share(grid, ratio(row->exclusive.contended, row->exclusive.acquisitions));
    grid__count(grid, row->signals);
    put_wake(grid, row);
}

static void put_barrier(struct grid *grid, const struct locks_report *locks,
                        const struct lock_row *row)
{
    char share[16];
    grid__duration(grid, row->exclusive.wait.sum_ns);
    grid__count(grid, row->rounds);
    grid__duration(grid, lock_times__mean_ns(&row->spread));
    grid__duration(grid, row->spread.max_ns);
    char *thread = thread__text(locks->report, row->last_arriver);
    grid__take(grid,
               memory__format("%s, %s of rounds", thread,
                              share__format(ratio(row->last_arrivals, row->rounds), share)),
               INK_PLAIN);
    free(thread);
}

static const struct grid_column condition_columns[] = {
    {"#", RIGHT},       {"condition", WRAPPED}, {"waited", RIGHT},  {"waits", RIGHT},
    {"signals", RIGHT}, {"for nobody", RIGHT},  {"to wake", RIGHT}, {"max", RIGHT}};
static const struct grid_column semaphore_columns[] = {
    {"#", RIGHT},         {"semaphore", WRAPPED}, {"waited", RIGHT},  {"taken", RIGHT},
    {"contended", RIGHT}, {"posts", RIGHT},       {"to wake", RIGHT}, {"max", RIGHT}};
static const struct grid_column barrier_columns[] = {
    {"#", RIGHT},      {"barrier", WRAPPED}, {"waited", RIGHT},        {"rounds", RIGHT},
    {"spread", RIGHT}, {"max", RIGHT},       {"usually last", WRAPPED}};
static const struct grid_column futex_columns[] = {
    {"#", RIGHT},     {"futex", WRAPPED},    {"waited", RIGHT},  {"waits", RIGHT},
    {"wakes", RIGHT}, {"for nobody", RIGHT}, {"to wake", RIGHT}, {"max", RIGHT}};

static const struct section_cells sections[] = {
    {CLASS_CONDITION, "conditions (to wake: from the signal until the waiting thread runs, mean)",
     "conditions at which threads wait for work, events or time", condition_columns, 8,
     put_condition},
    {CLASS_SEMAPHORE, "semaphores (to wake: from the post until the waiting thread runs, mean)",
     "semaphores at which threads wait for work, events or time", semaphore_columns, 8,
     put_semaphore},
    {CLASS_BARRIER, "barriers (spread: from the first arrival to the last, mean)", NULL,
     barrier_columns, 7, put_barrier},
    {CLASS_FUTEX, "futexes of the program's own", NULL, futex_columns, 8, put_condition},
};

static bool was_waited_for(const struct lock_row *row)
{
    return lock_row__wait_ns(row) > 0;
}

/* waited: only those that somebody waited for. */
static size_t rows_of(const struct locks_report *locks, enum class_kind kind, bool idle,
                      bool waited)
{
    size_t count = 0;
    VEC_EACH (row, &locks->result->rows, struct lock_row)
        count +=
            row->object.kind == kind && row->is_idle == idle && (!waited || was_waited_for(row));
    return count;
}

static void put_section(const struct section_cells *section, const struct locks_report *locks,
                        bool idle, const struct style *style, FILE *out)
{
    size_t shown = 0, rank = 0, all = rows_of(locks, section->kind, idle, false);
    size_t waited = rows_of(locks, section->kind, idle, true);
    if (all == 0 || (waited == 0 && section->kind == CLASS_FUTEX))
        return; /* libraries wake who may wait for what they have made once */
    heading__put(style, out, idle ? section->idle_heading : section->heading);
    struct grid grid = grid__start(section->columns, section->column_count, 1);
    VEC_EACH (row, &locks->result->rows, struct lock_row) {
        rank++;
        if (row->object.kind != section->kind || row->is_idle != idle || shown == ROWS_AT_MOST ||
            (waited > 0 && !was_waited_for(row)))
            continue;
        grid__cell(&grid, memory__format("%zu", rank), INK_PLAIN);
        grid__take(&grid, object__name(locks->report, &row->object), INK_BOLD);
        section->put(&grid, locks, row);
        shown++;
    }
    if (shown < all)
        grid__note(&grid, memory__format("    and %zu more%s (--csv has all)", all - shown,
                                         shown == waited ? " that nobody waited for" : ""));
    grid__end(&grid, style, out);
}

void sync_objects__put(const struct locks_report *locks, const struct style *style, FILE *out)
{
    const size_t count = sizeof sections / sizeof sections[0];
    for (size_t i = 0; i < 2 * count; i++)
        put_section(&sections[i % count], locks, i >= count, style, out);
}
