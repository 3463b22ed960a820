/* block_pack_ticks.c: the ticks of a block's events as groups, tokens, and the rest of bits. */
#include "format/block_pack.h"

/* With fewer events a group's least difference takes more than it saves. */
#define WORTH_A_LEAST 16u

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Which group each event is in, and the least difference in each. */
static void find_groups(struct packed_ticks *ticks, const struct block_events *events)
{
    bool apart = true; /* from the groups of the shapes */
    uint64_t before = events->start_tick;
    for (size_t i = 0; i <= events->shapes; i++)
        ticks->group[i] = (struct tick_group){.least = UINT64_MAX};
    memset(ticks->tokens_before, 0, (events->shapes + 2) * sizeof *ticks->tokens_before);
    for (size_t i = 0; i < events->events; i++) {
        size_t shape = events->shape_of[i], group = apart ? events->shapes : shape;
        uint64_t tick = events->word[events->first_word[i]] >> HEURT_ID_BITS;
        uint64_t difference = ticks->difference[i] = (tick - before) & HEURT_TICK_MASK;
        struct tick_group *of = &ticks->group[ticks->group_of[i] = (uint16_t)group];
        if (difference < of->least)
            of->least = difference;
        ticks->tokens_before[group + 1]++;
        apart = events->shape[shape].is_dated_by_kernel;
        before = tick;
    }
    for (size_t i = 0; i <= events->shapes; i++) {
        if (ticks->tokens_before[i + 1] < WORTH_A_LEAST)
            ticks->group[i].least = 0;
        ticks->tokens_before[i + 1] += ticks->tokens_before[i];
    }
}

static void find_steps(struct packed_ticks *ticks, const struct block_events *events)
{
    for (size_t i = 0; i < events->events; i++) {
        struct tick_group *group = &ticks->group[ticks->group_of[i]];
        if (group->step != 1)
            group->step = common_divisor(ticks->difference[i] - group->least, group->step);
    }
}

/* Lays the tokens down, group by group. */
static void put_tokens(struct packed_ticks *ticks, const struct block_events *events)
{
    struct bit_writer rest = {.bytes = ticks->rest};
    rest.bytes[0] = 0;
    uint32_t *next = ticks->tokens_before;
    for (size_t i = 0; i < events->events; i++) {
        size_t group = ticks->group_of[i];
        uint64_t step = ticks->group[group].step;
        uint64_t above = ticks->difference[i] - ticks->group[group].least;
        ticks->tokens[next[group]++] = put_tick(&rest, step > 1 ? above / step : above);
    }
    memmove(next + 1, next, (events->shapes + 1) * sizeof *next);
    next[0] = 0;
    ticks->rest_bytes = (rest.at + 7) / 8;
}

void packed_ticks__make(struct packed_ticks *ticks, const struct block_events *events)
{
    find_groups(ticks, events);
    find_steps(ticks, events);
    put_tokens(ticks, events);
}
