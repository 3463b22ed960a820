#include "kernel/wakes.h"

#include "base/memory.h"
#include "kernel/sampling.h"
#include "kernel/slow_close.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- formats and records --------------------------------------------------------------------- */

/* The number of another tracepoint, or 0. */
static uint32_t number_of(const char *root, const char *event)
{
    uint32_t number;
    return tracepoint__read(root, event, &number, NULL, 0) < 0 ? 0 : number;
}

static void read_futex(const char *root, struct wake_formats *formats)
{
    formats->operation = (struct tracepoint_field){.name = "op"};
    if (tracepoint__read(root, "syscalls/sys_enter_futex", &formats->futex_begin,
                         &formats->operation, 1) < 0 ||
        !formats->operation.bytes)
        formats->futex_begin = 0;
    formats->futex_end = number_of(root, "syscalls/sys_exit_futex");
    if (!formats->futex_begin || !formats->futex_end)
        formats->futex_begin = formats->futex_end = 0;
}

/* A request is queued by the thread that wants it; it may be issued by another one. */
static void read_block(const char *root, struct wake_formats *formats)
{
    formats->block_queued = number_of(root, "block/block_bio_queue");
    if (!formats->block_queued)
        formats->block_queued = number_of(root, "block/block_rq_issue");
    formats->block_done = number_of(root, "block/block_rq_complete");
    if (!formats->block_queued || !formats->block_done)
        formats->block_queued = formats->block_done = 0;
}

int wake_formats__read(const char *root, struct wake_formats *formats)
{
    struct tracepoint_field fields[] = {
        {.name = "common_type"}, {.name = "common_flags"}, {.name = "common_pid"}, {.name = "pid"}};
    *formats = (struct wake_formats){0};
    int code = tracepoint__read(root, "sched/sched_waking", &formats->waking, fields, 4);
    if (code < 0)
        return code;
    for (size_t i = 0; i < 4; i++)
        if (!fields[i].bytes)
            return -EBADMSG;
    formats->type = fields[0];
    formats->flags = fields[1];
    formats->current = fields[2];
    formats->wakee = fields[3];
    read_futex(root, formats);
    read_block(root, formats);
    return 0;
}

/* sample_type is TID | TIME | RAW: what is in front of the raw record. */
struct sample_start {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t raw_bytes;
} __attribute__((packed));

/* common_flags: TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ (linux/trace_events.h, "h" and "s" of
 * Documentation/trace/ftrace.rst) */
#define IN_INTERRUPT (0x08 | 0x10)

