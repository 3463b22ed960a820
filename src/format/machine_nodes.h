/* machine_nodes.h: the NUMA nodes of a machine: their CPUs and how far they are from each other.
 *
 * In go the texts that a trace keeps of the machine that it was recorded on:
 *
 *     nodes           0:0-1;1:2-3     number of each node, and the CPUs that are its own
 *     node_distances  10 20;20 10     a row a node, as the firmware tells it: 10 is the node's own
 *
 * and out come tables. It costs nothing to speak of, and stands on reader.h. */
#ifndef HEURT_FORMAT_MACHINE_NODES_H
#define HEURT_FORMAT_MACHINE_NODES_H

#include "format/reader.h"

#define NODES_META "nodes"
#define DISTANCES_META "node_distances"
#define LINE_BYTES_META "cache_line_bytes"
#define BALANCING_META "numa_balancing" /* as the kernel tells it: "0" is off */
#define HUGE_PAGES_META "huge_pages"    /* "always", "madvise" or "never" */

#define MACHINE_NODES_MOST 64u /* of more nothing is told: tables are of nodes by nodes */
#define NO_NODE UINT32_MAX

/* Nodes are told by their index here; the kernel's numbers may have gaps. */
struct machine_nodes {
    uint32_t count;         /* 0: not known */
    struct vec ids;         /* uint32_t: the kernel's number of each */
    struct vec cpu_counts;  /* uint32_t: CPUs of each; 0: memory alone */
    struct vec cpu_lists;   /* char *: as the text had it, e.g. "0-1" */
    struct vec node_of_cpu; /* uint32_t by CPU: index + 1; 0: of none */
    struct vec distances;   /* uint32_t: from × count + to; empty: not known */
};

/* Texts may be NULL; what makes no sense in them is not known. machine_nodes__free it. */
struct machine_nodes machine_nodes__parse(const char *nodes, const char *distances);
struct machine_nodes machine_nodes__of(const struct trace *trace);
void machine_nodes__free(struct machine_nodes *nodes);

/* The index of a CPU's node, and of a node's number; NO_NODE. */
uint32_t machine_nodes__of_cpu(const struct machine_nodes *nodes, uint32_t cpu);
uint32_t machine_nodes__index(const struct machine_nodes *nodes, int64_t id);
/* 0: not known. */
uint32_t machine_nodes__distance(const struct machine_nodes *nodes, uint32_t from, uint32_t to);

#endif
