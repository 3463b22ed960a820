# Functions that are patched while the program runs: by the automatic choice, and thousands of times.
load ../helpers

needs_sampling() {
    "$HEURT" hot true >/dev/null 2>&1 || skip "no sampling on this machine (see heurt check)"
}

toggle() { # MEBIBYTES TIMES [ARG]: live_known is patched and unpatched
    needs_plain_heurt
    status=0
    LSAN_OPTIONS=detect_leaks=0 "$LIVE_TOGGLE" "$LIBHEURT" t "$1" "$2" 'kind_* @live_known' \
        "$PROGRAMS/live_known" "${@:3}" >out 2>err || status=$?
    cat out err
    [ "$status" = 0 ]
    grep -qx "toggled $2" out
    grep -qx 'functions 10' out
    grep -qx 'failures 0' out
}

@test "patched and unpatched two thousand times: results, waits, transfers and signals are right" {
    toggle 256 2000
}

# What is blocked in epoll_pwait, ppoll, sigsuspend, futex and nanosleep is not restarted by the kernel itself.
@test "who is blocked in a system call while functions are patched misses no wake-up, and gets none too many" {
    needs_plain_heurt
    LSAN_OPTIONS=detect_leaks=0 "$LIVE_TOGGLE" "$LIBHEURT" t 256 300 'work_* @blocked_known' \
        "$PROGRAMS/blocked_known" >out
    grep -qx 'toggled 300' out
    grep -qx 'functions 2' out
    grep -qx 'missed 0' out
    grep -qx 'invented 0' out
}

@test "each call is counted once in the main thread, in a thread and a process that come later" {
    toggle 3000 100 gently
    local kind
    for kind in leaf loop global struct long_double wide switch floating inside; do
        grep -qx "main kind_$kind 1000" out || fail "kind_$kind in the main thread"
        grep -qx "late kind_$kind 2000" out || fail "kind_$kind in those that came later"
    done
    grep -qx 'main kind_recursive 5000' out
}

# Runs until all functions named on its command line begin with a jump (or for far too long), then
# calls busy_one 1000 times more, and says how many times it has called it since then.
until_patched() { # the program, compiled
    compile busy <<'C'
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIND __attribute__((noinline, noclone))
KIND long busy_one(long n)
{
    for (volatile long i = 0; i < 60000; i++)
        n += i;
    return n;
}
KIND long busy_two(long n)
{
    for (volatile long i = 0; i < 30000; i++)
        n ^= i;
    return n;
}
KIND long idle(long n)
{
    __asm__ volatile("");
    return n + 1;
}
__attribute__((noinline)) static int is_patched(void *function)
{
    unsigned char *volatile start = function, *code = start;
    if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        code += 4;
    return *(volatile unsigned char *)code == 0xe9;
}
static int run(void)
{
    for (long n = 0; n < 20000000; n++) {
        busy_one(n);
        busy_two(n);
        idle(n);
        if (is_patched(busy_one) && is_patched(busy_two))
            break;
    }
    for (long n = 0; n < 1000; n++)
        busy_one(n);
    return !is_patched(busy_one) || !is_patched(busy_two) || is_patched(idle);
}
int main(int argc, char **argv)
{
    int status = 0;
    pid_t child = argc > 1 ? fork() : -1;
    int failed = run();
    if (child == 0)
        _exit(failed);
    if (child > 0)
        waitpid(child, &status, 0);
    puts(failed || status ? "not patched" : "patched");
    return 7;
}
C
}

# NAMES: which functions of the program itself are recorded. (The loader's may take a percent of a
# short run, too.)
chosen_of_program() {
    local file names
    file=$(json 'coverage.functions[].module' | grep -m 1 '/busy$')
    names=$(json "coverage.functions[module=$file].function" | sort | tr '\n' ' ')
    [ "$names" = "$1" ] || fail "chosen of the program: $names"
}

@test "busy functions are chosen and patched in the running program, and only they" {
    needs_sampling
    until_patched
    heurt record -o t ./busy
    expect_status 7
    [ "$output" = patched ]
    [[ $stderr != *"too short"* ]]
    report_json t
    chosen_of_program "busy_one busy_two "
    is_number_above 999 "$(json 'classes[function=busy_one].count')"
    [[ $(json coverage.choice) == *"functions were chosen by heurt"*"of CPU time"*"1 %"* ]]
    "$HEURT" report -i t --coverage | grep -q 'functions were chosen by heurt'
}

