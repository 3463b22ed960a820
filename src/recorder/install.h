/* install.h: where heurt's own files lie. */
#ifndef HEURT_RECORDER_INSTALL_H
#define HEURT_RECORDER_INSTALL_H

#include "base/error.h"

#define RUNTIME_FILE "libheurt.so"

/* Names a runtime to be used instead, for development. */
#define RUNTIME_ENVIRONMENT "HEURT_RUNTIME"

/* The absolute path of the library to be injected: $HEURT_RUNTIME, else beside this executable as
 * installed (../lib/heurt/libheurt.so, also of a multiarch lib directory), else in its build tree.
 * free() it. -ENOENT names the places that were looked at. A path with a blank or ':' cannot be in
 * LD_PRELOAD: -EINVAL says so. */
int runtime__find(char **path, struct error *error);

/* The same for an executable at this path. */
int runtime__find_beside(const char *executable, char **path, struct error *error);

/* The library PREFIX NAME.so that lies beside the runtime. NULL: it is not there. free() it. */
char *runtime_sibling__find(const char *prefix, const char *name);

#define PLACE_LIBRARY_FILE "libheurt-place.so" /* places memory as it is allocated */
/* NULL: it is not there. free() it. */
char *place_library__find(void);

#endif
