/* marker.c: the program's own marks (include/heurt.h). Its markers are notes in its files; each
 * note leads to a gate, a pointer that is NULL until it is set here. */
#include "runtime/objects.h"
#include "runtime/runtime.h"

#include <elf.h>
#include <link.h>
#include <string.h>

/* As in include/heurt.h, which stands alone in users' programs. */
struct heurt_marker {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t step;
    uint32_t id; /* 0: not yet defined; 1: no id left */
    uint32_t reserved;
};
struct heurt_markers {
    void (*begin)(struct heurt_marker *);
    void (*end)(struct heurt_marker *);
    void (*iteration)(struct heurt_marker *);
    void (*iteration_end)(struct heurt_marker *);
    void (*object)(const void *address, unsigned long bytes, const char *name);
};

#define NO_ID 1u

/* The id of a name: places that mark the same name are one region. */
static uint32_t region__find(const char *name, enum heurt_function_kind kind)
{
    for (unsigned i = 0; i < heurt_state.region_count; i++) {
        struct marked_region *region = &heurt_state.regions[i];
        if (region->kind == kind && strcmp(region->name, name) == 0)
            return region->id;
    }
    return 0;
}

static uint32_t region__define(const struct heurt_marker *marker, enum heurt_function_kind kind)
{
    struct state *state = &heurt_state;
    size_t length = strlen(marker->name);
    if (state->region_count == REGIONS_MAX || length >= sizeof state->regions[0].name)
        return NO_ID;
    struct heurt_function function = {
        .kind = kind,
        .address = (uintptr_t)marker,
        .line = marker->line,
        .bias_ticks = state->marker.bias_ticks,
        .cost_ticks = state->marker.cost_ticks,
    };
    uint32_t id = define__function(&function, marker->name, marker->file ? marker->file : "", "");
    if (!id)
        return NO_ID;
    struct marked_region *region = &state->regions[state->region_count++];
    region->id = id;
    region->kind = kind;
    memcpy(region->name, marker->name, length + 1);
    return id;
}

static uint32_t marker__id(struct heurt_marker *marker, enum heurt_function_kind kind)
{
    uint32_t id = __atomic_load_n(&marker->id, __ATOMIC_ACQUIRE);
    if (likely(id))
        return id;
    if (thread__in_seccomp(&heurt_thread))
        return NO_ID;
    uint64_t mask = signals__block();
    spin__lock(&heurt_state.regions_lock);
    id = region__find(marker->name, kind);
    if (!id)
        id = region__define(marker, kind);
    spin__unlock(&heurt_state.regions_lock);
    signals__restore(mask);
    __atomic_store_n(&marker->id, id, __ATOMIC_RELEASE);
    return id;
}

static void enter(struct thread *thread, uint32_t id)
{
    instructions__tell(thread);
    if (heurt_state.settings.stack_every)
        stack__consider(thread, id, 0);
    function__write(thread, id);
}

static void leave(struct thread *thread, uint32_t id)
{
    clock__settle();
    instructions__tell(thread);
    function__write(thread, id | 1);
}

static void begin(struct heurt_marker *marker)
{
    struct thread *thread = hook__thread();
    uint32_t id = thread ? marker__id(marker, HEURT_FUNCTION_REGION) : NO_ID;
    if (id != NO_ID)
        enter(thread, id);
}

static void end(struct heurt_marker *marker)
{
    struct thread *thread = hook__thread();
    uint32_t id = thread ? marker__id(marker, HEURT_FUNCTION_REGION) : NO_ID;
    if (id != NO_ID)
        leave(thread, id);
}

/* The iterations of a loop since its span began, per thread; 0: no span is open. */
static int32_t *iterations__of(struct thread *thread, uint32_t id)
{
    if (!thread->countdowns)
        event__refill(NULL, 0);
    return thread->countdowns ? &thread->countdowns->function[id / 2].stack : NULL;
}

static void iteration(struct heurt_marker *marker)
{
    struct thread *thread = hook__thread();
    uint32_t id = thread ? marker__id(marker, HEURT_FUNCTION_ITERATION) : NO_ID;
    int32_t *iterations = id != NO_ID ? iterations__of(thread, id) : NULL;
    if (!iterations)
        return;
    if (*iterations && (uint32_t)(*iterations)++ < marker->step)
        return;
    if (*iterations)
        leave(thread, id);
    *iterations = 1;
    enter(thread, id);
}

static void iteration_end(struct heurt_marker *marker)
{
    struct thread *thread = hook__thread();
    uint32_t id = thread ? marker__id(marker, HEURT_FUNCTION_ITERATION) : NO_ID;
    int32_t *iterations = id != NO_ID ? iterations__of(thread, id) : NULL;
    if (!iterations || !*iterations)
        return;
    leave(thread, id);
    *iterations = 0;
}

static void object(const void *address, unsigned long bytes, const char *name)
{
    struct thread *thread = heurt_state.allocating.objects ? hook__thread() : NULL;
    if (!thread || thread__in_seccomp(thread))
        return;
    define__object(address, name);
    counting__renew(address, bytes);
    object__tell(thread, SITE(HEURT_ALLOCATION_NAMED), address, bytes);
}

static struct heurt_markers markers = {begin, end, iteration, iteration_end, object};

#define MARKER_NOTE 1u

void marker__connect(const uint8_t *note, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const void *)note;
        size_t name = (header->n_namesz + 3u) & ~3u, text = (header->n_descsz + 3u) & ~3u;
        size_t whole = sizeof *header + name + text;
        if (whole > bytes)
            return;
        if (header->n_type == MARKER_NOTE && header->n_namesz == 6 && header->n_descsz == 4 &&
            memcmp(header + 1, "heurt", 6) == 0) {
            const uint8_t *at = note + sizeof *header + name;
            int32_t distance;
            memcpy(&distance, at, sizeof distance);
            struct heurt_markers **gate = (void *)(at + distance);
            *gate = &markers;
        }
        note += whole;
        bytes -= whole;
    }
}
