#include "recorder/placement_log.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kernel/page_nodes.h"
#include "recorder/machine_file.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_LEAST_NS 100000000u /* from asking for all pages to asking again, */
#define AGAIN_PART 50u            /* and so many times as long as that took of a CPU */
#define PAGES_MOST 30000u         /* that are asked for again */
/* Mappings are looked at for huge pages so many times as long after it as that took of a CPU; where
 * samples named no other pages since, so many times that. */
#define LOOK_LEAST_NS 20000000u
#define LOOK_PART 20u
#define LOOK_SELDOM 8u

/* A page that samples named. */
struct known_page {
    uint64_t address;
    uint32_t pid;
    int16_t node;
    bool is_huge, is_told;
};

/* Of which process and page a sample is that waits to be written. */
struct waiting_sample {
    struct heurt_placed placed;
    uint64_t page; /* index */
};

struct placement_log {
    struct trace_writer *writer;
    struct vec pages; /* struct known_page */
    struct map page_of;
    struct vec waiting;                /* struct waiting_sample */
    struct vec told;                   /* struct heurt_page: to be written */
    uint64_t again_ns;                 /* when all are asked for */
    uint64_t looked_ns, look_pause_ns; /* when mappings were looked at, and the least time until
                                          they are again */
    size_t looked_at;                  /* pages that there were then */
};

struct placement_log *placement_log__new(struct trace_writer *writer)
{
    if (!machine_file__has_nodes())
        return NULL;
    struct placement_log *log = memory__zeroed(1, sizeof *log);
    log->writer = writer;
    log->pages = VEC_OF(struct known_page);
    log->waiting = VEC_OF(struct waiting_sample);
    log->told = VEC_OF(struct heurt_page);
    return log;
}

void placement_log__free(struct placement_log *log)
{
    if (!log)
        return;
    vec__free(&log->pages);
    vec__free(&log->waiting);
    vec__free(&log->told);
    map__free(&log->page_of);
    free(log);
}

static uint64_t page_of(struct placement_log *log, uint32_t pid, uint64_t address)
{
    struct {
        uint64_t pid, address;
    } key = {pid, address & ~(uint64_t)(HEURT_PAGE_BYTES - 1)};
    uint64_t next = log->pages.count, index = map__put(&log->page_of, &key, sizeof key, next);
    if (index == next)
        vec__push(&log->pages, &(struct known_page){key.address, pid, HEURT_NODE_UNKNOWN});
    return index;
}

