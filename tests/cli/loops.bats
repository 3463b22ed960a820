# Loops that heurt marks: of functions that are entered once, for which nothing else would be counted.
load ../helpers

needs_sampling() {
    "$HEURT" hot true >/dev/null 2>&1 || skip "no sampling on this machine (see heurt check)"
}

# All the work is inlined into the threads' routine and into main. Runs until both are marked (the
# bytes of their code change), then does ROUNDS more, each of which reads the clock once.
inlined_work() {
    compile inlined <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 4096, ROUNDS = 400 };
static long results[2];
static volatile long sink;

static inline __attribute__((always_inline)) long churn(long seed, long n)
{
    for (long i = 0; i < n; i++)
        seed = seed * 6364136223846793005 + (seed >> 29) + i;
    return seed;
}
/* Whether code differs from what it was. */
static int is_marked(void *code, const unsigned char *before, size_t bytes)
{
    return memcmp(code, before, bytes) != 0;
}
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
__attribute__((noinline)) static int goes_on(long round, long *left)
{
    if (*left >= 0)
        return (*left)-- > 0;
    if (round > 4000000)
        return 0;
    return 1;
}
extern unsigned char __start_work_text[], __stop_work_text[]; /* the routine's own */
__attribute__((section("work_text"))) static void *routine(void *argument)
{
    static unsigned char before[2][4096];
    long number = *(long *)argument, left = -1, round;
    double begun = now();
    unsigned char *code = __start_work_text + 32; /* behind what the entry's jump takes */
    size_t bytes = __stop_work_text - code;
    memcpy(before[number], code, bytes);
    long seed = number;
    for (round = 0; goes_on(round, &left); round++) {
        seed = churn(seed, 300000);
        if (left < 0 && (is_marked(code, before[number], bytes) ||
                         now() > begun + 60))
            left = now() > begun + 60 ? 0 : ROUNDS;
    }
    results[number] = left;
    sink = seed; /* or a compiler leaves the work out */
    return NULL;
}
int main(void)
{
    static long numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, routine, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts(results[0] == -1 && results[1] == -1 ? "done" : "not marked");
    return 3;
}
C
}

