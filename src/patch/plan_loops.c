#include "patch/plan_loops.h"

#include "base/memory.h"
#include "base/text.h"
#include "patch/function_info.h"
#include "patch/loops.h"
#include "symbol/name.h"
#include "symbol/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SHORT_LOOP = 24, /* instructions: at 4 of them a cycle an iteration takes 2 ns */
    FRAMES_MAX = 32,
    NAMED_BLOCKS = 64, /* of a loop whose places in the source are looked up */
};

struct loop_planner {
    const struct trace_module *module;
    struct function_info *info;
    const struct code_file *file;
    struct source *source; /* NULL: no DWARF */
    const struct vec *places;
    const char *path; /* what the places call the module */
    uint64_t least_ns;
    struct vec *planned;
};

/* ---- names ----------------------------------------------------------------------------------- */

struct frames {
    struct source_frame items[FRAMES_MAX];
    size_t count; /* the last one is not inlined */
};

static void find_frames(const struct loop_planner *planner, uint64_t address, struct frames *frames)
{
    frames->count = planner->source
                        ? source__frames(planner->source, address + planner->file->dwfl_bias,
                                         frames->items, FRAMES_MAX)
                        : 0;
}

/* How many frames, from the outermost inwards, are of the same functions. */
static size_t common_frames(const struct frames *one, const struct frames *other)
{
    size_t same = 0;
    while (same < one->count && same < other->count) {
        const char *left = one->items[one->count - 1 - same].name,
                   *right = other->items[other->count - 1 - same].name;
        if (!left || !right || strcmp(left, right) != 0)
            break;
        same++;
    }
    return same;
}

/* The function that holds all of the loop, perhaps an inlined one, and the first of its lines
 * there: where compilers put the head says less. frames: those of the head, cut to that function.
 */
static void find_source(const struct loop_planner *planner, const struct loops *loops,
                        uint32_t index, struct frames *frames)
{
    struct frames other;
    uint32_t looked = 0;
    uint64_t head = VEC_AT(&loops->items, struct loop, index)->address;
    find_frames(planner, head, frames);
    size_t common = frames->count;
    for (uint32_t i = 0; i < loops->flow.blocks.count && looked < NAMED_BLOCKS && common; i++) {
        uint32_t at = loops->innermost[i];
        while (at != LOOP_NONE && at != index)
            at = VEC_AT(&loops->items, struct loop, at)->parent;
        if (at != index)
            continue;
        looked++;
        find_frames(planner, VEC_AT(&loops->flow.blocks, struct flow_block, i)->start, &other);
        size_t same = common_frames(frames, &other);
        common = same && same < common ? same : common;
        if (same < common)
            continue;
        struct source_frame *mine = &frames->items[frames->count - common];
        const struct source_frame *its = &other.items[other.count - common];
        if (!its->file || !its->line)
            continue;
        if (!mine->file || !mine->line) { /* the head is of no line, as compilers have it */
            mine->file = its->file;
            mine->line = its->line;
        } else if (strcmp(its->file, mine->file) == 0 && its->line < mine->line)
            mine->line = its->line;
    }
    memmove(frames->items, frames->items + frames->count - common, common * sizeof *frames->items);
    frames->count = common;
}

static void name_loop(const struct loop_planner *planner, const struct loops *loops, uint32_t index,
                      const char *function, struct planned_loop *planned)
{
    struct frames frames;
    find_source(planner, loops, index, &frames);
    const struct source_frame *frame = frames.items;
    if (!frames.count || !frame->file || !frame->line) {
        planned->name = memory__format("%s (loop at +0x%llx)", function,
                                       (unsigned long long)(planned->address - planned->function));
        planned->file = memory__text("");
        return;
    }
    char *inner = frames.count > 1 ? symbol_name__demangle(frame->name) : NULL;
    planned->name = inner ? memory__format("%s (loop at %s:%u, inlined in %s)", inner,
                                           path__name(frame->file), frame->line, function)
                          : memory__format("%s (loop at %s:%u)", function, path__name(frame->file),
                                           frame->line);
    planned->file = memory__text(frame->file);
    planned->line = frame->line;
    free(inner);
}

/* ---- one function ---------------------------------------------------------------------------- */

static bool is_of_module(const struct loop_planner *planner, const struct hot_place *place)
{
    return planner->path && (place->path == planner->path || !strcmp(place->path, planner->path));
}

/* What was sampled in each loop and those inside of it. */
static uint64_t *weigh(const struct loop_planner *planner, const struct loops *loops)
{
    uint64_t *weights_ns = memory__zeroed(loops->items.count + 1, sizeof *weights_ns);
    VEC_EACH (place, planner->places, const struct hot_place) {
        if (!is_of_module(planner, place) || place->address < loops->flow.start ||
            place->address >= loops->flow.end)
            continue;
        uint32_t at = loops__at(loops, place->address);
        for (; at != LOOP_NONE; at = VEC_AT(&loops->items, struct loop, at)->parent)
            weights_ns[at] += place->weight_ns;
    }
    return weights_ns;
}

/* chosen: by loop, its place in planned + 1. */
static uint32_t parent_of(const struct loops *loops, uint32_t index, const uint32_t *chosen)
{
    uint32_t at = VEC_AT(&loops->items, struct loop, index)->parent;
    while (at != LOOP_NONE && !chosen[at])
        at = VEC_AT(&loops->items, struct loop, at)->parent;
    return at == LOOP_NONE ? PLANNED_NO_PARENT : chosen[at] - 1;
}

