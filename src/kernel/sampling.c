#include "kernel/sampling.h"

#include "base/memory.h"
#include "kernel/access_events.h"
#include "kernel/members.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DATA_PAGES_MOST 64 /* of a ring; an ordinary user may lock 129 pages a CPU by default */
#define DATA_PAGES_LEAST 2
#define ACCESS_PAGES 16 /* of a ring of accesses */
#define ACCESS_HZ 499
#define DEVICES "/sys/bus/event_source/devices"

struct sampling_ring {
    int fd;
    uint32_t cpu;
    int first_fd; /* the event that samples until sampling__rest, into the ring of fd; -1: fd's does
                   */
    struct access_events accesses; /* of a ring of these: fd is one of them */
    int (*decode)(const void *bytes, size_t size, struct record *record);
    struct perf_event_mmap_page *page; /* its data follow it */
    size_t mapped_bytes;
    struct ring ring;
};

struct pending {
    struct record record;
    uint64_t sequence; /* of arrival, among equal times */
};

struct sampling {
    struct vec rings;      /* struct sampling_ring */
    struct pollfd *polled; /* rings.count + 1; the last is the caller's */
    struct vec pending;    /* struct pending; owns the paths */
    uint64_t sequence;
    uint64_t complete_ns; /* no record up to this time is still to come */
    uint64_t newest_ns;
    uint64_t damaged;
    bool sees_kernel;
    bool of_machine;         /* the rings tell of everybody: members sorts them */
    const char *accesses_by; /* NULL: no ring tells of accesses */
    struct members members;
    unsigned char scratch[RECORD_BYTES_MAX];
};

/* rax … rip, r8 … r15: struct sample_registers (ring.c). */
#define REGISTERS_WANTED                    \
    ((1ull << (PERF_REG_X86_IP + 1)) - 1) | \
        (((1ull << PERF_REG_X86_64_MAX) - 1) & ~((1ull << PERF_REG_X86_R8) - 1))

static int open_event(const struct sampling *sampling, const struct sampling_settings *settings,
                      unsigned frequency_hz, int cpu, size_t ring_bytes)
{
    bool at_once = frequency_hz == settings->frequency_hz;
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .freq = 1,
        .sample_freq = frequency_hz,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       (settings->registers ? PERF_SAMPLE_REGS_USER : 0),
        .sample_regs_user = settings->registers ? REGISTERS_WANTED : 0,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .disabled = !sampling->of_machine || !at_once,
        .enable_on_exec = !sampling->of_machine && at_once,
        .inherit = !sampling->of_machine,
        .exclude_kernel = !sampling->sees_kernel,
        .exclude_hv = 1,
        .exclude_idle = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring_bytes / 4),
    };
    long fd = syscall(SYS_perf_event_open, &attributes, sampling->of_machine ? -1 : settings->pid,
                      cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static unsigned long sysctl_number(const char *name, unsigned long otherwise)
{
    char *path = memory__format("/proc/sys/kernel/%s", name);
    FILE *file = fopen(path, "re");
    unsigned long number = otherwise;
    if (file && fscanf(file, "%lu", &number) != 1)
        number = otherwise;
    if (file)
        fclose(file);
    free(path);
    return number;
}

static int explain(int code, const struct sampling_settings *settings, struct error *error)
{
    switch (code) {
    case -EACCES:
    case -EPERM:
        return error__set(
            error, code,
            "the kernel lets this user sample no program (perf_event_paranoid is %lu, or a "
            "container forbids it). Try: sudo sysctl kernel.perf_event_paranoid=2; in a container "
            "--cap-add PERFMON",
            sysctl_number("perf_event_paranoid", 2));
    case -ENOSYS:
        return error__set(error, code,
                          "perf_event_open does not exist here: the kernel was built without "
                          "perf events, or a sandbox hides them. Sample on another machine");
    case -EINVAL:
        return error__set(error, code,
                          "the kernel does not sample %u times a second; the most here is %lu "
                          "(kernel.perf_event_max_sample_rate)",
                          settings->frequency_hz, sysctl_number("perf_event_max_sample_rate", 0));
    case -EMFILE:
        return error__set(error, code,
                          "too few file descriptors for one event a CPU: raise ulimit -n");
    default:
        return error__set(error, code, "cannot open a sampling event: %s", strerror(-code));
    }
}

static int map_ring(struct sampling_ring *ring, size_t data_pages)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (1 + data_pages) * page_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    ring->page = memory;
    ring->mapped_bytes = bytes;
    ring->ring.data = (const unsigned char *)memory + page_bytes;
    ring->ring.data_bytes = data_pages * page_bytes;
    return 0;
}

/* As open_event; falls back to user space alone where the kernel's time is not to be had. */
static int open_permitted(struct sampling *sampling, const struct sampling_settings *settings,
                          unsigned frequency_hz, int cpu, size_t ring_bytes)
{
    int fd = open_event(sampling, settings, frequency_hz, cpu, ring_bytes);
    if ((fd != -EACCES && fd != -EPERM) || !sampling->sees_kernel || sampling->rings.count)
        return fd;
    sampling->sees_kernel = false;
    return open_event(sampling, settings, frequency_hz, cpu, ring_bytes);
}

