/* place_simulation.h: what a program would take on a described machine, were its memory placed in
 * one way or another: a stream of accesses is done step by step, each page where the policy has put
 * it by then.
 *
 * A step is a fixed amount of work: each thread computes for a time and makes its accesses, and the
 * step ends with the last thread. An access takes the latency from node to node, and waits for the
 * controller and, from another node, for the link, as M/D/1 queues (Pollaczek and Khinchine): with
 * a service time s and a utilisation ρ it waits s ρ / (2 (1 − ρ)). ρ depends on how long the step
 * takes, and that on ρ: the step's time is where both agree.
 *
 *     stream + machine + policy  ──►  time, local accesses, imbalance, pages moved
 *
 * Moving a page stops the program for PLACE_MOVE_NS; a sample costs its thread PLACE_SAMPLE_NS.
 * What is not simulated: caches, overlapping accesses of one thread, threads that move.
 *
 * It costs rows × steps of the stream. The same seed gives the same result. Not thread-safe. */
#ifndef HEURT_PLACE_PLACE_SIMULATION_H
#define HEURT_PLACE_PLACE_SIMULATION_H

#include "place/place_engine.h"
#include "place/place_machine.h"

#define PLACE_MOVE_NS 2000.0   /* a page of 4 KiB: unmapped, copied, mapped */
#define PLACE_FAULT_NS 1500.0  /* a hinting fault, or one that ends copies */
#define PLACE_SAMPLE_NS 1000.0 /* a sample of the processor's */
/* Linux' NUMA balancing, as sysctl and debugfs have it unless told: */
#define PLACE_SCAN_PAGES 65536u         /* of 4 KiB a scan: 256 MiB */
#define PLACE_SCAN_LEAST_NS 1000000000u /* from one scan to the next, at the least */

/* ---- the stream -------------------------------------------------------------------------------
 */

struct stream_page {
    uint64_t page; /* address / 4,096 */
    uint32_t application;
    uint16_t node; /* where it is in the beginning, by index */
    uint8_t flags; /* enum place_flag, without PLACE_WRITES */
};

/* Accesses of a thread to a page in a step. */
struct stream_row {
    uint32_t thread, page; /* index in pages */
    float reads, writes;
};

/* A thread in a step. */
struct stream_thread {
    uint16_t node;
    double busy_ns, idle_ns; /* on a CPU, but not at memory; and off it */
};

/* Steps may share rows and threads. */
struct stream_step {
    size_t first_row, rows, first_thread;
};

struct place_stream {
    uint32_t threads, applications;
    struct vec pages;    /* struct stream_page */
    struct vec rows;     /* struct stream_row */
    struct vec of;       /* uint32_t by thread: its application, from 0 on */
    struct vec placed;   /* struct stream_thread: for steps, threads each */
    struct vec steps;    /* struct stream_step */
    bool is_sampled;     /* each row was a sample, and stands for the accesses that it names */
    bool tells_progress; /* its steps are alike, so that steps a second tell how fast it is */
    double quality;      /* of its samples: see struct place_facts */
};

/* All threads are the first application's. */
struct place_stream place_stream__of(uint32_t threads, uint32_t applications);
void place_stream__free(struct place_stream *stream);
/* Its index. */
uint32_t place_stream__page(struct place_stream *stream, struct stream_page page);
/* Of the step that is begun. */
void place_stream__access(struct place_stream *stream, uint32_t thread, uint32_t page, double reads,
                          double writes);
void place_stream__thread(struct place_stream *stream, struct stream_thread thread);
/* A step of the rows from first_row and the threads from first_thread on to the ends. */
void place_stream__step(struct place_stream *stream, size_t first_row, size_t first_thread);
/* Where pages have been recorded: makes of the time of each row (in reads and writes, in ns) the
 * number of accesses that take it on that machine. */
void place_stream__calibrate(struct place_stream *stream, const struct place_machine *machine);

/* ---- policies ---------------------------------------------------------------------------------
 */

enum place_strategy {
    STRATEGY_FIRST_TOUCH,      /* pages stay where they are in the beginning */
    STRATEGY_INTERLEAVE,       /* page by page over all nodes */
    STRATEGY_AUTONUMA,         /* as Linux' NUMA balancing does */
    STRATEGY_CARREFOUR,        /* place_engine.h; copies are advised, and not made */
    STRATEGY_CARREFOUR_COPIES, /* they are made */
    STRATEGY_ORACLE,           /* the best of several placements by who knows all accesses */
    STRATEGY_ORACLE_COPIES,    /* likewise, with copies of what is only read */
    PLACE_STRATEGIES
};
const char *place_strategy__name(unsigned strategy); /* "first touch" */

struct place_simulation {
    struct place_thresholds thresholds;
    double interval_ns;  /* between decisions: 10⁹ */
    double sample_every; /* accesses; of streams that are not samples */
    double memory_used;
    uint64_t seed;
    /* What each decision of an engine was about, if anybody wants to know. */
    void (*told)(void *context, uint32_t round, const struct place_outcome *outcome);
    void *context;
    uint16_t *ends; /* by page: where it is in the end; NULL: nobody wants to know */
};
struct place_simulation place_simulation__usual(void);

struct place_result {
    enum place_strategy strategy;
    double ns, local, imbalance;       /* shares of all accesses; of steps the mean, by accesses */
    uint64_t moved, copied, split;     /* pages of 4 KiB; large pages */
    uint64_t advised, guarded;         /* pages of which copies are advised; that moved too often */
    uint64_t undone;                   /* pages that were moved back */
    uint32_t rounds;                   /* of decisions */
    double last_local, last_imbalance; /* in the last step */
};

struct place_result place_simulation__run(const struct place_simulation *simulation,
                                          const struct place_stream *stream,
                                          const struct place_machine *machine,
                                          enum place_strategy strategy);

/* ---- between its files ------------------------------------------------------------------------
 */

/* How a step goes with pages where they are. node: by page; copied: likewise, may be NULL. */
struct step_times {
    double ns, accesses, local, imbalance;
    double loads[PLACE_ENGINE_NODES];
    double *busy_ns; /* by thread: on a CPU */
};
/* busy_ns is the caller's. */
void place_step__time(const struct place_stream *stream, const struct place_machine *machine,
                      const struct stream_step *step, const uint16_t *node, const bool *copied,
                      struct step_times *times);
/* The best static placement that is found; with_copies: of pages that nobody writes. The caller
 * frees *node and *copied. */
void place_oracle__find(const struct place_stream *stream, const struct place_machine *machine,
                        bool with_copies, uint16_t **node, bool **copied);
double place_static__ns(const struct place_stream *stream, const struct place_machine *machine,
                        const uint16_t *node, const bool *copied);

#endif
