# heurt hot: where a program spends its CPU time.
bats_require_minimum_version 1.5.0

PERF_EVENT_OPEN=298 # numbers of x86-64
EACCES=13
ENOSYS=38

setup() {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" hot true >/dev/null 2>&1 || skip "no sampling on this machine (see heurt check)"
}

known() { # [OPTION…]: the list of hot_known on stdout
    "$HEURT" hot "$@" -- "$PROGRAMS/hot_known" "$PROGRAMS/hot_plugin.so"
}

share_of() { # PATTERN: the share of the line with that function and module
    awk -F '  +# *' -v pattern="$1" '$1 == pattern { split($2, part, " "); print part[1] }' list
}

# The share of what the known functions took together: on a loaded virtual machine the kernel's own
# part may be anything.
expect_share() { # PATTERN LEAST MOST
    local share
    share=$(share_of "$1")
    [ -n "$share" ] || { echo "no $1 in:"; cat list; return 1; }
    awk -F '  +# *' -v pattern="$1" -v least="$2" -v most="$3" '
        $1 ~ /@hot_/ { split($2, part, " "); sum += part[1]; if ($1 == pattern) own = part[1] }
        END { exit !(own >= least / 100 * sum && own <= most / 100 * sum) }' list ||
        { echo "$1: $share of"; cat list; return 1; }
}

expect_known_shares() { # of 8 parts, by construction; sampled a few hundred times in all
    expect_share 'known::heavy(long) @hot_known' 25 50
    expect_share '_ZN5knownlsERNS_4SinkEPKc @hot_known' 4 25
    expect_share 'in_child @hot_known' 12 38
    expect_share 'plugged @hot_plugin.so' 12 38
}

@test "threads, exec and dlopen are followed; shares are those of the program" {
    known >list 2>talk || status=$?
    [ "$status" = 7 ]
    expect_known_shares
    grep -q 'known::operator<<(known::Sink&, char const\*)$' list
    run ! grep -q 'were lost' list
}

@test "the heaviest function comes first; comments begin with #" {
    known >list 2>talk || true
    [[ $(grep -v '^#' list | head -n 1) == "known::heavy(long) @hot_known "* ]]
    head -n 1 list | grep -q "^# heurt hot -- $PROGRAMS/hot_known"
    sed -n 2p list | grep -Eq '^# [0-9.]+ s wall, CPU time [0-9.]+ s .* [0-9]+ samples'
}

