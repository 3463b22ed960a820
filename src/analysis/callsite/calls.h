/* calls.h: what the hooked calls are: kind, name, object and keys of an event with a fixed id.
 * For analysis/ only. */
#ifndef HEURT_ANALYSIS_CALLSITE_CALLS_H
#define HEURT_ANALYSIS_CALLSITE_CALLS_H

#include "analysis/callsite/definition.h"
#include "format/reader.h"

struct call {
    enum class_kind kind;
    const char *function;
    uint32_t variant; /* tells calls of one kind apart */
    bool idle;
    bool by_chance; /* it happens, or is recorded, only sometimes: no part of what code consists of
                     */
    bool has_object;
    uint64_t object;
    size_t key_count;
    struct profile_key keys[2];
};

/* An ordered section of OpenMP's, as such a call is named. */
#define ORDERED_SECTION "omp ordered"

/* Whether what is of that kind makes structure. */
bool class_kind__is_structural(enum class_kind kind);

/* False when the event is no occurrence of a class. */
bool call__describe(const struct event *event, struct call *call);

#endif
