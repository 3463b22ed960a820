#!/usr/bin/env bats
# heurt stat: what threads do with the CPUs. Figures are held against the program's own clocks, never against a
# time that was expected.
load ../helpers
bats_require_minimum_version 1.5.0

KNOWN=$PROGRAMS/activity_known

# near ONE OTHER PERCENT NS: apart by no more than both of them together
near() {
    awk -v one="$1" -v other="$2" -v percent="$3" -v ns="$4" \
        'BEGIN { apart = one > other ? one - other : other - one; exit !(apart <= other * percent / 100 + ns) }' ||
        fail "$1 is not $2 (± $3 % and $4 ns)"
}

stat_json() { # ARG…: into report.json
    heurt stat --json -o report.json "$@"
    expect_status 0
    [ "$(json schema)" = heurt.stat/1 ]
}

@test "service times are those of the threads' own clocks, and add up with the rest to their lives" {
    stat_json -- "$KNOWN" 4 4000 2000 1000 50
    grep ^thread <<<"$output" >own
    [ "$(wc -l <own)" -eq 4 ]
    while read -r _ tid cpu_ns; do # the system counts to a thread what a switch to it takes
        switches=$(($(json "threads[tid=$tid].voluntary") + $(json "threads[tid=$tid].involuntary")))
        near "$(json "threads[tid=$tid].service_ns")" "$cpu_ns" 1 $((300000 + 30000 * switches))
    done <own
    while read -r life service blocked preempted; do
        [ "$life" -eq $((service + blocked + preempted)) ] || fail "a life of $life"
    done < <("$HEURT" stat --csv -- "$KNOWN" 3 2000 500 0 5 | grep '^[0-9]*,' | cut -d, -f5,6,7,8 | tr , ' ')
}

@test "what all threads did is one sum, however it is divided" {
    stat_json -- "$KNOWN" 8 4000 1000 500 20
    [ "$(json 'threads[].service_ns' | sum)" -eq "$(json service_ns)" ]
    [ "$(json 'activity[].work_ns' | sum)" -eq "$(json service_ns)" ]
    [ "$(json 'activity[].running_ns' | sum)" -eq "$(json wall_ns)" ]
    [ "$(json 'activity[].wanting_ns' | sum)" -eq "$(json wall_ns)" ]
    near "$(json at_work)" "$(awk -v one="$(json service_ns)" -v other="$(json active_ns)" \
        'BEGIN { print one / other }')" 0.01 0
    # The interval form is never less, and more the longer the interval is.
    { json at_work && json 'intervals[].at_work'; } | awk '$1 < last * 0.999 { exit 1 } { last = $1 }'
    near "$(json 'model[cpus=1].at_work')" 1 0.01 0
}

@test "one CPU has one thread at work; children belong to the program" {
    stat_json -- taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" "$KNOWN" 4 2000 1000 0 10
    near "$(json at_work)" 1 2 0
    stat_json -- sh -c "$KNOWN 1 1000 1000 0 20 & $KNOWN 1 1000 1000 0 20 & wait"
    [ "$(json 'threads[].pid' | sort -u | wc -l)" -eq 3 ]
    [ "$(json 'threads[].tid' | sort -u | wc -l)" -eq 5 ]
}

@test "a process that runs is looked at from then on, with the threads that it has" {
    "$KNOWN" 3 5000 1000 0 100000 >/dev/null &
    pid=$!
    until [ "$(ls "/proc/$pid/task" | wc -l)" -eq 4 ]; do :; done
    stat_json -p "$pid" --duration 200ms
    kill "$pid"
    [ "$(json attached_to)" = "$pid" ]
    [ "$(json cut)" = true ]
    [ "$(json 'threads[].tid' | wc -l)" -eq 4 ]
    is_number_above 0 "$(json service_ns)"
}

@test "it ends with the process, and by Ctrl-C" {
    "$KNOWN" 1 1000 200 0 400 >/dev/null &
    stat_json -p $!
    "$KNOWN" 1 1000 200 0 100000 >/dev/null &
    pid=$!
    "$HEURT" stat -p "$pid" -o screen &
    stat=$!
    # The shell blocks signals, too, before it becomes heurt.
    until grep -q '^Name:.heurt$' "/proc/$stat/status" && grep -q '^SigBlk:.*[2367abef]$' "/proc/$stat/status"; do :; done
    kill -INT "$stat"
    wait "$stat"
    kill "$pid"
    grep -q 'looked at for' screen
}

@test "the program's output, status and signals are its own" {
    heurt stat -o screen -- sh -c 'echo here; exit 7'
    expect_status 7
    [ "$output" = here ]
    grep -q 'took' screen
    heurt stat -o screen -- sh -c 'kill -TERM $$'
    expect_status 143
    grep -q 'took' screen
    heurt stat --table model -- true
    [[ $output == model:* ]]
}

@test "what cannot be looked at is a sentence" {
    heurt stat
    expect_status 2
    says 'which program'
    heurt stat -p 1 true
    expect_status 2
    heurt stat --table nothing true
    expect_status 2
    says "no table 'nothing'"
    heurt stat --duration 1s true
    expect_status 2
    heurt stat ./nothing
    expect_status 127
    true & wait $!
    heurt stat -p $!
    expect_status 125
    says 'there is no process'
}
