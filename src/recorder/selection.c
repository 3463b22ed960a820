#include "recorder/selection.h"

#include "base/memory.h"
#include "kernel/hotspots.h"
#include "kernel/sampling.h"
#include "patch/denylist.h"
#include "recorder/hot_table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FREQUENCY_HZ 997
#define DRAIN_EVERY_NS 20000000u
#define STABLE_NS 250000000u /* no stable picture before */
#define COMPARE_NS 50000000u /* between two looks that are compared */
#define STABLE_LOOKS 3

struct choice {
    struct sampling *sampling;
    struct hotspots *hotspots;
    struct hot_files files;
    uint64_t after_ns, drained_ns;
    uint64_t compared_ns; /* of CPU time */
    uint64_t picture;     /* of the last look */
    unsigned alike;       /* looks in a row with that picture */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int choice__open(pid_t pid, uint64_t after_ns, struct choice **choice, struct error *error)
{
    struct sampling_settings settings = {pid, FREQUENCY_HZ};
    struct sampling *sampling = NULL;
    *choice = NULL;
    int code = sampling__open(&settings, &sampling, error);
    if (code < 0)
        return code;
    *choice = memory__zeroed(1, sizeof **choice);
    (*choice)->sampling = sampling;
    (*choice)->hotspots = hotspots__new();
    (*choice)->after_ns = after_ns;
    return 0;
}

void choice__close(struct choice *choice)
{
    if (!choice)
        return;
    sampling__close(choice->sampling);
    hotspots__free(choice->hotspots);
    hot_files__close(&choice->files);
    free(choice);
}

void choice__rest(struct choice *choice)
{
    sampling__close(choice->sampling);
    choice->sampling = NULL;
}

/* ---- what is chosen -------------------------------------------------------------------------- */

/* What waits or allocates within a library does so for its caller. */
static bool counts(const struct hot_function *function)
{
    const char *base = function->path ? strrchr(function->path, '/') : NULL;
    if (!base)
        return function->path != NULL;
    return strcmp(base, "/libheurt.so") != 0 && !never__chosen(base + 1, function->symbol);
}

static uint64_t weight_of(const struct hot_table *table, uint64_t *samples)
{
    uint64_t weight_ns = 0;
    VEC_EACH (function, &table->functions, const struct hot_function)
        if (counts(function)) {
            weight_ns += function->weight_ns;
            *samples += function->samples;
        }
    return weight_ns;
}

static char *name_of(const struct hot_function *function)
{
    if (function->demangled)
        return memory__text(function->demangled);
    return memory__format("+0x%llx", (unsigned long long)function->address);
}

struct chosen choice__make(struct choice *choice)
{
    struct chosen chosen = {.functions = VEC_OF(struct chosen_function)};
    struct hot_table table = hot_table__make(choice->hotspots, 0, &choice->files);
    uint64_t all_ns = weight_of(&table, &chosen.samples);
    chosen.sampled_ns = table.totals.weight_ns;
    VEC_EACH (function, &table.functions, const struct hot_function) {
        double percent = all_ns ? 100.0 * (double)function->weight_ns / (double)all_ns : 0;
        if (!counts(function) || percent < CHOICE_PERCENT)
            continue;
        struct chosen_function one = {
            .pattern = function->pattern
                           ? memory__format("%s @%s", function->pattern, function->module)
                           : NULL,
            .name = name_of(function),
            .path = memory__text(function->path),
            .reason = function->reason ? memory__text(function->reason) : NULL,
            .percent = percent,
        };
        vec__push(&chosen.functions, &one);
    }
    hot_table__free(&table);
    return chosen;
}

struct vec choice__places(struct choice *choice)
{
    struct vec places = VEC_OF(struct hot_place);
    const struct vec *modules = hotspots__modules(choice->hotspots);
    VEC_EACH (spot, hotspots__spots(choice->hotspots), const struct hotspot) {
        const struct hotspots_module *module =
            VEC_AT(modules, struct hotspots_module, spot->module);
        struct hot_place place = {.path = module->path, .weight_ns = spot->weight_ns};
        if (module->is_file &&
            hot_files__address(&choice->files, spot->module, spot->file_offset, &place.address))
            vec__push(&places, &place);
    }
    return places;
}

void chosen__free(struct chosen *chosen)
{
    VEC_EACH (function, &chosen->functions, struct chosen_function) {
        free(function->pattern);
        free(function->name);
        free(function->path);
        free(function->reason);
    }
    vec__free(&chosen->functions);
}

/* ---- when ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const char *text, uint64_t hash)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

/* The set of functions as a number: their order does not count. */
static uint64_t picture_of(const struct chosen *chosen)
{
    uint64_t picture = 1;
    VEC_EACH (function, &chosen->functions, const struct chosen_function)
        picture += hash_of(function->name, hash_of(function->path, 0xcbf29ce484222325ull));
    return picture;
}

static bool is_stable(struct choice *choice)
{
    struct chosen chosen = choice__make(choice);
    uint64_t picture = picture_of(&chosen);
    bool any = chosen.functions.count > 0;
    chosen__free(&chosen);
    choice->alike = picture == choice->picture ? choice->alike + 1 : 1;
    choice->picture = picture;
    return any && choice->alike >= STABLE_LOOKS;
}

bool choice__look(struct choice *choice)
{
    uint64_t now = now_ns();
    if (now - choice->drained_ns < DRAIN_EVERY_NS)
        return false;
    choice->drained_ns = now;
    sampling__drain(choice->sampling, false, hotspots__take, choice->hotspots);
    uint64_t sampled_ns = hotspots__totals(choice->hotspots).weight_ns;
    if (sampled_ns >= choice->after_ns)
        return true;
    if (sampled_ns < choice->compared_ns + COMPARE_NS)
        return false;
    choice->compared_ns = sampled_ns;
    return is_stable(choice) && sampled_ns >= STABLE_NS;
}
