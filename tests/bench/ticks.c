#include "ticks.h"

#include "base/memory.h"
#include "base/vec.h"
#include "format/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer differences are counted by ranges, eight an octave; which one of a range it is, is taken
 * for chance. */
enum { EXACT_BITS = 12, EXACT = 1 << EXACT_BITS };

/* The clock's step divides all but so few differences: the kernel's records have a clock of their
 * own. */
#define DIVIDED_LEAST 0.97
#define OFTEN 0.01

struct differences {
    struct vec seen;       /* uint32_t: id << 16 | difference, or its range */
    uint64_t count[EXACT]; /* of the exact ones */
    double range_bits;     /* chance within ranges, in all */
};

static void add_difference(struct differences *differences, uint32_t id, uint64_t difference)
{
    uint32_t range = (uint32_t)difference;
    if (difference < EXACT) {
        differences->count[difference]++;
    } else {
        int bits = 63 - __builtin_clzll(difference);
        range = EXACT + (uint32_t)(bits - EXACT_BITS) * 8 + (difference >> (bits - 3) & 7);
        differences->range_bits += bits - 3;
    }
    vec__push(&differences->seen, &(uint32_t){id << 16 | range});
}

static void add_thread(struct differences *differences, const struct trace *trace,
                       const struct trace_thread *thread)
{
    struct trace_cursor cursor;
    struct event event;
    uint64_t before = 0;
    for (trace_cursor__start(&cursor, trace, thread); trace_cursor__next(&cursor, &event);) {
        if (before)
            add_difference(differences, event.id & 0xffff, (event.tick - before) & HEURT_TICK_MASK);
        before = event.tick;
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* What divides all frequent differences, and nearly all others; 1: nothing. */
static uint64_t clock_step(const struct differences *differences)
{
    uint64_t all = 0, step = 0, divided = 0;
    for (uint64_t i = 1; i < EXACT; i++)
        all += differences->count[i];
    for (uint64_t i = 1; i < EXACT; i++)
        if ((double)differences->count[i] >= OFTEN * (double)all)
            step = common_divisor(i, step);
    for (uint64_t i = step; step && i < EXACT; i += step)
        divided += differences->count[i];
    return all && (double)divided >= DIVIDED_LEAST * (double)all ? step : 1;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Of count things of which some are alike, as the sum of -count log2 count: see entropy_bits. */
static double part(double count)
{
    return count > 0 ? count * log2(count) : 0;
}

/* H(difference | id) · n = Σ n(id) log n(id) - Σ n(id, difference) log n(id, difference). */
static double entropy_bits(struct vec *seen)
{
    const uint32_t *at = seen->items;
    double bits = 0, of_id = 0, of_both = 0;
    qsort(seen->items, seen->count, sizeof *at, compare);
    for (size_t i = 0; i < seen->count; i++, of_id++, of_both++) {
        bool other_id = i && at[i] >> 16 != at[i - 1] >> 16;
        if (i && at[i] != at[i - 1]) {
            bits -= part(of_both);
            of_both = 0;
        }
        if (other_id) {
            bits += part(of_id);
            of_id = 0;
        }
    }
    return bits + part(of_id) - part(of_both);
}

int ticks__entropy(const char *directory, double *entropy_bytes, uint64_t *step,
                   struct error *error)
{
    struct trace *trace;
    int code = trace__open(directory, &trace, error);
    if (code < 0)
        return code;
    struct differences *differences = memory__zeroed(1, sizeof *differences);
    differences->seen = VEC_OF(uint32_t);
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        add_thread(differences, trace, thread);
    trace__close(trace);
    double count = (double)differences->seen.count, ranges = 0;
    *step = clock_step(differences);
    VEC_EACH (seen, &differences->seen, uint32_t)
        ranges += (*seen & 0xffff) >= EXACT;
    double bits =
        entropy_bits(&differences->seen) + differences->range_bits - ranges * log2((double)*step);
    *entropy_bytes = count > 0 ? bits / 8 / count : 0;
    vec__free(&differences->seen);
    free(differences);
    return 0;
}

/* ---- another clock --------------------------------------------------------------------------- */

static uint64_t chance_below(uint64_t *state, uint64_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % bound;
}

/* The words are those of the file, which is mapped. */
static void refine_thread(const struct trace *trace, const struct trace_thread *thread,
                          uint64_t step, uint64_t *state)
{
    struct trace_cursor cursor;
    struct event event;
    uint64_t before = 0, fine_before = 0;
    for (trace_cursor__start(&cursor, trace, thread); trace_cursor__next(&cursor, &event);) {
        uint64_t fine = event.tick + chance_below(state, step);
        if (event.tick >= before && fine < fine_before)
            fine = fine_before;
        before = event.tick;
        fine_before = fine;
        *(uint64_t *)cursor.event = fine << HEURT_ID_BITS | (*cursor.event & 0xffff);
    }
}

static int refine_file(int fd, const char *path, uint64_t step, struct error *error)
{
    struct stat status;
    struct trace *trace;
    uint64_t state = 0x9e3779b97f4a7c15ull;
    if (fstat(fd, &status) < 0)
        return error__set(error, -errno, "%s: %s", path, strerror(errno));
    size_t bytes = (size_t)status.st_size;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return error__set(error, -errno, "%s: %s", path, strerror(errno));
    int code = trace__open_memory(mapped, bytes, &trace, error);
    if (code == 0) {
        VEC_EACH (thread, trace__threads(trace), struct trace_thread)
            refine_thread(trace, thread, step, &state);
        trace__close(trace);
    }
    munmap(mapped, bytes);
    return code;
}

int ticks__refine(const char *directory, uint64_t step, struct error *error)
{
    char path[400];
    snprintf(path, sizeof path, "%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error__set(error, -errno, "%s: %s", path, strerror(errno));
    int code = refine_file(fd, path, step, error);
    close(fd);
    return code;
}
