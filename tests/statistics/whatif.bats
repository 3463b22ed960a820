# heurt whatif on real runs: that the program would gain by what it would gain by, and by nothing else.
load ../helpers
load statistics

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

needs_cpus() {
    [ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs"
}

@test "without the contended lock the program is faster, without another one it is not" {
    needs_cpus 2
    contended
    whatif --remove "lock=$(address_of first_lock)"
    local without
    without=$(json 'answers[0].prediction.wall_ns')
    is_number_above "$((without * 103 / 100))" "$(json unrecorded_ns)" # more where nothing disturbs
    [ "$(json 'answers[0].object')" = "$(address_of first_lock)" ]
    [ "$(json 'answers[0].object_name')" = first_lock ]
    local by_address
    by_address=$(gain 0)
    whatif --remove lock=first_lock
    [ "$(gain 0)" = "$by_address" ]
    whatif --remove "lock=$(address_of own_locks)"
    is_number_above "$((without * 103 / 100))" "$(json 'answers[0].prediction.wall_ns')"
    whatif --shrink lock=first_lock:100%
    is_number_above "$(gain 0)" 1.05
    whatif --shrink lock=first_lock:0
    is_number_above "$((103 * $(json 'answers[0].prediction.wall_ns') / 100))" "$(json unrecorded_ns)"
}

@test "the contention of a lock that is removed moves to the next one" {
    needs_cpus 2
    contended 150000
    whatif --remove lock=first_lock
    local second="answers[0].prediction.objects[object=$(address_of second_lock)]"
    is_number_above "$(json "$second.waited_before_ns")" "$(json "$second.waited_after_ns")"
    heurt whatif -i t --remove lock=first_lock
    grep -q 'What limits then' <<<"$output"
    grep -Eq 'lock second_lock' <<<"$output"
}