static void close_ring(struct sampling_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->mapped_bytes);
    if (ring->first_fd >= 0)
        close(ring->first_fd);
    if (ring->decode == record__decode)
        close(ring->fd);
    else
        access_events__close(&ring->accesses);
}

/* The event that owns the ring is the one that stays. */
static int fill_ring(struct sampling *sampling, const struct sampling_settings *settings, int cpu,
                     size_t data_pages, struct sampling_ring *ring)
{
    size_t bytes = data_pages * (size_t)sysconf(_SC_PAGESIZE);
    int code = map_ring(ring, data_pages);
    if (code < 0)
        return code == -EPERM ? -ENOBUFS : code; /* too much locked memory, not a missing right */
    if (!settings->rest_hz)
        return 0;
    ring->first_fd = open_permitted(sampling, settings, settings->frequency_hz, cpu, bytes);
    if (ring->first_fd < 0)
        return ring->first_fd;
    return ioctl(ring->first_fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 ? 0 : -errno;
}

/* 1: the CPU is offline. */
static int add_ring(struct sampling *sampling, const struct sampling_settings *settings, int cpu,
                    size_t data_pages)
{
    struct sampling_ring ring = {.first_fd = -1, .cpu = (uint32_t)cpu, .decode = record__decode};
    unsigned frequency_hz = settings->rest_hz ? settings->rest_hz : settings->frequency_hz;
    ring.fd = open_permitted(sampling, settings, frequency_hz, cpu,
                             data_pages * (size_t)sysconf(_SC_PAGESIZE));
    if (ring.fd == -ENODEV)
        return 1;
    if (ring.fd < 0)
        return ring.fd;
    int code = fill_ring(sampling, settings, cpu, data_pages, &ring);
    if (code < 0) {
        close_ring(&ring);
        return code;
    }
    ring.ring.scratch = sampling->scratch;
    vec__push(&sampling->rings, &ring);
    return 0;
}

static void close_rings(struct sampling *sampling)
{
    VEC_EACH (ring, &sampling->rings, struct sampling_ring)
        close_ring(ring);
    vec__free(&sampling->rings);
}

static int add_rings(struct sampling *sampling, const struct sampling_settings *settings,
                     size_t data_pages)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        int code = add_ring(sampling, settings, cpu, data_pages);
        if (code < 0)
            return code;
    }
    return sampling->rings.count ? 0 : -ENODEV;
}

static int open_all(struct sampling *sampling, const struct sampling_settings *settings,
                    bool of_machine)
{
    int code;
    size_t pages = DATA_PAGES_MOST;
    sampling->of_machine = of_machine;
    sampling->sees_kernel = true;
    do {
        close_rings(sampling);
        code = add_rings(sampling, settings, pages);
        pages /= 2;
    } while ((code == -ENOBUFS || code == -ENOMEM) && pages >= DATA_PAGES_LEAST);
    return code;
}

/* ---- what the processor tells ---------------------------------------------------------------- */

/* Whether this CPU has one. */
static bool add_access_ring(struct sampling *sampling, const struct sampling_settings *settings,
                            int cpu, const struct memory_unit *units, size_t count)
{
    struct sampling_ring ring = {
        .first_fd = -1, .cpu = (uint32_t)cpu, .decode = record__decode_access};
    const struct access_target target = {settings->pid, cpu, sampling->of_machine,
                                         ACCESS_PAGES * (size_t)sysconf(_SC_PAGESIZE) / 4};
    if (access_events__open(units, count, &target, &ring.accesses) < 0)
        return false;
    ring.fd = ring.accesses.ring_fd;
    if (map_ring(&ring, ACCESS_PAGES) < 0 || access_events__join(&ring.accesses) < 0) {
        close_ring(&ring);
        return false;
    }
    ring.ring.scratch = sampling->scratch;
    sampling->accesses_by = ring.accesses.name;
    vec__push(&sampling->rings, &ring);
    return true;
}

/* Where one CPU has none no other is asked, but of a hybrid processor. */
static void add_access_rings(struct sampling *sampling, const struct sampling_settings *settings)
{
    struct memory_unit units[MEMORY_UNITS_MOST];
    size_t count = settings->accesses ? memory_units__describe(DEVICES, ACCESS_HZ, units) : 0;
    long cpus = count ? sysconf(_SC_NPROCESSORS_CONF) : 0;
    for (int cpu = 0; cpu < cpus; cpu++)
        if (!add_access_ring(sampling, settings, cpu, units, count) && count == 1)
            return;
}

const char *sampling__accesses_by(const struct sampling *sampling)
{
    return sampling->accesses_by;
}

