# What the kernel tells recorded threads: when they were off their CPU, and their page faults. The
# program counts its own by the system's counts (tests/programs/kernel_known.c).
load ../helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    has_events || skip "this system refuses perf_event_open"
}

has_events() {
    "$HEURT" check 2>/dev/null | grep -qi 'page faults.*yes\|yes.*page faults' ||
        [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]
}

# known KEY: of each thread's line that the program printed
known() {
    grep -oE "\b$1=[^ ]+" <<<"$output" | cut -d= -f2
}

of_thread() { # TID: its events, in the order of its stream
    "$HEURT" dump -i t | awk -v tid="$1" '$2 == tid'
}

window() { # TID: the events between the enter and the leave of known_window
    of_thread "$1" | awk '/leave known_window/ { exit } inside { print } /enter known_window/ { inside = 1 }'
}

count() { # PATTERN, of the lines on stdin
    grep -cE -- "$1" || :
}

@test "each switch of a thread is an event, blocked or preempted as the system counts them" {
    local option tid preempted
    for option in --quiet --stack-every=1; do
        record -o t "$option" -f known_window "$PROGRAMS/kernel_known" switches
        expect_status 0
        tid=$(known tid)
        window "$tid" >events
        [ "$(known blocked)" -ge 25 ]
        [ "$(count 'off cpu \((blocked|page fault)\)' <events)" -eq "$(known blocked)" ]
        # It may lose its CPU between the system's count and the edge of the window.
        preempted=$(count 'off cpu \(preempted\)' <events)
        ((preempted >= $(known preempted) - 1 && preempted <= $(known preempted) + 1))
    done
}

# How many faults more or less than there are a call may have, as the kernel tells one of so many: it
# takes some hundred to find the rate.
ADAPTED=200

@test "fresh pages that are touched are page faults, told or counted, at addresses among them" {
    local tid low high
    record -o t -f known_window "$PROGRAMS/kernel_known" faults
    expect_status 0
    tid=$(known tid)
    window "$tid" | grep 'page fault (' >faults
    low=$(known low) high=$(known high)
    grep -oE 'address=[^ ]+' faults | cut -d= -f2 |
        awk -v low="$low" -v high="$high" 'length($1) == length(low) && $1 "" >= low "" && $1 "" < high ""' >among
    [ "$(wc -l <among)" -ge $((400 - ADAPTED)) ]
    [ "$(sort -u among | wc -l)" -ge 5 ]
    [ "$(wc -l <faults)" -le $(($(known faults) + ADAPTED)) ] # the system counts its own, too
}

@test "nothing is lost of what happens between two recorded calls" {
    record -o t -f known_window "$PROGRAMS/kernel_known" storms
    expect_status 0
    # Of each call, how many are told in it.
    of_thread "$(known tid | head -n 1)" | awk '
        /enter known_window/ { faults = 0 }
        /page fault \(/ { faults++ }
        /leave known_window/ { print faults }' >calls
    [ "$(wc -l <calls)" -eq 4 ]
    [ "$(sort -n calls | head -n 1)" -ge $((3000 - ADAPTED)) ]
    # The way to the system's own count may fault, too.
    [ "$(sort -n calls | tail -n 1)" -le $(($(known faults | tail -n 1) + 50 + ADAPTED)) ]
    report_json t
    [ "$(json kernel.lost)" -eq 0 ]
}

@test "threads that the kernel alone knows have a life, CPU time and a name, and nothing is lost" {
    # Two compute without a call until the process ends, one comes by a bare system call's clone.
    compile leaver <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile int ready;
static long ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static void *compute(void *unused)
{
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        __atomic_fetch_add((int *)&ready, 0, __ATOMIC_RELAXED);
    return unused;
}
static int bare(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "bare-clone");
    compute(NULL);
    return 0;
}
int main(void)
{
    pthread_t thread;
    char *stack = malloc(1 << 16);
    pthread_create(&thread, 0, compute, 0);
    pthread_create(&thread, 0, compute, 0);
    clone(bare, stack + (1 << 16),
          CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
    while (ready < 3 || ms(CLOCK_PROCESS_CPUTIME_ID) < 300)
        for (volatile int i = 0; i < 1000; i++)
            ;
    printf("cpu=%ld\n", ms(CLOCK_PROCESS_CPUTIME_ID));
    fflush(stdout);
    return 0;
}
C
    record -o t --no-choice ./leaver
    expect_status 0
    report_json t
    [ "$(json 'threads[].tid' | wc -l)" -eq 4 ]
    [ "$(json 'threads[name=bare-clone].name')" = bare-clone ]
    # All of the CPU time is told, and what is running is no more than that.
    json 'threads[].cpu_ns' | sum >cpu
    json 'threads[].components_ns.running' | sum >running
    awk -v cpu="$(cat cpu)" -v running="$(cat running)" -v told="$(known cpu)" 'BEGIN {
        exit !(cpu / 1e6 > 0.95 * told && running < 1.01 * cpu && running > 0.8 * cpu) }' ||
        fail "cpu $(cat cpu) running $(cat running) told $(known cpu)"
    # What was found holds against what the system counted.
    [ "$(json 'checks[].holds' | sort | uniq -c | tr -d ' ')" = 4true ] ||
        fail "$("$HEURT" report -i t --audit)"
    run -0 --separate-stderr "$HEURT" report -i t --audit
    [ "$(grep -c ', holds$' <<<"$output")" -eq 4 ]
}

