#include "analysis/memory/remote.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <math.h>
#include <stdlib.h>

#define OWN_DISTANCE 10.0 /* of a node to itself, as the firmware counts */
#define LOST_LEAST 100    /* one part in so many of the object's time: less is nothing */

/* What an instruction does at one object. */
struct at_instruction {
    uint32_t object;
    uint64_t instruction;
    struct vec latencies[2], paces[2]; /* double: local, remote */
    uint64_t remote_ns;
    double lost_part; /* of the remote time; NaN: by the distance */
};

/* A sample at memory of another node. */
struct remote_sample {
    const struct memory_sample *at;
    size_t row; /* of its instruction */
    double distant_part;
};

struct comparing {
    const struct trace *trace;
    struct remotes *remotes;
    struct map row_of;  /* object and instruction */
    struct vec rows;    /* struct at_instruction */
    struct vec samples; /* struct remote_sample */
    struct map shared;  /* struct shared_access */
};

struct shared_access {
    uint64_t instruction, address, thread;
};

/* ---- two sides ------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return ORDER(*left, *right);
}

/* Of what is sorted. */
static double quantile(const struct vec *sorted, double part)
{
    return *VEC_AT(sorted, double, (size_t)(part * (double)(sorted->count - 1) + 0.5));
}

/* Medians that are further apart than this differ (McGill, Tukey and Larsen, "Variations of box
 * plots", 1978: notches). */
static double notch(const struct vec *sorted)
{
    return 1.57 * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / sqrt((double)sorted->count);
}

double remote__lost_part(struct vec *local, struct vec *remote)
{
    if (!local->count || !remote->count)
        return 0;
    vec__sort(local, by_size);
    vec__sort(remote, by_size);
    double near = quantile(local, 0.5), far = quantile(remote, 0.5);
    return far > 0 && far - near > notch(local) + notch(remote) ? 1 - near / far : 0;
}

static bool can_compare(const struct vec sides[2])
{
    return sides[0].count >= REMOTE_PACES_LEAST && sides[1].count >= REMOTE_PACES_LEAST;
}

