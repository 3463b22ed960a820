#!/usr/bin/env bats
# heurt import: traces of other tools, made by these tools here, and what is damaged.
load ../helpers
load ../imported

needs() { # COMMAND
    command -v "$1" >/dev/null || skip "$1 is not installed (make deps)"
}

imported_from() { # WORDS: the sentence, and the note in every report
    expect_status 0
    says "imported from $1"
    "$HEURT" report -i i --width 1000 >screen
    grep -q "Imported from $1" screen || fail "the report says nothing"
    ! grep -q 'Looked at: locks' screen || fail "what was not there has been looked at"
}

@test "uftrace: the calls are those that uftrace counts" {
    needs uftrace
    make_program -pg
    uftrace record -d u --no-event ./p >/dev/null || skip "uftrace cannot record here"
    heurt import u -o i
    imported_from 'uftrace: no off-CPU times, no locks'
    [ "$(count_of i leaf)" = 400 ]
    [ "$(count_of i work)" = 40 ]
    [ "$("$HEURT" tables -i i --format csv threads:tid | tail -n +2 | sort -n | xargs)" = \
        "$(sed -n 's/^TASK.* tid=\([0-9]*\).*/\1/p' u/task.txt | sort -n | xargs)" ]
    [ "$("$HEURT" dump -i i | grep -cE '(enter|leave) ')" = "$(uftrace dump -d u | grep -cE '\[(entry|exit )\]')" ]
    "$HEURT" structure -i i | grep -q 'loop ×10'
    "$HEURT" structure -i i --interesting >/dev/null
}

@test "OTF2: EZTrace's locks and calls are those that otf2-print counts" {
    needs eztrace
    needs otf2-print
    make_program
    eztrace -t pthread -o e ./p >/dev/null 2>&1 || skip "eztrace cannot record here"
    local archive=e/p_trace/eztrace_log.otf2
    heurt import e/p_trace -o i
    imported_from 'OTF2'
    otf2-print "$archive" 2>/dev/null >printed
    # EZTrace takes locks of its own, too, but tells of no release of these.
    [ "$(grep -c '^ENTER .*"pthread_mutex_unlock"' printed)" = 40 ]
    [ "$("$HEURT" locks -i i --json | "$JSON_GET" - 'locks[].acquisitions' | sort -n | tail -n 1)" = 40 ]
    [ "$("$HEURT" tables -i i --format csv threads:tid | tail -n +2 | wc -l)" = 3 ]
    [ "$(count_of i Working)" = "$(grep -c '^ENTER .*"Working"' printed)" ]
    # The anchor file alone says the same; half of a file of events gives what stands before.
    "$HEURT" import -q "$archive" -o a
    cmp i/symbols a/symbols
    truncate -s -200 e/p_trace/eztrace_log/0.evt
    heurt import e/p_trace -o cut
    [ "$status" = 0 ] || says damaged
}

@test "Chrome JSON: uftrace's own export gives the same classes" {
    needs uftrace
    make_program -pg
    uftrace record -d u --no-event ./p >/dev/null || skip "uftrace cannot record here"
    uftrace dump -d u --chrome >chrome.json
    heurt import chrome.json -o i
    imported_from 'Chrome JSON'
    [ "$(count_of i leaf)" = 400 ]
    [ "$(count_of i work)" = 40 ]
    "$HEURT" import -q u -o direct
    # Chrome's times are in us, with three digits: the same to the ns.
    [ "$("$HEURT" tables -i i --format csv classes:function,count,sum_ns --where 'function=work')" = \
        "$("$HEURT" tables -i direct --format csv classes:function,count,sum_ns --where 'function=work')" ]
}