static bool is_futex_wait(uint64_t operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

static enum wake_record_kind kind_of(const struct wake_formats *formats, const void *raw,
                                     size_t size)
{
    uint64_t type = tracepoint_field__get(&formats->type, raw, size);
    if (type == 0)
        return WAKE_OTHER;
    if (type == formats->waking)
        return WAKE_WAKING;
    if (type == formats->futex_begin)
        return is_futex_wait(tracepoint_field__get(&formats->operation, raw, size))
                   ? WAKE_FUTEX_BEGIN
                   : WAKE_OTHER;
    return type == formats->futex_end      ? WAKE_FUTEX_END
           : type == formats->block_queued ? WAKE_BLOCK_QUEUED
           : type == formats->block_done   ? WAKE_BLOCK_DONE
                                           : WAKE_OTHER;
}

static int decode_sample(const struct wake_formats *formats, const unsigned char *body, size_t size,
                         struct wake_record *record)
{
    struct sample_start start;
    if (size < sizeof start)
        return -EBADMSG;
    memcpy(&start, body, sizeof start);
    const void *raw = body + sizeof start;
    if (start.raw_bytes > size - sizeof start)
        return -EBADMSG;
    record->kind = kind_of(formats, raw, start.raw_bytes);
    record->time_ns = start.time;
    record->in_interrupt =
        tracepoint_field__get(&formats->flags, raw, start.raw_bytes) & IN_INTERRUPT;
    record->current = (uint32_t)tracepoint_field__get(&formats->current, raw, start.raw_bytes);
    record->current_tid = start.tid == UINT32_MAX ? 0 : start.tid;
    record->current_pid = start.pid == UINT32_MAX ? 0 : start.pid;
    if (record->kind == WAKE_WAKING)
        record->wakee = (uint32_t)tracepoint_field__get(&formats->wakee, raw, start.raw_bytes);
    return 0;
}

int wake_record__decode(const struct wake_formats *formats, uint32_t cpu, const void *bytes,
                        size_t size, struct wake_record *record)
{
    struct perf_event_header header;
    *record = (struct wake_record){.cpu = cpu};
    if (size < sizeof header)
        return -EBADMSG;
    memcpy(&header, bytes, sizeof header);
    if (header.size != size)
        return -EBADMSG;
    if (header.type == PERF_RECORD_SAMPLE)
        return decode_sample(formats, (const unsigned char *)bytes + sizeof header,
                             size - sizeof header, record);
    struct record other; /* its tail is that of sampling.c: TID | TIME */
    int code = record__decode(bytes, size, &other);
    if (code == 0 && other.kind == RECORD_LOST)
        record->kind = WAKE_LOST;
    else if (code == 0 && other.kind == RECORD_FORK)
        record->kind = WAKE_THREAD_BEGAN;
    record->time_ns = other.time_ns;
    record->count = other.count;
    record->current_tid = other.tid;
    record->current_pid = other.pid;
    record->parent_tid = other.parent_tid;
    return code;
}

/* ---- the kernel's side ----------------------------------------------------------------------- */

#define DATA_PAGES_MOST 256 /* of a ring: some 14,000 records */
#define DATA_PAGES_LEAST 4
/* What is locked beyond this may be missing for the rings of the program's threads. */
#define DATA_PAGES_LIMITED 16

struct wake_ring {
    uint32_t cpu;
    int fd; /* of the event that owns the ring, which tells everybody's new threads */
    struct perf_event_mmap_page *page;
    size_t mapped_bytes;
    struct ring ring;
};

/* What was recorded since its begin. */
struct period {
    uint64_t first_ns, begin_ns; /* of all periods, of this one */
    uint64_t wakings, futexes;
};

struct wakes {
    struct wake_formats formats;
    struct wake_log log;
    clockid_t clock;
    struct vec rings;     /* struct wake_ring */
    struct vec others;    /* int: descriptors of the events that use these rings */
    struct vec futexes;   /* int: likewise, of calls of futex */
    struct vec wakings;   /* int: likewise, of wake-ups */
    struct vec pending;   /* struct wake_record */
    uint64_t complete_ns; /* no record up to this time is still to come */
    uint64_t newest_ns;
    int epoll_fd;
    bool sees_futex, sees_block;
    unsigned limit_permille; /* of the time that it may cost; 0: as much as it does */
    struct period period;
    uint64_t futexes_end_ns, wakings_end_ns; /* of the clock, since the period was first looked at:
                                                when they became too many; 0: they did not */
    unsigned char scratch[RECORD_BYTES_MAX];
};

static struct perf_event_attr attributes_of(const struct wakes *wakes, size_t ring_bytes)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = wakes->clock,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring_bytes / 4),
    };
}

