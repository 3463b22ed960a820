/* code_file.h: the functions of one ELF file, with what is needed to judge and move their code.
 * All addresses are addresses in the file.
 *
 * In goes a path, out come functions by address, bytes and rules of the stack pointer. Opening
 * costs a pass over the symbol tables and .eh_frame. It stands on libdwfl and cfa.h. One thread at
 * a time. */
#ifndef HEURT_PATCH_CODE_FILE_H
#define HEURT_PATCH_CODE_FILE_H

#include "base/error.h"
#include "base/vec.h"
#include "patch/cfa.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_section {
    uint64_t start, end;
    const uint8_t *bytes; /* NULL: not in the file (.bss) */
    bool executable;
    bool linkage; /* .plt and its kin */
    bool sleds;   /* it tells where code may be patched: nobody jumps there */
};

/* One symbol. */
struct code_name {
    uint64_t address, size;
    const char *text; /* as in the symbol table */
    uint8_t binding;
    bool ifunc;
};

/* All symbols at one address together, or the code of an FDE that has no symbol: in a stripped file
 * it is called by its place ("+0x1234": address in the file), else it has no name. */
struct code_function {
    uint64_t start, end; /* equal: the size is not known */
    uint32_t first_name, name_count;
    bool ifunc;
};

/* A word that the loader fills with the address of a symbol. */
struct code_slot {
    uint64_t address;
    const char *name;
};

struct code_file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    GElf_Addr dwfl_bias;     /* dwfl's address - address in the file */
    bool stripped;           /* only the dynamic symbols are known */
    bool position_dependent; /* ET_EXEC: code may hold absolute addresses */
    struct vec sections;     /* struct code_section, allocated ones, by address */
    struct vec names;        /* struct code_name: a function's lie side by side, the best first */
    struct vec places;       /* char *: texts of names such as "+0x1234" */
    struct vec functions;    /* struct code_function, by start */
    struct vec labels;       /* uint64_t: where code may begin, sorted, each once */
    struct vec slots;        /* struct code_slot, by address */
    struct vec pointers;     /* uint64_t: addresses of code that relocations put into data */
    struct cfa_table cfa;
};

/* Opens the file at path; build_id (may be empty) is what it has to have. -errno. */
int code_file__open(const char *path, const uint8_t *build_id, size_t build_id_bytes,
                    struct code_file **file, struct error *error);
void code_file__close(struct code_file *file); /* NULL is allowed */

const struct code_section *code_file__section(const struct code_file *file, uint64_t address);

/* The bytes from address to the end of its section, or NULL. */
const uint8_t *code_file__bytes(const struct code_file *file, uint64_t address, size_t *size);

/* The function that holds address (the innermost), or NULL. */
const struct code_function *code_file__function(const struct code_file *file, uint64_t address);

/* The symbol whose address the loader puts at slot, or NULL. */
const char *code_file__slot(const struct code_file *file, uint64_t slot);

const struct code_name *code_function__name(const struct code_file *file,
                                            const struct code_function *function, size_t index);

#endif
