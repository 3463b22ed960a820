#include "recorder/selection.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "kernel/hotspots.h"
#include "kernel/sampling.h"
#include "patch/denylist.h"
#include "recorder/hot_table.h"
#include "recorder/recorded_accesses.h"
#include "recorder/timed_samples.h"

#include <stdlib.h>
#include <string.h>

#define FREQUENCY_HZ 997
#define REST_HZ 199
#define DRAIN_EVERY_NS 20000000u
#define STABLE_NS 250000000u /* no stable picture before */
#define COMPARE_NS 50000000u /* between two looks that are compared */
#define STABLE_LOOKS 3
#define WINDOW_NS 1000000000u /* of CPU time, after the first choice */
#define LOOK_NS 250000000u    /* of CPU time, from look to look within a window */
#define FRESH_PERCENT 25      /* so much at places where nothing was before is another phase */
#define PLACE_SHIFT 6         /* places are blocks of 64 bytes */

struct selection {
    struct sampling *sampling;          /* NULL: the kernel refuses, and these are there: */
    struct timed_samples *timed;        /* else NULL */
    struct recorded_accesses *recorded; /* NULL, but in a test */
    struct hotspots *hotspots;
    struct hot_files files;
    struct access_log *accesses;
    uint64_t after_ns, drained_ns;
    uint64_t compared_ns; /* of CPU time */
    uint64_t picture;     /* of the last look */
    unsigned alike;       /* looks in a row with that picture */
    bool rests;           /* the first choice is made */
    struct map accepted;  /* functions that were chosen, by path and name */
    struct map seen;      /* blocks of files where choices found samples */
};

static void log_accesses(struct selection *selection, const struct access_log_settings *settings)
{
    const char *by = selection->sampling ? sampling__accesses_by(selection->sampling) : NULL;
    selection->accesses = access_log__new(settings, selection->hotspots, &selection->files);
    selection->recorded = recorded_accesses__open();
    by = selection->recorded ? "a test" : by;
    if (by)
        trace_writer__meta(settings->writer, "accesses_by", by);
}

int selection__open(pid_t pid, uint64_t after_ns, const struct access_log_settings *settings,
                    struct selection **selection, struct error *error)
{
    struct sampling_settings how = {pid, after_ns ? FREQUENCY_HZ : REST_HZ, after_ns ? REST_HZ : 0,
                                    .registers = true, .accesses = settings != NULL};
    struct sampling *sampling = NULL;
    *selection = NULL;
    int code = sampling__open(&how, &sampling, error);
    struct timed_samples *timed =
        code < 0 && settings ? timed_samples__new(settings->writer, how.frequency_hz, how.rest_hz)
                             : NULL;
    if (code < 0 && !timed)
        return code;
    *selection = memory__zeroed(1, sizeof **selection);
    (*selection)->sampling = sampling;
    (*selection)->timed = timed;
    (*selection)->hotspots = hotspots__new();
    (*selection)->after_ns = after_ns;
    if (settings)
        log_accesses(*selection, settings);
    return 0;
}

static void take(const struct record *record, void *context)
{
    struct selection *selection = context;
    hotspots__take(record, selection->hotspots);
    if (selection->accesses)
        access_log__take(selection->accesses, record);
}

static bool is_known(uint32_t pid, uint64_t address, void *context)
{
    struct selection *selection = context;
    uint32_t module;
    uint64_t offset;
    return hotspots__find(selection->hotspots, pid, address, &module, &offset);
}

static void drain(struct selection *selection, bool last)
{
    if (selection->timed)
        timed_samples__drain(selection->timed, is_known, take, selection);
    else
        sampling__drain(selection->sampling, last, take, selection);
    recorded_accesses__drain(selection->recorded, take, selection);
    if (selection->accesses)
        access_log__flush(selection->accesses);
}

void selection__close(struct selection *selection)
{
    if (!selection)
        return;
    drain(selection, true);
    access_log__free(selection->accesses);
    recorded_accesses__close(selection->recorded);
    if (selection->timed)
        timed_samples__end(selection->timed);
    timed_samples__free(selection->timed);
    sampling__close(selection->sampling);
    hotspots__free(selection->hotspots);
    hot_files__close(&selection->files);
    map__free(&selection->accepted);
    map__free(&selection->seen);
    free(selection);
}

/* ---- what is chosen -------------------------------------------------------------------------- */

static bool is_heurt(const char *path)
{
    const char *base = strrchr(path, '/');
    return base && (strcmp(base, "/libheurt.so") == 0 || strncmp(base, "/libheurt-", 10) == 0);
}

