#include "present/memory/sharing_words.h"

#include "base/memory.h"
#include "format/sampled_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SIDES_MOST 2u  /* threads that are told */
#define FIELDS_MOST 3u /* of each */

static uint32_t serial_at(const struct report *report, size_t process)
{
    return trace__process_at(report->trace, process)->serial;
}

/* ---- what the data are ----------------------------------------------------------------------- */

/* What is known of an access's data beside its address. */
struct accessed {
    const struct symbol *variable;    /* with a name of its own */
    const struct symbol *given;       /* the program's own name of the object */
    const struct symbol_field *field; /* as the code tells it */
    const struct allocation *object;
    const char *type; /* of the object, or of one of its elements; NULL: not known */
    uint64_t size;    /* of one; 0: not known */
    uint64_t offset;  /* of the field in it; UINT64_MAX: the code does not tell the field */
    const struct symbol_type *made; /* what the allocation gives; NULL: not known */
    bool is_array;                  /* the object is made of such, one behind the other */
};

/* Whether the object may be of such things, one behind the other, with the field where it was
 * accessed: a type that only stands in a part of it, behind what a library keeps there, is not. */
static bool fits(const struct allocation *object, const struct symbol_field *field,
                 const struct line_access *access)
{
    uint64_t at = access->address - object->address;
    return field && *field->type && field->size && field->size <= object->bytes &&
           at >= field->offset && (at - field->offset) % field->size == 0;
}

/* A field of a struct, and no plain value. */
static bool is_part(const struct symbol_field *field)
{
    return *field->field && *field->field != '[';
}

/* The library's own insides of an atomic: what it is a member of tells more. */
static bool is_of_atomic(const struct symbol_field *field)
{
    return strncmp(field->type, "std::atomic", 11) == 0 ||
           strncmp(field->type, "std::__atomic", 13) == 0;
}

/* Whether what was allocated has a member there, of which the code only knows that it is atomic. */
static bool is_atomic_member(const struct accessed *found, const struct symbol_type *made,
                             const struct line_access *access)
{
    return found->field && made && made->size && is_of_atomic(found->field) &&
           access->address - found->object->address < made->size &&
           symbol_type__member(made, access->address - found->object->address);
}

/* A wrapper of an allocator gives what is made where it was called. */
static const struct symbol_type *type_of(const struct report *report, uint32_t process,
                                         const struct allocation *object)
{
    const struct symbol_type *type = symbols__made_type(report->symbols, process, object->site);
    return type ? type : symbols__made_type(report->symbols, process, object->born);
}

static struct accessed look_up(const struct report *report, size_t process,
                               const struct line_access *access)
{
    uint32_t serial = serial_at(report, process);
    const struct allocation *object = access->object;
    struct accessed found = {
        .variable = symbols__variable(report->symbols, serial, access->address),
        .field = symbols__field(report->symbols, serial, access->instruction),
        .object = object,
    };
    if (object && object->call == HEURT_ALLOCATION_NAMED)
        found.given = symbols__variable(report->symbols, serial, object->address);
    const struct symbol_type *made = object ? type_of(report, serial, object) : NULL;
    uint64_t from = object ? access->address - object->address : 0;
    bool is_made_of = made && made->size && object->bytes % made->size == 0;
    /* What was asked for may be rounded up: the first of its type is there nevertheless. */
    bool is_in_first = made && made->size <= object->bytes && from < made->size;
    bool is_member = (is_made_of || is_in_first) && symbol_type__member(made, from % made->size);
    if (object && is_atomic_member(&found, made, access)) {
        found.type = made->name;
        found.size = made->size;
        found.offset = UINT64_MAX;
        found.made = made;
        found.is_array = is_made_of;
    } else if (object && fits(object, found.field, access) && (is_part(found.field) || !made)) {
        found.type = found.field->type;
        found.size = found.field->size;
        found.offset = found.field->offset;
        found.is_array = found.given || (is_made_of && strcmp(made->name, found.type) == 0);
    } else if ((is_made_of || is_in_first) &&
               (!found.field || found.field->size == made->size || is_member)) {
        found.type = made->name;
        found.size = made->size;
        found.offset = UINT64_MAX;
        found.made = made;
        found.is_array = is_made_of;
    }
    return found;
}

