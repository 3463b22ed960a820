#include "patch/loop_bound.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    WIDTH = 4,               /* instructions that are begun in a cycle */
    LOAD = 4,                /* cycles */
    INSTRUCTIONS_MOST = 512, /* in an iteration: more are not run */
    CALLS_MOST = 4,          /* within each other */
    ROUNDS_BEFORE = 6,
    ROUNDS = 6,
    FLAGS = 16, /* names of what is ready when: 0 to 15 general registers, then these */
    VECTORS = 17,
    NAMES = VECTORS + 32
};

/* ---- this machine ---------------------------------------------------------------------------- */

#define MEASURED_ROUNDS 1000
#define TRIES 12

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void add_in_registers(uint64_t *memory)
{
    uint64_t rounds = MEASURED_ROUNDS, sum = *memory;
    __asm__ volatile("1: add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
                     "add $1, %0\n add $1, %0\n add $1, %0\n dec %1\n jnz 1b"
                     : "+r"(sum), "+r"(rounds)
                     :
                     : "cc");
}

static void add_in_memory(uint64_t *memory)
{
    uint64_t rounds = MEASURED_ROUNDS, sum = 0;
    __asm__ volatile("1: mov (%2), %0\n add $1, %0\n mov %0, (%2)\n dec %1\n jnz 1b"
                     : "+r"(sum), "+r"(rounds)
                     : "r"(memory)
                     : "cc", "memory");
}

static void add_locked(uint64_t *memory)
{
    uint64_t rounds = MEASURED_ROUNDS;
    __asm__ volatile("1: lock addq $1, (%1)\n dec %0\n jnz 1b"
                     : "+r"(rounds)
                     : "r"(memory)
                     : "cc", "memory");
}

/* Of one round; the fastest of some tries: others only make it longer. */
static double measured(void (*run)(uint64_t *))
{
    _Alignas(128) uint64_t memory[16] = {0};
    double best = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        double begin = now_ns();
        run(memory);
        best = fmin(best, now_ns() - begin);
    }
    return best / MEASURED_ROUNDS;
}

struct instruction_times instruction_times__measure(void)
{
    struct instruction_times times = {.cycle = measured(add_in_registers) / 8};
    times.update = fmax(measured(add_in_memory) - times.cycle, 0);
    times.atomic = measured(add_locked);
    return times;
}

/* ---- a run on paper -------------------------------------------------------------------------- */

/* What was written to memory, and when it is there for who reads it again. */
struct paper_slot {
    ZydisRegister base, index;
    uint8_t scale;
    int64_t displacement; /* of one by rip: where in the file */
    double ready;
    bool is_written;
};

/* Times are in cycles. */
struct paper_run {
    const struct counted_code *code;
    double update, atomic;
    double ready[NAMES];
    double last_atomic, last; /* when the last one of all is done */
    struct vec slots;         /* struct paper_slot */
    uint64_t begun;           /* instructions */
    bool is_unknown;
};

static int name_of(ZydisRegister name)
{
    int number = register__number(name);
    if (number >= 0)
        return number;
    if (ZydisRegisterGetClass(name) == ZYDIS_REGCLASS_FLAGS)
        return FLAGS;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31
               ? VECTORS + (int)(whole - ZYDIS_REGISTER_ZMM0)
               : -1;
}

static bool is_of(ZydisMnemonic mnemonic, const ZydisMnemonic *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (set[i] == mnemonic)
            return true;
    return false;
}
#define IS_OF(mnemonic, ...)                              \
    is_of(mnemonic, (const ZydisMnemonic[]){__VA_ARGS__}, \
          sizeof((const ZydisMnemonic[]){__VA_ARGS__}) / sizeof(ZydisMnemonic))
#define M(name) ZYDIS_MNEMONIC_##name

