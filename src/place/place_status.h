/* place_status.h: what the daemon tells of itself: a file in this user's runtime directory, which
 * it writes anew each round, and `heurt place --status` reads.
 *
 *     $XDG_RUNTIME_DIR/heurt/place-PID      without it /tmp/heurt-UID, or /run/heurt of root
 *
 *     heurt-place-status 1
 *     daemon pid=12 rounds=7 …              a row: its kind, then KEY=VALUE, blanks as %20
 *     application pid=13 name=stream …
 *
 * The directory is made 0700 and used only where it is this user's own and nobody else may write to
 * it; the file is 0600 and read only where it is this user's. So what is read was written by who
 * may move these pages anyway. It stands on base. One thread at a time. */
#ifndef HEURT_PLACE_PLACE_STATUS_H
#define HEURT_PLACE_PLACE_STATUS_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* X(type, member): texts are char *, and never NULL when they were read. A double may be NaN. */
#define PLACE_STATUS_DAEMON(TEXT, COUNT, REAL)                                                     \
    TEXT(state)   /* "watching", "dry run", "stopped" */                                           \
    TEXT(whom)    /* "process 12", "cgroup …", "user 1000" */                                    \
    TEXT(verdict) /* in the last round, in a sentence */                                           \
    COUNT(pid)                                                                                     \
    COUNT(                                                                                         \
        started_ticks) /* /proc/PID/stat: so that a number that comes again is not taken for it */ \
    COUNT(begun_s)     /* since 1970 */                                                            \
    COUNT(updated_s)                                                                               \
    COUNT(interval_ns)                                                                             \
    COUNT(rounds)                                                                                  \
    COUNT(nodes)                                                                                   \
    COUNT(processes) /* that are followed */                                                       \
    COUNT(threads)   /* that are sampled */                                                        \
    COUNT(hz)        /* samples a second of each */                                                \
    COUNT(samples)   /* until now */                                                               \
    COUNT(at_memory)                                                                               \
    COUNT(used) /* of which page and nodes are known */                                            \
    COUNT(lost)                                                                                    \
    COUNT(moved)   /* pages of 4 KiB */                                                            \
    COUNT(back)    /* of them, where what was done made it worse */                                \
    COUNT(split)   /* large pages */                                                               \
    COUNT(advised) /* pages of which each node should have a copy */                               \
    COUNT(guarded) /* that would have moved too often, in the round with most */                   \
    COUNT(several) /* refused by the kernel: several processes map them */                         \
    COUNT(busy)    /* locked or pinned */                                                          \
    COUNT(gone)                                                                                    \
    COUNT(full)                                                                                    \
    COUNT(refused)                                                                                 \
    COUNT(cpu_ns) /* of the daemon */                                                              \
    COUNT(wall_ns)                                                                                 \
    COUNT(memory_bytes) /* of the daemon, resident */                                              \
    REAL(first_local)   /* in the first round with samples enough */                               \
    REAL(local)         /* in the last one */                                                      \
    REAL(first_imbalance)                                                                          \
    REAL(imbalance)                                                                                \
    REAL(reads)                                                                                    \
    REAL(memory_share) /* of the CPU time, at memory */                                            \
    REAL(maptu)                                                                                    \
    REAL(memory_used)

#define PLACE_STATUS_APPLICATION(TEXT, COUNT, REAL)  \
    TEXT(name)                                       \
    TEXT(verdict)                                    \
    TEXT(advice) /* what it should do itself; "" */  \
    COUNT(pid)                                       \
    COUNT(id)                                        \
    COUNT(has_ended) /* 1: it is there no more */    \
    COUNT(samples)   /* in the last round */         \
    COUNT(moved)                                     \
    COUNT(back)                                      \
    COUNT(advised)                                   \
    REAL(cpus)                                       \
    REAL(first_local) /* before anything was done */ \
    REAL(local)                                      \
    REAL(first_imbalance)                            \
    REAL(imbalance)                                  \
    REAL(reads)                                      \
    REAL(owned) /* of its pages, those that one node uses */

#define PLACE_STATUS_DECISION(TEXT, COUNT, REAL)  \
    TEXT(name)                                    \
    TEXT(decision) /* "migrate", "spread", … */ \
    COUNT(round)                                  \
    COUNT(pid)                                    \
    COUNT(pages)                                  \
    COUNT(done)                                   \
    REAL(local) /* in that round, before */

#define PLACE_STATUS_SENSOR(TEXT, COUNT, REAL)       \
    TEXT(name)                                       \
    TEXT(tells)                                      \
    TEXT(missing) /* ""; else why it is not there */ \
    REAL(quality)

#define PLACE_STATUS_TEXT(member) char *member;
#define PLACE_STATUS_COUNT(member) uint64_t member;
#define PLACE_STATUS_REAL(member) double member;
#define PLACE_STATUS_MEMBERS(rows) rows(PLACE_STATUS_TEXT, PLACE_STATUS_COUNT, PLACE_STATUS_REAL)
struct status_daemon {
    PLACE_STATUS_MEMBERS(PLACE_STATUS_DAEMON)
};
struct status_application {
    PLACE_STATUS_MEMBERS(PLACE_STATUS_APPLICATION)
};
struct status_decision {
    PLACE_STATUS_MEMBERS(PLACE_STATUS_DECISION)
};
struct status_sensor {
    PLACE_STATUS_MEMBERS(PLACE_STATUS_SENSOR)
};

struct place_status {
    struct status_daemon daemon;
    struct vec applications; /* struct status_application */
    struct vec decisions;    /* struct status_decision: the last ones */
    struct vec sensors;      /* struct status_sensor */
};

struct place_status place_status__new(void);
/* It owns its texts. */
void place_status__free(struct place_status *status);

/* The whole file. free() it. */
char *place_status__text(const struct place_status *status);
/* False: it is none. text is changed. */
bool place_status__parse(char *text, struct place_status *status);

/* Writes it as a whole, or not at all. 0, or -errno after a sentence. */
int place_status__write(const struct place_status *status, struct error *error);
/* Removes the files of daemons of this user that are no more. */
void place_status__sweep(void);
/* Of each daemon of this user that runs, or ended without being asked to, or was stopped and has
 * not been followed by another one: struct place_status, by pid. Files of others are passed over.
 */
struct vec place_status__read_all(void);
void place_statuses__free(struct vec *statuses);
/* Whether the process that wrote it is there. */
bool place_status__is_alive(const struct place_status *status);
/* Of this process. */
uint64_t place_status__own_ticks(void);

#endif