/* What waits or allocates within a library does so for its caller. */
static bool counts(const struct hot_function *function)
{
    const char *base = function->path ? strrchr(function->path, '/') : NULL;
    if (!base)
        return function->path != NULL;
    return !is_heurt(function->path) && !denylist__chosen(base + 1, function->symbol);
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

static char *key_of(const char *path, const char *name)
{
    return memory__format("%s\n%s", path, name);
}

static bool is_accepted(const struct selection *selection, const struct hot_function *function)
{
    char *name = name_of(function), *key = key_of(function->path, name);
    bool accepted = map__get(&selection->accepted, key, strlen(key)) != MAP_ABSENT;
    free(name);
    free(key);
    return accepted;
}

/* Of few samples a percent is chance. */
static double least_percent(const struct selection *selection, uint64_t samples)
{
    double least = samples ? 100.0 * CHOICE_SAMPLES_LEAST / (double)samples : 100;
    return selection->rests && least > CHOICE_PERCENT ? least : CHOICE_PERCENT;
}

struct chosen selection__make(struct selection *selection)
{
    struct chosen chosen = {.functions = VEC_OF(struct chosen_function)};
    struct hot_table table = hot_table__make(selection->hotspots, 0, &selection->files);
    uint64_t all_ns = weight_of(&table, &chosen.samples);
    chosen.sampled_ns = table.totals.weight_ns;
    chosen.least_percent = least_percent(selection, chosen.samples);
    VEC_EACH (function, &table.functions, const struct hot_function) {
        double percent = all_ns ? 100.0 * (double)function->weight_ns / (double)all_ns : 0;
        if (!counts(function) || percent < chosen.least_percent || is_accepted(selection, function))
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

struct vec selection__places(struct selection *selection)
{
    struct vec places = VEC_OF(struct hot_place);
    const struct vec *modules = hotspots__modules(selection->hotspots);
    VEC_EACH (spot, hotspots__spots(selection->hotspots), const struct hotspot) {
        const struct hotspots_module *module =
            VEC_AT(modules, struct hotspots_module, spot->module);
        struct hot_place place = {.path = module->path, .weight_ns = spot->weight_ns};
        if (module->is_file &&
            hot_files__address(&selection->files, spot->module, spot->file_offset, &place.address))
            vec__push(&places, &place);
    }
    return places;
}

static uint64_t block_of(const struct hotspot *spot)
{
    return (uint64_t)spot->module << 48 | spot->file_offset >> PLACE_SHIFT;
}

void selection__accept(struct selection *selection, const struct chosen *chosen)
{
    VEC_EACH (function, &chosen->functions, const struct chosen_function) {
        char *key = key_of(function->path, function->name);
        map__put(&selection->accepted, key, strlen(key), 1);
        free(key);
    }
    VEC_EACH (spot, hotspots__spots(selection->hotspots), const struct hotspot) {
        uint64_t block = block_of(spot);
        map__put(&selection->seen, &block, sizeof block, 1);
    }
    if (!selection->rests && selection->timed)
        timed_samples__rest(selection->timed);
    else if (!selection->rests)
        sampling__rest(selection->sampling);
    selection->rests = true;
    selection->compared_ns = 0;
    hotspots__forget(selection->hotspots);
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

static bool is_stable(struct selection *selection)
{
    struct chosen chosen = selection__make(selection);
    uint64_t picture = picture_of(&chosen);
    bool any = chosen.functions.count > 0;
    chosen__free(&chosen);
    selection->alike = picture == selection->picture ? selection->alike + 1 : 1;
    selection->picture = picture;
    return any && selection->alike >= STABLE_LOOKS;
}

/* Whether so much of the window was spent at places where no choice has found samples. */
static bool is_fresh(const struct selection *selection)
{
    uint64_t fresh_ns = 0, all_ns = 0, samples = 0;
    const struct vec *modules = hotspots__modules(selection->hotspots);
    VEC_EACH (spot, hotspots__spots(selection->hotspots), const struct hotspot) {
        uint64_t block = block_of(spot);
        const struct hotspots_module *module =
            VEC_AT(modules, struct hotspots_module, spot->module);
        if (!module->is_file || is_heurt(module->path))
            continue;
        all_ns += spot->weight_ns;
        if (map__get(&selection->seen, &block, sizeof block) != MAP_ABSENT)
            continue;
        fresh_ns += spot->weight_ns;
        samples += spot->samples;
    }
    return samples >= CHOICE_SAMPLES_LEAST && fresh_ns * 100 >= all_ns * FRESH_PERCENT;
}

/* After the first choice. */
static bool has_changed(struct selection *selection, uint64_t sampled_ns)
{
    if (sampled_ns < selection->compared_ns + LOOK_NS)
        return false;
    selection->compared_ns = sampled_ns;
    struct chosen chosen = selection__make(selection);
    bool changed = chosen.functions.count > 0 || is_fresh(selection);
    chosen__free(&chosen);
    if (!changed && sampled_ns >= WINDOW_NS) {
        selection->compared_ns = 0;
        hotspots__forget(selection->hotspots);
    }
    return changed;
}

bool selection__look(struct selection *selection)
{
    uint64_t now = clock__ns(CLOCK_MONOTONIC);
    if (now - selection->drained_ns < DRAIN_EVERY_NS)
        return false;
    selection->drained_ns = now;
    drain(selection, false);
    uint64_t sampled_ns = hotspots__totals(selection->hotspots).weight_ns;
    if (!selection->after_ns)
        return false;
    if (selection->rests)
        return has_changed(selection, sampled_ns);
    if (sampled_ns >= selection->after_ns)
        return true;
    if (sampled_ns < selection->compared_ns + COMPARE_NS)
        return false;
    selection->compared_ns = sampled_ns;
    return is_stable(selection) && sampled_ns >= STABLE_NS;
}
