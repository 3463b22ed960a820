#include "recorder/timed_samples.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/machine_info.h"
#include "kernel/process_map.h"
#include "recorder/live_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define READ_EVERY_NS 100000000u /* a process's map, at most */
#define PATIENCE_LOOKS 50        /* for the header of a chunk that is claimed */
#define TRIES 64                 /* of what a sample costs */

/* The ring of a process image. */
struct timed_ring {
    struct heurt_chunk *chunk;
    uint32_t pid;     /* as the chunk had it first: the program writes it */
    uint64_t taken;   /* samples that are taken out, or lost */
    uint64_t read_ns; /* when its map was read; 0: never */
};

struct timed_samples {
    struct trace_writer *writer;
    uint64_t unit;        /* the next one whose header is to be looked at */
    uint64_t limit_units; /* of the file, as it was before the program began */
    unsigned looks;
    uint32_t rest_us;
    uint32_t sample_ns; /* told at the end: no process had a hand in it then */
    struct vec rings;   /* struct timed_ring */
};

static struct heurt_session *session_of(const struct timed_samples *self)
{
    return trace_writer__session(self->writer);
}

static void set_period(struct timed_samples *self, uint32_t us)
{
    __atomic_store_n(&session_of(self)->timer_us, us, __ATOMIC_RELAXED);
}

/* ---- what a sample costs --------------------------------------------------------------------- */

/* As the runtime's does. */
static void on_try(int number)
{
    struct timespec now;
    (void)number;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    syscall(SYS_gettid);
}

static uint32_t cost_of_sample(void)
{
    const struct sigaction ours = {.sa_handler = on_try};
    struct sigaction before;
    uint64_t least_ns = UINT64_MAX;
    if (sigaction(SIGURG, &ours, &before) != 0)
        return 0;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t begin_ns = clock__ns(CLOCK_MONOTONIC);
        raise(SIGURG);
        uint64_t ns = clock__ns(CLOCK_MONOTONIC) - begin_ns;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    sigaction(SIGURG, &before, NULL);
    return (uint32_t)least_ns;
}

struct timed_samples *timed_samples__new(struct trace_writer *writer, unsigned hz, unsigned rest_hz)
{
    struct utsname names;
    if (uname(&names) != 0 || !kernel__interrupts_late(names.release))
        return NULL;
    struct timed_samples *self = memory__zeroed(1, sizeof *self);
    *self = (struct timed_samples){.writer = writer,
                                   .unit = 1,
                                   .limit_units = trace_writer__session(writer)->limit_units,
                                   .rest_us = 1000000 / (rest_hz ? rest_hz : hz),
                                   .rings = VEC_OF(struct timed_ring)};
    set_period(self, 1000000 / hz);
    self->sample_ns = cost_of_sample();
    __atomic_fetch_or(&session_of(self)->flags, HEURT_SESSION_TIMERS, __ATOMIC_SEQ_CST);
    return self;
}

void timed_samples__free(struct timed_samples *self)
{
    if (self)
        vec__free(&self->rings);
    free(self);
}

void timed_samples__rest(struct timed_samples *self)
{
    set_period(self, self->rest_us);
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* A process that is there and not of this user is looked at by nobody, whatever the trace says. */
static bool is_anothers(uint32_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%u", pid);
    return access(path, F_OK) == 0 && !live_witness__is_own((pid_t)pid);
}

/* Chunks that were claimed since the last look. One without a header may get it yet; what a process
 * that died has left is passed unit by unit, as readers do. */
static void find_rings(struct timed_samples *self)
{
    struct heurt_session *session = session_of(self);
    uint64_t end = __atomic_load_n(&session->next_unit, __ATOMIC_ACQUIRE);
    end = end < self->limit_units ? end : self->limit_units;
    while (self->unit < end) {
        struct heurt_chunk *chunk = (void *)((char *)session + self->unit * HEURT_UNIT_BYTES);
        bool is_there = __atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) == HEURT_CHUNK_MAGIC;
        uint32_t units = is_there ? chunk->units : 1, pid = is_there ? chunk->pid : 0;
        if (!is_there && self->looks++ < PATIENCE_LOOKS)
            return;
        self->looks = is_there ? 0 : self->looks;
        if (is_there && chunk->kind == HEURT_CHUNK_SAMPLES && units == HEURT_RING_UNITS &&
            self->unit + units <= end && !is_anothers(pid))
            vec__push(&self->rings, &(struct timed_ring){.chunk = chunk, .pid = pid});
        self->unit += units ? units : 1;
    }
}

