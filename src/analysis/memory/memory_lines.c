#include "analysis/memory/memory_views.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

#define READ_PART 20     /* a byte that fewer of a thread's samples are at is none that it uses */
#define WRITTEN_PART 100 /* or writes, which waits in the processor and is seen more rarely */

/* ---- those of most time ---------------------------------------------------------------------- */

struct line_place {
    uint64_t object, line;
};

static struct line_place place_of(const struct memory_sample *at)
{
    return (struct line_place){at->object, at->sample->address / MEMORY_LINE_BYTES};
}

struct line_sum {
    struct line_place place;
    uint64_t ns;
    uint32_t thread;
    bool is_of_several, is_written;
};

static void add_sum(struct line_sum *sum, const struct memory_sample *at)
{
    sum->ns += at->sample->weight_ns;
    sum->is_of_several |= sum->thread != at->thread;
    sum->is_written |= sample__writes(at->sample);
}

static struct vec sums_of(const struct memory_use *use, struct memory_choice choice)
{
    struct vec sums = VEC_OF(struct line_sum);
    struct map number_of = {0};
    VEC_EACH (at, &use->at_memory, const struct memory_sample) {
        struct line_place place = place_of(at);
        if (!memory_choice__has(&choice, at))
            continue;
        uint64_t number = map__put(&number_of, &place, sizeof place, sums.count);
        if (number == sums.count)
            vec__push(&sums, &(struct line_sum){.place = place, .thread = at->thread});
        add_sum(VEC_AT(&sums, struct line_sum, number), at);
    }
    map__free(&number_of);
    return sums;
}

static int by_sum(const void *a, const void *b)
{
    const struct line_sum *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->place.object, right->place.object)
               ?: ORDER(left->place.line, right->place.line);
}

/* Those that count, the first ones of them are shown. */
static struct vec chosen_lines(const struct memory_use *use, struct memory_choice choice,
                               uint64_t *all)
{
    struct vec sums = sums_of(use, choice);
    size_t kept = 0;
    VEC_EACH (sum, &sums, struct line_sum)
        if (choice.object != MEMORY_EVERY || (sum->is_of_several && sum->is_written))
            *VEC_AT(&sums, struct line_sum, kept++) = *sum;
    sums.count = kept;
    *all = kept;
    vec__sort(&sums, by_sum);
    sums.count = kept < MEMORY_LINES_MOST ? kept : MEMORY_LINES_MOST;
    return sums;
}

/* ---- who does what there --------------------------------------------------------------------- */

static struct line_thread *thread_of(struct memory_line *line, uint32_t thread)
{
    VEC_EACH (known, &line->threads, struct line_thread)
        if (known->thread == thread)
            return known;
    struct line_thread *added = vec__push(&line->threads, NULL);
    added->thread = thread;
    return added;
}

static void add_bytes(struct line_thread *thread, const struct heurt_sample *sample)
{
    uint64_t from = sample->address % MEMORY_LINE_BYTES;
    uint64_t to = from + (sample->bytes ? sample->bytes : 1);
    uint64_t *bytes = sample__writes(sample) ? thread->written_ns : thread->read_ns;
    for (uint64_t b = from; b < to && b < MEMORY_LINE_BYTES; b++)
        bytes[b] += sample->weight_ns;
}

static void add_to_line(struct memory_line *line, const struct memory_sample *at,
                        const struct memory_times *times)
{
    struct line_thread *thread = thread_of(line, at->thread);
    thread->ns += at->sample->weight_ns;
    thread->slice_ns[memory_times__slice(times, at->since_ns)] += at->sample->weight_ns;
    add_bytes(thread, at->sample);
    if (at->allocation && !line->allocated)
        line->allocated = at->allocation->address;
}

bool line_thread__reads(const struct line_thread *thread, size_t byte)
{
    return thread->read_ns[byte] * READ_PART > thread->ns;
}

bool line_thread__writes(const struct line_thread *thread, size_t byte)
{
    return thread->written_ns[byte] * WRITTEN_PART > thread->ns;
}

static bool is_met(const struct memory_line *line, size_t byte)
{
    unsigned writers = 0, users = 0;
    VEC_EACH (thread, &line->threads, const struct line_thread) {
        bool writes = line_thread__writes(thread, byte);
        writers += writes;
        users += writes || line_thread__reads(thread, byte);
    }
    return writers && users > 1;
}

static int by_ns(const void *a, const void *b)
{
    const struct line_thread *left = a, *right = b;
    return ORDER(right->ns, left->ns) ?: ORDER(left->thread, right->thread);
}

static void end_line(struct memory_line *line)
{
    for (size_t b = 0; b < MEMORY_LINE_BYTES; b++)
        line->met |= is_met(line, b) ? 1ull << b : 0;
    vec__sort(&line->threads, by_ns);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_line(struct memory_lines *lines, const struct memory_use *use,
                     const struct line_sum *sum)
{
    struct memory_line *line = vec__push(&lines->lines, NULL);
    line->object = (uint32_t)sum->place.object;
    line->process = VEC_AT(&use->objects, struct memory_object, line->object)->process;
    line->address = sum->place.line * MEMORY_LINE_BYTES;
    line->ns = sum->ns;
    line->is_shared = sum->is_of_several && sum->is_written;
    line->threads = VEC_OF(struct line_thread);
}

/* An object that lies on a line, of which there were samples. */
struct line_object {
    uint64_t line, allocation;
};

static void count_objects(struct memory_line *line, size_t number, struct map *known,
                          const struct memory_sample *at)
{
    if (!at->allocation)
        return;
    struct line_object key = {number, at->allocation->number};
    size_t before = known->count;
    map__put(known, &key, sizeof key, 1);
    line->objects += known->count > before;
}

static void fill(struct memory_lines *lines, const struct memory_use *use,
                 struct memory_choice choice, const struct map *number_of)
{
    struct map objects = {0};
    VEC_EACH (at, &use->at_memory, const struct memory_sample) {
        struct line_place place = place_of(at);
        uint64_t number = memory_choice__has(&choice, at)
                              ? map__get(number_of, &place, sizeof place)
                              : MAP_ABSENT;
        if (number == MAP_ABSENT)
            continue;
        struct memory_line *line = VEC_AT(&lines->lines, struct memory_line, number);
        add_to_line(line, at, &lines->times);
        count_objects(line, number, &objects, at);
    }
    map__free(&objects);
}

struct memory_lines memory_lines__of(const struct memory_use *use, struct memory_choice choice)
{
    struct memory_lines lines = {.lines = VEC_OF(struct memory_line),
                                 .times = memory_times__of(use, choice, MEMORY_SLICES)};
    struct vec sums = chosen_lines(use, choice, &lines.all);
    struct map number_of = {0};
    VEC_EACH (sum, &sums, const struct line_sum) {
        map__put(&number_of, &sum->place, sizeof sum->place, lines.lines.count);
        add_line(&lines, use, sum);
    }
    fill(&lines, use, choice, &number_of);
    VEC_EACH (line, &lines.lines, struct memory_line)
        end_line(line);
    map__free(&number_of);
    vec__free(&sums);
    return lines;
}

void memory_lines__free(struct memory_lines *lines)
{
    VEC_EACH (line, &lines->lines, struct memory_line)
        vec__free(&line->threads);
    vec__free(&lines->lines);
}
