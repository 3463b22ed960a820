#!/usr/bin/env bats
# heurt induce: a program while a resource is taken from it. That it is taken is counted; how much longer the
# program takes is nothing that a machine with neighbours could hold.
load ../helpers
bats_require_minimum_version 1.5.0

has_two_cpus() {
    [ "$(nproc)" -ge 2 ] || skip "one CPU: none is left to take memory from"
}

takers_of() { # PID: the processes that take a resource for it
    grep -l "^PPid:.$1\$" /proc/[0-9]*/status 2>/dev/null | xargs -r grep -l '^Name:.heurt-induce$' |
        cut -d/ -f3
}

@test "the program's output, status and signals are its own, and what was taken is said" {
    heurt induce cpu --level 30 -- sh -c 'echo here; exit 7'
    expect_status 7
    [ "$output" = here ]
    says 'cpu, on CPUs? .*: asked for 30 %, took [0-9.]+ %'
    heurt induce cpu --level 30 -q -- sh -c 'kill -TERM $$'
    expect_status 143
    [ -z "$stderr" ]
    heurt induce cpu --level 30 -- ./nothing
    expect_status 127
}

@test "the program has the CPUs that are left" {
    has_two_cpus
    own=$(taskset -cp $$ | sed 's/.*: *//')
    heurt induce memory --level 10 --bytes 1M -- sh -c 'taskset -cp $$ | sed "s/.*: *//"'
    expect_status 0
    [ "$output" != "$own" ] || fail "the program has all CPUs"
    says 'memory, on CPUs? [0-9, ]+, the program on CPUs? [0-9, ]+: asked for 10 %'
    heurt induce cpu --level 10 -- sh -c 'taskset -cp $$ | sed "s/.*: *//"'
    [ "$output" = "$own" ]
}

@test "who takes ends with the program, and with heurt when that is killed" {
    printf '#!/bin/sh\necho $$ >pid\nexec sleep 600\n' >sleeper
    chmod +x sleeper
    "$HEURT" induce cpu --level 5 -- ./sleeper &
    heurt_pid=$!
    until [ -s pid ]; do :; done
    taker=$(takers_of $heurt_pid)
    [ -n "$taker" ]
    kill -KILL $heurt_pid
    while [ -e "/proc/$taker" ] && ! grep -q '^State:.Z' "/proc/$taker/status" 2>/dev/null; do :; done
    kill "$(cat pid)"
    rm pid
    "$HEURT" induce cpu --level 5 -- ./sleeper &
    heurt_pid=$!
    until [ -s pid ]; do :; done
    taker=$(takers_of $heurt_pid)
    kill "$(cat pid)"
    wait $heurt_pid || status=$?
    [ "$status" -eq 143 ]
    [ ! -e "/proc/$taker" ]
}

@test "who suffers is a line for the whole and for each class, from runs at all levels" {
    heurt induce cpu --levels 0,20,40 --repeat 2 -q --json -o report.json -- \
        "$EXAMPLES/queue" --threads 2 --iterations 300
    expect_status 0
    [ "$(json schema)" = heurt.induce/1 ]
    [ "$(json 'levels[].asked' | awk '{ printf "%g ", $1 }')" = '0 0.2 0.4 ' ]
    [ "$(json 'levels[].alone' | sum)" -eq 6 ]
    [ "$(json 'levels[].recorded' | sum)" -eq 6 ]
    [ "$(json 'levels[].taken' | awk '$1 > 0' | wc -l)" -eq 2 ]
    json 'sensitivity[].what' >what
    [ "$(head -n 1 what)" = 'the whole program' ]
    grep -q queue__append what
    is_number_above 0 "$(json 'sensitivity[what=the whole program].time_ns')"
    [ "$(json 'sensitivity[what=the whole program].runs')" -eq 6 ]
    [ "$(json 'times[].asked' | wc -l)" -eq $((3 * $(wc -l <what))) ]
}

lays_out_alike() {
    setarch -R true 2>/dev/null || skip 'the system does not lay programs out in the same way each time'
}

@test "of the lock that is waited for most the sensitivity is told, all of it from recorded runs" {
    lays_out_alike
    heurt induce lock --levels 0,100 --repeat 2 -q --json -o lock.json -- "$PROGRAMS/locks_split" 1
    expect_status 0
    [ "$("$JSON_GET" lock.json resource)" = lock ]
    [ "$("$JSON_GET" lock.json where)" = head ]
    [ "$("$JSON_GET" lock.json 'levels[].recorded' | sum)" -eq 4 ]
    [ "$("$JSON_GET" lock.json 'levels[].alone' | sum)" -eq 0 ]
    [ "$("$JSON_GET" lock.json 'sensitivity[what=the whole program].runs')" -eq 4 ]
    # 80 sections of a millisecond each, one after the other: twice as long is no less than that.
    took=$("$JSON_GET" lock.json 'times[what=the whole program].time_ns' | tail -n 1)
    awk -v ns="$took" 'BEGIN { exit !(ns >= 80 * 2e6 * 0.98) }' || fail "held twice as long it took $took ns"
    heurt induce lock --levels 0,50 --repeat 1 -q -- true
    expect_status 125
    says 'no thread of true waits for a lock'
}

