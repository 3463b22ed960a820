#include "recorder/access_log.h"

#include "base/map.h"
#include "base/memory.h"
#include "patch/access.h"

#include <stdlib.h>

struct access_log {
    struct access_log_settings settings;
    const struct hotspots *hotspots;
    struct hot_files *files;
    struct vec accesses; /* struct code_accesses *: by index of the module; NULL: none yet */
    struct vec samples;  /* struct heurt_sample: not yet written */
    struct vec threads;  /* struct in_loop */
    struct map thread_of_tid;
};

/* Where a thread was in a loop when it was sampled last. */
struct in_loop {
    uint64_t loop; /* where it begins in the process; 0: it was in none */
    uint64_t monotonic_ns;
    uint32_t count;
};

struct access_log *access_log__new(const struct access_log_settings *settings,
                                   const struct hotspots *hotspots, struct hot_files *files)
{
    struct access_log *log = memory__zeroed(1, sizeof *log);
    log->settings = *settings;
    log->hotspots = hotspots;
    log->files = files;
    log->accesses = VEC_OF(struct code_accesses *);
    log->samples = VEC_OF(struct heurt_sample);
    log->threads = VEC_OF(struct in_loop);
    return log;
}

void access_log__free(struct access_log *log)
{
    if (!log)
        return;
    VEC_EACH (accesses, &log->accesses, struct code_accesses *)
        code_accesses__free(*accesses);
    vec__free(&log->accesses);
    vec__free(&log->samples);
    vec__free(&log->threads);
    map__free(&log->thread_of_tid);
    free(log);
}

static struct code_accesses *accesses_of(struct access_log *log, uint32_t index)
{
    const struct hotspots_module *module =
        VEC_AT(hotspots__modules(log->hotspots), struct hotspots_module, index);
    while (log->accesses.count <= index)
        vec__push(&log->accesses, NULL);
    struct code_accesses **accesses = VEC_AT(&log->accesses, struct code_accesses *, index);
    const struct module_functions *functions =
        *accesses ? NULL : hot_files__functions(log->files, module, index);
    if (functions)
        *accesses = code_accesses__new(module->path, functions);
    return *accesses;
}

static struct in_loop *thread_of(struct access_log *log, uint32_t tid)
{
    uint64_t next = log->threads.count;
    uint64_t index = map__put(&log->thread_of_tid, &tid, sizeof tid, next);
    return index == next ? vec__push(&log->threads, NULL)
                         : VEC_AT(&log->threads, struct in_loop, index);
}

/* Iterations since the last sample, when the thread was in that loop and on its CPU all the time:
 * that one sample's weight lies between the two. loop: where it begins in the process. */
static void count_iterations(struct access_log *log, const struct counted_loop *counted,
                             uint64_t loop, struct heurt_sample *sample)
{
    struct in_loop *last = thread_of(log, sample->tid);
    uint64_t ns = sample->monotonic_ns - last->monotonic_ns;
    int64_t steps = (int32_t)(counted->count - last->count);
    if (loop && last->loop == loop && ns <= sample->weight_ns + sample->weight_ns / 2 &&
        steps / counted->step > 0) {
        sample->iterations = (uint32_t)(steps / counted->step);
        sample->iterations_ns = (uint32_t)ns;
    }
    uint32_t most = UINT16_MAX;
    sample->loop_instructions =
        (uint16_t)(counted->instructions < most ? counted->instructions : most);
    *last = (struct in_loop){loop, sample->monotonic_ns, counted->count};
}

static void find_access(struct access_log *log, const struct record *record,
                        struct heurt_sample *sample)
{
    uint32_t module;
    uint64_t offset, at = record->address;
    if (!hotspots__find(log->hotspots, record->pid, at, &module, &offset)) {
        at = log->settings.live ? live__original(log->settings.live, record->pid, at) : 0;
        if (!at || !hotspots__find(log->hotspots, record->pid, at, &module, &offset))
            return;
    }
    sample->instruction = at;
    struct code_accesses *accesses = accesses_of(log, module);
    if (!accesses || !record->has_registers)
        return;
    struct access access = code_accesses__find(accesses, offset, record->registers, at - offset);
    sample->instruction = at - offset + access.file_offset;
    sample->address = access.address;
    sample->access = (uint8_t)access.kind;
    const struct counted_loop *loop = &access.loop;
    count_iterations(log, loop, loop->file_offset ? at - offset + loop->file_offset : 0, sample);
    sample->bytes = (uint8_t)(access.bytes < UINT8_MAX ? access.bytes : UINT8_MAX);
}

void access_log__take(struct access_log *log, const struct record *record)
{
    if (record->kind != RECORD_SAMPLE || record->in_kernel)
        return;
    struct heurt_sample sample = {
        .monotonic_ns = record->time_ns,
        .pid = record->pid,
        .tid = record->tid,
        .weight_ns = (uint32_t)(record->weight_ns < UINT32_MAX ? record->weight_ns : UINT32_MAX),
    };
    find_access(log, record, &sample);
    vec__push(&log->samples, &sample);
}

void access_log__flush(struct access_log *log)
{
    if (log->samples.count)
        trace_writer__define(log->settings.writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                             log->samples.items, log->samples.count * sizeof(struct heurt_sample));
    log->samples.count = 0;
}
