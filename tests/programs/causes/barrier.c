/* Two threads meet at a barrier; now and then one of them comes late. --cure: they do not meet. */
#include "cause.h"

static pthread_barrier_t barrier;
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(amount);
    injected__begin(thread);
    if (!cured)
        pthread_barrier_wait(&barrier);
    injected__end(thread, 0);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 4) ? 10 : 1000);
    return 50000;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    KNOWN_CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    return cause__run(&(struct cause){
        .name = "barrier", .parts = {"barrier"}, .threads = 2, .calls = 600, .prepare = prepare});
}
