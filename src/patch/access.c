#include "base/descriptor.h"
#include "base/memory.h"
#include "patch/access_internal.h"
#include "patch/own_frame.h"
#include "patch/spin_code.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INSTRUCTIONS_MOST = 1 << 16, /* of a function: more are not looked at */
    ALIKE_BYTES = 64, /* so often, and where flow ends, it is asked whether the next one begins */
};

struct code_accesses *code_accesses__new(const char *path, const struct module_functions *functions)
{
    struct code_accesses *self = memory__zeroed(1, sizeof *self);
    struct stat status;
    self->functions = functions;
    self->path = path;
    self->stepped = VEC_OF(struct stepped);
    decoder__start(&self->decoder);
    int fd = descriptor__open_plain(path);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        self->bytes = bytes == MAP_FAILED ? NULL : bytes;
        self->size = self->bytes ? (uint64_t)status.st_size : 0;
    }
    if (fd >= 0)
        close(fd);
    return self;
}

void code_accesses__free(struct code_accesses *self)
{
    if (!self)
        return;
    VEC_EACH (stepped, &self->stepped, struct stepped) {
        vec__free(&stepped->steps);
        vec__free(&stepped->regions);
        vec__free(&stepped->backs);
    }
    vec__free(&self->stepped);
    map__free(&self->stepped_of_start);
    code_file__close(self->file);
    if (self->bytes)
        munmap((void *)(uintptr_t)self->bytes, self->size);
    free(self);
}

/* ---- functions ------------------------------------------------------------------------------- */

bool code_accesses__decode(const struct code_accesses *self, uint64_t offset,
                           struct instruction *instruction)
{
    return offset < self->size &&
           instruction__decode(instruction, &self->decoder, self->bytes + offset,
                               self->size - offset, offset);
}

/* Where the function around the byte begins, as an offset in the file: offset itself when that is
 * not known. */
static uint64_t start_of(const struct code_accesses *self, uint64_t offset)
{
    uint64_t address, start;
    if (!module_functions__address(self->functions, offset, &address))
        return offset;
    module_functions__find(self->functions, address, &start);
    return start <= address && address - start <= offset ? offset - (address - start) : offset;
}

static struct access_step *step_at(const struct stepped *stepped, uint64_t offset)
{
    size_t low = 0, high = stepped->steps.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct access_step *step = VEC_AT(&stepped->steps, struct access_step, middle);
        if (stepped->start + step->at < offset)
            low = middle + 1;
        else
            high = middle;
    }
    struct access_step *step = VEC_AT(&stepped->steps, struct access_step, low);
    return low < stepped->steps.count && stepped->start + step->at == offset ? step : NULL;
}

