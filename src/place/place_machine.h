/* place_machine.h: a described machine: its NUMA nodes, how long an access to memory takes from one
 * to another, and how many controllers and links can do.
 *
 *     hwloc's XML                  nodes and distances; times and bandwidths are assumed
 *     a text, line by line         nodes N
 *                                  latency NS NS …     a row a node, from node 0 on; or
 *                                  distance 10 21 …    as the firmware tells it
 *                                  local NS            at distance 10 (90)
 *                                  controller GB       a second, of each node (20)
 *                                  link GB             a second, from each node to each other (10)
 *                                  # comment
 *
 * In goes a file's name or what a trace tells (format/machine_nodes.h), out comes the machine,
 * which needs no freeing. It stands on hwloc. Several threads may read one. */
#ifndef HEURT_PLACE_PLACE_MACHINE_H
#define HEURT_PLACE_PLACE_MACHINE_H

#include "base/error.h"
#include "format/machine_nodes.h"

#define PLACE_LOCAL_NS 90.0    /* assumed where nothing is told: an access to the own node, */
#define PLACE_CONTROLLER_GB 20 /* 10⁹ bytes a second of a controller, */
#define PLACE_LINK_GB 10       /* and from one node to another */
#define PLACE_LINE_BYTES 64.0  /* of an access */

struct place_machine {
    uint32_t nodes;                                             /* up to MACHINE_NODES_MOST */
    double latency_ns[MACHINE_NODES_MOST * MACHINE_NODES_MOST]; /* from × nodes + to; not loaded */
    double controller_ns, link_ns;                              /* that an access occupies them */
    bool tells_latency, tells_bandwidth;                        /* else they are assumed */
};

/* 0, or a negative errno with a sentence. */
int place_machine__read(const char *path, struct place_machine *machine, struct error *error);
/* Of at least one node; what the trace does not tell is assumed. */
struct place_machine place_machine__of(const struct machine_nodes *nodes);

#endif
