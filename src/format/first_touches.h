/* first_touches.h: which thread's page fault brought a page into memory, and on which CPU that ran.
 *
 * In go a trace and the pages that are asked for, each with the tick from which on a fault counts
 * (when the object that lies there was allocated); out comes for each the first one since then. Of
 * many page faults that follow one another most are only counted, without an address, with the next
 * one that is told: a page of which none is told has been touched by who touched the nearest page
 * around it, with such a fault where there is one. It costs a pass
 * over the events that are of no function, and memory for each page fault that is told. It stands
 * on reader.h.
 */
#ifndef HEURT_FORMAT_FIRST_TOUCHES_H
#define HEURT_FORMAT_FIRST_TOUCHES_H

#include "format/reader.h"

struct first_touch {
    uint64_t address; /* of the page's first byte */
    uint32_t process; /* index into trace__processes */
    uint64_t since;   /* tick */
    /* Found: */
    uint64_t tick;   /* UINT64_MAX: no fault is told */
    uint32_t thread; /* index into trace__threads */
    uint32_t cpu;    /* UINT32_MAX: not known */
    bool is_near;    /* it is that of a page nearby */
};

/* touches: struct first_touch, of which what is asked is filled in; afterwards by process and
 * address. */
void first_touches__find(const struct trace *trace, struct vec *touches);
/* NULL: it was not asked for. */
const struct first_touch *first_touches__at(const struct vec *touches, uint32_t process,
                                            uint64_t address);

#endif