static void compare(struct at_instruction *row)
{
    if (can_compare(row->latencies))
        row->lost_part = remote__lost_part(&row->latencies[0], &row->latencies[1]);
    else if (can_compare(row->paces))
        row->lost_part = remote__lost_part(&row->paces[0], &row->paces[1]);
    else
        row->lost_part = NAN;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void note_shared(struct comparing *self)
{
    VEC_EACH (sharing, &self->remotes->use->sharings->rows, const struct sharing)
        VEC_EACH (access, &sharing->accesses, const struct line_access) {
            struct shared_access key = {access->instruction, access->address, access->thread};
            map__put(&self->shared, &key, sizeof key, 1);
        }
}

static bool is_shared(const struct comparing *self, const struct memory_sample *at)
{
    struct shared_access key = {at->sample->instruction, at->sample->address, at->thread};
    return map__get(&self->shared, &key, sizeof key) != MAP_ABSENT;
}

static size_t row_of(struct comparing *self, const struct memory_sample *at)
{
    struct {
        uint64_t object, instruction;
    } key = {at->object, at->sample->instruction};
    uint64_t row = map__put(&self->row_of, &key, sizeof key, self->rows.count);
    if (row == self->rows.count) {
        struct at_instruction fresh = {.object = at->object,
                                       .instruction = at->sample->instruction};
        for (unsigned side = 0; side < 2; side++) {
            fresh.latencies[side] = VEC_OF(double);
            fresh.paces[side] = VEC_OF(double);
        }
        vec__push(&self->rows, &fresh);
    }
    return row;
}

static void add_sample(struct comparing *self, const struct memory_sample *at)
{
    uint32_t from, to;
    const struct machine_nodes *nodes = &self->remotes->placement->nodes;
    if (!placement__ends(self->trace, nodes, at->sample, &from, &to) || is_shared(self, at))
        return;
    size_t number = row_of(self, at);
    struct at_instruction *row = VEC_AT(&self->rows, struct at_instruction, number);
    const struct heurt_sample *sample = at->sample;
    bool is_remote = from != to;
    double latency = at->answer ? at->answer->latency : 0;
    double pace =
        sample->iterations ? (double)sample->iterations_ns / (double)sample->iterations : 0;
    if (latency > 0)
        vec__push(&row->latencies[is_remote], &latency);
    if (pace > 0)
        vec__push(&row->paces[is_remote], &pace);
    if (!is_remote)
        return;
    uint32_t distance = machine_nodes__distance(nodes, from, to);
    double part = distance > OWN_DISTANCE ? 1 - OWN_DISTANCE / distance : 0;
    row->remote_ns += sample->weight_ns;
    vec__push(&self->samples, &(struct remote_sample){at, number, part});
}

/* ---- objects --------------------------------------------------------------------------------- */

static double lost_of(const struct comparing *self, const struct remote_sample *sample)
{
    double part = VEC_AT(&self->rows, struct at_instruction, sample->row)->lost_part;
    return (isnan(part) ? sample->distant_part : part) * (double)sample->at->sample->weight_ns;
}

/* By place among memory_use's objects: which are told of, those that are mostly elsewhere. */
static struct remote_object *objects_of(const struct comparing *self)
{
    const struct vec *objects = &self->remotes->use->objects;
    struct remote_object *all = memory__zeroed(objects->count + 1, sizeof *all);
    VEC_EACH (placed, &self->remotes->placement->objects, const struct placement_object)
        if (placed->kind != PLACEMENT_UNKNOWN && placed->kind != PLACEMENT_LOCAL)
            all[placed->object] = (struct remote_object){
                .object = VEC_AT(objects, struct memory_object, placed->object),
                .placed = placed,
                .lost_ns =
                    memory__zeroed(trace__threads(self->trace)->count + 1, sizeof(uint64_t))};
    return all;
}

static void add_losses(struct comparing *self, struct remote_object *all)
{
    double *bound_ns = memory__zeroed(self->remotes->use->objects.count + 1, sizeof *bound_ns);
    uint64_t *most_ns = memory__zeroed(self->remotes->use->objects.count + 1, sizeof *most_ns);
    VEC_EACH (sample, &self->samples, const struct remote_sample) {
        const struct at_instruction *row = VEC_AT(&self->rows, struct at_instruction, sample->row);
        struct remote_object *object = &all[row->object];
        double lost_ns = lost_of(self, sample);
        if (!object->lost_ns)
            continue;
        object->remote_ns += sample->at->sample->weight_ns;
        object->lost_ns[sample->at->thread] += (uint64_t)lost_ns;
        object->all_lost_ns += (uint64_t)lost_ns;
        bound_ns[row->object] += isnan(row->lost_part) ? lost_ns : 0;
        object->is_bound = 2 * bound_ns[row->object] > (double)object->all_lost_ns;
        if (row->remote_ns > most_ns[row->object]) {
            most_ns[row->object] = row->remote_ns;
            object->instruction = row->instruction;
            object->thread = sample->at->thread;
        }
    }
    free(bound_ns);
    free(most_ns);
}

/* What each sample of these loses: as shared_samples does for lines. */
static void add_samples(struct comparing *self, const struct remote_object *all)
{
    VEC_EACH (sample, &self->samples, const struct remote_sample) {
        const struct heurt_sample *of = sample->at->sample;
        struct shared_sample lost = {.thread = sample->at->thread,
                                     .is_remote = true,
                                     .tick = sample__tick(self->trace, of),
                                     .instruction = of->instruction,
                                     .lost_ns = lost_of(self, sample),
                                     .line = of->address};
        if (all[sample->at->object].all_lost_ns && lost.lost_ns > 0)
            vec__push(&self->remotes->samples, &lost);
    }
}

static int by_lost(const void *a, const void *b)
{
    const struct remote_object *left = a, *right = b;
    return ORDER(right->all_lost_ns, left->all_lost_ns)
               ?: ORDER(left->placed->object, right->placed->object);
}

static void make_objects(struct comparing *self)
{
    struct remote_object *all = objects_of(self);
    add_losses(self, all);
    for (size_t i = 0; i < self->remotes->use->objects.count; i++) {
        if (all[i].lost_ns && all[i].all_lost_ns > all[i].object->ns / LOST_LEAST) {
            vec__push(&self->remotes->rows, &all[i]);
            continue;
        }
        free(all[i].lost_ns);
        all[i] = (struct remote_object){.lost_ns = NULL};
    }
    add_samples(self, all);
    vec__sort(&self->remotes->rows, by_lost);
    free(all);
}

struct vec remotes__all_samples(const struct remotes *remotes, const struct sharings *sharings,
                                const struct trace *trace)
{
    struct vec samples = sharings__samples(sharings, trace);
    if (!remotes || !remotes->samples.count)
        return samples;
    VEC_EACH (sample, &remotes->samples, const struct shared_sample)
        vec__push(&samples, sample);
    vec__sort(&samples, shared_sample__by_thread);
    return samples;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void free_row(struct at_instruction *row)
{
    for (unsigned side = 0; side < 2; side++) {
        vec__free(&row->latencies[side]);
        vec__free(&row->paces[side]);
    }
}

static void *start(struct run *run)
{
    const struct memory_use *use = run__result(run, &memory_analysis);
    const struct placement *placement = run__result(run, &placement_analysis);
    if (!use || !placement)
        return NULL;
    struct remotes *remotes = memory__zeroed(1, sizeof *remotes);
    *remotes = (struct remotes){.rows = VEC_OF(struct remote_object),
                                .samples = VEC_OF(struct shared_sample),
                                .use = use,
                                .placement = placement};
    struct comparing self = {.trace = run->trace,
                             .remotes = remotes,
                             .rows = VEC_OF(struct at_instruction),
                             .samples = VEC_OF(struct remote_sample)};
    note_shared(&self);
    VEC_EACH (at, &use->at_memory, const struct memory_sample)
        add_sample(&self, at);
    VEC_EACH (row, &self.rows, struct at_instruction)
        compare(row);
    make_objects(&self);
    VEC_EACH (row, &self.rows, struct at_instruction)
        free_row(row);
    vec__free(&self.rows);
    vec__free(&self.samples);
    map__free(&self.row_of);
    map__free(&self.shared);
    return remotes;
}

static void free_remotes(void *result)
{
    struct remotes *remotes = result;
    if (!remotes)
        return;
    VEC_EACH (row, &remotes->rows, struct remote_object)
        free(row->lost_ns);
    vec__free(&remotes->rows);
    vec__free(&remotes->samples);
    free(remotes);
}

static bool is_needed(const struct trace *trace)
{
    struct machine_nodes nodes = machine_nodes__of(trace);
    bool has_several = nodes.count > 1;
    machine_nodes__free(&nodes);
    return has_several && trace__samples(trace)->count > 0;
}

const struct analysis remote_analysis = {
    .name = "remote memory",
    .after = (const struct analysis *const[]){&memory_analysis, &placement_analysis, NULL},
    .is_needed = is_needed,
    .start = start,
    .free = free_remotes};
