#include "induce/stream_loss.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define WINDOW_NS 5000000u
#define SETTLE_NS 2000000u /* until loaders that slept are at work, and others asleep */
#define PAIRS 24u          /* at each rate */
#define PIECE_BYTES (64u << 10)
#define BYTES_LEAST (16u << 20) /* of one probe; no private cache holds it */

/* ---- probes ---------------------------------------------------------------------------------- */

struct stream_probe {
    pthread_t thread;
    const struct stream_probes *all;
    int cpu;
    const char *memory;
    _Atomic uint64_t bytes; /* that were read until now */
};

struct stream_probes {
    unsigned count, begun;
    uint64_t bytes; /* of each one's memory */
    _Atomic bool ends;
    struct stream_probe *probes;
};

static uint64_t bytes_of_each(unsigned probes)
{
    uint64_t each = 2 * induce__cache_bytes() / probes / PIECE_BYTES * PIECE_BYTES;
    return each > BYTES_LEAST ? each : BYTES_LEAST;
}

uint64_t stream_loss__bytes(const cpu_set_t *cpus)
{
    unsigned count = (unsigned)CPU_COUNT(cpus);
    return count ? count * bytes_of_each(count) : 0;
}

static void read_piece(const char *piece)
{
    for (unsigned at = 0; at < PIECE_BYTES; at += LINE_BYTES)
        (void)*(volatile const char *)(piece + at);
}

static void *stream(void *self)
{
    struct stream_probe *probe = self;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(probe->cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    while (!atomic_load_explicit(&probe->all->ends, memory_order_relaxed))
        for (uint64_t at = 0; at < probe->all->bytes; at += PIECE_BYTES) {
            read_piece(probe->memory + at);
            atomic_fetch_add_explicit(&probe->bytes, PIECE_BYTES, memory_order_relaxed);
            if (atomic_load_explicit(&probe->all->ends, memory_order_relaxed))
                break;
        }
    return NULL;
}

static void stop_probes(struct stream_probes *probes)
{
    atomic_store(&probes->ends, true);
    for (unsigned i = 0; i < probes->begun; i++)
        pthread_join(probes->probes[i].thread, NULL);
    for (unsigned i = 0; i < probes->count; i++)
        if (probes->probes[i].memory)
            munmap((void *)(uintptr_t)probes->probes[i].memory, probes->bytes);
    free(probes->probes);
}

/* Pages of their own: all that were never written are one. */
static const char *new_memory(uint64_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 1, bytes);
    return memory;
}

/* stop_probes it in any case. */
static int start_probes(struct stream_probes *probes, const cpu_set_t *cpus)
{
    int code = 0;
    probes->count = (unsigned)CPU_COUNT(cpus);
    probes->bytes = bytes_of_each(probes->count);
    probes->probes = memory__zeroed(probes->count, sizeof *probes->probes);
    for (int cpu = 0; code == 0 && cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, cpus))
            continue;
        struct stream_probe *probe = &probes->probes[probes->begun];
        probe->all = probes;
        probe->cpu = cpu;
        probe->memory = new_memory(probes->bytes);
        code = probe->memory ? -pthread_create(&probe->thread, NULL, stream, probe) : -ENOMEM;
        probes->begun += code == 0;
    }
    return code;
}

/* ---- windows --------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct stream_probes *probes)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < probes->count; i++)
        bytes += atomic_load_explicit(&probes->probes[i].bytes, memory_order_relaxed);
    return bytes;
}

/* CPU time of all of them. */
static uint64_t cpu_ns_of(const struct stream_probes *probes)
{
    uint64_t ns = 0;
    clockid_t clock;
    for (unsigned i = 0; i < probes->count; i++)
        if (pthread_getcpuclockid(probes->probes[i].thread, &clock) == 0)
            ns += clock__ns(clock);
    return ns;
}

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

struct probe_window {
    double rate; /* bytes in a second of CPU time: of a CPU that others have nothing can be told */
    bool is_whole;
    double requests; /* a second */
};

static struct probe_window look(const struct stream_probes *probes,
                                const struct loss_loaders *loaders, double rate)
{
    loaders->set(loaders->self, rate);
    sleep_ns(SETTLE_NS);
    uint64_t began_ns = clock__ns(CLOCK_MONOTONIC), cpu_ns = cpu_ns_of(probes),
             bytes = bytes_of(probes), requests = loaders->requests(loaders->self);
    sleep_ns(WINDOW_NS);
    uint64_t ns = clock__ns(CLOCK_MONOTONIC) - began_ns;
    cpu_ns = cpu_ns_of(probes) - cpu_ns;
    bytes = bytes_of(probes) - bytes;
    requests = loaders->requests(loaders->self) - requests;
    return (struct probe_window){(double)bytes * 1e9 / (double)cpu_ns * probes->count,
                                 bytes > 0 && 2 * cpu_ns >= WINDOW_NS * (uint64_t)probes->count,
                                 (double)requests * 1e9 / (double)ns};
}

