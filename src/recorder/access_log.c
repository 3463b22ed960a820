#include "recorder/access_log.h"

#include "base/map.h"
#include "base/memory.h"
#include "kernel/process_map.h"
#include "patch/access.h"
#include "recorder/access_share.h"
#include "recorder/placement_log.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>

#define WHOLE                                                                           \
    131072u /* samples that are all kept; behind them every second one of so many, then \
               every fourth … */

struct access_log {
    struct access_log_settings settings;
    uint64_t taken, kept;
    uint32_t each; /* one of so many is kept */
    const struct hotspots *hotspots;
    struct hot_files *files;
    struct vec accesses; /* struct code_accesses *: by index of the module; NULL: none yet */
    struct vec samples;  /* struct heurt_sample: not yet written */
    struct vec answers;  /* struct heurt_answer: likewise */
    struct vec shared;   /* struct heurt_shared_range: likewise */
    struct access_share *told;
    struct vec threads; /* struct in_loop */
    struct map thread_of_tid;
    struct vec memories; /* struct memory */
    struct map memory_of_pid;
    struct placement_log *placement; /* NULL: there is nothing to be told */
};

#define READ_EVERY_NS 100000000u /* the map of one process */

/* What a process has mapped, as it was when it was last read. */
struct memory {
    struct vec ranges; /* struct mapped_range */
    struct map stacks; /* beginnings of those in which a thread's stack pointer was */
    struct map told;   /* what is told of those that are shared */
    uint64_t read_ns;
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
    log->each = 1;
    log->hotspots = hotspots;
    log->files = files;
    log->accesses = VEC_OF(struct code_accesses *);
    log->samples = VEC_OF(struct heurt_sample);
    log->answers = VEC_OF(struct heurt_answer);
    log->shared = VEC_OF(struct heurt_shared_range);
    log->told = access_share__new();
    log->threads = VEC_OF(struct in_loop);
    log->memories = VEC_OF(struct memory);
    log->placement = placement_log__new(settings->writer);
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
    vec__free(&log->answers);
    vec__free(&log->shared);
    access_share__free(log->told);
    vec__free(&log->threads);
    map__free(&log->thread_of_tid);
    VEC_EACH (memory, &log->memories, struct memory) {
        vec__free(&memory->ranges);
        map__free(&memory->stacks);
        map__free(&memory->told);
    }
    vec__free(&log->memories);
    map__free(&log->memory_of_pid);
    placement_log__free(log->placement);
    free(log);
}

static struct code_accesses *accesses_of(struct access_log *log, uint32_t index)
{
    const struct hotspots_module *module =
        VEC_AT(hotspots__modules(log->hotspots), struct hotspots_module, index);
    struct code_accesses **accesses = VEC_REACH(&log->accesses, struct code_accesses *, index);
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
    sample->loop_least = (uint16_t)fmin(ceil(counted->least_ns * 16), UINT16_MAX);
    *last = (struct in_loop){loop, sample->monotonic_ns, counted->count};
}

/* ---- what the data lie in -------------------------------------------------------------------- */

static struct memory *memory_of(struct access_log *log, uint32_t pid)
{
    uint64_t next = log->memories.count;
    uint64_t index = map__put(&log->memory_of_pid, &pid, sizeof pid, next);
    if (index == next) {
        struct memory memory = {.ranges = VEC_OF(struct mapped_range)};
        vec__push(&log->memories, &memory);
    }
    return VEC_AT(&log->memories, struct memory, index);
}

/* NULL: it was not there when the process was last looked at. */
static const struct mapped_range *range_of(struct memory *memory, const struct record *record,
                                           uint64_t address)
{
    const struct mapped_range *range = process_map__find(&memory->ranges, address);
    if (range || (memory->read_ns && record->time_ns - memory->read_ns < READ_EVERY_NS))
        return range;
    memory->ranges.count = 0;
    memory->read_ns = record->time_ns;
    process_map__read((pid_t)record->pid, &memory->ranges);
    return process_map__find(&memory->ranges, address);
}

