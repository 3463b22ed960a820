#include "kernel/task_events.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kernel/sample_cost.h"
#include "kernel/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4) /* Linux 6.0 */
#endif

/* ---- records --------------------------------------------------------------------------------- */

/* With sample_id_all every record but a sample ends in this; of the events for the ends of faults,
 * which only tell of losses, perhaps without cpu. */
struct tail {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
};
#define TAIL_BYTES_LEAST 16

struct major_fault_ends {
    uint64_t code;
    uint32_t pid, tid;
    uint64_t time, address;
};

struct fault_begins {
    uint32_t pid, tid;
    uint64_t time, address;
    uint32_t cpu, reserved;
    uint64_t count;
};

struct minor_fault_ends {
    uint64_t code;
    uint32_t pid, tid;
    uint64_t time, address;
    uint32_t cpu, reserved;
    uint64_t count;
};

_Static_assert(sizeof(struct major_fault_ends) < sizeof(struct fault_begins) &&
                   sizeof(struct fault_begins) < sizeof(struct minor_fault_ends),
               "told apart by their sizes");

struct task { /* fork and exit */
    uint32_t pid, parent_pid;
    uint32_t tid, parent_tid;
    uint64_t time;
};

struct task_command {
    uint32_t pid, tid;
    char name[];
};

struct lost {
    uint64_t id, count;
};

/* The three kinds of samples differ in their length; a major fault always stands for itself. */
static int decode_sample(const unsigned char *body, size_t size, struct task_record *record)
{
    struct fault_begins begins;
    struct minor_fault_ends ends = {.count = 1};
    if (size == sizeof begins) {
        memcpy(&begins, body, sizeof begins);
        *record = (struct task_record){.kind = TASK_FAULT_BEGINS,
                                       .pid = begins.pid,
                                       .tid = begins.tid,
                                       .cpu = begins.cpu,
                                       .time_ns = begins.time,
                                       .address = begins.address,
                                       .count = begins.count};
        return 0;
    }
    if (size < sizeof(struct major_fault_ends))
        return -EBADMSG;
    memcpy(&ends, body, size < sizeof ends ? sizeof(struct major_fault_ends) : sizeof ends);
    *record = (struct task_record){.kind = TASK_FAULT_ENDS,
                                   .pid = ends.pid,
                                   .tid = ends.tid,
                                   .time_ns = ends.time,
                                   .address = ends.address,
                                   .code = ends.code,
                                   .count = ends.count,
                                   .is_major = size < sizeof ends};
    return 0;
}

static void read_tail(const unsigned char *body, size_t size, struct task_record *record)
{
    struct tail tail = {0};
    size_t bytes = size >= sizeof tail ? sizeof tail : TAIL_BYTES_LEAST;
    if (size < bytes)
        return;
    memcpy(&tail, body + size - bytes, bytes);
    record->pid = tail.pid;
    record->tid = tail.tid;
    record->time_ns = tail.time;
    record->cpu = tail.cpu;
}

static int decode_task(const unsigned char *body, size_t size, struct task_record *record,
                       enum task_record_kind kind)
{
    struct task task;
    if (size < sizeof task)
        return -EBADMSG;
    memcpy(&task, body, sizeof task);
    record->kind = kind;
    record->pid = task.pid;
    record->tid = task.tid;
    record->time_ns = task.time;
    return 0;
}

static int decode_command(const unsigned char *body, size_t size, struct task_record *record,
                          bool by_exec)
{
    struct task_command command;
    if (size <= sizeof command + sizeof(struct tail))
        return -EBADMSG;
    memcpy(&command, body, sizeof command);
    size_t bytes = size - sizeof command - sizeof(struct tail);
    record->kind = by_exec ? TASK_EXECED : TASK_NAMED;
    record->pid = command.pid;
    record->tid = command.tid;
    memcpy(record->name, body + sizeof command,
           bytes < sizeof record->name ? bytes : sizeof record->name - 1);
    return 0;
}

