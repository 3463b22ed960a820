/* live_loops.c: functions that are entered once have no occurrences: their loops are marked. */
#include "base/memory.h"
#include "patch/plan_loops.h"
#include "recorder/live_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FOLLOW_AFTER_MS = 60, /* so long may a function take until it is entered again */
    FOLLOW_EVERY_MS = 20,
};

void live__follow_inwards(struct live *live, struct vec places, uint64_t least_ns)
{
    vec__free(&live->places);
    live->places = places;
    live->least_ns = least_ns;
    live__free_plans(live);
    VEC_EACH (process, &live->processes, struct live_process)
        VEC_EACH (patch, &process->patches, struct live_patch)
            patch->followed = false;
}

const struct trace_module *live__keep_module(struct live *live, const struct trace_module *module)
{
    VEC_EACH (known, &live->modules, struct trace_module *)
        if ((*known)->bias == module->bias && strcmp((*known)->path, module->path) == 0)
            return *known;
    struct trace_module *own = memory__zeroed(1, sizeof *own);
    uint8_t *build_id = memory__zeroed(module->build_id_bytes + 1, 1);
    memcpy(build_id, module->build_id, module->build_id_bytes);
    *own = *module;
    own->path = memory__text(module->path);
    own->build_id = build_id;
    vec__push(&live->modules, &own);
    return own;
}

static void free_modules(struct live *live)
{
    VEC_EACH (module, &live->modules, struct trace_module *) {
        free((char *)(uintptr_t)(*module)->path);
        free((uint8_t *)(uintptr_t)(*module)->build_id);
        free(*module);
    }
    vec__free(&live->modules);
}

/* ---- plans ----------------------------------------------------------------------------------- */

void live__free_plans(struct live *live)
{
    VEC_EACH (loops, &live->loop_plans, struct vec)
        plan_loops__free(loops);
    vec__free(&live->loop_plans);
    map__free(&live->loop_plan_of_path);
    live->loop_plan_of_path = (struct map){0};
}

void live__free_loops(struct live *live)
{
    live__free_plans(live);
    vec__free(&live->loops);
    vec__free(&live->places);
    map__free(&live->loop_of_place);
    free_modules(live);
}

/* The loops of a module that are worth marking, in whatever process. */
static const struct vec *plan_of(struct live *live, const struct trace_module *module)
{
    uint64_t next = live->loop_plans.count;
    uint64_t index = map__put(&live->loop_plan_of_path, module->path, strlen(module->path), next);
    if (index == next) {
        struct vec loops = VEC_OF(struct planned_loop);
        plan_loops__make(module, &live->places, live->least_ns, live->planner->request->cache,
                         &loops);
        vec__push(&live->loop_plans, &loops);
    }
    return VEC_AT(&live->loop_plans, struct vec, index);
}

/* ---- loops of a process ---------------------------------------------------------------------- */

/* The session's number of a loop; HEURT_LOOPS_MAX: there is none left. */
static uint32_t loop_of(struct live *live, const struct trace_module *module, uint64_t place)
{
    char *key = memory__format("%s%c%llx", module->path, 1, (unsigned long long)place);
    uint64_t known = map__get(&live->loop_of_place, key, strlen(key));
    uint64_t next = live->loops.count;
    if (known == MAP_ABSENT && next < HEURT_LOOPS_MAX) {
        map__put(&live->loop_of_place, key, strlen(key), next);
        vec__push(&live->loops,
                  &(struct live_function){.id = HEURT_EVENT_LOOPS + 2 * (uint32_t)next});
        known = next;
    }
    free(key);
    return known == MAP_ABSENT ? HEURT_LOOPS_MAX : (uint32_t)known;
}

static bool has_loop(const struct live_process *process, uint64_t place)
{
    VEC_EACH (patch, &process->patches, const struct live_patch)
        if (patch->is_loop && patch->plan.address == place)
            return true;
    return false;
}

static void move_to(struct heurt_plan *plan, uint64_t bias)
{
    plan->address += bias;
    for (unsigned i = 0; i < plan->fixup_count; i++)
        plan->fixups[i].target += bias;
}

