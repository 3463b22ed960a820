#include "patch/parameters.h"

#include "symbol/name.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum { INTEGER_REGISTERS = 6, VECTOR_REGISTERS = 8 };

/* ---- DWARF: types ---------------------------------------------------------------------------- */

/* The type of a DIE without typedefs and qualifiers. False: void or not readable. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die first;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, &first) && dwarf_peel_type(&first, type) == 0;
}

static enum parameter_class class_of_base(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0, size = 0;
    if (!dwarf_attr_integrate(type, DW_AT_encoding, &attribute) ||
        dwarf_formudata(&attribute, &encoding) != 0 || dwarf_aggregate_size(type, &size) != 0 ||
        size > 8)
        return PARAMETER_OTHER;
    switch (encoding) {
    case DW_ATE_float:
        return PARAMETER_FLOATING;
    case DW_ATE_boolean:
    case DW_ATE_signed:
    case DW_ATE_signed_char:
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_address:
    case DW_ATE_UTF:
        return PARAMETER_INTEGER;
    default:
        return PARAMETER_OTHER;
    }
}

static enum parameter_class class_of(Dwarf_Die *type)
{
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_unspecified_type: /* nullptr_t */
        return PARAMETER_INTEGER;
    case DW_TAG_base_type:
        return class_of_base(type);
    default:
        return PARAMETER_OTHER;
    }
}

/* Classes say themselves how they are passed (DWARF 5); otherwise only the size can tell, when it
 * is more than two registers hold. */
static enum result_place place_of_class(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word convention, size = 0;
    if (dwarf_aggregate_size(type, &size) == 0 && size > 16)
        return RESULT_IN_MEMORY;
    if (!dwarf_attr(type, DW_AT_calling_convention, &attribute) ||
        dwarf_formudata(&attribute, &convention) != 0)
        return RESULT_UNKNOWN;
    if (convention == DW_CC_pass_by_value)
        return RESULT_IN_REGISTERS;
    return convention == DW_CC_pass_by_reference ? RESULT_IN_MEMORY : RESULT_UNKNOWN;
}

static enum result_place place_of_result(Dwarf_Die *function)
{
    Dwarf_Die type;
    if (!dwarf_hasattr_integrate(function, DW_AT_type))
        return RESULT_IN_REGISTERS; /* void */
    if (!type_of(function, &type))
        return RESULT_UNKNOWN;
    switch (dwarf_tag(&type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return place_of_class(&type);
    case DW_TAG_base_type:
        return RESULT_IN_REGISTERS;
    default:
        return class_of(&type) == PARAMETER_INTEGER ? RESULT_IN_REGISTERS : RESULT_UNKNOWN;
    }
}

/* ---- DWARF: finding the function ------------------------------------------------------------- */

struct parameter_search {
    GElf_Addr address; /* as DWARF has it */
    Dwarf_Die found;
    bool success;
};

static int compare_entry(Dwarf_Die *die, void *argument)
{
    struct parameter_search *search = argument;
    Dwarf_Addr entry;
    if (dwarf_entrypc(die, &entry) != 0 || entry != search->address)
        return DWARF_CB_OK;
    search->found = *die;
    search->success = true;
    return DWARF_CB_ABORT;
}

/* Compilers that write no .debug_aranges make it necessary to ask each unit. */
static bool find_die(const struct code_file *file, uint64_t address, Dwarf_Die *die)
{
    Dwarf_Addr bias = 0;
    GElf_Addr at = address + file->dwfl_bias;
    if (!dwfl_module_getdwarf(file->module, &bias))
        return false;
    Dwarf_Die *unit = dwfl_module_addrdie(file->module, at, &bias);
    if (!unit)
        while ((unit = dwfl_module_nextcu(file->module, unit, &bias)))
            if (dwarf_haspc(unit, at - bias) > 0)
                break;
    /* Assemblers tell of functions, but not what these take. */
    if (!unit || dwarf_srclang(unit) == DW_LANG_Mips_Assembler)
        return false;
    struct parameter_search search = {.address = at - bias};
    dwarf_getfuncs(unit, compare_entry, &search, 0);
    *die = search.found;
    return search.success;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static void read_children(Dwarf_Die *function, struct parameters *parameters)
{
    Dwarf_Die child;
    if (dwarf_child(function, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_unspecified_parameters)
            parameters->variadic = true;
        if (tag != DW_TAG_formal_parameter)
            continue;
        Dwarf_Die type;
        struct parameter parameter = {name_of(&child), PARAMETER_OTHER};
        if (type_of(&child, &type))
            parameter.class = class_of(&type);
        vec__push(&parameters->items, &parameter);
    } while (dwarf_siblingof(&child, &child) == 0);
}

bool parameters__read(const struct code_file *file, const struct code_function *function,
                      struct parameters *parameters)
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Word convention = 0;
    if (!find_die(file, function->start, &die))
        return false;
    *parameters = (struct parameters){.items = VEC_OF(struct parameter)};
    if (dwarf_attr_integrate(&die, DW_AT_calling_convention, &attribute) &&
        dwarf_formudata(&attribute, &convention) == 0)
        parameters->altered = convention == DW_CC_nocall;
    for (size_t i = 0; i < function->name_count; i++)
        parameters->altered |= strchr(code_function__name(file, function, i)->text, '.') != NULL;
    parameters->result = place_of_result(&die);
    read_children(&die, parameters);
    return true;
}

static bool read_and_fit(const struct code_file *file, const struct code_function *function)
{
    struct parameters parameters;
    if (!parameters__read(file, function, &parameters))
        return false;
    unsigned counts[3] = {1}; /* a hidden place for the result, perhaps */
    VEC_EACH (parameter, &parameters.items, struct parameter)
        counts[parameter->class]++;
    vec__free(&parameters.items);
    return !parameters.variadic && !parameters.altered &&
           counts[PARAMETER_INTEGER] <= INTEGER_REGISTERS &&
           counts[PARAMETER_FLOATING] <= VECTOR_REGISTERS && !counts[PARAMETER_OTHER];
}

bool parameters__fit_registers(const struct code_file *file, const struct code_function *function)
{
    for (size_t i = 0; i < function->name_count; i++)
        if (symbol__fits_registers(code_function__name(file, function, i)->text))
            return true;
    return read_and_fit(file, function);
}

/* ---- mangled names --------------------------------------------------------------------------- */

static bool is_one_of(const char *text, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && memcmp(*words, text, length) == 0)
            return true;
    return false;
}

