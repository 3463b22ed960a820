/* image.h: one ELF file of a trace, opened for look-ups. All addresses are addresses in the file
 * (address in the process minus the module's bias), so that processes share what was opened.
 *
 * In goes a module of a trace, out come symbols, sources, variables and unwind rules of its
 * addresses. Each part of a file is read when it is first asked for: the symbol table costs a sort,
 * DWARF, where it is compressed, all of its bytes. What was found is kept by build-id, so that
 * another run need not read it. It stands on libdwfl, interval.h, source.h, unwind.h, variable.h
 * and name_cache.h. One thread at a time. */
#ifndef HEURT_SYMBOL_IMAGE_H
#define HEURT_SYMBOL_IMAGE_H

#include "base/map.h"
#include "base/vec.h"
#include "format/reader.h"
#include "format/symbols.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum image_state {
    IMAGE_UNOPENED,
    IMAGE_OPEN,
    IMAGE_NO_FILE, /* the vdso and the like: nothing to open, nothing to warn about */
    IMAGE_MISSING, /* or not readable, or not an ELF file */
    IMAGE_CHANGED, /* another build-id than the one recorded */
};

struct image {
    char *path;
    const struct trace_module *recorded; /* the first that was asked for; the caller's */
    const char *cache;                   /* directory of what is known from other runs, or NULL */
    enum image_state state;
    Dwfl *dwfl; /* NULL unless open */
    Dwfl_Module *module;
    struct symbols *known;       /* see image__known; NULL: not asked for yet */
    bool has_learned;            /* there is more in it than what was kept (the caller's) */
    bool has_warned;             /* the caller's */
    bool has_symbols;            /* they were read */
    struct vec names;            /* const char *: of the symbols */
    struct vec symbols;          /* struct address_interval: values are indices into names */
    struct vec code;             /* struct address_interval: executable segments */
    struct vec data;             /* struct address_interval: those that can be written to */
    struct source *source;       /* NULL: no DWARF, or not asked for yet: see image__source */
    struct variables *variables; /* NULL: not asked for yet */
    struct unwind_table *unwind; /* NULL: not asked for yet */
};

/* All images of a trace. Owns them. */
struct images {
    struct vec items; /* struct image * */
    struct map by_file;
    const char *cache; /* where names are kept from run to run, or NULL; the caller's */
};

#define IMAGES ((struct images){.items = VEC_OF(struct image *)})

/* The image of a module, which must stay. Never NULL. No file is opened before something is asked
 * for that is not known from other runs. */
struct image *images__get(struct images *images, const struct trace_module *module);
/* Keeps what was found out. */
void images__free(struct images *images);

/* Opens it where that was not done yet; false: it cannot be (state tells why). Of the following,
 * each says no where it cannot. */
bool image__is_open(struct image *image);
/* libc itself, or the loader. */
bool image__is_c_library(const struct image *image);

/* Name of the symbol that holds address, as it stands in the file, or NULL. */
const char *image__symbol(struct image *image, uint64_t address);
/* Where that begins; address itself where there is none. */
uint64_t image__symbol_start(struct image *image, uint64_t address);
bool image__has_symbol_table(struct image *image); /* .symtab, here or in a debug file */
/* Whether that is where handlers of signals return to: the instructions that debuggers know it by.
 */
bool image__returns_from_signal(struct image *image, uint64_t address);
bool image__is_data(struct image *image, uint64_t address);
bool image__is_code(struct image *image, uint64_t address);
struct source *image__source(struct image *image); /* its DWARF, wherever it stands; or NULL */

/* What earlier runs, and this one, have found out about addresses in the file, as symbols.h keeps
 * it: process is 1 for return addresses, else 0; a variable without a name is none. NULL: this
 * file's names are not kept. */
struct symbols *image__known(struct image *image);

#endif