@test "what becomes busy later is chosen, too: the first functions stay, the next ones come" {
    needs_sampling
    compile phases <<'C'
#include <stdio.h>
#include <string.h>
#define KIND __attribute__((noinline, noclone))
#define PHASE(name, step)                        \
    KIND long name(long n)                       \
    {                                            \
        for (volatile long i = 0; i < 50000; i++) \
            n = step;                            \
        return n;                                \
    }
PHASE(early, n + i)
PHASE(late, n ^ i)
static int is_patched(long (*function)(long))
{
    unsigned char *volatile start = (unsigned char *)function, *code = start;
    if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        code += 4;
    return *(volatile unsigned char *)code == 0xe9;
}
static int run(long (*phase)(long))
{
    long n = 0;
    while (!is_patched(phase) && n < 1000000)
        phase(n++);
    for (long i = 0; i < 500; i++)
        phase(n);
    return is_patched(phase);
}
int main(void)
{
    int one = run(early), before = is_patched(late), two = run(late);
    printf("%d %d %d %d\n", one, before, two, is_patched(early));
    return 0;
}
C
    heurt record -q -o t ./phases
    [ "$output" = "1 0 1 1" ]
    report_json t
    is_number_above 499 "$(json 'classes[function=early].count')"
    is_number_above 499 "$(json 'classes[function=late].count')"
    [[ $(json coverage.choice) =~ chosen\ by\ heurt.*"; then "[1-9][0-9]*" more after " ]]
    "$HEURT" report -i t --audit >audit || fail "$(cat audit)"
}

@test "processes that were there before the choice are patched, too" {
    needs_sampling
    until_patched
    heurt record -o t ./busy forks
    expect_status 7
    [ "$output" = patched ]
    report_json t
    chosen_of_program "busy_one busy_two "
}

@test "bare heurt chooses; with -f, or --no-choice, nothing is chosen" {
    needs_sampling
    until_patched
    heurt ./busy
    expect_status 7
    [[ $stderr == *" took "*" on "*" CPU"* ]] # it reports; what is ranked there, the machine's load decides
    report_json heurt.data
    chosen_of_program "busy_one busy_two "
    heurt record -o t -f idle --choose-after 0.1 "$PROGRAMS/calls_known"
    [[ $stderr != *"too short"* ]]
    report_json t
    [ "$(json coverage.choice)" = null ]
    heurt record -o t --no-choice true
    [[ $stderr != *"too short"* ]]
}

@test "a short program: a hint" {
    needs_sampling
    heurt record -o t true
    expect_status 0
    says 'true was too short to choose functions'
    says "heurt record --hot CMD"
    heurt record -q -o t true
    [ -z "$stderr" ]
    heurt record -o t --choose-after nonsense true
    expect_status 2
}

@test "where sampling is refused, functions are chosen all the same" {
    local refused
    for refused in 13 38; do # EACCES, ENOSYS of perf_event_open
        status=0
        "$PROGRAMS/without_call" 298 $refused "$HEURT" record --choose-after 0.1 -o t "$PROGRAMS/timed_known" \
            >out 2>err </dev/null || status=$?
        [ "$status" != 77 ] || skip "no system call filters here"
        cat err
        [ "$status" = 0 ]
        "$HEURT" report -i t --coverage | grep -Eq 'functions? (was|were) chosen by heurt'
    done
}

@test "a program that a debugger holds is left alone" {
    needs_sampling
    compile held <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) long busy(long n)
{
    for (volatile long i = 0; i < 100000; i++)
        n += i;
    return n;
}
int main(void)
{
    int ready[2], go[2];
    char byte = 0;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (pipe(ready) || pipe(go))
        return 1;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        close(go[1]);
        long result = ptrace(PTRACE_SEIZE, parent, 0, 0);
        byte = result == 0;
        if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
            return 1;
        _exit(0); /* lets it go */
    }
    if (read(ready[0], &byte, 1) != 1 || !byte)
        return 77;
    struct { long cpu; } spent = {0};
    for (long n = 0; clock() < 2 * CLOCKS_PER_SEC; n++)
        spent.cpu += busy(n);
    close(go[1]);
    waitpid(child, NULL, 0);
    unsigned char *code = (unsigned char *)busy;
    printf("%d %ld\n", code[0] == 0xe9 || code[4] == 0xe9, spent.cpu & 0);
    return 3;
}
C
    heurt record -o t --choose-after 0.3 ./held
    [ "$status" != 77 ] || skip "no ptrace here"
    expect_status 3
    [ "$output" = "0 0" ]
    says 'traced by a debugger'
    [ "$(grep -c 'traced by a debugger' <<<"$stderr")" = 1 ]
    report_json t
    [[ $(json 'coverage.refused[].reason') == *"traced by a debugger"* ]]
}

@test "a function that costs more than the budget even when it is left out is unpatched" {
    compile frequent <<'C'
#include <stdio.h>
#include <string.h>
__attribute__((noinline, noclone)) long tiny(long n)
{
    __asm__ volatile("");
    return n * 3 + 1;
}
__attribute__((noinline)) static int is_patched(void *function)
{
    unsigned char *volatile start = function, *code = start;
    if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        code += 4;
    return *(volatile unsigned char *)code == 0xe9;
}
int main(void)
{
    long n = 1, rounds = 0, was = is_patched(tiny);
    while (is_patched(tiny) && rounds++ < 200000)
        for (int i = 0; i < 100000; i++)
            n = tiny(n);
    printf("%ld %d\n", was, is_patched(tiny));
    return 0;
}
C
    heurt record -o t --overhead 0.1% -f tiny ./frequent
    expect_status 0
    [ "$output" = "1 0" ]
    report_json t
    [[ $(json 'coverage.refused[].reason') == *"left out after"*"budget"* ]]
}
