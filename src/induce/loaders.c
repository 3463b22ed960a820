/* The threads that take the resource. */
#include "induce/internal.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define LAG_MOST_NS 10000000u /* what it could not have for so long it does not ask for later */
#define NAP_NS 1000000u
#define SPIN_NS 100000u /* a shorter wait is no sleep */
#define CPU_BURST_NS 50000u
#define CACHE_BURST 1024u /* lines */

/* ---- what a burst is: returns how many requests it was --------------------------------------- */

static uint64_t next_block(struct induce_loader *loader, uint64_t bytes)
{
    uint64_t at = loader->at;
    loader->at = at + 2 * BLOCK_BYTES <= bytes ? at + BLOCK_BYTES : 0;
    return at;
}

static uint64_t store_past_caches(struct induce_loader *loader)
{
    const __m128i zero = _mm_setzero_si128();
    char *block = loader->memory + next_block(loader, loader->bytes);
    for (char *at = block; at < block + BLOCK_BYTES; at += sizeof zero)
        _mm_stream_si128((__m128i *)at, zero);
    _mm_sfence();
    return BLOCK_BYTES / LINE_BYTES;
}

static uint64_t read_round(struct induce_loader *loader, double level)
{
    uint64_t bytes = (uint64_t)(level * (double)loader->bytes) / LINE_BYTES * LINE_BYTES;
    uint64_t lines = 0;
    for (; lines < CACHE_BURST && bytes; lines++) {
        (void)*(volatile const char *)(loader->memory + loader->at);
        loader->at = loader->at + LINE_BYTES < bytes ? loader->at + LINE_BYTES : 0;
    }
    return lines;
}

static uint64_t compute(void)
{
    uint64_t began = clock__ns(CLOCK_THREAD_CPUTIME_ID), spent;
    do
        spent = clock__ns(CLOCK_THREAD_CPUTIME_ID) - began;
    while (spent < CPU_BURST_NS);
    return spent;
}

static uint64_t write_block(struct induce_loader *loader)
{
    off_t at = (off_t)next_block(loader, loader->bytes);
    if (pwrite(loader->file, loader->memory, BLOCK_BYTES, at) == BLOCK_BYTES &&
        fdatasync(loader->file) == 0)
        return 1;
    atomic_store(&loader->board->failure, errno ? -errno : -EIO);
    return 0;
}

static uint64_t make_burst(struct induce_loader *loader, double level)
{
    switch (loader->plan->kind) {
    case INDUCE_MEMORY:
        return store_past_caches(loader);
    case INDUCE_CACHE:
        return read_round(loader, level);
    case INDUCE_CPU:
        return compute();
    default:
        return write_block(loader);
    }
}

/* ---- pace ------------------------------------------------------------------------------------ */

/* From when on how many requests were made of one setting. */
struct induce_pace {
    uint64_t setting, began_ns, requests;
    double level;
};

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Whether the next burst is due; if not, a little later than now. */
static bool is_due(const struct induce_loader *loader, struct induce_pace *pace)
{
    double rate = (double)atomic_load(&loader->board->rate) * pace->level;
    bool has_no_rate = rate <= 0 || loader->plan->kind == INDUCE_CACHE;
    if (has_no_rate || (pace->level >= 1 && loader->plan->kind != INDUCE_CPU))
        return true;
    uint64_t now = clock__ns(CLOCK_MONOTONIC);
    uint64_t due = pace->began_ns + (uint64_t)((double)pace->requests * 1e9 / rate);
    if (now >= due) {
        pace->began_ns += now - due > LAG_MOST_NS ? now - due - LAG_MOST_NS : 0;
        return true;
    }
    if (due - now > SPIN_NS)
        sleep_until(due - now > NAP_NS ? now + NAP_NS : due);
    else
        _mm_pause();
    return false;
}

static void work_for_ever(struct induce_loader *loader)
{
    struct induce_tally *tally = &loader->board->tallies[loader->index];
    struct induce_pace pace = {0};
    for (;;) {
        uint64_t setting = atomic_load(&loader->board->setting);
        if (setting != pace.setting)
            pace = (struct induce_pace){setting, clock__ns(CLOCK_MONOTONIC), 0,
                                        (double)(uint32_t)setting / LEVEL_ONE};
        if (pace.level <= 0 || atomic_load(&loader->board->failure)) {
            sleep_until(clock__ns(CLOCK_MONOTONIC) + NAP_NS);
            continue;
        }
        if (!is_due(loader, &pace))
            continue;
        uint64_t made = make_burst(loader, pace.level);
        pace.requests += made;
        atomic_fetch_add(&tally->requests, made);
    }
}

/* ---- a loader -------------------------------------------------------------------------------- */

static int take_memory(struct induce_loader *loader)
{
    uint64_t bytes = loader->plan->kind == INDUCE_CPU    ? 0
                     : loader->plan->kind == INDUCE_DISK ? BLOCK_BYTES
                                                         : loader->bytes;
    if (!bytes)
        return 0;
    loader->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (loader->memory == MAP_FAILED)
        return -errno;
    madvise(loader->memory, bytes, MADV_HUGEPAGE);
    uint64_t noise = 88172645463325252u; /* a disk may write nothing of what is all the same */
    for (uint64_t at = 0; at + sizeof noise <= bytes; at += sizeof noise) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17; /* xorshift64 */
        memcpy(loader->memory + at, &noise, sizeof noise);
    }
    return 0;
}

void *induce_loader__work(void *self)
{
    struct induce_loader *loader = self;
    int code = 0;
    if (loader->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(loader->cpu, &one);
        code = sched_setaffinity(0, sizeof one, &one) < 0 ? -errno : 0;
    }
    code = code ? code : take_memory(loader);
    if (code)
        atomic_store(&loader->board->failure, code);
    atomic_fetch_add(&loader->board->ready, 1);
    work_for_ever(loader);
    return NULL;
}
