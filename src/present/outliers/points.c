#include "base/memory.h"
#include "present/outliers/internal.h"

#include <stdlib.h>

const struct point *points__at(const struct points_report *shown, size_t index)
{
    return VEC_AT(&shown->found->points, struct point, index);
}

const struct point_path *points__path(const struct points_report *shown, uint32_t path)
{
    return VEC_AT(&shown->found->paths, struct point_path, path);
}

const struct class_definition *points__place(const struct points_report *shown, uint32_t place)
{
    return place == STAND_OUT_NOTHING
               ? NULL
               : VEC_AT(&shown->found->places, struct class_definition, place);
}

const struct trace_thread *points__thread(const struct points_report *shown,
                                          const struct point *point)
{
    return trace__thread_at(shown->report->trace, point->thread);
}

unsigned points__depth(const struct points_report *shown, uint32_t path)
{
    unsigned depth = 0;
    for (; path; path = points__path(shown, path)->outer)
        depth++;
    return depth;
}

char *points__path_text(const struct points_report *shown, uint32_t path, unsigned levels,
                        const char *others)
{
    char *text = NULL;
    unsigned level = 0;
    for (; path && (!levels || level < levels); path = points__path(shown, path)->outer, level++) {
        char *name =
            function__short(points__place(shown, points__path(shown, path)->place)->at.function);
        char *longer = text ? memory__format("%s > %s", name, text) : memory__text(name);
        free(name);
        free(text);
        text = longer;
    }
    if (!text)
        return memory__text("(outside)");
    if (!path)
        return text;
    char *longer = memory__format("%s > %s", others, text);
    free(text);
    return longer;
}
