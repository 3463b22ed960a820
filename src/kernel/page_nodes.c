#include "kernel/page_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 1024u /* pages a call, so that the process waits for none long */

static bool ask_batch(pid_t pid, const uint64_t *pages, size_t count, int16_t *nodes)
{
    void *addresses[BATCH];
    int status[BATCH];
    for (size_t i = 0; i < count; i++)
        addresses[i] = (void *)(uintptr_t)pages[i];
    if (syscall(SYS_move_pages, pid, count, addresses, NULL, status, 0) < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        nodes[i] = (int16_t)(status[i] >= 0 ? status[i] : PAGE_NODE_UNKNOWN);
    return true;
}

/* The only node that the line names ("… N3=12 …"). */
static int16_t only_node(const char *line)
{
    int16_t only = PAGE_NODE_UNKNOWN;
    for (const char *at = line; (at = strstr(at, " N"));) {
        unsigned node, pages;
        at += 2;
        if (sscanf(at, "%u=%u", &node, &pages) != 2)
            continue;
        if (only != PAGE_NODE_UNKNOWN && only != (int16_t)node)
            return PAGE_NODE_UNKNOWN;
        only = (int16_t)node;
    }
    return only;
}

/* A line tells where its mapping begins, not where it ends: the next one begins behind that, or
 * what is asked for lies in between, where nothing is. */
bool page_nodes__from_maps(const char *path, const uint64_t *pages, size_t count, int16_t *nodes)
{
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(path, "re");
    for (size_t i = 0; i < count; i++)
        nodes[i] = PAGE_NODE_UNKNOWN;
    while (in && getline(&line, &room, in) > 0) {
        char *end;
        unsigned long long start = strtoull(line, &end, 16);
        int16_t node = *end == ' ' ? only_node(line) : PAGE_NODE_UNKNOWN;
        for (size_t i = 0; i < count; i++)
            if (pages[i] >= start)
                nodes[i] = node;
    }
    free(line);
    if (in)
        fclose(in);
    return in != NULL;
}

bool page_nodes__ask(pid_t pid, const uint64_t *pages, size_t count, int16_t *nodes)
{
    char path[64];
    size_t done = 0;
    while (done < count) {
        size_t some = count - done < BATCH ? count - done : BATCH;
        if (!ask_batch(pid, pages + done, some, nodes + done))
            break;
        done += some;
    }
    if (done == count)
        return true;
    snprintf(path, sizeof path, "/proc/%d/numa_maps", pid);
    return page_nodes__from_maps(path, pages, count, nodes);
}

struct huge_range {
    unsigned long long start, end, resident_kb, huge_kb;
};

static void mark_huge(const struct huge_range *range, const uint64_t *pages, size_t count,
                      bool *are_huge)
{
    if (!range->huge_kb || range->huge_kb * 2 < range->resident_kb)
        return;
    for (size_t i = 0; i < count; i++)
        are_huge[i] |= pages[i] >= range->start && pages[i] < range->end;
}

bool page_nodes__find_huge(const char *smaps, const uint64_t *pages, size_t count, bool *are_huge)
{
    struct huge_range range = {0};
    bool any = false;
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(smaps, "re");
    memset(are_huge, 0, count * sizeof *are_huge);
    while (in && getline(&line, &room, in) > 0) {
        unsigned long long start, end;
        if (sscanf(line, "%llx-%llx ", &start, &end) == 2) {
            range = (struct huge_range){start, end, 0, 0};
            any = true;
        } else if (sscanf(line, "Rss: %llu", &range.resident_kb) == 1)
            continue;
        else if (sscanf(line, "AnonHugePages: %llu", &range.huge_kb) == 1)
            mark_huge(&range, pages, count, are_huge);
    }
    free(line);
    if (in)
        fclose(in);
    return any;
}
