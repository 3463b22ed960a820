/* slow_close.h: descriptors whose last closing takes long, such as those of tracepoints, for which
 * the kernel waits until no CPU is in their handlers any more (40 ms each).
 *
 * In go descriptors, out comes nothing: a worker of the kernel closes them. It costs a few system
 * calls and leaves no process behind. */
#ifndef HEURT_KERNEL_SLOW_CLOSE_H
#define HEURT_KERNEL_SLOW_CLOSE_H

#include <stddef.h>

/* They are closed here at once. Where the kernel has no such worker (before Linux 6.9), or gives
 * us no sockets, that takes as long as it takes. */
void slow_close(const int *descriptors, size_t count);

#endif
