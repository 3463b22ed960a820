/* remote_call.h: a stopped thread of another process calls a function of its own process, and then
 * stands again where it stood.
 *
 * It is made to look like a signal that is delivered: below what the thread's stack is used for
 * lies what sigreturn(2) needs to set all back, and the function returns to the C library's own
 * code that calls it. So the thread comes back to where it was by itself, whenever this process
 * should die, and nothing is written anywhere but on that part of the stack. While this process
 * lives it sets back everything itself, also that the thread is in a system call that is to go on.
 * The thread's signals wait meanwhile. */
#ifndef HEURT_KERNEL_REMOTE_CALL_H
#define HEURT_KERNEL_REMOTE_CALL_H

#include "base/error.h"
#include "kernel/stop.h"

#include <stdint.h>

struct remote_call {
    uint64_t function;
    uint64_t restorer; /* code in the process: mov $15, %rax; syscall */
    const char *text;  /* the first argument is its address on the stack; NULL: none */
    uint64_t second;   /* argument */
    uint64_t limit_ns; /* then the thread is left to come back by itself */
};

/* Bytes of stack that must be mapped below the thread's stack pointer. */
#define REMOTE_CALL_STACK (96u << 10)

/* thread: one of the stop's, that may not have a signal. 0; -EAGAIN: it cannot be done now, nothing
 * has happened; -ETIMEDOUT: the thread is in the call, on its own; -EFAULT: the call was broken off
 * by a fault; -ESRCH: it ended meanwhile. What the function returned is not known. */
int remote_call__make(const struct stop *stop, struct stopped_thread *thread,
                      const struct remote_call *call, struct error *error);

#endif
