/* descriptor.h: file descriptors, where one call may do less than was asked.
 *
 * In goes a descriptor and the bytes, or room for them; out comes whether all went through. It
 * costs the system calls that it makes, stands on libc alone, and keeps nothing: any thread may
 * call it.
 */
#ifndef HEURT_BASE_DESCRIPTOR_H
#define HEURT_BASE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Reads exactly count bytes, whatever signals come. False: an error, or an end before that; then
 * bytes holds what came until then. */
bool descriptor__read_all(int descriptor, void *bytes, size_t count);
/* Opens a plain file to read it: a pipe that nobody writes would be waited for, and a device may do
 * something when it is opened. -1: errno tells why; EINVAL: it is no plain file. */
int descriptor__open_plain(const char *path);
/* Whether it leads to a file of this process' effective user. */
bool descriptor__is_own(int descriptor);
/* Writes them all likewise. False: errno tells why. */
bool descriptor__write_all(int descriptor, const void *bytes, size_t count);

#endif
