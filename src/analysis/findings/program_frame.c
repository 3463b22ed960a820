#include "analysis/findings/program_frame.h"
#include "base/text.h"

#include <string.h>

static bool is_of_module(const struct symbol *symbol, const char *beginning)
{
    return symbol->module && strncmp(path__name(symbol->module), beginning, strlen(beginning)) == 0;
}

bool symbol__is_stub(const struct symbol *symbol)
{
    return is_of_module(symbol, "libheurt.so");
}

/* Headers of the system and of the C++ library, and Rust's own library. */
static bool is_of_system(const char *file)
{
    static const char *const parts[] = {"/include/c++/", "library/std/src/", "library/core/src/",
                                        "library/alloc/src/"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(file, parts[i]))
            return true;
    return strncmp(file, "/usr/include/", 13) == 0;
}

bool symbol__is_system(const struct symbol *symbol)
{
    static const char *const libraries[] = {"libc.so.",       "libstdc++.so.", "libc++.so.",
                                            "libpthread.so.", "libgomp.so.",   "libomp.so.",
                                            "libabsl_",       "ld-linux"};
    if (symbol->file && is_of_system(symbol->file))
        return true;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (is_of_module(symbol, libraries[i]))
            return true;
    return symbol__is_stub(symbol);
}

const struct symbol *program_frame__inlined(const struct symbol *symbol)
{
    while (symbol && symbol__is_system(symbol))
        symbol = symbol->inlined_by;
    return symbol;
}

const struct symbol *program_frame__in_stack(const struct symbols *symbols,
                                             const struct class_definition *class)
{
    if (class->stacks.count == 0)
        return NULL;
    const struct profile_stack *stack = VEC_AT(&class->stacks, struct profile_stack, 0);
    size_t i = 0;
    while (class->at.site && i < stack->frame_count && stack->frames[i] != class->at.site)
        i++;
    for (; i < stack->frame_count; i++) {
        const struct symbol *symbol = symbols__get(symbols, stack->process, stack->frames[i]);
        if (!symbol)
            return NULL;
        const struct symbol *own = program_frame__inlined(symbol);
        if (own)
            return own;
    }
    return NULL;
}

/* At a function's first address another one may already be inlined. */
static const struct symbol *function_symbol(const struct symbols *symbols,
                                            const struct class_definition *class)
{
    const struct symbol *symbol = symbols__get(symbols, class->at.process, class->at.address);
    while (symbol && symbol->inlined_by && strcmp(symbol->function, class->at.function) != 0)
        symbol = symbol->inlined_by;
    return symbol;
}

const struct symbol *program_frame__of_class(const struct symbols *symbols,
                                             const struct class_definition *class)
{
    const struct symbol *symbol =
        class->at.site
            ? program_frame__inlined(symbols__get(symbols, class->at.process, class->at.site))
            : function_symbol(symbols, class);
    if (symbol && !symbol__is_system(symbol))
        return symbol;
    return program_frame__in_stack(symbols, class);
}
