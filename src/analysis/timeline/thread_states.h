/* thread_states.h: in which state a thread was over time: what strips and the page's lanes are made
 * of.
 *
 * In go the stretches in which the thread did something else than work; out comes, of any piece of
 * its life, how long it was in each state:
 *
 *     stretches   |--lock--|      |-no CPU-||---lock---|            the rest is work
 *     buckets     |     |     |     |     |     |     |     |
 *
 * A bucket costs a binary search and a look at STATES_A_BLOCK stretches, however many there are.
 * Memory: at most so many stretches as the start allows. Where there would be more, those that lie
 * in one grain of time are put together, state by state: how long each lasted stays exact, and only
 * where in the grain is forgotten. It stands on fold/accumulate.h and base/. Times are ns of one
 * clock. One thread at a time fills it; then several may ask. */
#ifndef HEURT_ANALYSIS_TIMELINE_THREAD_STATES_H
#define HEURT_ANALYSIS_TIMELINE_THREAD_STATES_H

#include "base/vec.h"
#include "fold/accumulate.h"

#include <stdbool.h>

/* An enum component, or waiting for work. */
#define STATE_IDLE COMPONENTS
#define THREAD_STATES (COMPONENTS + 1)
/* Added to a state: in such a call, but on a CPU. */
#define STATE_ON_CPU THREAD_STATES

struct thread_stretch {
    uint64_t begin_ns;
    uint64_t length_ns : 56, state : 8; /* state: or with STATE_ON_CPU */
};

struct thread_states {
    uint64_t begin_ns, end_ns; /* the thread's life */
    uint64_t grain_ns;         /* where stretches lie is known to that; 0: exactly */
    struct vec stretches;      /* struct thread_stretch, by time, not overlapping */
    struct vec sums;           /* private: of all stretches before each block of them */
    size_t most;
    bool knows_cpu; /* all that it did off the CPU in a wait is told before the wait */
};

/* How long the thread was in each state, on a CPU or not; they add up to what it lived of that
 * time. */
struct state_times {
    uint64_t ns[THREAD_STATES];
};

/* Of a thread that lived from then on; most: stretches. thread_states__free it. */
struct thread_states thread_states__new(uint64_t begin_ns, size_t most);
void thread_states__free(struct thread_states *states);

/* In the order of their ends. What an earlier one has, or what was before the life, is cut
 * off; what is of no length is none. */
void thread_states__add(struct thread_states *states, unsigned state, uint64_t begin_ns,
                        uint64_t end_ns);
/* Likewise a wait, which takes over what was told in it but, unless is_whole, that the thread
 * wanted a CPU, was in a page fault or was being recorded. */
void thread_states__add_wait(struct thread_states *states, unsigned state, uint64_t begin_ns,
                             uint64_t end_ns, bool is_whole);
/* All is told, and it lived until then. */
void thread_states__end(struct thread_states *states, uint64_t end_ns);

/* Fills count buckets that the time from from_ns to to_ns is divided into. */
void thread_states__fill(const struct thread_states *states, uint64_t from_ns, uint64_t to_ns,
                         size_t count, struct state_times *buckets);

#endif
