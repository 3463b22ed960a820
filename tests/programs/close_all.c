/* close_all.c: closes descriptors that are not its own, as daemons do, and works on.
 *
 *     close_all [--range]       by close() of 3 … 1023, or by close_range()
 *
 * The numbers that it prints must be the same with and without heurt. */
#include "known.h"

enum { FIRST = 3, LAST = 1023, OPENS = 5, LOCKS = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *take_locks(void *unused)
{
    (void)unused;
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void open_some(const char *when)
{
    char key[64];
    for (int i = 0; i < OPENS; i++) {
        snprintf(key, sizeof key, "%s_open_%d", when, i);
        known__number(key, open("/dev/null", O_RDONLY));
    }
}

static void work(void)
{
    pthread_t thread;
    take_locks(NULL);
    KNOWN_CHECK(pthread_create(&thread, NULL, take_locks, NULL) == 0);
    pthread_join(thread, NULL);
}

/* Which of the closed range were open, by result; and whether anything else came back. */
static void close_all(bool range)
{
    int closed = 0, odd = 0;
    if (range) {
        KNOWN_CHECK(syscall(SYS_close_range, FIRST, ~0u, 0) == 0);
        return;
    }
    for (int i = FIRST; i <= LAST; i++) {
        if (close(i) == 0)
            closed++;
        else
            odd += errno != EBADF;
    }
    known__number("closed", closed);
    known__number("closed_oddly", odd);
}

int main(int argc, char **argv)
{
    bool range = argc > 1 && strcmp(argv[1], "--range") == 0;
    open_some("before");
    work();
    close_all(range);
    open_some("after");
    work();
    close_all(range);
    int twin = dup2(1, 500);
    known__number("dup2", twin);
    known__number("dup_of_it", dup(twin));
    work();
    known__address("mutex_address", &mutex);
    known__number("mutex_acquired", total);
    return total == 6 * LOCKS ? 0 : 1;
}
