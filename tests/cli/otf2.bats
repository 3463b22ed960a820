#!/usr/bin/env bats
# heurt export --otf2, read by otf2-print; and the way back by heurt import.
load ../helpers

needs_otf2_print() {
    command -v otf2-print >/dev/null || skip "otf2-print is not installed (make deps)"
}

printed() { # DIR: its events
    otf2-print "$1/traces.otf2" 2>warnings || fail "otf2-print ends with $?"
    [ ! -s warnings ] || fail "otf2-print says $(cat warnings)"
}

columns() { # DIR TABLE:COLUMNS
    "$HEURT" tables -i "$1" --format csv "$2" | tail -n +2 | sort
}

# Equal texts; numbers that differ by no more than 1 in 1000, or 20.
alike() { # FILE FILE
    [ -s "$1" ] || fail "$1 is empty"
    paste -d, "$1" "$2" | awk -F, '{
        for (i = 1; i <= NF / 2; i++) {
            a = $i; b = $(i + NF / 2); d = a - b; d = d < 0 ? -d : d
            if (a == b) continue
            if (a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/ || (d > a / 1000 && d > 20)) { print; exit 1 }
        } }' || fail "$1 and $2 differ"
}

record_structure() {
    "$HEURT" record --quiet --overhead none --no-kernel -o heurt.data -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 2 --iterations 300 --anomalies 8 --seed 7 >out </dev/null
}

record_queue() {
    "$HEURT" record --quiet --overhead none --locks all --no-kernel -o heurt.data "$EXAMPLES/queue" \
        --threads 3 --delay 2000 --iterations 2000 >out </dev/null
}

@test "otf2-print counts what heurt recorded" {
    needs_otf2_print
    record_structure
    "$HEURT" export --otf2 -o o
    printed o >print
    "$HEURT" dump >dump
    for function in step_row step_sweep whole_iteration; do
        [ "$(grep -c "^ENTER .*\"$function\"" print)" = "$(grep -cE "enter +$function\$" dump)" ]
        [ "$(grep -c "^LEAVE .*\"$function\"" print)" = "$(grep -cE "leave +$function\$" dump)" ]
    done
    [ "$(grep -c '^THREAD_BEGIN ' print)" = 3 ]
    [ "$(grep -c '^THREAD_END ' print)" = 3 ]
    otf2-print -G o/traces.otf2 | grep -q 'LOCATION .*"structure_known'
}

@test "there and back: functions, scores and the loop are the same" {
    record_structure
    "$HEURT" export --otf2 -o o
    heurt import o -o back
    expect_status 0
    says 'imported from OTF2'
    for dir in heurt.data back; do
        columns $dir classes:function,count,excess_ns,score --class site | grep -E '^(step|whole)_' >$dir.classes
        columns $dir threads:tid,name,lifetime_ns >$dir.threads
    done
    # What recording adds to each call, heurt knows and takes off in its own trace: it falls out of excesses.
    alike heurt.data.threads back.threads
    cut -d, -f1,2 heurt.data.classes | cmp - <(cut -d, -f1,2 back.classes)
    paste -d, heurt.data.classes back.classes |
        awk -F, '{ d = $4 - $8; if (d < 0) d = -d; if (d > 0.02 + 0.05 * $4) { print; exit 1 } }'
    for dir in heurt.data back; do
        "$HEURT" structure -i $dir | grep -q '×300 .*run a loop each' || fail "the loop of $dir"
    done
}

@test "there and back: locks are the same" {
    record_queue
    "$HEURT" export --otf2 -o o
    "$HEURT" import -q o -o back
    for dir in heurt.data back; do
        columns $dir locks:address,acquisitions,contended,wait_ns >$dir.locks
        columns $dir lock_sites:function,line,acquisitions,contended,wait_ns >$dir.sites
        "$HEURT" tables -i $dir --format csv classes:kind,function,caller_line,count,excess_ns --where kind=lock |
            sort >$dir.classes
    done
    alike heurt.data.locks back.locks
    alike heurt.data.sites back.sites
    alike heurt.data.classes back.classes
}

@test "names that attack, and of 10,000 bytes; 1,000 threads" {
    needs_otf2_print
    local long
    long=$(printf 'n%.0s' {1..10000})$(printf '\x1b')[31m
    {
        printf 'process 0 100 /bin/a\nfunction 0 1024 %s 0x401000\nfunction 0 1026 g 0x402000\n' "$long"
        printf 'thread 0 main\n1000 thread_start 1\n1100 %s\n1200 leave %s\n1300 thread_end\n' "$long" "$long"
        for i in {1..1000}; do
            printf 'thread %d t%d\n1000 thread_start 1\n1100 g\n1200 leave g\n1300 thread_end\n' "$i" "$i"
        done
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --otf2 -o o
    printed o >print
    [ "$(grep -c '^THREAD_BEGIN ' print)" = 1001 ]
    [ "$(grep -c '^ENTER .*"nnn' print)" = 1 ]
    "$HEURT" import -q o -o back
    "$HEURT" tables -i back --format csv classes:count --where function=g | grep -qx 1000
}

@test "what cannot be written: a sentence, and nothing half-written" {
    record_queue
    heurt export --otf2
    expect_status 2
    says 'give its name with -o'
    mkdir there
    heurt export --otf2 -o there
    expect_status 125
    says 'there already'
    heurt export --otf2 -o nowhere/o
    expect_status 125
    says 'could not be written'
    [ ! -e nowhere ]
    ls -A . | grep -q part && fail "something is left" || :
}

@test "locks have their kinds and names, and come back with their kinds" {
    needs_otf2_print
    {
        printf 'start 1000\nprocess 0 100 /bin/a\nthread 0 a\n1000 thread_start 0 -1 0x401000\n'
        printf '1100 lock_acquired 0x401100/1 0x7000\n1200 lock_released 0x401110/4 0x7000\n'
        printf '1300 lock_acquired 0x401120/2 0x7000\n1400 lock_released 0x401110/4 0x7000\n'
        printf '1500 lock_acquired 0x401130/3 0x8000\n1600 lock_released 0x401140/3 0x8000\n'
        printf '1700 lock_acquired 0x401150 0x9000\n1800 lock_released 0x401160 0x9000\n3000 thread_end 0 0\n'
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --otf2 -o o
    printed o >print
    grep -A1 '^THREAD_ACQUIRE_LOCK' print >acquired
    [ "$(grep -c 'STRING; "rwlock 0x7000"' acquired)" = 2 ]
    [ "$(grep -c 'STRING; "rwlock 0x7000".*"shared"' acquired)" = 1 ]
    grep -q 'STRING; "spin lock 0x8000"' acquired
    grep -q 'STRING; "mutex 0x9000"' acquired
    "$HEURT" import -q o -o back
    for dir in made back; do
        columns $dir locks:kind,address,acquisitions,hold_ns >$dir.kinds
    done
    [ "$(wc -l <back.kinds)" = 3 ]
    cmp made.kinds back.kinds
}
