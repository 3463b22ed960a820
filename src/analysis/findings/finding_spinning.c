#include "analysis/findings/internal.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>
#include <string.h>

/* Functions that libraries and runtimes spin in, by their names: samples of what they do there
 * often have no address, and the loop may do more than ask. */

#define SAMPLES_LEAST 10

static bool has_word(const char *function)
{
    static const char *const words[] = {"tryspin",   "spinlock",  "spin_lock",  "spinwait",
                                        "spin_wait", "spinuntil", "spin_until", "do_spin"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(function, words[i]))
            return true;
    return false;
}

/* The function of that name around the instruction; NULL: it is in none. */
static const struct symbol *spinner_at(const struct finder *finder, uint32_t thread,
                                       uint64_t instruction)
{
    uint32_t process = trace__thread_at(finder->trace, thread)->process;
    uint32_t serial = trace__process_at(finder->trace, process)->serial;
    const struct symbol *symbol = symbols__get(finder->symbols, serial, instruction);
    while (symbol && !has_word(symbol->function))
        symbol = symbol->inlined_by;
    return symbol;
}

/* Samples of all threads. */
struct spinning {
    uint64_t *ns, *spun_ns; /* by trace__threads */
    uint32_t samples;       /* that spin */
    const struct symbol *place;
};

static void take(const struct finder *finder, const struct heurt_sample *sample, uint32_t thread,
                 struct spinning *spinning)
{
    const struct symbol *symbol = spinner_at(finder, thread, sample->instruction);
    spinning->ns[thread] += sample->weight_ns;
    if (!symbol || !finder->findings->had_work[thread])
        return;
    spinning->spun_ns[thread] += sample->weight_ns;
    spinning->samples++;
    spinning->place = symbol;
}

/* Samples begin some time after the thread: what they tell is told of all its time on a CPU. */
static void add(struct finder *finder, struct spinning *spinning)
{
    struct finding *finding = finder__add(finder, FINDING_SPINNING);
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        double part = spinning->ns[i] ? (double)spinning->spun_ns[i] / (double)spinning->ns[i] : 0;
        uint64_t cpu_ns = thread__cpu_ns(profile_thread_at(finder, i));
        spinning->spun_ns[i] = (uint64_t)(part * (double)cpu_ns);
        finding->lost_ns += spinning->spun_ns[i];
    }
    finding->place = spinning->place;
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding__set_estimate(finder, finding, spinning->spun_ns);
}

void finder__add_spinners(struct finder *finder)
{
    size_t threads = finder->profile->threads.count;
    struct spinning spinning = {.ns = memory__zeroed(threads, sizeof *spinning.ns),
                                .spun_ns = memory__zeroed(threads, sizeof *spinning.spun_ns)};
    struct sample_threads *known = sample_threads__new(finder->trace);
    VEC_EACH (sample, trace__samples(finder->trace), const struct heurt_sample) {
        uint32_t thread = sample_threads__of(known, sample);
        if (thread < threads)
            take(finder, sample, thread, &spinning);
    }
    if (spinning.samples >= SAMPLES_LEAST)
        add(finder, &spinning);
    sample_threads__free(known);
    free(spinning.ns);
    free(spinning.spun_ns);
}
