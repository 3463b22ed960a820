#include "patch/process_image.h"

#include "base/memory.h"
#include "patch/denylist.h"
#include "symbol/name.h"

#include <stdlib.h>
#include <string.h>

/* More functions than this in one net of jumps are not followed. */
enum { REACHED_MAX = 512 };

struct node {
    struct world_module *module;
    struct fact_function *function;
};

static const char TAKES_STACK[] = "it takes arguments on the stack";

/* ---- modules --------------------------------------------------------------------------------- */

void world__start(struct world *world, const struct trace_module *modules, size_t count,
                  const char *cache)
{
    *world = (struct world){.modules = VEC_OF(struct world_module), .cache = cache};
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(modules[i].path, '/');
        vec__push(&world->modules,
                  &(struct world_module){
                      .module = &modules[i],
                      .name = {modules[i].path, slash ? slash + 1 : modules[i].path},
                  });
    }
}

void world__free(struct world *world)
{
    VEC_EACH (module, &world->modules, struct world_module) {
        facts__close(module->facts);
        map__free(&module->exports);
        free(module->queries);
    }
    vec__free(&world->modules);
}

struct facts *world__open(const struct world *world, struct world_module *module)
{
    if (module->tried)
        return module->facts;
    module->tried = true;
    const struct trace_module *mapped = module->module;
    module->status = facts__open(mapped->path, mapped->build_id, mapped->build_id_bytes,
                                 world->cache, &module->facts, &module->error);
    if (module->status == 0)
        module->queries = memory__zeroed(module->facts->functions.count, sizeof *module->queries);
    return module->facts;
}

static void list_exports(struct world_module *module)
{
    const struct facts *facts = module->facts;
    module->exports_ready = true;
    for (size_t i = 0; i < facts->functions.count; i++) {
        const struct fact_function *function = VEC_AT(&facts->functions, struct fact_function, i);
        for (size_t n = 0; n < function->name_count; n++) {
            const char *name = facts__name(facts, function, n);
            if (!facts__name_is_local(facts, function, n))
                map__put(&module->exports, name, strcspn(name, "@"), i);
        }
    }
}

/* The first definition in the order of the modules, as the loader looks it up. */
static bool find_export(struct world *world, const char *name, struct node *node)
{
    VEC_EACH (module, &world->modules, struct world_module) {
        if (never__module(module->name.base) || !world__open(world, module))
            continue;
        if (!module->exports_ready)
            list_exports(module);
        uint64_t at = map__get(&module->exports, name, strcspn(name, "@"));
        if (at == MAP_ABSENT)
            continue;
        *node = (struct node){module, VEC_AT(&module->facts->functions, struct fact_function, at)};
        return true;
    }
    return false;
}

static bool find_tail(struct world *world, const struct node *from, const struct fact_tail *tail,
                      struct node *to)
{
    struct facts *facts = from->module->facts;
    if (tail->function == FACT_NO_FUNCTION)
        return tail->name && find_export(world, facts__text(facts, tail->name), to);
    *to = (struct node){from->module,
                        VEC_AT(&facts->functions, struct fact_function, tail->function)};
    return true;
}

/* ---- what one function does ------------------------------------------------------------------ */

static const struct frame_verdict *verdict_of(const struct node *node)
{
    facts__judge(node->module->facts, node->function);
    return &node->function->frame;
}

static bool fits_registers(const struct node *node)
{
    return facts__fits_registers(node->module->facts, node->function);
}

/* Whether the query comes to the node for the first time. */
static bool is_first_visit(const struct world *world, const struct node *node)
{
    const struct fact_function *first = node->module->facts->functions.items;
    uint32_t *query = &node->module->queries[node->function - first];
    bool is_first = *query != world->query;
    *query = world->query;
    return is_first;
}

/* ---- the proof ------------------------------------------------------------------------------- */

struct proof {
    struct world *world;
    struct node root;
    enum heurt_mechanism mechanism;
    struct vec reached; /* struct node: the root, and what it may end in a jump to */
};

static char *label_of(const struct node *node)
{
    const struct fact_function *function = node->function;
    if (!function->name_count)
        return memory__format("code at 0x%llx of %s", (unsigned long long)function->start,
                              node->module->name.base);
    return symbol_name__demangle(facts__name(node->module->facts, function, 0));
}

static bool is_root(const struct proof *proof, const struct node *node)
{
    return node->function == proof->root.function;
}

static char *refusal_through(const struct proof *proof, const struct node *node, const char *reason)
{
    if (is_root(proof, node))
        return memory__text(reason);
    char *label = label_of(node);
    char *text = memory__format("it may end in a jump to %s: %s", label, reason);
    free(label);
    return text;
}

static bool leads_to_entry(const struct proof *proof, const struct node *node,
                           const struct fact_tail *tail)
{
    enum { ENDBR64_BYTES = 4 };
    const struct node *root = &proof->root;
    return node->module == root->module && tail->address &&
           (tail->address == root->function->start ||
            tail->address == root->function->start + ENDBR64_BYTES);
}

/* With nothing shifted, code that cannot be judged is like code that is not known: both may be
 * jumped to, except by a function that is to be patched itself. */
