#include "kernel/members.h"

void members__free(struct members *members)
{
    map__free(&members->index);
    vec__free(&members->threads);
}

/* NULL: nobody of that process was ever a member. */
static uint32_t *threads_of(const struct members *members, uint32_t pid)
{
    uint64_t index = map__get(&members->index, &pid, sizeof pid);
    return index == MAP_ABSENT ? NULL : VEC_AT(&members->threads, uint32_t, index);
}

static uint32_t *add_process(struct members *members, uint32_t pid)
{
    uint64_t next = members->threads.count;
    uint64_t index = map__put(&members->index, &pid, sizeof pid, next);
    if (index == next)
        vec__push(&members->threads, &(uint32_t){0});
    return VEC_AT(&members->threads, uint32_t, index);
}

struct members members__of(uint32_t first)
{
    struct members members = {.threads = VEC_OF(uint32_t)};
    *add_process(&members, first) = 1;
    return members;
}

static bool is_member(const struct members *members, uint32_t pid)
{
    const uint32_t *threads = threads_of(members, pid);
    return threads && *threads;
}

/* Where the end of a process was lost, somebody else's can get its number. */
static bool begin(struct members *members, uint32_t pid, uint32_t parent_pid)
{
    uint32_t *threads = threads_of(members, pid);
    if (threads && pid != parent_pid)
        *threads = 0;
    if (!is_member(members, parent_pid))
        return false;
    ++*add_process(members, pid);
    return true;
}

static bool end(struct members *members, uint32_t pid)
{
    bool was_member = is_member(members, pid);
    if (was_member)
        --*threads_of(members, pid);
    return was_member;
}

bool members__take(struct members *members, enum member_event event, uint32_t pid,
                   uint32_t parent_pid)
{
    return event == MEMBER_BEGINS ? begin(members, pid, parent_pid)
           : event == MEMBER_ENDS ? end(members, pid)
                                  : is_member(members, pid);
}
