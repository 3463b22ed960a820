#include "analysis/memory/births.h"
#include "analysis/memory/internal.h"
#include "analysis/memory/memory_use.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_LEAST 8  /* at a place: fewer are chance */
#define OF_EACH_LEAST 2  /* of these, of each of two threads */
#define BYTE_PART 20     /* a byte that fewer of a thread's samples are at is none that it uses */
#define WRITTEN_PART 100 /* or writes, which waits in the processor and is seen more rarely */

/* ---- a line ---------------------------------------------------------------------------------- */

/* A thread that was at a line. */
struct at_line {
    uint32_t thread;
    uint64_t read[CACHE_LINE_BYTES], written[CACHE_LINE_BYTES]; /* ns by byte */
    uint64_t ns;
    bool writes;
    uint64_t uses_bytes, writes_bytes; /* a bit each */
    bool is_apart;                     /* from one of the others: they have different bytes */
    uint64_t both_write;               /* what another one writes, too */
};

static size_t last_byte(const struct line_sample *at)
{
    uint64_t end = at->address % CACHE_LINE_BYTES + (at->sample->bytes ? at->sample->bytes : 1);
    return (size_t)(end < CACHE_LINE_BYTES ? end : CACHE_LINE_BYTES);
}

static struct at_line *at_line_of(struct vec *threads, uint32_t thread)
{
    VEC_EACH (known, threads, struct at_line)
        if (known->thread == thread)
            return known;
    struct at_line *added = vec__push(threads, NULL);
    added->thread = thread;
    return added;
}

/* Bytes that the thread reads or writes so often that it is there for them, a bit each. */
static uint64_t bytes_used(const struct at_line *thread, bool writing)
{
    uint64_t bytes = 0;
    for (size_t b = 0; b < CACHE_LINE_BYTES; b++) {
        uint64_t ns = thread->written[b] + (writing ? 0 : thread->read[b]);
        if (ns * (writing ? WRITTEN_PART : BYTE_PART) > thread->ns)
            bytes |= 1ull << b;
    }
    return bytes;
}

/* One of both writes a byte that both use: what it holds is handed over. */
static uint64_t handed_over(const struct at_line *one, const struct at_line *other)
{
    return (one->writes_bytes & other->uses_bytes) | (one->uses_bytes & other->writes_bytes);
}

/* How much of what a thread does at the line has nothing to do with the other. */
static double apart(const struct at_line *thread, const struct at_line *other)
{
    uint64_t all = 0, own = 0, handed = handed_over(thread, other);
    for (size_t b = 0; b < CACHE_LINE_BYTES; b++) {
        uint64_t ns = thread->read[b] + thread->written[b];
        all += ns;
        own += handed >> b & 1 ? 0 : ns;
    }
    return all ? (double)own / (double)all : 0;
}

enum sharing_kind {
    SHARING_NONE,  /* what one writes, others read: that is how they speak to each other */
    SHARING_FALSE, /* both do mostly what is not the other's business */
    SHARING_TRUE   /* both write the same bytes */
};

/* What threads do to each other, once all samples of the line are added. */
static void judge_threads(struct vec *threads)
{
    VEC_EACH (thread, threads, struct at_line) {
        thread->uses_bytes = bytes_used(thread, false);
        thread->writes_bytes = bytes_used(thread, true);
    }
    VEC_EACH (own, threads, struct at_line)
        VEC_EACH (other, threads, struct at_line) {
            if (other == own || (!other->writes && !own->writes))
                continue;
            own->is_apart |= apart(own, other) >= 0.5 && apart(other, own) >= 0.5;
            own->both_write |= own->writes_bytes & other->writes_bytes;
        }
}

