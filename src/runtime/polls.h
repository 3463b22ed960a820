/* polls.h: a place that polls (yields, sleeps, asks MPI) again and again is one wait: the leave
 * event of the last time is given back, so that the span goes on. For the thread itself, which may
 * be interrupted by handlers of signals at any time. It stands on runtime.h. */
#ifndef HEURT_RUNTIME_POLLS_H
#define HEURT_RUNTIME_POLLS_H

#include "runtime/runtime.h"

/* Gives the words of the last poll's leave back, if nothing was written behind it and no handler
 * does so meanwhile. */
static inline bool poll__retract(struct thread *thread, const struct poll *poll)
{
    unsigned words = poll->words + (poll->pause ? 2 : 0);
    uint64_t *at = poll->end - words, *end = poll->end, kept[4];
    const uint64_t *pause = &at[poll->words];
    if (*(uint64_t *volatile *)&thread->next != end || *at != poll->leave ||
        (poll->pause && (pause[0] != poll->pause_word || pause[1] != poll->pause)))
        return false;
    for (unsigned i = 0; i < words; i++)
        kept[i] = at[i];
    __atomic_store_n(at, 0, __ATOMIC_RELEASE); /* first of all: here the chunk ends */
    for (unsigned i = 1; i < words; i++)
        at[i] = 0;
    if (__atomic_compare_exchange_n(&thread->next, &end, at, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        return true;
    for (unsigned i = words; i-- > 1;)
        at[i] = kept[i];
    __atomic_store_n(at, kept[0], __ATOMIC_RELEASE);
    return false;
}

/* Whether the thread is still in the poll that it left: at the same place, and it did less in
 * between than the last one took or least ticks, and than most. */
static inline bool poll__goes_on(struct thread *thread, uint64_t site, uint64_t least,
                                 uint64_t most)
{
    struct poll poll = thread->poll;
    uint64_t between = clock__tick() - poll.tick;
    thread->poll.end = NULL;
    if (!poll.end || poll.site != site || (between > poll.ticks && between > least) ||
        between > most || !poll__retract(thread, &poll))
        return false;
    uint64_t *at = poll.pause ? event__claim(thread, 2) : NULL;
    if (at) { /* in the wait now */
        at[1] = poll.pause;
        event__publish(at, poll.pause_word >> HEURT_ID_BITS, HEURT_EVENT_PAUSED);
    }
    return true;
}

/* That wait began at since, and its leave event, of so many words, is at. */
static inline void poll__remember(struct thread *thread, uint64_t site, uint64_t *at,
                                  unsigned words, uint64_t since)
{
    struct poll *poll = &thread->poll;
    uint64_t *end = *(uint64_t *volatile *)&thread->next, *pause = at + words;
    bool paused = end == pause + 2 && (*pause & 0xffff) == HEURT_EVENT_PAUSED;
    if (end != pause && !paused)
        return;
    poll->site = site;
    poll->words = words;
    poll->leave = *at;
    poll->tick = clock__tick();
    poll->ticks = poll->tick - since;
    poll->pause = paused ? pause[1] : 0;
    poll->pause_word = paused ? pause[0] : 0;
    poll->end = end;
}

#endif
