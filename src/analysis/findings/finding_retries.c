#include "analysis/findings/internal.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

/* Loops that compute a new value from the old one until they can put it in its place: while several
 * threads are in one at a time, one of them gets something done, and the others' work is lost. How
 * often an exchange failed nobody counts; how long threads are there samples tell.
 *
 * A thread that is in the loop for the part p of its life is there with 1 + Σ p of the others; of
 * its time there it loses all but one part of these. */

#define SAMPLES_LEAST 20
#define OF_EACH_LEAST 5 /* of these, of each of two threads */
#define AT_LINE_PART                                                            \
    2 /* of the loop's samples are at the exchange: then the line is what costs \
       */

/* One such loop. */
struct retried {
    uint32_t process; /* serial */
    uint64_t exchange;
    bool is_static;
    uint64_t samples, at_exchange;
    const struct symbol *place; /* of the exchange, or of what is sampled nearest to it */
    uint64_t distance;          /* of that, in bytes */
    uint64_t *ns;               /* by thread: sampled there */
    uint32_t *count;            /* likewise */
    uint64_t address;           /* that two threads exchange; 0: not known yet */
    uint32_t by;                /* the one of them that was seen */
};

static struct retried *retried_of(const struct finder *finder, struct vec *all,
                                  const struct retry_site *site)
{
    size_t threads = finder->profile->threads.count;
    VEC_EACH (retried, all, struct retried)
        if (retried->process == site->process && retried->exchange == site->exchange)
            return retried;
    return vec__push(all, &(struct retried){.process = (uint32_t)site->process,
                                            .exchange = site->exchange,
                                            .is_static = site->is_static,
                                            .distance = UINT64_MAX,
                                            .ns = memory__zeroed(threads, sizeof(uint64_t)),
                                            .count = memory__zeroed(threads, sizeof(uint32_t)),
                                            .by = UINT32_MAX});
}

/* Through a pointer each thread may have a variable of its own. */
static void note_variable(struct retried *retried, const struct heurt_sample *sample,
                          uint32_t thread)
{
    if (!sample->address || sample->instruction != retried->exchange)
        return;
    retried->is_static |= sample->address == retried->address && thread != retried->by;
    retried->address = sample->address;
    retried->by = thread;
}

static void note_sample(const struct finder *finder, struct retried *retried,
                        const struct heurt_sample *sample, uint32_t thread)
{
    uint64_t at = sample->instruction, exchange = retried->exchange;
    uint64_t distance = at > exchange ? at - exchange : exchange - at;
    if (distance < retried->distance) {
        retried->place =
            program_frame__inlined(symbols__get(finder->symbols, retried->process, at));
        retried->distance = distance;
    }
    retried->samples++;
    retried->at_exchange += at == exchange;
    retried->ns[thread] += sample->weight_ns;
    retried->count[thread]++;
    note_variable(retried, sample, thread);
}

/* struct retried; all: by thread, what was sampled of it. */
static struct vec find_retried(const struct finder *finder, uint64_t *all)
{
    struct vec found = VEC_OF(struct retried);
    struct sample_threads *known = sample_threads__new(finder->trace);
    VEC_EACH (sample, trace__samples(finder->trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        if (thread >= finder->profile->threads.count)
            continue;
        all[thread] += sample->weight_ns;
        const struct retry_site *site = symbols__retry(
            finder->symbols, trace__serial_of(finder->trace, thread), sample->instruction);
        if (site && finder->findings->had_work[thread])
            note_sample(finder, retried_of(finder, &found, site), sample, thread);
    }
    sample_threads__free(known);
    return found;
}

static bool is_of_several(const struct finder *finder, const struct retried *retried)
{
    uint32_t threads = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++)
        threads += retried->count[i] >= OF_EACH_LEAST;
    return threads > 1;
}

/* CPU time there, by thread. */
static void find_times(const struct finder *finder, const struct retried *retried,
                       const uint64_t *all, uint64_t *times)
{
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct profile_thread *row = profile_thread_at(finder, i);
        uint64_t cpu_ns = ns__without(thread__cpu_ns(row), row->component_ns[COMPONENT_OVERHEAD]);
        times[i] =
            all[i] ? (uint64_t)((double)cpu_ns * (double)retried->ns[i] / (double)all[i]) : 0;
    }
}

/* Of the thread's time there, those others that are there at a time: it is there with these only
 * while they live. */
static double others_there(const struct finder *finder, const uint64_t *times, size_t thread)
{
    const struct trace_thread *own = trace__thread_at(finder->trace, thread);
    double others = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        const struct trace_thread *other = trace__thread_at(finder->trace, i);
        uint64_t from = ns__larger(own->start_tick, other->start_tick),
                 to = ns__smaller(own->end_tick, other->end_tick);
        uint64_t life = own->end_tick - own->start_tick;
        uint64_t life_ns = profile_thread_at(finder, i)->lifetime_ns;
        if (i != thread && to > from && life && life_ns)
            others += (double)times[i] / (double)life_ns * (double)(to - from) / (double)life;
    }
    return others;
}

static void add_retried(struct finder *finder, const struct retried *retried, const uint64_t *all)
{
    size_t threads = finder->profile->threads.count;
    uint64_t *times = memory__zeroed(threads, sizeof *times),
             *lost = memory__zeroed(threads, sizeof *lost), lost_ns = 0;
    find_times(finder, retried, all, times);
    for (size_t i = 0; i < threads; i++) {
        double others = others_there(finder, times, i);
        lost[i] = (uint64_t)((double)times[i] * others / (1 + others));
        lost_ns += lost[i];
    }
    if (lost_ns) {
        struct finding *finding = finder__add(finder, FINDING_RETRY);
        finding->lost_ns = lost_ns;
        finding->place = retried->place;
        finding->confidence = CONFIDENCE_WEAK;
        finding__set_estimate(finder, finding, lost);
    }
    free(lost);
    free(times);
}

void finder__add_retries(struct finder *finder)
{
    uint64_t *all = memory__zeroed(finder->profile->threads.count + 1, sizeof *all);
    struct vec found = find_retried(finder, all);
    VEC_EACH (retried, &found, struct retried) {
        if (retried->is_static && retried->samples >= SAMPLES_LEAST &&
            retried->at_exchange < retried->samples / AT_LINE_PART &&
            is_of_several(finder, retried))
            add_retried(finder, retried, all);
        free(retried->ns);
        free(retried->count);
    }
    vec__free(&found);
    free(all);
}
