#include "recorder/access_share.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

struct told_accesses {
    struct record last[TOLD_MOST]; /* a ring */
    uint64_t count;                /* since they were dealt */
};

struct access_share {
    struct vec threads; /* struct told_accesses */
    struct map thread_of_tid;
};

struct access_share *access_share__new(void)
{
    struct access_share *self = memory__zeroed(1, sizeof *self);
    self->threads = VEC_OF(struct told_accesses);
    return self;
}

void access_share__free(struct access_share *self)
{
    if (!self)
        return;
    vec__free(&self->threads);
    map__free(&self->thread_of_tid);
    free(self);
}

void access_share__add(struct access_share *self, const struct record *access)
{
    uint64_t next = self->threads.count;
    uint64_t index = map__put(&self->thread_of_tid, &access->tid, sizeof access->tid, next);
    struct told_accesses *told = index == next
                                     ? vec__push(&self->threads, NULL)
                                     : VEC_AT(&self->threads, struct told_accesses, index);
    told->last[told->count++ % TOLD_MOST] = *access;
}

static uint64_t cost_of(const struct record *access)
{
    return access->latency ? access->latency : LATENCY_OF_HIT;
}

size_t access_share__deal(struct access_share *self, uint32_t tid, uint64_t weight_ns,
                          struct record accesses[TOLD_MOST])
{
    uint64_t index = map__get(&self->thread_of_tid, &tid, sizeof tid), cost = 0, dealt_ns = 0;
    struct told_accesses *told =
        index == MAP_ABSENT ? NULL : VEC_AT(&self->threads, struct told_accesses, index);
    size_t count = told ? (size_t)(told->count < TOLD_MOST ? told->count : TOLD_MOST) : 0;
    for (size_t i = 0; i < count; i++) {
        accesses[i] = told->last[(told->count - count + i) % TOLD_MOST];
        cost += cost_of(&accesses[i]);
    }
    /* What has been dealt until each is rounded, so that nothing is lost. */
    for (uint64_t i = 0, until = 0; i < count; i++) {
        until += cost_of(&accesses[i]);
        uint64_t until_ns = (uint64_t)((unsigned __int128)weight_ns * until / cost);
        accesses[i].weight_ns = until_ns - dealt_ns;
        dealt_ns = until_ns;
    }
    if (told)
        told->count = 0;
    return count;
}
