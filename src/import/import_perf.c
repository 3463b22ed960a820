/* perf.data of perf record (tools/perf/Documentation/perf.data-file-format.txt of the kernel's
 * source, and linux/perf_event.h), as a file or as a pipe wrote it:
 *
 *     file:  "PERFILE2" sizes, sections ► attributes (with ids) ► records ► features
 *     pipe:  "PERFILE2" 16 ► records, attributes among them
 *
 * Records stand in the order of buffers, not of times: their places are kept, 16 bytes each, and
 * sorted, until the file says that nothing earlier comes. Switches become times off the CPU. perf
 * tells no calls: of a thread's samples, one after the other, what their stacks have in common is
 * one call that goes on; what is new begins with the sample, what is gone ended with it, or before,
 * when the thread left the CPU. */
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "import/import_addresses.h"
#include "import/import_perf_file.h"
#include "import/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_MAX 512u   /* frames of a sample */
#define PENDING_MAX 256u /* times off the CPU between two samples */

/* A time off the CPU. */
struct perf_off {
    int64_t from_ns, to_ns;
    bool is_preempted;
    uint32_t cpu;
};

struct perf_thread {
    uint32_t pid, tid, thread; /* the import's number */
    bool has_begun, has_ended, is_off, is_preempted;
    int64_t off_ns;     /* since when it is off */
    int64_t first_ns;   /* it lives since then */
    uint64_t total_off; /* ns */
    struct vec open;    /* uint32_t: functions of the last sample's stack, outermost first */
    struct vec pending; /* struct perf_off: since that */
};

struct perf_reading {
    struct import *import;
    struct import_addresses *addresses;
    struct perf_file file;
    struct map by_tid;  /* -> place in threads */
    struct vec threads; /* struct perf_thread * */
    struct map names;   /* pid -> place in texts, of its last comm */
    struct vec texts;   /* char * */
};

/* ---- threads --------------------------------------------------------------------------------- */

static const char *name_of(const struct perf_reading *reading, uint32_t pid)
{
    uint64_t place = map__get(&reading->names, &pid, sizeof pid);
    return place == MAP_ABSENT ? NULL : *VEC_AT(&reading->texts, char *, place);
}

static void keep_name(struct perf_reading *reading, uint32_t pid, const char *name)
{
    uint64_t place = map__put(&reading->names, &pid, sizeof pid, reading->texts.count);
    char **text = VEC_REACH(&reading->texts, char *, place);
    free(*text);
    *text = memory__text(name);
}

/* NULL: it is none that can be told: the kernel's idle ones, or too many. */
static struct perf_thread *thread_of(struct perf_reading *reading, uint32_t pid, uint32_t tid)
{
    uint64_t place = map__get(&reading->by_tid, &tid, sizeof tid);
    if (place != MAP_ABSENT)
        return *VEC_AT(&reading->threads, struct perf_thread *, place);
    if (tid == 0 || tid == UINT32_MAX || pid == UINT32_MAX)
        return NULL;
    import__process(reading->import, pid, 0, name_of(reading, pid));
    struct perf_thread *thread = memory__zeroed(1, sizeof *thread);
    thread->pid = pid;
    thread->tid = tid;
    thread->open = VEC_OF(uint32_t);
    thread->pending = VEC_OF(struct perf_off);
    thread->thread = import__thread(reading->import, pid, tid, NULL);
    map__put(&reading->by_tid, &tid, sizeof tid, reading->threads.count);
    vec__push(&reading->threads, &thread);
    return thread;
}

static bool is_told(const struct perf_thread *thread)
{
    return thread && thread->thread != UINT32_MAX && !thread->has_ended;
}

/* Its life begins, where that was not so yet; on that CPU. */
static void begin(struct perf_reading *reading, struct perf_thread *thread, int64_t ns,
                  uint32_t cpu)
{
    if (thread->has_begun)
        return;
    thread->has_begun = true;
    thread->first_ns = ns;
    import__begin(reading->import, thread->thread, ns);
    if (perf_file__has_switches(&reading->file))
        import__event(reading->import, thread->thread, ns, HEURT_EVENT_KERNEL,
                      (const uint64_t[]){cpu}, 1);
}