int sampling__open(const struct sampling_settings *settings, struct sampling **out,
                   struct error *error)
{
    struct sampling *sampling = memory__zeroed(1, sizeof *sampling);
    sampling->rings = VEC_OF(struct sampling_ring);
    sampling->pending = VEC_OF(struct pending);
    sampling->members = members__of((uint32_t)settings->pid);
    int code = open_all(sampling, settings, true);
    if (code < 0)
        code = open_all(sampling, settings, false);
    *out = sampling;
    if (code < 0) {
        explain(code, settings, error);
        sampling__close(sampling);
        *out = NULL;
        return code;
    }
    add_access_rings(sampling, settings);
    sampling->polled = memory__zeroed(sampling->rings.count + 1, sizeof *sampling->polled);
    for (size_t i = 0; i < sampling->rings.count; i++)
        sampling->polled[i] =
            (struct pollfd){VEC_AT(&sampling->rings, struct sampling_ring, i)->fd, POLLIN, 0};
    return 0;
}

void sampling__close(struct sampling *sampling)
{
    if (!sampling)
        return;
    close_rings(sampling);
    VEC_EACH (pending, &sampling->pending, struct pending)
        free((char *)pending->record.path);
    vec__free(&sampling->pending);
    members__free(&sampling->members);
    free(sampling->polled);
    free(sampling);
}

/* What happens while both are on is told twice, and means the same. */
void sampling__rest(struct sampling *sampling)
{
    VEC_EACH (ring, &sampling->rings, struct sampling_ring) {
        if (ring->first_fd < 0)
            continue;
        ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0);
        close(ring->first_fd);
        ring->first_fd = -1;
    }
}

bool sampling__sees_kernel(const struct sampling *sampling)
{
    return sampling->sees_kernel;
}

uint64_t sampling__damaged(const struct sampling *sampling)
{
    return sampling->damaged;
}

bool sampling__wait(struct sampling *sampling, int other_fd, int timeout_ms)
{
    size_t count = sampling->rings.count;
    sampling->polled[count] = (struct pollfd){other_fd, POLLIN, 0};
    if (poll(sampling->polled, count + 1, timeout_ms) <= 0)
        return false;
    /* An event whose tasks are all gone would wake us for ever; its ring is still drained. */
    for (size_t i = 0; i < count; i++)
        if (sampling->polled[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            sampling->polled[i].fd = -1;
    return sampling->polled[count].revents != 0;
}

static void keep(struct sampling *sampling, const struct sampling_ring *ring, const void *bytes,
                 size_t size)
{
    struct pending pending = {.sequence = sampling->sequence++};
    if (ring->decode(bytes, size, &pending.record) < 0) {
        sampling->damaged++;
        return;
    }
    if (pending.record.kind == RECORD_OTHER)
        return;
    pending.record.cpu = ring->cpu;
    pending.record.path = memory__text(pending.record.path);
    if (pending.record.time_ns > sampling->newest_ns)
        sampling->newest_ns = pending.record.time_ns;
    vec__push(&sampling->pending, &pending);
}

static void drain_ring(struct sampling *sampling, struct sampling_ring *cpu)
{
    const void *bytes;
    size_t size;
    bool damaged = false;
    /* Pairs with the kernel's release of data_head (see its comment in linux/perf_event.h). */
    cpu->ring.head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
    while (ring__next(&cpu->ring, &bytes, &size, &damaged))
        keep(sampling, cpu, bytes, size);
    __atomic_store_n(&cpu->page->data_tail, cpu->ring.tail, __ATOMIC_RELEASE);
    sampling->damaged += damaged;
}

static int by_time(const void *a, const void *b)
{
    const struct pending *left = a, *right = b;
    return ORDER(left->record.time_ns, right->record.time_ns)
               ?: ORDER(left->sequence, right->sequence);
}

/* Where the rings tell of the whole machine: whether this is of the program. */
static bool is_of_program(struct sampling *sampling, const struct record *record)
{
    enum member_event event = record->kind == RECORD_FORK   ? MEMBER_BEGINS
                              : record->kind == RECORD_EXIT ? MEMBER_ENDS
                                                            : MEMBER_ACTS;
    return !sampling->of_machine || record->kind == RECORD_LOST ||
           record->kind == RECORD_THROTTLED ||
           members__take(&sampling->members, event, record->pid, record->parent_pid);
}

/* Every ring has now been read after the newest record of the last round had been written, so that
 * nothing older than that one is still to come. */
void sampling__drain(struct sampling *sampling, bool last,
                     void (*each)(const struct record *record, void *context), void *context)
{
    VEC_EACH (cpu, &sampling->rings, struct sampling_ring)
        drain_ring(sampling, cpu);
    struct pending *items = sampling->pending.items;
    size_t count = sampling->pending.count, done = 0;
    if (count)
        qsort(items, count, sizeof *items, by_time);
    for (; done < count; done++) {
        if (!last && items[done].record.time_ns > sampling->complete_ns)
            break;
        if (is_of_program(sampling, &items[done].record))
            each(&items[done].record, context);
        free((char *)items[done].record.path);
    }
    if (done)
        memmove(items, items + done, (count - done) * sizeof *items);
    sampling->pending.count = count - done;
    sampling->complete_ns = sampling->newest_ns;
}
