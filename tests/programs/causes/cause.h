/* cause.h: what the programs of known cause share.
 *
 * Each has one function, work, that its threads call over and over. Some calls suffer what the
 * program injects and others do not, so that the fastest call is clean. The program measures every
 * call and what it injected into it by its own clocks and by bare system calls, which heurt does
 * not hook, and prints when it ends, one a line:
 *
 *     cause=NAME
 *     injected_PART_ns=N    what it injected of that part (a key of why_ns): Σ over calls of the
 *                           part, less that of the fastest call
 *     runnable_ns=N         likewise the time that a call only waited for a CPU
 *     excess_ns=N           Σ over calls of (call − fastest call)
 *     fastest_ns=N calls=N lifetime_ns=N (of all threads)
 *
 * A wait for a CPU inside of an injected wait counts as runnable, as it does in heurt's ledger. */
#ifndef HEURT_TESTS_CAUSE_H
#define HEURT_TESTS_CAUSE_H

#include "../known.h"

enum { CAUSE_PARTS = 2, CAUSE_THREADS_MOST = 64 };

/* How long one call took and why. */
struct cause_call {
    uint64_t ns, runnable_ns, injected_ns[CAUSE_PARTS];
};

struct cause_instant {
    uint64_t ns, runnable_ns;
};

/* A calling thread, or the one that runs background. */
struct cause_thread {
    const struct cause *cause;
    unsigned number; /* 0, 1, … among the calling ones */
    int schedstat;   /* descriptor */
    uint64_t random;
    struct cause_call *calls, *call; /* all; the one that is under way */
    struct cause_instant mark;
    uint64_t lifetime_ns;
    pthread_t thread;
};

/* How the program knows what it injected. */
enum cause_measure {
    CAUSE_AROUND,   /* by injected__begin and injected__end around the injected thing */
    CAUSE_ON_CPU,   /* nothing else that it does makes the time on the CPU vary */
    CAUSE_RUNNABLE, /* it is all the time that the call only waited for a CPU */
};

struct cause {
    const char *name;
    const char *parts[CAUSE_PARTS]; /* what is injected, keys of why_ns; NULL: no more */
    enum cause_measure measure;
    unsigned threads, calls; /* of each thread */
    bool pinned;             /* each to a CPU of its own, as far as there are so many */
    /* Before each call, not measured: the pause, and what the call gets as its amount. */
    unsigned long (*prepare)(struct cause_thread *thread);
    /* Runs beside them on a thread of its own until cause__is_over; NULL: nothing does. */
    void (*background)(struct cause_thread *thread);
};

/* The program's own. */
void work(struct cause_thread *thread, unsigned long amount);

/* The whole program; its exit status. */
int cause__run(const struct cause *cause);

/* Of those that have a cure: --cure is among the program's words. Then nothing is injected. --times
 * N: each thread makes N times as many calls. Reads the words before cause__run. */
bool cause__read(int count, char **words);

/* Every calling thread has made its calls. */
bool cause__is_over(void);

/* The number of CPUs that this process may use. */
unsigned cause__cpus(void);

/* Works for so many turns of about one ns each; nothing but registers is used. */
void cause__compute(unsigned long turns);

/* Sleeps, unseen by heurt. */
void cause__rest_us(unsigned long us);

/* 0 … limit − 1, from the thread's own generator: the same in every run. */
unsigned long cause__draw(struct cause_thread *thread, unsigned long limit);

/* Around what is injected into the call that is under way; part: 0, 1. */
void injected__begin(struct cause_thread *thread);
void injected__end(struct cause_thread *thread, unsigned part);

#endif
