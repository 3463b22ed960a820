# Patched functions: every call once, whatever its arguments and however it ends.
load ../helpers

# counted TRACE NAME: calls that were entered and left, as "entered,left".
counted() {
    sed -n "s/^$2=//p" counts
}

# expect_known TRACE: that every function was entered as often as the program said on stdout.
expect_known() {
    "$COUNT_CALLS" "$1" >counts
    local line name bad=0
    while read -r line; do
        name=${line%=*}
        [[ $name == *.thrown ]] && continue
        [[ $(counted "$1" "$name") == "${line#*=}",* ]] ||
            { echo "$line, but counted $(counted "$1" "$name")"; bad=1; }
    done <<<"$output"
    [ "$bad" = 0 ] || fail "other counts than the program's"
}

@test "functions with arguments on the stack, left in all ways" {
    record -o t --max-size 1G -f 'popped::*' -M popped "$PROGRAMS/popped"
    expect_status 0
    expect_known t
    local name
    for name in variable larges long_doubles int128s doubles ends_in_jump jumped_to jumps_below suspends; do
        [[ $(counted t "popped::$name") =~ ^([0-9]+),([0-9]+)$ ]]
        [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || fail "popped::$name was not always left"
    done
    # Those of exit_in_thread and cancel_in_thread, which call them, are among them.
    local thrown
    thrown=$(sed -n 's/^popped::.*\.thrown=//p' <<<"$output" | sum)
    [ "$(sed -n 's/^unwound=//p' counts)" = $((thrown + 100)) ]
    report_json t
    [ "$(json coverage.events_lost)" = 0 ]
}

@test "the same with their arguments recorded, and with call stacks at every call" {
    record -o t --max-size 1G --stack-every 100 --stack-bytes 512 -f 'popped::*' -M popped \
        -A 'popped::integers=arg1,arg2' -A 'popped::recursive=arg1' -A 'popped::suspends=arg2' \
        -A 'popped::throws=arg1' "$PROGRAMS/popped"
    expect_status 0
    expect_known t
}

@test "a call stack leads through calls whose return address is put aside" {
    record -o t --stack-every 1 -f popped::integers -f popped::calls_backtrace -f popped::takes_backtrace \
        -f backtrace "$PROGRAMS/popped"
    expect_status 0
    report_json t
    json 'classes[function=popped::takes_backtrace(long, long, long, long, long, long, long, long)].stacks[0].frames' >frames || :
    cat frames
    grep -q calls_backtrace frames
    grep -q main frames
}

@test "gdb sees the callers of a function whose return address is put aside" {
    type gdb >/dev/null || skip "no gdb"
    "$HEURT" record --quiet -o t -f popped::stops -f popped::calls_stops "$PROGRAMS/popped" --stop >pid &
    wait_for test -s pid
    gdb -p "$(cat pid)" -batch -ex bt >bt 2>&1 </dev/null || :
    kill -9 "$(cat pid)"
    wait || :
    ! grep -q 'ptrace: ' bt || skip "processes may not be traced here"
    cat bt
    grep -q ' popped::stops' bt
    grep -q ' popped::calls_stops' bt
    grep -q ' main' bt
}

@test "what recording cost is estimated, and taken off durations" {
    record -o t -f 'call_*' "$PROGRAMS/calls_known"
    report_json t
    local estimated wall
    estimated=$(json overhead.estimated_ns)
    wall=$(json wall_ns)
    is_number_above 0 "$estimated"
    [ "$estimated" -lt $((5 * wall)) ] # of its five threads
    # An event costs at least a time stamp's worth, which no machine gives for less than a ns.
    [ "$estimated" -gt "$(json overhead.events)" ]
}

# Entered with the stack aligned to 64 bytes, it keeps vectors there and does not align it again.
aligned_program() {
    local compiler=${HEURT_CC:-${CC:-cc}} option=-mpreferred-stack-boundary=6
    [[ $($compiler --version) != *clang* ]] || option=-mstack-alignment=64
    cat >aligned.c <<'C'
#include <stdint.h>
#include <stdio.h>
__attribute__((noinline)) static int misplaced(int times)
{
    char vectors[64] __attribute__((aligned(64)));
    uintptr_t at = (uintptr_t)vectors;
    __asm__ volatile("" : "+r"(at), "+r"(times) : "r"(vectors) : "memory");
    return at % 64 && times >= 0;
}
int main(void)
{
    char own[64] __attribute__((aligned(64)));
    __asm__ volatile("" : : "r"(own) : "memory");
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += misplaced(i);
    printf("misplaced=%d\n", sum);
    return 0;
}
C
    $compiler -O1 "$option" -o aligned aligned.c
}

@test "the stack keeps its place within 64 bytes" {
    aligned_program
    [ "$(./aligned)" = misplaced=0 ] || skip "the compiler does not rely on it"
    record -o t -f misplaced ./aligned
    [ "$output" = misplaced=0 ]
    "$COUNT_CALLS" t >counts
    [ "$(counted t misplaced)" = 1000,1000 ]
}

# 34,000 functions: more than the ids that fit into an event.
many_functions() {
    awk 'BEGIN {
        print ".text"
        for (i = 0; i < 34000; i++) {
            code = i % 2 ? "mov 8(%rsp), %rax" : "lea 1(%rdi), %rax\n nop"
            printf ".globl many%d\n.type many%d, @function\nmany%d:\n.cfi_startproc\n%s\nret\n" \
                ".cfi_endproc\n.size many%d, . - many%d\n", i, i, i, code, i, i
        }
        print ".section .note.GNU-stack, \"\", @progbits"
    }' >many.s
    cat >main.c <<'C'
long many0(long), many33998(long);
long many1(long, long, long, long, long, long, long), many33999(long, long, long, long, long, long, long);
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += many0(i) + many1(1, 2, 3, 4, 5, 6, i) + many33998(i) + many33999(1, 2, 3, 4, 5, 6, i);
    return sum != 4 * 4950 + 200;
}
C
    "${HEURT_CC:-${CC:-cc}}" -O1 -o many main.c many.s
}

