#include "present/memory/accessed_data.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BESIDE_MOST 64u /* others that are looked at */

/* What is looked for, and by what. */
struct data_search {
    const struct report *report;
    uint32_t serial; /* of the process */
    const struct vec *beside;
    const struct line_access *access;
    uint64_t at; /* in its object */
    const struct symbol_type *made;
    struct accessed *found;
};

static uint64_t offset_of(const struct line_access *access)
{
    return access->address - access->object->address;
}

/* A field of a struct, and no plain value. */
static bool is_part(const struct symbol_field *field)
{
    return *field->field && *field->field != '[';
}

/* The library's own insides: what they are a member of tells more. */
static bool is_of_library(const struct symbol_field *field)
{
    return strncmp(field->type, "std::", 5) == 0 || strncmp(field->type, "__gnu_cxx::", 11) == 0;
}

/* Names that the language keeps for its library. */
static bool is_reserved(const char *path)
{
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* The same element of an array in the type, whichever the code tells. */
static bool is_element(const struct symbol_field *field, uint64_t at)
{
    const struct symbol_member *member =
        field->layout ? symbol_type__member(field->layout, at % field->size) : NULL;
    return member && member->array_count && strcmp(member->path, field->field) == 0;
}

/* Whether the object may be of such things, one behind the other, with the field where it was
 * accessed: a type that only stands in a part of it, behind what a library keeps there, is not. */
static bool fits(const struct symbol_field *field, const struct line_access *access)
{
    uint64_t at = offset_of(access);
    return field && *field->type && field->size && field->size <= access->object->bytes &&
           at >= field->offset &&
           ((at - field->offset) % field->size == 0 || is_element(field, at));
}

static const struct symbol_field *field_of(const struct data_search *search,
                                           const struct line_access *access)
{
    return symbols__field(search->report->symbols, search->serial, access->instruction);
}

/* Whether another access shows that such things lie behind each other there: one to an element
 * behind the first, or one by the same instruction that is whole elements away. */
static bool is_row_of(const struct data_search *search, const char *type, uint64_t size)
{
    size_t left = BESIDE_MOST;
    if (!search->beside)
        return false;
    VEC_EACH (other, search->beside, const struct line_access) {
        if (left-- == 0)
            break;
        if (other->object != search->access->object)
            continue;
        const struct symbol_field *field = field_of(search, other);
        if (fits(field, other) && field->size == size && strcmp(field->type, type) == 0 &&
            is_part(field) && offset_of(other) >= size)
            return true;
        uint64_t apart = other->address > search->access->address
                             ? other->address - search->access->address
                             : search->access->address - other->address;
        if (other->instruction == search->access->instruction && apart && apart % size == 0)
            return true;
    }
    return false;
}

/* A wrapper of an allocator gives what is made where it was called. */
static const struct symbol_type *made_type(const struct report *report, uint32_t process,
                                           const struct allocation *object)
{
    const struct symbol_type *type = symbols__made_type(report->symbols, process, object->site);
    type = type ? type : symbols__made_type(report->symbols, process, object->born);
    return type && type->size && type->size <= object->bytes ? type : NULL;
}

static bool is_whole_row(const struct allocation *object, uint64_t size)
{
    return object->bytes % size == 0;
}

/* Whether the access is to a thing of that type: what was asked for may be rounded up, then the
 * first one is there nevertheless. */
static bool reaches(const struct data_search *search, const char *type, uint64_t size)
{
    return is_whole_row(search->access->object, size) || search->at < size ||
           is_row_of(search, type, size);
}

/* What lies where the access is, by the fields of the type; a member with a name of its own, which
 * locks have, is called by that. */
static char *path_in(const struct data_search *search, const struct symbol_type *layout)
{
    uint64_t begin = 0, within = search->at % layout->size;
    char *path = symbol_type__path(layout, within, &begin);
    if (path && !search->found->variable)
        search->found->variable = symbols__variable(search->report->symbols, search->serial,
                                                    search->access->address - (within - begin));
    return path;
}

/* Takes over path. */
static void take(const struct data_search *search, const char *type, uint64_t size,
                 const struct symbol_type *layout, char *path)
{
    struct accessed *found = search->found;
    free(found->path);
    found->type = type;
    found->size = size;
    found->layout = layout;
    found->path = path;
    found->is_array =
        found->given || is_whole_row(found->object, size) || is_row_of(search, type, size);
}

/* The code tells the field. An index that it does not tell is told by the address. */
static void take_field(const struct data_search *search, const struct symbol_field *field)
{
    uint64_t begin;
    char *path = is_element(field, search->at)
                     ? symbol_type__path(field->layout, search->at % field->size, &begin)
                     : memory__text(field->field);
    take(search, field->type, field->size, field->layout, path);
    const struct symbol_type *made = search->made;
    bool is_made = made && is_whole_row(search->found->object, made->size) &&
                   strcmp(made->name, field->type) == 0;
    search->found->is_array =
        search->found->given || is_made || is_row_of(search, field->type, field->size);
}

static bool take_made(const struct data_search *search, const struct symbol_field *field)
{
    const struct symbol_type *made = search->made;
    if (!made || !reaches(search, made->name, made->size))
        return false;
    char *path = path_in(search, made);
    if (!path && field && field->size != made->size)
        return false;
    take(search, made->name, made->size, made, path);
    return true;
}

/* The program's own member there, of which the code only sees the library's insides. */
static bool take_own_member(const struct data_search *search, const struct symbol_field *field)
{
    if (!field || !is_of_library(field) || !search->made ||
        !reaches(search, search->made->name, search->made->size))
        return false;
    uint64_t begin;
    char *path = symbol_type__path(search->made, search->at % search->made->size, &begin);
    bool is_own = path && !is_reserved(path);
    free(path);
    return is_own && take_made(search, field);
}

/* What the code around other accesses of the same object tells: rather of the same place, else by
 * the fields of the type that it tells. */
static void take_of_others(const struct data_search *search)
{
    const struct symbol_field *best = NULL;
    size_t left = BESIDE_MOST;
    if (!search->beside)
        return;
    VEC_EACH (other, search->beside, const struct line_access) {
        if (left-- == 0)
            break;
        const struct symbol_field *field =
            other->object == search->access->object ? field_of(search, other) : NULL;
        if (!fits(field, other) || !is_part(field) || is_of_library(field))
            continue;
        if (other->address == search->access->address)
            return take_field(search, field);
        if (!best && field->layout && field->layout->size &&
            reaches(search, field->type, field->size))
            best = field;
    }
    char *path = best ? path_in(search, best->layout) : NULL;
    if (path)
        take(search, best->type, best->size, best->layout, path);
}

static void find_type(const struct data_search *search, const struct symbol_field *field)
{
    const struct accessed *found = search->found;
    if (take_own_member(search, field))
        return;
    if (fits(field, search->access) && (is_part(field) || !search->made))
        take_field(search, field);
    else
        take_made(search, field);
    if (!found->path)
        take_of_others(search);
}

struct accessed accessed__find(const struct report *report, size_t process,
                               const struct vec *beside, const struct line_access *access)
{
    uint32_t serial = trace__process_at(report->trace, process)->serial;
    const struct allocation *object = access->object;
    struct accessed found = {
        .variable = symbols__variable(report->symbols, serial, access->address),
        .field = symbols__field(report->symbols, serial, access->instruction),
        .object = object,
    };
    if (!object)
        return found;
    if (object->call == HEURT_ALLOCATION_NAMED)
        found.given = symbols__variable(report->symbols, serial, object->address);
    struct data_search search = {report,
                                 serial,
                                 beside,
                                 access,
                                 access->address - object->address,
                                 made_type(report, serial, object),
                                 &found};
    find_type(&search, found.field);
    return found;
}

void accessed__free(struct accessed *found)
{
    free(found->path);
    found->path = NULL;
}

uint64_t accessed__element(const struct accessed *found, const struct line_access *access)
{
    return (access->address - found->object->address) / found->size;
}
