#include "symbol/lookup.h"

#include "base/memory.h"
#include "base/text.h"
#include "symbol/name.h"
#include "symbol/outlined.h"
#include "symbol/package.h"
#include "symbol/pointed.h"
#include "symbol/source.h"
#include "symbol/variable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 32 };

/* "[module+0x1234]"; "[vdso+0x10]"; an address in no file: "[0x7f0012345678]". */
static char *label_of(const struct address_place *place, uint64_t address)
{
    if (!place->module)
        return memory__format("[0x%" PRIx64 "]", address);
    const char *name = path__name(place->image->path);
    size_t length = strlen(name);
    if (length > 2 && name[0] == '[' && name[length - 1] == ']')
        return memory__format("[%.*s+0x%" PRIx64 "]", (int)length - 2, name + 1,
                              address - place->module->bias);
    return memory__format("[%s+0x%" PRIx64 "]", *name ? name : "?", address - place->module->bias);
}

/* Of the C library functions are enough, which its symbol table has: to unpack where debug packages
 * have its lines takes longer than many a program. */
static size_t frames_of(struct image *image, uint64_t address,
                        struct source_frame frames[INLINED_MAX])
{
    struct source *source = image && !image__is_c_library(image) ? image__source(image) : NULL;
    return source ? source__frames(source, address, frames, INLINED_MAX) : 0;
}

/* Of a function that a compiler made of a construct of OpenMP, by whose it is. */
static char *name_of_outlined(const struct address_place *place, const char *name)
{
    uint64_t start = image__symbol_start(place->image, place->address);
    struct source *source = image__source(place->image);
    const char *found = source ? source__user_function(source, place->address) : NULL;
    char *user = found ? symbol_name__demangle(found) : NULL;
    char *label = label_of(place, start + place->module->bias);
    char *text = outlined__name(name, user, label);
    free(label);
    free(user);
    return text;
}

static char *name_of(const struct address_place *place, uint64_t address, const char *name)
{
    if (!name)
        return label_of(place, address);
    if (place->image && outlined__is_nameless(name))
        return name_of_outlined(place, name);
    return symbol_name__demangle(name);
}

/* The function that is not inlined is called as the symbol table calls it. */
static void name_frames(const struct address_place *place, uint64_t address, uint64_t asked,
                        const struct source_frame *frames, struct symbol *chain, size_t count)
{
    const char *symbol = place->image ? image__symbol(place->image, asked) : NULL;
    if (!symbol && place->image &&
        (image__returns_from_signal(place->image, asked) ||
         image__returns_from_signal(place->image, asked + 1)))
        symbol = SYMBOL_SIGNAL_RETURN;
    for (size_t i = 0; i < count; i++) {
        const char *name = i + 1 == count && symbol ? symbol : frames[i].name;
        chain[i] = (struct symbol){
            .function = name_of(place, address, name),
            .module = place->image ? place->image->path : "",
            .file = frames[i].file,
            .line = frames[i].line,
            .named = name != NULL,
            .inlined_by = i + 1 < count ? &chain[i + 1] : NULL,
        };
    }
}

/* Whether the function that is not inlined has a name. */
static bool is_named(const struct symbol *symbol)
{
    while (symbol->inlined_by)
        symbol = symbol->inlined_by;
    return symbol->named;
}

bool lookup__put(struct symbols *symbols, uint32_t process, struct space *space, uint64_t address,
                 uint64_t tick, bool is_return)
{
    uint64_t inside = address - (is_return && address ? 1 : 0);
    struct address_place place = space__find(space, inside, tick);
    struct symbols *known = place.image ? image__known(place.image) : NULL;
    const struct symbol *kept = known ? symbols__get(known, is_return, place.address) : NULL;
    if (kept) {
        symbols__put(symbols, process, address, kept);
        return is_named(kept);
    }
    struct source_frame frames[INLINED_MAX] = {0};
    struct symbol chain[INLINED_MAX];
    size_t count = frames_of(place.image, place.address, frames);
    if (count == 0)
        count = 1;
    name_frames(&place, address, place.address, frames, chain, count);
    symbols__put(symbols, process, address, &chain[0]);
    if (known && image__is_open(place.image)) {
        symbols__put(known, is_return, place.address, &chain[0]);
        place.image->has_learned = true;
    }
    bool named = is_named(&chain[0]);
    for (size_t i = 0; i < count; i++)
        free((char *)chain[i].function);
    return named;
}

/* What libstdc++ and libc++ wait at for objects of any kind that have no futex of their own: it
 * tells nothing of the program's object. */