/* ---- what is made of them -------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const double *one = left, *other = right;
    return *one < *other ? -1 : *one > *other;
}

static double value_at(const struct vec *sorted, size_t place)
{
    return *VEC_AT(sorted, double, place);
}

static double median_of(struct vec *values)
{
    if (!values->count)
        return NAN;
    vec__sort(values, by_value);
    return (value_at(values, (values->count - 1) / 2) + value_at(values, values->count / 2)) / 2;
}

static struct induce_loss loss_of(struct vec *ratios)
{
    double median = median_of(ratios), count = (double)ratios->count;
    double rank = floor((count - 1.96 * sqrt(count)) / 2);
    if (rank < 1)
        return (struct induce_loss){NAN, NAN, NAN};
    size_t below = (size_t)rank - 1;
    return (struct induce_loss){1 - median, 1 - value_at(ratios, ratios->count - 1 - below),
                                1 - value_at(ratios, below)};
}

static void make_ascending(double *values)
{
    for (unsigned first = 0; first < LOSS_RATES;) {
        double least = INFINITY;
        unsigned end = first;
        for (unsigned last = first; last < LOSS_RATES; last++) {
            double sum = 0;
            for (unsigned i = first; i <= last; i++)
                sum += values[i];
            if (sum / (last - first + 1) <= least) {
                least = sum / (last - first + 1);
                end = last;
            }
        }
        for (; first <= end; first++)
            values[first] = least;
    }
    for (unsigned i = 0; i < LOSS_RATES; i++)
        values[i] = values[i] > 0 ? values[i] : 0;
}

struct rate_figures {
    struct vec ratios, had; /* double */
};

static void tell(struct rate_figures *figures, struct vec *alone, struct stream_loss *loss)
{
    bool is_known = true;
    loss->bytes_a_second = median_of(alone);
    for (unsigned i = 0; i < LOSS_RATES; i++) {
        loss->most = loss_of(&figures[i].ratios); /* of the last rate in the end */
        loss->at[i] = loss->most.value;
        is_known = is_known && !isnan(loss->most.value);
        loss->had_there[i] = median_of(&figures[i].had);
    }
    if (!is_known) {
        loss->most = (struct induce_loss){NAN, NAN, NAN};
        return;
    }
    make_ascending(loss->at);
    loss->most.value = loss->at[LOSS_RATES - 1];
}

static void look_in_pairs(const struct stream_probes *probes, const struct loss_loaders *loaders,
                          struct stream_loss *loss)
{
    struct rate_figures figures[LOSS_RATES];
    struct vec alone = VEC_OF(double);
    for (unsigned i = 0; i < LOSS_RATES; i++)
        figures[i] = (struct rate_figures){VEC_OF(double), VEC_OF(double)};
    for (unsigned look_at = 0; look_at < PAIRS * LOSS_RATES; look_at++) {
        unsigned i = look_at % LOSS_RATES;
        struct probe_window without = look(probes, loaders, 0),
                            with = look(probes, loaders, (i + 1.0) / LOSS_RATES);
        double ratio = with.rate / without.rate, had = with.requests / loaders->most;
        if (without.is_whole)
            vec__push(&alone, &without.rate);
        if (with.is_whole && without.is_whole)
            vec__push(&figures[i].ratios, &ratio);
        vec__push(&figures[i].had, &had);
    }
    loaders->set(loaders->self, 0);
    tell(figures, &alone, loss);
    vec__free(&alone);
    for (unsigned i = 0; i < LOSS_RATES; i++) {
        vec__free(&figures[i].ratios);
        vec__free(&figures[i].had);
    }
}

int stream_loss__measure(const cpu_set_t *cpus, const struct loss_loaders *loaders,
                         struct stream_loss *loss)
{
    struct stream_probes probes = {0};
    int code = start_probes(&probes, cpus);
    *loss = (struct stream_loss){.most = {NAN, NAN, NAN}};
    if (code == 0)
        look_in_pairs(&probes, loaders, loss);
    stop_probes(&probes);
    return code;
}

/* ---- asked ----------------------------------------------------------------------------------- */

bool stream_loss__is_shown(const struct stream_loss *loss)
{
    return loss->most.low > 0 && loss->most.value > 0;
}

/* On the line through (0, 0) and the points, which ascend; beyond the last one it is that. */
static double along(const double *from, const double *to, double place)
{
    double from_before = 0, to_before = 0;
    for (unsigned i = 0; i < LOSS_RATES; i++) {
        if (place < from[i])
            return to_before +
                   (to[i] - to_before) * (place - from_before) / (from[i] - from_before);
        from_before = from[i];
        to_before = to[i];
    }
    return to_before;
}

static const double rates[LOSS_RATES] = {1.0 / LOSS_RATES, 2.0 / LOSS_RATES, 3.0 / LOSS_RATES, 1};

double stream_loss__rate(const struct stream_loss *loss, double lost)
{
    return along(loss->at, rates, lost);
}

double stream_loss__at(const struct stream_loss *loss, double rate, double had)
{
    return fmin(along(rates, loss->at, rate), along(loss->had_there, loss->at, had));
}