static int decode_lost(const unsigned char *body, size_t size, struct task_record *record)
{
    struct lost lost;
    if (size < sizeof lost)
        return -EBADMSG;
    memcpy(&lost, body, sizeof lost);
    if (size >= sizeof lost + TAIL_BYTES_LEAST)
        read_tail(body + sizeof lost, TAIL_BYTES_LEAST, record);
    record->kind = TASK_LOST;
    record->count = lost.count;
    return 0;
}

int task_record__decode(const void *bytes, size_t size, struct task_record *record)
{
    struct perf_event_header header;
    *record = (struct task_record){.kind = TASK_OTHER};
    if (size < sizeof header)
        return -EBADMSG;
    memcpy(&header, bytes, sizeof header);
    const unsigned char *body = (const unsigned char *)bytes + sizeof header;
    if (header.size != size)
        return -EBADMSG;
    size -= sizeof header;
    if (header.type == PERF_RECORD_SAMPLE)
        return decode_sample(body, size, record);
    read_tail(body, size, record);
    switch (header.type) {
    case PERF_RECORD_SWITCH:
        if (size < sizeof(struct tail))
            return -EBADMSG;
        record->kind = !(header.misc & PERF_RECORD_MISC_SWITCH_OUT)        ? TASK_ON_CPU
                       : header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TASK_PREEMPTED
                                                                           : TASK_BLOCKED;
        return 0;
    case PERF_RECORD_FORK:
        return decode_task(body, size, record, TASK_FORKED);
    case PERF_RECORD_EXIT:
        return decode_task(body, size, record, TASK_ENDED);
    case PERF_RECORD_COMM:
        return decode_command(body, size, record, header.misc & PERF_RECORD_MISC_COMM_EXEC);
    case PERF_RECORD_LOST:
        return decode_lost(body, size, record);
    default:
        return 0;
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Each thread inherits all of them, which costs its start a microsecond or so each. */
#define CPUS_MOST 64
/* What one recorder of an ordinary user may lock, unless told otherwise (perf_event_mlock_kb), is
 * 512 KiB a CPU. */
#define RING_BYTES_ROOT (1u << 20)
#define RING_BYTES_MOST (512u << 10)
#define RING_BYTES_LEAST (32u << 10)
#define WATERMARK_BYTES (32u << 10)

struct task_ring {
    int fd; /* of the event that owns the ring */
    int cpu;
    struct perf_event_mmap_page *page;
    size_t mapped_bytes;
    struct ring ring;
    struct task_record next; /* read, and not yet handed over */
    bool has_next;
};

struct task_events {
    pid_t pid;
    clockid_t clock;
    bool counts_lost; /* the kernel knows PERF_FORMAT_LOST */
    bool thins_out;   /* faults, where they are many */
    bool has_faults;
    bool is_running;     /* the process: its events tell at once */
    struct vec rings;    /* struct task_ring */
    struct vec others;   /* int: descriptors of the events that use these rings */
    struct pollfd *wait; /* of the rings, and one more */
    uint64_t lost;       /* as told by records, and those that could not be understood */
    unsigned char scratch[RECORD_BYTES_MAX];
};

static struct perf_event_attr attributes_of(uint64_t config, uint64_t sample_type, clockid_t clock)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = config,
        .sample_period = 1,
        .sample_type = sample_type,
        .sample_id_all = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = clock,
        .watermark = 1,
    };
}

/* Two records of a fault cost some 1.1 us, and a thread can have half a million faults a second.
 * Told not to exceed a rate, the kernel records each fault of a thread until they are more, and
 * then one of so many that the rate is kept; it says with each how many it stands for. */
enum { FAULTS_A_SECOND = 20000 };

