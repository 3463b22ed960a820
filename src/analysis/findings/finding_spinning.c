#include "analysis/findings/internal.h"

#include "analysis/events/sampled_time.h"
#include "base/memory.h"

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

/* The function of that name around it; NULL: it is in none. */
static const struct symbol *spinner_around(const struct symbol *symbol)
{
    while (symbol && !has_word(symbol->function))
        symbol = symbol->inlined_by;
    return symbol;
}

/* What asks, and what it found last. */
struct spinners {
    const struct finder *finder;
    const struct symbol **place;
};

static bool spins(const void *context, uint32_t thread, const struct symbol *symbol)
{
    const struct spinners *spinners = context;
    const struct symbol *spinner = spinner_around(symbol);
    if (!spinner || !spinners->finder->findings->had_work[thread])
        return false;
    *spinners->place = spinner;
    return true;
}

static void add(struct finder *finder, const struct sampled_time *time, const struct symbol *place)
{
    size_t threads = finder->profile->threads.count;
    uint64_t *spun_ns = memory__zeroed(threads, sizeof *spun_ns);
    struct finding *finding = finder__add(finder, FINDING_SPINNING);
    for (size_t i = 0; i < threads; i++) {
        uint64_t cpu_ns = thread__cpu_ns(profile_thread_at(finder, i));
        spun_ns[i] = (uint64_t)(sampled_time__part(time, i) * (double)cpu_ns);
        finding->lost_ns += spun_ns[i];
    }
    finding->place = place;
    finding->confidence = CONFIDENCE_ESTIMATED;
    finding__set_estimate(finder, finding, spun_ns);
    free(spun_ns);
}

void finder__add_spinners(struct finder *finder)
{
    const struct symbol *place = NULL;
    struct spinners spinners = {finder, &place};
    struct sampled_time time = sampled_time__of(finder->trace, finder->symbols, spins, &spinners);
    if (time.count >= SAMPLES_LEAST)
        add(finder, &time, place);
    sampled_time__free(&time);
}
