#include "place/place_machine.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_DISTANCE 10.0 /* as firmware counts */
#define OTHER_DISTANCE 20.0
#define NS_MOST 1e6
#define GB_MOST 1e6

static void set_bandwidth(struct place_machine *machine, double controller_gb, double link_gb)
{
    machine->controller_ns = PLACE_LINE_BYTES / controller_gb;
    machine->link_ns = PLACE_LINE_BYTES / link_gb;
}

/* Of that many nodes, all of them equally far from each other. */
static struct place_machine assumed(uint32_t nodes)
{
    struct place_machine machine = {.nodes = nodes};
    for (uint32_t from = 0; from < nodes; from++)
        for (uint32_t to = 0; to < nodes; to++)
            machine.latency_ns[from * nodes + to] =
                PLACE_LOCAL_NS * (from == to ? 1 : OTHER_DISTANCE / OWN_DISTANCE);
    set_bandwidth(&machine, PLACE_CONTROLLER_GB, PLACE_LINK_GB);
    return machine;
}

struct place_machine place_machine__of(const struct machine_nodes *nodes)
{
    struct place_machine machine = assumed(nodes->count ? nodes->count : 1);
    for (uint32_t from = 0; from < nodes->count; from++)
        for (uint32_t to = 0; to < nodes->count; to++) {
            uint32_t distance = machine_nodes__distance(nodes, from, to);
            if (distance)
                machine.latency_ns[from * nodes->count + to] =
                    PLACE_LOCAL_NS * distance / OWN_DISTANCE;
        }
    return machine;
}

/* ---- hwloc's ----------------------------------------------------------------------------------
 */

static void take_distances(hwloc_topology_t topology, struct place_machine *machine)
{
    struct hwloc_distances_s *distances = NULL;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology, "NUMALatency", &count, &distances, 0) || !count)
        return;
    if (distances->nbobjs == machine->nodes)
        for (uint32_t i = 0; i < machine->nodes * machine->nodes; i++) {
            uint32_t from = distances->objs[i / machine->nodes]->logical_index,
                     to = distances->objs[i % machine->nodes]->logical_index;
            machine->latency_ns[from * machine->nodes + to] =
                PLACE_LOCAL_NS * (double)distances->values[i] / OWN_DISTANCE;
        }
    hwloc_distances_release(topology, distances);
}

static int read_xml(const char *path, struct place_machine *machine, struct error *error)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology))
        return error__set(error, -ENOMEM, "hwloc gives no topology");
    int failed = hwloc_topology_set_xml(topology, path) ?: hwloc_topology_load(topology);
    int nodes = failed ? 0 : hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    if (nodes > 0 && (unsigned)nodes <= MACHINE_NODES_MOST) {
        *machine = assumed((uint32_t)nodes);
        take_distances(topology, machine);
    }
    hwloc_topology_destroy(topology);
    if (failed)
        return error__set(error, -EINVAL,
                          "'%s' is no machine that hwloc can read: lstopo %s writes one", path,
                          "machine.xml");
    if (nodes <= 0 || (unsigned)nodes > MACHINE_NODES_MOST)
        return error__set(error, -EINVAL, "'%s' has %d NUMA nodes: heurt knows machines of 1 to %u",
                          path, nodes, MACHINE_NODES_MOST);
    return 0;
}

/* ---- text -------------------------------------------------------------------------------------
 */

struct machine_text {
    struct place_machine *machine;
    double local_ns, controller_gb, link_gb;
    uint32_t latencies, distances; /* rows */
};

/* Up to most numbers from least on; how many there are, or −1: something else is there. */
static int numbers(const char *text, double least, double greatest, double *to, uint32_t most)
{
    int count = 0;
    for (char *end;; text = end) {
        text += strspn(text, " \t");
        if (!*text || *text == '#')
            return count;
        double value = strtod(text, &end);
        if (end == text || !strchr(" \t#", *end) || !(value >= least && value <= greatest) ||
            (uint32_t)count == most)
            return -1;
        to[count++] = value;
    }
}

