/* remote.h: what memory of other nodes costs, by object.
 *
 * Samples tell how much time threads spend at memory of another node, which would be less if it
 * were their own. How much less an instruction itself tells, where it is at both: by the latency
 * that the processor tells, else by how long an iteration of its loop takes. An instruction that is
 * never at local memory is compared with nothing: then what is lost is less than by the distances
 * that the firmware tells. For of n accesses that take c each from the own node, those from a
 * distance d take c · d / 10, so that of a time t at that distance t · (1 − 10 / d) is lost; and
 * what caches answer, which is most, loses nothing.
 *
 * In go the objects of memory_analysis and where placement_analysis found them, out come those at
 * which time is lost. Where samples are of lines that threads take from each other, that tells why
 * they wait, and they are left out. It costs two passes over the samples. Not thread-safe. */
#ifndef HEURT_ANALYSIS_MEMORY_REMOTE_H
#define HEURT_ANALYSIS_MEMORY_REMOTE_H

#include "analysis/memory/placement.h"

#define REMOTE_PACES_LEAST 8u /* of each side: fewer are not compared */

struct remote_object {
    const struct memory_object *object;
    const struct placement_object *placed;
    bool is_bound;        /* most of what is lost is, at most: nothing was there to compare with */
    uint64_t instruction; /* of most of the remote time, */
    uint32_t thread;      /* and whose: index into trace__threads */
    uint64_t remote_ns;   /* of samples at other nodes' memory */
    uint64_t *lost_ns;    /* of it, by trace__threads */
    uint64_t all_lost_ns;
};

struct remotes {
    struct vec rows;    /* struct remote_object, that which loses most first */
    struct vec samples; /* struct shared_sample (sharing.h): what each of them loses */
    const struct memory_use *use;
    const struct placement *placement;
};

/* The result is a struct remotes; none on a machine of one node, where it is not asked. */
extern const struct analysis remote_analysis;

/* struct shared_sample, by thread, then by time: those of the sharings (sharings__samples) and of
 * the remotes, of which there may be none (NULL). Free the vec. */
struct vec remotes__all_samples(const struct remotes *remotes, const struct sharings *sharings,
                                const struct trace *trace);

/* How much of a remote time is lost where these were the times of an access, or of an iteration,
 * at both: by their medians, if they differ by more than chance, else 0. Sorts them. */
double remote__lost_part(struct vec *local, struct vec *remote);

#endif
