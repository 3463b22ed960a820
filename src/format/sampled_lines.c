#include "format/sampled_lines.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

/* ---- threads --------------------------------------------------------------------------------- */

/* Threads of one number, one after the other. */
struct sample_threads {
    const struct trace *trace;
    struct map first_of_tid; /* tid → index of the first thread with it */
    uint32_t *next;          /* by thread: the next one of the same number; UINT32_MAX: none */
};

struct sample_threads *sample_threads__new(const struct trace *trace)
{
    const struct vec *threads = trace__threads(trace);
    struct sample_threads *self = memory__zeroed(1, sizeof *self);
    self->trace = trace;
    self->next = memory__zeroed(threads->count + 1, sizeof *self->next);
    for (uint32_t i = 0; i < threads->count; i++) {
        uint32_t tid = VEC_AT(threads, struct trace_thread, i)->tid;
        self->next[i] = UINT32_MAX;
        uint64_t first = map__put(&self->first_of_tid, &tid, sizeof tid, i);
        while (first != i && self->next[first] != UINT32_MAX)
            first = self->next[first];
        if (first != i)
            self->next[first] = i;
    }
    return self;
}

uint64_t sample__tick(const struct trace *trace, const struct heurt_sample *sample)
{
    const struct heurt_clock_pair *start = &trace__session(trace)->start;
    uint64_t ns = sample->monotonic_ns;
    return start->tick +
           (ns > start->monotonic_ns ? trace__ticks(trace, ns - start->monotonic_ns) : 0);
}

