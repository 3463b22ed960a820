/* reloaded.c: a library that comes and goes while other threads run recorded functions, of the
 * program and of a library that stays; mostly it comes back to the same place. */
#include "known.h"

#include <dlfcn.h>

enum { THREADS = 3, LOADS = 40, CALLS = 100 };

typedef long function(long, long, long, long, long, long, long);

static int ended;
static long worked;

KNOWN_FUNCTION static long t_here(long n)
{
    return n + 1;
}

static void *work(void *unused)
{
    long sum = (long)unused, calls = 0;
    do {
        for (int i = 0; i < CALLS; i++)
            sum = t_here(sum);
        calls += CALLS;
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 50000}, NULL);
    } while (!__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
    KNOWN_CHECK(sum == calls);
    __atomic_add_fetch(&worked, calls, __ATOMIC_SEQ_CST);
    return NULL;
}

static function *look_up(void *library, const char *name)
{
    function *found;
    *(void **)&found = dlsym(library, name);
    KNOWN_CHECK(found != NULL);
    return found;
}

/* One and the other in turn, which are alike in size: the second may lie where the first did. */
static long use(const char *path, long round)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    KNOWN_CHECK(library != NULL);
    function *one = look_up(library, "l_words"), *two = look_up(library, "l_catches");
    long sum = 0;
    for (long i = 0; i < CALLS; i++)
        sum = sum * 3 % 1000003 + one(1, 2, 3, 4, 5, i, round) + two(1, 2, 3, 4, 5, i, round);
    dlclose(library);
    return sum;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    unsigned long sum = 0;
    KNOWN_CHECK(count == 3);
    for (int i = 0; i < THREADS; i++)
        KNOWN_CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (long i = 0; i < LOADS; i++)
        sum = sum * 5 + (unsigned long)use(words[1 + i % 2], i);
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("reloaded %lx\n", sum);
    known__count("t_here", worked);
    known__count("l_words", LOADS * CALLS);
    known__count("l_catches", LOADS * CALLS);
    known__count("l_throws", LOADS * CALLS);
    known__count("l_ends", LOADS);
    return 0;
}
