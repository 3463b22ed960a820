/* A reader that now and then meets a writer, who holds the lock for long. --cure: they have a lock
 * each, as if the writer changed a copy. */
#include "cause.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t other_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t *writers_lock = &lock;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    injected__begin(thread);
    pthread_rwlock_rdlock(&lock);
    injected__end(thread, 0);
    cause__compute(amount);
    pthread_rwlock_unlock(&lock);
}

static void write_all(struct cause_thread *thread)
{
    while (!cause__is_over()) {
        cause__rest_us(100 + cause__draw(thread, 200));
        pthread_rwlock_wrlock(writers_lock);
        cause__compute(400000);
        pthread_rwlock_unlock(writers_lock);
    }
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 100));
    return 60000;
}

int main(int count, char **words)
{
    if (cause__read(count, words))
        writers_lock = &other_lock;
    return cause__run(&(struct cause){.name = "rwlock",
                                      .parts = {"lock"},
                                      .threads = 1,
                                      .calls = 1200,
                                      .prepare = prepare,
                                      .background = write_all});
}
