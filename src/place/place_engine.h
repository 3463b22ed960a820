/* place_engine.h: what to do about where a machine's memory is, round by round (a second each):
 * Carrefour's decisions (Dashti and others, ASPLOS 2013; Gaud and others, USENIX ATC 2014; Lepers'
 * thesis, 2014), guarded and judged by what they brought.
 *
 *     facts of a round: samples, applications, counters  ──►  decisions about pages, and why
 *
 * It does nothing itself: no system call, no clock, no global. A sensor makes the facts, an
 * actuator does what is decided, or a simulation does both (place_simulation.h). The same facts and
 * seed give the same decisions. What it knows of a page is forgotten when no sample tells of it any
 * more, and of an application when facts name it no more. All numbers are in place_thresholds.h,
 * formulas in docs/placement-engine.md.
 *
 * A round costs sorting its samples and a pass over the pages that are known. One thread at a
 * time. */
#ifndef HEURT_PLACE_PLACE_ENGINE_H
#define HEURT_PLACE_PLACE_ENGINE_H

#include "base/vec.h"
#include "place/place_thresholds.h"

#include <stdbool.h>
#include <stdint.h>

#define PLACE_ENGINE_NODES 64u /* at most */
#define PLACE_HUGE_PAGES 512u  /* pages of 4 KiB in one of 2 MiB */

/* Of an access, and of its page. */
enum place_flag {
    PLACE_WRITES = 1,
    PLACE_HUGE = 2,    /* the page is a part of one of 2 MiB */
    PLACE_FILE = 4,    /* of a file that is mapped */
    PLACE_SEVERAL = 8, /* several processes map it: none of them moves it */
    PLACE_FIXED = 16,  /* locked, or pinned by a device: nobody does */
};

/* A sample at memory. */
struct place_access {
    uint64_t page;        /* address / 4,096 */
    uint32_t application; /* its id */
    uint16_t from, to;    /* nodes, by index: of the thread, of the page */
    uint8_t flags;        /* enum place_flag */
};

struct place_application {
    uint32_t id;
    double cpus;     /* that it used, on the average of the round */
    double progress; /* work per second, in any unit that stays the same; NaN: not known */
};

/* What is not told is NaN or NULL. */
struct place_facts {
    double maptu;              /* accesses to memory per us, of the machine */
    double memory_share;       /* of the applications' CPU time, at memory: where no counter tells
                                  maptu */
    double memory_used;        /* share of the machine's memory that is in use */
    const double *controllers; /* accesses by node; NULL: the samples tell */
    double quality; /* of the samples, above 0 and up to 1: 1 where the processor tells addresses
                       and nodes; of less so many more are wanted */
    bool can_replicate;         /* somebody makes copies of pages; else they are advised */
    const uint64_t *pages_most; /* that may be moved in this round; NULL: as thresholds say */
    const struct place_application *applications;
    size_t application_count;
    const struct place_access *accesses;
    size_t access_count;
};

enum place_decision_kind {
    PLACE_MIGRATE,   /* to the node that uses it */
    PLACE_SPREAD,    /* interleaved: to a node that has less to do */
    PLACE_REPLICATE, /* a copy on each node */
    PLACE_COLLAPSE,  /* it was written: its copies go */
    PLACE_SPLIT,     /* a page of 2 MiB becomes small ones */
    PLACE_BACK,      /* what was done made it worse */
    PLACE_DECISIONS
};

struct place_decision {
    enum place_decision_kind kind;
    bool is_advice;       /* nobody can do that; the program can */
    bool is_huge;         /* the page and those behind it up to 2 MiB */
    uint32_t application; /* id */
    uint64_t page;        /* of a large page the first */
    uint16_t from, to;    /* nodes; of REPLICATE, COLLAPSE and SPLIT both are where it is */
};

/* Why nothing was done, or that something may be. */
enum place_verdict {
    PLACE_ACTS,
    PLACE_QUIET,   /* the machine has too few accesses to memory */
    PLACE_TINY,    /* it uses too little of a CPU */
    PLACE_UNKNOWN, /* too few samples */
    PLACE_IS_GOOD, /* it is where it is used, and balanced */
    PLACE_VERDICTS
};

/* Of a round, by samples. A share of nothing is NaN. */
struct place_metrics {
    uint64_t samples;
    double local;     /* LAR: accesses from the page's own node */
    double imbalance; /* MC-IMB: standard deviation of controllers' loads, of their mean */
    double reads;     /* MRR */
};

struct place_finding {
    uint32_t application;
    enum place_verdict verdict;
    struct place_metrics metrics;
    double owned; /* of its pages, about: those that one node uses; NaN: not known */
    bool may[PLACE_DECISIONS];
    bool is_undone; /* in this round */
};

struct place_outcome {
    bool is_open; /* the machine has accesses enough */
    struct place_metrics metrics;
    double sampling;      /* the next round's rate of samples, of the full one */
    struct vec findings;  /* struct place_finding, by application */
    struct vec decisions; /* struct place_decision, in the order to be done */
    uint64_t pages;       /* of 4 KiB that are to be moved */
    uint64_t guarded;     /* pages that would have moved, but did too often */
};

struct place_engine;

/* nodes: from 1 to PLACE_ENGINE_NODES. place_engine__free it. */
struct place_engine *place_engine__new(uint32_t nodes, const struct place_thresholds *thresholds,
                                       uint64_t seed);
void place_engine__free(struct place_engine *engine);
/* place_outcome__free the result. Nodes of accesses must be below the engine's. */
struct place_outcome place_engine__step(struct place_engine *engine,
                                        const struct place_facts *facts);
void place_outcome__free(struct place_outcome *outcome);
/* Pages that are known. */
size_t place_engine__pages(const struct place_engine *engine);

/* MC-IMB. NaN: there is no load. */
double place_loads__imbalance(const double *loads, uint32_t nodes);
/* The next number by chance of a row, from 0 to 1 (splitmix64: Steele, Lea, Flood, 2014). */
double place_chance__next(uint64_t *state);

#endif
