/* kernel_log.h: the kernel's records of a recorded program, written into its trace by a thread of
 * the recorder while the program runs. One at a time. */
#ifndef HEURT_RECORDER_KERNEL_LOG_H
#define HEURT_RECORDER_KERNEL_LOG_H

#include "format/writer.h"
#include "recorder/stop_log.h"

#include <sys/types.h>

struct kernel_log;

/* Attaches to a process that waits in front of its exec; the session says from then on that its
 * threads need no events of their own. NULL: these cannot be had, and they open their own.
 * stops: NULL, or asked while it runs. */
struct kernel_log *kernel_log__start(pid_t pid, struct trace_writer *writer,
                                     struct stop_log *stops);

/* Takes what the rings still hold, and ends the thread. NULL is allowed. */
void kernel_log__stop(struct kernel_log *log);

#endif