/* As many as the system allows (perf_event_max_sample_rate). */
static uint64_t fault_rate(void)
{
    char text[24];
    int fd = open("/proc/sys/kernel/perf_event_max_sample_rate", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    uint64_t most = strtoull(text, NULL, 10);
    return most && most < FAULTS_A_SECOND ? most : FAULTS_A_SECOND;
}

static void thin_out(struct perf_event_attr *attributes)
{
    attributes->freq = 1;
    attributes->sample_freq = fault_rate();
}

/* Of the event that owns a ring. Without faults it counts nothing, and tells of tasks alone. */
static struct perf_event_attr begins_of(bool has_faults, clockid_t clock, size_t ring_bytes)
{
    struct perf_event_attr attributes =
        attributes_of(has_faults ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY,
                      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                          PERF_SAMPLE_PERIOD,
                      clock);
    attributes.context_switch = attributes.task = attributes.comm = attributes.comm_exec = 1;
    attributes.wakeup_watermark =
        (uint32_t)(ring_bytes / 4 < WATERMARK_BYTES ? ring_bytes / 4 : WATERMARK_BYTES);
    return attributes;
}

static const struct {
    uint64_t config, sample_type;
} ends[] = {
    {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                        PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD},
    {PERF_COUNT_SW_PAGE_FAULTS_MAJ,
     PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR},
};
#define ENDS (sizeof ends / sizeof ends[0])

static int open_event(struct perf_event_attr *attributes, pid_t pid, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* Opens an event for the program, from its exec on, and for all that it starts. */
static int open_inherited(struct task_events *events, struct perf_event_attr *attributes, int cpu)
{
    attributes->disabled = attributes->enable_on_exec = !events->is_running;
    attributes->inherit = 1;
    attributes->read_format = events->counts_lost ? PERF_FORMAT_LOST : 0;
    int fd = open_event(attributes, events->pid, cpu);
    if (fd != -EINVAL || !events->counts_lost)
        return fd;
    events->counts_lost = false;
    return open_inherited(events, attributes, cpu);
}

static int map_ring(int fd, size_t ring_bytes, struct task_ring *ring)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = page_bytes + ring_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return errno == EPERM ? -ENOBUFS : -errno; /* too much locked memory */
    *ring = (struct task_ring){.fd = fd, .page = memory, .mapped_bytes = bytes};
    ring->ring.data = (const unsigned char *)memory + page_bytes;
    ring->ring.data_bytes = ring_bytes;
    return 0;
}

static int add_ends(struct task_events *events, int cpu, int into)
{
    for (size_t i = 0; i < ENDS; i++) {
        struct perf_event_attr attributes =
            attributes_of(ends[i].config, ends[i].sample_type, events->clock);
        if (events->thins_out && ends[i].config == PERF_COUNT_SW_PAGE_FAULTS_MIN)
            thin_out(&attributes);
        int fd = open_inherited(events, &attributes, cpu);
        if (fd < 0)
            return fd;
        vec__push(&events->others, &fd);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, into) < 0)
            return -errno;
    }
    return 0;
}

/* 1: the CPU is offline. */
static int add_ring(struct task_events *events, int cpu, size_t ring_bytes)
{
    struct perf_event_attr attributes = begins_of(events->has_faults, events->clock, ring_bytes);
    struct task_ring ring;
    if (events->thins_out)
        thin_out(&attributes);
    int fd = open_inherited(events, &attributes, cpu);
    if (fd < 0)
        return fd == -ENODEV ? 1 : fd;
    int code = map_ring(fd, ring_bytes, &ring);
    if (code < 0) {
        close(fd);
        return code;
    }
    ring.cpu = cpu;
    ring.ring.scratch = events->scratch;
    vec__push(&events->rings, &ring);
    return events->has_faults ? add_ends(events, cpu, fd) : 0;
}

static void close_rings(struct task_events *events)
{
    VEC_EACH (fd, &events->others, int)
        close(*fd);
    VEC_EACH (ring, &events->rings, struct task_ring) {
        munmap(ring->page, ring->mapped_bytes);
        close(ring->fd);
    }
    vec__free(&events->others);
    vec__free(&events->rings);
}

static int add_rings(struct task_events *events, size_t ring_bytes)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int code = sysconf(_SC_NPROCESSORS_ONLN) > CPUS_MOST ? -E2BIG : 0;
    for (int cpu = 0; cpu < cpus && code >= 0; cpu++)
        code = add_ring(events, cpu, ring_bytes);
    return code < 0 ? code : events->rings.count ? 0 : -ENODEV;
}