/* The code's own name of a field, where it is one of the type that the object is of. */
static const char *field_in(const struct accessed *found)
{
    return found->offset == UINT64_MAX ? NULL : found->field->field;
}

/* A template without its arguments, where these take more room than they tell. free() it. */
static char *type_text(const char *type)
{
    enum { LONG = 32 };
    const char *open = strlen(type) > LONG ? strchr(type, '<') : NULL;
    return open ? memory__format("%.*s", (int)(open - type), type) : memory__text(type);
}

/* "lreg_args[1].SXY"; an object of one element has no number. */
static char *element_text(const struct accessed *found, uint64_t address)
{
    const char *field = field_in(found);
    uint64_t offset = address - found->object->address, within = offset % found->size;
    char index[32] = "", bytes[32] = "";
    if (found->object->bytes >= 2 * found->size && (found->is_array || offset >= found->size))
        snprintf(index, sizeof index, "[%" PRIu64 "]", offset / found->size);
    const struct symbol_member *member =
        field || !found->made ? NULL : symbol_type__member(found->made, within);
    if (!field && !member && within)
        snprintf(bytes, sizeof bytes, "+%" PRIu64, within);
    bool is_named = member || (field && is_part(found->field));
    char *type = type_text(found->type);
    char *text = memory__format("%s%s%s%s", type, index, is_named ? "." : "",
                                member  ? member->path
                                : field ? field
                                        : bytes);
    free(type);
    return text;
}

/* An offset in what is allocated says nothing where it is not a whole object. */
static char *bytes_text(const struct accessed *found, const struct line_access *access)
{
    uint64_t from = access->address - found->object->address;
    uint64_t bytes = access->bytes ? access->bytes : 1;
    return bytes == 1 ? memory__format("byte %" PRIu64 " of %" PRIu64, from, found->object->bytes)
                      : memory__format("bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64, from,
                                       from + bytes - 1, found->object->bytes);
}

/* "pool+24", "pool[3].head" of what the program has named. */
static char *given_text(const struct accessed *found, uint64_t address)
{
    uint64_t offset = address - found->object->address;
    char *text = NULL, *element = found->type && found->size ? element_text(found, address) : NULL;
    size_t type = element ? strcspn(element, "[.+") : 0;
    if (element)
        text = memory__format("%s%s", found->given->function, element + type);
    else
        text = offset ? memory__format("%s+%" PRIu64, found->given->function, offset)
                      : memory__text(found->given->function);
    free(element);
    return text;
}

char *access__data(const struct report *report, size_t process, const struct line_access *access)
{
    struct accessed found = look_up(report, process, access);
    if (found.given)
        return given_text(&found, access->address);
    if (found.variable)
        return memory__text(found.variable->function);
    if (found.object && found.type && found.size && found.object->call != HEURT_ALLOCATION_MMAP)
        return element_text(&found, access->address);
    if (found.field && (is_part(found.field) || !found.object))
        return memory__text(found.field->name);
    if (found.object && found.object->call != HEURT_ALLOCATION_MMAP)
        return bytes_text(&found, access);
    return memory__format("0x%" PRIx64 ", %s", access->address,
                          access__region(report, process, access));
}

char *access__name(const struct report *report, size_t process, const struct line_access *access)
{
    struct accessed found = look_up(report, process, access);
    if (!found.object || found.variable || found.given || found.type || found.field)
        return access__data(report, process, access);
    char *made = object__made_at(report, serial_at(report, process), found.object->born);
    char *text = memory__format("memory %s", made);
    free(made);
    return text;
}