@test "Chrome JSON: any order, names, nesting, text ids; the rest is counted" {
    cat >c.json <<'END'
{"otherData":{"x":[{"ph":"X","ts":1}]},"traceEvents":[
{"name":"thread_name","ph":"M","pid":7,"tid":8,"args":{"name":"wor{k\"er"}},
{"name":"late","ph":"X","ts":30.5,"dur":10,"pid":7,"tid":8,"cat":"a"},
{"name":"outer","ph":"B","ts":10,"pid":7,"tid":8,"args":{"a":[1,{"b":2}]}},
{"name":"in","ph":"X","ts":12.001,"dur":3,"pid":7,"tid":8},
{"ph":"E","ts":25,"pid":7,"tid":8},
{"name":"i","ph":"i","ts":26,"pid":7,"tid":8,"s":"t"},
{"name":"whole","ph":"X","ts":1,"dur":100,"pid":7,"tid":"main"}]}
END
    heurt import c.json -o i
    expect_status 0
    says '1 parts of the source were passed over; the first: events of another phase'
    "$HEURT" dump -i i | grep -oE '(enter|leave) .*' | tr -s ' ' >calls
    diff - calls <<'END'
enter whole
enter outer
enter in
leave in
leave outer
enter late
leave late
leave whole
END
    [ "$("$HEURT" tables -i i --format csv classes:sum_ns --where function=in | tail -n 1)" = 3000 ]
    [ "$("$HEURT" tables -i i --format csv run:wall_ns | tail -n 1)" = 100000 ]
    # An array alone, which breaks off, as a killed program leaves it.
    printf '[{"name":"f","ph":"B","ts":1,"pid":1,"tid":1},{"ph":"E","ts":2,"pid":1,"tid":1},{"name":"g","ph' >cut.json
    heurt import cut.json -o cut
    expect_status 0
    says 'where the file breaks off'
    [ "$(count_of cut f)" = 1 ]
}

# A Paje trace with two threads: states that are pushed, one in the other, and states that are set.
make_paje() {
    local event
    for event in 'PajeDefineContainerType 0|Alias string|Type string|Name string' \
        'PajeDefineStateType 1|Alias string|Type string|Name string' \
        'PajeDefineEntityValue 2|Alias string|Type string|Name string|Color color' \
        'PajeCreateContainer 3|Time date|Alias string|Type string|Container string|Name string' \
        'PajePushState 4|Time date|Type string|Container string|Value string' \
        'PajePopState 5|Time date|Type string|Container string' \
        'PajeSetState 6|Time date|Type string|Container string|Value string' \
        'PajeDestroyContainer 7|Time date|Name string|Type string'; do
        tr '|' '\n' <<<"$event" | sed '1s/^/%EventDef /; 2,$s/^/% /'
        echo '%EndEventDef'
    done
    printf '%s\n' '0 P 0 Process' '0 T P Thread' '1 S T State' '2 w S "work hard" "1 0 0"' \
        '2 i S inner "0 1 0"' '3 0.0 p P 0 program' '3 0.0 t1 T p "thread one"' '3 0.0 t2 T p two'
    for i in 1 2 3 4 5; do
        printf '4 %d.0 S t1 w\n4 %d.25 S t1 i\n5 %d.5 S t1\n5 %d.75 S t1\n6 %d.0 S t2 w\n6 %d.5 S t2 i\n' $i $i $i $i $i $i
    done | sort -s -n -k2
    printf '%s\n' '7 9.0 t1 T' '7 9.0 t2 T' '7 9.0 p P'
}

@test "Paje: the states are those that pj_dump tells" {
    make_paje >p.paje
    heurt import p.paje -o i
    imported_from 'Paje'
    [ "$(count_of i 'work hard')" = 10 ]
    [ "$(count_of i inner)" = 10 ]
    [ "$("$HEURT" tables -i i --format csv threads:name | tail -n +2 | sort | xargs -d '\n')" = 'thread one two' ]
    [ "$("$HEURT" tables -i i --format csv class_threads:sum_ns --where 'class=inner' --where 'name=thread one' |
        tail -n 1)" = 1250000000 ]
    needs pj_dump
    pj_dump p.paje | awk -F', ' '$1 == "State" { print $NF }' | sort | uniq -c | awk '{ print $1 }' >counts
    [ "$(xargs <counts)" = '10 10' ]
}

@test "what is no trace: a sentence, and what was there stays" {
    heurt import
    expect_status 2
    heurt import nowhere
    expect_status 125
    says 'cannot be read'
    echo hello >text
    heurt import text
    expect_status 125
    says 'no format that is known; these are: '
    echo '{"traceEvents":[{"ph":"X"}]}' >empty.json
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<<$'thread 0 x\n1000 thread_start 1\n1100 thread_end'
    cp -r heurt.data before
    heurt import empty.json
    expect_status 125
    says 'no events'
    diff -r heurt.data before
    [ ! -e heurt.data.old ]
}

@test "names that attack a terminal are shown, not sent" {
    printf '[{"name":"\\u001b[31mred\\u0007","ph":"X","ts":1,"dur":5,"pid":1,"tid":1}]' >c.json
    "$HEURT" import -q c.json -o i
    "$HEURT" tables -i i classes:function >out
    ! grep -q $'\x1b\[31m' out || fail "sent"
    grep -q 'x1b\[31mred' out
}
