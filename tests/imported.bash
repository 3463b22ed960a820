# imported.bash: what other tools record for heurt import.

# A program whose calls are known: 2 threads, 20 calls of work, 10 of leaf in each of them.
make_program() { # FLAG…
    cat >p.c <<'C'
#include <pthread.h>
static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
volatile long sink;
__attribute__((noinline)) void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void work(long n) { for (long i = 0; i < 10; i++) leaf(n + i); }
static void *run(void *argument)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&the_lock);
        work((long)argument);
        pthread_mutex_unlock(&the_lock);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, run, (void *)(100 * (i + 1)));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
C
    "$CC" -g -O1 "$@" -o p p.c -lpthread
}

# Of an imported trace.
count_of() { # DIR FUNCTION
    "$HEURT" tables -i "$1" --format csv classes:count --where kind=call --where "function=$2" | tail -n +2 | sum
}
