/* Two threads, one mutex that each holds for most of its call. */
#include "cause.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(20000);
    injected__begin(thread);
    pthread_mutex_lock(&mutex);
    injected__end(thread, 0);
    cause__compute(amount);
    pthread_mutex_unlock(&mutex);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 120));
    return 250000;
}

int main(void)
{
    return cause__run(&(struct cause){
        .name = "mutex", .parts = {"lock"}, .threads = 2, .calls = 500, .prepare = prepare});
}
