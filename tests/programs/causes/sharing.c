/* Each of two threads counts in a variable of its own. The two lie in one cache line; PADDED: in
 * lines far apart, and nothing is injected. */
#include "cause.h"

#ifdef PADDED
#define NAME "padded"
#define PARTS
enum { APART = 4096 / sizeof(long) };
#else
#define NAME "false_sharing"
#define PARTS .parts = {"overlap"},
enum { APART = 1 };
#endif

static unsigned long counters[2 * 4096 / sizeof(long)] __attribute__((aligned(4096)));

/* Each turn needs the counter's value of the turn before: how much it adds (always 1) depends on
 * it. */
KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    unsigned long *counter = &counters[thread->number * APART], step = 1;
    for (; amount; amount--) {
        unsigned long value = __atomic_fetch_add(counter, step, __ATOMIC_RELAXED);
        step = 1 + (value >> 63);
    }
}

/* Pauses are as long as calls, so that a call meets the other thread's for some of its time. */
static unsigned long prepare(struct cause_thread *thread)
{
    cause__compute(10000 + cause__draw(thread, 150000));
    return 40000;
}

int main(int count, char **words)
{
    cause__read(count, words);
    return cause__run(&(struct cause){.name = NAME,
                                      PARTS.measure = CAUSE_ON_CPU,
                                      .threads = 2,
                                      .pinned = true,
                                      .calls = 1000,
                                      .prepare = prepare});
}
