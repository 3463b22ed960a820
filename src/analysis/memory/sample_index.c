#include "analysis/memory/sample_index.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

static const struct heurt_sample *sample_at(const struct sample_index *self, size_t number)
{
    return VEC_AT(trace__samples(self->trace), struct heurt_sample, number);
}

static size_t thread_count(const struct sample_index *self)
{
    return trace__threads(self->trace)->count;
}

static void find_threads(struct sample_index *self)
{
    struct sample_threads *known = sample_threads__new(self->trace);
    for (size_t i = 0; i < trace__samples(self->trace)->count; i++) {
        const struct heurt_sample *sample = sample_at(self, i);
        uint32_t thread = self->thread_of[i] = sample_threads__of(known, sample);
        if (thread == UINT32_MAX)
            continue;
        self->ns[thread] += sample->weight_ns;
        self->longest[thread] =
            sample->weight_ns > self->longest[thread] ? sample->weight_ns : self->longest[thread];
    }
    sample_threads__free(known);
}

static int by_instruction(const void *a, const void *b)
{
    const struct sampled_code *left = a, *right = b;
    return ORDER(left->instruction, right->instruction) ?: ORDER(left->thread, right->thread);
}

/* By sample: the place of its code; UINT32_MAX: of no known thread. free() it. */
static uint32_t *codes_of(struct sample_index *self)
{
    struct {
        uint64_t instruction, thread;
    } key;
    struct map places = {0};
    uint32_t *code_of = memory__zeroed(trace__samples(self->trace)->count + 1, sizeof *code_of);
    for (size_t i = 0; i < trace__samples(self->trace)->count; i++) {
        code_of[i] = UINT32_MAX;
        if (self->thread_of[i] == UINT32_MAX)
            continue;
        key.instruction = sample_at(self, i)->instruction;
        key.thread = self->thread_of[i];
        code_of[i] = (uint32_t)map__put(&places, &key, sizeof key, self->codes.count);
        if (code_of[i] == self->codes.count)
            vec__push(&self->codes,
                      &(struct sampled_code){key.instruction, self->thread_of[i], 0, 0});
        VEC_AT(&self->codes, struct sampled_code, code_of[i])->count++;
    }
    map__free(&places);
    return code_of;
}

static void sort_by_code(struct sample_index *self)
{
    uint32_t *code_of = codes_of(self), next = 0;
    VEC_EACH (code, &self->codes, struct sampled_code) {
        code->first = next;
        next += code->count;
        code->count = 0;
    }
    self->numbers = memory__zeroed(next + 1, sizeof *self->numbers);
    for (size_t i = 0; i < trace__samples(self->trace)->count; i++) {
        if (code_of[i] == UINT32_MAX)
            continue;
        struct sampled_code *code = VEC_AT(&self->codes, struct sampled_code, code_of[i]);
        self->numbers[code->first + code->count++] = (uint32_t)i;
    }
    free(code_of);
    vec__sort(&self->codes, by_instruction);
}

struct sample_index sample_index__make(const struct trace *trace)
{
    struct sample_index self = {.trace = trace, .codes = VEC_OF(struct sampled_code)};
    self.thread_of = memory__zeroed(trace__samples(trace)->count + 1, sizeof *self.thread_of);
    self.ns = memory__zeroed(thread_count(&self) + 1, sizeof *self.ns);
    self.longest = memory__zeroed(thread_count(&self) + 1, sizeof *self.longest);
    find_threads(&self);
    sort_by_code(&self);
    return self;
}

void sample_index__free(struct sample_index *self)
{
    free(self->thread_of);
    free(self->ns);
    free(self->longest);
    vec__free(&self->codes);
    free(self->numbers);
}

struct vec sample_index__at(const struct sample_index *self, uint64_t least, uint64_t most,
                            const bool *are_of)
{
    struct vec found = VEC_OF(uint64_t);
    size_t codes = 0;
    for (size_t i = VEC_FIRST(code, &self->codes, struct sampled_code, code->instruction >= least);
         i < self->codes.count; i++) {
        const struct sampled_code *code = VEC_AT(&self->codes, struct sampled_code, i);
        if (code->instruction > most)
            break;
        if (!are_of[code->thread])
            continue;
        codes++;
        for (uint32_t k = 0; k < code->count; k++)
            vec__push(&found, &(uint64_t){self->numbers[code->first + k]});
    }
    if (codes > 1)
        vec__sort_numbers(&found);
    return found;
}