/* Of everybody: what threads inherit costs each that is made, of a tracepoint some 4 us. */
static int open_event(struct perf_event_attr *attributes, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* 1: the CPU is offline. */
static int add_ring(struct wakes *wakes, int cpu, size_t data_pages)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct wake_ring ring = {.cpu = (uint32_t)cpu, .mapped_bytes = (1 + data_pages) * page_bytes};
    struct perf_event_attr attributes = attributes_of(wakes, data_pages * page_bytes);
    attributes.task = 1;
    ring.fd = open_event(&attributes, cpu);
    if (ring.fd < 0)
        return ring.fd == -ENODEV ? 1 : ring.fd;
    void *memory = mmap(NULL, ring.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
    if (memory == MAP_FAILED) {
        int code = errno == EPERM ? -ENOBUFS : -errno; /* too much locked memory */
        close(ring.fd);
        return code;
    }
    ring.page = memory;
    ring.ring = (struct ring){.data = (const unsigned char *)memory + page_bytes,
                              .data_bytes = data_pages * page_bytes,
                              .scratch = wakes->scratch};
    vec__push(&wakes->rings, &ring);
    return 0;
}

static void close_slowly(struct vec *descriptors)
{
    slow_close(descriptors->items, descriptors->count);
    descriptors->count = 0;
}

void wakes__end(struct wakes *wakes)
{
    close_slowly(&wakes->others);
    close_slowly(&wakes->futexes);
    close_slowly(&wakes->wakings);
}

static void close_rings(struct wakes *wakes)
{
    struct vec *all[] = {&wakes->others, &wakes->futexes, &wakes->wakings};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        VEC_EACH (fd, all[i], int)
            close(*fd);
        vec__free(all[i]);
    }
    VEC_EACH (ring, &wakes->rings, struct wake_ring) {
        munmap(ring->page, ring->mapped_bytes);
        close(ring->fd);
    }
    vec__free(&wakes->rings);
}

static int add_rings(struct wakes *wakes, size_t data_pages)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int code = 0;
    for (int cpu = 0; cpu < cpus && code >= 0; cpu++)
        code = add_ring(wakes, cpu, data_pages);
    return code < 0 ? code : wakes->rings.count ? 0 : -ENODEV;
}

/* A tracepoint on all CPUs, or on none. */
static int add_tracepoint(struct wakes *wakes, struct vec *into, uint32_t number)
{
    size_t before = into->count;
    VEC_EACH (ring, &wakes->rings, struct wake_ring) {
        struct perf_event_attr attributes = attributes_of(wakes, ring->ring.data_bytes);
        attributes.type = PERF_TYPE_TRACEPOINT;
        attributes.config = number;
        int fd = open_event(&attributes, (int)ring->cpu), code = fd < 0 ? fd : 0;
        if (fd >= 0)
            vec__push(into, &fd);
        if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
            code = -errno;
        if (code < 0) {
            while (into->count > before)
                close(*VEC_AT(into, int, --into->count));
            return code;
        }
    }
    return 0;
}

/* The calls that wake are as many as those that wait: not even written. By FUTEX_WAKE and
 * FUTEX_WAKE_BITSET, private and not. */
#define WAITS_ONLY "op != 1 && op != 129 && op != 10 && op != 138"

/* Where something of the two is missing, neither is of use. */
static bool add_futex(struct wakes *wakes)
{
    const struct wake_formats *formats = &wakes->formats;
    struct vec *futexes = &wakes->futexes;
    if (!formats->futex_begin || add_tracepoint(wakes, futexes, formats->futex_end) < 0)
        return false;
    size_t before = futexes->count;
    if (add_tracepoint(wakes, futexes, formats->futex_begin) < 0)
        return false;
    for (size_t i = before; i < futexes->count; i++) /* without it there is more to write */
        (void)!ioctl(*VEC_AT(futexes, int, i), PERF_EVENT_IOC_SET_FILTER, WAITS_ONLY);
    return true;
}

/* A device's interrupt comes to whoever is on the CPU. */
static bool add_block(struct wakes *wakes)
{
    const struct wake_formats *formats = &wakes->formats;
    struct vec *others = &wakes->others;
    return formats->block_queued && add_tracepoint(wakes, others, formats->block_done) == 0 &&
           add_tracepoint(wakes, others, formats->block_queued) == 0;
}