static bool is_worth_marking(const struct loop *loop, bool has_parent)
{
    bool is_short = !loop->has_inner && !loop->has_call && loop->instructions < SHORT_LOOP;
    return loop->fault == LOOP_MARKED && !(is_short && has_parent);
}

static void add_loops(const struct loop_planner *planner, const struct loops *loops,
                      const char *function)
{
    uint64_t *weights_ns = weigh(planner, loops);
    uint32_t *chosen = memory__zeroed(loops->items.count + 1, sizeof *chosen);
    for (uint32_t i = 0; i < loops->items.count; i++) {
        const struct loop *loop = VEC_AT(&loops->items, struct loop, i);
        uint32_t parent = parent_of(loops, i, chosen);
        if (weights_ns[i] < planner->least_ns || !weights_ns[i] ||
            !is_worth_marking(loop, parent != PLANNED_NO_PARENT))
            continue;
        struct planned_loop *planned = vec__push(planner->planned, NULL);
        *planned = (struct planned_loop){.plan = loop->plan,
                                         .function = loops->flow.start,
                                         .address = loop->address,
                                         .parent = parent,
                                         .saves_flags = loop->saves_flags,
                                         .weight_ns = weights_ns[i]};
        name_loop(planner, loops, i, function, planned);
        chosen[i] = (uint32_t)planner->planned->count;
    }
    free(chosen);
    free(weights_ns);
}

static void plan_function(const struct loop_planner *planner, const struct code_function *code)
{
    const struct code_function *first = planner->file->functions.items;
    struct info_function *function =
        VEC_AT(&planner->info->functions, struct info_function, code - first);
    struct heurt_plan entry = {0};
    bool has_entry = function_info__move(planner->info, function, &entry) == MOVE_DONE;
    if (!planner->info->map)
        planner->info->map = code_map__make(planner->file);
    struct loops loops;
    if (loops__find(&loops, planner->file, planner->info->map, code, has_entry ? &entry : NULL)) {
        const char *name = function_info__name(planner->info, function, 0);
        char *readable = symbol_name__is_place(name)
                             ? memory__format("[%s%s]", path__name(planner->module->path), name)
                             : symbol_name__demangle(name);
        add_loops(planner, &loops, readable);
        free(readable);
    }
    loops__free(&loops);
}

/* ---- the module ------------------------------------------------------------------------------ */

static int by_start(const void *left, const void *right)
{
    const struct code_function *a = *(const struct code_function *const *)left,
                               *b = *(const struct code_function *const *)right;
    return ORDER(a, b);
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat left, right;
    return strcmp(one, other) == 0 || (stat(one, &left) == 0 && stat(other, &right) == 0 &&
                                       left.st_dev == right.st_dev && left.st_ino == right.st_ino);
}

/* The loader may have found it by another name than the kernel tells. */
static const char *path_in_places(const struct vec *places, const char *path)
{
    const char *last = NULL;
    VEC_EACH (place, places, const struct hot_place) {
        if (place->path != last && is_same_file(place->path, path))
            return place->path;
        last = place->path;
    }
    return NULL;
}

/* The functions that hold places, each once. */
static struct vec hot_functions(const struct loop_planner *planner)
{
    struct vec functions = VEC_OF(const struct code_function *);
    VEC_EACH (place, planner->places, const struct hot_place) {
        const struct code_function *function =
            is_of_module(planner, place) ? code_file__function(planner->file, place->address)
                                         : NULL;
        if (function && function->end > function->start)
            vec__push(&functions, &function);
    }
    vec__sort(&functions, by_start);
    return functions;
}

static uint64_t weight_of(const struct loop_planner *planner, const struct code_function *function)
{
    uint64_t weight_ns = 0;
    VEC_EACH (place, planner->places, const struct hot_place)
        if (is_of_module(planner, place) && place->address >= function->start &&
            place->address < function->end)
            weight_ns += place->weight_ns;
    return weight_ns;
}

void plan_loops__make(const struct trace_module *module, const struct vec *places,
                      uint64_t least_ns, const char *cache, struct vec *loops)
{
    struct loop_planner planner = {
        .module = module, .places = places, .least_ns = least_ns, .planned = loops};
    struct error error;
    planner.path = path_in_places(places, module->path);
    if (!planner.path)
        return;
    if (function_info__open(module->path, module->build_id, module->build_id_bytes, cache,
                            &planner.info, &error) < 0)
        return;
    planner.file = function_info__file(planner.info);
    if (planner.file) {
        planner.source = source__open(planner.file->module);
        struct vec functions = hot_functions(&planner);
        const struct code_function *last = NULL;
        VEC_EACH (function, &functions, const struct code_function *) {
            if (*function != last && weight_of(&planner, *function) >= least_ns)
                plan_function(&planner, *function);
            last = *function;
        }
        vec__free(&functions);
        source__free(planner.source);
    }
    function_info__close(planner.info);
}

void plan_loops__free(struct vec *loops)
{
    VEC_EACH (loop, loops, struct planned_loop) {
        free(loop->name);
        free(loop->file);
    }
    vec__free(loops);
}