static bool is_harmless(const struct proof *proof, const struct node *node, enum frame_fault fault)
{
    return !fault || (proof->mechanism == HEURT_MECHANISM_RETURN_SLOT && !is_root(proof, node) &&
                      fault != FRAME_LOOKS_UP && fault != FRAME_SWITCHES && fault != FRAME_FAR);
}

/* What a reached function does by itself. NULL or the reason. */
static const char *own_reason(const struct proof *proof, const struct node *node)
{
    const struct frame_verdict *verdict = verdict_of(node);
    if (node->function->ifunc)
        return never__is_c_library(node->module->name.base)
                   ? NULL /* the versions of such functions take nothing on the stack */
                   : "it is chosen at run time (IFUNC)";
    if (!is_harmless(proof, node, verdict->fault))
        return frame_fault__text(verdict->fault);
    if (verdict->loops && is_root(proof, node))
        return "its loop begins at its first instruction";
    if (proof->mechanism == HEURT_MECHANISM_FRAME)
        return verdict->takes_stack ? TAKES_STACK : NULL;
    return facts__keeps_rbx(node->module->facts, node->function)
               ? NULL
               : "it may take arguments on the stack, and does not keep the register "
                 "rbx as a function has to";
}

/* Whether next, which from may end in a jump to, needs to be looked at for the first time. */
static bool is_new(const struct proof *proof, const struct node *from, const struct node *next)
{
    const struct frame_verdict *verdict = verdict_of(next);
    /* It can take arguments there (variable ones, say), but from has none to hand on. */
    if (proof->mechanism == HEURT_MECHANISM_FRAME && !verdict->fault && verdict->takes_stack &&
        fits_registers(from))
        return false;
    return is_first_visit(proof->world, next);
}

static char *follow_tail(struct proof *proof, const struct node *node, const struct fact_tail *tail)
{
    struct node next;
    if (leads_to_entry(proof, node, tail))
        return memory__text("a function that it ends in jumps to its beginning again");
    if (find_tail(proof->world, node, tail, &next)) {
        if (is_new(proof, node, &next))
            vec__push(&proof->reached, &next);
        return NULL;
    }
    if (proof->mechanism == HEURT_MECHANISM_RETURN_SLOT || fits_registers(node))
        return NULL;
    return refusal_through(proof, node,
                           "it may end in a jump to a function that is not known here "
                           "and could take arguments on the stack");
}

static char *visit(struct proof *proof, const struct node *node)
{
    const char *reason = own_reason(proof, node);
    if (reason)
        return refusal_through(proof, node, reason);
    const struct fact_function *function = node->function;
    char *text = NULL;
    for (size_t i = 0; !function->ifunc && i < function->tail_count && !text; i++) {
        struct fact_tail tail =
            *VEC_AT(&node->module->facts->tails, struct fact_tail, function->first_tail + i);
        text = follow_tail(proof, node, &tail);
    }
    return text;
}

static char *prove(struct world *world, const struct node *root, enum heurt_mechanism mechanism)
{
    struct proof proof = {world, *root, mechanism, VEC_OF(struct node)};
    char *reason = NULL;
    world->query++;
    is_first_visit(world, root);
    vec__push(&proof.reached, root);
    for (size_t i = 0; i < proof.reached.count && i < REACHED_MAX && !reason; i++) {
        struct node node = *VEC_AT(&proof.reached, struct node, i);
        reason = visit(&proof, &node);
    }
    if (!reason && proof.reached.count > REACHED_MAX)
        reason = memory__text("it is part of a net of too many functions that end in one another");
    vec__free(&proof.reached);
    return reason;
}

/* ---- who unwinds ----------------------------------------------------------------------------- */

static bool has_export(struct world_module *module, const char *name)
{
    if (!module->exports_ready)
        list_exports(module);
    return map__get(&module->exports, name, strlen(name)) != MAP_ABSENT;
}

/* Looked for where it is: in its own library, or linked into the program itself (the first one). */
static enum unwinder find_unwinder(struct world *world)
{
    VEC_EACH (module, &world->modules, struct world_module) {
        bool is_candidate =
            module == world->modules.items || strncmp(module->name.base, "libunwind", 9) == 0;
        if (!is_candidate || never__module(module->name.base) || !world__open(world, module))
            continue;
        if (has_export(module, "_Unwind_RaiseException") &&
            (has_export(module, "unw_init_local") || has_export(module, "__unw_init_local")))
            return UNWINDER_LLVM;
    }
    return UNWINDER_GCC;
}

char *world__refusal(struct world *world, struct world_module *module,
                     struct fact_function *function, enum heurt_mechanism *mechanism)
{
    struct node root = {module, function};
    *mechanism = HEURT_MECHANISM_FRAME;
    char *reason = prove(world, &root, HEURT_MECHANISM_FRAME);
    if (!reason)
        return NULL;
    free(reason);
    *mechanism = HEURT_MECHANISM_RETURN_SLOT;
    reason = prove(world, &root, HEURT_MECHANISM_RETURN_SLOT);
    if (reason)
        return reason;
    if (world->unwinder == UNWINDER_NOT_ASKED)
        world->unwinder = find_unwinder(world);
    return world->unwinder == UNWINDER_GCC
               ? NULL
               : memory__text("it may take arguments on the stack, and exceptions in this program "
                              "are thrown by LLVM's libunwind, which would not find its frame");
}