static bool add_loop(struct live *live, struct live_process *process,
                     const struct trace_module *module, const struct vec *loops,
                     const struct planned_loop *planned)
{
    uint32_t number = loop_of(live, module, planned->plan.address);
    if (number == HEURT_LOOPS_MAX || has_loop(process, planned->plan.address + module->bias))
        return false;
    struct live_patch patch = {
        .plan = planned->plan,
        .function = number,
        .is_loop = true,
        .loop = {.address = planned->address + module->bias,
                 .saves_flags = planned->saves_flags,
                 .file = memory__text(planned->file),
                 .line = planned->line},
        .name = memory__text(planned->name),
    };
    if (planned->parent != PLANNED_NO_PARENT)
        patch.loop.parent =
            loop_of(live, module,
                    VEC_AT(loops, struct planned_loop, planned->parent)->plan.address) +
            1;
    move_to(&patch.plan, module->bias);
    vec__push(&process->patches, &patch);
    return true;
}

static bool add_loops(struct live *live, struct live_process *process,
                      const struct trace_module *module, uint64_t function)
{
    bool added = false;
    const struct vec *loops = plan_of(live, module);
    VEC_EACH (planned, loops, const struct planned_loop)
        if (planned->function + module->bias == function)
            added |= add_loop(live, process, module, loops, planned);
    return added;
}

bool live__define_loop(struct live *live, const struct live_process *process,
                       struct live_patch *patch, const struct heurt_live *room)
{
    static const char arguments[] = "iterations";
    const struct live_loop *loop = &patch->loop;
    size_t name = strlen(patch->name) + 1, file = strlen(loop->file) + 1;
    struct heurt_function function = {
        .id = live__function(live, patch)->id,
        .kind = HEURT_FUNCTION_LOOP,
        .address = loop->address,
        .line = loop->line,
        .argument_count = 1,
        .cost_ticks = room->loop_cost_ticks,
    };
    char *body = memory__zeroed(sizeof function + name + file + sizeof arguments, 1);
    memcpy(body, &function, sizeof function);
    memcpy(body + sizeof function, patch->name, name);
    memcpy(body + sizeof function + name, loop->file, file);
    memcpy(body + sizeof function + name + file, arguments, sizeof arguments);
    int code = trace_writer__define(live->writer, process->serial, HEURT_DEFINITION_FUNCTION, body,
                                    sizeof function + name + file + sizeof arguments);
    free(body);
    patch->defined = code == 0;
    return patch->defined;
}

/* ---- which functions ------------------------------------------------------------------------- */

/* How often the function was entered by the thread that did so most. */
static unsigned entries_of(const struct live *live, const struct live_process *process,
                           const struct live_patch *patch, int memory)
{
    uint8_t entered = HEURT_LIVE_ENTERED;
    const struct heurt_live *room = VEC_AT(&process->rooms, struct heurt_live, 0);
    uint64_t at = room->entered + (live__function(live, patch)->id - HEURT_EVENT_LIVE) / 2;
    if (!room->entered || pread(memory, &entered, 1, (off_t)at) != 1)
        return HEURT_LIVE_ENTERED;
    return entered;
}

static bool is_to_follow(const struct live_patch *patch, uint64_t now_ns)
{
    return patch->applied && !patch->is_loop && !patch->is_given && !patch->followed &&
           now_ns > patch->applied_ns + FOLLOW_AFTER_MS * 1000000ull;
}

static bool follow_process(struct live *live, struct live_process *process, uint64_t now_ns)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process->pid);
    int memory = -1;
    bool added = false;
    for (size_t i = 0; i < process->patches.count; i++) {
        struct live_patch *patch = VEC_AT(&process->patches, struct live_patch, i);
        if (!is_to_follow(patch, now_ns))
            continue;
        if (memory < 0 && (memory = open(path, O_RDONLY | O_CLOEXEC)) < 0)
            return added;
        patch->followed = true;
        uint64_t function = patch->plan.address;
        if (entries_of(live, process, patch, memory) < HEURT_LIVE_ENTERED)
            added |= add_loops(live, process, patch->module, function);
    }
    if (memory >= 0)
        close(memory);
    return added;
}

bool live__follow(struct live *live, uint64_t now_ns)
{
    bool added = false;
    if (!live->places.count || now_ns < live->next_follow_ns)
        return false;
    live->next_follow_ns = now_ns + FOLLOW_EVERY_MS * 1000000ull;
    VEC_EACH (process, &live->processes, struct live_process)
        if (process->state == PROCESS_DONE && process->rooms.count)
            added |= follow_process(live, process, now_ns);
    return added;
}