@test "a thread that faults and then sleeps by itself did not run meanwhile" {
    compile sleeper <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void *touch_and_sleep(void *unused)
{
    char *pages = mmap(NULL, 20000ul << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, 20000ul << 12, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < 20000; i++)
        pages[i << 12] = 1;
    struct timespec time = {0, 300000000};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, 0);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, touch_and_sleep, 0);
    pthread_join(thread, 0);
}
C
    record -o t --no-choice ./sleeper
    expect_status 0
    report_json t
    [ "$(json kernel.lost)" -eq 0 ]
    is_number_above 299999999 "$(json 'threads[1].components_ns.other_blocked')"
    is_number_above "$(json 'threads[1].components_ns.running')" "$(json 'threads[1].cpu_ns')"
    "$HEURT" dump -i t | grep -c 'page fault (' >faults
    is_number_above 19899 "$(cat faults)" # what was counted and not told when a thread ends is missing
}

@test "what a thread does not run, it is off: together that is the time that passes" {
    record -o t -f known_window "$PROGRAMS/kernel_known" preempted
    expect_status 0
    local line tid
    while read -r line; do
        tid=$(grep -oE 'tid=[0-9]+' <<<"$line" | cut -d= -f2)
        window "$tid" >events
        [ "$(count 'off cpu' <events)" -gt 3 ]
        sed -nE 's/.*off cpu .* off=([0-9]+) ns.*/\1/p' events | sum >off
        # Two computed on one CPU: each was off it for a good part, and all adds up.
        awk -v off="$(cat off)" -v line="$line" 'BEGIN {
            match(line, /wall=[0-9]+/); wall = substr(line, RSTART + 5, RLENGTH - 5)
            match(line, /cpu=[0-9]+/); cpu = substr(line, RSTART + 4, RLENGTH - 4)
            sum = (off + cpu) / wall
            exit !(sum > 0.95 && sum < 1.05 && off > wall / 10) }' || fail "off $(cat off) of $line"
    done < <(grep tid= <<<"$output")
    # The ledger says what the system's own count says.
    report_json t
    for tid in $(known tid); do
        awk -v ours="$(json "threads[tid=$tid].components_ns.runnable")" \
            -v counted="$(json "threads[tid=$tid].runnable_ns")" \
            'BEGIN { exit !(counted > 0 && ours > 0.95 * counted && ours < 1.05 * counted) }'
    done
}

@test "with and without a trace: what blocks where heurt knows nothing is told apart" {
    local option tid
    for option in --quiet --aggregate; do
        record -o t "$option" -f known_window "$PROGRAMS/kernel_known" switches
        expect_status 0
        report_json t
        tid=$(known tid)
        # 25 times 0.3 ms, and less than all the time that passed in the window.
        is_number_above 7499999 "$(json "threads[tid=$tid].components_ns.other_blocked")"
        is_number_above "$(json "threads[tid=$tid].components_ns.other_blocked")" \
            "$(json "threads[tid=$tid].lifetime_ns")"
        [ "$(json "threads[tid=$tid].components_ns.sleep")" = 0 ] # no hook saw it
    done
}

@test "children by fork have records of their own, by the bare call none and no harm; new programs too" {
    record -o t -f known_window "$PROGRAMS/kernel_known" forks
    expect_status 0
    [ "$(known tid | wc -l)" -eq 3 ] # the parent, the forked child, a thread of the new program
    local tid
    for tid in $(known tid); do
        [ "$(of_thread "$tid" | count 'point kernel cpu=')" -eq 1 ]
        [ "$(window "$tid" | count 'off cpu \(blocked\)')" -eq 25 ]
    done
}

