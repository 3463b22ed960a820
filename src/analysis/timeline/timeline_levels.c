#include "analysis/timeline/timeline.h"

#include "base/memory.h"

#include <stdlib.h>

#define LAST_PIECES 64u /* wall time over a piece of the last level */
#define LEVEL_FACTOR 4u

/* ---- pieces in bytes ------------------------------------------------------------------------- */

static void put_byte(struct vec *bytes, unsigned byte)
{
    vec__push(bytes, &(uint8_t){(uint8_t)byte});
}

static void put_number(struct vec *bytes, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(bytes, (number & 0x7f) | 0x80);
    put_byte(bytes, (unsigned)number);
}

static unsigned states_of(const struct timeline_piece *piece)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TIMELINE_STATES; i++)
        count += piece->state_ns[i] > 0;
    return count;
}

void timeline_piece__put(const struct timeline_piece *piece, struct vec *bytes)
{
    unsigned count = states_of(piece);
    if (count > 1)
        put_byte(bytes, PIECE_MIXED + count);
    for (unsigned i = 0; i < TIMELINE_STATES; i++) {
        if (!piece->state_ns[i])
            continue;
        put_byte(bytes, i);
        put_number(bytes, piece->state_ns[i]);
    }
}

static uint64_t next_number(const struct vec *bytes, size_t *at)
{
    uint64_t number = 0;
    for (unsigned shift = 0; *at < bytes->count; shift += 7) {
        uint8_t byte = *VEC_AT(bytes, uint8_t, (*at)++);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return number;
}

bool timeline_piece__next(const struct vec *bytes, size_t *at, struct timeline_piece *piece)
{
    *piece = (struct timeline_piece){0};
    if (*at >= bytes->count)
        return false;
    unsigned first = *VEC_AT(bytes, uint8_t, *at);
    unsigned count = first >= PIECE_MIXED ? first - PIECE_MIXED : 1;
    *at += first >= PIECE_MIXED;
    while (count-- > 0 && *at < bytes->count) {
        unsigned state = *VEC_AT(bytes, uint8_t, (*at)++);
        piece->state_ns[state] = next_number(bytes, at);
        piece->ns += piece->state_ns[state];
    }
    return true;
}

/* ---- levels ---------------------------------------------------------------------------------- */

struct timeline *timeline__new(size_t threads, uint64_t wall_ns)
{
    struct timeline *timeline = memory__zeroed(1, sizeof *timeline);
    timeline->lanes = VEC_OF(struct timeline_lane);
    timeline->waits = VEC_OF(struct timeline_wait);
    timeline->objects = VEC_OF(struct sync_object);
    uint64_t least_ns = wall_ns / LAST_PIECES + 1;
    for (unsigned i = TIMELINE_LEVELS; i-- > 0; least_ns /= LEVEL_FACTOR) {
        timeline->is_kept[i] = true;
        timeline->least_ns[i] = i ? least_ns : 0;
    }
    for (uint32_t i = 0; i < threads; i++) {
        struct timeline_lane *lane = vec__push(&timeline->lanes, NULL);
        lane->thread = i;
        for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
            lane->levels[level] = VEC_OF(uint8_t);
    }
    return timeline;
}

void timeline__free(struct timeline *timeline)
{
    if (!timeline)
        return;
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane)
        for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
            vec__free(&lane->levels[level]);
    vec__free(&timeline->lanes);
    vec__free(&timeline->waits);
    vec__free(&timeline->objects);
    free(timeline);
}

static void drop(struct timeline *timeline, unsigned level)
{
    timeline->is_kept[level] = false;
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane)
        vec__free(&lane->levels[level]);
}

static void keep(struct timeline *timeline, struct timeline_lane *lane, unsigned level,
                 const struct timeline_piece *piece)
{
    if (!timeline->is_kept[level])
        return;
    size_t before = lane->levels[level].count;
    timeline_piece__put(piece, &lane->levels[level]);
    timeline->bytes[level] += lane->levels[level].count - before;
    if (timeline->bytes[level] > TIMELINE_BYTES_MOST && level + 1 < TIMELINE_LEVELS)
        drop(timeline, level);
}

static void take(struct timeline *timeline, struct timeline_lane *lane, unsigned level,
                 const struct timeline_piece *piece);

static void end_piece(struct timeline *timeline, struct timeline_lane *lane, unsigned level)
{
    struct timeline_piece piece = lane->open[level];
    lane->open[level] = (struct timeline_piece){0};
    if (!piece.ns)
        return;
    keep(timeline, lane, level, &piece);
    if (level + 1 < TIMELINE_LEVELS)
        take(timeline, lane, level + 1, &piece);
}

/* Of one and the same state. */
static bool goes_on(const struct timeline_piece *open, const struct timeline_piece *piece)
{
    for (unsigned i = 0; i < TIMELINE_STATES; i++)
        if (open->state_ns[i] == open->ns)
            return piece->state_ns[i] == piece->ns;
    return false;
}

/* So there are no more than two pieces for each least_ns of the life. */
static void take(struct timeline *timeline, struct timeline_lane *lane, unsigned level,
                 const struct timeline_piece *piece)
{
    struct timeline_piece *open = &lane->open[level];
    uint64_t least_ns = timeline->least_ns[level];
    if ((open->ns >= least_ns || piece->ns >= least_ns) && !goes_on(open, piece))
        end_piece(timeline, lane, level);
    open->ns += piece->ns;
    for (unsigned i = 0; i < TIMELINE_STATES; i++)
        open->state_ns[i] += piece->state_ns[i];
}

void timeline__add(struct timeline *timeline, struct timeline_lane *lane, unsigned state,
                   uint64_t ns)
{
    struct timeline_piece piece = {.ns = ns};
    if (!ns)
        return;
    piece.state_ns[state] = ns;
    lane->state_ns[state] += ns;
    take(timeline, lane, 0, &piece);
}

/* One that is hardly smaller than a finer one tells nothing more. */
static void drop_the_like(struct timeline *timeline)
{
    size_t finer = SIZE_MAX;
    for (unsigned level = 0; level < TIMELINE_LEVELS; level++) {
        if (!timeline->is_kept[level])
            continue;
        if (finer != SIZE_MAX && timeline->bytes[level] >= finer / 4 * 3)
            drop(timeline, level);
        else
            finer = timeline->bytes[level];
    }
}

void timeline__close_lanes(struct timeline *timeline)
{
    VEC_EACH (lane, &timeline->lanes, struct timeline_lane)
        for (unsigned level = 0; level < TIMELINE_LEVELS; level++)
            end_piece(timeline, lane, level);
    drop_the_like(timeline);
}
