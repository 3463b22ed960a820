/* evidence.h: why a class's time was lost, as far as it is known, and how far it can be trusted. */
#ifndef HEURT_ANALYSIS_CALLSITE_EVIDENCE_H
#define HEURT_ANALYSIS_CALLSITE_EVIDENCE_H

#include "fold/accumulate.h"

/* Why time was lost: the components of an excess (the same numbers up to OVERHEAD), and what is
 * known about its part on the CPU. */
enum reason {
    REASON_WORKLOAD = COMPONENT_RUNNING, /* other arguments, sizes, numbers of nested calls */
    REASON_SLOW_MACHINE,                 /* everything on that CPU was slower then */
    REASON_OVERLAP,                      /* slower while another class ran on another CPU */
    REASON_FALSE_SHARING, /* cache lines were taken away by who uses other bytes of them, */
    REASON_TRUE_SHARING,  /* or the same: as samples tell */
    REASON_SPIN,          /* it turned while who it waited for was preempted */
    REASON_REMOTE_MEMORY, /* its memory is at other NUMA nodes: as samples tell */
    REASON_IDLE,          /* of condition, network and other blocked: waiting for work (blame.h) */
    REASON_UNEXPLAINED,
    REASONS
};

enum confidence {
    CONFIDENCE_MEASURED,
    CONFIDENCE_ESTIMATED,
    CONFIDENCE_WEAK, /* fewer than 100 occurrences: the minimum is not to be trusted */
};

/* What speaks for one of the reasons of the part on the CPU. */
struct profile_evidence {
    enum reason reason;
    uint64_t ns; /* of the excess */
    enum confidence confidence;
    double explained; /* share of the variance of the time on the CPU, 0 … 1; of sharing, which
                         is sampled, it is not known (NaN), nor is the null */
    double null;      /* likewise, the largest when nothing can be meant: arguments of other
                         occurrences, timelines shifted in time */
    double slope_ns;  /* OVERLAP, SPIN: how much longer an occurrence is that is overlapped all
                         the time; else 0 */
    const char *argument; /* WORKLOAD: what varied: a name, "calls inside", …; else NULL */
    uint32_t other;       /* OVERLAP, SPIN: number of the class; else UINT32_MAX */
    uint32_t thread;      /* OVERLAP, SPIN: the one it was most: index into trace__threads */
    uint64_t line;        /* FALSE_SHARING, TRUE_SHARING: a cache line at which most of it was */
};

/* Doubts about a class's smallest duration. */
enum doubt {
    DOUBT_FEW = 1u << 0,     /* fewer than 100 occurrences */
    DOUBT_UNCLEAN = 1u << 1, /* even the fastest one waited, or was off the CPU */
    DOUBT_OUTLIER = 1u << 2, /* the smallest and the 1st percentile are more than 5 % apart */
    DOUBT_HALVES = 1u << 3,  /* the two halves of the run have other minima (more than 5 %) */
    DOUBT_MODES = 1u << 4,   /* durations have several modes */
    DOUBT_KERNEL = 1u << 5,  /* the kernel's records are missing or were lost in some thread */
};

#endif
