/* patterns.h: which of the user's patterns a function answers to.
 *
 * In go the user's patterns and then symbols, out comes which of them was meant. A symbol costs a
 * look-up and one comparison for each pattern with wildcards; and a demangling, but where no
 * pattern can be its name: of a pattern without wildcards one word is kept that mangled names have
 * as it is written. It stands on symbol/name.h. The texts stay the caller's; one thread at a time.
 */
#ifndef HEURT_PATCH_PATTERNS_H
#define HEURT_PATCH_PATTERNS_H

#include "base/map.h"
#include "base/nearest.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

/* "name" or "name @module"; both may be globs. */
struct pattern {
    const char *text; /* as given; not owned */
    char *name;
    char *module; /* NULL: any */
    bool literal; /* name holds no glob */
    char *word;  /* of a literal: whatever mangled name stands for it holds that; NULL: not known */
    size_t next; /* index + 1 of the next literal pattern of the same name */
    bool answered; /* some function was found */
};

struct patterns {
    struct vec items; /* struct pattern */
    struct map literals;
    size_t glob_count;
};

/* A module for the purpose of matching. */
struct pattern_module {
    const char *path, *base;
};

void patterns__start(struct patterns *patterns);
void patterns__add(struct patterns *patterns, const char *text);
void patterns__free(struct patterns *patterns);

/* Whether the symbol answers to at least one pattern, in its own form, without clone suffix or
 * version, demangled, or demangled without parameters. All it answers to are marked. *exact: one
 * of them is the symbol itself, letter by letter. */
bool patterns__match(struct patterns *patterns, const struct pattern_module *module,
                     const char *symbol, bool *exact);

/* Whether any pattern can match in the module. */
bool patterns__concern(const struct patterns *patterns, const struct pattern_module *module);

/* Offers the forms to which the symbol answers to the search for what the pattern may have meant.
 * *kept (first NULL; free() it at last) owns the nearest word. */
void pattern__offer(const struct pattern *pattern, const struct pattern_module *module,
                    const char *symbol, struct nearest *nearest, char **kept);

/* Whether the module's path or base name matches the glob. */
bool pattern_module__matches(const struct pattern_module *module, const char *glob);

/* Whether the symbol is the part of a function that the compiler has put aside as rarely run. */
bool symbol__is_cold(const char *symbol);

#endif
