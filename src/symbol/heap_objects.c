#include "symbol/heap_objects.h"

#include "base/memory.h"
#include "symbol/lookup.h"

#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 4096, OBJECTS_MAX = 16384, FRAMES_MOST = 8, TRIES_MOST = 4 };

struct heap_site {
    uint32_t serial;
    uint64_t address;
    char *name; /* NULL: not known */
    unsigned tries;
    bool is_type; /* the name is that of a library's type */
};

struct heap_object {
    uint32_t serial, site; /* index into sites */
    uint32_t order;        /* in which it was met */
    uint64_t address;
    const char *name;
    bool is_type;
};

/* NULL: there are too many. */
static struct heap_site *site_of(struct heap_objects *self, const struct named_object *object,
                                 uint32_t *number)
{
    uint64_t key[3] = {object->serial, object->site, object->word};
    size_t count = self->sites.count;
    if (count == SITES_MAX && map__get(&self->known_sites, key, sizeof key) == MAP_ABSENT)
        return NULL;
    *number = (uint32_t)map__put(&self->known_sites, key, sizeof key, count);
    if (!self->sites.item_bytes)
        self->sites = VEC_OF(struct heap_site);
    if (*number == count)
        vec__push(&self->sites,
                  &(struct heap_site){.serial = object->serial, .address = object->site});
    return VEC_AT(&self->sites, struct heap_site, *number);
}

void heap_objects__add(struct heap_objects *self, const struct named_object *object)
{
    struct heap_object added = {.serial = object->serial, .address = object->address};
    uint64_t key[4] = {object->serial, object->site, object->word, object->address};
    size_t count = self->known_objects.count;
    if (count == OBJECTS_MAX || map__put(&self->known_objects, key, sizeof key, count) != count ||
        !site_of(self, object, &added.site))
        return;
    if (!self->objects.item_bytes)
        self->objects = VEC_OF(struct heap_object);
    added.order = (uint32_t)self->objects.count;
    vec__push(&self->objects, &added);
}

void heap_objects__learn(struct heap_objects *self, const struct named_object *object,
                         struct space *space, const struct unwound_frame *frames, size_t count,
                         const struct stack_memory *memory)
{
    uint32_t number;
    struct heap_site *site = site_of(self, object, &number);
    if (!site || site->name || site->tries++ >= TRIES_MOST)
        return;
    for (size_t i = 0; i < count && i < FRAMES_MOST && !site->name; i++)
        site->name = lookup__pointed(space, &frames[i], memory, object->address, object->tick);
}

/* ---- types of the C++ library ---------------------------------------------------------------- */

/* "std::barrier" of "std::barrier<std::__empty_completion>::wait(…)"; NULL: none of those that
 * programs wait at. */
static const char *type_in(const char *function)
{
    static const char *const types[][2] = {
        {"std::barrier", "std::barrier"},
        {"std::latch", "std::latch"},
        {"std::atomic", "std::atomic"},
        {"std::atomic_flag", "std::atomic_flag"},
        {"std::future", "std::future"},
        {"std::counting_semaphore", "std::counting_semaphore"},
        {"std::shared_future", "std::future"},
        {"std::promise", "std::future"},
        {"std::packaged_task", "std::future"},
    };
    const char *space = strstr(function, " std::"), *arguments = strchr(function, '(');
    if (space && arguments && space < arguments)
        function = space + 1; /* behind what it returns */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t length = strlen(types[i][0]);
        if (strncmp(function, types[i][0], length) == 0 &&
            (function[length] == '<' || function[length] == ':'))
            return types[i][1];
    }
    return NULL;
}

/* By what is inlined at the site: the outermost of the library's functions. */
static void name_by_type(struct heap_site *site, const struct symbols *symbols)
{
    const char *found = NULL;
    const struct symbol *symbol = symbols__get(symbols, site->serial, site->address);
    for (; symbol && symbol->file && strncmp(symbol->file, "/usr/", 5) == 0;
         symbol = symbol->inlined_by)
        found = type_in(symbol->function) ? type_in(symbol->function) : found;
    site->name = found ? memory__text(found) : NULL;
    site->is_type = true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct heap_object *left = a, *right = b;
    if (left->serial != right->serial)
        return left->serial < right->serial ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

static int by_address_and_order(const void *a, const void *b)
{
    const struct heap_object *left = a, *right = b;
    int order = by_address(a, b);
    return order ? order : left->order < right->order ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
    const struct heap_object *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : by_address(a, b);
}

/* Of two names for one address the better one. Where objects of two types wait at one word of the
 * library's, neither is known. */
static void join(struct heap_object *object, const struct heap_object *other)
{
    if (object->is_type && !other->is_type)
        *object = *other;
    else if (object->is_type && strcmp(object->name, other->name) != 0)
        object->name = "";
}

/* Keeps one of each address that has a name, and needs it. */
static void keep_named(struct heap_objects *self, const struct symbols *symbols)
{
    struct heap_object *objects = self->objects.items;
    size_t kept = 0;
    if (self->objects.count)
        qsort(objects, self->objects.count, sizeof *objects, by_address_and_order);
    VEC_EACH (object, &self->objects, struct heap_object) {
        const struct heap_site *site = VEC_AT(&self->sites, struct heap_site, object->site);
        object->name = site->name;
        object->is_type = site->is_type;
        if (!object->name || symbols__variable(symbols, object->serial, object->address))
            continue;
        if (kept && by_address(&objects[kept - 1], object) == 0)
            join(&objects[kept - 1], object);
        else
            objects[kept++] = *object;
    }
    self->objects.count = kept;
}

static void put(struct symbols *symbols, const struct heap_object *object, size_t number)
{
    if (!*object->name)
        return;
    char *name =
        number ? memory__format("%s #%zu", object->name, number) : memory__text(object->name);
    const struct symbol symbol = {.function = name, .module = "", .named = true};
    symbols__put_variable(symbols, object->serial, object->address, &symbol);
    free(name);
}

static bool is_alike(const struct heap_object *left, const struct heap_object *right)
{
    return left->serial == right->serial && strcmp(left->name, right->name) == 0;
}

void heap_objects__resolve(struct heap_objects *self, struct symbols *symbols)
{
    const struct heap_object *objects = self->objects.items;
    VEC_EACH (site, &self->sites, struct heap_site)
        if (!site->name)
            name_by_type(site, symbols);
    keep_named(self, symbols);
    if (self->objects.count)
        qsort(self->objects.items, self->objects.count, sizeof *objects, by_name);
    for (size_t i = 0, end; i < self->objects.count; i = end) {
        for (end = i + 1; end < self->objects.count && is_alike(&objects[i], &objects[end]);)
            end++;
        for (size_t k = i; k < end; k++)
            put(symbols, &objects[k], end - i > 1 && !objects[i].is_type ? k - i + 1 : 0);
    }
}

void heap_objects__free(struct heap_objects *self)
{
    VEC_EACH (site, &self->sites, struct heap_site)
        free(site->name);
    vec__free(&self->sites);
    vec__free(&self->objects);
    map__free(&self->known_sites);
    map__free(&self->known_objects);
}
