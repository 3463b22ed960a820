/* Two threads and a semaphore with one place: a wait of the kind of condition variables. --cure: it
 * has two places. */
#include "cause.h"

#include <semaphore.h>

static sem_t places;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(20000);
    injected__begin(thread);
    sem_wait(&places);
    injected__end(thread, 0);
    cause__compute(amount);
    sem_post(&places);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 120));
    return 250000;
}

int main(int count, char **words)
{
    KNOWN_CHECK(sem_init(&places, 0, cause__read(count, words) ? 2 : 1) == 0);
    return cause__run(&(struct cause){.name = "semaphore",
                                      .parts = {"condition"},
                                      .threads = 2,
                                      .calls = 500,
                                      .prepare = prepare});
}