static struct vec threads_at(const struct line_sample *samples, size_t count)
{
    struct vec threads = VEC_OF(struct at_line);
    for (size_t i = 0; i < count; i++) {
        struct at_line *thread = at_line_of(&threads, samples[i].thread);
        uint64_t *bytes = sample__writes(samples[i].sample) ? thread->written : thread->read;
        thread->ns += samples[i].sample->weight_ns;
        thread->writes |= sample__writes(samples[i].sample);
        for (size_t b = samples[i].address % CACHE_LINE_BYTES; b < last_byte(&samples[i]); b++)
            bytes[b] += samples[i].sample->weight_ns;
    }
    judge_threads(&threads);
    return threads;
}

static enum sharing_kind kind_of(const struct line_sample *at, const struct at_line *own)
{
    if (own->is_apart)
        return SHARING_FALSE;
    for (size_t b = at->address % CACHE_LINE_BYTES; b < last_byte(at); b++)
        if (own->both_write >> b & 1)
            return SHARING_TRUE;
    return SHARING_NONE;
}

/* Whether another thread was at the line at that time, and one of both writes there. */
static bool is_contended(const struct line_sample *samples, size_t count, size_t i,
                         const bool *thread_writes)
{
    const struct heurt_sample *sample = samples[i].sample;
    uint64_t near_ns = (uint64_t)TOGETHER_PERIODS * sample->weight_ns;
    for (int step = -1; step <= 1; step += 2)
        for (size_t k = i + (size_t)step; k < count; k += (size_t)step) {
            uint64_t then = samples[k].sample->monotonic_ns, now = sample->monotonic_ns;
            if ((then > now ? then - now : now - then) > near_ns)
                break;
            if (samples[k].thread != samples[i].thread &&
                (thread_writes[samples[k].thread] || thread_writes[samples[i].thread]))
                return true;
        }
    return false;
}

static bool is_same(const struct line_access *access, const struct line_sample *at)
{
    return access->thread == at->thread && access->instruction == at->sample->instruction &&
           access->address == at->address;
}

static void add_access(const struct trace *trace, struct vec *accesses,
                       const struct line_sample *at, bool is_false)
{
    const struct heurt_sample *sample = at->sample;
    struct line_access *access = NULL;
    VEC_EACH (known, accesses, struct line_access)
        if (is_same(known, at))
            access = known;
    if (!access) {
        access = vec__push(accesses, NULL);
        access->thread = at->thread;
        access->instruction = sample->instruction;
        access->address = at->address;
        access->bytes = sample->bytes;
        access->access = sample->access;
        access->region = sample->region;
        access->tick = sample__tick(trace, sample);
    }
    access->samples++;
    access->sampled_ns += sample->weight_ns;
    access->false_ns += is_false ? sample->weight_ns : 0;
}

/* What was sampled there while several threads were. writers: by trace__threads, all false. */
static struct vec accesses_at(const struct trace *trace, const struct line_sample *samples,
                              size_t count, bool *writers)
{
    struct vec accesses = VEC_OF(struct line_access), threads = threads_at(samples, count);
    for (size_t i = 0; i < count; i++)
        writers[samples[i].thread] |= sample__writes(samples[i].sample);
    for (size_t i = 0; i < count; i++) {
        enum sharing_kind kind = kind_of(&samples[i], at_line_of(&threads, samples[i].thread));
        bool spins = samples[i].sample->access == HEURT_ACCESS_SPIN;
        if (spins || (kind != SHARING_NONE && is_contended(samples, count, i, writers)))
            add_access(trace, &accesses, &samples[i], kind == SHARING_FALSE);
    }
    for (size_t i = 0; i < count; i++)
        writers[samples[i].thread] = false;
    vec__free(&threads);
    return accesses;
}

/* ---- places ---------------------------------------------------------------------------------- */

static const struct symbol *outermost(const struct symbol *symbol)
{
    while (symbol && symbol->inlined_by)
        symbol = symbol->inlined_by;
    return symbol;
}

