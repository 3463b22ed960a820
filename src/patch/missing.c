#include "patch/missing.h"

#include "base/memory.h"
#include "base/text.h"
#include "patch/code_file.h"
#include "patch/denylist.h"
#include "patch/patterns.h"
#include "symbol/name.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_TOLD = 4 };

/* What is looked for, and what was found so far. */
struct missing_search {
    struct patterns patterns;
    struct pattern_module module; /* the current one */
    size_t places;
    char *inlined; /* "in work (app.c:25), main (app.c:40)", of the first PLACES_TOLD places */
};

/* ---- inlined --------------------------------------------------------------------------------- */

/* As the symbol would be called. */
static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage =
        dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    return linkage ? linkage : dwarf_diename(die);
}

/* The name of the function that has the code that the instance was inlined into. To be freed. */
static char *holder_of(Dwarf_Die *instance)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes_die(instance, &scopes);
    char *holder = NULL;
    for (int i = 1; i < count && !holder; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram && name_of(&scopes[i]))
            holder = symbol_name__demangle(name_of(&scopes[i]));
    free(scopes);
    return holder;
}

static int take_instance(Dwarf_Die *instance, void *context)
{
    struct missing_search *search = context;
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0, file = 0;
    Dwarf_Files *files = NULL;
    Dwarf_Die unit;
    dwarf_formudata(dwarf_attr(instance, DW_AT_call_line, &attribute), &line);
    dwarf_formudata(dwarf_attr(instance, DW_AT_call_file, &attribute), &file);
    const char *path =
        dwarf_diecu(instance, &unit, NULL, NULL) && dwarf_getsrcfiles(&unit, &files, NULL) == 0
            ? dwarf_filesrc(files, file, NULL, NULL)
            : NULL;
    char *holder = holder_of(instance);
    if (holder && search->places++ < PLACES_TOLD)
        search->inlined =
            text__append(search->inlined, "%s%s (%s:%llu)", search->inlined ? ", " : "in ", holder,
                         path ? path__name(path) : "?", (unsigned long long)line);
    free(holder);
    return DWARF_CB_OK;
}

static int take_function(Dwarf_Die *function, void *context)
{
    struct missing_search *search = context;
    bool exact;
    const char *name = dwarf_func_inline(function) ? name_of(function) : NULL;
    if (name && patterns__match(&search->patterns, &search->module, name, &exact))
        dwarf_func_inline_instances(function, take_instance, search);
    return DWARF_CB_OK;
}

static void search_dwarf(struct missing_search *search, const struct code_file *file)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(file->module, &bias);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, sub;
    uint8_t type;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &sub) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            dwarf_getfuncs(type == DW_UT_skeleton ? &sub : &die, take_function, search, 0);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void search_module(struct missing_search *search, const char *path)
{
    struct code_file *file = NULL;
    struct error error;
    search->module = (struct pattern_module){path, path__name(path)};
    if (denylist__module(search->module.base) || denylist__is_c_library(search->module.base) ||
        !patterns__concern(&search->patterns, &search->module) ||
        code_file__open(path, NULL, 0, &file, &error) < 0)
        return;
    search_dwarf(search, file);
    code_file__close(file);
}

char *missing__explain(const char *asked, const struct vec *paths)
{
    struct missing_search search = {0};
    patterns__start(&search.patterns);
    patterns__add(&search.patterns, asked);
    VEC_EACH (path, paths, char *)
        search_module(&search, *path);
    patterns__free(&search.patterns);
    if (!search.inlined)
        return NULL;
    if (search.places > PLACES_TOLD)
        search.inlined = text__append(search.inlined, " and %zu more", search.places - PLACES_TOLD);
    char *sentence = memory__format(
        "the compiler has inlined it %s, so that it has no code of its own; without -f heurt "
        "marks the busy loops there, or -f records the functions that hold it",
        search.inlined);
    free(search.inlined);
    return sentence;
}
