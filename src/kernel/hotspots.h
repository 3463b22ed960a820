/* hotspots.h: from a stream of records to places in files: which bytes of which file the CPU time
 * of a program was spent in.
 *
 * Follows each process' maps through fork, exec and dlopen. Memory is bounded by the code that was
 * sampled and the processes that live, not by the length of the run. One thread at a time. */
#ifndef HEURT_KERNEL_HOTSPOTS_H
#define HEURT_KERNEL_HOTSPOTS_H

#include "base/vec.h"
#include "kernel/sampling.h"

/* A sampled instruction. Where module is no file ("[kernel]", "[vdso]", "[anonymous memory]",
 * "[unknown]") offset is 0. */
struct hotspot {
    uint32_t module; /* index into hotspots__modules */
    uint64_t file_offset;
    uint64_t samples;
    uint64_t weight_ns;
};

struct hotspots_module {
    char *path;
    bool is_file;
};

/* What came in, all in all. */
struct hotspots_totals {
    uint64_t samples, weight_ns;
    uint64_t lost; /* records that the kernel could not write */
    uint64_t throttled;
    uint64_t processes;
};

struct hotspots;

struct hotspots *hotspots__new(void);
void hotspots__free(struct hotspots *hotspots);
/* Takes one record; they must come by time. context is a struct hotspots *. */
void hotspots__take(const struct record *record, void *context);

/* The module and the offset in its file of an address of a process as it is mapped now. False: no
 * file is mapped there. */
bool hotspots__find(const struct hotspots *hotspots, uint32_t pid, uint64_t address,
                    uint32_t *module, uint64_t *file_offset);

/* Forgets what was sampled; modules and their numbers stay, and so do the processes' maps. */
void hotspots__forget(struct hotspots *hotspots);

const struct vec *hotspots__modules(const struct hotspots *hotspots); /* struct hotspots_module */
const struct vec *hotspots__spots(const struct hotspots *hotspots);   /* struct hotspot */
struct hotspots_totals hotspots__totals(const struct hotspots *hotspots);

#endif