static double cycles_of(const struct instruction *instruction, bool has_memory)
{
    ZydisMnemonic mnemonic = instruction->zydis.mnemonic;
    if (IS_OF(mnemonic, M(MOV), M(MOVAPS), M(MOVAPD), M(MOVUPS), M(MOVUPD), M(MOVDQA), M(MOVDQU),
              M(VMOVAPS), M(VMOVAPD), M(VMOVDQA), M(VMOVUPS), M(VMOVUPD), M(VMOVDQU), M(MOVSD),
              M(MOVSS), M(VMOVSD), M(VMOVSS), M(MOVZX), M(MOVSX), M(MOVSXD)))
        return has_memory ? 0 : mnemonic >= M(MOVSX) && mnemonic <= M(MOVZX) ? 1 : 0;
    if (IS_OF(mnemonic, M(IMUL), M(MUL), M(MULX), M(POPCNT), M(LZCNT), M(TZCNT), M(BSF), M(BSR),
              M(PDEP), M(PEXT)))
        return 3;
    if (IS_OF(mnemonic, M(DIV), M(IDIV)))
        return instruction->zydis.operand_width == 64 ? 14 : 10;
    if (IS_OF(mnemonic, M(DIVSD), M(VDIVSD), M(DIVPD), M(VDIVPD)))
        return 13;
    if (IS_OF(mnemonic, M(DIVSS), M(VDIVSS), M(DIVPS), M(VDIVPS)))
        return 10;
    if (IS_OF(mnemonic, M(SQRTSD), M(VSQRTSD), M(SQRTPD), M(VSQRTPD), M(SQRTSS), M(VSQRTSS)))
        return 18;
    if (IS_OF(mnemonic, M(ADDSD), M(SUBSD), M(MULSD), M(ADDSS), M(SUBSS), M(MULSS), M(ADDPD),
              M(SUBPD), M(MULPD), M(ADDPS), M(SUBPS), M(MULPS), M(VADDSD), M(VSUBSD), M(VMULSD),
              M(VADDSS), M(VSUBSS), M(VMULSS), M(VADDPD), M(VSUBPD), M(VMULPD), M(VADDPS),
              M(VSUBPS), M(VMULPS), M(PMULLD), M(PMULUDQ)))
        return 3;
    if (strncmp(ZydisMnemonicGetString(mnemonic), "vfm", 3) == 0 ||
        strncmp(ZydisMnemonicGetString(mnemonic), "cvt", 3) == 0)
        return 4;
    return 1;
}

/* Sets its target to zero, whatever that was. */
static bool is_zeroing(const struct instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    return IS_OF(instruction->zydis.mnemonic, M(XOR), M(SUB), M(PXOR), M(XORPS), M(XORPD)) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value;
}

static struct paper_slot *slot_of(struct paper_run *run, const struct instruction *instruction,
                                  const ZydisDecodedOperand *operand)
{
    bool is_here = operand->mem.base == ZYDIS_REGISTER_RIP;
    struct paper_slot wanted = {operand->mem.base,
                                operand->mem.index,
                                operand->mem.scale,
                                (operand->mem.disp.has_displacement ? operand->mem.disp.value : 0) +
                                    (is_here ? (int64_t)instruction->end : 0),
                                0,
                                false};
    VEC_EACH (slot, &run->slots, struct paper_slot)
        if (slot->base == wanted.base && slot->index == wanted.index &&
            slot->scale == wanted.scale && slot->displacement == wanted.displacement)
            return slot;
    return vec__push(&run->slots, &wanted);
}

/* When what the register names lies elsewhere, what was written is not what is read there. */
static void forget_slots(struct paper_run *run, ZydisRegister changed)
{
    int number = register__number(changed);
    VEC_EACH (slot, &run->slots, struct paper_slot)
        if (number >= 0 && number != 4 &&
            (register__number(slot->base) == number || register__number(slot->index) == number))
            slot->is_written = false;
}

static double ready_at(const struct paper_run *run, ZydisRegister name)
{
    int number = name_of(name);
    return number < 0 ? 0 : run->ready[number];
}

