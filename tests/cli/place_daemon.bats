#!/usr/bin/env bats
# heurt place while programs run: how it begins and ends, and what it leaves. That pages move where there are
# several nodes tests/numa/run_daemon checks.
load ../helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
    "$HEURT" place -- true 2>said || skip "no samples here: $(cat said)"
}

busy() { # starts a program that works until it is ended, and tells its number
    (exec sh -c 'while :; do :; done' 3>&-) >/dev/null &
    program=$!
}

teardown() {
    [ -z "${program-}" ] || kill -9 "$program" 2>/dev/null || :
    [ -z "${daemon-}" ] || kill -9 "$daemon" 2>/dev/null || :
}

watch() { # OPTION…: starts a daemon of its own, and waits until it has done two rounds
    "$HEURT" place --interval 100ms "$@" >out 2>err 3>&- &
    daemon=$!
    until grep -q ' rounds=[2-9]' "heurt/place-$daemon" 2>/dev/null; do
        kill -0 "$daemon" || fail "$(cat err)"
    done
}

@test "a program under it ends as it does alone" {
    run "$HEURT" place -- sh -c 'echo out; exit 7'
    [ "$status" = 7 ]
    [[ $output == out* ]]
    run "$HEURT" place -- sh -c 'kill -9 $$'
    [ "$status" = 137 ]
    run "$HEURT" place -- ./not_there
    [ "$status" = 127 ]
    printf 'no program' >text
    run "$HEURT" place -- ./text
    [ "$status" = 126 ]
}

@test "asked to stop, it ends, and the process goes on" {
    busy
    watch -p "$program"
    kill -TERM "$daemon"
    wait "$daemon"
    kill -0 "$program"
    "$HEURT" place --status --json >status.json
    [ "$("$JSON_GET" status.json schema)" = heurt.place_status/1 ]
    [ "$("$JSON_GET" status.json daemons[0].state)" = stopped ] || fail "$(cat status.json)"
    daemon=
}

@test "killed, it leaves the process running, and --status says so" {
    busy
    watch -p "$program"
    kill -9 "$daemon"
    wait "$daemon" || :
    kill -0 "$program"
    "$HEURT" place --status >status
    grep -q 'ended without being asked to' status || fail "$(cat status)"
    # The next one removes what was left.
    "$HEURT" place -- true
    ! "$HEURT" place --status | grep -q 'ended without'
    daemon=
}

@test "while it runs its status tells whom it watches; it ends with the last of them" {
    busy
    watch -p "$program" --dry-run
    "$HEURT" place --status --json >status.json
    [ "$("$JSON_GET" status.json daemons[0].pid)" = "$daemon" ]
    [ "$("$JSON_GET" status.json daemons[0].state)" = "dry run" ]
    [ "$("$JSON_GET" status.json daemons[0].applications[0].pid)" = "$program" ]
    [ "$(stat -c %a "heurt/place-$daemon")" = 600 ]
    [ "$(stat -c %a heurt)" = 700 ]
    "$HEURT" place --status --csv | grep -q "^sh,$program,"
    kill -9 "$program"
    wait "$daemon"
    daemon=
}

@test "a plan has a line for each decision, and nothing else" {
    "$HEURT" place --plan plan.csv --dry-run -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
    [ "$(head -n 1 plan.csv)" = round,pid,decision,address,pages,from,to,effect ]
    [ "$(stat -c %a plan.csv)" = 600 ]
    run "$HEURT" place --plan not_there/plan -- true
    [ "$status" = 125 ]
    [[ $output == *not_there/plan* ]]
}

@test "systemd is told when it is ready, and that it stops" {
    command -v python3 >/dev/null || skip "no python3"
    python3 -c '
import os, socket, subprocess, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("notify")
listener.settimeout(60)
subprocess.run([sys.argv[1], "place", "--", "true"], env=dict(os.environ, NOTIFY_SOCKET=os.getcwd() + "/notify"))
heard = b""
while b"STOPPING=1" not in heard:
    heard += listener.recv(4096) + b"\n"
assert b"READY=1\n" in heard and b"STATUS=" in heard, heard
' "$HEURT"
}

@test "without any daemon --status says so" {
    rm -rf heurt
    "$HEURT" place --status | grep -q 'No heurt place of this user'
    [ "$("$HEURT" place --status --csv | wc -l)" = 1 ]
    "$HEURT" place --status --json >status.json
    [ "$("$JSON_GET" status.json schema)" = heurt.place_status/1 ]
}

@test "a status of somebody else's making is not believed" {
    rm -rf heurt
    mkdir -m 777 heurt
    printf 'heurt-place-status 1\ndaemon pid=1 whom=made%%20up\n' >heurt/place-1
    "$HEURT" place --status | grep -q 'No heurt place of this user'
    chmod 700 heurt
    "$HEURT" place --status | grep -q 'made up'
}

@test "what is wrong is said" {
    says() { # STATUS PART OPTION…
        run "$HEURT" place "${@:3}"
        [ "$status" = "$1" ] && [[ $output == *"$2"* ]] || fail "$output"
    }
    says 2 "the number of a process" -p x
    says 2 "exclude each other" -p 1 --user
    says 2 "exclude each other" --user -- true
    says 2 "100ms at least" --interval 1ms -- true
    says 2 "go with -p" --dry-run
    says 2 "go with -p" --plan plan
    says 2 "--thresholds" --set nothing=1 -- true
    says 2 "from 0 to 1" --budget 2 -- true
    says 2 "--status" --json -- true
    says 2 "it goes with --json" --status 1
    says 125 "is no cgroup" --cgroup no/such/group
    sleep 0 & # its number is free afterwards
    wait $!
    says 125 "there is no process $!" -p $!
    [ "$(id -u)" != 0 ] || says 125 "name processes" --user
}