static void write_off(struct perf_reading *reading, struct perf_thread *thread)
{
    VEC_EACH (off, &thread->pending, struct perf_off) {
        uint64_t ns = (uint64_t)(off->to_ns - off->from_ns);
        const uint64_t payload[] = {
            HEURT_OFF(ns, off->is_preempted ? HEURT_OFF_PREEMPTED : HEURT_OFF_BLOCKED),
            HEURT_BACK(off->is_preempted ? ns : HEURT_NOT_KNOWN, off->cpu), 0};
        import__event(reading->import, thread->thread, off->to_ns, HEURT_EVENT_OFF_CPU, payload, 3);
    }
    thread->pending.count = 0;
}

static void close_calls(struct perf_reading *reading, struct perf_thread *thread, size_t depth,
                        int64_t ns)
{
    while (thread->open.count > depth) {
        import__leave_innermost(reading->import, thread->thread, ns);
        thread->open.count--;
    }
}

/* The stack is another one from now on: calls that are gone ended when the thread first left the
 * CPU, if it did. */
static void change_stack(struct perf_reading *reading, struct perf_thread *thread, int64_t ns,
                         const uint32_t *functions, size_t count)
{
    size_t same = 0;
    while (same < count && same < thread->open.count &&
           *VEC_AT(&thread->open, uint32_t, same) == functions[same])
        same++;
    int64_t ended_ns = ns;
    if (thread->pending.count)
        ended_ns = VEC_AT(&thread->pending, struct perf_off, 0)->from_ns;
    close_calls(reading, thread, same, ended_ns);
    write_off(reading, thread);
    for (; same < count; same++) {
        vec__push(&thread->open, &functions[same]);
        import__enter(reading->import, thread->thread, ns, functions[same]);
    }
}

static void end_thread(struct perf_reading *reading, struct perf_thread *thread, int64_t ns)
{
    if (!thread->has_begun)
        return;
    change_stack(reading, thread, ns, NULL, 0);
    uint64_t lived = (uint64_t)(ns - thread->first_ns);
    bool is_known = perf_file__has_switches(&reading->file) && thread->total_off <= lived;
    import__event(reading->import, thread->thread, ns, HEURT_EVENT_THREAD_END,
                  (const uint64_t[]){is_known ? lived - thread->total_off : UINT64_MAX, UINT64_MAX},
                  2);
    thread->has_ended = true;
}

/* ---- records --------------------------------------------------------------------------------- */

static void switched_out(struct perf_thread *thread, int64_t ns, bool is_preempted)
{
    if (thread->is_off)
        return;
    thread->is_off = true;
    thread->is_preempted = is_preempted;
    thread->off_ns = ns;
}

static void switched_in(struct perf_reading *reading, struct perf_thread *thread, int64_t ns,
                        uint32_t cpu)
{
    if (!thread->is_off || ns < thread->off_ns)
        return;
    const struct perf_off off = {thread->off_ns, ns, thread->is_preempted, cpu};
    thread->is_off = false;
    thread->total_off += (uint64_t)(ns - thread->off_ns);
    if (thread->pending.count >= PENDING_MAX)
        write_off(reading, thread);
    vec__push(&thread->pending, &off);
}

