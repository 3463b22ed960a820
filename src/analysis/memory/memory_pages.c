/* The samples at memory by page, and where they lie in a grid of offset and time. */
#include "analysis/memory/memory_views.h"

#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

#define SPARSE_TIMES 16 /* as many pages as there were samples at: then only these are shown */

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(MEMORY_PAGE_BYTES - 1);
}

/* ---- a row a page and thread ----------------------------------------------------------------- */

struct page_key {
    uint64_t object, address, thread;
};

static int by_page(const void *a, const void *b)
{
    const struct memory_page *left = a, *right = b;
    return ORDER(left->object, right->object) ?: ORDER(left->process, right->process)
               ?: ORDER(left->address, right->address) ?: ORDER(left->thread, right->thread);
}

struct vec memory_pages__rows(const struct memory_use *use, struct memory_choice choice)
{
    struct vec rows = VEC_OF(struct memory_page);
    struct map number_of = {0};
    VEC_EACH (at, &use->at_memory, const struct memory_sample) {
        const struct memory_object *object =
            VEC_AT(&use->objects, struct memory_object, at->object);
        struct page_key key = {at->object, page_of(at->sample->address), at->thread};
        if (!memory_choice__has(&choice, at))
            continue;
        uint64_t number = map__put(&number_of, &key, sizeof key, rows.count);
        if (number == rows.count)
            vec__push(&rows, &(struct memory_page){.object = at->object,
                                                   .process = object->process,
                                                   .address = key.address,
                                                   .thread = at->thread});
        struct memory_page *row = VEC_AT(&rows, struct memory_page, number);
        row->samples++;
        row->ns += at->sample->weight_ns;
        row->written_ns += sample__writes(at->sample) ? at->sample->weight_ns : 0;
    }
    map__free(&number_of);
    vec__sort(&rows, by_page);
    return rows;
}

/* ---- the pages as an axis -------------------------------------------------------------------- */

/* The addresses at which there were samples, one behind the other, or page by page where they lie
 * far apart. */
struct page_axis {
    struct vec pages;   /* uint64_t: at which there were samples, by address */
    uint64_t low, high; /* the first byte, and behind the last */
    bool is_whole;
    bool is_one; /* of one object whose bounds are known */
};

static void take_bounds(struct page_axis *axis, const struct memory_sample *at,
                        const struct allocation *first)
{
    uint64_t from = at->sample->address, to = from + (at->sample->bytes ? at->sample->bytes : 1);
    if (first && at->allocation == first) {
        from = first->address;
        to = first->address + first->bytes;
    }
    axis->low = from < axis->low ? from : axis->low;
    axis->high = to > axis->high ? to : axis->high;
    axis->is_one &= first && at->allocation == first;
}

static struct page_axis axis_of(const struct memory_use *use, struct memory_choice choice)
{
    struct page_axis axis = {VEC_OF(uint64_t), UINT64_MAX, 0, true, true};
    const struct allocation *first = NULL;
    size_t kept = 0;
    VEC_EACH (at, &use->at_memory, const struct memory_sample) {
        uint64_t page = page_of(at->sample->address);
        if (!memory_choice__has(&choice, at))
            continue;
        first = axis.pages.count ? first : at->allocation;
        take_bounds(&axis, at, first);
        vec__push(&axis.pages, &page);
    }
    vec__sort(&axis.pages, order__u64);
    VEC_EACH (page, &axis.pages, uint64_t)
        if (!kept || *VEC_AT(&axis.pages, uint64_t, kept - 1) != *page)
            *VEC_AT(&axis.pages, uint64_t, kept++) = *page;
    axis.pages.count = kept;
    axis.low = kept ? axis.low : 0;
    uint64_t pages =
        kept ? (page_of(axis.high - 1) - page_of(axis.low)) / MEMORY_PAGE_BYTES + 1 : 0;
    axis.is_whole = axis.is_one || pages <= SPARSE_TIMES * kept;
    return axis;
}

