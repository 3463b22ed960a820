/* ring.c: the pure half of sampling.h. Layouts: linux/perf_event.h, enum perf_event_type. */
#include "kernel/sampling.h"

#include "format/layout.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* sample_type is IP | TID | TIME | PERIOD (sampling.c), so a sample is: */
struct sample_body {
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time;
    uint64_t period;
};

/* and with REGS_USER, where the thread has registers, behind that: */
struct sample_registers {
    uint64_t abi; /* 0: none follow */
    uint64_t ax, bx, cx, dx, si, di, bp, sp, ip, r8_15[8];
};

/* and with sample_id_all every other record ends in: */
struct record_tail {
    uint32_t pid, tid;
    uint64_t time;
};

struct map_body {
    uint32_t pid, tid;
    uint64_t start, length, file_offset;
    uint8_t inode_or_build_id[24];
    uint32_t protection, flags;
    char path[];
};

struct task_body { /* fork and exit */
    uint32_t pid, parent_pid;
    uint32_t tid, parent_tid;
    uint64_t time;
};

struct command_body {
    uint32_t pid, tid;
    char name[];
};

static void decode_registers(const unsigned char *bytes, size_t size, struct record *record)
{
    struct sample_registers user;
    if (record->in_kernel || size < sizeof user)
        return;
    memcpy(&user, bytes, sizeof user);
    if (user.abi != PERF_SAMPLE_REGS_ABI_64)
        return;
    const uint64_t first[8] = {user.ax, user.cx, user.dx, user.bx,
                               user.sp, user.bp, user.si, user.di};
    memcpy(record->registers, first, sizeof first);
    memcpy(record->registers + 8, user.r8_15, sizeof user.r8_15);
    record->has_registers = true;
}

static int decode_sample(const unsigned char *body, size_t size, struct record *record)
{
    struct sample_body sample;
    if (size < sizeof sample)
        return -EBADMSG;
    memcpy(&sample, body, sizeof sample);
    record->kind = RECORD_SAMPLE;
    record->pid = sample.pid;
    record->tid = sample.tid;
    record->time_ns = sample.time;
    record->address = sample.ip;
    record->weight_ns = sample.period;
    decode_registers(body + sizeof sample, size - sizeof sample, record);
    return 0;
}

/* MEMORY_SAMPLE_TYPE (memory_events.h): */
struct access_body {
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, address, period;
    uint64_t weight; /* its low half is the latency, also of WEIGHT_STRUCT */
    union perf_mem_data_src source;
};

static bool has_level(const union perf_mem_data_src *source, uint64_t levels)
{
    return (source->mem_lvl & levels) != 0;
}

static enum heurt_level level_of_caches(const union perf_mem_data_src *source)
{
    if (has_level(source, PERF_MEM_LVL_L1) || source->mem_lvl_num == PERF_MEM_LVLNUM_L1)
        return HEURT_LEVEL_L1;
    if (has_level(source, PERF_MEM_LVL_LFB) || source->mem_lvl_num == PERF_MEM_LVLNUM_LFB)
        return HEURT_LEVEL_BUFFER;
    if (has_level(source, PERF_MEM_LVL_L2) || source->mem_lvl_num == PERF_MEM_LVLNUM_L2)
        return HEURT_LEVEL_L2;
    if (has_level(source, PERF_MEM_LVL_L3) || source->mem_lvl_num == PERF_MEM_LVLNUM_L3)
        return source->mem_snoop & PERF_MEM_SNOOP_HITM ? HEURT_LEVEL_CORE : HEURT_LEVEL_L3;
    return source->mem_lvl_num == PERF_MEM_LVLNUM_ANY_CACHE ? HEURT_LEVEL_CORE
                                                            : HEURT_LEVEL_UNKNOWN;
}

/* Kernels tell by the old field, by the newer ones, or by both. HOPS_0 is another core of the same
 * node; without hops the old words "remote cache" are believed. */
static enum heurt_level level_of(const union perf_mem_data_src *source)
{
    const uint64_t remote_cache = PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2,
                   remote_memory = PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;
    bool is_memory = source->mem_lvl_num == PERF_MEM_LVLNUM_RAM ||
                     source->mem_lvl_num == PERF_MEM_LVLNUM_PMEM ||
                     source->mem_lvl_num == PERF_MEM_LVLNUM_CXL;
    bool is_other = source->mem_remote || has_level(source, remote_cache);
    if (has_level(source, PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC) ||
        source->mem_lvl_num == PERF_MEM_LVLNUM_IO)
        return HEURT_LEVEL_DEVICE;
    if (has_level(source, remote_memory) || (is_memory && source->mem_remote))
        return HEURT_LEVEL_REMOTE_MEMORY;
    if (has_level(source, PERF_MEM_LVL_LOC_RAM) || is_memory)
        return HEURT_LEVEL_MEMORY;
    if (is_other)
        return source->mem_hops == PERF_MEM_HOPS_0 ? HEURT_LEVEL_CORE : HEURT_LEVEL_REMOTE_CACHE;
    return level_of_caches(source);
}

static int decode_access(const unsigned char *body, size_t size, struct record *record)
{
    struct access_body access;
    if (size < sizeof access)
        return -EBADMSG;
    memcpy(&access, body, sizeof access);
    bool reads = access.source.mem_op & PERF_MEM_OP_LOAD,
         writes = access.source.mem_op & PERF_MEM_OP_STORE;
    record->time_ns = access.time;
    if (!(reads || writes) || !access.address)
        return 0;
    record->kind = RECORD_ACCESS;
    record->pid = access.pid;
    record->tid = access.tid;
    record->address = access.ip;
    record->data = access.address;
    record->writes = writes && !reads;
    record->latency = (uint32_t)access.weight;
    record->level = (uint8_t)level_of(&access.source);
    bool is_missed = access.source.mem_dtlb & (PERF_MEM_TLB_WK | PERF_MEM_TLB_OS);
    record->flags = (access.source.mem_snoop & PERF_MEM_SNOOP_HITM ? HEURT_ANSWER_MODIFIED : 0) |
                    (is_missed ? HEURT_ANSWER_TLB_MISS : 0);
    return 0;
}

