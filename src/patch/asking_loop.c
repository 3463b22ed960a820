#include "base/memory.h"
#include "patch/access_internal.h"
#include "patch/linkage.h"
#include "patch/spin_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPIN_BYTES 64 /* longer loops do something */

static uint64_t bytes_of(const struct code_region *region)
{
    return region->end - region->start;
}

/* The shortest one there that is longer than inside; NULL: the innermost one. */
static const struct code_region *next_loop_at(const struct stepped *stepped, uint64_t offset,
                                              const struct code_region *inside)
{
    const struct code_region *found = NULL;
    VEC_EACH (back, &stepped->backs, const struct code_region)
        if (offset >= back->start && offset <= back->end &&
            (!inside || bytes_of(back) > bytes_of(inside)) &&
            (!found || bytes_of(back) < bytes_of(found)))
            found = back;
    return found;
}

/* Whether the loop right around an instruction that reads asks for that place and conditions. */
bool asking_loop__is_spun(const struct code_accesses *self, const struct stepped *stepped,
                          const struct instruction *reader, const ZydisDecodedOperand *operand)
{
    const struct code_region *loop = next_loop_at(stepped, reader->address, NULL);
    struct instruction instruction;
    struct spin_registers registers = {0};
    if (!loop || loop->end - loop->start > SPIN_BYTES)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t at = loop->start; at <= loop->end; at = instruction.end) {
            if (!code_accesses__decode(self, at, &instruction) ||
                !instruction__operands(&instruction, &self->decoder))
                return false;
            const ZydisDecodedOperand *memory = instruction__memory(&instruction);
            if (!instruction__may_spin(&instruction, memory) ||
                instruction__changes(&instruction, operand->mem.base) ||
                instruction__changes(&instruction, operand->mem.index) ||
                (memory && !instruction__is_same_place(reader, operand, &instruction, memory) &&
                 !instruction__is_condition(&instruction, memory)) ||
                (pass && spin_registers__count(&registers, &instruction, memory)))
                return false;
            spin_registers__add(&registers, &instruction, memory);
        }
    }
    return spin_registers__wait(&registers);
}

/* What the loop around a place in the code asks for: who is at a condition, a pause or the way back
 * waits for that. False: it asks for nothing, or does something else. */
static bool find_asked(const struct code_accesses *self, const struct stepped *stepped,
                       uint64_t offset, struct instruction *asked)
{
    const struct code_region *loop = next_loop_at(stepped, offset, NULL);
    bool is_short = loop && bytes_of(loop) <= SPIN_BYTES;
    for (uint64_t at = is_short ? loop->start : 1; is_short && at <= loop->end; at = asked->end) {
        if (!code_accesses__decode(self, at, asked) ||
            !instruction__operands(asked, &self->decoder))
            return false;
        const ZydisDecodedOperand *memory = instruction__memory(asked);
        if (memory && !instruction__is_condition(asked, memory))
            return asking_loop__is_spun(self, stepped, asked, memory);
    }
    return false;
}

/* At a place in a loop that only asks, as find_asked tells. */
bool asking_loop__take(const struct code_accesses *self, const struct stepped *stepped,
                       uint64_t offset, const struct straight_code *state, struct access *access)
{
    struct instruction asked;
    if (!find_asked(self, stepped, offset, &asked))
        return false;
    const ZydisDecodedOperand *operand = instruction__memory(&asked);
    access->kind = instruction__access(&asked, operand) == ACCESS_READ ? ACCESS_SPIN : ACCESS_TAKE;
    access->file_offset = asked.address;
    access->bytes = operand->size / 8;
    access->address =
        instruction__data_address(&asked, operand, false, state->registers, state->loaded_at);
    return true;
}

/* ---- sleeps in loops that ask ---------------------------------------------------------------- */

static bool is_of_stack(const ZydisDecodedOperand *memory)
{
    int base = register__number(memory->mem.base);
    return base == 4 || base == 5; /* rsp, rbp */
}

