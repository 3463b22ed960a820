# Debuggers and profilers see the same chain of calls through recorded functions as without heurt.
load ../helpers

# frames_program FLAG…: t_outer calls t_middle, which has arguments on the stack (with
# -DIN_REGISTERS it has none there), which calls t_inner, which works for a while.
frames_program() {
    compile frames -O2 -fno-omit-frame-pointer "$@" <<'C'
#include <stdio.h>
#include <unistd.h>
#include <time.h>
static volatile long sink;
__attribute__((noipa)) long t_inner(long n)
{
    puts("ready");
    fflush(stdout);
    struct timespec used;
    do {
        for (long i = 0; i < 1000000; i++)
            sink += i * n;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec < n);
    return n;
}
#ifdef IN_REGISTERS
#define t_middle(a, b, c, d, e, f, n) t_middle(n)
__attribute__((noipa)) long (t_middle)(long n)
{
    return t_inner(n) + 21;
}
#else
__attribute__((noipa)) long t_middle(long a, long b, long c, long d, long e, long f, long n)
{
    return t_inner(n) + a + b + c + d + e + f;
}
#endif
__attribute__((noipa)) long t_outer(long n)
{
    return t_middle(1, 2, 3, 4, 5, 6, n) * 3;
}
int main(int count, char **words)
{
    (void)words;
    return t_outer(count > 1 ? 1 : 100) == 0;
}
C
}

is_ready() {
    grep -q ready "$1"
}

# traced PID: the program's functions in gdb's trace of it, inner ones first.
traced() {
    gdb -nx -batch -iex 'set debuginfod enabled off' -ex bt -p "$1" 2>gdb.err |
        grep '^#' | grep -oE ' (t_inner|t_middle|t_outer|main) ' | tr -d '\n'
}

@test "gdb sees through recorded functions" {
    command -v gdb >/dev/null || skip "there is no gdb"
    frames_program
    ./frames >plain &
    program=$!
    wait_for is_ready plain
    expected=$(traced $program)
    kill -9 $program
    [ "$expected" = " t_inner  t_middle  t_outer  main " ] || skip "gdb may not look at programs here"
    "$HEURT" record -q -o t -f 't_*' ./frames >recorded 2>err &
    recorder=$!
    wait_for is_ready recorded
    program=$(pgrep -P $recorder frames)
    seen=$(traced "$program")
    kill -9 "$program"
    wait $recorder || true
    [ "$seen" = "$expected" ] || fail "gdb sees: $seen $(cat gdb.err)"
}

# perf copies the stack and nothing else: what stands aside (docs/torture.md) it cannot see.
@test "perf sees through recorded functions that take nothing on the stack" {
    command -v perf >/dev/null || skip "there is no perf"
    frames_program -DIN_REGISTERS
    perf record -q -F 99 --call-graph dwarf,4096 -o plain.perf ./frames short >out 2>&1 ||
        skip "perf may not record here"
    perf script -i plain.perf -F ip,sym 2>/dev/null | grep -q t_outer || skip "perf does not unwind here"
    perf record -q -F 99 --call-graph dwarf,4096 -o recorded.perf \
        "$HEURT" record -q -o t -f 't_*' ./frames short >out 2>&1
    # Of the samples in t_inner, how many reach main.
    perf script -i recorded.perf --comm frames -F ip,sym 2>/dev/null |
        awk -v RS= '/t_inner/ { all++; if (/t_middle/ && /t_outer/ && / main/) whole++ }
                    END { print all + 0, whole + 0 }' >counts
    read -r all whole <counts
    is_number_above 10 "$all"
    [ "$whole" -ge $((all * 9 / 10)) ] || fail "$whole of $all samples reach main"
}

@test "a static position-independent program runs, and it is said that it is not recorded" {
    echo 'int main(void) { puts("static"); return 9; }' | compile program -static-pie -fPIE ||
        skip "this compiler makes no static position-independent programs"
    heurt record -o t -f main ./program
    expect_status 9
    [ "$output" = static ]
    says static
}

@test "a library that is recorded as a whole changes no result" {
    "$PROGRAMS/calls_known" | grep -v =0x >plain
    "$HEURT" record -q -o t -M 'libc.so*' -M 'calls_known' "$PROGRAMS/calls_known" | grep -v =0x >recorded
    diff plain recorded
    "$PROGRAMS/calls_known_cxx" >plain
    "$HEURT" record -q -o t -M 'lib*' -M 'calls_known*' "$PROGRAMS/calls_known_cxx" >recorded
    diff plain recorded
}
