# heurt ctl, and what makes windows of a recording: stop and start, rings and their triggers, segments.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    recorder=
}

# A failed test leaves nobody behind.
teardown() {
    exec 8>&- 9<&-
    [ -z "$recorder" ] || kill -9 "$recorder" 2>/dev/null || :
}

load ../helpers

# record_moments OPTION…: records the program that does what it is told, into t; its pid is in $recorder.
record_moments() {
    mkfifo to from
    "$HEURT" record -o t -f handle --no-choice "$@" -- "$PROGRAMS/moments" <to >from 2>record.err 3>&- &
    recorder=$!
    exec 8>to 9<from
    tell busy 1 # its record has begun, whatever the machine does
}

tell() { # COMMAND NUMBER: the program has done it
    local answer
    echo "$1 $2" >&8
    read -r -t 100 answer <&9 && [ "$answer" = "$1" ] || fail "no $1: $(cat record.err)"
}

end_of_recording() { # STATUS
    local status=0
    exec 8>&-
    wait "$recorder" || status=$?
    recorder=
    [ "$status" = "$1" ] || fail "the recording ended with $status: $(cat record.err)"
}

ctl() { # WORD…
    heurt ctl t "$@"
    expect_status 0
}

calls_in() { # WINDOW: of handle
    "$HEURT" dump -i "$1" -f handle | grep -c enter || :
}

# until_window N: it has its names, and somebody said so.
until_window() {
    local i
    for ((i = 0; i < 1000; i++)); do
        grep -q "t/$1 holds" record.err && return
        sleep 0.1
    done
    fail "no window $1: $(cat record.err)"
}

longest_call() { # WINDOW: of handle, in ms
    "$HEURT" dump -i "$1" -f handle | awk '/enter/ { at[$2] = $1 }
        /leave/ && ($2 in at) { ms = ($1 - at[$2]) * 1000; if (ms > most) most = ms } END { print int(most) }'
}

@test "a snapshot is a trace of what was recorded so far, and the recording goes on" {
    record_moments
    tell busy 500
    ctl snapshot
    says 't/1 holds .* until now; heurt report -i t/1'
    tell busy 500
    end_of_recording 0
    [ "$(calls_in t/1)" = 1002 ]
    [ "$(calls_in t)" = 2002 ]
    report_json t/1
    [ "$(json 'command[0]')" = "$PROGRAMS/moments" ]
}

@test "a mark stands among the events" {
    record_moments
    ctl mark 'first deploy'
    tell busy 10
    end_of_recording 0
    "$HEURT" dump -i t >dump
    grep -q ' mark  first deploy$' dump
    # ten calls of two threads come behind it
    [ "$(sed '1,/ mark  /d' dump | grep -c 'enter.*handle')" = 20 ]
    "$HEURT" export --json -i t | grep -q '"what":"mark","text":"first deploy"'
}

@test "what happens while a recording is stopped is in no window" {
    record_moments
    tell busy 300
    ctl stop
    says 't/1 holds'
    heurt ctl t stop
    expect_status 125
    says 'is stopped already'
    heurt ctl t snapshot
    expect_status 125
    tell busy 20000
    ctl start
    heurt ctl t start
    expect_status 125
    says 'is recorded already'
    tell busy 7
    end_of_recording 0
    [ "$(calls_in t/1)" = 602 ]
    [ "$(calls_in t/2)" = 14 ]
    [ ! -e t/events ]
    [ "$(calls_in t)" = 14 ] # the last one
    "$HEURT" report -i t >/dev/null
}

@test "--paused begins stopped; a signal starts and stops it" {
    record_moments --paused --start-stop SIGUSR1
    tell busy 1000
    kill -USR1 "$recorder"
    # it is on: only then a snapshot is made
    for ((i = 0; i < 600; i++)); do
        "$HEURT" ctl t snapshot 2>/dev/null && break
        sleep 0.1
    done
    tell busy 5
    kill -USR1 "$recorder"
    until_window 2
    tell busy 1000
    end_of_recording 0
    [ "$(calls_in t/2)" = 10 ]
    [ ! -e t/3 ]
}

@test "a ring keeps the last events, within its size" {
    record_moments --ring 4M --locks all
    for _ in 1 2 3; do
        tell busy 200000
    done
    [ "$(du -sk t | cut -f1)" -lt 12000 ] # of some 30 MB
    tell slow 30
    end_of_recording 0
    [ "$(longest_call t/1)" -ge 30 ]
    calls=$(calls_in t/1)
    [ "$calls" -gt 1000 ] && [ "$calls" -lt 1000000 ]
    "$HEURT" report -i t >/dev/null
}

@test "a call that takes too long makes a window that has it whole" {
    record_moments --ring 4M --trigger 'class(handle).duration > 50ms'
    for i in 1 2 3; do
        tell busy 3000
        tell slow 60
        until_window "$i"
        [ "$(longest_call "t/$i")" -ge 60 ] || fail "window $i has no long call"
    done
    tell slow 10
    end_of_recording 0
    [ ! -e t/4 ]
    grep -q 'handle took 6[0-9.]* ms in thread' record.err || grep -q 'handle took' record.err
}

@test "a signal to heurt is a trigger, and a crash" {
    record_moments --ring 4M --trigger SIGUSR2 --trigger crash
    tell busy 100
    kill -USR2 "$recorder"
    until_window 1
    echo 'crash 0' >&8
    end_of_recording 137
    [ "$(calls_in t/1)" -ge 200 ]
    [ -e t/2/events ]
}

@test "without a trigger's coming nothing is kept, which is said" {
    record_moments --ring 4M --trigger crash
    end_of_recording 0
    grep -q 'nothing was kept' record.err
    [ ! -e t/events ] && [ ! -e t/1 ]
}

@test "segments: the last ones are kept" {
    record_moments --segment 300ms --keep 2
    until_window 4
    tell busy 3
    end_of_recording 0
    [ ! -e t/1 ]
    [ "$(find t -name events | wc -l)" -le 2 ]
    "$HEURT" report -i t >/dev/null
}

@test "who cannot be asked, and what cannot be" {
    heurt ctl nowhere start
    expect_status 125
    says 'nobody records into nowhere'
    heurt ctl t
    expect_status 2
    heurt ctl t mark
    expect_status 2
    heurt ctl --last 1s t stop
    expect_status 2
    heurt record --trigger exit true
    expect_status 2
    says 'goes with --ring'
    heurt record --ring 4M --trigger 'nothing > 3ms' true
    expect_status 125
    says "'nothing > 3ms' is none of"
    heurt record --ring 1k true
    expect_status 2
}
