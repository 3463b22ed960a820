/* place_patterns.h: programs as streams of accesses on a described machine of four nodes, for tests
 * of decisions about placement. place_stream__free them. */
#ifndef HEURT_TESTS_PLACE_PATTERNS_H
#define HEURT_TESTS_PLACE_PATTERNS_H

#include "place/place_simulation.h"

enum pattern {
    PATTERN_PRIVATE_REMOTE, /* each thread's pages are on the next node */
    PATTERN_SHARED_READ,    /* on one node, read by all */
    PATTERN_SHARED_WRITTEN, /* on one node, written by all */
    PATTERN_MASTER,         /* on one node, each used by one thread */
    PATTERN_MIGRATING,      /* a node's threads go to another one in round 3 */
    PATTERN_PING_PONG,      /* pages are used by one of two nodes in turn, round by round */
    PATTERN_HOT_HUGE,       /* one large page, which all use */
    PATTERN_LOCAL,          /* where they are used */
    PATTERN_TINY,           /* remote, of a program that does next to nothing */
    PATTERN_FORK,           /* children on other nodes: some pages are theirs, some still shared */
    PATTERN_FILE,           /* a file that several processes map and read */
    PATTERN_MIXED,          /* private remote, shared written, shared read, local */
    PATTERNS
};
const char *pattern__name(enum pattern pattern);

enum {
    PATTERN_NODES = 4,
    PATTERN_THREADS = 16,
    PATTERN_STEPS = 60,
    PATTERN_PAGES = 1024,
    PATTERN_PART = PATTERN_PAGES / 4, /* of PATTERN_MIXED */
};

struct place_machine pattern__machine(void);
struct place_stream pattern__stream(enum pattern pattern);

/* Programs of Carrefour's papers by their structure: */
struct place_stream stream__like_streamcluster(void); /* all read one block that the master made */
struct place_stream
stream__like_is(void); /* other pages each second, before anything can be done */

#endif
