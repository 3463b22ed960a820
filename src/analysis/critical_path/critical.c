#include "analysis/critical_path/critical.h"

void critical_path__find(const struct trace *trace, struct critical_path *critical)
{
    struct sync_events *walk = sync_events__start(trace);
    struct path *path = path__start(trace, walk, true);
    struct sync_event sync_event;
    *critical = (struct critical_path){.objects = VEC_OF(struct sync_object)};
    while (sync_events__next(walk, &sync_event))
        path__take(path, &sync_event);
    path__finish(path, &critical->path);
    for (uint32_t i = 0; i < sync_events__objects(walk); i++)
        vec__push(&critical->objects, sync_events__object(walk, i));
    path__free(path);
    sync_events__free(walk);
}

void critical_path__free(struct critical_path *critical)
{
    path_result__free(&critical->path);
    vec__free(&critical->objects);
}
