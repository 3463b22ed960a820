/* What locks, sites and threads are called, and figures that several views need. */
#include "base/memory.h"
#include "present/locks/locks_shared.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool object__is_rwlock(const struct sync_object *object)
{
    return object->kind == CLASS_LOCK && object->lock == HEURT_LOCK_WRITE;
}

const char *object__noun(const struct sync_object *object)
{
    if (object->kind != CLASS_LOCK)
        return class_kind__name(object->kind);
    return object->lock == HEURT_LOCK_SPIN       ? "spin lock"
           : object->lock == HEURT_LOCK_WRITE    ? "rwlock"
           : object->lock == HEURT_LOCK_STREAM   ? "FILE"
           : object->lock == HEURT_LOCK_FILE     ? "file lock"
           : object->lock == HEURT_LOCK_CRITICAL ? "critical section"
           : object->lock == HEURT_LOCK_ORDERED  ? "ordered section"
           : object->lock == HEURT_LOCK_OPENMP   ? "OpenMP lock"
                                                 : "mutex";
}

char *object__known_as(const struct report *report, const struct sync_object *object)
{
    const char *variable = report__variable(report, object->process, object->address);
    return variable ? memory__text(variable)
                    : object__made_at(report, object->process, object->initialised_site);
}

char *object__name(const struct report *report, const struct sync_object *object)
{
    const char *variable = report__variable(report, object->process, object->address);
    char *known = object__known_as(report, object);
    const char *noun = *known && !variable ? object__noun(object) : "";
    char *text = memory__format("%s%s%s%s0x%" PRIx64, noun, *noun ? " " : "", known,
                                *known ? " " : "", object->address);
    free(known);
    return text;
}

char *object__clear_name(const struct report *report, const struct sync_object *object)
{
    const char *variable = report__variable(report, object->process, object->address);
    return variable ? memory__text(variable) : object__name(report, object);
}

char *locks_row__name(const struct report *report, const struct lock_row *row)
{
    return object__clear_name(report, &row->object);
}

char *object__short_name(const struct report *report, const struct sync_object *object)
{
    char *known = object__known_as(report, object);
    if (*known)
        return known;
    free(known);
    return memory__format("0x%" PRIx64, object->address);
}

char *site__text(const struct report *report, uint32_t process, uint64_t site)
{
    char unknown[32];
    if (!site)
        return memory__text("not known, or others");
    struct place place = place__of_site(report, process, site, unknown);
    return place__text(&place);
}

char *thread__text(const struct report *report, uint32_t thread)
{
    const struct vec *threads = trace__threads(report->trace);
    if (thread >= threads->count)
        return memory__text("not known");
    const struct trace_thread *found = VEC_AT(threads, struct trace_thread, thread);
    return memory__format("thread %u%s%s", found->tid, *found->name ? " " : "", found->name);
}

/* ---- the filter ------------------------------------------------------------------------------ */

/* Takes over more. */
static char *also(char *text, char *more)
{
    char *longer = memory__format("%s%s%s", text, *text && *more ? ", " : "", more);
    free(text);
    free(more);
    return longer;
}

static char *of_pattern(const char *what, const char *pattern)
{
    return pattern ? memory__format("%s %s", what, pattern) : memory__text("");
}

static char *of_time(const struct locks_filter *filter)
{
    char from[16], to[16];
    duration__format(filter->from_ns, from);
    duration__format(filter->to_ns, to);
    if (filter->to_ns)
        return memory__format("from %s to %s", from, to);
    return filter->from_ns ? memory__format("from %s on", from) : memory__text("");
}

char *filter__words(const struct locks_filter *filter)
{
    char least[16];
    char *text = memory__text("");
    text = also(text, of_pattern("lock", filter->lock));
    text = also(text, of_pattern("taken in", filter->site));
    text = also(text, of_pattern("thread", filter->thread));
    if (filter->min_wait_ns)
        text = also(text, memory__format("waits of at least %s",
                                         duration__format(filter->min_wait_ns, least)));
    return also(text, of_time(filter));
}
