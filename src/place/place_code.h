/* place_code.h: the code of files that processes have mapped, to tell from an interrupted
 * instruction which memory it was at (patch/access.h).
 *
 * In go a process, a place in its memory and registers, out comes an access. Files are known by
 * device and inode, so that processes share what was read; the least used one of CODE_FILES_MOST
 * goes. Only plain files are opened, never larger than CODE_BYTES_MOST, through /proc/PID/root. One
 * thread at a time. */
#ifndef HEURT_PLACE_PLACE_CODE_H
#define HEURT_PLACE_PLACE_CODE_H

#include "kernel/process_map.h"
#include "kernel/sampling.h"
#include "patch/access.h"

#define CODE_FILES_MOST 16u
#define CODE_BYTES_MOST (256u << 20)

/* What a process has mapped, as it was when it was last read. */
struct process_image_map {
    struct vec ranges; /* struct mapped_range */
    struct vec paths;  /* char *: of each; NULL: it has none */
    uint64_t read_ns;  /* CLOCK_MONOTONIC */
};

struct process_image_map process_image_map__new(void);
void process_image_map__free(struct process_image_map *map);
/* The range around address; where there is none the map is read again, at most once a second. NULL:
 * there is none. */
const struct mapped_range *process_image_map__find(struct process_image_map *map, pid_t pid,
                                                   uint64_t address, uint64_t now_ns);
const char *process_image_map__path(const struct process_image_map *map,
                                    const struct mapped_range *range);

struct place_code {
    struct vec files; /* struct code_file_entry */
    uint64_t uses;
};

struct place_code place_code__new(void);
void place_code__free(struct place_code *self);
/* False: the code there cannot be read. *access is of kind ACCESS_NONE where it was not at memory.
 * Of records of accesses only the kind is told. */
bool place_code__find(struct place_code *self, struct process_image_map *map,
                      const struct record *record, struct access *access);

#endif
