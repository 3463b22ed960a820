#include "patch/field_access.h"

#include "base/memory.h"
#include "patch/typed_internal.h"
#include "symbol/member.h"
#include "symbol/type_name.h"
#include "symbol/variable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Behind a variable's name. */
static char *of_variable(const struct typed_value *value, const struct typed_field *field)
{
    Dwarf_Die variable = value->variable, function = value->function;
    char *name = variable__name(&variable), *told;
    const char *in = value->storage == STORAGE_LOCAL ? dwarf_diename(&function) : NULL;
    const char *element = field->element ? field->element : field->is_element ? "[]" : "";
    if (!name)
        return NULL;
    if (in)
        told = memory__format("local variable %s%s%s of %s", name, element, field->path, in);
    else
        told = memory__format("%s%s%s", name, element, field->path);
    free(name);
    return told;
}

/* What a pointer leads to. */
static char *of_pointer(const struct typed_value *value, const struct typed_field *field,
                        const char *type)
{
    const char *origin = value->origin;
    bool is_record = type__is_record(&field->type);
    if (is_record && type)
        return memory__format("%s%s", type, field->path);
    if (is_record)
        return *origin && field->path[0] == '.' ? memory__format("%s->%s", origin, field->path + 1)
                                                : NULL;
    if (!*origin)
        return type ? memory__format("%s[]", type) : NULL;
    return field->is_element || field->element ? memory__format("%s[]", origin)
                                               : memory__format("*%s", origin);
}

static const char *without_dot(const char *path)
{
    return path[0] == '.' ? path + 1 : path;
}

static bool describe(struct typed_code *code, const struct typed_value *value,
                     struct symbol_field *found)
{
    struct typed_field field;
    if (!typed_value__field(value, &field))
        return false;
    char *type = type__name(&field.type);
    bool is_plain = !type__is_record(&field.type);
    char *name = is_plain && !type                   ? NULL
                 : value->storage == STORAGE_POINTED ? of_pointer(value, &field, type)
                                                     : of_variable(value, &field);
    if (name)
        *found =
            (struct symbol_field){.name = name,
                                  .type = type ? type : memory__text(""),
                                  .field = memory__text(is_plain ? "" : without_dot(field.path)),
                                  .size = type__size(&field.type),
                                  .offset = field.offset,
                                  .is_guess = field.is_guess,
                                  .layout = typed_code__layout(code, &field.type)};
    else
        free(type);
    typed_field__free(&field);
    return name;
}

bool field_access__find(struct typed_code *code, uint64_t address, struct symbol_field *field)
{
    struct instruction instruction;
    const struct typed_function *function = typed_code__function(code, address);
    size_t at = function ? function_code__at(&function->code, address) : SIZE_MAX;
    if (at == SIZE_MAX || !function_code__decode(&function->code, at, &instruction))
        return false;
    const ZydisDecodedOperand *operand = typed_code__memory(&instruction);
    if (!operand || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
        return false;
    struct typed_value value = typed_code__address(code, function, at, &instruction, operand);
    return describe(code, &value, field);
}

void field_access__clear(struct symbol_field *field)
{
    free((char *)field->name);
    free((char *)field->type);
    free((char *)field->field);
    *field = (struct symbol_field){0};
}
