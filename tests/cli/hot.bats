# heurt hot: the functions that a program spends its time in.
load ../helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    compile spinner <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long hot_function(long n)
{
    for (volatile long i = 0; i < n; i++)
        ;
    return n;
}
int main(int argc, char **argv)
{
    puts("output");
    for (int i = 0; i < 60; i++)
        hot_function(2000000);
    return argc > 1 ? atoi(argv[1]) : 0;
}
C
}

can_sample() {
    heurt hot true
    [ "$status" -eq 0 ] || skip "this machine does not let programs be sampled: $stderr"
}

@test "names the hot function; the program's output does not mix in" {
    can_sample
    heurt hot ./spinner
    expect_status 0
    grep -q '^hot_function' <<<"$output"
    ! grep -qx output <<<"$output"
    grep -qx output <<<"$stderr"
}

@test "ends as the program ends" {
    can_sample
    heurt hot ./spinner 9
    expect_status 9
    heurt hot sh -c 'kill -15 $$'
    expect_status 143
    heurt hot no-such-program-here
    expect_status 127
    says no-such-program-here
}

@test "its list is what record -F takes" {
    can_sample
    "$HEURT" hot ./spinner 2>err | "$HEURT" record --quiet -o t -F - ./spinner >out
    [ "$(cat out)" = output ]
    report_json t
    [ "$(json 'classes[function=hot_function].count')" = 60 ]
}

@test "as an ordinary user" {
    can_sample
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "perf_event_paranoid is above 2"
    public_room
    cp spinner "$room"
    cd "$room"
    run --separate-stderr as_ordinary_user "$room_heurt" hot ./spinner
    show_run
    [ "$status" -eq 0 ]
    grep -q '^hot_function' <<<"$output"
}

@test "wrong usage: 2" {
    heurt hot
    expect_status 2
    heurt hot --frequency never ./spinner
    expect_status 2
    heurt hot --no-such-option ./spinner
    expect_status 2
}
