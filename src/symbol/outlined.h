/* outlined.h: functions that older compilers of LLVM make of OpenMP's constructs without telling
 * whose they are: ".omp_outlined._debug__.2", ".omp_task_entry.". Newer ones, and gcc, put the
 * user's function before that, and so are these called here: "Solver::step(int).omp_outlined.1".
 *
 * In go the symbol's name and what is known of the user's function, out comes a name. */
#ifndef HEURT_SYMBOL_OUTLINED_H
#define HEURT_SYMBOL_OUTLINED_H

#include <stdbool.h>

/* name may be NULL. */
bool outlined__is_nameless(const char *name);

/* user: the function that it was made of a part of, demangled; NULL: not known. label: where in
 * which file it begins, "[app+0x1470]". free() the result: "step.omp_outlined.", else "parallel
 * region [app+0x1470]", "task [app+0x1470]". */
char *outlined__name(const char *name, const char *user, const char *label);

#endif
