#include "analysis/critical_path/critical.h"

void critical_path__find(const struct trace *trace, struct critical_path *critical)
{
    struct encounters *walk = encounters__start(trace);
    struct path *path = path__start(trace, walk, true);
    struct encounter encounter;
    *critical = (struct critical_path){.objects = VEC_OF(struct encounter_object)};
    while (encounters__next(walk, &encounter))
        path__take(path, &encounter);
    path__finish(path, &critical->path);
    for (uint32_t i = 0; i < encounters__objects(walk); i++)
        vec__push(&critical->objects, encounters__object(walk, i));
    path__free(path);
    encounters__free(walk);
}

void critical_path__free(struct critical_path *critical)
{
    path_result__free(&critical->path);
    vec__free(&critical->objects);
}
