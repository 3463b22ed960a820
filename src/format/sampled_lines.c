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

static int by_line(const void *a, const void *b)
{
    const struct line_sample *left = a, *right = b;
    uint64_t of_left = line_of(left->address), of_right = line_of(right->address);
    if (left->sample->pid != right->sample->pid)
        return left->sample->pid < right->sample->pid ? -1 : 1;
    if (of_left != of_right)
        return of_left < of_right ? -1 : 1;
    if (left->sample->monotonic_ns != right->sample->monotonic_ns)
        return left->sample->monotonic_ns < right->sample->monotonic_ns ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static struct vec samples_at_memory(const struct trace *trace)
{
    struct vec found = VEC_OF(struct line_sample);
    struct sample_threads *threads = sample_threads__new(trace);
    VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
        struct line_sample at = {sample, UINT32_MAX, sample->address};
        if (sample->address && sample->access != HEURT_ACCESS_NONE)
            at.thread = sample_threads__of(threads, sample);
        if (at.thread != UINT32_MAX)
            vec__push(&found, &at);
    }
    sample_threads__free(threads);
    if (found.count)
        qsort(found.items, found.count, sizeof(struct line_sample), by_line);
    return found;
}

/* Who spins waits for somebody, who need not have been seen. */
static bool is_shared(const struct line_sample *samples, size_t count)
{
    bool several = false, written = false, spun = false;
    for (size_t i = 0; i < count; i++) {
        several |= samples[i].thread != samples[0].thread;
        spun |= samples[i].sample->access == HEURT_ACCESS_SPIN;
        written |= samples[i].sample->access != HEURT_ACCESS_READ &&
                   samples[i].sample->access != HEURT_ACCESS_SPIN;
    }
    return (several && written) || spun;
}

struct sampled_lines sampled_lines__find(const struct trace *trace)
{
    struct sampled_lines found = {VEC_OF(struct sampled_line), VEC_OF(struct line_sample)};
    struct vec all = samples_at_memory(trace);
    const struct line_sample *samples = all.items;
    for (size_t i = 0, next; i < all.count; i = next) {
        for (next = i + 1; next < all.count; next++)
            if (samples[next].sample->pid != samples[i].sample->pid ||
                line_of(samples[next].address) != line_of(samples[i].address))
                break;
        if (!is_shared(samples + i, next - i))
            continue;
        const struct trace_thread *thread =
            VEC_AT(trace__threads(trace), struct trace_thread, samples[i].thread);
        struct sampled_line line = {thread->process, line_of(samples[i].address),
                                    found.samples.count, next - i};
        vec__push(&found.lines, &line);
        for (size_t k = i; k < next; k++)
            vec__push(&found.samples, &samples[k]);
    }
    vec__free(&all);
    return found;
}

void sampled_lines__free(struct sampled_lines *lines)
{
    vec__free(&lines->lines);
    vec__free(&lines->samples);
}