static int open_all(struct task_events *events)
{
    size_t bytes = geteuid() == 0 ? RING_BYTES_ROOT : RING_BYTES_MOST;
    int code = add_rings(events, bytes);
    while ((code == -ENOBUFS || code == -ENOMEM) && (bytes /= 2) >= RING_BYTES_LEAST) {
        close_rings(events);
        code = add_rings(events, bytes);
    }
    return code;
}

static struct task_events *new_events(pid_t pid, clockid_t clock, bool thins_out)
{
    struct task_events *events = memory__zeroed(1, sizeof *events);
    events->pid = pid;
    events->clock = clock;
    events->counts_lost = true;
    events->thins_out = thins_out;
    events->has_faults = true;
    events->rings = VEC_OF(struct task_ring);
    events->others = VEC_OF(int);
    return events;
}

static void await_rings(struct task_events *events)
{
    events->wait = memory__zeroed(events->rings.count + 1, sizeof *events->wait);
    for (size_t i = 0; i < events->rings.count; i++)
        events->wait[i] =
            (struct pollfd){VEC_AT(&events->rings, struct task_ring, i)->fd, POLLIN, 0};
}

/* Opens these events, or frees them. */
static int hand_over(struct task_events *events, struct task_events **out)
{
    int code = open_all(events);
    if (code < 0) {
        task_events__close(events);
        events = NULL;
    } else
        await_rings(events);
    *out = events;
    return code;
}

int task_events__open(pid_t pid, clockid_t clock, struct task_events **out)
{
    return hand_over(new_events(pid, clock, true), out);
}

int task_events__open_switches(pid_t pid, clockid_t clock, struct task_events **out)
{
    struct task_events *events = new_events(pid, clock, false);
    events->has_faults = false;
    return hand_over(events, out);
}

int task_events__add_thread(struct task_events *events, uint32_t tid)
{
    events->pid = (pid_t)tid;
    VEC_EACH (ring, &events->rings, struct task_ring) {
        struct perf_event_attr attributes =
            begins_of(false, events->clock, (size_t)ring->ring.data_bytes);
        int fd = open_inherited(events, &attributes, ring->cpu);
        if (fd < 0)
            return fd;
        vec__push(&events->others, &fd);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
            return -errno;
    }
    return 0;
}

int task_events__open_running(pid_t pid, clockid_t clock, struct task_events **out)
{
    struct task_events *events = new_events(pid, clock, false);
    events->has_faults = false;
    events->is_running = true;
    return hand_over(events, out);
}

void task_events__close(struct task_events *events)
{
    if (!events)
        return;
    close_rings(events);
    free(events->wait);
    free(events);
}

/* ---- draining -------------------------------------------------------------------------------- */

