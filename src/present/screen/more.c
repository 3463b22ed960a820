#include "present/screen/more.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>

#define PART_LEAST 0.2 /* of a difference: a component that makes less of it is not named */

char *more__format(int64_t ns, char buffer[MORE_BYTES])
{
    char duration[16];
    duration__format(ns < 0 ? (uint64_t)-ns : (uint64_t)ns, duration);
    snprintf(buffer, MORE_BYTES, "%s%s", ns < 0 ? "-" : ns > 0 ? "+" : "", duration);
    return buffer;
}

static uint64_t size_of(int64_t ns)
{
    return ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
}

static unsigned largest(const int64_t more_ns[COMPONENTS], unsigned named)
{
    unsigned most = COMPONENTS;
    for (unsigned i = 0; i < COMPONENTS; i++)
        if (!(named & 1u << i) && more_ns[i] &&
            (most == COMPONENTS || size_of(more_ns[i]) > size_of(more_ns[most])))
            most = i;
    return most;
}

char *more__components(const int64_t more_ns[COMPONENTS])
{
    uint64_t all = 0;
    unsigned named = 0;
    char *text = memory__text("");
    for (unsigned i = 0; i < COMPONENTS; i++)
        all += size_of(more_ns[i]);
    for (unsigned most; (most = largest(more_ns, named)) < COMPONENTS; named |= 1u << most) {
        if (named && (double)size_of(more_ns[most]) < PART_LEAST * (double)all)
            break;
        text = text__join(text, ", ", component__words((enum component)most));
    }
    return text;
}

char *call__text(const struct report *report, const struct class_definition *what)
{
    char unknown[32];
    struct place place = place__of_class(report, what, unknown);
    char *where = place__text(&place);
    if (!class__is_hooked(what))
        return where;
    const char *object = class__object_name(report, what);
    char *text = memory__format("%s%s%s, in %s", what->at.function, object ? " " : "",
                                object ? object : "", where);
    free(where);
    return text;
}
