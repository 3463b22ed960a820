/* trampolines.h: what the two files of libheurt-mpi.so have in common: trampolines.c, C's names of
 * MPI's functions; fortran.c, those that programs of Fortran call, and PMPI's. */
#ifndef HEURT_MPI_TRAMPOLINES_H
#define HEURT_MPI_TRAMPOLINES_H

#include "mpi/mpi_functions.h"

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct mpi_entry {
    const char *name;
    void **slot;
};

/* Finds out where all functions of C lead. */
HIDDEN void heurt_mpi_resolve(void);
/* What is called where there is none of that name: an error. */
HIDDEN int trampoline__missing(void);
/* Where PMPI's functions lead; the library for Fortran, if a wrapper is there. */
HIDDEN struct mpi_code fortran__resolve(void *wrapper);
/* From now on PMPI calls of that code go where MPI's of a program do: these are known. */
HIDDEN void fortran__leads_to_wrappers(struct mpi_code code);

/* The registers in which arguments come are kept; those for floating-point numbers hold none. */
#define SAVE(register) "  push %" register "\n  .cfi_adjust_cfa_offset 8\n"
#define RESTORE(register) "  pop %" register "\n  .cfi_adjust_cfa_offset -8\n"
#define SAVE_ARGUMENTS \
    SAVE("rdi") SAVE("rsi") SAVE("rdx") SAVE("rcx") SAVE("r8") SAVE("r9") SAVE("rax")
#define RESTORE_ARGUMENTS \
    RESTORE("rax")        \
    RESTORE("r9") RESTORE("r8") RESTORE("rcx") RESTORE("rdx") RESTORE("rsi") RESTORE("rdi")
#define TRAMPOLINE_BEGIN(symbol) \
    ".text\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n  .cfi_startproc\n"
#define TRAMPOLINE_END(symbol) "  .cfi_endproc\n.size " symbol ", .-" symbol "\n"

#endif
