/* Which samples are at lines that threads take from each other, and what each of them stands for.
 */
#include "analysis/memory/sharing.h"

#include "base/map.h"
#include "base/memory.h"
#include "format/sampled_lines.h"

#include <stdlib.h>

struct access_place {
    uint64_t instruction, address, thread;
};

static struct access_place place_of(uint32_t thread, uint64_t instruction, uint64_t address)
{
    return (struct access_place){instruction, address, thread};
}

/* What a ns that was sampled of it on each thread stands for: of what is lost, about. free() it. */
static double *factors_of(const struct sharing *sharing, size_t threads)
{
    double *factors = memory__zeroed(threads + 1, sizeof *factors);
    uint64_t *sampled = memory__zeroed(threads + 1, sizeof *sampled);
    VEC_EACH (access, &sharing->accesses, const struct line_access)
        sampled[access->thread] += access->sampled_ns;
    for (size_t i = 0; i < threads; i++) {
        double lost = ((double)sharing->lost_ns[i] + (double)sharing->most_lost_ns[i]) / 2;
        factors[i] = sampled[i] ? lost / (double)sampled[i] : 0;
    }
    free(sampled);
    return factors;
}

int shared_sample__by_thread(const void *a, const void *b)
{
    const struct shared_sample *left = a, *right = b;
    return ORDER(left->thread, right->thread) ?: ORDER(left->tick, right->tick);
}

/* Of the sharings that cost anything: which accesses are whose, and what they stand for. */
struct shared_places {
    struct map sharing_of; /* struct access_place: places in factors */
    struct vec sharings;   /* const struct sharing * */
    struct vec factors;    /* double *: by sharing, by thread */
};

static void add_places(struct shared_places *places, const struct sharing *sharing, size_t threads)
{
    double *factors = factors_of(sharing, threads);
    VEC_EACH (access, &sharing->accesses, const struct line_access) {
        struct access_place place = place_of(access->thread, access->instruction, access->address);
        map__put(&places->sharing_of, &place, sizeof place, places->sharings.count);
    }
    vec__push(&places->sharings, &sharing);
    vec__push(&places->factors, &factors);
}

static struct shared_places places_of(const struct sharings *sharings, const struct trace *trace)
{
    struct shared_places places = {.sharings = VEC_OF(const struct sharing *),
                                   .factors = VEC_OF(double *)};
    VEC_EACH (sharing, &sharings->rows, const struct sharing)
        if (!sharing->is_spun)
            add_places(&places, sharing, trace__threads(trace)->count);
    return places;
}

static void free_places(struct shared_places *places)
{
    VEC_EACH (factors, &places->factors, double *)
        free(*factors);
    vec__free(&places->factors);
    vec__free(&places->sharings);
    map__free(&places->sharing_of);
}

static void add_sample(const struct shared_places *places, const struct trace *trace,
                       const struct heurt_sample *sample, uint32_t thread, struct vec *found)
{
    struct access_place place = place_of(thread, sample->instruction, sample->address);
    uint64_t number = map__get(&places->sharing_of, &place, sizeof place);
    if (number == MAP_ABSENT)
        return;
    const struct sharing *sharing = *VEC_AT(&places->sharings, const struct sharing *, number);
    double factor = (*VEC_AT(&places->factors, double *, number))[thread];
    vec__push(found, &(struct shared_sample){.thread = thread,
                                             .tick = sample__tick(trace, sample),
                                             .instruction = sample->instruction,
                                             .lost_ns = factor * (double)sample->weight_ns,
                                             .is_false = sharing->is_false,
                                             .line = sharing->line});
}

struct vec sharings__samples(const struct sharings *sharings, const struct trace *trace)
{
    struct vec found = VEC_OF(struct shared_sample);
    struct shared_places places = places_of(sharings, trace);
    struct sample_threads *known = places.sharings.count ? sample_threads__new(trace) : NULL;
    if (known)
        VEC_EACH (sample, trace__samples(trace), const struct heurt_sample) {
            uint32_t thread = sample->address ? sample_threads__of(known, sample) : UINT32_MAX;
            if (thread != UINT32_MAX)
                add_sample(&places, trace, sample, thread, &found);
        }
    if (known)
        sample_threads__free(known);
    free_places(&places);
    vec__sort(&found, shared_sample__by_thread);
    return found;
}
