/* merged_parts.h: which parts of an MPI job lie in some directories, and whether they are of one
 * run.
 *
 *     DIR/heurt.data.rank0-4711    a part: what the heurt of a rank recorded (ranks.h)
 *     DIR/heurt.data.rank3-4711~   likewise, cut off: its recorder was killed
 *
 * In go paths, of parts or of directories with parts, out come the parts by rank, or a sentence
 * about what does not belong together. It reads each part's definitions once, and stands on
 * format/trace.h. */
#ifndef HEURT_CMD_MERGED_PARTS_H
#define HEURT_CMD_MERGED_PARTS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct merged_part {
    char *path;
    uint32_t rank;
    long job;       /* of its name */
    uint64_t run;   /* a number that all ranks of the run agreed on; 0: they did not */
    uint32_t count; /* ranks of the job; 0: not known */
    bool is_cut;
};

/* Appends those that lie at the path, or in it. 0, or EXIT_HEURT after a sentence. */
int merged_parts__find(struct vec *parts, const char *path);
/* Puts them in order. 0: they are of one run, each rank once; or EXIT_HEURT after a sentence. */
int merged_parts__check(struct vec *parts);
void merged_parts__free(struct vec *parts);

#endif
