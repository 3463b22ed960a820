/* remote_image.h: of a process that runs, where the code is that attaching needs, and where a
 * thread must not stand for it.
 *
 * In goes a process, out come addresses in it, of its files as /proc/PID/root shows them. It costs
 * a read of the map and of each file's dynamic symbols. It stands on libelf and
 * kernel/process_map.h. */
#ifndef HEURT_RECORDER_REMOTE_IMAGE_H
#define HEURT_RECORDER_REMOTE_IMAGE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct address_range {
    uint64_t start, end; /* end: one past */
};

struct remote_image {
    struct vec maps;   /* struct mapped_range */
    struct vec unsafe; /* struct address_range: code of allocators and of the loader */
    struct address_range libc, library;               /* code; empty: not there */
    uint64_t dlopen, restorer;                        /* of the C library; 0: not found */
    uint64_t enter, look, release, sweep, attachment; /* of heurt's own; 0: not there */
    bool has_loader;
    bool was_launched; /* by heurt: the runtime that is preloaded is in it */
    size_t code_files; /* that are mapped to run */
};

/* False: the process is gone or not ours to look at. remote_image__free it in any case. */
bool remote_image__read(pid_t pid, struct remote_image *image);
void remote_image__free(struct remote_image *image);

bool address_range__has(const struct address_range *range, uint64_t address);

#endif
