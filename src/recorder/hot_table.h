/* hot_table.h: what heurt hot prints: sampled places summed up by function. */
#ifndef HEURT_RECORDER_HOT_TABLE_H
#define HEURT_RECORDER_HOT_TABLE_H

#include "base/vec.h"
#include "kernel/hotspots.h"
#include "symbol/functions.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hot_function {
    char *symbol;     /* as in the symbol table; NULL: none */
    char *demangled;  /* NULL: no symbol */
    char *pattern;    /* what record -F would read; NULL: cannot be recorded by name */
    char *module;     /* glob of the module's base name, or "[kernel]" and the like */
    char *path;       /* of the module, or NULL */
    char *reason;     /* why there is no pattern */
    uint64_t address; /* of its beginning, in the file */
    uint64_t samples, weight_ns;
};

/* The run that was sampled. */
struct hot_run {
    char **command; /* NULL-terminated */
    uint64_t wall_ns, user_ns, system_ns;
    unsigned frequency_hz;
    bool sees_kernel;
    uint64_t damaged;
};

struct hot_table {
    struct hotspots_totals totals;
    struct vec functions; /* struct hot_function, by weight, the heaviest first */
};

/* The modules' files, kept open for further tables of the same hotspots; zero: none yet. */
struct hot_files {
    struct vec opened; /* struct hot_file, by index of the module */
};
void hot_files__close(struct hot_files *files);
/* Those of the index-th module; NULL: it cannot be read. */
const struct module_functions *
hot_files__functions(struct hot_files *files, const struct hotspots_module *module, uint32_t index);
/* The address of a loaded byte of the index-th module's file; false: it was not opened for a table,
 * or the byte is not loaded. */
bool hot_files__address(const struct hot_files *files, uint32_t index, uint64_t file_offset,
                        uint64_t *address);

/* Sums up the functions that have at least min_percent of the sampled time. Reads the modules'
 * files, or takes them from files (may be NULL); hot_table__free it. */
struct hot_table hot_table__make(const struct hotspots *hotspots, double min_percent,
                                 struct hot_files *files);
void hot_table__free(struct hot_table *table);

/* As function_list.h says. */
void hot_table__print(const struct hot_table *table, const struct hot_run *run, FILE *out);
/* Schema heurt.hot/1. */
void hot_table__print_json(const struct hot_table *table, const struct hot_run *run, FILE *out);

#endif
