/* live_plan.c: which functions of a process are to be patched. */
#include "base/memory.h"
#include "base/text.h"
#include "recorder/live_code.h"
#include "recorder/live_parts.h"

#include <stdlib.h>
#include <string.h>

/* The session's number of a function: the same file at the same place is the same. */
static uint32_t function_of(struct live *live, const struct trace_module *module, uint64_t address)
{
    uint64_t place = address - module->bias;
    char *key = memory__format("%s%c%llx", module->path, 1, (unsigned long long)place);
    uint64_t next = live->functions.count;
    uint64_t index = map__put(&live->function_of_place, key, strlen(key), next);
    free(key);
    if (index == next)
        vec__push(&live->functions,
                  &(struct live_function){.id = HEURT_EVENT_LIVE + 2 * (uint32_t)next});
    return (uint32_t)index;
}

static const struct trace_module *module_at(const struct vec *modules, uint64_t address)
{
    VEC_EACH (module, modules, const struct trace_module)
        if (address >= module->start && address < module->end)
            return module;
    return NULL;
}

static bool is_defined_by_itself(const struct trace_process *process, uint64_t address)
{
    VEC_EACH (function, &process->functions, const struct trace_function)
        if (function->address == address && function->kind == HEURT_FUNCTION_PATCHED &&
            function->id < HEURT_EVENT_LIVE)
            return true;
    return false;
}

/* Under another of its names, or from an earlier choice. */
static bool has_patch(const struct live_process *process, uint64_t address)
{
    VEC_EACH (patch, &process->patches, const struct live_patch)
        if (!patch->is_loop && patch->plan.address == address)
            return true;
    return false;
}

static void add_patch(struct live *live, struct live_process *process,
                      const struct trace_process *known, const struct vec *modules,
                      const struct planned_function *planned)
{
    const struct trace_module *module = module_at(modules, planned->plan.address);
    if (!module || is_defined_by_itself(known, planned->plan.address) ||
        has_patch(process, planned->plan.address))
        return;
    struct live_patch *patch = vec__push(&process->patches, NULL);
    *patch = (struct live_patch){
        .plan = planned->plan,
        .function = function_of(live, module, planned->plan.address),
        .module = live__keep_module(live, module),
        .name = memory__text(planned->name),
    };
    if (VEC_AT(&live->functions, struct live_function, patch->function)->id > HEURT_EVENT_LAST)
        live__refuse(live, process, patch, "no event number is left for it");
    else if (live_code__has_return_inside(&patch->plan))
        live__refuse(
            live, process, patch,
            "threads may be in a call that returns into its first instructions; record it from "
            "the program's start (-f)");
}

/* Of what a plan is made: the choice, and the modules with their places. */
static char *key_of_plan(size_t selection, const struct vec *modules)
{
    char *key = memory__format("%zu\n", selection);
    VEC_EACH (module, modules, const struct trace_module)
        key = text__append(key, "%llx %s\n", (unsigned long long)module->bias, module->path);
    return key;
}

/* The part of the request that came with a choice. items belong to the request. */
static struct plan_request request_of(const struct live *live, size_t selection)
{
    const size_t *ends = live->planner->choices.items;
    struct plan_request request = *live->planner->request;
    size_t begin = selection ? ends[selection - 1] : 0;
    request.functions.items = VEC_AT(&request.functions, char *, begin);
    request.functions.count = ends[selection] - begin;
    return request;
}

static const struct plan *plan_for(struct live *live, uint32_t serial, const struct vec *modules,
                                   size_t selection)
{
    struct plan_request request = request_of(live, selection);
    char *key = key_of_plan(selection, modules);
    uint64_t next = live->plans.count;
    uint64_t index = map__put(&live->plan_of_modules, key, strlen(key), next);
    free(key);
    if (index < next)
        return *VEC_AT(&live->plans, struct plan *, index);
    struct plan *plan = NULL;
    struct error error;
    if (plan__make(&request, modules->items, modules->count, &plan, &error) == 0)
        VEC_EACH (refusal, &plan->refusals, const struct refused_function)
            trace_writer__refuse(live->writer, serial, refusal->function, refusal->module,
                                 refusal->reason);
    vec__push(&live->plans, &plan);
    return plan;
}

void live__plan(struct live *live, struct live_process *process, const struct trace_process *known,
                const struct live_witness *witness, size_t selection)
{
    struct vec modules = VEC_OF(struct trace_module);
    VEC_EACH (module, &known->modules, const struct trace_module)
        if (module->gone_tick == UINT64_MAX && live_witness__confirms(witness, module) &&
            planner__takes(live->planner, known->serial, module, selection))
            vec__push(&modules, module);
    const struct plan *plan =
        modules.count ? plan_for(live, known->serial, &modules, selection) : NULL;
    if (plan)
        VEC_EACH (planned, &plan->functions, const struct planned_function)
            add_patch(live, process, known, &modules, planned);
    vec__free(&modules);
}
