#include "patch/plan.h"

#include "base/memory.h"
#include "patch/denylist.h"
#include "patch/patterns.h"
#include "patch/plan_arguments.h"
#include "patch/process_image.h"
#include "patch/system_calls.h"
#include "symbol/name.h"

#include <stdlib.h>
#include <string.h>

/* As many as there are ids for (layout.h): those that fit into an event's first word, and the wide
 * ones. */
enum {
    NARROW_IDS = (HEURT_EVENT_LOOPS - HEURT_EVENT_FUNCTIONS) / 2,
    WIDE_IDS = (HEURT_FUNCTION_LAST - HEURT_EVENT_LAST) / 2,
    FUNCTIONS_MAX = NARROW_IDS + WIDE_IDS,
};

struct maker {
    const struct plan_request *request;
    struct process_image image;
    struct patterns patterns;
    struct vec arguments; /* struct argument_request */
    struct plan *plan;
};

static void add_refusal(struct vec *to, const char *function, const char *module,
                        const char *reason)
{
    vec__push(to, &(struct refused_function){memory__text(function), memory__text(module),
                                             memory__text(reason)});
}

static void refuse(struct plan *plan, const char *function, const char *module, const char *reason)
{
    add_refusal(&plan->refusals, function, module, reason);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool is_module_wanted(const struct maker *maker, const struct process_module *module)
{
    const struct vec *globs = &maker->request->modules;
    if (!globs->count)
        return patterns__concern(&maker->patterns, &module->name);
    VEC_EACH (glob, globs, char *)
        if (pattern_module__matches(&module->name, *glob))
            return !maker->patterns.items.count ||
                   patterns__concern(&maker->patterns, &module->name);
    return false;
}

static bool is_name_wanted(struct maker *maker, const struct process_module *module,
                           const char *name, bool *exact)
{
    *exact = false;
    if (!maker->patterns.items.count)
        return true;
    return patterns__match(&maker->patterns, &module->name, name, exact);
}

/* *which becomes the number of the first of the function's names that was asked for: no pointer to
 * it, because judging a function adds text and so moves all of it. */
static bool find_wanted(struct maker *maker, const struct process_module *module,
                        const struct info_function *function, size_t *which)
{
    bool found = false;
    for (size_t i = 0; i < function->name_count; i++) {
        const char *name = function_info__name(module->info, function, i);
        bool exact;
        /* All names are tried: each may be the answer to another pattern. */
        if (!is_name_wanted(maker, module, name, &exact) || (symbol__is_cold(name) && !exact))
            continue;
        if (!found)
            *which = i;
        found = true;
    }
    return found;
}

/* ---- one function ---------------------------------------------------------------------------- */

static const char *refusal_by_name(const struct process_module *module,
                                   struct info_function *function)
{
    for (size_t i = 0; i < function->name_count; i++) {
        const char *name = function_info__name(module->info, function, i);
        const char *reason = denylist__function(module->name.base, name);
        if (reason)
            return reason;
        if (symbol__is_cold(name))
            return "it is a rarely run part of another function and measured with that";
    }
    return NULL;
}

static void move_to(struct heurt_plan *plan, uint64_t bias)
{
    plan->address += bias;
    for (unsigned i = 0; i < plan->fixup_count; i++)
        plan->fixups[i].target += bias;
}

/* The reason why it cannot be patched (free() it), or NULL and plan is filled. */
static char *try_function(struct maker *maker, struct process_module *module,
                          struct info_function *function, struct heurt_plan *plan)
{
    const char *reason = refusal_by_name(module, function);
    if (reason)
        return memory__text(reason);
    if (function->ifunc)
        return memory__text(function_info__choice(module->info, function));
    function_info__judge(module->info, function);
    if (function->frame.inner)
        return memory__text("it is not entered by a call");
    enum heurt_mechanism mechanism;
    char *text = process_image__refusal(&maker->image, module, function, &mechanism);
    if (text)
        return text;
    reason = move_fault__text(function_info__move(module->info, function, plan));
    plan->ordered = function->frame.locks;
    plan->mechanism = (uint8_t)mechanism;
    move_to(plan, module->module->bias);
    return memory__text(reason);
}

/* As the resolver of addresses writes it where there is no symbol. */
static char *readable_name(const struct process_module *module, const char *name)
{
    if (symbol_name__is_place(name))
        return memory__format("[%s%s]", module->name.base, name);
    return symbol_name__demangle(name);
}

/* Code that has unwind information of its own but neither a name nor a call that enters it: a part
 * of a function. */
static bool is_part(struct process_module *module, struct info_function *function)
{
    if (!symbol_name__is_place(function_info__name(module->info, function, 0)))
        return false;
    function_info__judge(module->info, function);
    return function->frame.inner;
}

/* Under that of its names which has the number which. */
static void add_function(struct maker *maker, struct process_module *module,
                         struct info_function *function, size_t which)
{
    struct planned_function planned = {0};
    char *name = readable_name(module, function_info__name(module->info, function, which));
    char *reason = maker->plan->functions.count >= FUNCTIONS_MAX
                       ? memory__format("more than %d functions were asked for", FUNCTIONS_MAX)
                       : try_function(maker, module, function, &planned.plan);
    if (reason) {
        refuse(maker->plan, name, module->name.path, reason);
        free(reason);
        free(name);
        return;
    }
    planned.name = name;
    planned.module = (size_t)(module - (struct process_module *)maker->image.modules.items);
    struct argument_choice choice = {.refusals = VEC_OF(struct argument_refusal)};
    arguments__choose(&maker->arguments, module, function, &choice);
    planned.argument_names = choice.names;
    planned.plan.argument_count = choice.count;
    memcpy(planned.plan.arguments, choice.registers, sizeof choice.registers);
    VEC_EACH (refusal, &choice.refusals, struct argument_refusal) {
        refuse(maker->plan, name, module->name.path, refusal->reason);
        free(refusal->reason);
    }
    vec__free(&choice.refusals);
    vec__push(&maker->plan->functions, &planned);
}

/* ---- all modules ----------------------------------------------------------------------------- */

/* A module that was named by itself (-M, "@") and cannot be read must be told of; one that is only
 * searched along must, too, when it is a file: something asked for may be in it. */
static void refuse_module(struct maker *maker, const struct process_module *module,
                          const char *reason)
{
    refuse(maker->plan, "*", module->name.path, reason);
}

static bool is_named(const struct maker *maker, const struct process_module *module)
{
    VEC_EACH (glob, &maker->request->modules, char *)
        if (strcmp(*glob, "*") != 0 && pattern_module__matches(&module->name, *glob))
            return true;
    VEC_EACH (pattern, &maker->patterns.items, struct pattern)
        if (pattern->module && strcmp(pattern->module, "*") != 0 &&
            pattern_module__matches(&module->name, pattern->module))
            return true;
    return false;
}

/* The same file at the same place, told twice. */
static bool is_repeated(const struct maker *maker, const struct process_module *module)
{
    for (const struct process_module *other = maker->image.modules.items; other < module; other++)
        if (other->module->bias == module->module->bias &&
            strcmp(other->module->path, module->module->path) == 0)
            return true;
    return false;
}

static void add_module(struct maker *maker, struct process_module *module)
{
    if (!is_module_wanted(maker, module) || is_repeated(maker, module))
        return;
    const char *reason = denylist__module(module->name.base);
    if (reason) {
        if (is_named(maker, module))
            refuse_module(maker, module, reason);
        return;
    }
    if (!process_image__open(&maker->image, module)) {
        refuse_module(maker, module, module->error.text);
        return;
    }
    VEC_EACH (function, &module->info->functions, struct info_function) {
        size_t which;
        if (find_wanted(maker, module, function, &which) && !is_part(module, function))
            add_function(maker, module, function, which);
    }
}

static bool is_any_stripped(const struct maker *maker)
{
    VEC_EACH (module, &maker->image.modules, struct process_module)
        if (module->info && module->info->stripped && is_module_wanted(maker, module))
            return true;
    return false;
}

/* The reason, and the nearest name of a function where there is one. free() it. */
static char *reason_of_unmatched(const struct maker *maker, const struct pattern *pattern,
                                 const char *reason)
{
    struct nearest nearest = nearest__to(pattern->name);
    char *kept = NULL;
    VEC_EACH (module, &maker->image.modules, struct process_module) {
        if (!module->info)
            continue;
        VEC_EACH (function, &module->info->functions, struct info_function)
            for (size_t i = 0; i < function->name_count; i++)
                pattern__offer(pattern, &module->name,
                               function_info__name(module->info, function, i), &nearest, &kept);
    }
    char *question = nearest__question(&nearest);
    char *text = memory__format("%s%s", reason, question);
    free(question);
    free(kept);
    return text;
}

static void refuse_unmatched(struct maker *maker)
{
    const char *reason = is_any_stripped(maker)
                             ? "no function of this name (in stripped modules only the functions "
                               "that others may call have one)"
                             : "no function of this name";
    VEC_EACH (pattern, &maker->patterns.items, struct pattern) {
        if (pattern->answered)
            continue;
        char *text = reason_of_unmatched(maker, pattern, reason);
        add_refusal(&maker->plan->unmatched, pattern->text, "", text);
        free(text);
    }
    VEC_EACH (glob, &maker->request->modules, char *) {
        bool found = false;
        VEC_EACH (module, &maker->image.modules, struct process_module)
            found |= pattern_module__matches(&module->name, *glob);
        if (!found)
            add_refusal(&maker->plan->unmatched, "*", *glob, "no module of this name");
    }
}

static void refuse_unused_arguments(struct maker *maker)
{
    VEC_EACH (request, &maker->arguments, struct argument_request) {
        const struct pattern *pattern = VEC_AT(&request->patterns.items, struct pattern, 0);
        if (!pattern->answered)
            add_refusal(&maker->plan->unmatched, pattern->text, "",
                        "its arguments were asked for, but no function of this name is recorded");
    }
}

/* ---- inline system calls --------------------------------------------------------------------- */

static void add_system_calls(struct plan *plan, const struct trace_module *modules, size_t index,
                             const char *cache)
{
    const struct trace_module *module = &modules[index];
    struct function_info *info;
    struct error error;
    const char *slash = strrchr(module->path, '/');
    if (denylist__module(slash ? slash + 1 : module->path) ||
        !system_calls__may_be_in(module->path) ||
        function_info__open(module->path, module->build_id, module->build_id_bytes, cache, &info,
                            &error) < 0)
        return;
    struct vec calls = VEC_OF(struct heurt_plan);
    function_info__system_calls(info, &calls);
    VEC_EACH (call, &calls, struct heurt_plan) {
        move_to(call, module->bias);
        vec__push(&plan->functions, &(struct planned_function){*call, memory__text("system call"),
                                                               memory__text(""), index});
    }
    vec__free(&calls);
    function_info__close(info);
}

static struct plan *new_plan(const struct trace_module *modules, size_t module_count)
{
    struct plan *plan = memory__zeroed(1, sizeof *plan);
    plan->functions = VEC_OF(struct planned_function);
    plan->refusals = VEC_OF(struct refused_function);
    plan->unmatched = VEC_OF(struct refused_function);
    plan->biases = VEC_OF(uint64_t);
    for (size_t i = 0; i < module_count; i++)
        vec__push(&plan->biases, &modules[i].bias);
    return plan;
}

struct plan *plan__system_calls(const struct trace_module *modules, size_t module_count,
                                const char *cache)
{
    struct plan *plan = new_plan(modules, module_count);
    for (size_t i = 0; i < module_count; i++)
        add_system_calls(plan, modules, i, cache);
    return plan;
}

/* ---- the plan -------------------------------------------------------------------------------- */

int plan__make(const struct plan_request *request, const struct trace_module *modules,
               size_t module_count, struct plan **plan, struct error *error)
{
    (void)error;
    struct maker maker = {.request = request};
    maker.plan = new_plan(modules, module_count);
    process_image__start(&maker.image, modules, module_count, request->cache);
    patterns__start(&maker.patterns);
    argument_requests__start(&maker.arguments, &request->arguments);
    VEC_EACH (text, &request->functions, char *)
        patterns__add(&maker.patterns, *text);
    if (request->functions.count || request->modules.count) {
        VEC_EACH (module, &maker.image.modules, struct process_module)
            add_module(&maker, module);
        refuse_unmatched(&maker);
        refuse_unused_arguments(&maker);
    }
    patterns__free(&maker.patterns);
    argument_requests__free(&maker.arguments);
    process_image__free(&maker.image);
    *plan = maker.plan;
    return 0;
}

void plan__move(struct plan *plan, const struct trace_module *modules, size_t module_count)
{
    uint64_t *biases = plan->biases.items;
    VEC_EACH (function, &plan->functions, struct planned_function)
        move_to(&function->plan, modules[function->module].bias - biases[function->module]);
    for (size_t i = 0; i < module_count; i++)
        biases[i] = modules[i].bias;
}

static void free_refusals(struct vec *refusals)
{
    VEC_EACH (refusal, refusals, struct refused_function) {
        free(refusal->function);
        free(refusal->module);
        free(refusal->reason);
    }
    vec__free(refusals);
}

void plan__free(struct plan *plan)
{
    if (!plan)
        return;
    VEC_EACH (function, &plan->functions, struct planned_function) {
        free(function->name);
        free(function->argument_names);
    }
    vec__free(&plan->functions);
    free_refusals(&plan->refusals);
    free_refusals(&plan->unmatched);
    vec__free(&plan->biases);
    free(plan);
}