struct map_reading {
    uint32_t pid;
    uint64_t time_ns;
    void (*each)(const struct record *record, void *context);
    void *context;
};

static void tell_range(const struct mapped_range *range, const char *path, void *context)
{
    const struct map_reading *reading = context;
    struct record record = {.kind = RECORD_MAP,
                            .pid = reading->pid,
                            .tid = reading->pid,
                            .time_ns = reading->time_ns,
                            .address = range->start,
                            .length = range->end - range->start,
                            .file_offset = range->file_offset,
                            .path = path};
    if (range->executable)
        reading->each(&record, reading->context);
}

static void read_map(struct timed_ring *ring, const struct map_reading *reading)
{
    struct record fresh = {.kind = RECORD_EXEC, .pid = reading->pid, .tid = reading->pid};
    if (!ring->read_ns)
        reading->each(&fresh, reading->context);
    ring->read_ns = clock__ns(CLOCK_MONOTONIC);
    process_map__each((pid_t)reading->pid, tell_range, (void *)(uintptr_t)reading);
}

static struct record record_of(const struct timed_ring *ring,
                               const struct heurt_timed_sample *sample)
{
    struct record record = {.kind = RECORD_SAMPLE,
                            .has_registers = true,
                            .pid = ring->pid,
                            .tid = sample->tid,
                            .time_ns = sample->monotonic_ns,
                            .address = sample->instruction,
                            .weight_ns = sample->weight_ns};
    _Static_assert(sizeof record.registers == sizeof sample->registers, "the same registers");
    memcpy(record.registers, sample->registers, sizeof record.registers);
    return record;
}

/* False: that sample is not written yet, or written over by now. */
static bool copy_sample(const struct heurt_timed_ring *ring, uint64_t number,
                        struct heurt_timed_sample *sample)
{
    const struct heurt_timed_sample *at = &ring->samples[(number - 1) % HEURT_RING_SAMPLES];
    if (__atomic_load_n(&at->number, __ATOMIC_ACQUIRE) != number)
        return false;
    memcpy(sample, at, sizeof *sample);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&at->number, __ATOMIC_RELAXED) == number;
}

/* More than the ring holds are lost; one that is not there may come yet, unless many others have
 * come behind it. */
static void drain_ring(struct timed_ring *ring,
                       bool (*is_known)(uint32_t pid, uint64_t address, void *context),
                       struct map_reading *reading)
{
    const struct heurt_timed_ring *data = (const void *)(ring->chunk + 1);
    uint64_t taken = __atomic_load_n(&data->taken, __ATOMIC_ACQUIRE);
    struct heurt_timed_sample sample;
    if (taken < ring->taken) /* the file has lost that part */
        return;
    if (taken - ring->taken > HEURT_RING_SAMPLES) {
        struct record lost = {.kind = RECORD_LOST,
                              .count = taken - ring->taken - HEURT_RING_SAMPLES};
        reading->each(&lost, reading->context);
        ring->taken = taken - HEURT_RING_SAMPLES;
    }
    for (; ring->taken < taken; ring->taken++) {
        if (!copy_sample(data, ring->taken + 1, &sample)) {
            if (taken - ring->taken < HEURT_RING_SAMPLES / 2)
                return;
            continue;
        }
        struct record record = record_of(ring, &sample);
        reading->pid = record.pid;
        reading->time_ns = record.time_ns;
        bool is_old = clock__ns(CLOCK_MONOTONIC) - ring->read_ns > READ_EVERY_NS;
        if (!ring->read_ns || (is_old && !is_known(record.pid, record.address, reading->context)))
            read_map(ring, reading);
        reading->each(&record, reading->context);
    }
}

void timed_samples__drain(struct timed_samples *self,
                          bool (*is_known)(uint32_t pid, uint64_t address, void *context),
                          void (*each)(const struct record *record, void *context), void *context)
{
    struct map_reading reading = {.each = each, .context = context};
    find_rings(self);
    VEC_EACH (ring, &self->rings, struct timed_ring)
        drain_ring(ring, is_known, &reading);
}

void timed_samples__end(struct timed_samples *self)
{
    VEC_EACH (ring, &self->rings, struct timed_ring)
        ring->chunk->kind = HEURT_CHUNK_FREE;
    session_of(self)->sample_ns = self->sample_ns;
}
