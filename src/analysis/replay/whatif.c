#include "analysis/replay/whatif.h"

#include "analysis/replay/replay_program.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Of longer traces, and of those of which windows are drawn, the range has no variants. */
#define VARIANTS_OPS (4u << 20)

/* Nor where all of them would replay more than is to be replayed. */
static bool is_long(uint64_t ops, uint64_t most_events)
{
    return ops > VARIANTS_OPS || ops > most_events / 3;
}

#define KNOWN_ERROR 0.1 /* most cures that were measured were that near (docs/accuracy.md) */

/* Models that may be as right: their predictions make the range. */
enum variant {
    VARIANT_MEASURED, /* wake-ups take as long as in the run */
    VARIANT_PROMPT,   /* wake-ups take no time */
    VARIANT_SLOW,     /* wake-ups take twice as long */
    VARIANTS
};

struct whatif {
    const struct trace *trace; /* what is replayed */
    struct drawn_run *drawn;   /* NULL: all of the run */
    double scale;              /* of the run's time over what is replayed */
    struct replay_program *program;
    unsigned variants;
    uint64_t measured_ns;
    uint64_t recorded;                     /* ticks: unchanged, with what recording cost */
    struct replay_result before[VARIANTS]; /* unchanged, without it */
};

/* ---- replays --------------------------------------------------------------------------------- */

static uint64_t wake_ticks(uint64_t ticks, enum variant variant)
{
    return variant == VARIANT_PROMPT ? 0 : variant == VARIANT_SLOW ? 2 * ticks : ticks;
}

static int replay(const struct whatif *whatif, const struct change *changes, size_t count,
                  enum replay_costs costs, enum variant variant, struct replay_result *result,
                  uint32_t *threads, struct error *error)
{
    struct replay_model model;
    struct replay_source *source =
        replay_program__open(whatif->program, changes, count, costs, &model, error);
    if (!source)
        return -ENOTSUP;
    *threads = replay_program__threads(source);
    struct replay_object *objects = memory__zeroed(model.object_count, sizeof *objects);
    for (uint32_t i = 0; i < model.object_count; i++) {
        objects[i] = model.objects[i];
        objects[i].wake_ticks = wake_ticks(objects[i].wake_ticks, variant);
    }
    model.objects = objects;
    model.token_ticks = wake_ticks(model.token_ticks, variant);
    replay__run(&model, source, result);
    replay_program__close(source);
    free(objects);
    return 0;
}

