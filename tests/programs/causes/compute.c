/* Calls that all do the same and need nothing but a CPU. PREEMPTED: by twice as many threads as
 * there are CPUs; else by no more than there are, and nothing is injected. */
#include "cause.h"

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    (void)thread;
    cause__compute(amount);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__compute(cause__draw(thread, 50000));
    return 400000;
}

int main(int count, char **words)
{
    cause__read(count, words);
#ifdef PREEMPTED
    return cause__run(&(struct cause){.name = "preemption",
                                      .parts = {"runnable"},
                                      .measure = CAUSE_RUNNABLE,
                                      .threads = 2 * cause__cpus(),
                                      .calls = 500,
                                      .prepare = prepare});
#else
    return cause__run(&(struct cause){.name = "none",
                                      .threads = 2 < cause__cpus() ? 2 : cause__cpus(),
                                      .calls = 800,
                                      .prepare = prepare});
#endif
}
