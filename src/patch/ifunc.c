#include "patch/ifunc.h"

#include "base/memory.h"
#include "patch/decode.h"
#include "symbol/name.h"

#include <stdlib.h>
#include <string.h>

enum { VERSIONS_MAX = 4 };

struct versions {
    const struct code_function *found[VERSIONS_MAX];
    size_t count;
};

static void add(struct versions *versions, const struct code_file *file, uint64_t address)
{
    const struct code_function *function = address ? code_file__function(file, address) : NULL;
    if (!function || function->start != address || !function->name_count ||
        versions->count == VERSIONS_MAX)
        return;
    for (size_t i = 0; i < versions->count; i++)
        if (versions->found[i] == function)
            return;
    versions->found[versions->count++] = function;
}

static void find_versions(struct versions *versions, const struct code_file *file,
                          const struct code_function *resolver)
{
    ZydisDecoder decoder;
    struct instruction instruction;
    size_t size;
    const uint8_t *bytes = code_file__bytes(file, resolver->start, &size);
    decoder__start(&decoder);
    for (uint64_t at = resolver->start; bytes && at < resolver->end; at = instruction.end) {
        uint64_t passed = at - resolver->start;
        if (!instruction__decode(&instruction, &decoder, bytes + passed, size - passed, at))
            return;
        if (instruction__is_lea(&instruction))
            add(versions, file, instruction__rip_address(&instruction));
        else if (file->position_dependent && instruction.zydis.raw.imm[0].size == 32 &&
                 instruction.branch == BRANCH_NONE)
            add(versions, file, (uint32_t)instruction.zydis.raw.imm[0].value.u);
    }
}

char *ifunc__refusal(const struct code_file *file, const struct code_function *resolver)
{
    struct versions versions = {0};
    find_versions(&versions, file, resolver);
    char *text = memory__text("it is chosen at run time (IFUNC)");
    for (size_t i = 0; i < versions.count; i++) {
        char *name = symbol_name__demangle(code_function__name(file, versions.found[i], 0)->text);
        char *longer =
            memory__format("%s%s %s", text, i ? "," : "; ask for one of its versions:", name);
        free(text);
        free(name);
        text = longer;
    }
    return text;
}
