/* place_calls.h: the system calls by which the daemon looks at pages and moves them, as a table, so
 * that tests can put others in their place.
 *
 * Each as the system call of its name: a result, or -1 with errno. Any thread may call them. */
#ifndef HEURT_PLACE_PLACE_CALLS_H
#define HEURT_PLACE_PLACE_CALLS_H

#include <sys/types.h>

struct place_calls {
    /* nodes NULL: only asks. status: of each page its node, or a negative errno. */
    long (*move_pages)(pid_t pid, unsigned long count, void **pages, const int *nodes, int *status,
                       int flags);
    /* Makes small pages of the large one around address, in the process of that pidfd: MADV_COLD of
     * one small page, for which the kernel splits it (madvise_cold_or_pageout_pte_range). It wants
     * CAP_SYS_NICE. */
    long (*split)(int pidfd, void *address);
};

extern const struct place_calls place_calls__kernel;

#endif
