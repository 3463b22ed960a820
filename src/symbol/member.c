#include "symbol/member.h"

#include "base/memory.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of what a damaged or strange file can cost. */
enum { PATH_BYTES = 512, DEPTH_MAX = 24, STEPS_MAX = 4096 };

/* How good a way through the type is; of the members of a union the best one is taken. */
enum quality {
    QUALITY_NONE,   /* nothing is there: padding, an unknown type */
    QUALITY_INSIDE, /* within something that has no members */
    QUALITY_EXACT,  /* at its begin */
    QUALITY_LOCK,   /* at the begin of a lock or one of its kin */
};

struct member_path {
    char text[PATH_BYTES];
    size_t length;
    unsigned steps;
    bool is_access; /* of an access to some bytes, not of an object that is told by its address */
    bool has_reserved;   /* the library's names are told, too */
    size_t unnamed_from; /* where the path ends, if the member that was entered last has no name */
    uint64_t stride;     /* 0: the offset is one */
    bool is_strided;     /* an array with elements of that size was met */
    Dwarf_Die leaf;      /* what has no members, and how far within it the way ends */
    uint64_t inside;
};

static void append(struct member_path *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct member_path *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(path->text + path->length, PATH_BYTES - path->length, format, arguments);
    va_end(arguments);
    if (written > 0 && (size_t)written < PATH_BYTES - path->length)
        path->length += (size_t)written;
    path->text[path->length] = 0; /* what does not fit is left off whole */
}

static void cut(struct member_path *path, size_t length)
{
    path->length = length;
    path->text[length] = 0;
}

bool declaration__type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die whole;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
        return false;
    if (dwarf_attr(type, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &whole))
        *type = whole;
    return true;
}

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *number = word;
    return true;
}

size_t array__dimensions(const Dwarf_Die *array, uint64_t lengths[ARRAY_DIMENSIONS_MOST])
{
    Dwarf_Die copy = *array, child;
    size_t count = 0;
    if (!dwarf_haschildren(&copy) || dwarf_child(&copy, &child) != 0)
        return 0;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        uint64_t bound;
        lengths[count] = number_of(&child, DW_AT_count, &bound)         ? bound
                         : number_of(&child, DW_AT_upper_bound, &bound) ? bound + 1
                                                                        : 0;
        count++;
    } while (count < ARRAY_DIMENSIONS_MOST && dwarf_siblingof(&child, &child) == 0);
    return count;
}

/* libdw's own does not go on from a class that is only declared. */
static uint64_t size_of(Dwarf_Die *type, unsigned depth)
{
    Dwarf_Die next;
    uint64_t bytes = 0, lengths[ARRAY_DIMENSIONS_MOST];
    if (depth > DEPTH_MAX || number_of(type, DW_AT_byte_size, &bytes))
        return bytes;
    switch (dwarf_tag(type)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        return declaration__type(type, &next) ? size_of(&next, depth + 1) : 0;
    case DW_TAG_array_type:
        bytes = declaration__type(type, &next) ? size_of(&next, depth + 1) : 0;
        for (size_t i = array__dimensions(type, lengths); i-- > 0;)
            bytes *= lengths[i];
        return bytes;
    default:
        return dwarf_aggregate_size(type, &bytes) == 0 ? bytes : 0;
    }
}

uint64_t member__size(Dwarf_Die *variable)
{
    Dwarf_Die type;
    return declaration__type(variable, &type) ? size_of(&type, 0) : 0;
}

static bool is_lock_name(const char *name)
{
    static const char *const names[] = {"pthread_mutex_t",
                                        "pthread_rwlock_t",
                                        "pthread_spinlock_t",
                                        "pthread_cond_t",
                                        "pthread_barrier_t",
                                        "sem_t",
                                        "mtx_t",
                                        "cnd_t"};
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Names that the language keeps for its library. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

bool member__offset(Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    *offset = 0;
    if (dwarf_hasattr(member, DW_AT_declaration) || dwarf_hasattr(member, DW_AT_external))
        return false;
    if (number_of(member, DW_AT_data_bit_offset, offset)) {
        *offset /= 8;
        return true;
    }
    if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
        return true; /* of a union */
    if (dwarf_formudata(&attribute, offset) == 0)
        return true;
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
        operations[0].atom != DW_OP_plus_uconst)
        return false;
    *offset = operations[0].number;
    return true;
}