# The program counts by its own clock: which lock is given back later than it was asked for.
@test "the lock that is waited for most is held twice as long, another one is not" {
    lays_out_alike
    heurt induce lock --levels 0,100 --repeat 2 -q --json -o lock.json -- "$PROGRAMS/holds_known" "$PWD/holds"
    expect_status 0
    [ "$("$JSON_GET" lock.json where)" = heavy ]
    [ "$(wc -l <holds)" -eq 5 ] || fail "$(cat holds)" # one to find the lock, two at each level
    # All holds of two runs. In the others giving it back may take as long where it wakes who waits, which is
    # every second time, and else by chance.
    [ "$(awk '$3 == $2' holds | wc -l)" -eq 2 ] || fail "$(cat holds)"
    [ "$(awk '4 * $3 < 3 * $2' holds | wc -l)" -eq 3 ] || fail "$(cat holds)"
    [ "$(awk '2 * $6 < $5' holds | wc -l)" -eq 5 ] || fail "$(cat holds)"
}

@test "of memory it is said how much can be taken, and levels are parts of that" {
    has_two_cpus
    heurt induce memory --repeat 1 -q --json -o report.json --bytes 1M -- true
    expect_status 0
    json 'levels[].asked' >asked
    possible=$(json possible_least | grep -v null || echo 0)
    # Where it is not shown that a program that streams loses any, they are parts of what is written.
    most=$(awk -v least="$possible" -v value="$(json possible)" \
        'BEGIN { print (least > 0 && value < 0.75 ? value : 0.75) }')
    awk -v most="$most" '{ got = $1 } END { exit !(NR >= 2 && NR <= 4 && (got - most) ^ 2 < 0.0006 ^ 2) }' asked ||
        fail "$(cat asked report.json)"
    grep -Eq 'can take at most|is not shown' report.json
    heurt induce memory --level 100 --bytes 1M -- true
    expect_status 0
    says 'can take at most|whether a program that streams loses any'
}

@test "a screen and tables tell the same" {
    heurt induce cpu --levels 0,40 --repeat 1 -q -- "$EXAMPLES/queue" --threads 2 --iterations 100
    expect_status 0
    [[ $output == *'cpu taken on CPU'*'the whole program'*'asked and taken: 0 %: 0.0 %'* ]] || fail "$output"
    heurt induce cpu --levels 0,40 --repeat 1 -q --csv --table levels -- true
    expect_status 0
    [ "$(head -n 1 <<<"$output")" = asked,taken,rate,alone,recorded ]
    [ "$(wc -l <<<"$output")" -eq 3 ]
}

@test "interrupted, it tells what there is" {
    # The third run sends the signal: two are made by then.
    printf '#!/bin/sh\necho >>count\n[ "$(wc -l <count)" -eq 3 ] && kill -INT $(cat go)\nexec true\n' >interrupts
    chmod +x interrupts
    sh -c 'echo $$ >go; exec "$HEURT" induce cpu --levels 0,20 -q -- ./interrupts' >told && status=0 || status=$?
    [ "$status" -eq 0 ]
    grep -q 'interrupted' told
}

@test "what cannot be is a sentence" {
    heurt induce memory
    expect_status 2
    says 'which program'
    heurt induce -- true
    expect_status 2
    says 'expected one of memory'
    heurt induce memry -- true
    expect_status 2
    says "did you mean 'memory'"
    heurt induce luck -- true
    expect_status 2
    says "'luck' cannot be taken.*did you mean 'lock'"
    heurt induce lock --level 5 -- true
    expect_status 2
    says 'do not go with lock'
    heurt induce lock --cpus 0 -- true
    expect_status 2
    heurt induce cpu --level 101 -- true
    expect_status 2
    heurt induce cpu --levels 50 -- true
    expect_status 2
    heurt induce cpu --level 5 --json -- true
    expect_status 2
    heurt induce cpu --cpus 1023 -- true
    expect_status 2
    says '--cpus: heurt may not use all of these'
    heurt induce cpu --node 1000 -- true
    expect_status 2
    says 'no such node'
    heurt induce disk --directory /nowhere --level 5 -- true
    expect_status 125
    says 'no file can be made in /nowhere'
    heurt induce cpu --levels 0,10 --repeat 1 -q -- false
    expect_status 125
    says 'false ended with status 1'
}

@test "what would make the machine swap is refused" {
    has_two_cpus
    heurt induce memory --bytes 900000G --level 5 -- true
    expect_status 125
    says 'might swap'
}

@test "one CPU has none left to take memory from" {
    first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    status=0
    taskset -c "$first" "$HEURT" induce memory --level 5 -- true 2>told || status=$?
    [ "$status" -eq 2 ]
    grep -q 'of the 1 that heurt may use here none is left for that' told
}
