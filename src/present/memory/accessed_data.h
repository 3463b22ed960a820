/* accessed_data.h: what is known of an access's data: the object, its type, the field in it.
 *
 * In goes an access and others beside it, out comes what the code of its instruction, what the
 * object was allocated as, and what the others tell of the same object. It costs looks at some
 * dozens of the others. It stands on format/symbols.h. Private to what shows reports and memory. */
#ifndef HEURT_PRESENT_MEMORY_ACCESSED_DATA_H
#define HEURT_PRESENT_MEMORY_ACCESSED_DATA_H

#include "present/shared.h"

/* Valid as long as the report's symbols, and the access's object. */
struct accessed {
    const struct symbol *variable;    /* with a name of its own */
    const struct symbol *given;       /* the program's own name of the object */
    const struct symbol_field *field; /* as the code tells it */
    const struct allocation *object;
    const char *type; /* of the object, or of one of its elements; NULL: not known */
    uint64_t size;    /* of one; 0: not known */
    const struct symbol_type *layout; /* of that type; NULL: not known */
    char *path;    /* of the field in it, "head.next"; "": all of it; NULL: not known */
    bool is_array; /* the object is made of such, one behind the other */
};

/* beside: struct line_access, others of which some may be of the same object; NULL: none. */
struct accessed accessed__find(const struct report *report, size_t process,
                               const struct vec *beside, const struct line_access *access);
void accessed__free(struct accessed *found);

/* Which element of its object's type it is; its type and object must be known. */
uint64_t accessed__element(const struct accessed *found, const struct line_access *access);

#endif