@test "more functions than fit into an event's id" {
    many_functions
    record -o t -f 'many*' -M many ./many
    expect_status 0
    "$COUNT_CALLS" t >counts
    local name
    for name in many0 many1 many33998 many33999; do
        [ "$(counted t "$name")" = 100,100 ] || fail "$name: $(counted t "$name")"
    done
    report_json t
    [ "$(json 'classes[function=many33999].count')" = 100 ]
    [ "$(json coverage.instrumented)" -ge 34000 ]
}

@test "a function that is nowhere: where it was inlined" {
    compile inlined <<'C'
static volatile long sink;
static inline __attribute__((always_inline)) void count_block(long n)
{
    for (long i = 0; i < n; i++)
        sink += i;
}
__attribute__((noinline)) void work(void)
{
    count_block(100);
}
int main(void)
{
    work();
    count_block(50);
    return 0;
}
C
    heurt record -o t -f count_block ./inlined
    says "for 'count_block': the compiler has inlined it in .*work \(.*:9\)"
    says 'count_block.*main \(.*:14\).*, so that it has no code'
    report_json t
    [[ $(json 'coverage.refused[function=count_block].reason') == *"inlined it in "*"work ("* ]]
    heurt record -o t -f 'xylophone*' -f main ./inlined
    says "for 'xylophone\*': no function of this name"
}

# The library's own question who a thread is was recorded in the midst of beginning the thread's record, and
# the call stack of that took the room of the event that the record began for.
@test "a thread's record begins with its start, whatever is recorded" {
    record -o t --no-pack --stack-every 1 -f pthread_self -f __cxa_atexit true
    expect_status 0
    heurt dump -i t
    [ "$stderr" = "" ] || fail "$stderr"
    grep -q ' enter *__cxa_atexit' <<<"$output" || fail "nothing was recorded"
    [[ $(head -n 1 <<<"$output") == *"thread start"* ]] || fail "it does not begin with its start"
}
