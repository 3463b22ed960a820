/* requests.h: what a program that serves did for those it serves, request by request.
 *
 *     thread   ~~idle~~|---request---|~~~idle~~~|--request--|~~idle~~
 *
 * A request is what a thread does between two waits for work from outside (the findings tell which
 * waits these are; sleeps are none) in which it uses the network. What is before the first such
 * wait and behind the last one is none. Several that came together, or messages that one wait
 * brought, are one.
 *
 *     findings ──► one walk by threads ──► how long they took; REQUESTS_KEPT of the slowest, each
 *                                          by what it was made of (thread_states.h)
 *              ──► requests__blame: a walk by time ──► whom the longest wait of each was for
 *
 * Where nobody uses the network, or nobody waits for work, nothing is walked over, and there is no
 * result; as of an aggregated run. Memory: 8 bytes a request. Times are since the run's start. */
#ifndef HEURT_ANALYSIS_TIMELINE_REQUESTS_H
#define HEURT_ANALYSIS_TIMELINE_REQUESTS_H

#include "analysis/findings/findings.h"
#include "analysis/timeline/thread_states.h"

#define REQUESTS_KEPT 100u
#define REQUESTS_LEAST 100u /* fewer have no quantiles that tell anything */

/* The longest wait in a request. */
struct served_wait {
    uint32_t class; /* its number, as profile_class.number */
    uint64_t start_tick, wait_ns;
    /* Found by requests__blame: who ended it, and the call by which. */
    uint32_t by;              /* index into trace__threads; UINT32_MAX: not known */
    uint32_t process;         /* serial, of its object; meaningless without object */
    uint64_t object, by_site; /* 0: not known */
};

struct served_request {
    uint32_t thread; /* index into trace__threads */
    uint64_t start_ns, duration_ns;
    uint64_t component_ns[COMPONENTS]; /* add up to duration_ns */
    struct served_wait wait;           /* wait_ns 0: it waited for nothing */
};

struct requests {
    uint64_t count;
    uint64_t median_ns, p99_ns, longest_ns;
    struct vec slowest; /* struct served_request, by duration; REQUESTS_KEPT of them */
};

/* After findings_analysis; a struct requests. */
extern const struct analysis requests_analysis;
/* A walk over the trace. */
void requests__blame(const struct trace *trace, struct requests *requests);

#endif
