/* access.h: which instruction of a file was accessing memory when a thread was interrupted, and at
 * which address.
 *
 * An interrupt comes when the oldest instruction is done: one that waited for memory is the one
 * before the interrupted one. Where something jumps to the interrupted one, that is not known, and
 * only an access of its own counts. An address is known when the registers that it is made of are
 * as they were, or what they held can be worked out (register_value.h).
 *
 * In goes a place in a file with the registers that a thread had there, out comes an access. A
 * function costs one decoding when it is met first, a place a search. It stands on decode.h and
 * symbol/functions.h. One thread at a time. */
#ifndef HEURT_PATCH_ACCESS_H
#define HEURT_PATCH_ACCESS_H

#include "patch/register_value.h"
#include "symbol/functions.h"

#include <stdbool.h>
#include <stdint.h>

enum access_kind {
    ACCESS_NONE, /* it was not at memory */
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_UPDATE, /* reads, then writes, or its loop writes the same */
    ACCESS_ATOMIC, /* likewise, in one piece: it waits until all writes before it are done */
    ACCESS_SPIN,   /* reads in a loop that does nothing else */
    ACCESS_TAKE,   /* exchanges in a loop that does nothing else, as spin locks are taken */
};

/* The outermost loop around a place, of those in which a register counts the iterations: all that
 * changes it there adds the same number. */
struct counted_loop {
    uint64_t file_offset; /* where it begins; 0: there is none */
    double least_ns;      /* of an iteration (loop_bound.h); 0: it is not known */
    int32_t step;         /* that an iteration adds */
    uint32_t count;       /* the register's low 32 bits */
};

struct access {
    enum access_kind kind;
    uint64_t file_offset; /* of the instruction; of kind NONE the interrupted one */
    uint64_t address;     /* of the data; 0: not known */
    uint32_t bytes;
    struct counted_loop loop;
};

struct code_accesses;

/* path: of the file that functions were read from; both are kept, not copied. */
struct code_accesses *code_accesses__new(const char *path,
                                         const struct module_functions *functions);
void code_accesses__free(struct code_accesses *self); /* NULL is allowed */

/* The access of a thread that was interrupted at the instruction at file_offset. registers: as the
 * processor numbers them; NULL: what the instruction there does itself, without an address.
 * loaded_at: what to add to a file offset for an address of the process. */
struct access code_accesses__find(struct code_accesses *self, uint64_t file_offset,
                                  const uint64_t registers[16], uint64_t loaded_at,
                                  struct memory_reader memory);

/* Whether the call that returns to file_offset, a sleep, stands in a loop that does nothing else
 * than look whether it may go on: it reads memory other than its own stack, writes none, and calls
 * nothing, unless to ask whether the sleep was interrupted (errno against EINTR), what time it is,
 * or to take and give back a lock. What only leads out of the loop is no part of it. */
bool code_accesses__call_asks(struct code_accesses *self, uint64_t file_offset);

#endif
