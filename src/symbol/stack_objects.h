/* stack_objects.h: names of locks and their kin that lie on a stack: local variables of functions
 * that were on the stack when a call stack was taken.  Nothing else tells where a frame lay; so an
 * object of a function that never waited while a stack was taken has no name.
 *
 * In go unwound stacks and objects' addresses, out come names of those that lay in a frame. It
 * costs a look-up for each object on each stack. It stands on local.h and lookup.h. */
#ifndef HEURT_SYMBOL_STACK_OBJECTS_H
#define HEURT_SYMBOL_STACK_OBJECTS_H

#include "base/map.h"
#include "base/vec.h"
#include "format/symbols.h"
#include "symbol/unwind.h"

struct stack_objects {
    struct vec frames;  /* of all processes: private */
    struct vec objects; /* likewise */
    struct map known_frames, known_objects;
};

#define STACK_OBJECTS ((struct stack_objects){0})

/* process: number of its address space; serial: as in symbols. */
void stack_objects__add_frame(struct stack_objects *self, size_t process,
                              const struct unwound_frame *frame, uint64_t tick);
void stack_objects__add(struct stack_objects *self, size_t process, uint32_t serial,
                        uint64_t address, uint64_t tick);
/* Keeps in symbols what was found. spaces: by process. */
void stack_objects__resolve(struct stack_objects *self, struct space *spaces,
                            struct symbols *symbols);
void stack_objects__free(struct stack_objects *self);

#endif