uint32_t sample_threads__of(const struct sample_threads *self, const struct heurt_sample *sample)
{
    uint64_t tick = sample__tick(self->trace, sample);
    uint64_t i = map__get(&self->first_of_tid, &sample->tid, sizeof sample->tid);
    for (; i != MAP_ABSENT && i != UINT32_MAX; i = self->next[i]) {
        const struct trace_thread *thread =
            VEC_AT(trace__threads(self->trace), struct trace_thread, i);
        if (thread->pid == sample->pid && tick >= thread->start_tick && tick <= thread->end_tick)
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

void sample_threads__free(struct sample_threads *self)
{
    map__free(&self->first_of_tid);
    free(self->next);
    free(self);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static uint64_t line_of(uint64_t address)
{
    return address & ~(uint64_t)(CACHE_LINE_BYTES - 1);
}

static int by_time(const void *a, const void *b)
{
    const struct line_sample *left = a, *right = b;
    return ORDER(left->sample->monotonic_ns, right->sample->monotonic_ns)
               ?: ORDER(left->thread, right->thread);
}

/* What samples tell of a line, whoever's they are. */
struct users_of_line {
    uint64_t memory, line;
    size_t count;    /* of samples */
    size_t place;    /* of the first of them, and then of the next one */
    uint32_t thread; /* the first that was there */
    bool is_of_several, is_written, is_spun;
};

struct memory_line_key {
    uint64_t memory, line;
};

/* Who spins waits for somebody, who need not have been seen. */
static bool is_shared(const struct users_of_line *use)
{
    return (use->is_of_several && use->is_written) || use->is_spun;
}

static void users_of_line__add(struct users_of_line *use, const struct line_sample *at)
{
    use->count++;
    use->is_of_several |= at->thread != use->thread;
    use->is_spun |= at->sample->access == HEURT_ACCESS_SPIN;
    use->is_written |= sample__writes(at->sample);
}

struct finding_lines {
    struct vec all;  /* struct line_sample: at memory */
    struct vec line; /* uint32_t: of each of them, its place in uses */
    struct vec uses; /* struct users_of_line */
    struct map known;
    const struct vec *shared; /* struct heurt_shared_range */
    struct map files;         /* struct shared_file → its number */
};

#define SHARED_MEMORY (1ull << 32) /* no process has such a number */

struct shared_file {
    uint64_t device, inode;
};

static const struct heurt_shared_range *shared_range(const struct finding_lines *self,
                                                     const struct heurt_sample *sample)
{
    const struct heurt_shared_range *ranges = self->shared->items;
    for (size_t i = self->shared->count; i-- > 0;)
        if (ranges[i].pid == sample->pid && sample->address >= ranges[i].start &&
            sample->address < ranges[i].end)
            return &ranges[i];
    return NULL;
}

/* Finds whose line the sample is at. */
static void find_line(struct finding_lines *self, struct line_sample *at)
{
    const struct heurt_shared_range *range =
        at->sample->region == HEURT_REGION_SHARED ? shared_range(self, at->sample) : NULL;
    at->memory = at->sample->pid;
    at->line = line_of(at->address);
    if (!range)
        return;
    struct shared_file file = {range->device, range->inode};
    at->memory = SHARED_MEMORY + map__put(&self->files, &file, sizeof file, self->files.count);
    at->line = line_of(at->address - range->start + range->offset);
}

static void look_at(struct finding_lines *self, const struct line_sample *at)
{
    struct memory_line_key key = {at->memory, at->line};
    uint32_t line = (uint32_t)map__put(&self->known, &key, sizeof key, self->uses.count);
    if (line == self->uses.count)
        vec__push(&self->uses, &(struct users_of_line){
                                   .memory = key.memory, .line = key.line, .thread = at->thread});
    users_of_line__add(VEC_AT(&self->uses, struct users_of_line, line), at);
    vec__push(&self->all, at);
    vec__push(&self->line, &line);
}

static int by_line(const void *a, const void *b)
{
    const struct users_of_line *const *left = a, *const *right = b;
    return ORDER((*left)->memory, (*right)->memory) ?: ORDER((*left)->line, (*right)->line);
}

/* Gives each line that is shared its place. How many samples there are. */
static size_t place_lines(struct finding_lines *self)
{
    struct vec shared = VEC_OF(struct users_of_line *);
    size_t place = 0;
    VEC_EACH (use, &self->uses, struct users_of_line)
        if (is_shared(use))
            vec__push(&shared, &use);
    vec__sort(&shared, by_line);
    VEC_EACH (use, &shared, struct users_of_line *) {
        (*use)->place = place;
        place += (*use)->count;
    }
    vec__free(&shared);
    return place;
}

/* Samples come by time; two of one time need not come by thread. */
static void order_line(struct vec *samples)
{
    const struct line_sample *items = samples->items;
    for (size_t i = 1; i < samples->count; i++)
        if (by_time(&items[i - 1], &items[i]) > 0) {
            vec__sort(samples, by_time);
            return;
        }
}

/* Those at lines that are shared, a line's side by side. */
static struct vec shared_samples(struct finding_lines *self)
{
    struct vec found = VEC_OF(struct line_sample);
    size_t count = place_lines(self);
    if (count)
        vec__extend(&found, count);
    for (size_t i = 0; i < self->all.count; i++) {
        struct users_of_line *use =
            VEC_AT(&self->uses, struct users_of_line, *VEC_AT(&self->line, uint32_t, i));
        if (is_shared(use))
            *VEC_AT(&found, struct line_sample, use->place++) =
                *VEC_AT(&self->all, struct line_sample, i);
    }
    VEC_EACH (use, &self->uses, struct users_of_line)
        if (is_shared(use))
            order_line(&(struct vec){VEC_AT(&found, struct line_sample, use->place - use->count),
                                     use->count, use->count, sizeof(struct line_sample)});
    return found;
}

static struct vec shared_samples_of(const struct trace *trace)
{
    struct finding_lines self = {.all = VEC_OF(struct line_sample),
                                 .line = VEC_OF(uint32_t),
                                 .uses = VEC_OF(struct users_of_line),
                                 .shared = trace__shared_ranges(trace)};
    struct sample_threads *threads = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        struct line_sample at = {
            .sample = sample, .thread = UINT32_MAX, .address = sample->address};
        if (sample->address && sample->access != HEURT_ACCESS_NONE)
            at.thread = sample_threads__of(threads, sample);
        if (at.thread == UINT32_MAX)
            continue;
        find_line(&self, &at);
        look_at(&self, &at);
    }
    struct vec found = shared_samples(&self);
    sample_threads__free(threads);
    vec__free(&self.all);
    vec__free(&self.line);
    vec__free(&self.uses);
    map__free(&self.known);
    map__free(&self.files);
    return found;
}

struct sampled_lines sampled_lines__find(const struct trace *trace)
{
    struct sampled_lines found = {VEC_OF(struct sampled_line), shared_samples_of(trace)};
    const struct line_sample *samples = found.samples.items;
    for (size_t i = 0, next; i < found.samples.count; i = next) {
        for (next = i + 1; next < found.samples.count; next++)
            if (samples[next].memory != samples[i].memory || samples[next].line != samples[i].line)
                break;
        const struct trace_thread *thread =
            VEC_AT(trace__threads(trace), struct trace_thread, samples[i].thread);
        struct sampled_line line = {thread->process, line_of(samples[i].address), i, next - i};
        vec__push(&found.lines, &line);
    }
    return found;
}

void sampled_lines__free(struct sampled_lines *lines)
{
    vec__free(&lines->lines);
    vec__free(&lines->samples);
}