static void tell_shared(struct access_log *log, uint32_t pid, struct memory *memory,
                        const struct mapped_range *range)
{
    const struct heurt_shared_range shared = {.pid = pid,
                                              .start = range->start,
                                              .end = range->end,
                                              .device = range->device,
                                              .inode = range->inode,
                                              .offset = range->file_offset};
    const uint64_t key[] = {range->start, range->end, range->inode, range->file_offset};
    if (map__get(&memory->told, key, sizeof key) != MAP_ABSENT)
        return;
    map__put(&memory->told, key, sizeof key, 1);
    vec__push(&log->shared, &shared);
}

static enum heurt_region region_of(struct access_log *log, const struct record *record,
                                   uint64_t address)
{
    enum { STACK_POINTER = 4 };
    struct memory *memory = memory_of(log, record->pid);
    const struct mapped_range *range =
        record->has_registers ? range_of(memory, record, record->registers[STACK_POINTER]) : NULL;
    uint64_t start = range ? range->start : 0;
    if (start)
        map__put(&memory->stacks, &start, sizeof start, 1);
    range = range_of(memory, record, address);
    if (!range)
        return HEURT_REGION_UNKNOWN;
    if (range->inode && range->is_shared) {
        tell_shared(log, record->pid, memory, range);
        return HEURT_REGION_SHARED;
    }
    if (range->inode)
        return HEURT_REGION_FILE;
    return range->is_stack ||
                   map__get(&memory->stacks, &range->start, sizeof range->start) != MAP_ABSENT
               ? HEURT_REGION_STACK
               : HEURT_REGION_HEAP;
}

/* Whether an instruction may have accessed that: a word that is read from a stack when the function
 * has left it may be any, and leads into code, to what may not be written, or to no address. */
static bool is_accessible(struct access_log *log, const struct record *record,
                          const struct access *access)
{
    const struct mapped_range *range =
        range_of(memory_of(log, record->pid), record, access->address);
    bool writes = access->kind != ACCESS_READ && access->kind != ACCESS_SPIN;
    if (access->address >> 47)
        return false;
    return !range || (range->readable && !(range->executable && range->inode) &&
                      (range->writable || !writes));
}

struct reading_later {
    const struct record *record;
    bool has_read;
};

/* A word of the process that was sampled; false: it is gone, or that is not mapped. Once the thread
 * has ended, its stack is another's. */
static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    struct reading_later *reading = context;
    const struct record *of = reading->record;
    reading->has_read = true;
    struct iovec own = {word, sizeof *word}, other = {(void *)(uintptr_t)address, sizeof *word};
    return process_vm_readv((pid_t)of->pid, &own, 1, &other, 1, 0) == sizeof *word &&
           tgkill((pid_t)of->pid, (pid_t)of->tid, 0) == 0;
}

/* Where in a file, also of moved code; false: in none. *at: what is in the original's place. */
static bool find_code(const struct access_log *log, uint32_t pid, uint64_t *at, uint32_t *module,
                      uint64_t *offset)
{
    if (hotspots__find(log->hotspots, pid, *at, module, offset))
        return true;
    uint64_t original = log->settings.live ? live__original(log->settings.live, pid, *at) : 0;
    if (!original || !hotspots__find(log->hotspots, pid, original, module, offset))
        return false;
    *at = original;
    return true;
}

static void find_access(struct access_log *log, const struct record *record,
                        struct heurt_sample *sample)
{
    uint32_t module;
    uint64_t offset, at = record->address;
    if (!find_code(log, record->pid, &at, &module, &offset))
        return;
    sample->instruction = at;
    struct code_accesses *accesses = accesses_of(log, module);
    if (!accesses || !record->has_registers)
        return;
    struct reading_later reading = {.record = record};
    struct access access = code_accesses__find(accesses, offset, record->registers, at - offset,
                                               (struct memory_reader){read_word, &reading});
    sample->instruction = at - offset + access.file_offset;
    if (access.address && !is_accessible(log, record, &access))
        access.address = 0;
    sample->address = access.address;
    sample->access = (uint8_t)access.kind & 0xf;
    sample->region = access.address ? region_of(log, record, access.address) & 7 : 0;
    sample->is_worked_out = access.address && reading.has_read;
    const struct counted_loop *loop = &access.loop;
    count_iterations(log, loop, loop->file_offset ? at - offset + loop->file_offset : 0, sample);
    sample->bytes = (uint8_t)(access.bytes < UINT8_MAX ? access.bytes : UINT8_MAX);
}