void placement_log__take(struct placement_log *log, const struct heurt_sample *sample, uint32_t cpu)
{
    if (!log || !sample->address)
        return;
    struct waiting_sample waiting = {
        {sample->monotonic_ns, sample->tid, (uint16_t)cpu, HEURT_NODE_UNKNOWN},
        page_of(log, sample->pid, sample->address)};
    vec__push(&log->waiting, &waiting);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int by_process(const void *a, const void *b)
{
    const struct known_page *const *left = a, *const *right = b;
    return ORDER((*left)->pid, (*right)->pid) ?: ORDER((*left)->address, (*right)->address);
}

static void tell(struct placement_log *log, struct known_page *page, int16_t node, bool is_huge,
                 uint64_t now_ns)
{
    bool is_news = !page->is_told || (node != HEURT_NODE_UNKNOWN && node != page->node) ||
                   is_huge != page->is_huge;
    page->node = node == HEURT_NODE_UNKNOWN ? page->node : node;
    page->is_huge = is_huge;
    if (!is_news || page->node == HEURT_NODE_UNKNOWN)
        return;
    page->is_told = true;
    struct heurt_page told = {now_ns, page->address, page->pid, page->node,
                              is_huge ? HEURT_PAGE_HUGE : 0};
    vec__push(&log->told, &told);
}

/* Does something for the pages of each process, by address. pages: struct known_page *. */
static void each_process(struct placement_log *log, struct vec *pages,
                         void (*visit)(struct placement_log *log, struct known_page **pages,
                                       const uint64_t *addresses, size_t count))
{
    struct known_page **items = pages->items;
    uint64_t *addresses = memory__zeroed(pages->count + 1, sizeof *addresses);
    vec__sort(pages, by_process);
    for (size_t i = 0, next; i < pages->count; i = next) {
        for (next = i; next < pages->count && items[next]->pid == items[i]->pid; next++)
            addresses[next - i] = items[next]->address;
        visit(log, items + i, addresses, next - i);
    }
    free(addresses);
}

static void ask_nodes(struct placement_log *log, struct known_page **pages,
                      const uint64_t *addresses, size_t count)
{
    int16_t *nodes = memory__zeroed(count, sizeof *nodes);
    bool is_there = page_nodes__ask((pid_t)pages[0]->pid, addresses, count, nodes);
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
    for (size_t i = 0; is_there && i < count; i++)
        tell(log, pages[i], nodes[i], pages[i]->is_huge, now_ns);
    free(nodes);
}

static void look_for_huge(struct placement_log *log, struct known_page **pages,
                          const uint64_t *addresses, size_t count)
{
    bool *are_huge = memory__zeroed(count, sizeof *are_huge);
    char smaps[64];
    snprintf(smaps, sizeof smaps, "/proc/%u/smaps", pages[0]->pid);
    bool is_there = page_nodes__find_huge(smaps, addresses, count, are_huge);
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
    for (size_t i = 0; is_there && i < count; i++)
        tell(log, pages[i], HEURT_NODE_UNKNOWN, are_huge[i], now_ns);
    free(are_huge);
}

/* Those that samples have named since the last time. */
static void ask_waiting(struct placement_log *log)
{
    struct vec pages = VEC_OF(struct known_page *);
    struct map seen = {0};
    VEC_EACH (waiting, &log->waiting, struct waiting_sample) {
        struct known_page *page = VEC_AT(&log->pages, struct known_page, waiting->page);
        if (map__put(&seen, &waiting->page, sizeof waiting->page, pages.count) == pages.count)
            vec__push(&pages, &page);
    }
    each_process(log, &pages, ask_nodes);
    map__free(&seen);
    vec__free(&pages);
}

/* All; of more than can be asked for those that were named last. Times longer than what that took
 * of a CPU, least at least. */
static uint64_t visit_all(struct placement_log *log, uint64_t times, uint64_t least_ns,
                          void (*visit)(struct placement_log *log, struct known_page **pages,
                                        const uint64_t *addresses, size_t count))
{
    uint64_t begun_ns = clock__ns(CLOCK_THREAD_CPUTIME_ID);
    struct vec pages = VEC_OF(struct known_page *);
    size_t first = log->pages.count > PAGES_MOST ? log->pages.count - PAGES_MOST : 0;
    for (size_t i = first; i < log->pages.count; i++) {
        struct known_page *page = VEC_AT(&log->pages, struct known_page, i);
        vec__push(&pages, &page);
    }
    each_process(log, &pages, visit);
    vec__free(&pages);
    uint64_t pause_ns = (clock__ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns) * times;
    return pause_ns > least_ns ? pause_ns : least_ns;
}

static bool is_time_to_look(const struct placement_log *log, uint64_t now_ns)
{
    uint64_t times = log->pages.count > log->looked_at ? 1 : LOOK_SELDOM;
    return now_ns - log->looked_ns >= times * log->look_pause_ns;
}

static void look_again(struct placement_log *log, uint64_t now_ns)
{
    log->look_pause_ns = visit_all(log, LOOK_PART, LOOK_LEAST_NS, look_for_huge);
    log->looked_at = log->pages.count;
    log->looked_ns = now_ns;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_placed(struct placement_log *log)
{
    struct vec rows = VEC_OF(struct heurt_placed);
    VEC_EACH (waiting, &log->waiting, struct waiting_sample) {
        waiting->placed.node = VEC_AT(&log->pages, struct known_page, waiting->page)->node;
        vec__push(&rows, &waiting->placed);
    }
    trace_writer__define(log->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_PLACED, rows.items,
                         rows.count * sizeof(struct heurt_placed));
    vec__free(&rows);
    log->waiting.count = 0;
}

void placement_log__flush(struct placement_log *log)
{
    if (!log)
        return;
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
    if (log->waiting.count) {
        ask_waiting(log);
        write_placed(log);
    }
    if (log->pages.count && now_ns >= log->again_ns)
        log->again_ns = now_ns + visit_all(log, AGAIN_PART, AGAIN_LEAST_NS, ask_nodes);
    if (log->pages.count && is_time_to_look(log, now_ns))
        look_again(log, now_ns);
    if (log->told.count)
        trace_writer__define(log->writer, HEURT_NO_SERIAL, HEURT_DEFINITION_PAGES, log->told.items,
                             log->told.count * sizeof(struct heurt_page));
    log->told.count = 0;
}
