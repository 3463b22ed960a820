#include "present/memory/sharing_words.h"

#include "base/memory.h"
#include "format/sampled_lines.h"
#include "present/memory/accessed_data.h"

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

/* A template without its arguments, where these take more room than they tell. free() it. */
static char *type_text(const char *type)
{
    enum { LONG = 32 };
    const char *open = strlen(type) > LONG ? strchr(type, '<') : NULL;
    return open ? memory__format("%.*s", (int)(open - type), type) : memory__text(type);
}

/* "lreg_args[1].SXY"; an object of one element has no number. */
static char *element_text(const struct accessed *found, const struct line_access *access)
{
    uint64_t element = accessed__element(found, access);
    uint64_t within = (access->address - found->object->address) % found->size;
    char index[32] = "", bytes[32] = "";
    if (found->object->bytes >= 2 * found->size && (found->is_array || element))
        snprintf(index, sizeof index, "[%" PRIu64 "]", element);
    if (!found->path && within)
        snprintf(bytes, sizeof bytes, "+%" PRIu64, within);
    const char *path = found->path ? found->path : bytes;
    char *type = type_text(found->type);
    char *text = memory__format("%s%s%s%s", type, index,
                                found->path && *path && *path != '[' ? "." : "", path);
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
static char *given_text(const struct accessed *found, const struct line_access *access)
{
    uint64_t offset = access->address - found->object->address;
    char *text = NULL, *element = found->type && found->size ? element_text(found, access) : NULL;
    size_t type = element ? strcspn(element, "[.+") : 0;
    if (element)
        text = memory__format("%s%s", found->given->function, element + type);
    else
        text = offset ? memory__format("%s+%" PRIu64, found->given->function, offset)
                      : memory__text(found->given->function);
    free(element);
    return text;
}

static char *data_text(const struct report *report, size_t process, const struct accessed *found,
                       const struct line_access *access)
{
    bool is_mapped = found->object && found->object->call == HEURT_ALLOCATION_MMAP;
    if (found->given)
        return given_text(found, access);
    if (found->variable)
        return memory__text(found->variable->function);
    if (found->object && found->type && found->size && !is_mapped)
        return element_text(found, access);
    if (found->field && ((*found->field->field && *found->field->field != '[') || !found->object))
        return memory__text(found->field->name);
    if (found->object && !is_mapped)
        return bytes_text(found, access);
    return memory__format("0x%" PRIx64 ", %s", access->address,
                          access__region(report, process, access));
}

char *access__data(const struct report *report, size_t process, const struct vec *beside,
                   const struct line_access *access)
{
    struct accessed found = accessed__find(report, process, beside, access);
    char *text = data_text(report, process, &found, access);
    accessed__free(&found);
    return text;
}

/* Where it stands alone: of an object without a type where it was made. */
static char *name_of(const struct report *report, size_t process, const struct vec *beside,
                     const struct line_access *access)
{
    struct accessed found = accessed__find(report, process, beside, access);
    char *text;
    if (!found.object || found.variable || found.given || found.type || found.field) {
        text = data_text(report, process, &found, access);
    } else {
        char *made = object__made_at(report, serial_at(report, process), found.object->born);
        text = memory__format("memory %s", made);
        free(made);
    }
    accessed__free(&found);
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

char *access__object(const struct report *report, size_t process, const struct vec *beside,
                     const struct line_access *access)
{
    struct accessed found = accessed__find(report, process, beside, access);
    char number[32], *text;
    if (!found.object || (found.variable && !found.given && !found.type)) {
        accessed__free(&found);
        return NULL;
    }
    uint64_t bytes = found.object->bytes;
    char *type = found.type ? type_text(found.type) : NULL;
    char *made = object__made_at(report, serial_at(report, process), found.object->born);
    bool is_row = type && found.size && found.is_array && bytes >= 2 * found.size;
    if (is_row && bytes % found.size == 0)
        text = memory__format("%s %s of %" PRIu64 " bytes, %s",
                              count__format(bytes / found.size, number), type, found.size, made);
    else if (is_row)
        text = memory__format("%s bytes of %s, %" PRIu64 " bytes each, %s",
                              count__format(bytes, number), type, found.size, made);
    else if (type && found.size && bytes < 2 * found.size)
        text = memory__format("%s, %s bytes, %s", type, count__format(bytes, number), made);
    else
        text = memory__format("%s bytes, %s", count__format(bytes, number), made);
    if (found.given) {
        char *given = memory__format("%s: %s", found.given->function, text);
        free(text);
        text = given;
    }
    free(type);
    free(made);
    accessed__free(&found);
    return text;
}

char *sharing__victim(const struct report *report, const struct sharing *sharing)
{
    return name_of(report, sharing->process, &sharing->accesses, &sharing->victim);
}

char *sharing__other(const struct report *report, const struct sharing *sharing)
{
    return name_of(report, sharing->process, &sharing->accesses, &sharing->by);
}

char *sharing__object(const struct report *report, const struct sharing *sharing)
{
    return access__object(report, sharing->process, &sharing->accesses, &sharing->victim);
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
                 access__data(report, process, accesses, access));
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
