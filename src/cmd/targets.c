#include "cmd/targets.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_AT_MOST 8 /* of a name that means several */

/* ---- locks ----------------------------------------------------------------------------------- */

static struct lock_target *find(struct vec *locks, uint32_t process, uint64_t address)
{
    VEC_EACH (lock, locks, struct lock_target)
        if (lock->process == process && lock->address == address)
            return lock;
    const struct lock_target new = {.process = process, .address = address};
    return vec__push(locks, &new);
}

static int compare_losses(const void *left, const void *right)
{
    const struct lock_target *a = left, *b = right;
    return ORDER(b->lost_ns, a->lost_ns) ?: ORDER(a->address, b->address);
}

struct vec targets__locks(const struct report *report)
{
    struct vec locks = VEC_OF(struct lock_target);
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        if (class->what.at.kind != CLASS_LOCK || !class->what.has_object)
            continue;
        struct lock_target *lock = find(&locks, class->what.at.process, class->what.object);
        lock->classes++;
        lock->lost_ns += class->excess_ns;
    }
    vec__sort(&locks, compare_losses);
    return locks;
}

static bool lock__is(const struct report *report, const struct lock_target *lock,
                     const char *target, uint64_t address)
{
    if (address)
        return lock->address == address;
    const char *name = report__variable(report, lock->process, lock->address);
    return name && strcmp(name, target) == 0;
}

/* 0: it is a name. */
static uint64_t address_of(const char *target)
{
    char *end;
    errno = 0;
    uint64_t address = strncmp(target, "0x", 2) == 0 ? strtoull(target, &end, 16) : 0;
    return address && !errno && !*end ? address : 0;
}

/* "lock=0x4a0040, lock=…": the first ones. free() it. */
static char *candidates(const struct vec *locks)
{
    char *text = memory__text("");
    for (size_t i = 0; i < locks->count && i < CANDIDATES_AT_MOST; i++)
        text = text__append(text, "%slock=0x%" PRIx64, i ? ", " : "",
                            VEC_AT(locks, struct lock_target, i)->address);
    return text;
}

static bool is_one_address(const struct vec *locks)
{
    VEC_EACH (lock, locks, struct lock_target)
        if (lock->address != VEC_AT(locks, struct lock_target, 0)->address)
            return false;
    return true;
}

/* Finds the locks that the target means, one an image: forked processes have the same addresses. */
static int find_locks(const struct asked *asked, const struct report *report, struct vec *found,
                      struct error *error)
{
    uint64_t address = address_of(asked->target);
    struct vec all = targets__locks(report);
    VEC_EACH (lock, &all, struct lock_target)
        if (lock__is(report, lock, asked->target, address))
            vec__push(found, lock);
    vec__free(&all);
    const struct vec *processes = trace__processes(report->trace);
    if (found->count == 0 && address && processes->count == 1) { /* nobody waited for it */
        const struct lock_target lock = {
            .process = VEC_AT(processes, struct trace_process, 0)->serial, .address = address};
        vec__push(found, &lock);
    }
    if (found->count && is_one_address(found))
        return 0;
    if (found->count == 0)
        return error__set(error, -EINVAL,
                          "%s: no lock of this run that somebody waited for is at that address or "
                          "has that name; heurt locks lists them",
                          asked->option);
    char *list = candidates(found);
    int code = error__set(error, -EINVAL, "%s: %zu locks have that name; choose one: %s",
                          asked->option, found->count, list);
    free(list);
    return code;
}

static int resolve_lock(const struct asked *asked, const struct report *report, struct vec *changes,
                        struct lock_target *lock, struct error *error)
{
    struct vec found = VEC_OF(struct lock_target);
    int code = find_locks(asked, report, &found, error);
    if (code < 0)
        found.count = 0;
    VEC_EACH (each, &found, struct lock_target) {
        const struct change change = {.type = asked->type,
                                      .lock = each->address,
                                      .process = each->process,
                                      .factor = asked->factor,
                                      .count = asked->count,
                                      .by_site = asked->by_site};
        vec__push(changes, &change);
        *lock = *each;
    }
    vec__free(&found);
    return code;
}

/* ---- classes --------------------------------------------------------------------------------- */

static void remove_class(const struct profile_class *class, struct vec *changes)
{
    const struct change change = {.type = CHANGE_REMOVE, .class = class->number};
    vec__push(changes, &change);
}

static int resolve_rank(const struct asked *asked, const struct report *report, struct vec *changes,
                        struct error *error)
{
    const struct vec *classes = &report->profile->classes;
    if (asked->rank > classes->count)
        return error__set(error, -EINVAL, "%s: there is no class %zu: this report has %zu",
                          asked->option, asked->rank, classes->count);
    remove_class(VEC_AT(classes, struct profile_class, asked->rank - 1), changes);
    return 0;
}

static int resolve_function(const struct asked *asked, const struct report *report,
                            struct vec *changes, struct error *error)
{
    size_t before = changes->count;
    VEC_EACH (class, &report->profile->classes, struct profile_class)
        if (class__is_named(report, class, asked->target))
            remove_class(class, changes);
    if (changes->count > before)
        return 0;
    char *question = class_names__question(report, asked->target);
    error__set(error, -EINVAL,
               "%s: no class of the report is of that function%s heurt report lists them, heurt "
               "record -f records a function",
               asked->option, *question ? question : ";");
    free(question);
    return -EINVAL;
}

/* ---- parallel regions ------------------------------------------------------------------------ */

static const struct parallel_region *find_region(const char *target, const struct report *report,
                                                 const struct openmp_use *openmp)
{
    size_t rank = 0;
    if (openmp)
        VEC_EACH (region, &openmp->regions, const struct parallel_region)
            if (parallel_region__is(report, region, ++rank, target))
                return region;
    return NULL;
}

static int resolve_region(const struct asked *asked, const struct report *report,
                          const struct openmp_use *openmp, struct vec *changes, struct error *error)
{
    const struct parallel_region *region = find_region(asked->target, report, openmp);
    if (!region)
        return error__set(error, -EINVAL,
                          "%s: no parallel region is '%s'; heurt openmp lists those there are",
                          asked->option, asked->target);
    struct change change = {.type = asked->type,
                            .process = region->process,
                            .factor = 1,
                            .sites = region->sites.items,
                            .site_count = region->sites.count};
    if (asked->is_shared)
        change.factor = parallel_region__unevenness(openmp, region, asked->count);
    if (isnan(change.factor))
        return error__set(
            error, -EINVAL,
            "%s: what the iterations of this region's loops cost was not told, as its "
            "threads ask for no chunks, or these are too short; --balance %s tells "
            "what is gained at most",
            asked->option, asked->target);
    vec__push(changes, &change);
    return 0;
}

int asked__resolve(const struct asked *asked, const struct report *report,
                   const struct openmp_use *openmp, struct vec *changes, struct lock_target *lock,
                   struct error *error)
{
    const struct change change = {.type = asked->type,
                                  .pattern = asked->target,
                                  .factor = asked->factor,
                                  .count = asked->count};
    if (asked->of == ASKED_OF_LOCK)
        return resolve_lock(asked, report, changes, lock, error);
    if (asked->of == ASKED_OF_REGION)
        return resolve_region(asked, report, openmp, changes, error);
    if (asked->of == ASKED_OF_CLASS)
        return resolve_rank(asked, report, changes, error);
    if (asked->type == CHANGE_REMOVE)
        return resolve_function(asked, report, changes, error);
    vec__push(changes, &change);
    return 0;
}
