/* readable.h: what the program hands to a call, looked at before the call is made. */
#ifndef HEURT_RUNTIME_READABLE_H
#define HEURT_RUNTIME_READABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether that memory of the program can be read: where it cannot, the kernel answers the call with
 * EFAULT, and we are not to fail on it first. No: also where nobody may ask, under a filter of
 * system calls. Needs no heap: also between vfork and exec. */
bool memory__is_readable(const void *from, size_t bytes);
/* Copies it if so. */
bool memory__copy(void *to, const void *from, size_t bytes);
/* Copies what was there when the call was made, and what another thread may do away with meanwhile.
 * Dearer. */
bool memory__copy_of_others(void *to, const void *from, size_t bytes);
/* A list of texts that NULL ends, as exec takes them (may be NULL). */
bool texts__are_readable(char *const *texts);

#endif
