#!/bin/sh
# test.sh BENCH_MICRO FAKES: bench-micro against programs whose every number is known.
set -u
bench=$1 fakes=$2
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# expect STATUS TEXT COMMAND…: its exit status, and a text that its output must hold
expect()
{
    status=$1 text=$2
    shift 2
    "$@" >"$scratch/out" 2>&1
    got=$?
    if [ $got != "$status" ] || ! grep -qF -- "$text" "$scratch/out"; then
        echo "not so: status $status and \"$text\" (status $got) from: $*"
        cat "$scratch/out"
        failed=1
    fi
}

run()
{
    "$bench" --only mutex --points 5 --runs 3 --command "$fakes/heurt" --examples "$fakes" \
        --output "$scratch/plot.svg" "$@"
}

# delay 0 … turns: slowdown 1 … 1 + 20 × turns / 10^6, score turns / 10^5: a straight line
expect 0 'r = 1.000  ok' run
expect 0 'minimum 20 to 20 ns: flat' run
expect 0 'alone 1.00 ms, over the points 1.00 to 1.00 ms' run
FAKE=contrary expect 1 'r = -1.000  below the bar' run
FAKE=empty expect 125 'the report has 0 classes' run
expect 125 'cannot run /nonexistent' run --command /nonexistent
expect 2 'usage' "$bench" --only nothing
expect 2 'usage' "$bench" --points 1
rm -f "$scratch/plot.svg"
run >/dev/null
grep -q '</svg>' "$scratch/plot.svg" || { echo 'no plot was written' && failed=1; }
exit $failed
