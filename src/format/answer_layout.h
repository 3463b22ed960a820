/* answer_layout.h: what answered an access to memory, as the processor tells it, in a trace: rows
 * of the definition ANSWERS. A part of layout.h, which includes it. */
#ifndef HEURT_FORMAT_ANSWER_LAYOUT_H
#define HEURT_FORMAT_ANSWER_LAYOUT_H

#include <stdint.h>

/* Where the data were. */
enum heurt_level {
    HEURT_LEVEL_UNKNOWN = 0,
    HEURT_LEVEL_L1 = 1,
    HEURT_LEVEL_BUFFER = 2, /* on their way to L1 */
    HEURT_LEVEL_L2 = 3,
    HEURT_LEVEL_L3 = 4,
    HEURT_LEVEL_CORE = 5,         /* a cache of another core of the node */
    HEURT_LEVEL_REMOTE_CACHE = 6, /* a cache of another node */
    HEURT_LEVEL_MEMORY = 7,       /* the node's */
    HEURT_LEVEL_REMOTE_MEMORY = 8,
    HEURT_LEVEL_DEVICE = 9, /* or what is not cached */
    HEURT_LEVELS
};

enum heurt_answer_flag {
    HEURT_ANSWER_MODIFIED = 1u << 0, /* another core had written that line last, and had it still */
    HEURT_ANSWER_TLB_MISS = 1u << 1, /* page tables had to be read first */
};

/* Of a sample that the processor took: the one of that time and thread. */
struct heurt_answer {
    uint64_t monotonic_ns;
    uint32_t tid;
    uint16_t latency; /* in cycles, 65535 at most; 0: not told */
    uint8_t level;    /* enum heurt_level */
    uint8_t flags;    /* enum heurt_answer_flag */
};

#endif
