/* locks_made.h: traces from text (fixture.h) and what the analysis of locks makes of them. */
#ifndef HEURT_TESTS_LOCKS_MADE_H
#define HEURT_TESTS_LOCKS_MADE_H

#include "analysis/locks/locks.h"

/* A session of 10,000 ns with two threads that live as long. */
#define BEGIN      \
    "start 1000\n" \
    "end 11000\n"  \
    "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
#define END "11000 thread_end 0 0\n"
#define WORKER "thread 1 worker\n1000 thread_start 0x22 0 0x400100\n"

struct made {
    struct trace *trace;
    struct locks_result *result;
};

/* Fails the test unless the parts add up. drop it. */
struct made make_with(const char *fixture, const struct symbols *symbols,
                      const struct locks_filter *filter);
struct made make(const char *fixture); /* of everything */
void drop(struct made *made);

/* That the parts add up. */
void check_checks(const struct locks_result *result);
/* The one row of the object at that address. */
const struct lock_row *row_at(const struct made *made, uint64_t address);
/* Its buckets hold as many. */
void check_times(const struct lock_times *times, uint64_t count, uint64_t sum, uint64_t max);
uint64_t sum_of(const uint64_t *steps, uint64_t count);

#endif