@test "the program's descriptors and errno are what they would be" {
    local unrecorded
    unrecorded=$("$PROGRAMS/kernel_known" unchanged </dev/null 2>/dev/null | cat)
    "$HEURT" record -q -o t "$PROGRAMS/kernel_known" unchanged </dev/null 2>/dev/null | cat >recorded
    diff recorded - <<<"$unrecorded"
    [ "$("$HEURT" dump -i t | count 'point kernel cpu=')" -eq 2 ]
}

@test "a wait that begins right after a page fault is a wait" {
    # Each thread first touches its stack, then waits at a barrier for all others.
    record -o t --no-choice "$PROGRAMS/threads_many" 1 100
    expect_status 0
    report_json t
    json 'threads[].components_ns.page_fault' | sum >faults
    json 'threads[].components_ns.barrier' | sum >barrier
    is_number_above "$(cat faults)" "$(cat barrier)"
}

@test "hundreds of threads at once" {
    needs_root "locked memory for 500 threads"
    record -o t "$PROGRAMS/threads_many" 1 500
    expect_status 0
    "$HEURT" dump -i t >events
    [ "$(count 'point thread start' <events)" -eq 502 ]
    [ "$(count 'point kernel cpu=' <events)" -eq 502 ]
    run -0 --separate-stderr "$HEURT" report -i t
    ! grep -q 'kernel tells nothing' <<<"$output" || fail "$output"
}

@test "a thread that filters its system calls goes on reading its records" {
    record -o t "$PROGRAMS/kernel_known" caged
    expect_status 0
    [ "$("$HEURT" dump -i t | count 'off cpu \(blocked\)')" -ge 25 ]
}

@test "an ordinary user has them, with threads beyond the memory that may be locked for them" {
    public_room
    cd "$room"
    as_ordinary_user "$room_heurt" record -q -o "$room/t" -f known_window \
        "$room/programs/kernel_known" switches >printed
    output=$(cat printed)
    "$HEURT" dump -i "$room/t" | awk -v tid="$(known tid)" '$2 == tid' >events
    [ "$(awk '/leave known_window/ { exit } inside { print } /enter known_window/ { inside = 1 }' events |
        count 'off cpu \(blocked\)')" -eq 25 ]
    as_ordinary_user "$room_heurt" record -q -o "$room/many" "$room/programs/threads_many" 1 500
    "$HEURT" dump -i "$room/many" >events
    [ "$(count 'point kernel cpu=' <events)" -ge 20 ]
    if [ "$(count 'point kernel cpu=' <events)" -lt 502 ]; then
        "$HEURT" report -i "$room/many" | grep -q 'perf_event_mlock_kb'
    fi
}

@test "--no-kernel: no such events" {
    record --no-kernel -o t "$PROGRAMS/kernel_known" switches
    expect_status 0
    "$HEURT" dump -i t >events
    [ "$(count 'off cpu|page fault|point kernel' <events)" -eq 0 ]
    grep -q 'point thread end' events
}

@test "where the system refuses, the recording goes on and says what to do" {
    status=0
    "$PROGRAMS/without_call" 298 1 "$HEURT" record -q -o t "$PROGRAMS/kernel_known" switches \
        >out 2>err || status=$?
    [ "$status" -ne 77 ] || skip "no filter of system calls can be set here"
    expect_status 0
    "$HEURT" dump -i t >events
    [ "$(count 'off cpu|page fault|point kernel' <events)" -eq 0 ]
    [ "$("$HEURT" report -i t | count 'perf_event_paranoid=2')" -eq 1 ]
}

@test "switches between two recorded calls are told however many they are" {
    compile crowded <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *unused)
{
    for (int i = 0; i < 4000; i++) {
        const struct timespec { long s, ns; } time = {0, 1000};
        syscall(SYS_nanosleep, &time, 0);
    }
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    return pthread_join(thread, 0);
}
C
    local mode seen lost
    record -o t --no-choice ./crowded
    expect_status 0
    "$HEURT" dump -i t >events
    [ "$(count 'off cpu' <events)" -ge 3500 ] # a sleep may be over before it began
    [ "$(count 'kernel lost' <events)" -eq 0 ]
    # Where threads keep their own records they look at them at recorded calls only: what the rings
    # had no room for is counted.
    record -o t --aggregate --no-choice ./crowded
    expect_status 0
    report_json t
    is_number_above 1000 "$(json kernel.lost)"
}
