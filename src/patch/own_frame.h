/* own_frame.h: whether the frame of a function is still what it was when a thread in it was
 * sampled.
 *
 * Samples are looked at some milliseconds later. Unoptimised code has its variables, pointers to
 * what it accesses among them, in its frame; when it has returned, the frame is another function's.
 * A frame is taken to be there as long as its return address is behind a call of the function: it
 * may be a later call's, which has the same pointers mostly. A call by way of a table of linkage
 * (PLT) does not show whom it calls, and counts as another one's.
 *
 * In go the function's code, the registers of the sample and a reader of the process's memory. It
 * costs two reads. It stands on register_value.h. */
#ifndef HEURT_PATCH_OWN_FRAME_H
#define HEURT_PATCH_OWN_FRAME_H

#include "patch/register_value.h"

/* code: of the function, of which so many bytes are done; start: where it is in the process. False
 * also of a function that does not keep its frame in rbp: then nothing is known. */
bool own_frame__is_gone(const uint8_t *code, size_t done, uint64_t start,
                        const uint64_t registers[16], struct memory_reader memory);

#endif
