# heurt record --aggregate: no trace, the same figures, in memory that does not grow.
load ../helpers

# operations THREADS TIMES KILL: each thread locks and unlocks a mutex of its own so many times, then
# a child process does so half as often; prints what was done, and waits to be killed when told to.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >operations.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) long step(long value)
{
    __asm__ volatile("" : "+r"(value)); /* no compiler leaves a call of it out */
    return value * 3 + 1;
}
static long times;
static long work(long count)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long value = 0;
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&mutex);
        value = step(value);
        pthread_mutex_unlock(&mutex);
    }
    return value;
}
static void *run(void *unused) { return (void *)work(times); }
int main(int argc, char **argv)
{
    int threads = atoi(argv[1]);
    times = atol(argv[2]);
    for (int begun = 0; begun < threads; begun += 8) {
        pthread_t ids[8];
        for (int i = 0; i < 8; i++)
            pthread_create(&ids[i], NULL, run, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(ids[i], NULL);
    }
    if (fork() == 0) {
        work(times / 2);
        exit(0);
    }
    wait(NULL);
    printf("steps=%ld\n", threads * times + times / 2);
    fflush(stdout);
    if (argc > 3)
        for (;;)
            pause();
    return 0;
}
C
    "${CC:-cc}" -O1 -g -pthread -w -o operations operations.c
}

known() { # KEY, in the program's output
    sed -n "s/^$1=//p" <<<"$output"
}

steps_are_known() { # in report.json: calls and locks, as many as the program says
    [ "$(classes call count | sum)" = "$1" ] || fail "$(classes call count | sum) calls, not $1"
    [ "$(classes lock count | sum)" = "$1" ] || fail "$(classes lock count | sum) locks, not $1"
}

@test "counts are exact, of threads and of a forked child" {
    record --aggregate -o t -f step "$BATS_FILE_TMPDIR/operations" 8 20000
    expect_status 0
    report_json t
    steps_are_known "$(known steps)"
    [ "$(json aggregated)" = true ]
    [ "$(json coverage.events_lost)" = 0 ]
    [ "$(json 'classes[function=step].threads')" = 9 ]
}

@test "functions, recursion and arguments: as the program counts them" {
    record --aggregate -o t -f 'call_*' -A call_plain=arg1 "$PROGRAMS/calls_known"
    report_json t
    local checked=0 name count
    while IFS='=' read -r name count; do
        [ "$(json "classes[function=$name].count")" = "$count" ] || fail "$name: not $count"
        checked=$((checked + 1))
    done < <(grep -E '^call_(plain|recursive|mutual_even|threaded|tail_inner|switch)=' <<<"$output")
    [ "$checked" -ge 5 ]
    "$HEURT" report -i t --key call_plain=arg1 --json >report.json
    [ "$(classes call function | grep -c '^call_plain$')" -gt 100 ]
}

@test "waits are the same as those of a trace" {
    local kind
    record --overhead none -o trace "$PROGRAMS/locks_known"
    record --overhead none --aggregate -o t "$PROGRAMS/locks_known"
    for kind in lock condition barrier semaphore; do
        report_json trace
        classes $kind count | sum >expected
        report_json t
        classes $kind count | sum >counted
        diff expected counted
    done
    # At least as often as the program has arranged it.
    [ "$(classes lock contended | sum)" -ge "$(($(known mutex_contended) + $(known recursive_contended)))" ]
    run "$HEURT" report -i t
    [[ $output == *aggregated* && $output == *"who held the locks is not known"* ]]
}

@test "call stacks: the first one of each class" {
    record --aggregate -o t -f step "$BATS_FILE_TMPDIR/operations" 8 5000
    report_json t
    [ "$(json 'classes[function=step].stacks[0].frames[0].function')" = work ] ||
        fail "$(json 'classes[function=step].stacks')"
}

@test "killed with the recorder: not one event is missing" {
    # shellcheck disable=SC2016 # the inner shell expands it
    "$HEURT" record --aggregate -o t -f step sh -c 'echo $$ >pid; exec "$0" 8 12345 wait' \
        "$BATS_FILE_TMPDIR/operations" >out 2>err </dev/null 3>&- &
    recorder=$!
    wait_for grep -q steps out
    program=$(cat pid)
    kill -9 "$recorder" "$program"
    wait_for sh -c "! kill -0 $program 2>/dev/null || grep -q '^State:.Z' /proc/$program/status"
    report_json t
    steps_are_known "$(sed -n 's/^steps=//p' out)"
}

# In the middle of its work, too, its trace can be read, and holds nearly all of it.
@test "killed while it folds" {
    # shellcheck disable=SC2016 # the inner shell expands it
    "$HEURT" record --aggregate -o t -f step sh -c 'echo $$ >pid; exec "$0" 8 1000000000' \
        "$BATS_FILE_TMPDIR/operations" >out 2>err </dev/null 3>&- &
    recorder=$!
    wait_for test -s t/events
    wait_for enough_steps
    kill -9 "$(cat pid)"
    wait "$recorder" || :
    report_json t
    is_number_above 100000 "$(classes call count | sum)"
    [ -z "$(json 'classes[function=step].unfinished' | grep -vx '[0-8]' || :)" ]
}