const char *access__region(const struct report *report, size_t process,
                           const struct line_access *access)
{
    static const char *const regions[] = {
        [HEURT_REGION_UNKNOWN] = "memory",       [HEURT_REGION_FILE] = "mapped file",
        [HEURT_REGION_STACK] = "stack",          [HEURT_REGION_HEAP] = "heap",
        [HEURT_REGION_SHARED] = "shared memory",
    };
    const struct trace_process *at = trace__process_at(report->trace, process);
    if (symbols__variable(report->symbols, at->serial, access->address))
        return "variable";
    if (process__module_of(at, access->address))
        return "static";
    return regions[access->region <= HEURT_REGION_SHARED ? access->region : 0];
}

/* ---- the object ------------------------------------------------------------------------------ */

char *access__object(const struct report *report, size_t process, const struct line_access *access)
{
    struct accessed found = look_up(report, process, access);
    char number[32], *text;
    if (!found.object || (found.variable && !found.given))
        return NULL;
    uint64_t bytes = found.object->bytes;
    char *type = found.type ? type_text(found.type) : NULL;
    char *made = object__made_at(report, serial_at(report, process), found.object->born);
    if (!type || !found.size || (bytes >= 2 * found.size && !found.is_array))
        text = memory__format("%s bytes, %s", count__format(bytes, number), made);
    else if (bytes >= 2 * found.size)
        text = memory__format("%s %s of %" PRIu64 " bytes, %s",
                              count__format(bytes / found.size, number), type, found.size, made);
    else
        text = memory__format("%s, %s bytes, %s", type, count__format(bytes, number), made);
    if (found.given) {
        char *given = memory__format("%s: %s", found.given->function, text);
        free(text);
        text = given;
    }
    free(type);
    free(made);
    return text;
}

/* Another instruction at the same place may tell more of what lies there. */
static const struct line_access *best_told_of(const struct report *report, size_t process,
                                              const struct vec *accesses,
                                              const struct line_access *access)
{
    struct accessed found = look_up(report, process, access);
    if (found.variable || !found.object || (found.type && found.offset != UINT64_MAX))
        return access;
    VEC_EACH (other, accesses, const struct line_access) {
        struct accessed told = look_up(report, process, other);
        if (other->address == access->address && told.object == access->object && told.type &&
            told.offset != UINT64_MAX)
            return other;
    }
    return access;
}

static const struct line_access *best_told(const struct report *report,
                                           const struct sharing *sharing,
                                           const struct line_access *access)
{
    return best_told_of(report, sharing->process, &sharing->accesses, access);
}

char *sharing__victim(const struct report *report, const struct sharing *sharing)
{
    return access__name(report, sharing->process, best_told(report, sharing, &sharing->victim));
}

char *sharing__other(const struct report *report, const struct sharing *sharing)
{
    return access__name(report, sharing->process, best_told(report, sharing, &sharing->by));
}

char *sharing__object(const struct report *report, const struct sharing *sharing)
{
    return access__object(report, sharing->process, best_told(report, sharing, &sharing->victim));
}

uint64_t sharing__born_site(const struct sharing *sharing)
{
    return sharing->victim.object ? sharing->victim.object->born : 0;
}

/* ---- who does what --------------------------------------------------------------------------- */

static bool writes(const struct line_access *access)
{
    return access->access != HEURT_ACCESS_READ && access->access != HEURT_ACCESS_SPIN;
}

static bool is_on(uint64_t line, const struct line_access *access)
{
    return access->address / CACHE_LINE_BYTES == line / CACHE_LINE_BYTES;
}

char *access_thread__text(const struct report *report, uint32_t thread)
{
    const struct trace_thread *of = trace__thread_at(report->trace, thread);
    return memory__format("thread %" PRIu32, of->serial);
}

