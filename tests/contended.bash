# What the tests of heurt whatif share: a program that waits for known locks, and questions about it.

# contended [TURNS]: three threads that hold one lock for most of their time, then a second one for so
# many turns, and then one of their own, which nobody else takes.
contended() {
    compile contended -no-pie "-DTURNS=${1:-0}" <<'C'
#include <pthread.h>
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t own_locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                PTHREAD_MUTEX_INITIALIZER};
static void spin(long turns)
{
    for (unsigned long value = 3; turns-- > 0;)
        __asm__ volatile("" : "+r"(value));
}
static void hold(pthread_mutex_t *lock, long turns)
{
    pthread_mutex_lock(lock);
    spin(turns);
    pthread_mutex_unlock(lock);
}
static void *work(void *argument)
{
    for (int i = 0; i < 400; i++) {
        hold(&first_lock, 200000);
        if (TURNS)
            hold(&second_lock, TURNS);
        hold(&own_locks[(long)argument], 20000);
    }
    return argument;
}
int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
C
    record -o t --quiet --no-choice ./contended
    expect_status 0
}

address_of() { # VARIABLE of ./contended
    echo "0x$(nm contended | awk -v name="$1" '$3 == name { print $1 }' | sed 's/^0*//')"
}

whatif() { # ARG…: its answer is in report.json
    heurt whatif -i t --json "$@"
    expect_status 0
    printf '%s\n' "$output" >report.json
    [ "$(json schema)" = heurt.whatif/1 ] || fail "not heurt.whatif/1"
}

gain() { # least, most
    json "answers[0].prediction.wall_gain[$1]"
}
