/* How long a call takes its argument decides. */
#include "cause.h"

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    (void)thread;
    cause__compute(amount * 25000);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    return 1ul << cause__draw(thread, 5);
}

int main(void)
{
    return cause__run(&(struct cause){.name = "argument",
                                      .parts = {"workload"},
                                      .measure = CAUSE_ON_CPU,
                                      .threads = 2,
                                      .calls = 800,
                                      .prepare = prepare});
}