@test "work that is inlined into a thread's routine has iterations, with their source" {
    needs_sampling
    inlined_work
    heurt record -q -o t ./inlined
    expect_status 3
    [ "$output" = done ]
    report_json t
    local count
    count=$(json 'classes[kind=loop].count')
    is_number_above 399 "$(sum <<<"$count")"
    # The routine's own loop, or the one of what is inlined into it.
    [[ $(json 'classes[kind=loop].function') =~ routine\ \(loop\ at\ .*:|\(loop\ at\ .*:.*inlined\ in\ routine ]]
    "$HEURT" report -i t --audit >audit || fail "$(cat audit)"
}

@test "a loop that a function comes to later is marked when it is busy" {
    needs_sampling
    compile loops <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

extern unsigned char __start_work_text[], __stop_work_text[];
static volatile long sink;

__attribute__((noinline)) static int goes_on(long *left)
{
    static unsigned char before[4096];
    static time_t begun;
    unsigned char *code = __start_work_text + 32; /* behind what the entry's jump takes */
    size_t bytes = __stop_work_text - code;
    if (*left == -2) { /* the first time */
        memcpy(before, code, bytes);
        begun = time(NULL);
        *left = -1;
    }
    if (*left == -1 && (memcmp(code, before, bytes) || time(NULL) > begun + 60))
        *left = time(NULL) > begun + 60 ? 0 : 400;
    return *left < 0 || (*left)-- > 0;
}
__attribute__((section("work_text"), noinline)) static void work(long seed)
{
    for (long left = -2; goes_on(&left);)
        for (long i = 0; i < 300000; i++)
            seed = seed * 6364136223846793005 + (seed >> 29) + i;
    for (long left = -2; goes_on(&left);)
        for (long i = 0; i < 200000; i++)
            seed = (seed ^ i) * 2862933555777941757 + (seed >> 7);
    sink = seed;
}
int main(void)
{
    work(1);
    return 4;
}
C
    heurt record -q -o t ./loops
    expect_status 4
    report_json t
    [ "$(json 'classes[kind=loop].function' | grep -c 'loop at [^:]*:2[678]')" -ge 1 ]
    [ "$(json 'classes[kind=loop].function' | grep -c 'loop at [^:]*:\(29\|30\|31\))')" -ge 1 ]
    is_number_above 20 "$(json 'classes[kind=loop].count' | sum)" # of outer loops, or of many more inner ones
}

@test "loops that a thread goes through in turn are not marked at every iteration" {
    needs_sampling
    compile turns <<'C'
#include <stdio.h>
#include <string.h>
#include <time.h>

extern unsigned char __start_work_text[], __stop_work_text[];
static volatile unsigned long sink, never = 88172645463325252;

__attribute__((noinline)) static int goes_on(long *left)
{
    static unsigned char before[4096];
    static time_t begun;
    unsigned char *code = __start_work_text + 32; /* behind what the entry's jump takes */
    size_t bytes = __stop_work_text - code;
    if (*left == -2) { /* the first time */
        memcpy(before, code, bytes);
        begun = time(NULL);
        *left = -1;
    }
    if (*left == -1 && (memcmp(code, before, bytes) || time(NULL) > begun + 60))
        *left = time(NULL) > begun + 60 ? 0 : 4000000;
    return *left < 0 || (*left)-- > 0;
}
static inline __attribute__((always_inline)) unsigned long divided(unsigned long seed, unsigned long by)
{
    for (int i = 0; i < 4; i++)
        seed = (seed % (by | 0x10001)) * 6364136223846793005 + i;
    return seed;
}
__attribute__((section("work_text"), noinline)) static void work(unsigned long seed)
{
    for (long left = -2; goes_on(&left);) {
        do
            seed = divided(seed, left);
        while (seed == never);
        do
            seed = divided(seed, left - 1);
        while (seed == never);
    }
    sink = seed;
}
int main(void)
{
    work(1);
    return 4;
}
C
    heurt record -q -o t ./turns
    expect_status 4
    report_json t
    is_number_above 0 "$(json overhead.events)"
    [ "$(json overhead.events)" -lt 1000000 ] # the rounds are four times as many
}

@test "--no-loops: none are marked" {
    needs_sampling
    compile brief <<'C'
#include <stdio.h>
#include <time.h>
int main(void)
{
    volatile long sum = 0;
    for (clock_t end = clock() + 7 * CLOCKS_PER_SEC / 10; clock() < end;)
        for (long i = 0; i < 30000; i++)
            sum += i;
    puts("done");
}
C
    heurt record -q --no-loops -o t ./brief
    [ "$output" = done ]
    report_json t
    [ -z "$(json 'classes[kind=loop].count')" ]
}

# Exceptions out of loops, jumps out of them, signals and forks while they are marked: the program
# computes the same, and its signal handler has run in the loops.
@test "signals, jumps out of loops, threads that come and go, and forks: the program computes the same" {
    needs_sampling
    compile hard <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static volatile long in_handler;
static __thread jmp_buf out;

static void on_tick(int number)
{
    (void)number;
    for (long i = 0; i < 300; i++)
        in_handler += i;
    ticks++;
}
__attribute__((noinline)) static void leave(long round)
{
    longjmp(out, (int)(round % 7) + 1);
}
static void *work(void *argument)
{
    volatile unsigned long seed = 88172645463325252ul + *(unsigned long *)argument, jumped = 0;
    double x = 1.5;
    for (volatile long round = 0; round < 9000; round++) {
        int how = setjmp(out);
        if (how) {
            jumped += (unsigned long)how;
            continue;
        }
        unsigned long local = seed;
        for (long i = 0; i < 3000; i++) {
            local ^= local << 13;
            local ^= local >> 7;
            local ^= local << 17;
            x = x * 0.5 + (double)(local & 15);
            if (i == 2500 && round % 5 == 0) {
                seed = local;
                leave(round);
            }
        }
        seed = local;
    }
    *(unsigned long *)argument = seed + jumped + (unsigned long)(x * 1000);
    return NULL;
}
int main(void)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
    unsigned long values[4] = {1, 2, 3, 4};
    for (int batch = 0; batch < 16; batch++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, work, &values[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pid_t child = batch % 2 ? fork() : -1;
        if (child == 0) {
            work(&values[2]);
            printf("%lu\n", values[2]);
            fflush(stdout);
            _exit(0);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
    }
    printf("%lu %lu\n", values[0], values[1]);
    return ticks > 10 ? 5 : 6;
}
C
    local bare
    bare=$(./hard || true)
    heurt record -q -o t --choose-after 0.1 ./hard
    expect_status 5
    [ "$output" = "$bare" ]
    report_json t
    is_number_above 0 "$(json 'classes[kind=loop].count' | sum)"
}
