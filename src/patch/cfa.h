/* cfa.h: where the canonical frame address (the stack pointer of the caller before the call) is at
 * each instruction, from .eh_frame. Only the CFA's rules are followed, so that one pass over a
 * large library is cheap. Addresses are addresses in the file.
 *
 * In goes an ELF file, out come ranges of addresses with a rule each. It stands on libdw and
 * dwarf_bytes.h. An object is read only, once made. */
#ifndef HEURT_PATCH_CFA_H
#define HEURT_PATCH_CFA_H

#include "base/vec.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

enum cfa_base {
    CFA_UNKNOWN, /* an expression, or another register */
    CFA_RSP,     /* CFA = rsp + offset */
    CFA_RBP,     /* CFA = rbp + offset */
};

/* The rule from start to end (exclusive). */
struct cfa_row {
    uint64_t start, end;
    enum cfa_base base;
    int64_t offset;
    bool rbx_saved; /* an unwinder finds the caller's rbx somewhere else than in rbx */
};

/* What one FDE of .eh_frame covers. */
struct cfa_range {
    uint64_t start, end;
    const uint8_t *initial, *initial_end; /* of its CIE; into the mapped section */
    const uint8_t *program, *program_end;
    uint64_t code_factor;
    int64_t data_factor;
    bool signal_frame;
    uint64_t lsda; /* where its table of exceptions is; 0: it has none */
};

struct cfa_table {
    struct vec ranges; /* struct cfa_range, by start */
};

/* Reads the .eh_frame of elf, which must outlive the table. A file without gives an empty one. */
void cfa_table__read(struct cfa_table *table, Elf *elf);
void cfa_table__free(struct cfa_table *table);

/* The range that covers address, or NULL. */
const struct cfa_range *cfa_table__find(const struct cfa_table *table, uint64_t address);

/* Walks along code. */
struct cfa_cursor {
    const struct cfa_table *table;
    struct vec rows; /* struct cfa_row, of the range that was looked up last */
    struct cfa_row row;
};

#define CFA_CURSOR(of) ((struct cfa_cursor){.table = (of), .rows = VEC_OF(struct cfa_row)})

/* Leaves in row the one that covers address; in a signal frame, or without any: false and zeroes.
 */
bool cfa_cursor__seek(struct cfa_cursor *cursor, uint64_t address);
void cfa_cursor__rewind(struct cfa_cursor *cursor); /* forgets what was looked up */
void cfa_cursor__free(struct cfa_cursor *cursor);

#endif