static int open_all(struct wakes *wakes)
{
    size_t pages = geteuid() == 0 ? DATA_PAGES_MOST : DATA_PAGES_LIMITED;
    int code = add_rings(wakes, pages);
    while ((code == -ENOBUFS || code == -ENOMEM) && (pages /= 2) >= DATA_PAGES_LEAST) {
        close_rings(wakes);
        code = add_rings(wakes, pages);
    }
    if (code == 0)
        code = add_tracepoint(wakes, &wakes->wakings, wakes->formats.waking);
    if (code < 0)
        return code;
    wakes->sees_futex = add_futex(wakes);
    wakes->sees_block = add_block(wakes);
    wakes->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    VEC_EACH (ring, &wakes->rings, struct wake_ring) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = ring->fd};
        if (wakes->epoll_fd < 0 || epoll_ctl(wakes->epoll_fd, EPOLL_CTL_ADD, ring->fd, &event) < 0)
            return -errno;
    }
    return 0;
}

static int explain(int code, struct error *error)
{
    switch (code) {
    case -ENOENT:
        return error__set(error, code, "tracefs is not mounted here, or has no sched_waking");
    case -EACCES:
    case -EPERM:
        return error__set(error, code, "this user may not see the kernel's tracepoints");
    case -EBADMSG:
        return error__set(error, code, "the format of sched_waking is none that heurt knows");
    case -EMFILE:
        return error__set(error, code, "too few file descriptors for an event a CPU (ulimit -n)");
    case -ENOBUFS:
    case -ENOMEM:
        return error__set(error, code, "too little locked memory for a ring a CPU (ulimit -l)");
    default:
        return error__set(error, code, "the tracepoints cannot be opened: %s", strerror(-code));
    }
}

#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode: PROC_PID_INIT_INO in linux/proc_ns.h */

static bool is_in_other_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != FIRST_PID_NAMESPACE;
}

int wakes__open(pid_t pid, clockid_t clock, struct wakes **out, struct error *error)
{
    struct wakes *wakes = memory__zeroed(1, sizeof *wakes);
    wakes->log = (struct wake_log)WAKE_LOG_INIT;
    wakes->rings = VEC_OF(struct wake_ring);
    wakes->others = wakes->futexes = wakes->wakings = VEC_OF(int);
    wakes->pending = VEC_OF(struct wake_record);
    wakes->clock = clock;
    wakes->log.other_namespace = is_in_other_namespace();
    wake_log__add(&wakes->log,
                  &(struct wake_record){.kind = WAKE_THREAD_BEGAN, .current_tid = (uint32_t)pid});
    wakes->epoll_fd = -1;
    int code = wake_formats__read("", &wakes->formats);
    if (code == 0)
        code = open_all(wakes);
    if (code < 0) {
        wakes__close(wakes);
        wakes = NULL;
        explain(code, error);
    }
    *out = wakes;
    return code;
}

void wakes__close(struct wakes *wakes)
{
    if (!wakes)
        return;
    close_rings(wakes);
    if (wakes->epoll_fd >= 0)
        close(wakes->epoll_fd);
    vec__free(&wakes->pending);
    wake_log__free(&wakes->log);
    free(wakes);
}

void wakes__limit(struct wakes *wakes, unsigned permille)
{
    wakes->limit_permille = permille;
}

bool wakes__sees_futex(const struct wakes *wakes)
{
    return wakes->sees_futex;
}

bool wakes__sees_block(const struct wakes *wakes)
{
    return wakes->sees_block;
}

int wakes__fd(const struct wakes *wakes)
{
    return wakes->epoll_fd;
}

struct wake_log *wakes__log(struct wakes *wakes)
{
    return &wakes->log;
}

/* ---- too many of them ------------------------------------------------------------------------ */

#define PERIOD_NS 50000000u
#define WAKING_NS 1600u
#define FUTEX_NS 700u

