#include "kernel/thread_samples.h"

#include "base/memory.h"
#include "kernel/access_events.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES_MOST 32 /* of data; an ordinary user may lock 129 pages a CPU by default */
#define RING_PAGES_LEAST 2
#define ACCESS_RING_PAGES 32
#define DEVICES_OF_EVENTS "/sys/bus/event_source/devices"

/* rax … rip, r8 … r15: as ring.c decodes them. */
#define REGISTERS_OF_SAMPLES                \
    ((1ull << (PERF_REG_X86_IP + 1)) - 1) | \
        (((1ull << PERF_REG_X86_64_MAX) - 1) & ~((1ull << PERF_REG_X86_R8) - 1))

struct cpu_ring {
    int fd; /* who owns the ring */
    uint32_t cpu;
    struct perf_event_mmap_page *page;
    size_t mapped_bytes;
    struct ring ring;
    bool is_of_accesses;
    struct access_events accesses;
};

struct sampled_thread {
    uint32_t tid;
    size_t first; /* of its descriptors, one a ring of samples */
};

struct thread_samples {
    unsigned hz;
    size_t rings_of_samples; /* the first ones */
    struct vec rings;        /* struct cpu_ring */
    struct vec threads;      /* struct sampled_thread, by tid */
    struct vec fds;          /* int; -1: none */
    struct vec free_rows;    /* size_t: beginnings of rows of fds that nobody has */
    const char *accesses_by;
    unsigned char scratch[RECORD_BYTES_MAX];
};

/* Of cpu-clock in ns. A frequency would become one when the event is made, so that another one
 * could not be told later. */
static uint64_t period_of(unsigned hz)
{
    return 1000000000u / (hz ? hz : 1);
}

static int open_on(const struct thread_samples *self, uint64_t config, pid_t tid, uint32_t cpu)
{
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_SOFTWARE,
        .config = config,
        .sample_period = period_of(self->hz),
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_REGS_USER,
        .sample_regs_user = REGISTERS_OF_SAMPLES,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attributes, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int map_own(struct thread_samples *self, struct cpu_ring *ring, size_t pages)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = (1 + pages) * page_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    ring->page = memory;
    ring->mapped_bytes = bytes;
    ring->ring = (struct ring){.data = (const unsigned char *)memory + page_bytes,
                               .data_bytes = pages * page_bytes,
                               .scratch = self->scratch};
    return 0;
}

static void close_own(struct cpu_ring *ring)
{
    if (ring->page)
        munmap(ring->page, ring->mapped_bytes);
    if (ring->is_of_accesses)
        access_events__close(&ring->accesses);
    else if (ring->fd >= 0)
        close(ring->fd);
}

static void close_rings(struct thread_samples *self)
{
    VEC_EACH (ring, &self->rings, struct cpu_ring)
        close_own(ring);
    self->rings.count = 0;
}

/* An event that counts nothing, of this process, owns the ring: others write there. */
static int add_cpu(struct thread_samples *self, uint32_t cpu, size_t pages)
{
    struct cpu_ring ring = {.cpu = cpu};
    ring.fd = open_on(self, PERF_COUNT_SW_DUMMY, 0, cpu);
    if (ring.fd == -ENODEV)
        return 0; /* it is offline */
    int code = ring.fd < 0 ? ring.fd : map_own(self, &ring, pages);
    if (code < 0)
        close_own(&ring);
    else
        vec__push(&self->rings, &ring);
    return code;
}

static int add_cpus(struct thread_samples *self, size_t pages)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int code = 0;
    close_rings(self);
    for (long cpu = 0; cpu < cpus && code == 0; cpu++)
        code = add_cpu(self, (uint32_t)cpu, pages);
    return code == 0 && !self->rings.count ? -ENODEV : code;
}

/* Where one CPU has none, no other is asked, but of a hybrid processor. */
static void add_accesses(struct thread_samples *self)
{
    struct memory_unit units[MEMORY_UNITS_MOST];
    size_t count = memory_units__describe(DEVICES_OF_EVENTS, self->hz, units);
    for (size_t i = 0; count && i < self->rings_of_samples; i++) {
        struct cpu_ring ring = {.cpu = VEC_AT(&self->rings, struct cpu_ring, i)->cpu,
                                .is_of_accesses = true};
        const struct access_target target = {-1, (int)ring.cpu, true, 0};
        if (access_events__open(units, count, &target, &ring.accesses) < 0) {
            if (count == 1)
                return;
            continue;
        }
        ring.fd = ring.accesses.ring_fd;
        if (map_own(self, &ring, ACCESS_RING_PAGES) < 0 ||
            access_events__join(&ring.accesses) < 0) {
            close_own(&ring);
            continue;
        }
        self->accesses_by = ring.accesses.name;
        vec__push(&self->rings, &ring);
    }
}

static int refuse(int code, struct error *error)
{
    switch (-code) {
    case EACCES:
    case EPERM:
        return error__set(error, code,
                          "the kernel lets this user sample no program; sudo sysctl "
                          "kernel.perf_event_paranoid=2 allows it (heurt check)");
    case ENOSYS:
        return error__set(error, code,
                          "this kernel has no perf events, which tell where programs access "
                          "memory: heurt place cannot watch here");
    case EMFILE:
        return error__set(error, code, "too few descriptors for an event a CPU: raise ulimit -n");
    default:
        return error__set(error, code, "no ring for samples can be had: %s", strerror(-code));
    }
}

