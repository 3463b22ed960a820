#include "patch/process_image.h"

#include "base/memory.h"
#include "patch/denylist.h"
#include "symbol/name.h"

#include <stdlib.h>
#include <string.h>

/* More functions than this in one net of jumps are not followed. */
enum { REACHED_MAX = 512 };

struct image_node {
    struct process_module *module;
    struct info_function *function;
};

static const char TAKES_STACK[] = "it takes arguments on the stack";

/* ---- modules --------------------------------------------------------------------------------- */

void process_image__start(struct process_image *image, const struct trace_module *modules,
                          size_t count, const char *cache)
{
    *image = (struct process_image){.modules = VEC_OF(struct process_module), .cache = cache};
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(modules[i].path, '/');
        vec__push(&image->modules,
                  &(struct process_module){
                      .module = &modules[i],
                      .name = {modules[i].path, slash ? slash + 1 : modules[i].path},
                  });
    }
}

void process_image__free(struct process_image *image)
{
    VEC_EACH (module, &image->modules, struct process_module) {
        function_info__close(module->info);
        map__free(&module->exports);
        free(module->queries);
    }
    vec__free(&image->modules);
}

struct function_info *process_image__open(const struct process_image *image,
                                          struct process_module *module)
{
    if (module->tried)
        return module->info;
    module->tried = true;
    const struct trace_module *mapped = module->module;
    module->status = function_info__open(mapped->path, mapped->build_id, mapped->build_id_bytes,
                                         image->cache, &module->info, &module->error);
    if (module->status == 0)
        module->queries = memory__zeroed(module->info->functions.count, sizeof *module->queries);
    return module->info;
}

static void list_exports(struct process_module *module)
{
    const struct function_info *info = module->info;
    module->exports_ready = true;
    for (size_t i = 0; i < info->functions.count; i++) {
        const struct info_function *function = VEC_AT(&info->functions, struct info_function, i);
        for (size_t n = 0; n < function->name_count; n++) {
            const char *name = function_info__name(info, function, n);
            if (!function_info__name_is_local(info, function, n))
                map__put(&module->exports, name, strcspn(name, "@"), i);
        }
    }
}

/* The first definition in the order of the modules, as the loader looks it up. */
static bool find_export(struct process_image *image, const char *name, struct image_node *node)
{
    VEC_EACH (module, &image->modules, struct process_module) {
        if (denylist__module(module->name.base) || !process_image__open(image, module))
            continue;
        if (!module->exports_ready)
            list_exports(module);
        uint64_t at = map__get(&module->exports, name, strcspn(name, "@"));
        if (at == MAP_ABSENT)
            continue;
        *node =
            (struct image_node){module, VEC_AT(&module->info->functions, struct info_function, at)};
        return true;
    }
    return false;
}

static bool find_tail(struct process_image *image, const struct image_node *from,
                      const struct info_tail *tail, struct image_node *to)
{
    struct function_info *info = from->module->info;
    if (tail->function == INFO_NO_FUNCTION)
        return tail->name && find_export(image, function_info__text(info, tail->name), to);
    *to = (struct image_node){from->module,
                              VEC_AT(&info->functions, struct info_function, tail->function)};
    return true;
}

/* ---- what one function does ------------------------------------------------------------------ */

static const struct frame_verdict *verdict_of(const struct image_node *node)
{
    function_info__judge(node->module->info, node->function);
    return &node->function->frame;
}

static bool fits_registers(const struct image_node *node)
{
    return function_info__fits_registers(node->module->info, node->function);
}

/* Whether the query comes to the node for the first time. */
static bool is_first_visit(const struct process_image *image, const struct image_node *node)
{
    const struct info_function *first = node->module->info->functions.items;
    uint32_t *query = &node->module->queries[node->function - first];
    bool is_first = *query != image->query;
    *query = image->query;
    return is_first;
}

/* ---- the proof ------------------------------------------------------------------------------- */

struct proof {
    struct process_image *image;
    struct image_node root;
    enum heurt_mechanism mechanism;
    struct vec reached; /* struct image_node: the root, and what it may end in a jump to */
};

static char *label_of(const struct image_node *node)
{
    const struct info_function *function = node->function;
    if (!function->name_count)
        return memory__format("code at 0x%llx of %s", (unsigned long long)function->start,
                              node->module->name.base);
    return symbol_name__demangle(function_info__name(node->module->info, function, 0));
}

static bool is_root(const struct proof *proof, const struct image_node *node)
{
    return node->function == proof->root.function;
}

static char *refusal_through(const struct proof *proof, const struct image_node *node,
                             const char *reason)
{
    if (is_root(proof, node))
        return memory__text(reason);
    char *label = label_of(node);
    char *text = memory__format("it may end in a jump to %s: %s", label, reason);
    free(label);
    return text;
}

static bool leads_to_entry(const struct proof *proof, const struct image_node *node,
                           const struct info_tail *tail)
{
    enum { ENDBR64_BYTES = 4 };
    const struct image_node *root = &proof->root;
    return node->module == root->module && tail->address &&
           (tail->address == root->function->start ||
            tail->address == root->function->start + ENDBR64_BYTES);
}

