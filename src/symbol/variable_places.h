/* variable_places.h: where the variables of one function live, instruction by instruction.
 *
 * In goes an address of a function, out come all its variables and parameters, those of blocks and
 * of what is inlined there too, each with the ranges of code in which it is in a register or on the
 * stack. It costs a walk of the function's DIE. It stands on source.h and image.h. */
#ifndef HEURT_SYMBOL_VARIABLE_PLACES_H
#define HEURT_SYMBOL_VARIABLE_PLACES_H

#include "base/vec.h"
#include "symbol/image.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum variable_home {
    HOME_REGISTER, /* the variable, or the piece, is the register plus offset */
    HOME_MEMORY,   /* it lies at the register plus offset */
    HOME_FRAME,    /* it lies at the canonical frame address plus offset */
};

struct variable_place {
    uint64_t start, end; /* addresses of the file: from where to where */
    enum variable_home home;
    uint8_t number; /* of the register, as the processor counts them */
    uint16_t depth; /* of blocks around it */
    int64_t offset;
    uint64_t piece; /* where in the variable that begins which is there */
    Dwarf_Die variable;
    Dwarf_Die type;
    Dwarf_Die function; /* the innermost one that has it */
};

struct variable_places {
    Dwarf_Die function;
    uint64_t start, end; /* the range of its code that holds the address */
    struct vec places;   /* struct variable_place: by register, those of inner blocks first */
};

/* False: the debug information has no function there. variable_places__free it in any case. */
bool variable_places__read(struct image *image, uint64_t address, struct variable_places *places);
void variable_places__free(struct variable_places *places);
/* The place of the first of those that a register tells; SIZE_MAX: there is none. */
size_t variable_places__of(const struct variable_places *places, uint8_t number);

/* The canonical frame address at an instruction as a register plus offset. */
bool frame_address__rule(struct image *image, uint64_t address, uint8_t *number, int64_t *offset);

#endif