bool task_events__wait(struct task_events *events, int stop_fd, int timeout_ms)
{
    size_t count = events->rings.count;
    events->wait[count] = (struct pollfd){stop_fd, POLLIN, 0};
    if (poll(events->wait, count + 1, timeout_ms) <= 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (events->wait[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            events->wait[i].fd = -1; /* all its tasks are gone: it would be readable for ever */
    return events->wait[count].revents;
}

static void read_next(struct task_events *events, struct task_ring *cpu)
{
    const void *bytes;
    size_t size;
    bool damaged = false;
    while (!cpu->has_next && ring__next(&cpu->ring, &bytes, &size, &damaged)) {
        cpu->has_next = true;
        if (task_record__decode(bytes, size, &cpu->next) < 0)
            cpu->next = (struct task_record){.kind = TASK_LOST, .count = 1};
        else if (cpu->next.kind == TASK_OTHER)
            cpu->has_next = false;
    }
    events->lost += damaged;
}

static struct task_ring *earliest(struct task_events *events)
{
    struct task_ring *first = NULL;
    VEC_EACH (cpu, &events->rings, struct task_ring) {
        read_next(events, cpu);
        if (cpu->has_next && (!first || cpu->next.time_ns < first->next.time_ns))
            first = cpu;
    }
    return first;
}

/* What a thread does on one CPU is in that CPU's ring before it can do anything on another. So
 * records up to a time before all rings are looked at are there, of each thread, without a gap;
 * later ones wait. */
size_t task_events__drain(struct task_events *events,
                          void (*take)(void *context, const struct task_record *record),
                          void *context)
{
    uint64_t now = clock__ns(events->clock);
    size_t count = 0;
    struct task_ring *first;
    VEC_EACH (cpu, &events->rings, struct task_ring)
        /* Pairs with the kernel's release of data_head (see its comment in linux/perf_event.h). */
        cpu->ring.head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
    while ((first = earliest(events)) && first->next.time_ns <= now) {
        if (first->next.kind == TASK_LOST)
            events->lost += first->next.count;
        take(context, &first->next);
        first->has_next = false;
        count++;
        __atomic_store_n(&first->page->data_tail, first->ring.tail, __ATOMIC_RELEASE);
    }
    return count;
}

/* How many records were lost. That an event lost some and has written none since, only its own
 * count tells. */
uint64_t task_events__lost(const struct task_events *events)
{
    uint64_t counts[2], lost = 0;
    if (!events->counts_lost)
        return events->lost;
    VEC_EACH (ring, &events->rings, struct task_ring)
        if (read(ring->fd, counts, sizeof counts) == sizeof counts)
            lost += counts[1];
    VEC_EACH (fd, &events->others, int)
        if (read(*fd, counts, sizeof counts) == sizeof counts)
            lost += counts[1];
    return lost > events->lost ? lost : events->lost;
}

/* ---- what the records cost ------------------------------------------------------------------- */

enum { ROUNDS = 4, TOUCHED_PAGES = 32, TURNS = 32, INHERITED = 12, COSTS_RING_BYTES = 16 * 4096 };

/* Of a round: of each what it takes in ns, 0: not known. */
struct round {
    uint64_t fresh_fault, told_fault; /* a page that was not there; as the records tell it */
    uint64_t fault;                   /* a page that was there: the shortest that a fault can be */
    uint64_t change; /* to leave the CPU to another thread and, likewise, to get it again */
};

/* What is seldom shorter, where something else may interrupt. */
static uint64_t quartile(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, order__u64);
    return count ? values[count / 4] : 0;
}

/* The first touch of a page: of a file, or, -1, of memory. */
static uint64_t touch_pages(int file, clockid_t clock)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = TOUCHED_PAGES * page_bytes;
    uint64_t took[TOUCHED_PAGES];
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < TOUCHED_PAGES; i++) {
        uint64_t before = clock__ns(clock);
        *(volatile char *)(memory + i * page_bytes) = 1;
        took[i] = clock__ns(clock) - before;
    }
    munmap(memory, bytes);
    return quartile(took, TOUCHED_PAGES);
}

/* From beginning to end, of the first faults that are told in the ring. */
static uint64_t told_fault(struct task_ring *cpu)
{
    uint64_t told[TOUCHED_PAGES], begin = 0;
    size_t count = 0, size;
    struct task_record record;
    const void *bytes;
    bool damaged = false;
    cpu->ring.head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
    while (count < TOUCHED_PAGES && ring__next(&cpu->ring, &bytes, &size, &damaged)) {
        if (task_record__decode(bytes, size, &record) < 0)
            break;
        if (record.kind == TASK_FAULT_ENDS && begin)
            told[count++] = record.time_ns - begin;
        begin = record.kind == TASK_FAULT_BEGINS ? record.time_ns : 0;
    }
    return quartile(told, count);
}

struct partner {
    int asks[2], answers[2]; /* pipes */
};

static void *answer(void *context)
{
    const struct partner *partner = context;
    char byte;
    while (read(partner->asks[0], &byte, 1) == 1 && write(partner->answers[1], &byte, 1) == 1)
        continue;
    return NULL;
}

static uint64_t take_turns(const struct partner *partner, clockid_t clock)
{
    uint64_t took[TURNS];
    char byte = 0;
    for (size_t i = 0; i < TURNS; i++) {
        uint64_t before = clock__ns(clock);
        if (write(partner->asks[1], &byte, 1) != 1 || read(partner->answers[0], &byte, 1) != 1)
            return 0;
        took[i] = clock__ns(clock) - before;
    }
    return quartile(took, TURNS) / 2;
}

static void close_pipe(const int both[2])
{
    for (int i = 0; i < 2; i++)
        if (both[i] >= 0)
            close(both[i]);
}

