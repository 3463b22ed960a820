/* heap_objects.h: names of locks and their kin that lie in no file and on no stack: members of
 * objects that variables pointed to when a call stack was taken. What is met at one site later is
 * taken to be the same member, of the same object or another. Else the type of the C++ library
 * whose function waits at the site, such as std::barrier.
 *
 * In go stacks with the object that the call behind them names, and objects by site; out come
 * names. A site costs a walk of the DIEs of its frames, an object a look-up. It stands on pointed.h
 * and lookup.h. */
#ifndef HEURT_SYMBOL_HEAP_OBJECTS_H
#define HEURT_SYMBOL_HEAP_OBJECTS_H

#include "base/map.h"
#include "base/vec.h"
#include "format/symbols.h"
#include "symbol/unwind.h"

struct heap_objects {
    struct vec sites, objects; /* private */
    struct map known_sites, known_objects;
};

#define HEAP_OBJECTS ((struct heap_objects){0})

/* An object as a call names it. */
struct named_object {
    size_t process;  /* number of its address space */
    uint32_t serial; /* of the process, as in symbols */
    uint32_t word;   /* which of the call's objects */
    uint64_t site, address, tick;
};

void heap_objects__add(struct heap_objects *self, const struct named_object *object);
/* The stack at the call of an object that was added. */
void heap_objects__learn(struct heap_objects *self, const struct named_object *object,
                         struct space *space, const struct unwound_frame *frames, size_t count,
                         const struct stack_memory *memory);
/* Keeps names in symbols, of objects that have none there; several of one name are numbered by
 * address. */
void heap_objects__resolve(struct heap_objects *self, struct symbols *symbols);
void heap_objects__free(struct heap_objects *self);

#endif