static uint64_t page_count(const struct page_axis *axis)
{
    if (!axis->is_whole || !axis->pages.count)
        return axis->pages.count;
    return (page_of(axis->high - 1) - page_of(axis->low)) / MEMORY_PAGE_BYTES + 1;
}

/* Of the pages that the axis stands for. */
static uint64_t page_number(const struct page_axis *axis, uint64_t address)
{
    uint64_t page = page_of(address);
    if (axis->is_whole)
        return (page - page_of(axis->low)) / MEMORY_PAGE_BYTES;
    return VEC_FIRST(known, &axis->pages, uint64_t, *known >= page);
}

/* ---- threads by pages ------------------------------------------------------------------------ */

static struct page_thread *row_of(struct memory_pages *pages, struct map *number_of,
                                  uint32_t thread)
{
    uint64_t number = map__put(number_of, &thread, sizeof thread, pages->threads.count);
    if (number == pages->threads.count) {
        struct page_thread *added = vec__push(&pages->threads, NULL);
        added->thread = thread;
        added->column_ns = memory__zeroed(pages->columns, sizeof *added->column_ns);
    }
    return VEC_AT(&pages->threads, struct page_thread, number);
}

static void find_extremes(struct memory_pages *pages)
{
    pages->least_ns = UINT64_MAX;
    VEC_EACH (thread, &pages->threads, const struct page_thread)
        for (uint32_t i = 0; i < pages->columns; i++) {
            uint64_t ns = thread->column_ns[i];
            pages->least_ns = ns && ns < pages->least_ns ? ns : pages->least_ns;
            pages->most_ns = ns > pages->most_ns ? ns : pages->most_ns;
        }
}

static int by_thread(const void *a, const void *b)
{
    const struct page_thread *left = a, *right = b;
    return ORDER(left->thread, right->thread);
}

struct memory_pages memory_pages__of(const struct memory_use *use, struct memory_choice choice,
                                     uint32_t columns_most)
{
    struct page_axis axis = axis_of(use, choice);
    struct memory_pages pages = {.first = page_of(axis.low),
                                 .is_whole = axis.is_whole,
                                 .pages = page_count(&axis),
                                 .threads = VEC_OF(struct page_thread)};
    struct map number_of = {0};
    pages.column_each = (pages.pages + columns_most - 1) / columns_most;
    pages.columns =
        pages.pages ? (uint32_t)((pages.pages + pages.column_each - 1) / pages.column_each) : 0;
    VEC_EACH (at, &use->at_memory, const struct memory_sample) {
        if (!memory_choice__has(&choice, at))
            continue;
        struct page_thread *row = row_of(&pages, &number_of, at->thread);
        uint64_t column = page_number(&axis, at->sample->address) / pages.column_each;
        row->ns += at->sample->weight_ns;
        row->column_ns[column] += at->sample->weight_ns;
    }
    map__free(&number_of);
    vec__free(&axis.pages);
    vec__sort(&pages.threads, by_thread);
    find_extremes(&pages);
    return pages;
}

void memory_pages__free(struct memory_pages *pages)
{
    VEC_EACH (thread, &pages->threads, struct page_thread)
        free(thread->column_ns);
    vec__free(&pages->threads);
}

static double level_most(const struct memory_pages *pages, unsigned level)
{
    double each = 1.0 / MEMORY_PAGE_LEVELS;
    double step = pow((double)pages->most_ns / (double)pages->least_ns, each);
    return (double)pages->most_ns * pow(fmax(step, 2), (double)level - MEMORY_PAGE_LEVELS);
}

unsigned memory_pages__level(const struct memory_pages *pages, uint64_t ns)
{
    unsigned level = 1;
    while (level < MEMORY_PAGE_LEVELS && (double)ns > level_most(pages, level))
        level++;
    return ns ? level : 0;
}

