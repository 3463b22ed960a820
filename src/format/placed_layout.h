/* placed_layout.h: on which NUMA node sampled memory is, in a trace: rows of the definitions PLACED
 * and PAGES. A part of layout.h, which includes it. */
#ifndef HEURT_FORMAT_PLACED_LAYOUT_H
#define HEURT_FORMAT_PLACED_LAYOUT_H

#include <stdint.h>

#define HEURT_PAGE_BYTES 4096u
#define HEURT_NODE_UNKNOWN (-1)

/* On machines of several nodes, of a sample at memory whose address is known: the one of that time
 * and thread. */
struct heurt_placed {
    uint64_t monotonic_ns;
    uint32_t tid;
    uint16_t cpu; /* that the thread was on */
    int16_t node; /* that had the page soon afterwards, as the kernel numbers it, or
                     HEURT_NODE_UNKNOWN */
};

enum heurt_page_flag {
    HEURT_PAGE_HUGE = 1u << 0, /* most of what is mapped around it is in huge pages */
};

/* Where a page was that samples named: when it was asked for first, and whenever it was found
 * elsewhere. */
struct heurt_page {
    uint64_t monotonic_ns;
    uint64_t address; /* of its first byte */
    uint32_t pid;
    int16_t node;   /* as above */
    uint16_t flags; /* enum heurt_page_flag */
};

#endif