/* The caller has one CPU only, so that both threads share it. */
static uint64_t change_threads(clockid_t clock)
{
    struct partner partner = {{-1, -1}, {-1, -1}};
    pthread_t thread;
    uint64_t took = 0;
    if (pipe2(partner.asks, O_CLOEXEC) == 0 && pipe2(partner.answers, O_CLOEXEC) == 0 &&
        pthread_create(&thread, NULL, answer, &partner) == 0) {
        took = take_turns(&partner, clock);
        close(partner.asks[1]);
        partner.asks[1] = -1;
        pthread_join(thread, NULL);
    }
    close_pipe(partner.asks);
    close_pipe(partner.answers);
    return took;
}

static void enable(const struct task_events *events)
{
    VEC_EACH (ring, &events->rings, struct task_ring)
        ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0);
    VEC_EACH (fd, &events->others, int)
        ioctl(*fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* To open an event and to close it: what a thread that inherits one pays, about. */
static uint64_t inherit_event(clockid_t clock, int cpu)
{
    struct perf_event_attr attributes = attributes_of(ends[0].config, ends[0].sample_type, clock);
    uint64_t took[INHERITED];
    for (size_t i = 0; i < INHERITED; i++) {
        uint64_t before = clock__ns(clock);
        int fd = open_event(&attributes, 0, cpu);
        if (fd < 0)
            return 0;
        close(fd);
        took[i] = clock__ns(clock) - before;
    }
    return quartile(took, INHERITED);
}

static struct round measure(clockid_t clock, int file)
{
    return (struct round){.fresh_fault = touch_pages(-1, clock),
                          .fault = touch_pages(file, clock),
                          .change = change_threads(clock)};
}

/* With events like those of the program on this thread and those that it makes. */
static struct round measure_recorded(clockid_t clock, int file, int cpu)
{
    struct task_events *events = new_events(gettid(), clock, false);
    struct round round = {0};
    if (add_ring(events, cpu, COSTS_RING_BYTES) == 0) {
        enable(events);
        round = measure(clock, file);
        round.told_fault = told_fault(VEC_AT(&events->rings, struct task_ring, 0));
    }
    task_events__close(events);
    return round;
}

static void keep_least(uint64_t *least, uint64_t value)
{
    if (value && (!*least || value < *least))
        *least = value;
}

static void keep_least_of(struct round *least, struct round round)
{
    keep_least(&least->fresh_fault, round.fresh_fault);
    keep_least(&least->told_fault, round.told_fault);
    keep_least(&least->fault, round.fault);
    keep_least(&least->change, round.change);
}

static uint64_t beyond(uint64_t recorded, uint64_t bare)
{
    return bare && recorded > bare ? recorded - bare : 0;
}

static struct task_costs costs_on(int cpu, clockid_t clock)
{
    struct round bare = {0}, recorded = {0};
    int file = memfd_create("heurt", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, TOUCHED_PAGES * sysconf(_SC_PAGESIZE)) < 0 ||
        !touch_pages(file, clock)) {
        close(file);
        return (struct task_costs){0};
    }
    for (int i = 0; i < ROUNDS; i++) {
        keep_least_of(&bare, measure(clock, file));
        keep_least_of(&recorded, measure_recorded(clock, file, cpu));
    }
    close(file);
    return (struct task_costs){
        .way_of_fault_ns = bare.fresh_fault && recorded.told_fault
                               ? (int64_t)bare.fresh_fault - (int64_t)recorded.told_fault
                               : 0,
        .fault_ns = beyond(recorded.fault, bare.fault),
        .off_cpu_ns = beyond(recorded.change, bare.change),
        .thread_ns =
            (1 + ENDS) * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * inherit_event(clock, cpu),
        .sample_ns = sample_cost__measure(),
    };
}

struct task_costs task_events__costs(clockid_t clock)
{
    cpu_set_t before, one;
    int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof before, &before) < 0)
        return (struct task_costs){0};
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0)
        return (struct task_costs){0};
    struct task_costs costs = costs_on(cpu, clock);
    sched_setaffinity(0, sizeof before, &before);
    return costs;
}