static bool read_row(struct machine_text *self, const char *text, uint32_t *rows)
{
    struct place_machine *machine = self->machine;
    if (!machine->nodes || *rows == machine->nodes)
        return false;
    double *row = &machine->latency_ns[(*rows)++ * machine->nodes];
    return numbers(text, 1, NS_MOST, row, machine->nodes) == (int)machine->nodes;
}

static bool read_line(struct machine_text *self, const char *line)
{
    struct place_machine *machine = self->machine;
    size_t length = strcspn(line, " \t");
    const char *rest = line + length;
    double value = 0;
    if (!*line || *line == '#')
        return true;
    if (strncmp(line, "latency ", length + 1) == 0)
        return !self->distances && read_row(self, rest, &self->latencies);
    if (strncmp(line, "distance ", length + 1) == 0)
        return !self->latencies && read_row(self, rest, &self->distances);
    if (numbers(rest, 1e-3, NS_MOST, &value, 1) != 1)
        return false;
    if (strncmp(line, "nodes ", length + 1) == 0 && !machine->nodes && value >= 1 &&
        value <= MACHINE_NODES_MOST && value == floor(value))
        *machine = assumed((uint32_t)value);
    else if (strncmp(line, "local ", length + 1) == 0)
        self->local_ns = value;
    else if (strncmp(line, "controller ", length + 1) == 0)
        self->controller_gb = value;
    else if (strncmp(line, "link ", length + 1) == 0)
        self->link_gb = value;
    else
        return false;
    return true;
}

static void finish_text(struct machine_text *self)
{
    struct place_machine *machine = self->machine;
    double local_ns = self->local_ns ? self->local_ns : PLACE_LOCAL_NS, times = 1;
    if (self->distances)
        times = local_ns / OWN_DISTANCE;
    else if (!self->latencies)
        times = local_ns / PLACE_LOCAL_NS;
    for (uint32_t i = 0; i < machine->nodes * machine->nodes; i++)
        machine->latency_ns[i] *= times;
    machine->tells_latency = self->latencies || self->local_ns > 0;
    machine->tells_bandwidth = self->controller_gb > 0 && self->link_gb > 0;
    set_bandwidth(machine, self->controller_gb > 0 ? self->controller_gb : PLACE_CONTROLLER_GB,
                  self->link_gb > 0 ? self->link_gb : PLACE_LINK_GB);
}

static int read_text(const char *path, FILE *file, struct place_machine *machine,
                     struct error *error)
{
    struct machine_text text = {.machine = machine};
    char *line = NULL;
    size_t room = 0;
    unsigned number = 0;
    int code = 0;
    *machine = (struct place_machine){0};
    while (!code && getline(&line, &room, file) >= 0) {
        number++;
        line[strcspn(line, "\r\n")] = 0;
        if (!read_line(&text, line))
            code = error__set(error, -EINVAL,
                              "line %u of '%s' describes no machine: see heurt-place(1), MACHINES",
                              number, path);
    }
    free(line);
    uint32_t rows = text.latencies + text.distances;
    if (!code && (!machine->nodes || (rows && rows != machine->nodes)))
        code = error__set(error, -EINVAL,
                          "'%s' describes no machine: it should have 'nodes N' and as many rows "
                          "'latency NS …'",
                          path);
    if (!code)
        finish_text(&text);
    return code;
}

int place_machine__read(const char *path, struct place_machine *machine, struct error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error__set(error, -errno, "'%s' cannot be read: %m", path);
    int first;
    do
        first = getc(file);
    while (first == ' ' || first == '\n');
    if (ferror(file)) {
        int code = error__set(error, -errno, "'%s' cannot be read: %m", path);
        fclose(file);
        return code;
    }
    rewind(file);
    int code =
        first == '<' ? read_xml(path, machine, error) : read_text(path, file, machine, error);
    fclose(file);
    return code;
}
