#!/usr/bin/env bats
# Where the kernel refuses samples, the program's threads take them by timers of their own.
load ../helpers

PERF_EVENT_OPEN=298
EACCES=13

# without_perf ARG…: heurt where perf_event_open is refused
without_perf() {
    status=0
    "$PROGRAMS/without_call" $PERF_EVENT_OPEN $EACCES "$HEURT" "$@" >out 2>err </dev/null || status=$?
    [ "$status" != 77 ] || skip "no filter of system calls can be set here"
    cat err
}

@test "functions are chosen, and memory is looked at" {
    without_perf record -o t "$PROGRAMS/memory_known" packed
    [ "$status" = 0 ]
    ! grep -q 'only the calls that heurt knows' err
    "$HEURT" memory -i t --json >json
    [ "$("$JSON_GET" json samples)" -ge 5 ]
    "$JSON_GET" json 'objects[].accesses[].place.function' | grep -qx count
    "$JSON_GET" json 'objects[].born.function' | grep -qx main
    "$HEURT" memory -i t | tr -s ' \n' ' ' | grep -q 'samples of code by timers of its threads, at most'
    "$HEURT" report -i t >report
    ! grep -q 'the program was not sampled' report
    # Rings are no part of what is kept.
    "$HEURT" report -i t --csv >/dev/null 2>err
    ! grep -q damaged err
}

@test "the program sees no timers: calls, masks, waits for signals, small stacks, children" {
    "$PROGRAMS/timed_known" signals >bare
    without_perf record -q -o t "$PROGRAMS/timed_known" signals
    [ "$status" = 0 ]
    diff bare out
    grep -q '^calls cut short: 0; ' bare
    "$HEURT" memory -i t --json >json
    [ "$("$JSON_GET" json samples)" -ge 20 ]
}

@test "a signal of that number from elsewhere ends the program, as without heurt" {
    without_perf record -q -o t sh -c 'kill -63 $$; echo alive'
    [ "$status" = $((128 + 63)) ]
    [ ! -s out ]
}

@test "all CPU time is sampled, in all threads" {
    without_perf record -q -o t --no-choice "$PROGRAMS/timed_known"
    [ "$status" = 0 ]
    "$HEURT" memory -i t --json >json
    local sampled cpu
    sampled=$("$JSON_GET" json sampled_ns)
    "$HEURT" tables -i t --format csv threads:cpu_ns | tail -n +2 >cpus
    cpu=$(awk '{ s += $1 } END { printf "%.0f", s }' cpus)
    echo "$sampled ns of $cpu ns"
    [ "$sampled" -le "$cpu" ]
    [ $((sampled * 10)) -ge $((cpu * 7)) ]
}