@test "an ordinary user, perf_event_paranoid as it is" {
    [ "$(id -u)" = 0 ] || skip "needs root to become an ordinary user"
    chmod 755 . && mkdir copy && chmod 777 copy
    cp "$HEURT" "$PROGRAMS/hot_known" "$PROGRAMS/hot_plugin.so" copy
    # Not below /root or another closed directory.
    open=$(mktemp -d /tmp/heurt-hot-XXXXXX) && chmod 755 "$open" && cp copy/* "$open"
    setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$open/heurt" hot -- "$open/hot_known" "$open/hot_plugin.so" >list 2>talk || status=$?
    rm -r "$open"
    cat talk
    [ "$status" = 7 ]
    expect_known_shares
    if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
        grep -q '^# only time outside of the kernel is sampled' list
    fi
}

@test "stdout is the list; the program's own goes to stderr, or stays with -o" {
    known >list 2>talk || true
    [ "$(cat talk)" = ended ]
    run ! grep -q ended list
    known -o file >out 2>talk || true
    [ "$(cat out)" = ended ]
    [ ! -s talk ]
    mv file list
    expect_known_shares
}

@test "--min and --json" {
    known --min 0 >list 2>talk || true
    [ "$(grep -vc '^#' list)" -ge 4 ]
    known --min 100 >list 2>talk || true
    run ! grep -qv '^#' list
    known --min 10 >list 2>talk || true
    grep -v '^#' list | awk -F '  +# *' '{ split($2, part, " "); if (part[1] < 9.95) exit 1 }'
    known --json >list 2>talk || true
    [ "$("$JSON_GET" list schema)" = heurt.hot/1 ]
    [ "$("$JSON_GET" list 'functions[symbol=plugged].module')" = hot_plugin.so ]
    [ "$("$JSON_GET" list 'functions[symbol=_ZN5known5heavyEl].function')" = 'known::heavy(long)' ]
    [ "$("$JSON_GET" list 'functions[symbol=plugged].samples')" -gt 20 ]
    [ "$("$JSON_GET" list records_lost)" = 0 ]
    [ "$("$JSON_GET" list 'command[1]')" = "$PROGRAMS/hot_plugin.so" ]
}

@test "a stripped program: places instead of names, which can be recorded" {
    strip -o stripped "$PROGRAMS/hot_known"
    "$HEURT" hot ./stripped "$PROGRAMS/hot_plugin.so" >list 2>talk || true
    grep -Eq '^\+0x[0-9a-f]+ @stripped +# +[0-9.]+ %  \(stripped\)$' list
    [ -n "$(share_of 'plugged @hot_plugin.so')" ]
    # heavy, <<, in_child: three beginnings, not thousands of addresses
    [ "$(grep -c '@stripped ' list)" -le 4 ]
    "$HEURT" record -q -o trace -F list -- ./stripped "$PROGRAMS/hot_plugin.so" >/dev/null || true
    "$HEURT" report -i trace --json >report
    [ "$("$JSON_GET" report coverage.instrumented)" -ge 3 ]
    grep -q '"\[stripped+0x' report
}

@test "what ends before it can be seen is said" {
    cat >brief <<'SH'
i=0
while [ $i -lt 10000 ]; do i=$((i + 1)); done
SH
    "$HEURT" hot --frequency 1 -- sh -c 'for i in 1 2 3 4 5 6; do sh ./brief; done' >list
    grep -q '^# only [0-9.]* s were sampled' list
    known >list 2>talk || true
    run ! grep -q '^# only [0-9.]* s were sampled' list
}

@test "the program's end is heurt's end" {
    run -3 "$HEURT" hot sh -c 'exit 3'
    run -0 "$HEURT" hot true
    # A shell says that its child was killed, not that it exited with 128 + n.
    run bash -c '"$1" hot sh -c "kill -SEGV \$\$" & wait $!; echo "status $?"' bash "$HEURT"
    [[ $output == *'status 139'* ]]
    [ -z "$(ls core* 2>/dev/null)" ]
    run -127 "$HEURT" hot ./nothing
    touch plain && run -126 "$HEURT" hot ./plain
}

@test "signals for heurt hot are passed on to the program" {
    cat >program <<'SH'
#!/bin/bash
trap 'echo interrupted >&2' INT
trap 'echo ended >&2; exit 5' TERM
touch ready
while :; do :; done
SH
    chmod +x program
    env --default-signal=INT "$HEURT" hot ./program >list 2>talk &
    pid=$!
    until [ -e ready ]; do read -rt 0.01 <> <(:) || :; done
    kill -INT $pid
    until grep -q interrupted talk; do read -rt 0.01 <> <(:) || :; done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    cat talk
    [ $status = 5 ]
    grep -qx ended talk
    grep -q '^# heurt hot' list
}

@test "where sampling is refused the program is not started" {
    for errno in $EACCES $ENOSYS; do
        status=0
        "$PROGRAMS/without_call" $PERF_EVENT_OPEN $errno "$HEURT" hot touch started \
            >list 2>talk || status=$?
        [ $status = 77 ] && skip "no system call filters here"
        cat talk
        [ $status = 125 ]
        [ ! -e started ]
        [ ! -s list ]
        grep -q '^heurt: touch was not started: ' talk
        [ "$(wc -l <talk)" = 1 ]
    done
}

@test "wrong usage, an impossible rate, a place that cannot be written" {
    run -2 "$HEURT" hot
    [[ $output == *usage:* ]]
    run -2 "$HEURT" hot --frequency 0 true
    run -2 "$HEURT" hot --frequency 9x true
    run -2 "$HEURT" hot --min 101 true
    run -2 "$HEURT" hot --nonsense true
    run -125 "$HEURT" hot -o no/such/place touch started
    [ ! -e started ]
    if [ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -lt 1000000 ]; then
        run -125 "$HEURT" hot --frequency 1000000 touch started
        [[ $output == *perf_event_max_sample_rate* ]]
        [ ! -e started ]
    fi
    [ -w /dev/full ] || skip "no /dev/full"
    status=0
    "$HEURT" hot true >/dev/full 2>talk || status=$?
    [ $status = 125 ]
    grep -q 'cannot write' talk
}

@test "options of the program are the program's" {
    "$HEURT" hot -o list sh -c 'echo "$@"' sh --min -o x >out
    [ "$(cat out)" = '--min -o x' ]
}
