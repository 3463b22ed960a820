#include "symbol/world.h"

#include "base/memory.h"
#include "symbol/decode.h"
#include "symbol/name.h"
#include "symbol/never.h"
#include "symbol/parameters.h"
#include "symbol/preserved.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* More functions than this in one net of jumps are not followed. */
enum { REACHED_MAX = 512 };

enum answer { NOT_ASKED, YES, NO };

struct world_verdict {
    bool checked;
    uint8_t fits;      /* enum answer: its parameters are certain to fit into registers */
    uint8_t keeps_rbx; /* enum answer */
    uint32_t query;    /* the last one that came here */
    uint32_t tail_count;
    size_t first_tail;
    struct frame_verdict frame;
};

struct node {
    struct world_module *module;
    const struct code_function *function;
};

static const char TAKES_STACK[] = "it takes arguments on the stack";

/* ---- modules ------------------------------------------------------------------------------- */

void world__start(struct world *world, const struct trace_module *modules, size_t count)
{
    *world = (struct world){.modules = VEC_OF(struct world_module)};
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(modules[i].path, '/');
        vec__push(&world->modules,
                  &(struct world_module){
                      .module = &modules[i],
                      .name = {modules[i].path, slash ? slash + 1 : modules[i].path},
                      .tails = VEC_OF(struct frame_tail),
                  });
    }
}

void world__free(struct world *world)
{
    VEC_EACH(module, &world->modules, struct world_module)
    {
        frame_checker__free(module->checker);
        code_map__free(module->map);
        code_file__close(module->file);
        map__free(&module->exports);
        vec__free(&module->tails);
        free(module->verdicts);
    }
    vec__free(&world->modules);
}

struct code_file *world_module__open(struct world_module *module)
{
    if (module->tried)
        return module->file;
    module->tried = true;
    const struct trace_module *mapped = module->module;
    module->status = code_file__open(mapped->path, mapped->build_id, mapped->build_id_bytes,
                                     &module->file, &module->error);
    if (module->status < 0)
        return NULL;
    module->checker = frame_checker__new(module->file);
    module->verdicts = memory__zeroed(module->file->functions.count, sizeof *module->verdicts);
    return module->file;
}

const struct code_map *world_module__map(struct world_module *module)
{
    if (!module->map)
        module->map = code_map__make(module->file);
    return module->map;
}

static void list_exports(struct world_module *module)
{
    module->exports_ready = true;
    for (size_t i = 0; i < module->file->functions.count; i++) {
        const struct code_function *function =
            VEC_AT(&module->file->functions, struct code_function, i);
        for (size_t n = 0; n < function->name_count; n++) {
            const struct code_name *name = code_function__name(module->file, function, n);
            if (name->binding != STB_LOCAL)
                map__put(&module->exports, name->text, strcspn(name->text, "@"), i);
        }
    }
}

/* The first definition in the order of the modules, as the loader looks it up. */
static bool find_export(struct world *world, const char *name, struct node *node)
{
    VEC_EACH(module, &world->modules, struct world_module)
    {
        if (never__module(module->name.base) || !world_module__open(module))
            continue;
        if (!module->exports_ready)
            list_exports(module);
        uint64_t at = map__get(&module->exports, name, strcspn(name, "@"));
        if (at == MAP_ABSENT)
            continue;
        *node = (struct node){module, VEC_AT(&module->file->functions, struct code_function, at)};
        return true;
    }
    return false;
}

/* ---- where a tail leads -------------------------------------------------------------------- */

/* The symbol that the linkage stub (.plt) at address jumps to, or NULL. */
static const char *linked_name(const struct code_file *file, uint64_t address)
{
    enum { STUB_INSTRUCTIONS = 4 };
    ZydisDecoder decoder;
    struct instruction instruction;
    decoder__start(&decoder);
    for (int i = 0; i < STUB_INSTRUCTIONS; i++, address = instruction.end) {
        size_t size;
        const uint8_t *bytes = code_file__bytes(file, address, &size);
        if (!bytes || !instruction__decode(&instruction, &decoder, bytes, size, address))
            return NULL;
        if (instruction.branch == BRANCH_JUMP_INDIRECT)
            return code_file__slot(file, instruction__rip_address(&instruction));
    }
    return NULL;
}

static bool find_tail(struct world *world, const struct node *from, const struct frame_tail *tail,
                      struct node *to)
{
    const char *name = tail->name;
    if (tail->address) {
        const struct code_section *section = code_file__section(from->module->file, tail->address);
        if (section && section->linkage)
            name = linked_name(from->module->file, tail->address);
        else {
            *to =
                (struct node){from->module, code_file__function(from->module->file, tail->address)};
            return to->function != NULL;
        }
    }
    return name && find_export(world, name, to);
}

/* ---- what one function does ------------------------------------------------------------------ */

static struct world_verdict *verdict_of(const struct node *node)
{
    const struct code_function *first = node->module->file->functions.items;
    struct world_verdict *verdict = &node->module->verdicts[node->function - first];
    if (verdict->checked)
        return verdict;
    verdict->checked = true;
    verdict->first_tail = node->module->tails.count;
    verdict->frame =
        frame_checker__check(node->module->checker, node->function, &node->module->tails);
    verdict->tail_count = (uint32_t)(node->module->tails.count - verdict->first_tail);
    return verdict;
}

