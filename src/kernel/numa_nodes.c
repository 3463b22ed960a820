#include "kernel/numa_nodes.h"

#include "base/memory.h"
#include "base/vec.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line, without blanks at its ends; NULL: it cannot be read. */
static char *line_of(const char *root, const char *path)
{
    char *name = memory__format("%s%s", root, path), *line = NULL;
    FILE *file = fopen(name, "re");
    size_t room = 0;
    ssize_t length = file ? getline(&line, &room, file) : -1;
    if (length < 0) {
        free(line);
        line = NULL;
    }
    while (line && length > 0 && strchr(" \n", line[length - 1]))
        line[--length] = 0;
    if (file)
        fclose(file);
    free(name);
    return line;
}

static char *line_of_node(const char *root, unsigned node, const char *file)
{
    char *path = memory__format("/sys/devices/system/node/node%u/%s", node, file);
    char *line = line_of(root, path);
    free(path);
    return line;
}

/* Appends to *text, separated by ';'. */
static void append(char **text, char *part)
{
    char *longer = *text ? memory__format("%s;%s", *text, part) : memory__text(part);
    free(*text);
    free(part);
    *text = longer;
}

static void read_node(const char *root, unsigned node, struct numa_nodes *nodes, bool *are_told)
{
    char *cpus = line_of_node(root, node, "cpulist");
    if (!cpus)
        return;
    append(&nodes->nodes, memory__format("%u:%s", node, cpus));
    free(cpus);
    char *distances = line_of_node(root, node, "distance");
    if (distances)
        append(&nodes->distances, distances);
    *are_told &= distances != NULL;
}

/* Of the nodes that there are: uint32_t, in order. */
static struct vec node_numbers(const char *root)
{
    struct vec numbers = VEC_OF(uint32_t);
    char *path = memory__format("%s/sys/devices/system/node", root);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t number;
        int length = 0;
        if (sscanf(entry->d_name, "node%" SCNu32 "%n", &number, &length) == 1 &&
            !entry->d_name[length])
            vec__push(&numbers, &number);
    }
    if (directory)
        closedir(directory);
    free(path);
    vec__sort(&numbers, order__u32);
    return numbers;
}

/* The word in brackets. */
static char *chosen_of(const char *line)
{
    const char *open = line ? strchr(line, '[') : NULL, *end = open ? strchr(open, ']') : NULL;
    return end ? memory__format("%.*s", (int)(end - open - 1), open + 1) : NULL;
}

void numa_nodes__read(const char *root, struct numa_nodes *nodes)
{
    bool are_told = true;
    *nodes = (struct numa_nodes){0};
    struct vec numbers = node_numbers(root);
    VEC_EACH (node, &numbers, uint32_t)
        read_node(root, *node, nodes, &are_told);
    vec__free(&numbers);
    if (!are_told) {
        free(nodes->distances);
        nodes->distances = NULL;
    }
    nodes->balancing = line_of(root, "/proc/sys/kernel/numa_balancing");
    char *huge = line_of(root, "/sys/kernel/mm/transparent_hugepage/enabled");
    nodes->huge_pages = chosen_of(huge);
    free(huge);
    char *line = line_of(root, "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size");
    nodes->line_bytes = line ? (unsigned)strtoul(line, NULL, 10) : 0;
    free(line);
}

void numa_nodes__free(struct numa_nodes *nodes)
{
    free(nodes->nodes);
    free(nodes->distances);
    free(nodes->balancing);
    free(nodes->huge_pages);
    *nodes = (struct numa_nodes){0};
}
