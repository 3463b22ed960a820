#include "analysis/findings/internal.h"

#include "analysis/openmp/openmp.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED_PART 4 /* of what overlapping calls lost, where samples tell of a line */

static uint32_t serial_of(const struct finder *finder, const struct sharing *sharing)
{
    return trace__process_at(finder->trace, sharing->process)->serial;
}

static const struct symbol *place_of(const struct finder *finder, const struct sharing *sharing,
                                     const struct line_access *access)
{
    const struct symbol *symbol =
        symbols__get(finder->symbols, serial_of(finder, sharing), access->instruction);
    const struct symbol *own = symbol ? program_frame__inlined(symbol) : NULL;
    return own ? own : symbol;
}

static bool is_function(const struct symbol *symbol, const char *function)
{
    for (; symbol; symbol = symbol->inlined_by)
        if (strcmp(symbol->function, function) == 0)
            return true;
    return false;
}

static bool is_at(const struct finder *finder, const struct sharing *sharing,
                  const struct finding *finding)
{
    const char *function = finding->place ? finding->place->function : "";
    return is_function(place_of(finder, sharing, &sharing->victim), function) ||
           is_function(place_of(finder, sharing, &sharing->by), function);
}

/* OpenMP's runtime spins in waits that its calls tell. */
static bool is_wait_of_openmp(const struct finder *finder, const struct sharing *sharing)
{
    const struct symbol *symbol =
        symbols__get(finder->symbols, serial_of(finder, sharing), sharing->victim.instruction);
    return finder->openmp && sharing->is_spun && symbol && symbol__is_of_openmp(symbol);
}

/* Who spins takes the line from the one that it waits for: that is a wait. */
static bool is_wait(const struct finder *finder, const struct sharing *sharing)
{
    if (is_wait_of_openmp(finder, sharing))
        return true;
    VEC_EACH (finding, &finder->findings->rows, struct finding)
        if ((finding->category == FINDING_SPINNING || finding->category == FINDING_YIELD) &&
            is_at(finder, sharing, finding))
            return true;
    return false;
}

/* All who are slower share the line, and that tells a good part of it. */
static bool explains(const struct finder *finder, const struct sharing *sharing,
                     const struct finding *overlap)
{
    VEC_EACH (class, &overlap->classes, uint32_t)
        VEC_EACH (row, &profile_class_at(finder->profile, *class)->threads,
                  struct profile_thread_row)
            if (row->excess_ns && !sharing->most_lost_ns[row->thread])
                return false;
    return sharing->all_lost_ns >= overlap->lost_ns / EXPLAINED_PART;
}

/* Occurrences of the functions that share the line, or of what calls them, tell the same by
 * overlapping: what they lost is measured call by call, where samples tell what is certain. Adds
 * it to lost. */
static void take_overlaps(struct finder *finder, const struct sharing *sharing, uint64_t *lost)
{
    struct vec *rows = &finder->findings->rows;
    size_t kept = 0;
    VEC_EACH (finding, rows, struct finding) {
        if (finding->category != FINDING_OVERLAP ||
            !(is_at(finder, sharing, finding) || explains(finder, sharing, finding))) {
            *VEC_AT(rows, struct finding, kept++) = *finding;
            continue;
        }
        VEC_EACH (class, &finding->classes, uint32_t)
            class__add_lost(finder, *class, lost);
        finding__free(finding);
    }
    rows->count = kept;
}

static enum finding_category category_of(const struct sharing *sharing)
{
    if (sharing->is_spun)
        return FINDING_SPINNING;
    return sharing->is_false ? FINDING_FALSE_SHARING : FINDING_TRUE_SHARING;
}

/* Estimates the gain without the larger of two losses, thread by thread; their sum. */
static uint64_t estimate(const struct finder *finder, struct finding *finding,
                         const uint64_t *sampled, const uint64_t *overlapped)
{
    uint64_t *lost = memory__zeroed(finder->profile->threads.count, sizeof *lost), sum_ns = 0;
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        lost[i] = ns__larger(sampled[i], overlapped[i]);
        sum_ns += finder->findings->had_work[i] ? lost[i] : 0;
    }
    finding__set_estimate(finder, finding, lost);
    free(lost);
    return sum_ns;
}

/* Where OpenMP's runtime is at the line and chunks of loops are small, it is their counter. */
static const struct openmp_hint *dealing_hint(const struct finder *finder,
                                              const struct sharing *sharing)
{
    const struct symbol *symbol =
        symbols__get(finder->symbols, serial_of(finder, sharing), sharing->victim.instruction);
    return finder->openmp && symbol && symbol__is_of_openmp(symbol) && !sharing->is_spun
               ? openmp_use__chunk_hint(finder->openmp)
               : NULL;
}

static void set_object(const struct finder *finder, struct finding *finding,
                       const struct sharing *sharing)
{
    const struct openmp_hint *hint = dealing_hint(finder, sharing);
    finding->is_dealing = hint != NULL;
    if (hint) {
        finding->category = FINDING_TRUE_SHARING;
        finding->place =
            program_frame__inlined(symbols__get(finder->symbols, hint->process, hint->site));
        return;
    }
    finding->sharing = sharing;
    finding->place = place_of(finder, sharing, &sharing->victim);
    finding->objects = sharing->lines;
    finding->has_object = true;
}

/* All of what the runtime does then is for so few iterations. */
static void add_runtime(const struct finder *finder, uint64_t *lost)
{
    uint64_t *ns = finder__openmp_runtime_ns(finder);
    for (size_t i = 0; ns && i < finder->profile->threads.count; i++)
        lost[i] = ns__larger(lost[i], ns[i]);
    free(ns);
}

static void add(struct finder *finder, const struct sharing *sharing)
{
    uint64_t *overlapped = memory__zeroed(finder->profile->threads.count, sizeof *overlapped);
    take_overlaps(finder, sharing, overlapped);
    struct finding *finding = finder__add(finder, category_of(sharing));
    set_object(finder, finding, sharing);
    if (finding->is_dealing)
        add_runtime(finder, overlapped);
    finding->confidence = CONFIDENCE_ESTIMATED;
    uint64_t most_ns = estimate(finder, finding, sharing->most_lost_ns, overlapped);
    double most = finding->wall_gain[1];
    finding->lost_ns = (most_ns + estimate(finder, finding, sharing->lost_ns, overlapped)) / 2;
    finding->wall_gain[1] = fmax(finding->wall_gain[1], most);
    free(overlapped);
}

void finder__add_sharings(struct finder *finder)
{
    VEC_EACH (sharing, &finder->findings->sharings->rows, struct sharing)
        if (!is_wait(finder, sharing))
            add(finder, sharing);
}