enough_steps() {
    "$HEURT" report -i t --json >report.json 2>/dev/null &&
        [ "$(classes call count | sum)" -gt 100000 ]
}

# Fifty times the events: some durations more that none had before, and so some blocks of histograms.
@test "the trace does not grow with the run" {
    local times
    for times in 2000 100000; do
        record --aggregate -o t$times -f step "$BATS_FILE_TMPDIR/operations" 8 $times
        report_json t$times
        steps_are_known "$(known steps)"
    done
    [ "$(stat -c %s t100000/events)" -lt $((2 * $(stat -c %s t2000/events))) ]
}

@test "thousands of threads fit, and each is in the sums" {
    record --aggregate -o t -f step --max-size 4M "$BATS_FILE_TMPDIR/operations" 2000 100
    [ "$(stat -c %s t/events)" -le $((4 << 20)) ]
    report_json t
    steps_are_known "$(known steps)"
    [ "$(json coverage.events_lost)" = 0 ]
    [[ $("$HEURT" report -i t) == *"threads that had ended are shown as one"* ]]
}

# Where the budget lies between what leaving a call out costs and what recording it costs hangs on the
# machine: above, all are recorded; below, recording it ends. One of these lies between, on any.
@test "within a budget: sampled, and the counts stay" {
    local away budget sampled=null
    for budget in 10 7 5 3.5; do
        record --aggregate -o t$budget -f sampled_varied --overhead $budget% "$PROGRAMS/sampled_known" 2
        report_json t$budget
        sampled=$(json 'classes[function=sampled_varied].sampled')
        [ "$sampled" = null ] || break
    done
    is_number_above 0 "$sampled"
    away=$(($(json 'classes[function=sampled_varied].count') - $(known sampled_varied)))
    [ "${away#-}" -lt 2048 ] || fail "$away away; $(json 'coverage.refused[].reason')"
    [ "$(json 'classes[function=sampled_varied].confidence')" != measured ]
}

@test "dump says that there is nothing to dump" {
    record --aggregate -o t "$BATS_FILE_TMPDIR/operations" 8 5000
    heurt dump -i t
    expect_status 0
    says 'recorded with --aggregate'
}

# Until its handler has run, a child has its parent's chunk, in memory that both share.
@test "a child writes nothing into what its parent records while the C library forks" {
    compile forks -pthread <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *wait_for_end(void *end)
{
    pthread_mutex_lock(end);
    return end;
}
int main(void)
{
    static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    pthread_mutex_lock(&end);
    pthread_create(&thread, 0, wait_for_end, &end); /* so that fork has locks to see to */
    for (int i = 0; i < 150; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, 0, 0);
    }
    pthread_mutex_unlock(&end);
    return pthread_join(thread, 0);
}
C
    local way
    for way in --aggregate --quiet; do
        rm -rf t
        record -o t "$way" --no-choice -f '*ork*' -f '*lock*' -M 'libc.so*' ./forks
        expect_status 0
        report_json t
        [ "$(json 'classes[function=waitpid].count' | sum)" = 150 ] || fail "$way: $(json 'classes[function=waitpid].count')"
    done
    heurt dump -i t
    # What a thread enters and leaves comes in the order of time.
    awk '/ (enter|leave) / { if ($1 + 0 < last[$2]) { print "back in time: " $0; back = 1 }
                             last[$2] = $1 + 0 }
         END { exit back }' <<<"$output"
}

@test "threads that live at once and children one after another are counted, each call; or the reason is true" {
    compile many <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { LOCKS = 20, THREADS = 1000, CHILDREN = 600 };
static pthread_mutex_t locks[LOCKS];
static pthread_barrier_t barrier;
static void take_all(void)
{
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_lock(&locks[i]), pthread_mutex_unlock(&locks[i]);
}
static void *work(void *unused)
{
    pthread_barrier_wait(&barrier);
    take_all();
    pthread_barrier_wait(&barrier);
    return unused;
}
int main(int argc, char **argv)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; argc == 1 && i < CHILDREN; i++) {
        if (fork() == 0)
            take_all(), exit(0);
        wait(NULL);
    }
    for (int i = 0; argc > 1 && i < THREADS; i++)
        if (pthread_create(&threads[i], &small, work, NULL))
            return 77;
    for (int i = 0; argc > 1 && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
C
    record --aggregate --locks all --no-choice -o t ./many
    report_json t
    [ "$(classes lock count | sum)" = 12000 ] || fail "of children: $(classes lock count | sum)"
    ./many threads || skip "there may be no 1000 threads here"
    record --aggregate --locks all --no-choice -o t ./many threads
    expect_status 0
    report_json t
    [ "$(classes lock count | sum)" = 20000 ] || fail "of threads: $(classes lock count | sum)"
    record --aggregate --locks all --no-choice --max-size 8M -o t ./many threads
    expect_status 0
    says 'events were lost: the trace has reached --max-size'
}