/* Calls go on behind themselves, but not with what was before them. */
static bool parts_flow(const struct instruction *instruction)
{
    return instruction__ends_flow(instruction) || instruction->branch == BRANCH_CALL ||
           instruction->branch == BRANCH_CALL_INDIRECT;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct code_region *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void join_regions(struct vec *regions)
{
    size_t kept = 0;
    if (regions->count)
        qsort(regions->items, regions->count, sizeof(struct code_region), by_start);
    VEC_EACH (region, regions, struct code_region) {
        struct code_region *last = kept ? VEC_AT(regions, struct code_region, kept - 1) : NULL;
        if (last && region->start <= last->end)
            last->end = region->end > last->end ? region->end : last->end;
        else
            *VEC_AT(regions, struct code_region, kept++) = *region;
    }
    regions->count = kept;
}

struct counting {
    int32_t steps[16];
    bool spoilt[16];
};

/* A called function may change these: rax rcx rdx rsi rdi r8 … r11; and rsp is no counter. */
static void spoil_by_call(struct counting *counting)
{
    static const int changed[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        counting->spoilt[changed[i]] = true;
}

static void count_writes(const struct instruction *instruction, struct counting *counting)
{
    int32_t step = instruction__adds(instruction);
    if (instruction->zydis.mnemonic ==
        ZYDIS_MNEMONIC_POP) /* what was pushed before: on the way out */
        return;
    for (unsigned i = 0; i < instruction->zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE
                         ? register__number(operand->reg.value)
                         : -1;
        if (number < 0)
            continue;
        counting->spoilt[number] |=
            !step || (counting->steps[number] && counting->steps[number] != step);
        counting->steps[number] = step;
    }
}

static void find_counter(const struct code_accesses *self, const struct stepped *stepped,
                         struct code_region *region)
{
    struct counting counting = {.spoilt[4] = true};
    struct instruction instruction;
    VEC_EACH (step, &stepped->steps, struct access_step) {
        uint64_t at = stepped->start + step->at;
        if (at < region->start || at > region->end ||
            !code_accesses__decode(self, at, &instruction) ||
            !instruction__operands(&instruction, &self->decoder))
            continue;
        count_writes(&instruction, &counting);
        if (instruction.branch == BRANCH_CALL || instruction.branch == BRANCH_CALL_INDIRECT)
            spoil_by_call(&counting);
    }
    region->counter = -1;
    for (int i = 0; i < 16 && region->counter < 0; i++)
        if (counting.steps[i] && !counting.spoilt[i])
            region->counter = i;
    region->step = region->counter < 0 ? 0 : counting.steps[region->counter];
    region->least_ns = counted_code__least_ns(
        &(struct counted_code){&self->decoder, self->bytes, self->size, region->start, region->end},
        &self->times);
}

static const struct code_region *region_at(const struct stepped *stepped, uint64_t offset)
{
    VEC_EACH (region, &stepped->regions, const struct code_region)
        if (offset >= region->start && offset <= region->end)
            return region;
    return NULL;
}

static void find_loop(const struct stepped *stepped, uint64_t offset, const uint64_t registers[16],
                      struct counted_loop *loop)
{
    const struct code_region *region = region_at(stepped, offset);
    if (region && region->counter >= 0)
        *loop = (struct counted_loop){region->start, region->least_ns, region->step,
                                      (uint32_t)registers[region->counter]};
}

/* ---- decoding -------------------------------------------------------------------------------- */

static void decode_function(const struct code_accesses *self, struct stepped *stepped)
{
    struct vec targets = VEC_OF(uint64_t);
    struct instruction instruction;
    uint64_t at = stepped->start, asked = at;
    bool has_ended = false;
    while (stepped->steps.count < INSTRUCTIONS_MOST &&
           code_accesses__decode(self, at, &instruction)) {
        if (has_ended || at - asked >= ALIKE_BYTES) {
            if (start_of(self, at) != stepped->start)
                break;
            asked = at;
        }
        struct access_step step = {(uint32_t)(at - stepped->start), instruction.zydis.length,
                                   parts_flow(&instruction), false};
        vec__push(&stepped->steps, &step);
        if (branch__is_direct(instruction.branch)) {
            vec__push(&targets, &instruction.target);
            struct code_region back = {.start = instruction.target, .end = at};
            if (back.start >= stepped->start && back.start <= at) {
                vec__push(&stepped->regions, &back);
                vec__push(&stepped->backs, &back);
            }
        }
        has_ended = instruction__ends_flow(&instruction) ||
                    (has_ended && instruction__is_nop(&instruction));
        at = instruction.end;
    }
    VEC_EACH (target, &targets, uint64_t) {
        struct access_step *step = step_at(stepped, *target);
        if (step)
            step->is_entered = true;
    }
    vec__free(&targets);
    join_regions(&stepped->regions);
    VEC_EACH (region, &stepped->regions, struct code_region)
        find_counter(self, stepped, region);
}

const struct stepped *code_accesses__function(struct code_accesses *self, uint64_t offset)
{
    uint64_t start = start_of(self, offset), next = self->stepped.count;
    uint64_t index = map__put(&self->stepped_of_start, &start, sizeof start, next);
    if (index == next) {
        if (!next)
            self->times = instruction_times__measure();
        struct stepped stepped = {start, VEC_OF(struct access_step), VEC_OF(struct code_region),
                                  VEC_OF(struct code_region)};
        decode_function(self, &stepped);
        vec__push(&self->stepped, &stepped);
    }
    return VEC_AT(&self->stepped, struct stepped, index);
}

/* ---- accesses -------------------------------------------------------------------------------- */

const ZydisDecodedOperand *instruction__memory(const struct instruction *instruction)
{
    if (!instruction__has_memory(instruction) || instruction__is_nop(instruction))
        return NULL;
    for (unsigned i = 0; i < instruction->zydis.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.type == ZYDIS_MEMOP_TYPE_MEM && operand->actions)
            return operand;
    }
    return NULL;
}

enum access_kind instruction__access(const struct instruction *instruction,
                                     const ZydisDecodedOperand *operand)
{
    if (instruction__locks_memory(instruction))
        return ACCESS_ATOMIC;
    bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
         writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    return reads && writes ? ACCESS_UPDATE : writes ? ACCESS_WRITE : ACCESS_READ;
}

bool instruction__changes(const struct instruction *instruction, ZydisRegister name)
{
    return instruction__writes(instruction, register__number(name));
}

/* A register's part of an address; false: it is not known. is_past: the instruction is done. */
static bool add_register(const struct instruction *instruction, ZydisRegister name, bool is_past,
                         uint64_t factor, const uint64_t registers[16], uint64_t *address)
{
    int number = register__number(name);
    if (name == ZYDIS_REGISTER_NONE)
        return true;
    if (number < 0 || (is_past && instruction__changes(instruction, name)))
        return false;
    *address += registers[number] * factor;
    return true;
}

uint64_t instruction__data_address(const struct instruction *instruction,
                                   const ZydisDecodedOperand *operand, bool is_past,
                                   const uint64_t registers[16], uint64_t loaded_at)
{
    uint64_t address = operand->mem.disp.has_displacement ? (uint64_t)operand->mem.disp.value : 0;
    if (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
        return 0;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        return address + instruction->end + loaded_at;
    return add_register(instruction, operand->mem.base, is_past, 1, registers, &address) &&
                   add_register(instruction, operand->mem.index, is_past, operand->mem.scale,
                                registers, &address)
               ? address
               : 0;
}

/* ---- what is read and written ---------------------------------------------------------------- */

bool instruction__is_same_place(const struct instruction *one, const ZydisDecodedOperand *a,
                                const struct instruction *other, const ZydisDecodedOperand *b)
{
    if (a->mem.base == ZYDIS_REGISTER_RIP)
        return b->mem.base == ZYDIS_REGISTER_RIP &&
               one->end + (uint64_t)a->mem.disp.value == other->end + (uint64_t)b->mem.disp.value;
    return a->mem.base == b->mem.base && a->mem.index == b->mem.index &&
           a->mem.scale == b->mem.scale && a->mem.disp.value == b->mem.disp.value;
}

/* Whether the loop around an instruction that reads writes the same place by another one: writes
 * wait in the processor and are rarely seen. The registers that name the place must stay as they
 * are in the loop. */
static bool is_written_in_loop(const struct code_accesses *self, const struct stepped *stepped,
                               const struct instruction *reader, const ZydisDecodedOperand *operand)
{
    const struct code_region *region = region_at(stepped, reader->address);
    struct instruction instruction;
    bool writes = false;
    VEC_EACH (step, &stepped->steps, struct access_step) {
        uint64_t at = stepped->start + step->at;
        if (!region || at < region->start || at > region->end ||
            !code_accesses__decode(self, at, &instruction) ||
            !instruction__operands(&instruction, &self->decoder))
            continue;
        const ZydisDecodedOperand *other = instruction__memory(&instruction);
        writes |= other && instruction__access(&instruction, other) != ACCESS_READ &&
                  instruction__is_same_place(reader, operand, &instruction, other);
        if (instruction__changes(&instruction, operand->mem.base) ||
            instruction__changes(&instruction, operand->mem.index))
            return false;
    }
    return writes;
}

static int what_loop_does(const struct code_accesses *self, const struct stepped *stepped,
                          const struct instruction *reader, const ZydisDecodedOperand *operand)
{
    if (asking_loop__is_spun(self, stepped, reader, operand))
        return SPINS;
    return is_written_in_loop(self, stepped, reader, operand) ? WRITES_TOO : WRITES_NOT;
}

/* ---- where registers were overwritten -------------------------------------------------------- */

struct decoding {
    const struct code_accesses *self;
    const struct stepped *stepped;
};

static bool decode_step(const void *context, size_t number, struct instruction *instruction)
{
    const struct decoding *decoding = context;
    const struct access_step *step = VEC_AT(&decoding->stepped->steps, struct access_step, number);
    return code_accesses__decode(decoding->self, decoding->stepped->start + step->at,
                                 instruction) &&
           instruction__operands(instruction, &decoding->self->decoder);
}

/* The address of an instruction that was done just before the interrupted one. 0: not known. */
static uint64_t recover(const struct decoding *decoding, const struct access_step *step,
                        const ZydisDecodedOperand *operand, struct straight_code code)
{
    uint64_t address;
    size_t number = (size_t)(step - (struct access_step *)decoding->stepped->steps.items);
    code.decode = decode_step;
    code.context = decoding;
    code.interrupted = number + 1;
    if (own_frame__is_gone(decoding->self->bytes + decoding->stepped->start, step->at,
                           code.loaded_at + decoding->stepped->start, code.registers, code.memory))
        code.memory.read = NULL;
    for (code.first = number; code.first && !step->is_entered && !step[-1].ends_flow; step--)
        code.first--;
    return straight_code__address(&code, number, operand, &address) ? address : 0;
}

/* Whether the instruction accesses memory; then what it does is in access. */
static bool take(const struct code_accesses *self, const struct stepped *stepped,
                 struct access_step *step, bool is_past, const struct straight_code *state,
                 struct access *access)
{
    struct instruction instruction;
    uint64_t offset = stepped->start + step->at;
    if (!code_accesses__decode(self, offset, &instruction) ||
        !instruction__operands(&instruction, &self->decoder))
        return false;
    const ZydisDecodedOperand *operand = instruction__memory(&instruction);
    if (!operand)
        return false;
    if (instruction__is_condition(&instruction, operand) &&
        asking_loop__take(self, stepped, offset, state, access))
        return true;
    access->kind = instruction__access(&instruction, operand);
    access->file_offset = offset;
    access->bytes = operand->size / 8;
    access->address = instruction__data_address(&instruction, operand, is_past, state->registers,
                                                state->loaded_at);
    if (!access->address && is_past)
        access->address = recover(&(struct decoding){self, stepped}, step, operand, *state);
    if (access->kind != ACCESS_READ && !instruction__exchanges(&instruction))
        return true;
    /* What spins may be in a loop that writes the same place elsewhere: the inner loop counts. */
    if (step->writes == WRITES_UNASKED)
        step->writes = what_loop_does(self, stepped, &instruction, operand);
    if (step->writes == SPINS)
        access->kind = access->kind == ACCESS_READ ? ACCESS_SPIN : ACCESS_TAKE;
    else if (step->writes == WRITES_TOO && access->kind == ACCESS_READ)
        access->kind = ACCESS_UPDATE;
    return true;
}

struct access code_accesses__find(struct code_accesses *self, uint64_t file_offset,
                                  const uint64_t registers[16], uint64_t loaded_at,
                                  struct memory_reader memory)
{
    static const uint64_t none[16];
    const struct straight_code state = {
        .registers = registers ? registers : none, .loaded_at = loaded_at, .memory = memory};
    struct access access = {.file_offset = file_offset};
    if (!self->bytes)
        return access;
    const struct stepped *function = code_accesses__function(self, file_offset);
    struct access_step *step = step_at(function, file_offset);
    if (!step)
        return access;
    bool has_before = registers && step->at && !step->is_entered && !step[-1].ends_flow;
    if (registers)
        find_loop(function, file_offset, registers, &access.loop);
    if (!(has_before && take(self, function, step - 1, true, &state, &access)) &&
        !take(self, function, step, false, &state, &access) && registers)
        asking_loop__take(self, function, file_offset, &state, &access);
    access.address = registers ? access.address : 0;
    return access;
}
