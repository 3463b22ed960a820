/* name.h: symbol names as people read and write them.
 *
 * In goes a symbol, out comes a text for people, which the caller frees. It costs one demangling.
 * It stands on libiberty. */
#ifndef HEURT_SYMBOL_NAME_H
#define HEURT_SYMBOL_NAME_H

#include <stdbool.h>

/* The readable form of a C++, Rust or D symbol (a Rust symbol without its hash); any other name
 * without its version ("@@GLIBC_2.2.5"). free() it. */
char *symbol_name__demangle(const char *symbol);

/* The same of a variable: without the parameters of the function that it stands in, and without the
 * number that gcc puts behind the name of a function's static variable ("lock.0"). free() it. */
char *symbol_name__variable(const char *symbol);

/* Whether pattern (an fnmatch glob) is or matches the symbol itself, its demangled form, or the
 * demangled form without parameters. */
bool symbol_name__matches(const char *pattern, const char *symbol);

/* Whether it is no symbol but the place of a function without one, "+0x1234" (code_file.h). */
bool symbol_name__is_place(const char *symbol);

#endif
