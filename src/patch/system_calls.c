#include "patch/system_calls.h"

#include "base/descriptor.h"
#include "patch/decode.h"
#include "patch/denylist.h"
#include "patch/move.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint8_t INSTRUCTION[] = {0x0f, 0x05};

bool system_calls__may_be_in(const char *path)
{
    struct stat status;
    int fd = descriptor__open_plain(path);
    bool found = false;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, size, INSTRUCTION, sizeof INSTRUCTION);
            munmap(bytes, size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* ---- which there are ------------------------------------------------------------------------- */

#define NUMBER_UNKNOWN MOVE_ANY_CALL

static bool is_told(int64_t number)
{
    return number == NUMBER_UNKNOWN || number == SYS_futex || number == SYS_prctl ||
           number == SYS_seccomp || number == SYS_setuid || number == SYS_setreuid ||
           number == SYS_setresuid;
}

/* The way through a function to one of its system calls. */
struct system_call_walk {
    ZydisDecoder decoder;
    struct instruction instruction;
    uint64_t last[SYSTEM_CALL_STARTS]; /* since the last branch, the latest first */
    unsigned count;
    int64_t number; /* in eax, as far as it is plain */
};

static bool writes_rax(struct system_call_walk *walk)
{
    if (!instruction__operands(&walk->instruction, &walk->decoder))
        return true;
    for (unsigned i = 0; i < walk->instruction.zydis.operand_count; i++) {
        const ZydisDecodedOperand *operand = &walk->instruction.operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) ==
                ZYDIS_REGISTER_RAX)
            return true;
    }
    return false;
}

static void follow_number(struct system_call_walk *walk)
{
    const ZydisDecodedInstruction *zydis = &walk->instruction.zydis;
    bool is_plain = zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
                    zydis->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && !zydis->raw.rex.B;
    if (is_plain && zydis->opcode == 0xb8)
        walk->number = (uint32_t)zydis->raw.imm[0].value.u;
    else if (walk->instruction.branch != BRANCH_NONE || writes_rax(walk))
        walk->number = NUMBER_UNKNOWN;
}

static void follow(struct system_call_walk *walk)
{
    memmove(walk->last + 1, walk->last, sizeof walk->last - sizeof *walk->last);
    walk->last[0] = walk->instruction.address;
    walk->count = walk->instruction.branch != BRANCH_NONE ? 0 : walk->count + 1;
    if (walk->count > SYSTEM_CALL_STARTS - 1)
        walk->count = SYSTEM_CALL_STARTS - 1;
    follow_number(walk);
}

/* Whether an instruction of the function begins at address. */
static bool walk_to(struct system_call_walk *walk, const struct code_file *file,
                    const struct code_function *function, uint64_t address)
{
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, function->start, &size);
    uint64_t at = function->start;
    while (bytes && at < address) {
        if (!instruction__decode(&walk->instruction, &walk->decoder, bytes + (at - function->start),
                                 size - (at - function->start), at))
            return false;
        follow(walk);
        at = walk->instruction.end;
    }
    return at == address;
}

/* Whether the call is worth looking at: a name of its function that hooks tell of settles it. */
static bool is_left_to_hooks(const struct code_file *file, const struct code_function *function,
                             const char *module)
{
    for (size_t i = 0; i < function->name_count; i++)
        if (!denylist__system_call(module, code_function__name(file, function, i)->text))
            return false;
    return function->name_count || denylist__system_call(module, "");
}

static void consider(const struct code_file *file, const char *module, uint64_t address,
                     struct vec *calls)
{
    const struct code_function *function = code_file__function(file, address);
    if (!function || address + sizeof INSTRUCTION > function->end ||
        is_left_to_hooks(file, function, module))
        return;
    struct system_call_walk walk = {.number = NUMBER_UNKNOWN};
    decoder__start(&walk.decoder);
    if (!walk_to(&walk, file, function, address) || !is_told(walk.number))
        return;
    struct inline_system_call *call = vec__push(calls, NULL);
    *call = (struct inline_system_call){
        .function = function, .address = address, .number = (int)walk.number};
    call->starts[call->start_count++] = address;
    for (unsigned i = 0; i < walk.count; i++)
        call->starts[call->start_count++] = walk.last[i];
}

void system_calls__list(const struct code_file *file, const char *module, struct vec *calls)
{
    VEC_EACH (section, &file->sections, struct code_section) {
        if (!section->executable || !section->bytes || section->linkage)
            continue;
        const uint8_t *at = section->bytes, *end = at + (section->end - section->start);
        while ((at = memmem(at, (size_t)(end - at), INSTRUCTION, sizeof INSTRUCTION))) {
            consider(file, module, section->start + (uint64_t)(at - section->bytes), calls);
            at++;
        }
    }
}

/* ---- how they are moved ---------------------------------------------------------------------- */

#define MOVED_MAX 16u /* bytes up to the end of the call */

static bool overlaps(const struct vec *plans, const struct heurt_plan *plan)
{
    unsigned length = plan->moved > HEURT_PATCH_BYTES ? plan->moved : HEURT_PATCH_BYTES;
    VEC_EACH (other, plans, const struct heurt_plan)
        if (other->address < plan->address + length &&
            plan->address < other->address + (other->moved > HEURT_PATCH_BYTES ? other->moved
                                                                               : HEURT_PATCH_BYTES))
            return true;
    return false;
}

void system_calls__plan(const struct code_file *file, const struct code_map *map,
                        const struct vec *calls, struct vec *plans)
{
    VEC_EACH (call, calls, const struct inline_system_call)
        for (unsigned i = 0; i < call->start_count; i++) {
            struct heurt_plan plan;
            if (call->address + sizeof INSTRUCTION - call->starts[i] > MOVED_MAX)
                break;
            if (move__system_call(file, map, call->function, call->starts[i], call->address,
                                  call->number, &plan) ||
                overlaps(plans, &plan))
                continue;
            vec__push(plans, &plan);
            break;
        }
}