/* Without any change nothing can be refused. */
static struct replay_result replay_unchanged(const struct whatif *whatif, enum replay_costs costs,
                                             enum variant variant)
{
    struct replay_result result = {0};
    uint32_t threads;
    replay(whatif, NULL, 0, costs, variant, &result, &threads, NULL);
    return result;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool semaphores_are_sampled(const struct profile *profile)
{
    VEC_EACH (class, &profile->classes, struct profile_class)
        if (class->what.at.kind == CLASS_SEMAPHORE && class->recorded < class->count)
            return true;
    return false;
}

static int refuse(const struct trace *trace, const struct profile *profile, struct error *error)
{
    if (trace__is_aggregated(trace))
        return error__set(error, -ENOTSUP,
                          "an aggregated run kept no events that could be replayed; record "
                          "without --aggregate");
    if (semaphores_are_sampled(profile))
        return error__set(error, -ENOTSUP,
                          "acquisitions of semaphores were left out of the recording, and a replay "
                          "needs all of them; record without --overhead");
    if (!trace__threads(trace)->count)
        return error__set(error, -ENOTSUP, "the trace has no threads that could be replayed");
    return 0;
}

/* How much of a run of so many events is replayed. */
static double share_of(uint64_t events, uint64_t most_events)
{
    if (events <= most_events && events <= WHATIF_EVENTS_MOST)
        return 1;
    uint64_t drawn = most_events < WHATIF_DRAWN_MOST / 2 ? 2 * most_events : WHATIF_DRAWN_MOST;
    return (double)drawn / (double)events;
}

static struct whatif *new_whatif(const struct trace *trace, double share)
{
    struct whatif *self = memory__zeroed(1, sizeof *self);
    self->measured_ns = trace__wall_ns(trace);
    void *drawn = NULL;
    if (share < 1)
        run__one(trace, NULL, &drawn_analysis, &share, &drawn, NULL);
    self->drawn = drawn;
    self->trace = self->drawn ? drawn_run__trace(self->drawn) : trace;
    uint64_t kept_ns = trace__wall_ns(self->trace);
    self->scale = self->drawn && kept_ns ? (double)self->measured_ns / (double)kept_ns : 1;
    return self;
}

int whatif__open(const struct trace *trace, const struct symbols *symbols,
                 const struct profile *profile, uint64_t most_events, struct whatif **whatif,
                 struct error *error)
{
    (void)symbols;
    int result = refuse(trace, profile, error);
    if (result < 0)
        return result;
    struct whatif *self = new_whatif(trace, share_of(profile->events, most_events));
    result = replay_program__make(trace, profile, self->drawn, &self->program, error);
    if (result < 0) {
        drawn_run__free(self->drawn);
        free(self);
        return result;
    }
    if (self->drawn)
        drawn_run__empty(self->drawn);
    bool is_one = self->drawn || is_long(replay_program__ops(self->program), most_events);
    self->variants = is_one ? 1 : VARIANTS;
    struct replay_result recorded = replay_unchanged(self, REPLAY_COSTS_KEPT, VARIANT_MEASURED);
    self->recorded = recorded.wall;
    replay_result__free(&recorded);
    for (unsigned i = 0; i < self->variants; i++)
        self->before[i] = replay_unchanged(self, REPLAY_COSTS_LEFT_OUT, i);
    *whatif = self;
    return 0;
}

void whatif__close(struct whatif *whatif)
{
    if (!whatif)
        return;
    for (unsigned i = 0; i < whatif->variants; i++)
        replay_result__free(&whatif->before[i]);
    replay_program__free(whatif->program);
    drawn_run__free(whatif->drawn);
    free(whatif);
}

/* In the run, of ticks of a replay. */
static uint64_t ns_of(const struct whatif *whatif, uint64_t ticks)
{
    uint64_t ns = trace__ns(whatif->trace, ticks);
    return whatif->drawn ? (uint64_t)((double)ns * whatif->scale) : ns;
}

double whatif__replayed_share(const struct whatif *whatif)
{
    return 1 / whatif->scale;
}

uint64_t whatif__measured_ns(const struct whatif *whatif)
{
    return whatif->measured_ns;
}

uint64_t whatif__replayed_ns(const struct whatif *whatif)
{
    return ns_of(whatif, whatif->recorded);
}

uint32_t whatif__told_threads(const struct whatif *whatif)
{
    return replay_program__told(whatif->program);
}

bool whatif__has_regions(const struct whatif *whatif)
{
    return replay_program__has_regions(whatif->program);
}

static double part_of(double whole, uint64_t part, uint64_t of)
{
    return of ? whole * (double)part / (double)of : whole;
}

uint64_t whatif__unrecorded_ns(const struct whatif *whatif)
{
    uint64_t ns = (uint64_t)part_of((double)whatif->measured_ns,
                                    whatif->before[VARIANT_MEASURED].wall, whatif->recorded);
    return ns < whatif->measured_ns ? ns : whatif->measured_ns;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static int by_growth(const void *a, const void *b)
{
    const struct whatif_object *left = a, *right = b;
    int64_t first = (int64_t)(left->waited_after_ns - left->waited_before_ns);
    int64_t second = (int64_t)(right->waited_after_ns - right->waited_before_ns);
    return first > second ? -1 : first < second;
}

/* The parts of a split lock stand behind the program's own objects, and are left out. */
static void compare_objects(const struct whatif *whatif, const struct replay_result *after,
                            struct vec *objects)
{
    uint32_t count = replay_program__model(whatif->program)->object_count;
    for (uint32_t i = 0; i < count; i++) {
        struct whatif_object object;
        if (!whatif->before[VARIANT_MEASURED].objects[i].waited && !after->objects[i].waited)
            continue;
        replay_program__object(whatif->program, i, &object);
        object.waited_before_ns = ns_of(whatif, whatif->before[VARIANT_MEASURED].objects[i].waited);
        object.waited_after_ns = ns_of(whatif, after->objects[i].waited);
        vec__push(objects, &object);
    }
    if (objects->count)
        qsort(objects->items, objects->count, sizeof(struct whatif_object), by_growth);
}

static void widen(struct prediction *prediction, double wall_ns)
{
    uint64_t ns = wall_ns > 0 ? (uint64_t)wall_ns : 0;
    if (ns < prediction->least_ns)
        prediction->least_ns = ns;
    if (ns > prediction->most_ns)
        prediction->most_ns = ns;
}

static double waited_in(const struct whatif *whatif, const struct replay_result *result)
{
    double ticks = 0;
    for (uint32_t i = 0; i < replay_program__model(whatif->program)->object_count; i++)
        ticks += (double)result->objects[i].waited;
    return ticks;
}

/* What is left of the time that the replay does not see of the unchanged run: of the part that is
 * as large as waiting's in the threads' time, as much as of waiting; of the rest as much as of the
 * wall time. */
static double share_of_misfit(const struct whatif *whatif, const struct replay_result *before,
                              const struct replay_result *after)
{
    double waited = waited_in(whatif, before);
    double part = waited > 0 ? waited / (waited + (double)before->worked) : 0;
    double waits = waited > 0 ? waited_in(whatif, after) / waited : 0;
    double wall = part_of(1, after->wall, before->wall);
    part = 2 * part < 1 ? 2 * part : 1;
    waits = waits < 1 ? waits : 1;
    return part * waits + (1 - part) * wall;
}

/* As the model of that variant has it, with that share of the misfit. Where the replay is longer
 * than the run, no more is taken off than if it were too long everywhere alike. */
static double predicted_ns(const struct whatif *whatif, const struct replay_result *after,
                           enum variant variant, double share)
{
    double unrecorded = (double)whatif__unrecorded_ns(whatif);
    double before = (double)ns_of(whatif, whatif->before[variant].wall);
    double wall = (double)ns_of(whatif, after->wall);
    double predicted = wall + (unrecorded - before) * share;
    double scaled = before > 0 ? unrecorded * wall / before : predicted;
    return predicted < scaled && before > unrecorded ? scaled : predicted;
}

/* Waking others, and fetching what they changed, are work that goes with the waits. Where they make
 * the replay longer than the run, they are taken for more than they were. */
static double work_left(const struct whatif *whatif, const struct replay_result *after)
{
    double too_long = part_of(1, whatif__replayed_ns(whatif), whatif->measured_ns);
    double left = part_of(1, after->worked, whatif->before[VARIANT_MEASURED].worked);
    return too_long <= 1 + KNOWN_ERROR && left < 1 ? left : 1;
}

static void take_variant(struct whatif *whatif, const struct replay_result *after,
                         enum variant variant, struct prediction *prediction)
{
    double share = share_of_misfit(whatif, &whatif->before[variant], after);
    double wall_ns = predicted_ns(whatif, after, variant, share);
    if (variant != VARIANT_MEASURED) {
        widen(prediction, wall_ns);
        return;
    }
    prediction->wall_ns = wall_ns > 0 ? (uint64_t)wall_ns : 0;
    prediction->least_ns = prediction->most_ns = prediction->wall_ns;
    prediction->work_left = work_left(whatif, after);
    compare_objects(whatif, after, &prediction->objects);
    if (after->wall == whatif->before[variant].wall)
        return;
    widen(prediction, predicted_ns(whatif, after, variant, 1));
    double change = (double)whatif__unrecorded_ns(whatif) - wall_ns;
    double error = wall_ns * KNOWN_ERROR;
    change = change < 0 ? -change : change;
    error = error < change ? error : change; /* of what hardly changes anything it is less */
    widen(prediction, wall_ns - error);
    widen(prediction, wall_ns + error);
}

static double gain(double before, uint64_t after)
{
    return after ? before / (double)after : 1;
}

int whatif__predict(struct whatif *whatif, const struct change *changes, size_t count,
                    struct prediction *prediction, struct error *error)
{
    double unrecorded = (double)whatif__unrecorded_ns(whatif);
    *prediction = (struct prediction){.objects = VEC_OF(struct whatif_object)};
    for (unsigned i = 0; i < whatif->variants; i++) {
        struct replay_result after;
        int result = replay(whatif, changes, count, REPLAY_COSTS_LEFT_OUT, i, &after,
                            &prediction->threads, error);
        if (result < 0)
            return result;
        take_variant(whatif, &after, i, prediction);
        replay_result__free(&after);
    }
    prediction->gain[0] = gain(unrecorded, prediction->most_ns);
    prediction->gain[1] = gain(unrecorded, prediction->least_ns);
    return 0;
}

void prediction__free(struct prediction *prediction)
{
    vec__free(&prediction->objects);
}
