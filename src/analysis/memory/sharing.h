/* sharing.h: cache lines that threads take from each other: false sharing where they use different
 * bytes of one, true sharing where they use the same.
 *
 * Samples of threads tell at which instruction and which address they were; time is spent where a
 * thread waits, and a line that another CPU has written has to be waited for. What counts are
 * samples at a line while another thread is at it, too. What one thread writes and others only read
 * is how they speak to each other, and no sharing.
 *
 * What is lost is told by how long an iteration of the loop takes (struct heurt_sample) while the
 * others are at the line against while they are not, or else against the least that its code takes
 * (patch/loop_bound.h) and the fastest; where no register counts iterations, by what instructions
 * take that access no shared line.
 *
 * In goes a trace, out come the places at which threads share lines, the most expensive first. It
 * costs sorting the samples. It stands on format/sampled_lines.h. Not thread-safe. */
#ifndef HEURT_ANALYSIS_MEMORY_SHARING_H
#define HEURT_ANALYSIS_MEMORY_SHARING_H

#include "analysis/analysis.h"
#include "format/allocations.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <stdbool.h>

/* What a thread did at a line with one instruction. */
struct line_access {
    uint32_t thread;      /* index into trace__threads */
    uint64_t instruction; /* its address */
    uint64_t address;     /* of the first byte of the data */
    uint32_t bytes;
    enum heurt_access access;
    enum heurt_region region;
    uint32_t samples;    /* while another thread was at the line, too */
    uint64_t sampled_ns; /* the CPU time that they stand for */
    uint64_t false_ns;   /* of it: what another thread does there has nothing to do with it */
    uint64_t tick;       /* of the first of them */
    const struct allocation *object; /* what the data lie in; NULL: nothing that was told */
};

/* Lines that are shared at one place of the program. */
struct sharing {
    uint32_t process; /* index into trace__processes */
    bool is_false;
    bool is_spun;              /* most of it is waiting, in loops that only ask for what is there */
    uint32_t lines, threads;   /* how many */
    uint64_t line;             /* the one at which most was sampled */
    struct line_access victim; /* there: of which most was */
    struct line_access by; /* there: of another thread that does most against it; samples 0: nobody
                              was seen */
    struct vec accesses;   /* struct line_access: at all lines */
    uint64_t sampled_ns;
    uint64_t *lost_ns, *most_lost_ns; /* at least, at most, by trace__threads */
    uint64_t all_lost_ns;             /* at least */
};

struct sharings {
    struct vec rows;                 /* struct sharing, by all_lost_ns */
    struct vec lines;                /* struct sampled_line: all that were looked at */
    uint64_t samples;                /* of threads at memory or not, all in all; 0: nobody looked */
    struct allocations *allocations; /* at these lines, */
    bool knows_all;                  /* or at all sampled addresses */
};

/* A sample at a line that threads take from each other. */
struct shared_sample {
    uint32_t thread; /* index into trace__threads */
    bool is_false;
    bool is_remote; /* no sharing: it is at memory of another node (remote.h) */
    uint64_t tick;
    uint64_t instruction; /* that it was at */
    double lost_ns;       /* of what its thread loses by the sharing, about */
    uint64_t line;        /* the sharing's */
};

/* What a sample's thread loses its time by. */
enum shared_kind { SHARED_FALSE, SHARED_TRUE, SHARED_REMOTE, SHARED_KINDS };

static inline enum shared_kind shared_sample__kind(const struct shared_sample *sample)
{
    return sample->is_remote ? SHARED_REMOTE : sample->is_false ? SHARED_FALSE : SHARED_TRUE;
}

/* symbols: may be NULL; then each instruction is a place of its own. */
struct sharings *sharings__find(const struct trace *trace, const struct symbols *symbols);
void sharings__free(struct sharings *sharings); /* NULL is allowed */
/* struct shared_sample, by thread, then by time: but of those that spin, which wait. Together they
 * stand for what the sharings lose, in the middle between at least and at most. */
int shared_sample__by_thread(const void *left, const void *right); /* by thread, then by time */
struct vec sharings__samples(const struct sharings *sharings, const struct trace *trace);

/* The result is a struct sharings; where memory_analysis is asked for, too, its allocations are
 * those at all sampled addresses. */
extern const struct analysis sharings_analysis;

#endif