/* Takes over name; adds it if it is none of those before. */
static void add_name(struct vec *names, char *name)
{
    VEC_EACH (known, names, char *)
        if (strcmp(*known, name) == 0) {
            free(name);
            return;
        }
    vec__push(names, &name);
}

static char *joined(const struct vec *names)
{
    char *text = memory__text("");
    size_t shown = 0;
    VEC_EACH (name, names, char *) {
        if (shown++ == FIELDS_MOST)
            return text__join(text, ", ", "others");
        text = text__join(text, ", ", *name);
    }
    return text;
}

/* What a thread does on the line. */
struct line_side {
    struct vec written, read; /* char * */
    const struct line_access *most;
};

static struct line_side side_of(const struct report *report, size_t process,
                                const struct vec *accesses, uint64_t line, uint32_t thread)
{
    struct line_side side = {VEC_OF(char *), VEC_OF(char *), NULL};
    VEC_EACH (access, accesses, struct line_access) {
        if (access->thread != thread || !is_on(line, access))
            continue;
        if (!side.most || access->sampled_ns > side.most->sampled_ns)
            side.most = access;
        add_name(writes(access) ? &side.written : &side.read,
                 access__data(report, process, best_told_of(report, process, accesses, access)));
    }
    return side;
}

static void line_side__free(struct line_side *side)
{
    VEC_EACH (name, &side->written, char *)
        free(*name);
    VEC_EACH (name, &side->read, char *)
        free(*name);
    vec__free(&side->written);
    vec__free(&side->read);
}

/* What is written is read, too, mostly. */
static void drop_written(struct line_side *side)
{
    size_t kept = 0;
    VEC_EACH (name, &side->read, char *) {
        bool is_written = false;
        VEC_EACH (written, &side->written, char *)
            is_written |= strcmp(*name, *written) == 0;
        if (is_written)
            free(*name);
        else
            *VEC_AT(&side->read, char *, kept++) = *name;
    }
    side->read.count = kept;
}

char *line__side(const struct report *report, size_t process, const struct vec *accesses,
                 uint64_t line, uint32_t thread)
{
    char unknown[32], *text = NULL;
    struct line_side side = side_of(report, process, accesses, line, thread);
    drop_written(&side);
    if (side.most) {
        char *written = joined(&side.written), *read = joined(&side.read),
             *who = access_thread__text(report, thread);
        struct place place =
            place__of_site(report, serial_at(report, process), side.most->instruction, unknown);
        char *where = place__source(&place, false);
        bool both = *written && *read;
        text = memory__format("%s %s%s%s%s%s%s%s%s", who, *written ? "writes " : "", written,
                              both ? " and " : "", *read ? "reads " : "", read, *where ? " (" : "",
                              where, *where ? ")" : "");
        free(written);
        free(read);
        free(who);
        free(where);
    }
    line_side__free(&side);
    return text;
}

char *sharing__sides(const struct report *report, const struct sharing *sharing)
{
    uint32_t threads[SIDES_MOST] = {sharing->victim.thread, sharing->by.thread};
    char *text = memory__text("");
    for (unsigned i = 0; i < (sharing->by.samples ? SIDES_MOST : 1); i++) {
        char *side =
            line__side(report, sharing->process, &sharing->accesses, sharing->line, threads[i]);
        if (side)
            text = text__join(text, "; ", side);
        free(side);
    }
    if (*text >= 'a' && *text <= 'z')
        *text = (char)(*text - 'a' + 'A');
    return text;
}

/* ---- what to do about it --------------------------------------------------------------------- */

