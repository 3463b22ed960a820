/* image.h: one ELF file of a trace, opened for look-ups. All addresses are addresses in the file
 * (address in the process minus the module's bias), so that processes share what was opened.
 *
 * In goes a module of a trace, out come symbols, sources, variables and unwind rules of its
 * addresses. Opening costs a sort of the symbol table; DWARF is read when it is first asked for.
 * It stands on libdwfl, interval.h, source.h, unwind.h and variable.h. One thread at a time. */
#ifndef HEURT_SYMBOL_IMAGE_H
#define HEURT_SYMBOL_IMAGE_H

#include "base/map.h"
#include "base/vec.h"
#include "format/reader.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum image_state {
    IMAGE_OPEN,
    IMAGE_NO_FILE, /* the vdso and the like: nothing to open, nothing to warn about */
    IMAGE_MISSING, /* or not readable, or not an ELF file */
    IMAGE_CHANGED, /* another build-id than the one recorded */
};

struct image {
    char *path;
    enum image_state state;
    Dwfl *dwfl; /* NULL unless open */
    Dwfl_Module *module;
    bool has_warned;             /* the caller's */
    bool has_symbol_table;       /* .symtab, here or in a debug file */
    bool has_debug_info;         /* DWARF, here or in a debug file */
    struct vec names;            /* const char *: of the symbols */
    struct vec symbols;          /* struct interval: values are indices into names */
    struct vec code;             /* struct interval: executable segments */
    struct vec data;             /* struct interval: those that can be written to */
    struct source *source;       /* NULL: no DWARF, or not asked for yet */
    struct variables *variables; /* NULL: not asked for yet */
    struct unwind_table *unwind; /* NULL: not asked for yet */
};

/* All images of a trace. Owns them. */
struct images {
    struct vec items; /* struct image * */
    struct map by_file;
};

#define IMAGES ((struct images){.items = VEC_OF(struct image *)})

/* The image of a module, opened at the first call. Never NULL. */
struct image *images__get(struct images *images, const struct trace_module *module);
void images__free(struct images *images);

/* Name of the symbol that holds address, as it stands in the file, or NULL. */
const char *image__symbol(const struct image *image, uint64_t address);
bool image__is_data(const struct image *image, uint64_t address);
bool image__is_code(const struct image *image, uint64_t address);

#endif
