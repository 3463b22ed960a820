#!/usr/bin/env bats
# heurt export --ctf, read by babeltrace2: every event that the trace has, with its names.
load ../helpers

needs_babeltrace() {
    command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed (make deps)"
    ulimit -n "$(ulimit -Hn)" # it opens the file of each thread
}

printed() { # DIR: its events, a line each, into "print"
    babeltrace2 "$1" >print 2>warnings || fail "babeltrace2 ends with $?: $(head -c 1000 warnings)"
    [ ! -s warnings ] || fail "babeltrace2 says $(head -c 1000 warnings)"
}

count() { # EVENT [MORE]: lines of the print
    grep -E "^\[[^]]*\] \([^)]*\) $1: " print | grep -c -- "${2:-}" || :
}

record_queue() {
    "$HEURT" record --quiet --overhead none --locks all -f 'queue__*' -o heurt.data "$EXAMPLES/queue" \
        --threads 3 --delay 500 --iterations 500 >out </dev/null
    "$HEURT" dump >dump
}

@test "babeltrace2 reads every event of the trace" {
    needs_babeltrace
    record_queue
    "$HEURT" export --ctf -o c
    printed c
    [ "$(grep -c ' enter ' dump)" -gt 3000 ]
    [ "$(count 'enter(_with)?')" = "$(awk '$4 == "enter"' dump | wc -l)" ]
    [ "$(count 'leave[a-z_]*')" = "$(count 'enter(_with)?')" ]
    [ "$(count 'enter(_with)?' '"queue__take"')" = "$(grep -c 'enter *queue__take$' dump)" ]
    [ "$(count point '"lock acquired mutex"')" = "$(grep -c 'point *lock acquired' dump)" ]
    [ "$(count point '"lock released mutex"')" = "$(grep -c 'point *lock released' dump)" ]
    [ "$(count begin)" = 4 ]
    [ "$(count end)" = 4 ]
    count point '"mutex queue->head_lock"' | grep -qvx 0
    # By the first use of a number it has been told what it is.
    awk '/ call: / { split($0, a, "number = "); split(a[2], b, ","); known[b[1]] = 1 }
        / (enter|enter_with|point): / { split($0, a, "call = \\( "); split(a[2], b, "container = "); n = b[2] + 0
            if (!(n in known)) { print; exit 1 } }' print
}

@test "a wait tells what it waited for, who let it go on, and its result" {
    needs_babeltrace
    {
        printf 'start 1000\nprocess 0 100 /bin/a\nthread 0 has\n1000 thread_start 0 -1 0x401000\n'
        printf '1100 lock_acquired 0x401100 0x7000\n2000 lock_released 0x401110 0x7000\n3000 thread_end 0 0\n'
        printf 'thread 1 waits\n1000 thread_start 0 0 0x401000\n1200 lock_wait 0x401200 0x7000\n'
        printf '2100 leave lock_wait 0\n2200 lock_released 0x401210 0x7000\n3000 thread_end 0 0\n'
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --ctf -o c
    printed c
    [ "$(count enter_with '"pthread_mutex_lock mutex" : container = [0-9]* ), object = ( "mutex 0x7000"')" = 1 ]
    [ "$(count leave_with 'result = 0, by = ( "has (')" = 1 ]
    [ "$(count leave_with 'at = 1000 }')" = 1 ]
    [ "$(head -n 1 print | grep -c ' process: ')" = 1 ]
    [ "$(count call 'name = "thread end", detail = "-"')" = 1 ]
}

@test "gaps of more than 4 s, and more events than a packet has" {
    needs_babeltrace
    {
        printf 'process 0 100 /bin/a\nfunction 0 1024 f 0x401000\nthread 0 t\n1000 thread_start 0 -1 0x401000\n'
        for i in {1..20000}; do printf '%d f\n%d leave f\n' $((2000 * i)) $((2000 * i + 500)); done
        printf '%d f\n%d leave f\n' 9000000000 30000000000
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --ctf -o c
    printed c
    [ "$(count enter)" = 20001 ]
    [ "$(count leave)" = 20001 ]
    "$HEURT" dump -i made | awk '$4 == "enter" || $4 == "leave" { print $1 }' >times
    babeltrace2 --clock-seconds --no-delta c | grep -E 'enter|leave' | sed 's/^\[\([0-9.]*\).*/\1/' >read
    paste times read | awk '{ printf "%.9f\n", $2 - $1 }' | sort -u >offsets
    [ "$(awk 'NR == 1 { first = $1 } { last = $1 } END { print (last - first < 0.000002) }' offsets)" = 1 ]
}

@test "names that attack, and of 10,000 bytes; 1,000 threads" {
    needs_babeltrace
    local long attack=$'a"b\x1b[31m\\c\xff*/'
    long=$(printf 'n%.0s' {1..10000})
    {
        printf 'process 0 100 /bin/a"\x07\nfunction 0 1024 %s 0x401000\nfunction 0 1026 g 0x402000\n' "$long"
        printf 'function 0 1028 %s 0x403000\n' "$attack"
        printf 'thread 0 main\n1000 thread_start 1\n1100 %s\n1200 leave %s\n1300 thread_end\n' "$long" "$long"
        for i in {1..1000}; do
            printf 'thread %d t%d\n1000 thread_start 1\n1100 %s\n1200 leave %s\n1300 thread_end\n' "$i" "$i" "$attack" "$attack"
        done
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --ctf -o c
    printed c
    [ "$(count begin)" = 1001 ]
    [ "$(count enter '"nnn')" = 1 ]
    grep -q 'call: .*name = "n\{10000\}"' print
    [ "$(count enter)" = 1001 ]
    ! grep -q $'\x1b' c/metadata || fail "sent"
}

@test "what cannot be written: a sentence, and nothing half-written" {
    record_queue
    heurt export --ctf
    expect_status 2
    says 'give its name with -o'
    mkdir there
    heurt export --ctf -o there
    expect_status 125
    says 'there already'
    heurt export --ctf -o nowhere/c
    expect_status 125
    says 'could not be written'
    [ ! -e nowhere ]
    ls -A . | grep -q part && fail "something is left" || :
}
