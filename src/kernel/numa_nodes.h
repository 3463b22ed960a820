/* numa_nodes.h: what /sys says about the NUMA nodes of a machine.
 *
 * In goes a directory of a captured machine ("": this one), out come the texts of
 * format/machine_nodes.h. It costs two small files a node. */
#ifndef HEURT_KERNEL_NUMA_NODES_H
#define HEURT_KERNEL_NUMA_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct numa_nodes {
    char *nodes, *distances; /* NULL: not told, or, of distances, not of each node */
    char *balancing;         /* kernel.numa_balancing; NULL: the kernel has none */
    char *huge_pages;        /* "always", "madvise" or "never"; NULL: it has none */
    unsigned line_bytes;     /* of the caches; 0: not told */
};

void numa_nodes__read(const char *root, struct numa_nodes *nodes);
void numa_nodes__free(struct numa_nodes *nodes);

#endif
