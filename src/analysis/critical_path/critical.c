#include "analysis/critical_path/critical.h"

#include "analysis/analysis.h"
#include "base/memory.h"

#include <stdlib.h>

/* uint64_t: by object, the pieces at which the path came to a thread by it. */
static struct vec hand_overs_by(const struct path_result *path, uint32_t objects)
{
    struct vec counts = VEC_OF(uint64_t);
    for (uint32_t i = 0; i < objects; i++)
        vec__push(&counts, NULL);
    VEC_EACH (piece, &path->pieces, struct path_piece)
        if (piece->object < objects)
            ++*VEC_AT(&counts, uint64_t, piece->object);
    return counts;
}

static void take_locks(const struct trace *trace, const struct path_result *path,
                       struct critical_path *critical)
{
    struct vec hand_overs = hand_overs_by(path, (uint32_t)critical->objects.count);
    critical->locks = VEC_OF(struct critical_lock);
    VEC_EACH (lock, &path->locks, struct path_lock)
        vec__push(&critical->locks, &(struct critical_lock){
                                        lock->object, lock->acquisitions, lock->contended,
                                        trace__ns(trace, lock->wait), trace__ns(trace, lock->hold),
                                        *VEC_AT(&hand_overs, uint64_t, lock->object)});
    vec__free(&hand_overs);
}

static void take_pieces(const struct trace *trace, const struct path_result *path,
                        struct critical_path *critical)
{
    critical->pieces = VEC_OF(struct critical_piece);
    VEC_EACH (piece, &path->pieces, struct path_piece)
        vec__push(&critical->pieces,
                  &(struct critical_piece){piece->thread, piece->object, piece->how,
                                           trace__since_start_ns(trace, piece->start),
                                           trace__since_start_ns(trace, piece->end),
                                           trace__ns(trace, piece->end - piece->start)});
}

static struct critical_path in_ns(const struct trace *trace, const struct sync_events *walk,
                                  const struct path_result *path)
{
    struct critical_path critical = {
        .from_ns = trace__since_start_ns(trace, path->start),
        .to_ns = trace__since_start_ns(trace, path->end),
        .length_ns = path->end > path->start ? trace__ns(trace, path->end - path->start) : 0,
        .hand_over_ns = trace__ns(trace, path->hand_over),
        .hand_overs = path->hand_overs,
        .in_sections_ns = trace__ns(trace, path->in_sections),
        .blocked_ns = trace__ns(trace, path->blocked),
        .threads_ns = VEC_OF(uint64_t),
        .objects = VEC_OF(struct sync_object),
    };
    VEC_EACH (ticks, &path->threads, uint64_t)
        vec__push(&critical.threads_ns, &(uint64_t){trace__ns(trace, *ticks)});
    for (uint32_t i = 0; i < sync_events__objects(walk); i++)
        vec__push(&critical.objects, sync_events__object(walk, i));
    take_locks(trace, path, &critical);
    take_pieces(trace, path, &critical);
    return critical;
}

struct path_finding {
    struct run *run;
    struct path *path;
};

static void *start(struct run *run)
{
    struct path_finding *finding = memory__zeroed(1, sizeof *finding);
    *finding = (struct path_finding){run, path__start(run->trace, run->sync_events, true)};
    return finding;
}

static bool take(void *self, const struct sync_event *event)
{
    path__take(((struct path_finding *)self)->path, event);
    return true;
}

static void *finish(void *self)
{
    struct path_finding *finding = self;
    struct critical_path *critical = memory__zeroed(1, sizeof *critical);
    struct path_result path;
    path__finish(finding->path, &path);
    *critical = in_ns(finding->run->trace, finding->run->sync_events, &path);
    path_result__free(&path);
    path__free(finding->path);
    free(finding);
    return critical;
}

static void free_path(void *result)
{
    struct critical_path *critical = result;
    vec__free(&critical->locks);
    vec__free(&critical->threads_ns);
    vec__free(&critical->pieces);
    vec__free(&critical->objects);
    free(critical);
}

const struct analysis path_analysis = {.name = "critical path",
                                       .walk = WALK_TIME,
                                       .start = start,
                                       .sync = take,
                                       .finish = finish,
                                       .free = free_path};
