#include "analysis/callsite/program_frame.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "present/shared.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct trace_process *report__process(const struct report *report, uint32_t serial)
{
    VEC_EACH (process, trace__processes(report->trace), struct trace_process)
        if (process->serial == serial)
            return process;
    return NULL;
}

const struct trace_module *process__module_of(const struct trace_process *process, uint64_t address)
{
    if (!process)
        return NULL;
    VEC_EACH (module, &process->modules, struct trace_module)
        if (address >= module->start && address < module->end)
            return module;
    return NULL;
}

bool class__is_hooked(const struct class_definition *class)
{
    return class->at.kind != CLASS_CALL && class->at.kind != CLASS_REGION &&
           class->at.kind != CLASS_ITERATION && class->at.kind != CLASS_LOOP;
}

static struct place place_of_symbol(const struct symbol *symbol)
{
    return (struct place){symbol->function, symbol->module, symbol->file, symbol->line};
}

static struct place place_without_symbol(const struct report *report, uint32_t process,
                                         uint64_t address, char unknown[32])
{
    const struct trace_module *module =
        process__module_of(report__process(report, process), address);
    snprintf(unknown, 32, "0x%" PRIx64, address);
    return (struct place){unknown, module ? module->path : NULL, NULL, 0};
}

struct place place__of_site(const struct report *report, uint32_t process, uint64_t site,
                            char unknown[32])
{
    const struct symbol *symbol = symbols__get(report->symbols, process, site);
    if (!symbol)
        return place_without_symbol(report, process, site, unknown);
    const struct symbol *own = program_frame__inlined(symbol);
    if (!own && symbol__is_of_runtime(symbol))
        return (struct place){"(a function's last call)", NULL, NULL, 0};
    return place_of_symbol(own ? own : symbol);
}

static struct place place_of_call(const struct report *report, const struct class_definition *class,
                                  char unknown[32])
{
    const struct symbol *symbol = symbols__get(report->symbols, class->at.process, class->at.site);
    const struct symbol *own = symbol ? program_frame__inlined(symbol) : NULL;
    if (symbol && !own)
        own = program_frame__in_stack(report->symbols, class);
    return own ? place_of_symbol(own)
               : place__of_site(report, class->at.process, class->at.site, unknown);
}

/* At a function's first address another one may already be inlined: look for its own name, else
 * the outermost. */
static const struct symbol *symbol_of_function(const struct report *report,
                                               const struct class_definition *class)
{
    const struct symbol *symbol =
        symbols__get(report->symbols, class->at.process, class->at.address);
    while (symbol && symbol->inlined_by && strcmp(symbol->function, class->at.function) != 0)
        symbol = symbol->inlined_by;
    return symbol;
}

const char *class__function(const struct report *report, const struct class_definition *class)
{
    const char *function = class->at.function;
    bool is_made = !class__is_hooked(class) && function && strncmp(function, ".omp", 4) == 0;
    const struct symbol *symbol = is_made ? symbol_of_function(report, class) : NULL;
    return symbol ? symbol->function : function;
}

static struct place place_of_function(const struct report *report,
                                      const struct class_definition *class)
{
    struct place place = {class__function(report, class), NULL, class->at.file, class->at.line};
    const struct symbol *symbol = symbol_of_function(report, class);
    const struct trace_module *module =
        process__module_of(report__process(report, class->at.process), class->at.address);
    if (symbol && !place.file) {
        place.file = symbol->file;
        place.line = symbol->line;
    }
    place.module = symbol && symbol->module ? symbol->module : module ? module->path : NULL;
    return place;
}

struct place place__of_class(const struct report *report, const struct class_definition *class,
                             char unknown[32])
{
    if (!class__is_hooked(class))
        return place_of_function(report, class);
    if (class->at.site)
        return place_of_call(report, class, unknown);
    return (struct place){class->at.function, NULL, class->at.file, class->at.line};
}

bool class__is_named(const struct report *report, const struct profile_class *class,
                     const char *pattern)
{
    char unknown[32];
    struct place place = place__of_class(report, &class->what, unknown);
    return fnmatch(pattern, class->what.at.function, 0) == 0 ||
           fnmatch(pattern, place.function, 0) == 0;
}

char *class_names__question(const struct report *report, const char *typed)
{
    struct nearest nearest = nearest__to(typed);
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        char unknown[32];
        struct place place = place__of_class(report, &class->what, unknown);
        nearest__offer(&nearest, class->what.at.function);
        if (place.function != unknown)
            nearest__offer(&nearest, place.function);
    }
    return nearest__question(&nearest);
}

const char *report__variable(const struct report *report, uint32_t process, uint64_t address)
{
    const struct symbol *variable = symbols__variable(report->symbols, process, address);
    return variable ? variable->function : NULL;
}