/* The function that an instruction belongs to, inlined ones dissolved. */
static const struct symbol *function_of(const struct trace *trace, const struct symbols *symbols,
                                        uint32_t process, uint64_t instruction)
{
    return outermost(symbols__get(symbols, trace__process_at(trace, process)->serial, instruction));
}

static int by_sampled(const void *a, const void *b)
{
    const struct line_access *left = a, *right = b;
    if (left->sampled_ns != right->sampled_ns)
        return left->sampled_ns < right->sampled_ns ? 1 : -1;
    if (left->instruction != right->instruction)
        return left->instruction < right->instruction ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static bool is_writer(const struct line_access *access)
{
    return access->access != HEURT_ACCESS_READ && access->access != HEURT_ACCESS_SPIN;
}

/* How much an access tells of who takes the line: rather one that writes, and of those who take a
 * lock by turns rather what the one does that has it. */
static int tells(const struct line_access *access)
{
    return !is_writer(access) ? 0 : access->access == HEURT_ACCESS_TAKE ? 1 : 2;
}

/* The one of another thread that tells most, and that most was sampled of. */
static const struct line_access *against(const struct vec *accesses,
                                         const struct line_access *victim)
{
    const struct line_access *found = NULL;
    VEC_EACH (access, accesses, struct line_access)
        if (access->thread != victim->thread && (!found || tells(access) > tells(found)))
            found = access;
    return found;
}

static uint64_t sampled_in(const struct vec *accesses)
{
    uint64_t ns = 0;
    VEC_EACH (access, accesses, struct line_access)
        ns += access->sampled_ns;
    return ns;
}

struct finding_places {
    const struct trace *trace;
    const struct symbols *symbols;
    struct sample_index index;
    struct vec rows;    /* struct sharing */
    struct vec lines;   /* by row: struct vec of const struct sampled_line * */
    struct map row_of;  /* a process, and a function's name or an instruction → place in rows */
    struct vec running; /* struct running_windows: what was asked for is kept */
};

/* Its row. */
static uint64_t place_of(struct finding_places *places, uint32_t process,
                         const struct line_access *victim)
{
    const struct symbol *function =
        function_of(places->trace, places->symbols, process, victim->instruction);
    char *key = function ? memory__format("%u %s", process, function->function)
                         : memory__format("%u %" PRIx64, process, victim->instruction);
    uint64_t next = places->rows.count;
    uint64_t row = map__put(&places->row_of, key, strlen(key) + !function, next);
    free(key);
    if (row < next)
        return row;
    struct sharing *added = vec__push(&places->rows, NULL);
    added->process = process;
    added->accesses = VEC_OF(struct line_access);
    vec__push(&places->lines, &VEC_OF(const struct sampled_line *));
    return row;
}

/* Lines come by what was sampled there: the first one of a place is its line. */
static void add_line(struct finding_places *places, const struct sampled_line *line,
                     struct vec *accesses)
{
    qsort(accesses->items, accesses->count, sizeof(struct line_access), by_sampled);
    const struct line_access *victim = accesses->items;
    const struct line_access *by = against(accesses, victim);
    if (!by && victim->access != HEURT_ACCESS_SPIN)
        return;
    uint64_t row = place_of(places, line->process, victim);
    struct sharing *sharing = VEC_AT(&places->rows, struct sharing, row);
    vec__push(VEC_AT(&places->lines, struct vec, row), &line);
    if (!sharing->lines++) {
        sharing->line = line->address;
        sharing->victim = *victim;
        sharing->by = by ? *by : (struct line_access){0};
    }
    VEC_EACH (access, accesses, struct line_access)
        vec__push(&sharing->accesses, access);
    sharing->sampled_ns += sampled_in(accesses);
}

/* ---- enough of it ---------------------------------------------------------------------------- */

/* Samples by thread. */
static void count_threads(const struct sharing *sharing, uint32_t *samples)
{
    VEC_EACH (access, &sharing->accesses, struct line_access)
        samples[access->thread] += access->samples;
}

static bool judge(struct sharing *sharing, size_t thread_count)
{
    uint32_t *samples = memory__zeroed(thread_count, sizeof *samples), all = 0;
    uint64_t false_ns = 0, spun_ns = 0, taking_ns = 0;
    count_threads(sharing, samples);
    for (size_t i = 0; i < thread_count; i++) {
        sharing->threads += samples[i] >= OF_EACH_LEAST;
        all += samples[i];
    }
    VEC_EACH (access, &sharing->accesses, struct line_access) {
        false_ns += access->false_ns;
        spun_ns += access->access == HEURT_ACCESS_SPIN ? access->sampled_ns : 0;
        taking_ns += access->access == HEURT_ACCESS_TAKE ? access->sampled_ns : 0;
    }
    bool asks = spun_ns > sharing->sampled_ns / 2;
    sharing->is_spun = spun_ns + taking_ns > sharing->sampled_ns / 2;
    sharing->is_false = false_ns > sharing->sampled_ns / 2;
    free(samples);
    /* Who only asks waits for somebody, who need not have been seen; who takes a lock may be alone.
     */
    return (sharing->threads >= 2 || asks) && all >= SAMPLES_LEAST;
}

/* ---- side by side ---------------------------------------------------------------------------- */

#define WINDOW_PERIODS 16u /* of samples: a time in which threads run side by side, or do not */
#define BESIDE_LEAST 1.2   /* CPUs that they use in it: more than one */
#define BESIDE_PART 3u     /* of what is sampled at the lines, in such times */

/* CPU time that some threads use, window by window. */
struct running_windows {
    bool *threads; /* by trace__threads */
    uint64_t window_ns;
    struct vec cpu_ns; /* uint64_t: by window */
};

#define SCALE_MOST 4.0

/* By thread, what a sample stands for beside its weight: samples are of the program's own code, and
 * what others' use of the CPUs, the system and the recording take of a thread's time keeps it from
 * running side by side by chance alone. free() it. */
static double *scales_of(const struct finding_places *places)
{
    size_t count = trace__threads(places->trace)->count;
    double *scales = memory__zeroed(count + 1, sizeof *scales);
    for (size_t i = 0; i < count; i++) {
        const struct trace_thread *thread = trace__thread_at(places->trace, i);
        double sampled = (double)places->index.ns[i];
        double ns = thread->cpu_ns == UINT64_MAX ? 0 : (double)thread->cpu_ns;
        ns += thread->runnable_ns == UINT64_MAX ? 0 : (double)thread->runnable_ns;
        scales[i] = sampled > 0 ? fmin(fmax(ns / sampled, 1), SCALE_MOST) : 1;
    }
    return scales;
}

static size_t window_of(const struct finding_places *places, const struct heurt_sample *sample,
                        uint64_t window_ns)
{
    uint64_t from_ns = VEC_AT(trace__samples(places->trace), struct heurt_sample, 0)->monotonic_ns;
    return (size_t)((sample->monotonic_ns - from_ns) / window_ns);
}

static void run_in_windows(const struct finding_places *places, const double *scales,
                           struct running_windows *running)
{
    const struct vec *samples = trace__samples(places->trace);
    for (size_t i = 0; i < samples->count; i++) {
        const struct heurt_sample *sample = VEC_AT(samples, struct heurt_sample, i);
        uint32_t thread = places->index.thread_of[i];
        if (thread != UINT32_MAX && running->threads[thread])
            *VEC_REACH(&running->cpu_ns, uint64_t, window_of(places, sample, running->window_ns)) +=
                (uint64_t)(scales[thread] * (double)sample->weight_ns);
    }
}

/* Of the threads that are at the sharing's lines: mostly the same ones as at others. */
static const struct running_windows *running_at(struct finding_places *places, const double *scales,
                                                const struct sharing *sharing)
{
    size_t count = trace__threads(places->trace)->count;
    struct running_windows asked = {memory__zeroed(count + 1, sizeof(bool)), 1, VEC_OF(uint64_t)};
    VEC_EACH (access, &sharing->accesses, struct line_access) {
        uint64_t longest = places->index.longest[access->thread];
        asked.threads[access->thread] = true;
        asked.window_ns = longest > asked.window_ns ? longest : asked.window_ns;
    }
    asked.window_ns *= WINDOW_PERIODS;
    VEC_EACH (known, &places->running, struct running_windows)
        if (known->window_ns == asked.window_ns &&
            memcmp(known->threads, asked.threads, count * sizeof(bool)) == 0) {
            free(asked.threads);
            return known;
        }
    run_in_windows(places, scales, &asked);
    return vec__push(&places->running, &asked);
}

static void free_places(struct finding_places *places)
{
    VEC_EACH (lines, &places->lines, struct vec)
        vec__free(lines);
    vec__free(&places->lines);
    VEC_EACH (running, &places->running, struct running_windows) {
        vec__free(&running->cpu_ns);
        free(running->threads);
    }
    vec__free(&places->running);
    vec__free(&places->rows);
    map__free(&places->row_of);
    sample_index__free(&places->index);
}

/* Whether the threads are at the lines while others of them run: who take turns hand the line over,
 * which costs once a turn. */
static bool is_beside(struct finding_places *places, const double *scales,
                      const struct sampled_lines *found, size_t row)
{
    const struct running_windows *running =
        running_at(places, scales, VEC_AT(&places->rows, struct sharing, row));
    uint64_t all = 0, side_by_side = 0;
    VEC_EACH (line, VEC_AT(&places->lines, struct vec, row), const struct sampled_line *)
        for (size_t i = 0; i < (*line)->count; i++) {
            const struct line_sample *at =
                VEC_AT(&found->samples, struct line_sample, (*line)->first + i);
            if (!running->threads[at->thread])
                continue;
            size_t window = window_of(places, at->sample, running->window_ns);
            double cpus =
                (double)*VEC_AT(&running->cpu_ns, uint64_t, window) / (double)running->window_ns;
            all += at->sample->weight_ns;
            side_by_side += cpus >= BESIDE_LEAST ? at->sample->weight_ns : 0;
        }
    return side_by_side >= all / BESIDE_PART;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int by_lost(const void *a, const void *b)
{
    const struct sharing *left = a, *right = b;
    if (left->all_lost_ns != right->all_lost_ns)
        return left->all_lost_ns < right->all_lost_ns ? 1 : -1;
    return left->line < right->line ? -1 : left->line > right->line;
}

struct read_line {
    const struct sampled_line *line;
    struct vec accesses;
    uint64_t sampled_ns;
};

static int by_line_sampled(const void *a, const void *b)
{
    const struct read_line *left = a, *right = b;
    if (left->sampled_ns != right->sampled_ns)
        return left->sampled_ns < right->sampled_ns ? 1 : -1;
    return left->line->address < right->line->address ? -1
                                                      : left->line->address > right->line->address;
}

static void add_lines(struct finding_places *places, const struct sampled_lines *found)
{
    bool *writers = memory__zeroed(trace__threads(places->trace)->count + 1, sizeof *writers);
    struct vec lines = VEC_OF(struct read_line);
    VEC_EACH (line, &found->lines, const struct sampled_line) {
        const struct line_sample *samples =
            VEC_AT(&found->samples, struct line_sample, line->first);
        struct read_line read = {line, accesses_at(places->trace, samples, line->count, writers),
                                 0};
        read.sampled_ns = sampled_in(&read.accesses);
        vec__push(&lines, &read);
    }
    if (lines.count)
        qsort(lines.items, lines.count, sizeof(struct read_line), by_line_sampled);
    VEC_EACH (read, &lines, struct read_line) {
        if (read->accesses.count)
            add_line(places, read->line, &read->accesses);
        vec__free(&read->accesses);
    }
    vec__free(&lines);
    free(writers);
}

static void free_sharing(struct sharing *sharing)
{
    vec__free(&sharing->accesses);
    free(sharing->lost_ns);
    free(sharing->most_lost_ns);
}

/* ---- what lies there ------------------------------------------------------------------------- */

static void find_object(const struct sharings *sharings, const struct trace *trace,
                        struct line_access *access)
{
    uint32_t process = trace__thread_at(trace, access->thread)->process;
    access->object = allocations__at(sharings->allocations, process, access->address, access->tick);
}

/* is_of_all: also at addresses that are not shared. */
static void find_objects(const struct trace *trace, const struct symbols *symbols,
                         struct sharings *sharings, bool is_of_all)
{
    struct vec addresses = VEC_OF(uint64_t);
    VEC_EACH (sharing, &sharings->rows, struct sharing)
        VEC_EACH (access, &sharing->accesses, struct line_access)
            vec__push(&addresses, &access->address);
    if (is_of_all)
        VEC_EACH (sample, trace__samples(trace), const struct heurt_sample)
            if (sample->address)
                vec__push(&addresses, &sample->address);
    sharings->allocations = allocations__find(trace, &addresses);
    vec__free(&addresses);
    births__find(sharings->allocations, trace, symbols);
    VEC_EACH (sharing, &sharings->rows, struct sharing) {
        VEC_EACH (access, &sharing->accesses, struct line_access)
            find_object(sharings, trace, access);
        find_object(sharings, trace, &sharing->victim);
        find_object(sharings, trace, &sharing->by);
    }
}

static struct sharings *find(const struct trace *trace, const struct symbols *symbols,
                             bool is_of_all)
{
    struct sharings *sharings = memory__zeroed(1, sizeof *sharings);
    struct finding_places places = {.trace = trace,
                                    .symbols = symbols,
                                    .index = sample_index__make(trace),
                                    .rows = VEC_OF(struct sharing),
                                    .lines = VEC_OF(struct vec),
                                    .running = VEC_OF(struct running_windows)};
    struct sampled_lines found = sampled_lines__find(trace);
    double *scales = scales_of(&places);
    add_lines(&places, &found);
    sharings->samples = trace__samples(trace)->count;
    sharings->rows = VEC_OF(struct sharing);
    for (size_t i = 0; i < places.rows.count; i++) {
        struct sharing *sharing = VEC_AT(&places.rows, struct sharing, i);
        if (!judge(sharing, trace__threads(trace)->count) ||
            (!sharing->is_spun && !is_beside(&places, scales, &found, i))) {
            free_sharing(sharing);
            continue;
        }
        sharing__estimate(sharing, &places.index);
        vec__push(&sharings->rows, sharing);
    }
    sharings->lines = found.lines;
    vec__free(&found.samples);
    free_places(&places);
    free(scales);
    if (sharings->rows.count)
        qsort(sharings->rows.items, sharings->rows.count, sizeof(struct sharing), by_lost);
    find_objects(trace, symbols, sharings, is_of_all);
    sharings->knows_all = is_of_all;
    return sharings;
}

struct sharings *sharings__find(const struct trace *trace, const struct symbols *symbols)
{
    return find(trace, symbols, false);
}

static void *start(struct run *run)
{
    return find(run->trace, run->symbols, run__is_asked(run, &memory_analysis));
}

static void free_sharings(void *result)
{
    sharings__free(result);
}

const struct analysis sharings_analysis = {
    .name = "sharings", .start = start, .free = free_sharings};

void sharings__free(struct sharings *sharings)
{
    if (!sharings)
        return;
    VEC_EACH (sharing, &sharings->rows, struct sharing)
        free_sharing(sharing);
    vec__free(&sharings->rows);
    vec__free(&sharings->lines);
    allocations__free(sharings->allocations);
    free(sharings);
}
