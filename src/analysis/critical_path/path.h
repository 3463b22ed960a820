/* path.h: the critical path: the chain of work and waking that ends with the program's end.
 *
 * Walking back from the program's end: on a thread as long as nobody kept it; where it was kept (a
 * lock that another released, a signal, a post, the last one to arrive at a barrier, creation, the
 * end of a joined thread), on to who ended the wait, at the time when it did. A wait that nobody is
 * known to have ended (sleep, I/O, a time-out) is part of the path. Chen and Stenström, "Critical
 * Lock Analysis" (SC 2012), for locks; this is the general graph.
 *
 * It is found forwards, in the same walk in which synchronisation events come by, in memory bounded
 * by threads times locks, not by events: each thread has the path that would be the critical one if
 * the program ended there. A wait's end makes it a branch of the path of who ended it, as that was
 * at that time; branches that nobody can go on from are dropped, and pieces between branches are
 * added up.  For analysis/ only, but for struct path_piece. */
#ifndef HEURT_ANALYSIS_CRITICAL_PATH_PATH_H
#define HEURT_ANALYSIS_CRITICAL_PATH_PATH_H

#include "analysis/sync/sync_events.h"

/* A stretch of the path. From its end to the next one's start goes the hand-over (a wake-up). */
struct path_piece {
    uint32_t thread;     /* index into trace__threads */
    uint64_t start, end; /* ticks */
    uint32_t object;     /* at which the path came to this thread; SYNC_EVENT_NO_OBJECT: created,
                            joined, or the first piece */
    enum sync_event_type how; /* ACQUIRED, WOKEN, LEFT, JOINED, STARTED */
};

/* What of a lock is on the path. Ticks. Where acquisitions were sampled, each counts for those that
 * it stands for, with its section. Semaphores are here, too; nobody has one. */
struct path_lock {
    uint32_t object;
    uint64_t acquisitions, contended;
    uint64_t wait, hold;
};

struct path_result {
    uint64_t start, end;  /* of the path; end − start = Σ pieces + hand_over */
    uint64_t hand_over;   /* ticks between pieces */
    uint64_t hand_overs;  /* pieces − 1 */
    uint64_t in_sections; /* in which the path's thread held any lock, as far as acquisitions are
                             in the trace */
    uint64_t blocked;     /* in which it was off its CPU, and no thread of the program is known to
                             have ended that: sleep, I/O, whatever; needs the kernel's records */
    struct vec locks;     /* struct path_lock, by object */
    struct vec threads;   /* uint64_t: ticks of the path on each, by index */
    struct vec pieces;    /* struct path_piece, in time order; empty unless kept */
};

struct path;

/* keep_pieces: memory grows with the hand-overs then. */
struct path *path__start(const struct trace *trace, const struct sync_events *walk,
                         bool keep_pieces);
/* Every synchronisation event of the walk, in its order. */
void path__take(struct path *path, const struct sync_event *sync_event);
/* Ends at the end of the thread that ended last; of several that did, the main thread. When the
 * walk has ended. */
void path__finish(struct path *path, struct path_result *result);
void path_result__free(struct path_result *result);
void path__free(struct path *path);

/* Chen and Stenström's simple marking, backwards over the contended acquisitions of locks, as a
 * check: it keeps all of them, and knows locks, creation and joins only. */
void path__mark(const struct trace *trace, struct path_result *result);

#endif
