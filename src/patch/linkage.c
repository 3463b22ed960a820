#include "patch/linkage.h"

#include "patch/decode.h"

#include <string.h>

const char *linkage__name(const struct code_file *file, uint64_t address)
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

static bool is_never_returning(const char *name)
{
    static const char *const names[] = {
        "abort",
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "pthread_exit",
        "__assert_fail",
        "__assert",
        "__assert_perror_fail",
        "__chk_fail",
        "__fortify_fail",
        "__stack_chk_fail",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "__longjmp_chk",
        "__cxa_throw",
        "__cxa_rethrow",
        "__cxa_bad_cast",
        "__cxa_bad_typeid",
        "__cxa_throw_bad_array_new_length",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "err",
        "errx",
        "verr",
        "verrx",
    };
    if (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_"))
        return true;
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

enum { SHORT_FUNCTION = 512 }; /* bytes; what never returns is rarely longer */

/* Whether nothing in the function leaves it but calls. */
static bool has_no_way_out(const struct code_file *file, const struct code_function *function)
{
    ZydisDecoder decoder;
    struct instruction instruction;
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, function->start, &size);
    uint64_t length = function->end - function->start;
    if (!bytes || !length || length > SHORT_FUNCTION || size < length)
        return false;
    decoder__start(&decoder);
    for (uint64_t at = function->start; at < function->end; at = instruction.end) {
        if (!instruction__decode(&instruction, &decoder, bytes + (at - function->start),
                                 function->end - at, at))
            return false;
        switch (instruction.branch) {
        case BRANCH_RETURN:
        case BRANCH_RETURN_POP:
        case BRANCH_FAR:
        case BRANCH_JUMP_INDIRECT:
            return false;
        case BRANCH_JUMP:
        case BRANCH_CONDITIONAL:
        case BRANCH_SHORT:
        case BRANCH_ABORTED:
            if (instruction.target < function->start || instruction.target >= function->end)
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}

bool linkage__never_returns(const struct code_file *file, uint64_t address)
{
    const struct code_section *section = code_file__section(file, address);
    if (section && section->linkage) {
        const char *name = linkage__name(file, address);
        return name && is_never_returning(name);
    }
    const struct code_function *function = code_file__function(file, address);
    for (size_t i = 0; function && function->start == address && i < function->name_count; i++)
        if (is_never_returning(code_function__name(file, function, i)->text))
            return true;
    return function && function->start == address && has_no_way_out(file, function);
}
