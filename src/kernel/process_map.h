/* process_map.h: what a process has mapped, from /proc/PID/maps.
 *
 * In goes a process, out come its ranges by address. It costs a read of the file; finding is a
 * search. It stands on base/vec.h. */
#ifndef HEURT_KERNEL_PROCESS_MAP_H
#define HEURT_KERNEL_PROCESS_MAP_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_range {
    uint64_t start, end;                                      /* end: one past */
    bool readable, writable, executable, is_shared, is_stack; /* of the first thread */
    uint64_t device, inode;                                   /* as by stat(2); 0: no file */
    uint64_t file_offset;                                     /* of start */
};

/* Appends struct mapped_range, by address. False: the process is gone or not ours to look at. */
bool process_map__read(pid_t pid, struct vec *ranges);
/* Likewise, one by one; path: of a file, or what the kernel calls it otherwise, or "". */
bool process_map__each(pid_t pid,
                       void (*each)(const struct mapped_range *range, const char *path,
                                    void *context),
                       void *context);
/* The range around address, or NULL. */
const struct mapped_range *process_map__find(const struct vec *ranges, uint64_t address);

#endif
