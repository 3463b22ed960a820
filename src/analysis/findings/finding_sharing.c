#include "analysis/findings/internal.h"

#include <math.h>
#include <string.h>

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

/* Who spins takes the line from the one that it waits for: that is a wait. */
static bool is_wait(const struct finder *finder, const struct sharing *sharing)
{
    VEC_EACH (finding, &finder->findings->rows, struct finding)
        if ((finding->category == FINDING_SPINNING || finding->category == FINDING_YIELD) &&
            is_at(finder, sharing, finding))
            return true;
    return false;
}

/* Occurrences of the functions that share the line tell the same by overlapping. */
static void drop_overlaps(struct finder *finder, const struct sharing *sharing)
{
    struct vec *rows = &finder->findings->rows;
    size_t kept = 0;
    VEC_EACH (finding, rows, struct finding) {
        if (finding->category == FINDING_OVERLAP && is_at(finder, sharing, finding))
            finding__free(finding);
        else
            *VEC_AT(rows, struct finding, kept++) = *finding;
    }
    rows->count = kept;
}

static enum finding_category category_of(const struct sharing *sharing)
{
    if (sharing->is_spun)
        return FINDING_SPINNING;
    return sharing->is_false ? FINDING_FALSE_SHARING : FINDING_TRUE_SHARING;
}

static void add(struct finder *finder, const struct sharing *sharing)
{
    drop_overlaps(finder, sharing);
    struct finding *finding = finder__add(finder, category_of(sharing));
    finding->sharing = sharing;
    finding->place = place_of(finder, sharing, &sharing->victim);
    finding->objects = sharing->lines;
    finding->has_object = true;
    finding->confidence = CONFIDENCE_ESTIMATED;
    double gains[2];
    uint64_t lost_ns[2] = {0};
    for (size_t i = 0; i < finder->profile->threads.count; i++) {
        lost_ns[0] += finder->findings->had_work[i] ? sharing->lost_ns[i] : 0;
        lost_ns[1] += finder->findings->had_work[i] ? sharing->most_lost_ns[i] : 0;
    }
    finding->lost_ns = (lost_ns[0] + lost_ns[1]) / 2;
    finding__set_estimate(finder, finding, sharing->most_lost_ns);
    gains[1] = finding->wall_gain[1];
    finding__set_estimate(finder, finding, sharing->lost_ns);
    gains[0] = finding->wall_gain[0];
    finding->wall_gain[0] = fmin(gains[0], gains[1]);
    finding->wall_gain[1] = fmax(gains[0], gains[1]);
}

void finder__add_sharings(struct finder *finder)
{
    VEC_EACH (sharing, &finder->findings->sharings->rows, struct sharing)
        if (!is_wait(finder, sharing))
            add(finder, sharing);
}
