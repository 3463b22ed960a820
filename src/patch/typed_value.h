/* typed_value.h: what the registers and the stack of a function hold, by the types of its source.
 *
 * The value of a register is that of the variable that the debug information has there; else what
 * the instruction made it that wrote it last: a copy, a sum, what was loaded from a variable or a
 * member, the result of a call. Where ways of the code come together, all of them have to agree.
 * Nothing is taken from what a program does with memory that has no name.
 *
 * In go a place in the code and a register or an operand, out comes a value. It costs some hundred
 * instructions at most, each decoded again; a function is read when it is met first. It stands on
 * function_code.h and symbol/variable_places.h. One thread at a time. */
#ifndef HEURT_PATCH_TYPED_VALUE_H
#define HEURT_PATCH_TYPED_VALUE_H

#include "patch/decode.h"
#include "patch/function_code.h"
#include "symbol/image.h"
#include "symbol/variable_places.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum typed_kind {
    TYPED_UNKNOWN,
    TYPED_SAME,    /* what it is where the question came from: of loops */
    TYPED_NUMBER,  /* no address */
    TYPED_POINTER, /* into an object */
};

enum typed_storage { STORAGE_POINTED, STORAGE_STATIC, STORAGE_LOCAL };

/* What a type tells of what lies at an address. */
enum typed_worth { WORTH_NOTHING, WORTH_PLAIN, WORTH_LIBRARY, WORTH_OWN };

enum { ORIGIN_BYTES = 128 };

struct typed_value {
    enum typed_kind kind;
    enum typed_storage storage;
    uint64_t multiple; /* what is added to offset is a multiple of it; 0: nothing is */
    uint64_t symbol;   /* of a number: that multiple is of the same value in all numbers with this
                          one; 0: of one that is in no other */
    int64_t offset;    /* of a pointer: from where the object begins; of a number: the number */
    bool is_any;       /* it need not be offset itself: no index that begins with the first one */
    Dwarf_Die type;    /* of the object */
    uint64_t size;     /* of that type */
    enum typed_worth worth;
    Dwarf_Die variable;        /* STATIC, LOCAL: the object's own; */
    Dwarf_Die function;        /* LOCAL: who has it */
    char origin[ORIGIN_BYTES]; /* POINTED: the variable or member that holds the pointer; "" */
};

struct typed_function {
    struct function_code code;
    struct variable_places variables;
    struct typed_value *held; /* by place: what a register holds that is told by it */
    bool *is_held;            /* by place: whether that was found out */
    bool is_known;            /* else all of it is empty */
};

struct typed_code;

/* The image is kept. */
struct typed_code *typed_code__new(struct image *image);
void typed_code__free(struct typed_code *self); /* NULL is allowed */

/* The function around an address of the file; NULL: it cannot be read, or nothing is told of it.
 * Valid until the next call of this. */
const struct typed_function *typed_code__function(struct typed_code *self, uint64_t address);

/* A register or eight bytes of the stack. */
struct typed_cell {
    bool is_slot;
    uint8_t number; /* of the register, as the processor counts; of a slot, of its base */
    int64_t offset; /* of a slot */
};

/* Just before the instruction at that place of the function. wanted: how far from the value the
 * access is that is asked about, which tells the better of two names. */
struct typed_value typed_code__value(struct typed_code *self, const struct typed_function *function,
                                     size_t at, struct typed_cell cell, int64_t wanted);
/* The address that an operand in memory of that instruction means. */
struct typed_value typed_code__address(struct typed_code *self,
                                       const struct typed_function *function, size_t at,
                                       const struct instruction *instruction,
                                       const ZydisDecodedOperand *operand);
/* What a pointer of that type points to, by a variable or member of that name. */
struct typed_value typed_value__of(const Dwarf_Die *type, const char *origin);

/* Where in the object a pointer leads to. */
struct typed_field {
    Dwarf_Die type;  /* of the object; of an array that was gone along: of its element */
    uint64_t offset; /* in that */
    char *element;   /* the array's, where it is known: "[2]"; or NULL */
    char *path;      /* ".head.next", "" for all of it */
    Dwarf_Die leaf;  /* the type of what lies there */
    uint64_t inside; /* how far within that */
    bool is_element; /* of an array of objects: which one is not told */
    bool is_guess;
};
/* False: nothing that is known; else typed_field__free it. */
bool typed_value__field(const struct typed_value *value, struct typed_field *field);

void typed_field__free(struct typed_field *field);

/* The operand that names memory, or NULL. */
const ZydisDecodedOperand *typed_code__memory(const struct instruction *instruction);
/* Whether a called function leaves it as it is. */
bool register__is_kept(int number);

#endif
