/* report_fixture.h: reports whose tables are filled by hand, over traces that the writer makes. */
#ifndef HEURT_TESTS_REPORT_FIXTURE_H
#define HEURT_TESTS_REPORT_FIXTURE_H

#include "present/present.h"

/* Code, and a lock, that have names. */
enum fixture_address {
    AT_PUSH = 0x401100,
    AT_WRITE_BATCH = 0x401200,
    AT_STEAL = 0x401280,
    AT_PARSE = 0x401300,
    AT_PARSE_CALLER = 0x401340,
    AT_HIST = 0x401400,
    AT_LOAD = 0x401500,
    AT_WORKER = 0x401600,
    AT_LOOP = 0x401700,
    AT_CXX_LOCK = 0x7f0000100200,
    AT_CXX_CALLER = 0x401800,
    AT_QUEUE_LOCK = 0x4a0040,
};

/* A report with all that it points to. The trace is made in a temporary directory. */
struct fixture {
    struct report report;
    struct profile profile;
    struct symbols *symbols;
    struct vec stacks_memory; /* void *: freed with the fixture */
    char directory[64];
};

/* A program that suffers: a lock, disk reads, functions, an idle wait, an ignored class. */
void fixture__busy(struct fixture *fixture);
/* The same with the kernel's records, and every kind of reason and verdict. */
void fixture__ledger(struct fixture *fixture);
/* Known calls, none of which lost any time; nothing was instrumented. */
void fixture__quiet(struct fixture *fixture);
/* No event at all. */
void fixture__empty(struct fixture *fixture);
/* Names that attack a terminal, a JSON reader and a CSV reader; a trace that is cut off, full and
 * damaged; threads without CPU time. */
void fixture__hostile(struct fixture *fixture);
/* count classes, each losing less than the one before; the first above_threshold score just 0.2. */
void fixture__many(struct fixture *fixture, size_t count, size_t above_threshold);
void fixture__free(struct fixture *fixture);

#endif
