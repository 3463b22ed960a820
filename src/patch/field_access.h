/* field_access.h: how the source calls what an instruction accesses, and what a call gives that
 * allocates.
 *
 * In goes an address of a file's code, out comes a field of a struct, an element of an array, a
 * local or a static variable: by the code and the debug information alone, without the values of a
 * run. It costs what typed_value.h costs. It stands on typed_value.h. One thread at a time. */
#ifndef HEURT_PATCH_FIELD_ACCESS_H
#define HEURT_PATCH_FIELD_ACCESS_H

#include "format/symbols.h"
#include "patch/typed_value.h"

#include <stdbool.h>
#include <stdint.h>

/* What the instruction at an address of the file accesses. False: it is not known. The texts are
 * the caller's: field_access__clear; the layout is as long there as code. */
bool field_access__find(struct typed_code *code, uint64_t address, struct symbol_field *field);
void field_access__clear(struct symbol_field *field);

/* The type of the object that a call gives which returns to an address of the file: of the first
 * variable or member that its result is put into and that has one, or of the parameter or result
 * that it is passed on as. False: it is not known. What type points to is the caller's:
 * made_type__clear. */
bool made_type__find(struct typed_code *code, uint64_t return_address, struct symbol_type *type);
void made_type__clear(struct symbol_type *type);

#endif
