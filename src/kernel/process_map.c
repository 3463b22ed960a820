#include "kernel/process_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

bool process_map__read(pid_t pid, struct vec *ranges)
{
    char path[64], *line = NULL;
    size_t room = 0, count = ranges->count;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *in = fopen(path, "re");
    while (in && getline(&line, &room, in) > 0) {
        unsigned long long start, end, inode;
        unsigned first, second;
        char rights[5];
        if (sscanf(line, "%llx-%llx %4s %*x %x:%x %llu", &start, &end, rights, &first, &second,
                   &inode) != 6)
            continue;
        struct mapped_range range = {
            .start = start,
            .end = end,
            .readable = rights[0] == 'r',
            .writable = rights[1] == 'w',
            .executable = rights[2] == 'x',
            .is_shared = rights[3] == 's',
            .is_stack = strstr(line, "[stack]") != NULL,
            .device = makedev(first, second),
            .inode = inode,
        };
        vec__push(ranges, &range);
    }
    if (in)
        fclose(in);
    free(line);
    return ranges->count > count;
}

const struct mapped_range *process_map__find(const struct vec *ranges, uint64_t address)
{
    VEC_EACH (range, ranges, const struct mapped_range)
        if (address >= range->start && address < range->end)
            return range;
    return NULL;
}