static bool contains(const char *text, size_t length, const char *part)
{
    return memmem(text, length, part, strlen(part)) != NULL;
}

static enum parameter_class class_of_text(const char *text, size_t length)
{
    static const char *const integers[] = {"bool",
                                           "char",
                                           "signed char",
                                           "unsigned char",
                                           "short",
                                           "unsigned short",
                                           "int",
                                           "unsigned int",
                                           "long",
                                           "unsigned long",
                                           "long long",
                                           "unsigned long long",
                                           "wchar_t",
                                           "char8_t",
                                           "char16_t",
                                           "char32_t",
                                           "std::nullptr_t",
                                           "decltype(nullptr)",
                                           NULL};
    static const char *const floats[] = {"float", "double", NULL};
    if (length && (text[length - 1] == '*' || text[length - 1] == '&'))
        return PARAMETER_INTEGER;
    if (contains(text, length, "(*)(") && text[length - 1] == ')')
        return PARAMETER_INTEGER;
    if (is_one_of(text, length, integers))
        return PARAMETER_INTEGER;
    return is_one_of(text, length, floats) ? PARAMETER_FLOATING : PARAMETER_OTHER;
}

/* The place of the '(' that belongs to the ')' at close, or NULL. */
static const char *opening(const char *text, const char *close)
{
    unsigned depth = 0;
    for (const char *at = close; at >= text; at--) {
        if (*at == ')')
            depth++;
        else if (*at == '(' && --depth == 0)
            return at;
    }
    return NULL;
}

/* Counts the parameters between from and to by class. False: the text is not understood. */
static bool count_classes(const char *from, const char *to, unsigned counts[3])
{
    int depth = 0;
    const char *start = from;
    for (const char *at = from; at <= to; at++) {
        if (at < to && strchr("<([{", *at))
            depth++;
        if (at < to && strchr(">)]}", *at) && --depth < 0)
            return false;
        if (at < to && (*at != ',' || depth))
            continue;
        while (start < at && *start == ' ')
            start++;
        counts[class_of_text(start, (size_t)(at - start))]++;
        start = at + 1;
    }
    return depth == 0;
}

static bool text_fits(const char *text)
{
    const char *close = strrchr(text, ')');
    const char *open = close ? opening(text, close) : NULL;
    if (!open || open == text || strstr(text, "[clone"))
        return false;
    for (const char *rest = close + 1; *rest; rest++)
        if (!strchr(" &constvolatile", *rest))
            return false;
    if (open[-1] == ')' && (open - text < 10 || strncmp(open - 10, "operator()", 10) != 0))
        return false; /* of a function that returns a pointer to a function */
    if (close == open + 1)
        return true;
    unsigned counts[3] = {2}; /* a this and a hidden place for the result, perhaps */
    return count_classes(open + 1, close, counts) &&
           counts[PARAMETER_INTEGER] <= INTEGER_REGISTERS &&
           counts[PARAMETER_FLOATING] <= VECTOR_REGISTERS && !counts[PARAMETER_OTHER];
}

bool symbol__fits_registers(const char *symbol)
{
    if (strncmp(symbol, "_Z", 2) != 0)
        return false;
    char *text = symbol_name__demangle(symbol);
    bool fits = text_fits(text);
    free(text);
    return fits;
}
