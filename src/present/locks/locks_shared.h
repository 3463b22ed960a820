/* locks_shared.h: what the presenters of locks have in common. Private to this room. */
#ifndef HEURT_PRESENT_LOCKS_LOCKS_SHARED_H
#define HEURT_PRESENT_LOCKS_LOCKS_SHARED_H

#include "base/ratio.h"
#include "present/locks/locks_screens.h"
#include "present/shared.h"

/* ---- locks_names.c --------------------------------------------------------------------------- */

/* "mutex", "rwlock", "spin lock", "condition", "semaphore", "barrier", "futex": as in JSON. */
const char *object__noun(const struct sync_object *object);
/* The variable, "made at queue.c:31", or "": what a person knows it by. free() it. */
char *object__known_as(const struct report *report, const struct sync_object *object);
/* "queue.lock 0x4a0040", "mutex made at queue.c:31 0x4a0040", "0x4a0040". free() it. */
char *object__name(const struct report *report, const struct sync_object *object);
/* The variable, or what object__name tells: as short as it stays clear. free() it. */
char *object__clear_name(const struct report *report, const struct sync_object *object);
/* What it is known by, or the address: not clear without its number. free() it. */
char *object__short_name(const struct report *report, const struct sync_object *object);
bool object__is_rwlock(const struct sync_object *object);
/* "write_batch queue.c:97" of an address in the object's process; "not known, or others" of 0.
 * free() it. */
char *site__text(const struct report *report, uint32_t process, uint64_t site);
/* "thread 4002 worker-1", or "not known". free() it. */
char *thread__text(const struct report *report, uint32_t thread);

/* What has a filter, in words: "of lock queue*, of waits of at least 1.00 ms", or "". free() it. */
char *filter__words(const struct locks_filter *filter);

/* ---- locks_strip.c --------------------------------------------------------------------------- */

/* All locks and those with the most waiting, below a heading. */
void strips__put(const struct locks_report *locks, const struct style *style, FILE *out);
/* One lock's. */
void strip__put_row(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out);

/* ---- locks_inversions.c ---------------------------------------------------------------------- */

void inversions__put(const struct locks_report *locks, const struct style *style, FILE *out);

/* ---- locks_text.c ---------------------------------------------------------------------------- */

/* Says how much of the critical path, in either unit, nobody worked (struct path_result.blocked);
 * nothing when that is little. */
void locks_text__blocked(uint64_t blocked, uint64_t path, const struct style *style, FILE *out);
/* Where acquisitions were drawn: of how many, and what is an estimate therefore. */
void locks_text__drawn(const struct locks_report *locks, const struct style *style, FILE *out);

/* The program, its wall time and threads, the trace. */
void locks__put_header(const struct locks_report *locks, const struct style *style, FILE *out);

/* ---- locks_sync_tables.c --------------------------------------------------------------------- */

/* Conditions, semaphores, barriers, futexes: a short table each. */
void sync_objects__put(const struct locks_report *locks, const struct style *style, FILE *out);

/* ---- locks_one.c, locks_waits.c -------------------------------------------------------------- */

void locks_text__one(const struct locks_report *locks, size_t rank, const struct style *style,
                     FILE *out);
/* Who blocked whom, what holders did meanwhile, and the longest waits with their stacks. */
void row__put_pairs(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out);
void row__put_doing(const struct locks_report *locks, const struct lock_row *row,
                    const struct style *style, FILE *out);
void row__put_longest(const struct locks_report *locks, const struct lock_row *row,
                      const struct style *style, FILE *out);

/* struct profile_blame: all blames of the row's classes, those of one site together, the longest
 * first; empty without a profile. vec__free it. */
struct vec row__blames(const struct locks_report *locks, const struct lock_row *row);
/* The stack of a wait: its own, or else the most frequent of its class; NULL: there is none.
 * *is_own tells which. The frames belong to the trace's names or to the profile. */
bool wait__stack(const struct locks_report *locks, const struct lock_row *row, uint64_t site,
                 const struct lock_wait *wait, struct profile_stack *stack, bool *is_own);

/* ---- locks_path.c ---------------------------------------------------------------------------- */

void locks_text__path(const struct locks_report *locks, const struct style *style, FILE *out);

/* ---- locks_audit.c --------------------------------------------------------------------------- */

void locks_text__audit(const struct locks_report *locks, const struct style *style, FILE *out);

#endif
