/* One function with two causes: it waits for a mutex, about 70 % of what it loses, and some of its
 * calls sleep; FAULTS: they touch memory that the kernel was given back. */
#include "cause.h"

#include <sys/mman.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#ifdef FAULTS

#define NAME "mixed_faults"
#define SECOND "page_fault"
enum { PAGES = 96, PAGE_BYTES = 4096 };
static char *memory;

static void suffer(unsigned long amount)
{
    (void)amount;
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)&memory[i * PAGE_BYTES] = 1;
}

static unsigned long choose(struct cause_thread *thread)
{
    if (!cause__draw(thread, 3))
        KNOWN_CHECK(madvise(memory, PAGES * PAGE_BYTES, MADV_DONTNEED) == 0);
    return 1;
}

static void start(void)
{
    memory =
        mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    KNOWN_CHECK(memory != MAP_FAILED);
    madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
}

#else

#define NAME "mixed"
#define SECOND "sleep"

static void suffer(unsigned long amount)
{
    if (amount)
        usleep((useconds_t)amount);
}

static unsigned long choose(struct cause_thread *thread)
{
    return cause__draw(thread, 4) ? 0 : 100;
}

static void start(void)
{
}

#endif

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(50000);
    injected__begin(thread);
    pthread_mutex_lock(&mutex);
    injected__end(thread, 0);
    cause__compute(20000);
    pthread_mutex_unlock(&mutex);
    injected__begin(thread);
    suffer(amount);
    injected__end(thread, 1);
}

static void hold(struct cause_thread *thread)
{
    while (!cause__is_over()) {
        cause__rest_us(100 + cause__draw(thread, 300));
        pthread_mutex_lock(&mutex);
        cause__compute(300000);
        pthread_mutex_unlock(&mutex);
    }
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    return choose(thread);
}

int main(void)
{
    start();
    return cause__run(&(struct cause){.name = NAME,
                                      .parts = {"lock", SECOND},
                                      .threads = 1,
                                      .calls = 1000,
                                      .prepare = prepare,
                                      .background = hold});
}