struct thread_samples *thread_samples__open(unsigned hz, struct error *error)
{
    struct thread_samples *self = memory__zeroed(1, sizeof *self);
    int code = -ENODEV;
    self->hz = hz;
    self->rings = VEC_OF(struct cpu_ring);
    self->threads = VEC_OF(struct sampled_thread);
    self->fds = VEC_OF(int);
    self->free_rows = VEC_OF(size_t);
    for (size_t pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST; pages /= 2) {
        code = add_cpus(self, pages);
        if (code != -EPERM && code != -ENOMEM)
            break;
    }
    if (code < 0) {
        refuse(code, error);
        thread_samples__close(self);
        return NULL;
    }
    self->rings_of_samples = self->rings.count;
    add_accesses(self);
    return self;
}

static void close_row(struct thread_samples *self, size_t first)
{
    for (size_t i = 0; i < self->rings_of_samples; i++) {
        int *fd = VEC_AT(&self->fds, int, first + i);
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
}

void thread_samples__close(struct thread_samples *self)
{
    if (!self)
        return;
    VEC_EACH (thread, &self->threads, struct sampled_thread)
        close_row(self, thread->first);
    close_rings(self);
    vec__free(&self->rings);
    vec__free(&self->threads);
    vec__free(&self->fds);
    vec__free(&self->free_rows);
    free(self);
}

static size_t take_row(struct thread_samples *self)
{
    if (self->free_rows.count)
        return *VEC_AT(&self->free_rows, size_t, --self->free_rows.count);
    size_t first = self->fds.count;
    int *fds = vec__extend(&self->fds, self->rings_of_samples);
    for (size_t i = 0; i < self->rings_of_samples; i++)
        fds[i] = -1;
    return first;
}

static int open_row(struct thread_samples *self, pid_t tid, size_t first)
{
    for (size_t i = 0; i < self->rings_of_samples; i++) {
        const struct cpu_ring *ring = VEC_AT(&self->rings, struct cpu_ring, i);
        int fd = open_on(self, PERF_COUNT_SW_CPU_CLOCK, tid, ring->cpu);
        if (fd < 0)
            return fd;
        *VEC_AT(&self->fds, int, first + i) = fd;
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
            return -errno;
    }
    return 0;
}

int thread_samples__add(struct thread_samples *self, pid_t tid)
{
    uint32_t number = (uint32_t)tid;
    if (VEC_FIND(&self->threads, struct sampled_thread, tid, number))
        return 0;
    size_t first = take_row(self);
    int code = open_row(self, tid, first);
    if (code < 0) {
        close_row(self, first);
        vec__push(&self->free_rows, &first);
        return code;
    }
    vec__push(&self->threads, &(struct sampled_thread){number, first});
    vec__sort(&self->threads, order__u32);
    return 0;
}

void thread_samples__remove(struct thread_samples *self, pid_t tid)
{
    uint32_t number = (uint32_t)tid;
    struct sampled_thread *thread = VEC_FIND(&self->threads, struct sampled_thread, tid, number);
    if (!thread)
        return;
    close_row(self, thread->first);
    vec__push(&self->free_rows, &thread->first);
    struct sampled_thread *end = VEC_AT(&self->threads, struct sampled_thread, self->threads.count);
    memmove(thread, thread + 1, (size_t)(end - thread - 1) * sizeof *thread);
    self->threads.count--;
}

size_t thread_samples__count(const struct thread_samples *self)
{
    return self->threads.count;
}

void thread_samples__rate(struct thread_samples *self, unsigned hz)
{
    uint64_t period = period_of(hz);
    if (hz == self->hz)
        return;
    self->hz = hz;
    VEC_EACH (fd, &self->fds, int)
        if (*fd >= 0)
            ioctl(*fd, PERF_EVENT_IOC_PERIOD, &period);
}

const char *thread_samples__accesses_by(const struct thread_samples *self)
{
    return self->accesses_by;
}

static void drain_own(struct cpu_ring *own,
                      void (*each)(const struct record *record, void *context), void *context)
{
    const void *bytes;
    size_t size;
    bool damaged = false;
    /* Pairs with the kernel's release of data_head (see its comment in linux/perf_event.h). */
    own->ring.head = __atomic_load_n(&own->page->data_head, __ATOMIC_ACQUIRE);
    while (ring__next(&own->ring, &bytes, &size, &damaged)) {
        struct record record;
        int code = own->is_of_accesses ? record__decode_access(bytes, size, &record)
                                       : record__decode(bytes, size, &record);
        record.cpu = own->cpu;
        if (code == 0 && record.kind != RECORD_OTHER)
            each(&record, context);
    }
    __atomic_store_n(&own->page->data_tail, own->ring.tail, __ATOMIC_RELEASE);
}

void thread_samples__drain(struct thread_samples *self,
                           void (*each)(const struct record *record, void *context), void *context)
{
    VEC_EACH (own, &self->rings, struct cpu_ring)
        drain_own(own, each, context);
}