static uint64_t on_own_lines(uint64_t bytes)
{
    return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

/* Of which element of its object's type the access is. */
static uint64_t element_of(const struct accessed *found, const struct line_access *access)
{
    return (access->address - found->object->address) / found->size;
}

/* Neighbours of one type: each needs a line of its own. */
static char *fix_of_elements(const struct accessed *victim)
{
    uint64_t whole = on_own_lines(victim->size);
    const char *field = field_in(victim);
    if (whole == victim->size)
        return memory__format("begin it at a cache line: aligned_alloc(%u, …)", CACHE_LINE_BYTES);
    if (!field || !*field || *field == '[')
        return memory__format("each %s in a struct of its own with alignas(%u) (%" PRIu64
                              " → %" PRIu64 " bytes)",
                              victim->type, CACHE_LINE_BYTES, victim->size, whole);
    return memory__format("alignas(%u) on %s (%" PRIu64 " → %" PRIu64 " bytes)", CACHE_LINE_BYTES,
                          victim->type, victim->size, whole);
}

/* Elements of one array need a line each; of two things that lie side by side, the second does. */
static char *fix_of_neighbours(const char *one, const char *other)
{
    size_t root = strcspn(one, "[");
    if (one[root] && strncmp(one, other, root + 1) == 0 &&
        strcspn(one + root, "]") != strlen(one + root) &&
        strncmp(one + root, other + root, strcspn(one + root, "]") + 1) != 0)
        return memory__format("alignas(%u) on the elements of %.*s", CACHE_LINE_BYTES, (int)root,
                              one);
    return strcmp(one, other) == 0
               ? NULL
               : memory__format("alignas(%u) on one of %s and %s", CACHE_LINE_BYTES, one, other);
}

/* Objects that are small lie several to a line, whoever has which. */
static bool is_with_others(const struct sharing *sharing)
{
    VEC_EACH (access, &sharing->accesses, const struct line_access)
        if (is_on(sharing->line, access) && access->object &&
            access->object != sharing->victim.object)
            return true;
    return false;
}

static char *fix_of_object(const struct accessed *victim, const struct line_access *at,
                           const struct accessed *by, const struct line_access *by_at)
{
    bool is_typed = victim->type && by->type && strcmp(victim->type, by->type) == 0;
    if (!victim->size || !is_typed)
        return NULL;
    if (element_of(victim, at) != element_of(by, by_at))
        return fix_of_elements(victim);
    const char *one = field_in(victim), *other = field_in(by);
    return one && other && *one && *other ? fix_of_neighbours(one, other) : NULL;
}

/* The count of owners that copies of a std::shared_ptr have in common, as libstdc++ and libc++ call
 * what it is in. */
static bool counts_owners(const struct report *report, const struct sharing *sharing)
{
    struct accessed victim =
        look_up(report, sharing->process, best_told(report, sharing, &sharing->victim));
    return victim.type && (strncmp(victim.type, "std::_Sp_counted_base", 21) == 0 ||
                           strncmp(victim.type, "std::__1::__shared_count", 24) == 0);
}

char *sharing__fix(const struct report *report, const struct sharing *sharing)
{
    struct accessed victim, by;
    if (counts_owners(report, sharing))
        return memory__text(
            "pass the std::shared_ptr by reference, or what it points to: each copy "
            "counts there");
    if (!sharing->is_false || sharing->is_spun || !sharing->by.samples)
        return NULL;
    victim = look_up(report, sharing->process, best_told(report, sharing, &sharing->victim));
    by = look_up(report, sharing->process, best_told(report, sharing, &sharing->by));
    if (victim.variable && by.variable && !victim.given)
        return fix_of_neighbours(victim.variable->function, by.variable->function);
    if (!victim.object || !by.object)
        return NULL;
    if (victim.type && victim.size && victim.object->bytes < CACHE_LINE_BYTES &&
        is_with_others(sharing))
        return fix_of_elements(&victim);
    if (victim.object == by.object)
        return fix_of_object(&victim, &sharing->victim, &by, &sharing->by);
    return memory__format("alignas(%u) on what lies there: two objects, of %" PRIu64 " and %" PRIu64
                          " bytes, share the line",
                          CACHE_LINE_BYTES, victim.object->bytes, by.object->bytes);
}
