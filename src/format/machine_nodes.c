#include "format/machine_nodes.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MOST 65536u

/* A number at *at, which goes behind it; false: there is none, or a silly one. */
static bool take_number(const char **at, uint32_t most, uint32_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    unsigned long long value = strtoull(*at, &end, 10);
    *at = end;
    *number = (uint32_t)value;
    return value < most;
}

static bool take_cpus(struct machine_nodes *nodes, const char **at)
{
    uint32_t first, last, count = 0;
    while (**at && **at != ';') {
        if (!take_number(at, CPUS_MOST, &first))
            return false;
        last = first;
        if (**at == '-' && (++*at, !take_number(at, CPUS_MOST, &last)))
            return false;
        for (uint32_t cpu = first; cpu <= last; cpu++, count++)
            *VEC_REACH(&nodes->node_of_cpu, uint32_t, cpu) = (uint32_t)nodes->ids.count;
        *at += **at == ',';
    }
    vec__push(&nodes->cpu_counts, &count);
    return true;
}

static bool take_nodes(struct machine_nodes *nodes, const char *at)
{
    uint32_t id;
    while (*at) {
        if (nodes->ids.count == MACHINE_NODES_MOST || !take_number(&at, INT16_MAX, &id) ||
            *at++ != ':')
            return false;
        vec__push(&nodes->ids, &id);
        const char *list = at;
        if (!take_cpus(nodes, &at))
            return false;
        char *text = memory__format("%.*s", (int)(at - list), list);
        vec__push(&nodes->cpu_lists, &text);
        at += *at == ';';
    }
    nodes->count = (uint32_t)nodes->ids.count;
    return nodes->count > 0;
}

static void take_distances(struct machine_nodes *nodes, const char *at)
{
    uint32_t distance;
    while (*at) {
        if (!take_number(&at, UINT32_MAX, &distance))
            break;
        vec__push(&nodes->distances, &distance);
        while (*at == ' ' || *at == ';')
            at++;
    }
    if (nodes->distances.count != (size_t)nodes->count * nodes->count)
        nodes->distances.count = 0;
}

struct machine_nodes machine_nodes__parse(const char *text, const char *distances)
{
    struct machine_nodes nodes = {.ids = VEC_OF(uint32_t),
                                  .cpu_counts = VEC_OF(uint32_t),
                                  .cpu_lists = VEC_OF(char *),
                                  .node_of_cpu = VEC_OF(uint32_t),
                                  .distances = VEC_OF(uint32_t)};
    if (!text || !take_nodes(&nodes, text))
        nodes.count = 0;
    else if (distances)
        take_distances(&nodes, distances);
    return nodes;
}

struct machine_nodes machine_nodes__of(const struct trace *trace)
{
    return machine_nodes__parse(trace__meta(trace, NODES_META), trace__meta(trace, DISTANCES_META));
}

void machine_nodes__free(struct machine_nodes *nodes)
{
    VEC_EACH (list, &nodes->cpu_lists, char *)
        free(*list);
    vec__free(&nodes->ids);
    vec__free(&nodes->cpu_counts);
    vec__free(&nodes->cpu_lists);
    vec__free(&nodes->node_of_cpu);
    vec__free(&nodes->distances);
    nodes->count = 0;
}

uint32_t machine_nodes__of_cpu(const struct machine_nodes *nodes, uint32_t cpu)
{
    uint32_t node =
        cpu < nodes->node_of_cpu.count ? *VEC_AT(&nodes->node_of_cpu, uint32_t, cpu) : 0;
    return node ? node - 1 : NO_NODE;
}

uint32_t machine_nodes__index(const struct machine_nodes *nodes, int64_t id)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        if (*VEC_AT(&nodes->ids, uint32_t, i) == id)
            return i;
    return NO_NODE;
}

uint32_t machine_nodes__distance(const struct machine_nodes *nodes, uint32_t from, uint32_t to)
{
    return nodes->distances.count && from < nodes->count && to < nodes->count
               ? *VEC_AT(&nodes->distances, uint32_t, from * nodes->count + to)
               : 0;
}
