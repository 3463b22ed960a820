#include "symbol/unwind.h"

#include "format/attach_layout.h"
#include "symbol/unwind_rule.h"

#include <string.h>

/* The walk from frame to frame. */
struct unwind_walk {
    struct space *space;
    struct stack_memory memory;
    uint64_t tick;
    struct frame_state state;
    bool is_exact; /* the state's rip is no return address */
    bool is_sure;  /* call frame information told the last step */
};

/* STACK events hold these, in this order. */
static const uint8_t recorded_registers[HEURT_STACK_REGISTERS] = {
    REGISTER_RIP, REGISTER_RSP,     REGISTER_RBP,     REGISTER_RBX,
    REGISTER_R12, REGISTER_R12 + 1, REGISTER_R12 + 2, REGISTER_R12 + 3,
};

static void set(struct frame_state *state, unsigned number, uint64_t value)
{
    state->registers[number] = value;
    state->known |= 1u << number;
}

static void start(struct unwind_walk *walk, struct space *space, const struct snapshot *snapshot)
{
    *walk = (struct unwind_walk){.space = space, .tick = snapshot->tick, .is_exact = true};
    for (unsigned i = 0; i < HEURT_STACK_REGISTERS; i++)
        set(&walk->state, recorded_registers[i], snapshot->registers[i]);
    walk->memory = snapshot->memory;
}

/* The address that is inside of the call instruction, or of the interrupted one. */
static uint64_t inside_of(const struct unwind_walk *walk)
{
    return walk->state.registers[REGISTER_RIP] - (walk->is_exact ? 0 : 1);
}

static bool value_of(const struct unwind_walk *walk, const struct unwind_rule *rule,
                     const struct register_rule *which, uint64_t *value)
{
    return which->kind == RULE_EXPRESSION &&
           expression__value(&rule->ops[which->first], which->count, &walk->state, &walk->memory,
                             which == &rule->frame_address, value);
}

static bool apply(struct unwind_walk *walk, const struct unwind_rule *rule)
{
    struct frame_state *callee = &walk->state, caller = {0};
    uint64_t value;
    if (!value_of(walk, rule, &rule->frame_address, &callee->frame_address))
        return false;
    set(&caller, REGISTER_RSP, callee->frame_address);
    for (unsigned i = 0; i < REGISTERS; i++) {
        const struct register_rule *which = &rule->registers[i];
        if (which->kind == RULE_SAME && callee->known & 1u << i)
            set(&caller, i, callee->registers[i]);
        if (value_of(walk, rule, which, &value))
            set(&caller, i, value);
    }
    if (!(caller.known & 1u << REGISTER_RIP) || rule->registers[REGISTER_RIP].kind == RULE_SAME)
        return false;
    walk->state = caller;
    walk->is_exact = rule->is_signal;
    return true;
}

/* Code without call frame information may keep a chain of frame pointers. It is believed only when
 * it stays on the stack and leads into a file's code. */
static bool apply_frame_pointer(struct unwind_walk *walk)
{
    struct frame_state caller = {0};
    uint64_t frame = walk->state.registers[REGISTER_RBP], return_address, saved;
    if (!(walk->state.known & 1u << REGISTER_RBP) || frame < walk->state.registers[REGISTER_RSP] ||
        !stack_memory__read(&walk->memory, frame, &saved) ||
        !stack_memory__read(&walk->memory, frame + 8, &return_address))
        return false;
    struct address_place place = space__find(walk->space, return_address - 1, walk->tick);
    if (!place.image || !image__is_code(place.image, place.address))
        return false;
    set(&caller, REGISTER_RBP, saved);
    set(&caller, REGISTER_RIP, return_address);
    set(&caller, REGISTER_RSP, frame + 16);
    walk->state = caller;
    walk->is_exact = false;
    return true;
}

/* To the caller; false at the end. The stack must shrink, so that a damaged one cannot loop. */
static bool step(struct unwind_walk *walk)
{
    uint64_t stack_pointer = walk->state.registers[REGISTER_RSP], inside = inside_of(walk);
    struct address_place place = space__find(walk->space, inside, walk->tick);
    const struct unwind_rule *rule =
        place.image ? unwind_table__rule(place.image, place.address) : NULL;
    walk->is_sure = rule && !rule->is_missing;
    bool moved = walk->is_sure ? apply(walk, rule) : apply_frame_pointer(walk);
    return moved && walk->state.registers[REGISTER_RIP] != 0 &&
           walk->state.registers[REGISTER_RSP] > stack_pointer;
}

static bool is_named(const struct trace_module *module, const char *name)
{
    size_t length = module ? strlen(module->path) : 0;
    return length >= strlen(name) && strcmp(module->path + length - strlen(name), name) == 0;
}

static bool is_runtime(const struct unwind_walk *walk)
{
    struct address_place place = space__find(walk->space, inside_of(walk), walk->tick);
    return is_named(place.module, "/libheurt.so") || is_named(place.module, "/" HEURT_ATTACH_FILE);
}

/* Frames inside the runtime count here too. */
enum { STEPS_MAX = 4 * UNWIND_FRAMES_MAX };

size_t unwind__frames(struct space *space, const struct snapshot *snapshot,
                      struct unwound_frame frames[UNWIND_FRAMES_MAX])
{
    struct unwind_walk walk;
    size_t count = 0, steps = 0;
    bool moved;
    start(&walk, space, snapshot);
    do {
        bool is_told = !is_runtime(&walk);
        if (is_told)
            frames[count++] = (struct unwound_frame){walk.state.registers[REGISTER_RIP],
                                                     walk.is_exact, walk.state};
        moved = step(&walk);
        if (is_told && moved && walk.is_sure)
            frames[count - 1].state.frame_address = walk.state.registers[REGISTER_RSP];
    } while (count < UNWIND_FRAMES_MAX && ++steps < STEPS_MAX && moved);
    return count;
}