/* cmp $EINTR, (%rax) behind a call: that was __errno_location. */
static bool is_asked_of_errno(const struct code_accesses *self, uint64_t offset)
{
    struct instruction instruction;
    return code_accesses__decode(self, offset, &instruction) &&
           instruction__operands(&instruction, &self->decoder) &&
           instruction.zydis.mnemonic == ZYDIS_MNEMONIC_CMP &&
           instruction.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           register__number(instruction.operands[0].mem.base) == 0 &&
           instruction.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
           instruction.operands[1].imm.value.u == EINTR;
}

/* Calls that let who asks look at what others change. */
enum lock_look { LOOK_NONE, LOOK_TAKES, LOOK_GIVES_BACK, LOOK_AT_CLOCK };

static enum lock_look look_of(struct code_accesses *self, uint64_t target)
{
    static const struct {
        const char *name;
        enum lock_look look;
    } looks[] = {{"pthread_mutex_lock", LOOK_TAKES},
                 {"pthread_mutex_trylock", LOOK_TAKES},
                 {"pthread_rwlock_rdlock", LOOK_TAKES},
                 {"pthread_spin_lock", LOOK_TAKES},
                 {"pthread_mutex_unlock", LOOK_GIVES_BACK},
                 {"pthread_rwlock_unlock", LOOK_GIVES_BACK},
                 {"pthread_spin_unlock", LOOK_GIVES_BACK},
                 {"clock_gettime", LOOK_AT_CLOCK},
                 {"_ZNSt6chrono3_V212steady_clock3nowEv", LOOK_AT_CLOCK}};
    struct error error;
    uint64_t address;
    if (!self->file && !self->is_no_file &&
        code_file__open(self->path, NULL, 0, &self->file, &error) < 0)
        self->is_no_file = true;
    const char *name = self->file && module_functions__address(self->functions, target, &address)
                           ? linkage__name(self->file, address)
                           : NULL;
    for (size_t i = 0; name && i < sizeof looks / sizeof *looks; i++)
        if (strcmp(name, looks[i].name) == 0)
            return looks[i].look;
    return LOOK_NONE;
}

/* The instructions from a loop's first to its branch back. What leaves the loop, or what nobody
 * comes to, may stand in between: it is not on the way from the one to the other. */
struct body {
    struct vec instructions;       /* struct instruction, by address */
    bool *is_reached, *leads_back; /* by instruction */
};

static void body__free(struct body *body)
{
    vec__free(&body->instructions);
    free(body->is_reached);
    free(body->leads_back);
}

static const struct instruction *body_at(const struct body *body, size_t i)
{
    return VEC_AT(&body->instructions, struct instruction, i);
}

/* Where a branch leads within the body; SIZE_MAX: out of it, or it is none. */
static size_t target_of(const struct body *body, size_t i)
{
    const struct instruction *instruction = body_at(body, i);
    size_t count = body->instructions.count;
    if (!branch__is_direct(instruction->branch))
        return SIZE_MAX;
    size_t target = FIRST_WHERE(k, count, body_at(body, k)->address >= instruction->target);
    return target < count && body_at(body, target)->address == instruction->target ? target
                                                                                   : SIZE_MAX;
}

static bool mark(bool *marks, size_t i)
{
    bool is_new = !marks[i];
    marks[i] = true;
    return is_new;
}

/* Goes on from what is reached, and back from what leads back, by one instruction. */
static bool spread(struct body *body, size_t i)
{
    bool changed = false;
    size_t target = target_of(body, i), count = body->instructions.count;
    size_t next = instruction__ends_flow(body_at(body, i)) || i + 1 == count ? SIZE_MAX : i + 1;
    for (int k = 0; k < 2; k++) {
        size_t to = k ? next : target;
        if (to == SIZE_MAX)
            continue;
        if (body->is_reached[i])
            changed |= mark(body->is_reached, to);
        if (body->leads_back[to])
            changed |= mark(body->leads_back, i);
    }
    return changed;
}

/* False: its code is not understood. Always body__free it. */
static bool body__read(struct body *body, const struct code_accesses *self,
                       const struct code_region *loop)
{
    struct instruction instruction;
    *body = (struct body){VEC_OF(struct instruction), NULL, NULL};
    for (uint64_t at = loop->start; at <= loop->end; at = instruction.end) {
        if (!code_accesses__decode(self, at, &instruction) ||
            !instruction__operands(&instruction, &self->decoder))
            return false;
        vec__push(&body->instructions, &instruction);
    }
    size_t count = body->instructions.count;
    body->is_reached = memory__zeroed(count, sizeof *body->is_reached);
    body->leads_back = memory__zeroed(count, sizeof *body->leads_back);
    body->is_reached[0] = body->leads_back[count - 1] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++)
            changed |= spread(body, i);
        for (size_t i = count; i-- > 0;)
            changed |= spread(body, i);
    }
    return true;
}