uint64_t memory_pages__level_ns(const struct memory_pages *pages, unsigned level)
{
    return (uint64_t)level_most(pages, level);
}

/* ---- dots ------------------------------------------------------------------------------------ */

struct dot_key {
    uint32_t x, y;
};

/* Of one cell; the thread's part of it. */
struct dot_thread {
    uint32_t x, y, thread;
};

struct dot_sums {
    struct memory_dots *dots;
    struct map number_of, part_of;
    struct vec parts; /* uint64_t: ns */
};

static void add_dot(struct dot_sums *sums, const struct memory_sample *at, uint32_t y)
{
    struct dot_key key = {memory_times__slice(&sums->dots->times, at->since_ns), y};
    struct dot_thread part = {key.x, key.y, at->thread};
    struct vec *dots = &sums->dots->dots;
    uint64_t number = map__put(&sums->number_of, &key, sizeof key, dots->count);
    uint64_t part_number = map__put(&sums->part_of, &part, sizeof part, sums->parts.count);
    if (number == dots->count)
        vec__push(dots, &(struct memory_dot){.x = key.x, .y = key.y});
    struct memory_dot *dot = VEC_AT(dots, struct memory_dot, number);
    uint64_t *ns = VEC_REACH(&sums->parts, uint64_t, part_number);
    *ns += at->sample->weight_ns;
    dot->ns += at->sample->weight_ns;
    dot->written_ns += sample__writes(at->sample) ? at->sample->weight_ns : 0;
    if (*ns > dot->most_ns) {
        dot->most_ns = *ns;
        dot->thread = at->thread;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct memory_dot *left = a, *right = b;
    return ORDER(left->y, right->y) ?: ORDER(left->x, right->x);
}

static struct dot_sums begin_dots(struct memory_dots *dots)
{
    dots->dots = VEC_OF(struct memory_dot);
    return (struct dot_sums){.dots = dots, .parts = VEC_OF(uint64_t)};
}

static void end_dots(struct dot_sums *sums)
{
    map__free(&sums->number_of);
    map__free(&sums->part_of);
    vec__free(&sums->parts);
    vec__sort(&sums->dots->dots, by_place);
}

/* Of so many rows. */
static uint32_t row_at(const struct page_axis *axis, uint64_t address, uint32_t rows)
{
    double part;
    if (axis->is_whole)
        part = (double)(address - axis->low) / (double)(axis->high - axis->low);
    else
        part = ((double)page_number(axis, address) +
                (double)(address % MEMORY_PAGE_BYTES) / MEMORY_PAGE_BYTES) /
               (double)axis->pages.count;
    uint32_t row = (uint32_t)(part * rows);
    return row < rows ? row : rows - 1;
}

struct memory_dots memory_dots__of(const struct memory_use *use, struct memory_choice choice,
                                   uint32_t columns, uint32_t rows)
{
    struct page_axis axis = axis_of(use, choice);
    struct memory_dots dots = {.times = memory_times__of(use, choice, columns),
                               .low = axis.low,
                               .high = axis.high,
                               .is_whole = axis.is_whole,
                               .pages = page_count(&axis),
                               .rows = rows};
    struct dot_sums sums = begin_dots(&dots);
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at))
            add_dot(&sums, at, row_at(&axis, at->sample->address, rows));
    end_dots(&sums);
    vec__free(&axis.pages);
    return dots;
}

struct memory_dots memory_dots__by_object(const struct memory_use *use, struct memory_choice choice,
                                          uint32_t columns, uint32_t rows)
{
    struct memory_dots dots = {.times = memory_times__of(use, choice, columns), .rows = rows};
    struct dot_sums sums = begin_dots(&dots);
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        if (memory_choice__has(&choice, at) && at->object < rows)
            add_dot(&sums, at, at->object);
    end_dots(&sums);
    return dots;
}

void memory_dots__free(struct memory_dots *dots)
{
    vec__free(&dots->dots);
}
