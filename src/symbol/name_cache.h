/* name_cache.h: the names of one file's addresses, kept from run to run: a kept_file.h that ends in
 * the text of symbols.h, whose addresses are those in the file.
 *
 * In go a directory and a module, out comes a table of symbols, which the caller fills further and
 * frees. Loading costs the length of what is kept, which is bounded. Nothing in it is believed to
 * be sound, and nothing fails loudly. */
#ifndef HEURT_SYMBOL_NAME_CACHE_H
#define HEURT_SYMBOL_NAME_CACHE_H

#include "format/reader.h"
#include "format/symbols.h"

/* path: the module's file, as it is called now. An empty table where nothing is kept; NULL where
 * nothing can be: without a build-id, or without the file. */
struct symbols *name_cache__load(const char *directory, const char *path,
                                 const struct trace_module *module);
void name_cache__save(const char *directory, const char *path, const struct trace_module *module,
                      const struct symbols *names);

#endif