static const struct symbol *class__variable(const struct report *report,
                                            const struct class_definition *class)
{
    uint64_t address = class->has_object ? class->object : 0;
    VEC_EACH (key, &class->keys, struct profile_key)
        if (class->at.kind == CLASS_DISK && strcmp(key->name, "fd") == 0)
            address = HEURT_FILE_ADDRESS((uint32_t)key->value);
        else if (class->at.kind == CLASS_DISK && strcmp(key->name, "file") == 0)
            address = HEURT_MESSAGE_FILE((uint32_t)key->value);
    return address ? symbols__variable(report->symbols, class->at.process, address) : NULL;
}

const char *class__object_name(const struct report *report, const struct class_definition *class)
{
    const struct symbol *variable = class__variable(report, class);
    return variable ? variable->function : NULL;
}

char *object__made_at(const struct report *report, uint32_t process, uint64_t site)
{
    char unknown[32];
    if (!site)
        return memory__text("");
    struct place place = place__of_site(report, process, site, unknown);
    char *source = place__source(&place, false);
    char *text = memory__format("made at %s", *source ? source : place.function);
    free(source);
    return text;
}

/* The outermost function of the system's libraries that the class waits in: which the program
 * called. NULL: none is known by name. */
static const char *called_of_system(const struct report *report,
                                    const struct class_definition *class)
{
    const char *found = NULL;
    if (!class->stacks.count)
        return NULL;
    const struct profile_stack *stack = VEC_AT(&class->stacks, struct profile_stack, 0);
    for (size_t i = 0; i < stack->frame_count; i++) {
        const struct symbol *symbol =
            symbols__get(report->symbols, stack->process, stack->frames[i]);
        if (!symbol || program_frame__inlined(symbol))
            break;
        found = symbol->function[0] != '[' ? symbol->function : found;
    }
    return found;
}

/* A variable of the C library's says little: "lock of the C library's random". */
static char *known_variable(const struct report *report, const struct class_definition *class,
                            const struct symbol *variable)
{
    bool is_of_libc = variable->module && symbol__is_of_library(variable, "libc.so.");
    const char *called = is_of_libc ? called_of_system(report, class) : NULL;
    return called ? memory__format("%s of the C library's %s", variable->function, called)
                  : memory__text(variable->function);
}

char *class__object_known_as(const struct report *report, const struct class_definition *class)
{
    const struct symbol *variable = class__variable(report, class);
    if (variable)
        return known_variable(report, class, variable);
    if (class->has_object && class->born_site)
        return object__made_at(report, class->at.process, class->born_site);
    return class->has_object ? memory__format("0x%" PRIx64, class->object) : NULL;
}

char *class__object_text(const struct report *report, const struct class_definition *class)
{
    const struct symbol *variable = class__variable(report, class);
    if (!variable) {
        char *made = object__made_at(report, class->at.process, class->born_site);
        char *address = memory__format("0x%" PRIx64 "%s%s", class->object, *made ? ", " : "", made);
        free(made);
        return address;
    }
    char *source =
        place__source(&(struct place){.file = variable->file, .line = variable->line}, true);
    char *text = memory__format("0x%" PRIx64 " %s%s%s", class->object, variable->function,
                                *source ? ", declared in " : "", source);
    free(source);
    return text;
}

struct vec stack__frames(const struct report *report, const struct profile_stack *stack,
                         struct vec *texts)
{
    struct vec frames = VEC_OF(struct frame);
    *texts = VEC_OF(char *);
    for (size_t i = 0; i < stack->frame_count; i++) {
        uint64_t address = stack->frames[i];
        const struct symbol *symbol = symbols__get(report->symbols, stack->process, address);
        if (!symbol) {
            char *text = memory__zeroed(1, 32);
            struct frame frame = {
                address, place_without_symbol(report, stack->process, address, text), false};
            vec__push(texts, &text);
            vec__push(&frames, &frame);
        }
        for (; symbol; symbol = symbol->inlined_by) {
            struct frame frame = {address, place_of_symbol(symbol), symbol->inlined_by != NULL};
            vec__push(&frames, &frame);
        }
    }
    return frames;
}

char *place__source(const struct place *place, bool whole_path)
{
    if (!place->file)
        return memory__text("");
    const char *file = whole_path ? place->file : path__name(place->file);
    return place->line ? memory__format("%s:%u", file, place->line) : memory__text(file);
}

char *place__text(const struct place *place)
{
    char *function = function__short(place->function);
    char *source = place__source(place, false);
    char *text = memory__format("%s%s%s", function, *source ? " " : "", source);
    free(function);
    free(source);
    return text;
}
