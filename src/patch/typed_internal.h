/* typed_internal.h: what the two files of typed_value.h share. */
#ifndef HEURT_PATCH_TYPED_INTERNAL_H
#define HEURT_PATCH_TYPED_INTERNAL_H

#include "base/vec.h"
#include "format/symbols.h"
#include "patch/typed_value.h"

struct typed_section {
    uint64_t start, size;
    const uint8_t *bytes;
};

/* A struct that was met, with its fields. */
struct typed_layout {
    const void *die; /* Dwarf_Die.addr */
    struct symbol_type type;
};

struct typed_code {
    struct image *image;
    struct vec layouts;   /* struct typed_layout *: those that were given out must not move */
    struct vec sections;  /* struct typed_section */
    struct vec functions; /* struct typed_function * */
    bool is_fixed;        /* the file is loaded where it says: code has absolute addresses */
};

/* A struct's fields; NULL: it is none. Valid as long as self. */
const struct symbol_type *typed_code__layout(struct typed_code *self, const Dwarf_Die *type);

struct typed_value typed_value__plus(struct typed_value value, int64_t more);
struct typed_value typed_value__times(struct typed_value value, uint64_t factor);
struct typed_value typed_value__sum(struct typed_value one, struct typed_value other);
/* What it is when it may be either. */
struct typed_value typed_value__either(struct typed_value one, struct typed_value other);
/* Takes the other one, where both are right, if it tells more of an access at that distance. */
void typed_value__improve(struct typed_value *value, const struct typed_value *other,
                          int64_t wanted);
bool typed_value__is_best(const struct typed_value *value, int64_t wanted);
bool typed_value__is_same(const struct typed_value *one, const struct typed_value *other);

/* Whether the register tells where the frame is at that instruction. */
bool typed_code__is_frame(struct typed_code *self, uint64_t address, int number);
/* By the variables that the debug information has in the cell at that instruction. */
struct typed_value typed_code__variable(struct typed_code *self,
                                        const struct typed_function *function, uint64_t address,
                                        struct typed_cell cell, int64_t wanted);
/* The static object at an address of the file, or a variable at a place on the stack. */
struct typed_value typed_code__static(struct typed_code *self, uint64_t address);
struct typed_value typed_code__local(struct typed_code *self, const struct typed_function *function,
                                     uint64_t address, int base, int64_t offset);
/* What is read from there. */
struct typed_value typed_code__load(const struct typed_value *address);
/* What a call of the function at that address gives. */
struct typed_value typed_code__result(struct typed_code *self, uint64_t target);

#endif