/* Computes: what nobody does who only looks. */
static bool is_work(const struct instruction *instruction)
{
    return !instruction__memory(instruction) && !instruction__may_spin(instruction, NULL);
}

static bool is_call(const struct instruction *instruction)
{
    return instruction->branch == BRANCH_CALL || instruction->branch == BRANCH_CALL_INDIRECT;
}

/* A loop within it, from there to a branch back, that calls nothing and reads nothing that others
 * could change, but computes. One that only counts, or pauses, waits. */
static bool is_work_in_loop(const struct body *body, size_t from, size_t to)
{
    bool works = false;
    for (size_t i = from; i <= to; i++) {
        const ZydisDecodedOperand *memory = instruction__memory(body_at(body, i));
        if (is_call(body_at(body, i)) || (memory && !is_of_stack(memory)))
            return false;
        works |= is_work(body_at(body, i));
    }
    return works;
}

static bool works_in_loop(const struct body *body)
{
    for (size_t i = 0; i + 1 < body->instructions.count; i++) {
        size_t target = target_of(body, i);
        if (body->is_reached[i] && body->leads_back[i] && target <= i &&
            is_work_in_loop(body, target, i))
            return true;
    }
    return false;
}

enum loop_body { BODY_WORKS, BODY_SLEEPS, BODY_ASKS };

static enum loop_body judge(struct code_accesses *self, const struct body *body,
                            uint64_t returns_to)
{
    enum loop_body judged = BODY_SLEEPS;
    enum lock_look first = LOOK_NONE, after_sleep = LOOK_NONE, look;
    bool has_slept = false;
    uint64_t of_errno = 0;
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct instruction *instruction = body_at(body, i);
        const ZydisDecodedOperand *memory = instruction__memory(instruction);
        bool calls = is_call(instruction);
        if (!body->is_reached[i] || !body->leads_back[i])
            continue;
        if (calls && is_asked_of_errno(self, instruction->end))
            of_errno = instruction->end;
        else if (calls && instruction->end == returns_to)
            has_slept = true;
        else if (calls) {
            look =
                instruction->branch == BRANCH_CALL ? look_of(self, instruction->target) : LOOK_NONE;
            if (look == LOOK_NONE)
                return BODY_WORKS;
            if (look != LOOK_AT_CLOCK && has_slept)
                after_sleep = after_sleep ?: look;
            else if (look != LOOK_AT_CLOCK)
                first = first ?: look;
        }
        if (calls || !memory || is_of_stack(memory) || instruction->address == of_errno)
            continue;
        if (instruction__access(instruction, memory) != ACCESS_READ)
            return BODY_WORKS;
        judged = BODY_ASKS;
    }
    /* Who has the lock while it sleeps lets nobody change what it could look at. */
    if ((after_sleep ?: first) == LOOK_GIVES_BACK)
        return BODY_WORKS;
    return judged == BODY_ASKS && works_in_loop(body) ? BODY_WORKS : judged;
}

static enum loop_body body_of(struct code_accesses *self, const struct code_region *loop,
                              uint64_t returns_to)
{
    struct body body;
    enum loop_body judged =
        body__read(&body, self, loop) ? judge(self, &body, returns_to) : BODY_WORKS;
    body__free(&body);
    return judged;
}

/* From the innermost loop outwards: one that only sleeps again when it was interrupted is part of
 * the sleep. */
bool code_accesses__call_asks(struct code_accesses *self, uint64_t file_offset)
{
    enum loop_body body = BODY_SLEEPS;
    const struct stepped *function =
        self->bytes ? code_accesses__function(self, file_offset) : NULL;
    const struct code_region *loop = NULL;
    while (function && body == BODY_SLEEPS &&
           (loop = next_loop_at(function, file_offset, loop)) != NULL)
        body = body_of(self, loop, file_offset);
    return body == BODY_ASKS;
}