static void take_switch(struct perf_reading *reading, const struct perf_event_header *header,
                        const struct perf_sample *told)
{
    struct perf_thread *thread = thread_of(reading, told->pid, told->tid);
    int64_t ns = (int64_t)told->ns;
    bool is_out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
    if (!is_told(thread))
        return;
    begin(reading, thread, ns, told->cpu);
    if (is_out)
        switched_out(thread, ns, header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    else
        switched_in(reading, thread, ns, told->cpu);
}

/* Functions of the program's stack, outermost first; those of the kernel, and what a stack without
 * frame pointers has by chance behind its last good frame, are left out. */
static size_t functions_of(struct perf_reading *reading, const struct perf_thread *thread,
                           const struct perf_sample *sample, bool is_user,
                           uint32_t functions[STACK_MAX])
{
    size_t count = 0, first = STACK_MAX;
    struct perf_cursor stack = {sample->stack, sample->stack, false};
    bool in_user = is_user;
    if (sample->stack)
        stack.end += 8 * sample->nr;
    else if (is_user)
        stack = (struct perf_cursor){(const uint8_t *)&sample->ip,
                                     (const uint8_t *)(&sample->ip + 1), false};
    while (stack.at < stack.end && first > 0) {
        uint64_t address = perf_cursor__take64(&stack);
        if (address >= PERF_CONTEXT_MAX) {
            in_user = address == PERF_CONTEXT_USER;
            continue;
        }
        if (!in_user)
            continue;
        uint32_t id = import_addresses__function(reading->addresses, thread->thread, thread->pid,
                                                 address - (count > 0));
        if (id == UINT32_MAX)
            break;
        functions[--first] = id;
        count++;
    }
    memmove(functions, functions + first, count * sizeof *functions);
    return count;
}

static void take_sample(struct perf_reading *reading, const struct perf_event_header *header,
                        const struct perf_sample *sample)
{
    uint32_t functions[STACK_MAX];
    struct perf_thread *thread = thread_of(reading, sample->pid, sample->tid);
    unsigned mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (!is_told(thread))
        return;
    int64_t ns = (int64_t)sample->ns;
    begin(reading, thread, ns, sample->cpu);
    if (thread->is_off)
        switched_in(reading, thread, ns, sample->cpu);
    if (!sample->stack && mode != PERF_RECORD_MISC_USER)
        return;
    size_t count = functions_of(reading, thread, sample, mode == PERF_RECORD_MISC_USER, functions);
    if (count)
        change_stack(reading, thread, ns, functions, count);
}

static void take_comm(struct perf_reading *reading, const struct perf_event_header *header,
                      struct perf_cursor record, const struct perf_sample *told)
{
    uint32_t pid = perf_cursor__take32(&record), tid = perf_cursor__take32(&record);
    const char *name = perf_cursor__text(&record);
    if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
        import_addresses__exec(reading->addresses, pid);
    struct perf_thread *thread = thread_of(reading, pid, tid);
    if (!is_told(thread))
        return;
    import__thread(reading->import, pid, tid, name);
    if (header->misc & PERF_RECORD_MISC_COMM_EXEC && told->has_ns) {
        begin(reading, thread, (int64_t)told->ns, told->cpu);
        change_stack(reading, thread, (int64_t)told->ns, NULL, 0);
    }
}

/* A thread that is forked wants a CPU until it first has one. */
static void take_fork(struct perf_reading *reading, struct perf_cursor record,
                      const struct perf_sample *told)
{
    uint32_t pid = perf_cursor__take32(&record), parent = perf_cursor__take32(&record),
             tid = perf_cursor__take32(&record);
    if (record.broke)
        return;
    if (pid != parent) {
        import__process(reading->import, pid, parent, name_of(reading, pid));
        import_addresses__fork(reading->addresses, pid, parent);
    }
    struct perf_thread *thread = thread_of(reading, pid, tid);
    if (!is_told(thread) || !told->has_ns || thread->has_begun)
        return;
    import__thread(reading->import, pid, tid, name_of(reading, parent));
    begin(reading, thread, (int64_t)told->ns, told->cpu);
    if (perf_file__has_switches(&reading->file))
        switched_out(thread, (int64_t)told->ns, true);
}

static void take_exit(struct perf_reading *reading, struct perf_cursor record,
                      const struct perf_sample *told)
{
    uint32_t pid = perf_cursor__take32(&record);
    perf_cursor__take32(&record);
    uint32_t tid = perf_cursor__take32(&record);
    struct perf_thread *thread = thread_of(reading, pid, tid);
    if (!record.broke && is_told(thread) && told->has_ns)
        end_thread(reading, thread, (int64_t)told->ns);
}

static void take_map(struct perf_reading *reading, const struct perf_event_header *header,
                     struct perf_cursor record)
{
    uint8_t id[PERF_BUILD_ID_BYTES] = {0};
    struct import_mapping mapping = {.pid = perf_cursor__take32(&record)};
    perf_cursor__take32(&record);
    mapping.start = perf_cursor__take64(&record);
    mapping.end = mapping.start + perf_cursor__take64(&record);
    mapping.offset = perf_cursor__take64(&record);
    if (header->type == PERF_RECORD_MMAP2) {
        perf_cursor__take(&record, id, sizeof id);
        perf_cursor__take64(&record); /* protection and flags */
        if (header->misc & (1u << 14)) {
            mapping.build_id = id + 4;
            mapping.build_id_bytes = id[0] <= 20 ? id[0] : 0;
        }
    }
    mapping.path = perf_cursor__text(&record);
    if (record.broke || mapping.pid == UINT32_MAX || header->misc & PERF_RECORD_MISC_MMAP_DATA ||
        (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
        return;
    if (!mapping.build_id_bytes && perf_file__build_id(&reading->file, mapping.path, id)) {
        mapping.build_id = id;
        mapping.build_id_bytes = id[20] <= 20 ? id[20] : 0;
    }
    import_addresses__map(reading->addresses, &mapping);
}

static void take_lost(struct perf_reading *reading, struct perf_cursor record,
                      const struct perf_sample *told)
{
    perf_cursor__take64(&record);
    uint64_t lost = perf_cursor__take64(&record);
    struct perf_thread *thread = told->has_tid ? thread_of(reading, told->pid, told->tid) : NULL;
    import__pass_over(reading->import, "what perf says that it lost");
    if (is_told(thread) && thread->has_begun)
        import__event(reading->import, thread->thread, (int64_t)told->ns, HEURT_EVENT_KERNEL_LOST,
                      &lost, 1);
}

static void take_record(void *self, const struct perf_event_header *header,
                        struct perf_cursor record, const struct perf_sample *told)
{
    struct perf_reading *reading = self;
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        if (told->has_ns && told->has_tid)
            take_sample(reading, header, told);
        break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        if (told->has_ns && told->has_tid)
            take_switch(reading, header, told);
        break;
    case PERF_RECORD_COMM:
        take_comm(reading, header, record, told);
        break;
    case PERF_RECORD_FORK:
        take_fork(reading, record, told);
        break;
    case PERF_RECORD_EXIT:
        take_exit(reading, record, told);
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        take_map(reading, header, record);
        break;
    case PERF_RECORD_LOST:
        take_lost(reading, record, told);
        break;
    }
}

static void end_threads(struct perf_reading *reading)
{
    VEC_EACH (thread, &reading->threads, struct perf_thread *)
        if (is_told(*thread))
            end_thread(reading, *thread, (int64_t)reading->file.round_ns);
}

static void free_reading(struct perf_reading *reading)
{
    VEC_EACH (thread, &reading->threads, struct perf_thread *) {
        vec__free(&(*thread)->open);
        vec__free(&(*thread)->pending);
        free(*thread);
    }
    VEC_EACH (text, &reading->texts, char *)
        free(*text);
    vec__free(&reading->threads);
    vec__free(&reading->texts);
    perf_file__free(&reading->file);
    map__free(&reading->by_tid);
    map__free(&reading->names);
    import_addresses__free(reading->addresses);
}

/* Names of processes are told with whatever comes first of them, which may be before their own. */
static void meet_record(void *self, const struct perf_event_header *header,
                        struct perf_cursor record)
{
    struct perf_reading *reading = self;
    if (header->type != PERF_RECORD_COMM)
        return;
    uint32_t pid = perf_cursor__take32(&record), tid = perf_cursor__take32(&record);
    if (pid == tid)
        keep_name(reading, pid, perf_cursor__text(&record));
}

static const struct perf_taker taker = {meet_record, take_record};

static void import_bytes(struct import *import, const uint8_t *bytes, uint64_t count)
{
    struct perf_reading reading = {.import = import,
                                   .addresses = import_addresses__new(import),
                                   .file = {.import = import,
                                            .taker = &taker,
                                            .self = &reading,
                                            .bytes = bytes,
                                            .count = count},
                                   .threads = VEC_OF(struct perf_thread *),
                                   .texts = VEC_OF(char *)};
    perf_file__read(&reading.file);
    end_threads(&reading);
    free_reading(&reading);
}

static int import_perf(const struct import_source *source, struct import *import,
                       struct error *error)
{
    const uint8_t *bytes;
    size_t count;
    int code = import_source__map(source, &bytes, &count, error);
    if (code < 0)
        return code;
    import_bytes(import, bytes, count);
    munmap((void *)bytes, count);
    return 0;
}

static bool recognises(const struct import_source *source)
{
    return !source->is_directory && strncmp(source->head, PERF_MAGIC, strlen(PERF_MAGIC)) == 0;
}

const struct importer importer_perf = {
    "perf.data",
    "calls are what samples saw, so that their number and least time mean nothing; no locks, no "
    "page faults, no functions of the kernel",
    recognises, import_perf};
