/* landing.h: where exceptions go on in a file: the landing pads that the tables of exceptions
 * (LSDA) of its functions name.
 *
 * In goes a file, out comes each pad's address, by a call. It costs one pass over the tables. It
 * stands on code_file.h and dwarf_bytes.h. */
#ifndef HEURT_PATCH_LANDING_H
#define HEURT_PATCH_LANDING_H

#include "patch/code_file.h"

/* Calls each with the address of every landing pad. The tables are those of the Itanium C++ ABI as
 * gcc and clang write them for C++, C, Rust, Ada and D; what cannot be read of one is left out. */
void landings__each(const struct code_file *file, void (*each)(uint64_t address, void *context),
                    void *context);

#endif
