/* descriptor.h: file descriptors, where one call may do less than was asked. */
#ifndef HEURT_BASE_DESCRIPTOR_H
#define HEURT_BASE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Reads exactly count bytes, whatever signals come. False: an error, or an end before that; then
 * bytes holds what came until then. */
bool descriptor__read_all(int descriptor, void *bytes, size_t count);

#endif
