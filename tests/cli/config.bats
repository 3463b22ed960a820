#!/usr/bin/env bats
# Where a report goes, and options that a user wants always.
load ../helpers
bats_require_minimum_version 1.5.0

teller() { # a program that has output of its own
    printf '#!/bin/sh\necho it ran\n' >teller
    chmod +x teller
}

@test "the report is not mixed into the program's output; --report puts it into a file" {
    teller
    "$HEURT" ./teller >out 2>err
    [ "$(cat out)" = "it ran" ] || fail "$(cat out)"
    grep -q 'teller   took' err || fail "$(cat err)"
    "$HEURT" --report report.txt ./teller >out 2>err
    [ "$(cat out)" = "it ran" ] || fail "$(cat out)"
    grep -q 'teller   took' report.txt || fail "$(cat report.txt)"
    ! grep 'took' err
    run -125 --separate-stderr "$HEURT" --report nowhere/report.txt ./teller
    [ -z "$output" ]
    [[ $stderr == "heurt: cannot write the report to nowhere/report.txt: "* ]]
}

@test "--hot samples the program, then records the functions that it spent its time in" {
    run -0 --separate-stderr "$HEURT" record --hot -o t "$PROGRAMS/structure_known" --iterations 30000
    "$HEURT" report -i t --json 2>/dev/null >report.json
    [ "$("$JSON_GET" report.json coverage.requested)" -gt 0 ] || fail "$(head -c 2000 report.json)"
}

@test "options of the file and of HEURT_OPTIONS are read before the command line, which wins" {
    local found
    mkdir -p config/heurt
    export XDG_CONFIG_HOME=$PWD/config
    printf '# mine\n\nexplain --width 60\nrecord -o "from file" # its place\n' >config/heurt/config
    diff <("$HEURT" explain gain) <("$HEURT" explain --width 60 gain)
    diff <("$HEURT" explain gain --width 90) <(XDG_CONFIG_HOME=/nowhere "$HEURT" explain --width 90 gain)
    "$HEURT" record --quiet true
    [ -e "from file/events" ]
    HEURT_OPTIONS="-o 'from variable'" "$HEURT" record --quiet true
    [ -e "from variable/events" ]
    HEURT_OPTIONS="-o variable" "$HEURT" record --quiet -o line true
    [ -e line/events ] && [ ! -e variable ]
}

@test "what is wrong there is said with its line, status 2" {
    mkdir -p config/heurt
    export XDG_CONFIG_HOME=$PWD/config
    printf '# mine\nexplain --wdith 60\n' >config/heurt/config
    run -2 "$HEURT" explain gain
    [[ $output == *"'--wdith' is no option of explain; did you mean '--width'?"* ]]
    [[ $output == *"that stands in $PWD/config/heurt/config, line 2"* ]]
    run -2 env HEURT_OPTIONS=-z "$HEURT" record true
    [[ $output == *"that stands in the variable HEURT_OPTIONS"* ]]
    run -2 env HEURT_OPTIONS=word "$HEURT" record true
    [[ $output == *"expected options only, found 'word'"* ]]
}

@test "where heurt.data is in use the next place is taken, and that is said" {
    mkfifo go
    printf '#!/bin/sh\necho ready >&3\nread -r line <go\n' >waiter
    chmod +x waiter
    mkfifo ready
    "$HEURT" record --quiet ./waiter 3>ready &
    read -r line <ready
    run -0 --separate-stderr "$HEURT" record true
    [[ $stderr == *"heurt.data is in use by another recording: this one goes to heurt.data.2"* ]] || fail "$stderr"
    [ -e heurt.data.2/events ]
    run -125 --separate-stderr "$HEURT" record -o heurt.data/ true # asked for: not another one
    echo >go
    wait %1
    "$HEURT" report -i heurt.data >/dev/null
    "$HEURT" report -i heurt.data.2 >/dev/null
}

@test "nothing of progress is said where there is no terminal" {
    "$HEURT" record "$EXAMPLES/queue" >out 2>err
    ! grep -q "$(printf '\r')" err
    ! grep -q "$(printf '\033')" err
}

@test "on a terminal the recording's progress is told after a second, and is gone afterwards" {
    command -v script >/dev/null || skip "no script(1)"
    printf '#!/bin/sh\nend=$(($(date +%%s) + 4))\nwhile [ "$(date +%%s)" -lt "$end" ]; do sleep 0.1; done\n' >slow
    chmod +x slow
    script -qec "'$HEURT' record ./slow >out" seen </dev/null >/dev/null
    grep -aq "heurt: recording: [0-9]* s, up to .* million events, [0-9]* MB" seen || fail "$(cat -v seen)"
    sed "s/.*$(printf '\\033').K//" seen | grep -aq "^heurt: recorded .* into heurt.data" || fail "$(cat -v seen)"
}
