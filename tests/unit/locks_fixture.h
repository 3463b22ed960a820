/* locks_fixture.h: tables of locks that are filled by hand, over the traces of report_fixture.h. */
#ifndef HEURT_TESTS_LOCKS_FIXTURE_H
#define HEURT_TESTS_LOCKS_FIXTURE_H

#include "present/locks/locks_screens.h"
#include "report_fixture.h"

struct locks_fixture {
    struct fixture fixture;
    struct locks_result result;
    struct locks_filter filter;
    struct critical_path critical;
    struct locks_report report;
};

/* One of each kind of lock and meeting, a lock nobody waits for, a phase of high pressure, two
 * inversions, a critical path. */
void locks_fixture__busy(struct locks_fixture *locks);
/* The same with so many mutexes more, each waited for less than the one before. */
void locks_fixture__many(struct locks_fixture *locks, size_t count);
/* Threads, but not a lock. */
void locks_fixture__none(struct locks_fixture *locks);
/* Not an event. */
void locks_fixture__empty(struct locks_fixture *locks);
/* Names that attack a terminal, and numbers that no analysis would give. */
void locks_fixture__hostile(struct locks_fixture *locks);
void locks_fixture__free(struct locks_fixture *locks);

#endif
