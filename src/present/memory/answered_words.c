#include "present/memory/answered_words.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/shared.h"
#include "present/table/table_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LEVELS_NAMED 3
#define NAMED_LEAST 0.01 /* of the time */

const char *level__name(unsigned level)
{
    static const char *const names[] = {
        [HEURT_LEVEL_UNKNOWN] = "unknown",
        [HEURT_LEVEL_L1] = "L1",
        [HEURT_LEVEL_BUFFER] = "a line on its way",
        [HEURT_LEVEL_L2] = "L2",
        [HEURT_LEVEL_L3] = "L3",
        [HEURT_LEVEL_CORE] = "another core's cache",
        [HEURT_LEVEL_REMOTE_CACHE] = "another node's cache",
        [HEURT_LEVEL_MEMORY] = "the node's memory",
        [HEURT_LEVEL_REMOTE_MEMORY] = "another node's memory",
        [HEURT_LEVEL_DEVICE] = "a device",
    };
    return level < HEURT_LEVELS ? names[level] : names[HEURT_LEVEL_UNKNOWN];
}

/* The level of most time of those below the last one named, in time and then in number. */
static unsigned next_level(const struct answered *answered, const bool *named)
{
    unsigned best = HEURT_LEVELS;
    for (unsigned level = 0; level < HEURT_LEVELS; level++)
        if (!named[level] &&
            (best == HEURT_LEVELS || answered->levels[level].ns > answered->levels[best].ns))
            best = level;
    return best;
}

static char *level_text(const struct answers *answers, const char *name, double share)
{
    char text[16];
    double latency = answers__latency(answers);
    share__format(share, text);
    return isnan(latency) ? memory__format("%s %s", name, text)
                          : memory__format("%s %s (%.0f cycles)", name, text, latency);
}

char *answered__text(const struct answered *answered)
{
    struct answers all = answered__all(answered);
    bool named[HEURT_LEVELS] = {false};
    char *text = all.ns ? memory__text("") : NULL;
    for (unsigned i = 0; text && i < LEVELS_NAMED; i++) {
        unsigned level = next_level(answered, named);
        double share = (double)answered->levels[level].ns / (double)all.ns;
        named[level] = true;
        if (share < NAMED_LEAST)
            break;
        char *one = level_text(&answered->levels[level], level__name(level), share);
        text = text__join(text, ", ", one);
        free(one);
    }
    return text;
}

struct level_cells {
    const char *level;
    uint64_t samples, time_ns;
    double latency_cycles;
};
static const struct table answer_table =
    OBJECT(level_cells, FIELDS(level_cells, level, samples, time_ns, latency_cycles));

struct table_rows answered__rows(const struct answered *answered)
{
    struct table_rows rows = table_rows__of(&answer_table);
    for (unsigned level = 0; level < HEURT_LEVELS; level++) {
        const struct answers *answers = &answered->levels[level];
        if (answers->samples)
            TABLE_ROW(&rows, level_cells, .level = level__name(level), .samples = answers->samples,
                      .time_ns = answers->ns, .latency_cycles = answers__latency(answers));
    }
    return rows;
}