static int decode_map(const unsigned char *body, size_t size, struct record *record)
{
    struct map_body map;
    if (size <= sizeof map || !memchr(body + sizeof map, 0, size - sizeof map))
        return -EBADMSG;
    memcpy(&map, body, sizeof map);
    if (map.start + map.length < map.start)
        return -EBADMSG;
    record->kind = RECORD_MAP;
    record->pid = map.pid;
    record->tid = map.tid;
    record->address = map.start;
    record->length = map.length;
    record->file_offset = map.file_offset;
    record->path = (const char *)body + sizeof map;
    return 0;
}

static int decode_task(const unsigned char *body, size_t size, bool begins, struct record *record)
{
    struct task_body task;
    if (size < sizeof task)
        return -EBADMSG;
    memcpy(&task, body, sizeof task);
    record->kind = begins ? RECORD_FORK : RECORD_EXIT;
    record->pid = task.pid;
    record->tid = task.tid;
    record->parent_pid = task.parent_pid;
    record->parent_tid = task.parent_tid;
    record->time_ns = task.time;
    return 0;
}

static int decode_command(const unsigned char *body, size_t size, bool by_exec,
                          struct record *record)
{
    struct command_body command;
    if (size < sizeof command)
        return -EBADMSG;
    memcpy(&command, body, sizeof command);
    record->kind = by_exec ? RECORD_EXEC : RECORD_OTHER;
    record->pid = command.pid;
    record->tid = command.tid;
    return 0;
}

static int decode_lost(const unsigned char *body, size_t size, size_t count_at,
                       struct record *record)
{
    if (size < count_at + sizeof record->count)
        return -EBADMSG;
    memcpy(&record->count, body + count_at, sizeof record->count);
    record->kind = RECORD_LOST;
    return 0;
}

/* A sample's body. */
typedef int decoder(const unsigned char *body, size_t size, struct record *record);

static int decode_body(const struct perf_event_header *header, decoder *of_sample,
                       const unsigned char *body, size_t size, struct record *record)
{
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        record->in_kernel =
            (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        return of_sample(body, size, record);
    case PERF_RECORD_MMAP2:
        return decode_map(body, size, record);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return decode_task(body, size, header->type == PERF_RECORD_FORK, record);
    case PERF_RECORD_COMM:
        return decode_command(body, size, header->misc & PERF_RECORD_MISC_COMM_EXEC, record);
    case PERF_RECORD_LOST: /* an event's id comes first */
        return decode_lost(body, size, sizeof(uint64_t), record);
    case PERF_RECORD_LOST_SAMPLES:
        return decode_lost(body, size, 0, record);
    case PERF_RECORD_THROTTLE:
        record->kind = RECORD_THROTTLED;
        return 0;
    default:
        return 0;
    }
}

static int decode(const void *bytes, size_t size, decoder *of_sample, struct record *record)
{
    struct perf_event_header header;
    *record = (struct record){0};
    if (size < sizeof header)
        return -EBADMSG;
    memcpy(&header, bytes, sizeof header);
    const unsigned char *body = (const unsigned char *)bytes + sizeof header;
    struct record_tail tail = {0};
    if (header.size != size)
        return -EBADMSG;
    size -= sizeof header;
    if (header.type != PERF_RECORD_SAMPLE) {
        if (size < sizeof tail)
            return -EBADMSG;
        size -= sizeof tail;
        memcpy(&tail, body + size, sizeof tail);
    }
    int code = decode_body(&header, of_sample, body, size, record);
    if (!record->time_ns)
        record->time_ns = tail.time;
    return code;
}

int record__decode(const void *bytes, size_t size, struct record *record)
{
    return decode(bytes, size, decode_sample, record);
}

int record__decode_access(const void *bytes, size_t size, struct record *record)
{
    int code = decode(bytes, size, decode_access, record);
    /* What such a ring lost, or held back, is nothing that the clock's samples lack. */
    record->kind = record->kind == RECORD_ACCESS ? RECORD_ACCESS : RECORD_OTHER;
    return code;
}

/* count bytes at position, joined in scratch where they lie around the end of the ring. */
static const unsigned char *bytes_at(const struct ring *ring, uint64_t position, size_t count)
{
    uint64_t at = position & (ring->data_bytes - 1);
    if (at + count <= ring->data_bytes)
        return ring->data + at;
    size_t first = ring->data_bytes - at;
    memcpy(ring->scratch, ring->data + at, first);
    memcpy(ring->scratch + first, ring->data, count - first);
    return ring->scratch;
}

bool ring__next(struct ring *ring, const void **bytes, size_t *size, bool *damaged)
{
    uint64_t left = ring->head - ring->tail;
    struct perf_event_header header = {0};
    if (left == 0)
        return false;
    if (left <= ring->data_bytes && left >= sizeof header)
        memcpy(&header, bytes_at(ring, ring->tail, sizeof header), sizeof header);
    if (header.size < sizeof header || header.size > left) {
        *damaged = true;
        ring->tail = ring->head;
        return false;
    }
    *size = header.size;
    *bytes = bytes_at(ring, ring->tail, header.size);
    ring->tail += header.size;
    return true;
}
