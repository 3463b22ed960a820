# Programs that go into the background are recorded there.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset HEURT_TRACE NO_COLOR
}

teardown() { # a daemon that a failed test left behind
    [ ! -p end ] || timeout 1 sh -c ': >end' || :
}

load ../helpers

locks_in() { # DIR
    "$HEURT" report -i "$1" --json 2>/dev/null | "$JSON_GET" - 'classes[kind=lock].count'
}

@test "what a daemon does is recorded until it ends" {
    mkfifo end
    "$HEURT" record --locks all -o d -- "$PROGRAMS/daemon" end 2>said 3>&- &
    recorder=$!
    wait_for grep -q 'daemon went into the background, 1 process goes on; Ctrl-C ends the recording' said
    : >end # it ends now
    wait "$recorder"
    [ "$(locks_in d)" = 500 ]
    [[ "$("$HEURT" report -i d)" != *"went on when the recording ended"* ]]
    [ "$("$HEURT" report -i d --json | "$JSON_GET" - 'checks[name=page_fault_count].holds')" = null ]
}

@test "a signal ends the recording, and not the daemon" {
    mkfifo end
    "$HEURT" record --locks all -o d -- "$PROGRAMS/daemon" end 2>said 3>&- &
    recorder=$!
    wait_for grep -q 'went into the background' said
    kill -TERM "$recorder" # a shell has its children in the background ignore SIGINT
    wait "$recorder"
    grep -q 'the recording has ended; 1 process goes on' said
    [[ "$("$HEURT" report -i d --width 200)" == *"1 process of the program went on when the recording ended: what they did"* ]]
    : >end # the daemon is there, or nobody would read
}

@test "what a shell leaves behind is no daemon, and is not waited for" {
    mkfifo end
    run --separate-stderr -0 "$HEURT" record --quiet -o d -- sh -c 'setsid cat end >/dev/null 2>&1 &'
    [ -z "$stderr" ]
    : >end
}