static bool is_proxy(const char *name)
{
    return strstr(name, "__waiter_pool_base") != NULL ||
           strstr(name, "__libcpp_contention") != NULL;
}

static bool put_variable(struct symbols *symbols, uint32_t process, uint64_t address,
                         const struct image *image, const struct variable *variable)
{
    struct symbol symbol = {.function = variable->name,
                            .module = image->path,
                            .file = variable->file,
                            .line = variable->line,
                            .named = true};
    bool is_told = !is_proxy(variable->name);
    if (is_told)
        symbols__put_variable(symbols, process, address, &symbol);
    return is_told;
}

bool lookup__put_local(struct symbols *symbols, uint32_t process, struct space *space,
                       const struct local_frame *frame, uint64_t address, uint64_t tick)
{
    struct address_place place = space__find(space, frame->address, tick);
    struct source *source = place.image ? image__source(place.image) : NULL;
    struct local_frame in_file = *frame;
    struct variable variable;
    in_file.address = place.address;
    if (!source || !local__find(source, &in_file, address, &variable))
        return false;
    bool is_told = put_variable(symbols, process, address, place.image, &variable);
    free(variable.name);
    return is_told;
}

/* A lock of a library's own is told by who calls it. */
static bool is_of_system(const struct image *image)
{
    return strncmp(image->path, "/lib", 4) == 0 || strncmp(image->path, "/usr/lib", 8) == 0;
}

char *lookup__pointed(struct space *space, const struct unwound_frame *frame,
                      const struct stack_memory *memory, uint64_t object, uint64_t tick)
{
    struct address_place place = space__find(space, frame->address - !frame->is_exact, tick);
    struct source *source =
        place.image && !is_of_system(place.image) ? image__source(place.image) : NULL;
    return source ? pointed__name(source, place.address, &frame->state, memory, object) : NULL;
}

static bool find_variable(struct image *image, uint64_t address, struct variable *variable)
{
    if (!image__is_data(image, address))
        return false;
    if (!image->variables)
        image->variables = variables__open(image->module, image__has_symbol_table(image));
    return variables__find(image->variables, address, variable);
}

bool lookup__put_variable(struct symbols *symbols, uint32_t process, struct space *space,
                          uint64_t address, uint64_t tick)
{
    struct address_place place = space__find(space, address, tick);
    struct symbols *known = place.image ? image__known(place.image) : NULL;
    const struct symbol *kept = known ? symbols__variable(known, 0, place.address) : NULL;
    struct variable variable = {0};
    if (kept && *kept->function)
        symbols__put_variable(symbols, process, address, kept);
    if (kept || !place.image || !image__is_open(place.image))
        return kept && *kept->function;
    bool found = find_variable(place.image, place.address, &variable);
    bool is_told = found && put_variable(symbols, process, address, place.image, &variable);
    if (known) {
        put_variable(known, 0, place.address, place.image,
                     found ? &variable : &(struct variable){.name = (char *)""});
        place.image->has_learned = true;
    }
    free(variable.name);
    return is_told;
}

/* The sentence, with the package that has the names. free() it. */
static char *told_of_package(const char *path, char *sentence)
{
    char *package = package__with_names(PACKAGE_LISTS, path);
    if (package)
        sentence = text__append(sentence, SYMBOLS_PACKAGE "%s)", package);
    free(package);
    return sentence;
}

void lookup__warn(struct symbols *symbols, struct image *image)
{
    const char *const *sentences, *reason = NULL;
    struct symbols *known = image__known(image);
    if (image->has_warned || image->state == IMAGE_NO_FILE)
        return;
    image->has_warned = true;
    if (known && symbols__warnings(known, &sentences))
        return symbols__warn(symbols, sentences[0]);
    image__is_open(image);
    if (image->state == IMAGE_MISSING)
        reason = "the file is gone or cannot be read; its functions are shown as module+offset. "
                 "Put it back and record again";
    else if (image->state == IMAGE_CHANGED)
        reason = "the file was rebuilt or replaced since it ran (its build-id differs); its "
                 "functions are shown as module+offset. Record again";
    else if (!image__has_symbol_table(image) && !image__source(image))
        reason = &SYMBOLS_STRIPPED[strlen(": ")];
    if (!reason)
        return;
    char *sentence = memory__format("%s: %s", image->path, reason);
    if (image->state == IMAGE_OPEN)
        sentence = told_of_package(image->path, sentence);
    symbols__warn(symbols, sentence);
    if (known && image->state == IMAGE_OPEN) {
        symbols__warn(known, sentence);
        image->has_learned = true;
    }
    free(sentence);
}