static const ZydisDecodedOperand *data_of(const struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->zydis.operand_count_visible; i++)
        if (instruction->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            instruction->operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
            instruction->operands[i].actions)
            return &instruction->operands[i];
    return NULL;
}

/* When what it reads of registers is there: those of an address in *address. */
static double sources(const struct paper_run *run, const struct instruction *instruction,
                      double *address)
{
    double ready = 0;
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            *address = fmax(*address, fmax(ready_at(run, operand->mem.base),
                                           ready_at(run, operand->mem.index)));
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !data_of(instruction))
            ready = fmax(ready, *address); /* lea */
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
            register__number(operand->reg.value) != 4)
            ready = fmax(ready, ready_at(run, operand->reg.value));
    }
    return ready;
}

static void set_targets(struct paper_run *run, const struct instruction *instruction, double ready)
{
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        int number = name_of(operand->reg.value);
        if (number >= 0 && number != 4)
            run->ready[number] = ready;
        forget_slots(run, operand->reg.value);
    }
}

/* An instruction goes by. */
static void pass(struct paper_run *run, const struct instruction *instruction)
{
    double begun = (double)run->begun++ / WIDTH, address = begun;
    double ready = fmax(begun, sources(run, instruction, &address));
    const ZydisDecodedOperand *data = data_of(instruction);
    struct paper_slot *slot = data ? slot_of(run, instruction, data) : NULL;
    bool reads = data && data->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool writes = data && data->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (is_zeroing(instruction))
        ready = begun;
    if (reads)
        ready =
            fmax(ready, slot->is_written ? fmax(slot->ready + run->update, begun) : address + LOAD);
    ready += cycles_of(instruction, reads);
    if (data && instruction__locks_memory(instruction))
        ready = run->last_atomic = fmax(begun, run->last_atomic) + run->atomic;
    if (writes) {
        slot->ready = fmax(ready, address);
        slot->is_written = true;
    }
    run->last = fmax(run->last, ready);
    set_targets(run, instruction, ready);
}

/* From at up to the branch at end or, in a call, to where it returns. */
static void pass_all(struct paper_run *run, uint64_t at, uint64_t end, unsigned calls)
{
    const struct counted_code *code = run->code;
    struct instruction instruction;
    uint64_t most = run->begun + INSTRUCTIONS_MOST;
    while (!run->is_unknown) {
        if (run->begun > most || at >= code->size ||
            !instruction__decode(&instruction, code->decoder, code->bytes + at, code->size - at,
                                 at) ||
            !instruction__operands(&instruction, code->decoder))
            break;
        bool is_jump = instruction.branch == BRANCH_JUMP;
        if (instruction.branch == BRANCH_CALL && calls < CALLS_MOST) {
            run->begun++;
            pass_all(run, instruction.target, UINT64_MAX, calls + 1);
        } else if (instruction.branch == BRANCH_RETURN && calls) {
            run->begun++;
            return;
        } else if (instruction.branch != BRANCH_NONE && !branch__is_direct(instruction.branch)) {
            break;
        } else {
            pass(run, &instruction);
        }
        if (at == end)
            return;
        at = is_jump && instruction.target > at && instruction.target <= end ? instruction.target
                                                                             : instruction.end;
    }
    run->is_unknown = true;
}

double counted_code__least_ns(const struct counted_code *code,
                              const struct instruction_times *times)
{
    struct paper_run run = {.code = code,
                            .update = times->update / times->cycle,
                            .atomic = times->atomic / times->cycle,
                            .slots = VEC_OF(struct paper_slot)};
    double before = 0;
    for (int i = 0; i < ROUNDS_BEFORE + ROUNDS; i++) {
        if (i == ROUNDS_BEFORE)
            before = fmax(run.last, (double)run.begun / WIDTH);
        pass_all(&run, code->start, code->end, 0);
    }
    double cycles = (fmax(run.last, (double)run.begun / WIDTH) - before) / ROUNDS;
    vec__free(&run.slots);
    return run.is_unknown ? 0 : fmax(cycles, 1) * times->cycle;
}