/* Where a bit field begins, in bits, and the unit of its type that it is in, in bytes. */
static bool bits_of(Dwarf_Die *member, uint64_t *begin, uint64_t *bits, uint64_t *unit)
{
    uint64_t offset, in_unit, size = member__size(member);
    if (!size || !number_of(member, DW_AT_bit_size, bits) || !member__offset(member, &offset))
        return false;
    if (!number_of(member, DW_AT_data_bit_offset, begin)) {
        bool is_known = number_of(member, DW_AT_bit_offset, &in_unit); /* from the unit's top bit */
        *begin = offset * 8 + (is_known ? size * 8 - in_unit - *bits : 0);
        *unit = offset;
    } else {
        *unit = *begin / 8 / size * size;
    }
    return true;
}

bool bit_fields__of(const Dwarf_Die *record, Dwarf_Die *member, struct bit_fields *found)
{
    Dwarf_Die copy = *record, child;
    uint64_t begin, bits, unit, own_begin, own_unit, first = UINT64_MAX, last = 0;
    const char *from = NULL, *to = NULL;
    if (!bits_of(member, &own_begin, &bits, &own_unit) || dwarf_child(&copy, &child) != 0)
        return false;
    do {
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) != DW_TAG_member || !name || !dwarf_hasattr(&child, DW_AT_bit_size) ||
            !bits_of(&child, &begin, &bits, &unit) || unit != own_unit)
            continue;
        if (begin < first)
            from = name;
        first = begin < first ? begin : first;
        to = begin + bits > last ? name : to;
        last = begin + bits > last ? begin + bits : last;
    } while (dwarf_siblingof(&child, &child) == 0);
    if (!from || first != own_begin)
        return false;
    *found =
        (struct bit_fields){first / 8, (last + 7) / 8 - first / 8,
                            from == to ? memory__text(from) : memory__format("%s–%s", from, to)};
    return true;
}

/* is_of_library: of a member whose name is the library's. */
static enum quality walk(struct member_path *path, Dwarf_Die *type, uint64_t offset, unsigned depth,
                         bool is_of_library);

/* The first of those that share bytes stands for all. */
static enum quality walk_bits(struct member_path *path, const Dwarf_Die *record, Dwarf_Die *member,
                              uint64_t offset)
{
    struct bit_fields bits;
    if (!bit_fields__of(record, member, &bits))
        return QUALITY_NONE;
    bool is_there = offset - bits.offset < bits.bytes;
    if (is_there) {
        append(path, ".%s", bits.name);
        path->leaf = *record;
        path->inside = offset;
    }
    free(bits.name);
    return is_there ? QUALITY_EXACT : QUALITY_NONE;
}

static enum quality walk_member(struct member_path *path, const Dwarf_Die *record,
                                Dwarf_Die *member, uint64_t offset, unsigned depth)
{
    const char *name = dwarf_diename(member);
    Dwarf_Die type;
    uint64_t begin;
    if (dwarf_hasattr(member, DW_AT_bit_size))
        return walk_bits(path, record, member, offset);
    if (!declaration__type(member, &type) || !member__offset(member, &begin) || offset < begin)
        return QUALITY_NONE;
    uint64_t bytes = size_of(&type, 0);
    if (offset - begin >= (bytes ? bytes : 1))
        return QUALITY_NONE;
    bool is_of_library = name && is_reserved(name) && !path->has_reserved;
    size_t unnamed_from = path->unnamed_from;
    if (dwarf_tag(member) == DW_TAG_member && name && *name && !is_of_library)
        append(path, ".%s", name);
    else
        path->unnamed_from = path->length;
    enum quality quality = walk(path, &type, offset - begin, depth, is_of_library);
    path->unnamed_from = unnamed_from;
    return quality;
}

/* Which of its members is meant, an access does not tell: the union is, where it has a name. */
static enum quality end_at_union(struct member_path *path, Dwarf_Die *type, uint64_t offset,
                                 size_t length)
{
    path->leaf = *type;
    path->inside = offset;
    return length > path->unnamed_from ? QUALITY_EXACT : QUALITY_NONE;
}

