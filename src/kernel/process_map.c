#include "kernel/process_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* False: the line is none of a map. path: where in line it begins. */
static bool range_of_line(const char *line, struct mapped_range *range, int *path)
{
    unsigned long long start, end, offset, inode;
    unsigned first, second;
    char rights[5];
    *path = 0;
    if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, rights, &offset, &first,
               &second, &inode, path) != 7)
        return false;
    *range = (struct mapped_range){
        .start = start,
        .end = end,
        .readable = rights[0] == 'r',
        .writable = rights[1] == 'w',
        .executable = rights[2] == 'x',
        .is_shared = rights[3] == 's',
        .is_stack = strstr(line, "[stack]") != NULL,
        .device = makedev(first, second),
        .inode = inode,
        .file_offset = offset,
    };
    return true;
}

bool process_map__each(pid_t pid,
                       void (*each)(const struct mapped_range *range, const char *path,
                                    void *context),
                       void *context)
{
    char name[64], *line = NULL;
    size_t room = 0;
    bool any = false;
    snprintf(name, sizeof name, "/proc/%d/maps", pid);
    FILE *in = fopen(name, "re");
    while (in && getline(&line, &room, in) > 0) {
        struct mapped_range range;
        int path;
        line[strcspn(line, "\n")] = 0;
        if (!range_of_line(line, &range, &path))
            continue;
        each(&range, line + path, context);
        any = true;
    }
    if (in)
        fclose(in);
    free(line);
    return any;
}

static void keep(const struct mapped_range *range, const char *path, void *ranges)
{
    (void)path;
    vec__push(ranges, range);
}

bool process_map__read(pid_t pid, struct vec *ranges)
{
    return process_map__each(pid, keep, ranges);
}

const struct mapped_range *process_map__find(const struct vec *ranges, uint64_t address)
{
    VEC_EACH (range, ranges, const struct mapped_range)
        if (address >= range->start && address < range->end)
            return range;
    return NULL;
}