static uint64_t now_ns(const struct wakes *wakes)
{
    struct timespec now;
    clock_gettime(wakes->clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void give_up(struct vec *events)
{
    VEC_EACH (fd, events, int) /* at once, of all threads; to close them takes long */
        (void)!ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0);
    close_slowly(events);
}

/* Calls of futex first, of which there are most, and hooks know nearly all. */
static void look_at_cost(struct wakes *wakes)
{
    struct period *period = &wakes->period;
    uint64_t now = now_ns(wakes), ns = now - period->begin_ns;
    if (!period->begin_ns)
        period->first_ns = period->begin_ns = now;
    if (!wakes->limit_permille || !period->begin_ns || ns < PERIOD_NS)
        return;
    uint64_t cost_ns = period->wakings * WAKING_NS + period->futexes * FUTEX_NS;
    bool is_too_much = cost_ns > ns / 1000 * wakes->limit_permille;
    if (is_too_much && wakes->futexes.count) {
        give_up(&wakes->futexes);
        wake_log__forget_futexes(&wakes->log);
        wakes->futexes_end_ns = now - period->first_ns;
    } else if (is_too_much && wakes->wakings.count) {
        give_up(&wakes->wakings);
        wakes->wakings_end_ns = now - period->first_ns;
    }
    *period = (struct period){.first_ns = period->first_ns, .begin_ns = now};
}

uint64_t wakes__futexes_end_ns(const struct wakes *wakes)
{
    return wakes->futexes_end_ns;
}

uint64_t wakes__wakings_end_ns(const struct wakes *wakes)
{
    return wakes->wakings_end_ns;
}

/* ---- draining -------------------------------------------------------------------------------- */

/* An event whose tasks are all gone would be readable for ever. */
static void forget_ended(struct wakes *wakes)
{
    struct epoll_event events[64];
    int count = epoll_wait(wakes->epoll_fd, events, 64, 0);
    for (int i = 0; i < count; i++)
        if (events[i].events & (EPOLLHUP | EPOLLERR))
            epoll_ctl(wakes->epoll_fd, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}

static void keep(struct wakes *wakes, uint32_t cpu, const void *bytes, size_t size)
{
    struct wake_record record;
    if (wake_record__decode(&wakes->formats, cpu, bytes, size, &record) < 0)
        record = (struct wake_record){.kind = WAKE_LOST, .count = 1};
    wakes->period.wakings += record.kind == WAKE_WAKING;
    wakes->period.futexes += record.kind == WAKE_FUTEX_BEGIN || record.kind == WAKE_FUTEX_END;
    if (record.kind == WAKE_OTHER)
        return;
    if (record.time_ns > wakes->newest_ns)
        wakes->newest_ns = record.time_ns;
    vec__push(&wakes->pending, &record);
}

static void drain_ring(struct wakes *wakes, struct wake_ring *cpu)
{
    const void *bytes;
    size_t size;
    bool damaged = false;
    /* Pairs with the kernel's release of data_head (see its comment in linux/perf_event.h). */
    cpu->ring.head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
    while (ring__next(&cpu->ring, &bytes, &size, &damaged))
        keep(wakes, cpu->cpu, bytes, size);
    __atomic_store_n(&cpu->page->data_tail, cpu->ring.tail, __ATOMIC_RELEASE);
    wakes->log.lost += damaged;
}

static int by_time(const void *a, const void *b)
{
    const struct wake_record *left = a, *right = b;
    return ORDER(left->time_ns, right->time_ns);
}

/* As in sampling__drain: every ring has now been read after the newest record of the last round had
 * been written, so that nothing older than that one is still to come. */
void wakes__drain(struct wakes *wakes, bool last)
{
    VEC_EACH (cpu, &wakes->rings, struct wake_ring)
        drain_ring(wakes, cpu);
    forget_ended(wakes);
    struct wake_record *items = wakes->pending.items;
    size_t count = wakes->pending.count, done = 0;
    if (count)
        qsort(items, count, sizeof *items, by_time);
    for (; done < count && (last || items[done].time_ns <= wakes->complete_ns); done++)
        wake_log__add(&wakes->log, &items[done]);
    if (done)
        memmove(items, items + done, (count - done) * sizeof *items);
    wakes->pending.count = count - done;
    wakes->complete_ns = wakes->newest_ns;
    if (!last)
        look_at_cost(wakes);
}