const struct frame_verdict *world__verdict(struct world_module *module,
                                           const struct code_function *function)
{
    return &verdict_of(&(struct node){module, function})->frame;
}

static bool fits_registers(const struct node *node)
{
    struct world_verdict *verdict = verdict_of(node);
    if (verdict->fits == NOT_ASKED)
        verdict->fits = parameters__fit_registers(node->module->file, node->function) ? YES : NO;
    return verdict->fits == YES;
}

static bool keeps_rbx(const struct node *node)
{
    struct world_verdict *verdict = verdict_of(node);
    if (verdict->keeps_rbx == NOT_ASKED)
        verdict->keeps_rbx = preserved__rbx(node->module->file, node->function) ? YES : NO;
    return verdict->keeps_rbx == YES;
}

/* ---- the proof ----------------------------------------------------------------------------- */

struct proof {
    struct world *world;
    struct node root;
    enum heurt_mechanism mechanism;
    struct vec reached; /* struct node: the root, and what it may end in a jump to */
};

static char *label_of(const struct node *node)
{
    if (!node->function->name_count)
        return memory__format("code at 0x%llx of %s", (unsigned long long)node->function->start,
                              node->module->name.base);
    return symbol_name__demangle(code_function__name(node->module->file, node->function, 0)->text);
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
                           const struct frame_tail *tail)
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
    return !fault || (proof->mechanism == HEURT_MECHANISM_POPPED && !is_root(proof, node) &&
                      fault != FRAME_LOOKS_UP && fault != FRAME_SWITCHES && fault != FRAME_FAR);
}

/* What a reached function does by itself. NULL or the reason. */
static const char *own_reason(const struct proof *proof, const struct node *node)
{
    const struct frame_verdict *verdict = &verdict_of(node)->frame;
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
    return keeps_rbx(node) ? NULL
                           : "it may take arguments on the stack, and does not keep the register "
                             "rbx as a function has to";
}

/* Whether next, which from may end in a jump to, needs to be looked at for the first time. */
static bool is_new(const struct proof *proof, const struct node *from, const struct node *next)
{
    struct world_verdict *verdict = verdict_of(next);
    if (verdict->query == proof->world->query)
        return false;
    /* It can take arguments there (variable ones, say), but from has none to hand on. */
    if (proof->mechanism == HEURT_MECHANISM_FRAME && !verdict->frame.fault &&
        verdict->frame.takes_stack && fits_registers(from))
        return false;
    verdict->query = proof->world->query;
    return true;
}

static char *follow_tail(struct proof *proof, const struct node *node,
                         const struct frame_tail *tail)
{
    struct node next;
    if (leads_to_entry(proof, node, tail))
        return memory__text("a function that it ends in jumps to its beginning again");
    if (find_tail(proof->world, node, tail, &next)) {
        if (is_new(proof, node, &next))
            vec__push(&proof->reached, &next);
        return NULL;
    }
    if (proof->mechanism == HEURT_MECHANISM_POPPED || fits_registers(node))
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
    struct world_verdict *verdict = verdict_of(node);
    char *text = NULL;
    for (size_t i = 0; !node->function->ifunc && i < verdict->tail_count && !text; i++) {
        struct frame_tail tail =
            *VEC_AT(&node->module->tails, struct frame_tail, verdict->first_tail + i);
        text = follow_tail(proof, node, &tail);
    }
    return text;
}

static char *prove(struct world *world, const struct node *root, enum heurt_mechanism mechanism)
{
    struct proof proof = {world, *root, mechanism, VEC_OF(struct node)};
    char *reason = NULL;
    verdict_of(root)->query = ++world->query;
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

/* ---- who unwinds ------------------------------------------------------------------------------
 */

static bool has_export(struct world_module *module, const char *name)
{
    if (!module->exports_ready)
        list_exports(module);
    return map__get(&module->exports, name, strlen(name)) != MAP_ABSENT;
}

/* Looked for where it is: in its own library, or linked into the program itself (the first one). */
static enum unwinder find_unwinder(struct world *world)
{
    VEC_EACH(module, &world->modules, struct world_module)
    {
        bool is_candidate =
            module == world->modules.items || strncmp(module->name.base, "libunwind", 9) == 0;
        if (!is_candidate || never__module(module->name.base) || !world_module__open(module))
            continue;
        if (has_export(module, "_Unwind_RaiseException") && has_export(module, "__unw_init_local"))
            return UNWINDER_LLVM;
    }
    return UNWINDER_GCC;
}

char *world__refusal(struct world *world, struct world_module *module,
                     const struct code_function *function, enum heurt_mechanism *mechanism)
{
    struct node root = {module, function};
    *mechanism = HEURT_MECHANISM_FRAME;
    char *reason = prove(world, &root, HEURT_MECHANISM_FRAME);
    if (!reason)
        return NULL;
    free(reason);
    *mechanism = HEURT_MECHANISM_POPPED;
    reason = prove(world, &root, HEURT_MECHANISM_POPPED);
    if (reason)
        return reason;
    if (world->unwinder == UNWINDER_NOT_ASKED)
        world->unwinder = find_unwinder(world);
    return world->unwinder == UNWINDER_GCC
               ? NULL
               : memory__text("it may take arguments on the stack, and exceptions in this program "
                              "are thrown by LLVM's libunwind, which would not find its frame");
}
