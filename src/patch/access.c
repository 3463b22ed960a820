#include "patch/access.h"

#include "base/descriptor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "patch/code_file.h"
#include "patch/decode.h"
#include "patch/linkage.h"
#include "patch/loop_bound.h"
#include "patch/own_frame.h"
#include "patch/spin_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INSTRUCTIONS_MOST = 1 << 16, /* of a function: more are not looked at */
    ALIKE_BYTES = 64, /* so often, and where flow ends, it is asked whether the next one begins */
};

struct access_step {
    uint32_t at; /* from the function's beginning */
    uint8_t bytes;
    bool ends_flow, is_entered;
    /* Of one that reads: whether its loop writes there, too, or does nothing else. */
    enum { WRITES_UNASKED, WRITES_NOT, WRITES_TOO, SPINS } writes;
};

/* Loops that lie within each other are one. */
struct code_region {
    uint64_t start, end; /* offsets in the file; end: where its last branch begins */
    double least_ns;
    int counter; /* number of the register that counts; -1: none does */
    int32_t step;
};

/* A function, decoded. */
struct stepped {
    uint64_t start;     /* offset in the file */
    struct vec steps;   /* struct access_step */
    struct vec regions; /* struct code_region, by start */
    struct vec backs;   /* struct code_region: branches back, from start to end, as they are */
};

struct code_accesses {
    const struct module_functions *functions;
    const uint8_t *bytes; /* NULL: it cannot be read */
    uint64_t size;
    struct vec stepped; /* struct stepped */
    struct map stepped_of_start;
    ZydisDecoder decoder;
    const char *path;
    struct code_file *file; /* NULL: not needed yet, or it cannot be read */
    bool is_no_file;
    struct instruction_times times; /* once a function was met */
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

static bool decode_at(const struct code_accesses *self, uint64_t offset,
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
        if (at < region->start || at > region->end || !decode_at(self, at, &instruction) ||
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
    while (stepped->steps.count < INSTRUCTIONS_MOST && decode_at(self, at, &instruction)) {
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

static const struct stepped *function_at(struct code_accesses *self, uint64_t offset)
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

static const ZydisDecodedOperand *memory_of(const struct instruction *instruction)
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

static enum access_kind kind_of(const struct instruction *instruction,
                                const ZydisDecodedOperand *operand)
{
    if (instruction__locks_memory(instruction))
        return ACCESS_ATOMIC;
    bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
         writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    return reads && writes ? ACCESS_UPDATE : writes ? ACCESS_WRITE : ACCESS_READ;
}

static bool changes(const struct instruction *instruction, ZydisRegister name)
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
    if (number < 0 || (is_past && changes(instruction, name)))
        return false;
    *address += registers[number] * factor;
    return true;
}

static uint64_t address_of(const struct instruction *instruction,
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

static bool is_same_place(const struct instruction *one, const ZydisDecodedOperand *a,
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
            !decode_at(self, at, &instruction) ||
            !instruction__operands(&instruction, &self->decoder))
            continue;
        const ZydisDecodedOperand *other = memory_of(&instruction);
        writes |= other && kind_of(&instruction, other) != ACCESS_READ &&
                  is_same_place(reader, operand, &instruction, other);
        if (changes(&instruction, operand->mem.base) || changes(&instruction, operand->mem.index))
            return false;
    }
    return writes;
}

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
static bool is_spun(const struct code_accesses *self, const struct stepped *stepped,
                    const struct instruction *reader, const ZydisDecodedOperand *operand)
{
    const struct code_region *loop = next_loop_at(stepped, reader->address, NULL);
    struct instruction instruction;
    struct spin_registers registers = {0};
    if (!loop || loop->end - loop->start > SPIN_BYTES)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t at = loop->start; at <= loop->end; at = instruction.end) {
            if (!decode_at(self, at, &instruction) ||
                !instruction__operands(&instruction, &self->decoder))
                return false;
            const ZydisDecodedOperand *memory = memory_of(&instruction);
            if (!instruction__may_spin(&instruction, memory) ||
                changes(&instruction, operand->mem.base) ||
                changes(&instruction, operand->mem.index) ||
                (memory && !is_same_place(reader, operand, &instruction, memory) &&
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
        if (!decode_at(self, at, asked) || !instruction__operands(asked, &self->decoder))
            return false;
        const ZydisDecodedOperand *memory = memory_of(asked);
        if (memory && !instruction__is_condition(asked, memory))
            return is_spun(self, stepped, asked, memory);
    }
    return false;
}

static int what_loop_does(const struct code_accesses *self, const struct stepped *stepped,
                          const struct instruction *reader, const ZydisDecodedOperand *operand)
{
    if (is_spun(self, stepped, reader, operand))
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
    return decode_at(decoding->self, decoding->stepped->start + step->at, instruction) &&
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

/* At a place in a loop that only asks, as find_asked. */
static bool take_asked(const struct code_accesses *self, const struct stepped *stepped,
                       uint64_t offset, const struct straight_code *state, struct access *access)
{
    struct instruction asked;
    if (!find_asked(self, stepped, offset, &asked))
        return false;
    const ZydisDecodedOperand *operand = memory_of(&asked);
    access->kind = kind_of(&asked, operand) == ACCESS_READ ? ACCESS_SPIN : ACCESS_TAKE;
    access->file_offset = asked.address;
    access->bytes = operand->size / 8;
    access->address = address_of(&asked, operand, false, state->registers, state->loaded_at);
    return true;
}

/* Whether the instruction accesses memory; then what it does is in access. */
static bool take(const struct code_accesses *self, const struct stepped *stepped,
                 struct access_step *step, bool is_past, const struct straight_code *state,
                 struct access *access)
{
    struct instruction instruction;
    uint64_t offset = stepped->start + step->at;
    if (!decode_at(self, offset, &instruction) ||
        !instruction__operands(&instruction, &self->decoder))
        return false;
    const ZydisDecodedOperand *operand = memory_of(&instruction);
    if (!operand)
        return false;
    if (instruction__is_condition(&instruction, operand) &&
        take_asked(self, stepped, offset, state, access))
        return true;
    access->kind = kind_of(&instruction, operand);
    access->file_offset = offset;
    access->bytes = operand->size / 8;
    access->address =
        address_of(&instruction, operand, is_past, state->registers, state->loaded_at);
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
    const struct stepped *function = function_at(self, file_offset);
    struct access_step *step = step_at(function, file_offset);
    if (!step)
        return access;
    bool has_before = registers && step->at && !step->is_entered && !step[-1].ends_flow;
    if (registers)
        find_loop(function, file_offset, registers, &access.loop);
    if (!(has_before && take(self, function, step - 1, true, &state, &access)) &&
        !take(self, function, step, false, &state, &access) && registers)
        take_asked(self, function, file_offset, &state, &access);
    access.address = registers ? access.address : 0;
    return access;
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
    return decode_at(self, offset, &instruction) &&
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
        if (!decode_at(self, at, &instruction) ||
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
    return !memory_of(instruction) && !instruction__may_spin(instruction, NULL);
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
        const ZydisDecodedOperand *memory = memory_of(body_at(body, i));
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
        const ZydisDecodedOperand *memory = memory_of(instruction);
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
        if (kind_of(instruction, memory) != ACCESS_READ)
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
    const struct stepped *function = self->bytes ? function_at(self, file_offset) : NULL;
    const struct code_region *loop = NULL;
    while (function && body == BODY_SLEEPS &&
           (loop = next_loop_at(function, file_offset, loop)) != NULL)
        body = body_of(self, loop, file_offset);
    return body == BODY_ASKS;
}