/* With nothing shifted, code that cannot be judged is like code that is not known: both may be
 * jumped to, except by a function that is to be patched itself. */
static bool is_harmless(const struct proof *proof, const struct image_node *node,
                        enum frame_fault fault)
{
    return !fault || (proof->mechanism == HEURT_MECHANISM_RETURN_SLOT && !is_root(proof, node) &&
                      fault != FRAME_LOOKS_UP && fault != FRAME_SWITCHES && fault != FRAME_FAR);
}

/* What a reached function does by itself. NULL or the reason. */
static const char *own_reason(const struct proof *proof, const struct image_node *node)
{
    const struct frame_verdict *verdict = verdict_of(node);
    if (node->function->ifunc)
        return denylist__is_c_library(node->module->name.base)
                   ? NULL /* the versions of such functions take nothing on the stack */
                   : "it is chosen at run time (IFUNC)";
    if (!is_harmless(proof, node, verdict->fault))
        return frame_fault__text(verdict->fault);
    if (verdict->loops && is_root(proof, node))
        return "its loop begins at its first instruction";
    if (proof->mechanism == HEURT_MECHANISM_FRAME)
        return verdict->takes_stack ? TAKES_STACK : NULL;
    return function_info__keeps_rbx(node->module->info, node->function)
               ? NULL
               : "it may take arguments on the stack, and does not keep the register "
                 "rbx as a function has to";
}

/* Whether next, which from may end in a jump to, needs to be looked at for the first time. */
static bool is_new(const struct proof *proof, const struct image_node *from,
                   const struct image_node *next)
{
    const struct frame_verdict *verdict = verdict_of(next);
    /* It can take arguments there (variable ones, say), but from has none to hand on. */
    if (proof->mechanism == HEURT_MECHANISM_FRAME && !verdict->fault && verdict->takes_stack &&
        fits_registers(from))
        return false;
    return is_first_visit(proof->image, next);
}

static char *follow_tail(struct proof *proof, const struct image_node *node,
                         const struct info_tail *tail)
{
    struct image_node next;
    if (leads_to_entry(proof, node, tail))
        return memory__text("a function that it ends in jumps to its beginning again");
    if (find_tail(proof->image, node, tail, &next)) {
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

static char *visit(struct proof *proof, const struct image_node *node)
{
    const char *reason = own_reason(proof, node);
    if (reason)
        return refusal_through(proof, node, reason);
    const struct info_function *function = node->function;
    char *text = NULL;
    for (size_t i = 0; !function->ifunc && i < function->tail_count && !text; i++) {
        struct info_tail tail =
            *VEC_AT(&node->module->info->tails, struct info_tail, function->first_tail + i);
        text = follow_tail(proof, node, &tail);
    }
    return text;
}

static char *prove(struct process_image *image, const struct image_node *root,
                   enum heurt_mechanism mechanism)
{
    struct proof proof = {image, *root, mechanism, VEC_OF(struct image_node)};
    char *reason = NULL;
    image->query++;
    is_first_visit(image, root);
    vec__push(&proof.reached, root);
    for (size_t i = 0; i < proof.reached.count && i < REACHED_MAX && !reason; i++) {
        struct image_node node = *VEC_AT(&proof.reached, struct image_node, i);
        reason = visit(&proof, &node);
    }
    if (!reason && proof.reached.count > REACHED_MAX)
        reason = memory__text("it is part of a net of too many functions that end in one another");
    vec__free(&proof.reached);
    return reason;
}

/* ---- who unwinds ----------------------------------------------------------------------------- */

static bool has_export(struct process_module *module, const char *name)
{
    if (!module->exports_ready)
        list_exports(module);
    return map__get(&module->exports, name, strlen(name)) != MAP_ABSENT;
}

/* Looked for where it is: in its own library, or linked into the program itself (the first one). */
static enum unwinder find_unwinder(struct process_image *image)
{
    VEC_EACH (module, &image->modules, struct process_module) {
        bool is_candidate =
            module == image->modules.items || strncmp(module->name.base, "libunwind", 9) == 0;
        if (!is_candidate || denylist__module(module->name.base) ||
            !process_image__open(image, module))
            continue;
        if (has_export(module, "_Unwind_RaiseException") &&
            (has_export(module, "unw_init_local") || has_export(module, "__unw_init_local")))
            return UNWINDER_LLVM;
    }
    return UNWINDER_GCC;
}

char *process_image__refusal(struct process_image *image, struct process_module *module,
                             struct info_function *function, enum heurt_mechanism *mechanism)
{
    struct image_node root = {module, function};
    *mechanism = HEURT_MECHANISM_FRAME;
    char *reason = prove(image, &root, HEURT_MECHANISM_FRAME);
    if (!reason)
        return NULL;
    free(reason);
    *mechanism = HEURT_MECHANISM_RETURN_SLOT;
    reason = prove(image, &root, HEURT_MECHANISM_RETURN_SLOT);
    if (reason)
        return reason;
    if (image->unwinder == UNWINDER_NOT_ASKED)
        image->unwinder = find_unwinder(image);
    return image->unwinder == UNWINDER_GCC
               ? NULL
               : memory__text("it may take arguments on the stack, and exceptions in this program "
                              "are thrown by LLVM's libunwind, which would not find its frame");
}