static void keep(struct access_log *log, const struct heurt_sample *sample, uint32_t cpu)
{
    vec__push(&log->samples, sample);
    placement_log__take(log->placement, sample, cpu);
    if (++log->kept % WHOLE == 0)
        log->each *= 2;
}

/* ---- what the processor told ----------------------------------------------------------------- */

/* The instruction is exact; what it does with memory its code tells, else the processor. */
static struct heurt_sample sample_of_access(struct access_log *log, const struct record *record)
{
    uint32_t module;
    uint64_t offset, at = record->address;
    struct access access = {.kind = ACCESS_NONE};
    if (find_code(log, record->pid, &at, &module, &offset)) {
        struct code_accesses *accesses = accesses_of(log, module);
        access = accesses
                     ? code_accesses__find(accesses, offset, NULL, 0, (struct memory_reader){0})
                     : access;
    }
    if (access.kind == ACCESS_NONE)
        access.kind = record->writes ? ACCESS_WRITE : ACCESS_READ;
    return (struct heurt_sample){
        .monotonic_ns = record->time_ns,
        .instruction = at,
        .address = record->data,
        .pid = record->pid,
        .tid = record->tid,
        .weight_ns = (uint32_t)record->weight_ns,
        .access = (uint8_t)access.kind & 0xf,
        .region = region_of(log, record, record->data) & 7,
        .bytes = (uint8_t)(access.bytes < UINT8_MAX ? access.bytes : UINT8_MAX),
    };
}

/* In place of the sample, whose time they have together; the last of them has the loop's pace: it
 * was in that loop all the time. False: none was told. */
static bool keep_accesses(struct access_log *log, const struct heurt_sample *sample)
{
    struct record told[TOLD_MOST];
    size_t count = access_share__deal(log->told, sample->tid, sample->weight_ns, told);
    for (size_t i = 0; i < count; i++) {
        struct heurt_sample dealt = sample_of_access(log, &told[i]);
        const struct heurt_answer answer = {
            .monotonic_ns = told[i].time_ns,
            .tid = told[i].tid,
            .latency = (uint16_t)(told[i].latency < UINT16_MAX ? told[i].latency : UINT16_MAX),
            .level = told[i].level,
            .flags = told[i].flags};
        if (i + 1 == count) {
            dealt.loop_least = sample->loop_least;
            dealt.iterations = sample->iterations;
            dealt.iterations_ns = sample->iterations_ns;
        }
        vec__push(&log->answers, &answer);
        keep(log, &dealt, told[i].cpu);
    }
    return count > 0;
}

void access_log__take(struct access_log *log, const struct record *record)
{
    if (record->kind == RECORD_ACCESS && !record->in_kernel)
        access_share__add(log->told, record);
    if (record->kind != RECORD_SAMPLE || record->in_kernel || log->taken++ % log->each)
        return;
    uint64_t weight_ns = record->weight_ns * log->each;
    struct heurt_sample sample = {
        .monotonic_ns = record->time_ns,
        .pid = record->pid,
        .tid = record->tid,
        .weight_ns = (uint32_t)(weight_ns < UINT32_MAX ? weight_ns : UINT32_MAX),
    };
    find_access(log, record, &sample);
    if (sample.access == HEURT_ACCESS_NONE || !keep_accesses(log, &sample))
        keep(log, &sample, record->cpu);
}

void access_log__flush(struct access_log *log)
{
    if (log->samples.count)
        trace_writer__define(log->settings.writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SAMPLES,
                             log->samples.items, log->samples.count * sizeof(struct heurt_sample));
    if (log->answers.count)
        trace_writer__define(log->settings.writer, HEURT_NO_SERIAL, HEURT_DEFINITION_ANSWERS,
                             log->answers.items, log->answers.count * sizeof(struct heurt_answer));
    if (log->shared.count)
        trace_writer__define(log->settings.writer, HEURT_NO_SERIAL, HEURT_DEFINITION_SHARED,
                             log->shared.items,
                             log->shared.count * sizeof(struct heurt_shared_range));
    log->samples.count = log->answers.count = log->shared.count = 0;
    placement_log__flush(log->placement);
}
