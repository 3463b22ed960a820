/* memory.h: allocation that does not fail.
 *
 * When memory is exhausted these call out_of_memory(), which the program that links base defines
 * (only cmd/ may end the process), and which does not return.  Sizes that come from a file must be
 * checked against the file's own length before they come here.  Thread-safe; not signal-safe.
 *
 * In goes how much is wanted, out comes memory that the caller frees. It stands on libc's heap,
 * and so is not for src/runtime. */
#ifndef HEURT_BASE_MEMORY_H
#define HEURT_BASE_MEMORY_H

#include <stddef.h>

_Noreturn void out_of_memory(size_t bytes);

void *memory__zeroed(size_t count, size_t size);            /* free() it */
void *memory__resize(void *old, size_t count, size_t size); /* as realloc */
char *memory__text(const char *text);                       /* strdup; NULL stays NULL */
char *memory__format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
