#!/bin/sh
# test_tracers.sh BENCH_TRACERS BENCH_CHOICE FAKES: both with tracers whose every number is known.
set -u
bench=$1 bench_choice=$2
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
fakes=$scratch/fakes probes=$scratch/fakes daemons=$scratch/daemons
cp -R "$3" "$fakes"
chmod -R a+rX "$scratch" # LTTng's daemon may run as another user
: >"$daemons"
chmod a+w "$daemons"
failed=0

# What is installed here does not count: PATH has nothing but what the script itself needs.
mkdir "$scratch/tools"
for tool in awk cat chmod chown cp dirname env find grep head id make mkdir paste rm sed seq \
    setpriv sh sleep tail timeout touch wc pkg-config; do
    path=$(command -v $tool) && [ "${path#/}" != "$path" ] && ln -s "$path" "$scratch/tools/$tool"
done
ln -s "$fakes/cost_probe" "$scratch/tools"
[ -e "$scratch/tools/pkg-config" ] || ln -s /bin/true "$scratch/tools/pkg-config"

# expect STATUS TEXT COMMAND…: its exit status, and a text that its output, blanks taken together,
# must hold
expect()
{
    status=$1 text=$2
    shift 2
    "$@" >"$scratch/out" 2>&1
    got=$?
    tr -s ' ' <"$scratch/out" >"$scratch/squeezed"
    if [ $got != "$status" ] || ! grep -qF -- "$text" "$scratch/squeezed"; then
        echo "not so: status $status and \"$text\" (status $got) from: $*"
        cat "$scratch/out"
        failed=1
    fi
}

holds() { # TEXT: also in the last output
    grep -qF -- "$1" "$scratch/squeezed" && return
    echo "not so: \"$1\" in"
    cat "$scratch/out"
    failed=1
}

# shellcheck disable=SC2317 # expect calls it
run() # [VARIABLE=VALUE]… -- OPTION…
{
    variables=
    while [ "$1" != -- ]; do
        variables="$variables $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    env PATH="$fakes:$scratch/tools" FAKE_DAEMONS="$daemons" $variables \
        "$bench" --command "$fakes/heurt" --on "$scratch" ${probes:+--probes "$probes"} "$@"
}

# steady added ratio, with buffers added, bytes, mean least bias, calls counted
expect 0 'bare function 2.00 - - 3.00 - - - - - 4 -' run --
holds 'two rdtsc, the least of two time stamps 20.00 21.00'
holds 'empty callbacks 2.00 0.00 0.00 3.00 0.00 - - - - 4 -'
holds 'heurt, plain binary 12.00 10.00 0.50 13.00 10.00 8.00 3.00 1.0 1.00 4 4'
holds 'heurt --aggregate 12.00'
holds 'heurt --overhead 5% skipped: this heurt cannot record with --overhead'
holds 'uftrace -P, plain binary 102.00 100.00 5.00 103.00 100.00 16.00 50.00 40.0 48.00 4 3'
holds 'uftrace, -pg 102.00'
holds 'EZTrace, a plugin for a library 82.00 80.00 4.00 83.00 80.00 6.00 40.00 30.0 38.00 4 2'
holds 'LTTng-UST, -finstrument-functions 2.00 0.00 0.00 3.00 0.00 10.00 80.00 70.0 78.00 4 3'
holds 'lock and unlock: heurt 12.00 10.00 0.50 13.00 10.00 8.00 - - - 4 4'
holds 'at most 30.00 two rdtsc + 10 ns'
while read -r daemon; do
    ! kill -0 "$daemon" 2>/dev/null || { echo "a daemon was left behind" && failed=1; }
done <"$daemons"
[ -s "$daemons" ] || { echo 'no daemon was started' && failed=1; }

expect 0 '"name":"uftrace"' run -- --json --only uftrace
holds '"bias_ns":48.0000'
holds '"counted":3.0000'

# Nothing is installed; what is installed fails, does not end, prints nothing.
expect 0 'uftrace -P, plain binary skipped: uftrace is not installed' \
    run "PATH=$scratch/tools" --
holds 'skipped: eztrace is not installed (Debian: eztrace libeztrace-dev'
holds 'skipped: lttng is not installed (Debian: lttng-tools'
holds 'heurt, plain binary 12.00'
expect 0 'failed: uftrace ended with status 3' run FAKE=broken -- --only uftrace
expect 0 'failed: LTTng: Error: no daemon' run FAKE=broken -- --only lttng-callbacks
expect 0 'failed: ' run FAKE=silent -- --only uftrace
expect 0 'failed: took more than 60 s' run FAKE=slow -- --only uftrace
expect 125 'the bare function was not measured' run -- --probes /nonexistent
expect 2 'NAME: bare callbacks heurt ' "$bench" --only nothing
expect 2 'usage: bench-tracers [--runs N] [--json]' "$bench" --runs 4
expect 0 'usage: bench-tracers' "$bench" --help
expect 2 'usage' "$bench" unexpected
# The choice: perf's three functions, heurt's three with names, two in common.
bench=$bench_choice probes=
expect 0 ' 3 3 2 80 %' run -- --only sqlite
holds '60.0 patched libfake hot_one'
holds '20.0 refused fake hot_two(int, char)'
holds '20.0 - fake hot_three'
holds '- patched fake cold_one'
holds 'chosen and 1 functions without names'
expect 0 '"covered":0.8000' run -- --only sqlite --json
expect 0 'failed: sqlite3: out of order' run FAKE=broken -- --only sqlite
expect 0 'skipped: sqlite3 is not installed (Debian: sqlite3)' \
    run "PATH=$scratch/tools" -- --only sqlite
expect 0 'nothing to compare with: perf is not installed (Debian: linux-perf)' \
    run "PATH=$scratch/tools" -- --only sqlite

[ "$(ls "$scratch")" = "$(printf 'daemons\nfakes\nout\nsqueezed\ntools')" ] || {
    echo "files were left behind:" && ls "$scratch" && failed=1
}
exit $failed
