/* page_nodes.h: on which NUMA node the pages of a process are, as the kernel tells.
 *
 * In go a process and addresses of pages, out comes a node for each. move_pages(2) costs about
 * 0.15 us a page, and the process the lock of its memory map for as long as a batch takes. Where it
 * is refused (a container's seccomp filter, another user), /proc/PID/numa_maps tells of mappings
 * whose pages are all on one node. */
#ifndef HEURT_KERNEL_PAGE_NODES_H
#define HEURT_KERNEL_PAGE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_NODE_UNKNOWN (-1)

/* nodes: as the kernel numbers them, or PAGE_NODE_UNKNOWN. False: nothing is told of the process.
 */
bool page_nodes__ask(pid_t pid, const uint64_t *pages, size_t count, int16_t *nodes);
/* For tests: the second way alone, from such a file. */
bool page_nodes__from_maps(const char *path, const uint64_t *pages, size_t count, int16_t *nodes);

/* Whether most of what is mapped around each page is in transparent huge pages, by a file such as
 * /proc/PID/smaps. pages in order. It costs the kernel a walk over the process's page tables.
 * False: nothing is told of it. */
bool page_nodes__find_huge(const char *smaps, const uint64_t *pages, size_t count, bool *are_huge);

#endif
