/* endings.c: entries that never leave, by each way in which a program can end, and what runs at its
 * end: atexit handlers, destructors, destructors of a thread's keys.
 *
 *     endings exit|_exit|quick_exit|pthread_exit|abort|kill|segv|exec */
#include "known.h"

#include <signal.h>

enum { DEPTH = 20, THREADS = 3 };

#define FUNCTION KNOWN_FUNCTION static

static const char *way;
static pthread_key_t key;
static int waiting;
static long key_ends;

static inline long kept(long value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

FUNCTION long t_at_exit_stack(long a, long b, long c, long d, long e, long f, long g)
{
    return a + b + c + d + e + f + g;
}

FUNCTION void t_at_exit(void)
{
    printf("at exit: %ld\n", t_at_exit_stack(1, 2, 3, 4, 5, 6, 7));
}

__attribute__((destructor)) FUNCTION void t_destructor(void)
{
    printf("destructor: %ld\n", t_at_exit_stack(1, 2, 3, 4, 5, 6, 8));
    fflush(stdout);
}

FUNCTION void t_key_ends(void *value)
{
    __atomic_add_fetch(&key_ends, t_at_exit_stack(1, 2, 3, 4, 5, 6, (long)value) > 0,
                       __ATOMIC_SEQ_CST);
}

static void *hold_key(void *unused)
{
    (void)unused;
    pthread_setspecific(key, (void *)7);
    return NULL;
}

FUNCTION void t_waits_for_ever(void)
{
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

static void *wait_for_ever(void *unused)
{
    (void)unused;
    t_waits_for_ever();
    return NULL;
}

FUNCTION long t_ends(void)
{
    if (strcmp(way, "exit") == 0)
        exit(7);
    if (strcmp(way, "_exit") == 0)
        _exit(7);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(way, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return 0;
}

FUNCTION long t_around(long depth)
{
    return depth == 0 ? t_ends() : kept(t_around(depth - 1)) + 1;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    way = count > 1 ? words[1] : "exit";
    bool exits = strcmp(way, "exit") == 0, unwinds = strcmp(way, "pthread_exit") == 0;
    pthread_key_create(&key, t_key_ends);
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, hold_key, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    KNOWN_CHECK(key_ends == THREADS);
    if (!unwinds) /* which ends the program with its last thread */
        for (int i = 0; i < THREADS; i++)
            KNOWN_CHECK(pthread_create(&threads[i], NULL, wait_for_ever, NULL) == 0);
    known__await(&waiting, unwinds ? 0 : THREADS);
    if (!unwinds) {
        known__count("t_waits_for_ever", THREADS);
        known__unfinished("t_waits_for_ever", THREADS);
    }
    atexit(t_at_exit);
    known__count("t_key_ends", THREADS);
    known__count("t_at_exit_stack", THREADS + (exits || unwinds ? 2 : 0));
    known__count("t_at_exit", exits || unwinds);
    known__count("t_destructor", exits || unwinds);
    known__count("t_ends", 1);
    known__count("t_around", DEPTH + 1);
    if (!unwinds) {
        known__unfinished("t_ends", 1);
        known__unfinished("t_around", DEPTH + 1);
    }
    fflush(stdout);
    return (int)t_around(DEPTH);
}