/* Tries each member (or base) that holds the offset, keeps the way of the best. */
static enum quality walk_members(struct member_path *path, Dwarf_Die *type, uint64_t offset,
                                 unsigned depth)
{
    Dwarf_Die member;
    struct member_path best = *path;
    enum quality quality = QUALITY_NONE;
    unsigned ways = 0;
    size_t length = path->length;
    bool is_strided = path->is_strided;
    if (!dwarf_haschildren(type) || dwarf_child(type, &member) != 0)
        return QUALITY_NONE;
    do {
        int tag = dwarf_tag(&member);
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
            continue;
        enum quality found = walk_member(path, type, &member, offset, depth);
        ways += found != QUALITY_NONE;
        if (found > quality) {
            quality = found;
            best = *path;
        }
        cut(path, length);
        path->is_strided = is_strided;
    } while ((quality < QUALITY_LOCK || path->is_access) && path->steps < STEPS_MAX &&
             dwarf_siblingof(&member, &member) == 0);
    if (path->is_access && ways > 1)
        return end_at_union(path, type, offset, length);
    best.steps = path->steps;
    *path = best;
    return quality;
}

/* bytes: of an element. Any element is meant where the first one of several is. */
static void append_indices(struct member_path *path, Dwarf_Die *array, uint64_t index,
                           uint64_t bytes)
{
    uint64_t lengths[ARRAY_DIMENSIONS_MOST], indices[ARRAY_DIMENSIONS_MOST] = {0};
    size_t count = array__dimensions(array, lengths);
    if (path->stride && index == 0 && path->stride % bytes == 0) {
        path->is_strided = true;
        append(path, "[]");
        return;
    }
    for (size_t i = count; i-- > 0;) {
        indices[i] = i && lengths[i] ? index % lengths[i] : index;
        index = i && lengths[i] ? index / lengths[i] : 0;
    }
    for (size_t i = 0; i < count; i++)
        append(path, "[%" PRIu64 "]", indices[i]);
}

static bool is_scalar(Dwarf_Die *type)
{
    Dwarf_Die bare;
    return dwarf_peel_type(type, &bare) != 0 || dwarf_tag(&bare) == DW_TAG_base_type;
}

/* Within something that has no members. */
static enum quality end_inside(struct member_path *path, uint64_t offset)
{
    if (offset)
        append(path, "+0x%" PRIx64, offset);
    return offset ? QUALITY_INSIDE : QUALITY_EXACT;
}

/* Bytes that only fill a library's type have no index. */
static enum quality walk_array(struct member_path *path, Dwarf_Die *array, uint64_t offset,
                               unsigned depth, bool is_of_library)
{
    Dwarf_Die element;
    uint64_t bytes = declaration__type(array, &element) ? size_of(&element, 0) : 0;
    if (!bytes)
        return QUALITY_NONE;
    if (is_of_library && is_scalar(&element))
        return end_inside(path, offset);
    append_indices(path, array, offset / bytes, bytes);
    return walk(path, &element, offset % bytes, depth, is_of_library);
}

static enum quality walk(struct member_path *path, Dwarf_Die *type, uint64_t offset, unsigned depth,
                         bool is_of_library)
{
    Dwarf_Die next;
    if (depth > DEPTH_MAX || ++path->steps > STEPS_MAX)
        return QUALITY_NONE;
    path->leaf = *type;
    path->inside = offset;
    if (is_lock_name(dwarf_diename(type)))
        return offset ? QUALITY_INSIDE : QUALITY_LOCK;
    switch (dwarf_tag(type)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        return declaration__type(type, &next) ? walk(path, &next, offset, depth + 1, is_of_library)
                                              : QUALITY_NONE;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return walk_members(path, type, offset, depth + 1);
    case DW_TAG_array_type:
        return walk_array(path, type, offset, depth + 1, is_of_library);
    default:
        return end_inside(path, offset);
    }
}

char *member__path(Dwarf_Die *variable, uint64_t offset)
{
    struct member_path path = {.length = 0};
    Dwarf_Die type;
    if (!declaration__type(variable, &type) ||
        walk(&path, &type, offset, 0, false) == QUALITY_NONE) {
        cut(&path, 0);
        end_inside(&path, offset);
    }
    return memory__text(path.text);
}

uint64_t type__size(const Dwarf_Die *type)
{
    Dwarf_Die copy = *type;
    return size_of(&copy, 0);
}

bool member__find(const Dwarf_Die *type, uint64_t offset, uint64_t stride, bool is_own,
                  struct member_place *place)
{
    struct member_path path = {.is_access = true, .has_reserved = is_own, .stride = stride};
    Dwarf_Die copy = *type;
    if (walk(&path, &copy, offset, 0, false) == QUALITY_NONE || (stride && !path.is_strided))
        return false;
    *place = (struct member_place){memory__text(path.text), path.leaf, path.inside};
    return true;
}

const char *declaration__file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Half version;
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
        number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}
