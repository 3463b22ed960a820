/* debug_file.h: where the debug file of a stripped one is: on this machine, never on a network.
 *
 * In goes a module of libdwfl, out comes the file's descriptor; debug_file__find is for the
 * find_debuginfo of Dwfl_Callbacks. It costs a few system calls. */
#ifndef HEURT_SYMBOL_DEBUG_FILE_H
#define HEURT_SYMBOL_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* By the build-id; else as .gnu_debuglink names it, beside the file, in .debug there, or in
 * /usr/lib/debug. libdwfl's own search would go on to libdebuginfod, which takes 6 ms to load even
 * where no server is named. */
int debug_file__find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                     const char *path, const char *link, GElf_Word checksum, char **found);

#endif
