/* address_space.h: the address space of one process image: which file lies where, and when.
 *
 * In go the modules of a trace by time, out comes the file and the address in it of any address at
 * any tick. A look-up costs a search among the modules, the first one in a file opening it. It
 * stands on image.h and format/reader.h. One thread at a time. */
#ifndef HEURT_SYMBOL_ADDRESS_SPACE_H
#define HEURT_SYMBOL_ADDRESS_SPACE_H

#include "format/reader.h"
#include "symbol/image.h"

#include <stddef.h>
#include <stdint.h>

struct space {
    const struct trace_module *modules; /* by time; the caller's, kept */
    size_t module_count;
    struct space *parent;  /* of the image it was forked from, or NULL; kept */
    struct images *images; /* kept */
    struct image **opened; /* NULL where not opened yet */
    size_t last;           /* where the last look-up ended */
};

/* Where an address lies. */
struct address_place {
    const struct trace_module *module; /* NULL: in no file */
    struct image *image;               /* NULL: in no file */
    uint64_t address;                  /* in the file */
};

void space__start(struct space *space, struct images *images, const struct trace_module *modules,
                  size_t module_count, struct space *parent);
void space__end(struct space *space); /* frees what start made */

/* The place of address at that tick; when nothing was mapped there then, what was there at any
 * other time. */
struct address_place space__find(struct space *space, uint64_t address, uint64_t tick);

#endif
