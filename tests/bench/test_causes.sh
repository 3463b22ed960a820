#!/bin/sh
# test_causes.sh BENCH_CAUSES FAKES: bench-causes with programs and answers that are known.
set -u
bench=$1 fakes=$2
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# expect STATUS TEXT ARGUMENT…: the exit status, and a text that the output, blanks taken together,
# must hold
expect()
{
    status=$1 text=$2
    shift 2
    "$bench" --command "$fakes/heurt" --programs "$fakes" --runs 2 --at-once --neighbours 0 "$@" \
        >"$scratch/out" 2>&1
    got=$?
    tr -s ' ' <"$scratch/out" >"$scratch/squeezed"
    if [ $got != "$status" ] || ! grep -qF -- "$text" "$scratch/squeezed"; then
        echo "not so: status $status and \"$text\" (status $got) from: $*"
        cat "$scratch/out"
        failed=1
    fi
}

expect 0 'mutex lock 95 94 0 2/2 0 lock 2' --only mutex
expect 0 'is found: at least 95 % of runs 100.00 % met' --only mutex
expect 0 'mixed lock + sleep 70 + 30 66 + 34 0 2/2 0 lock 2' --only mixed
expect 0 'off by at most 10 points 4.00 met' --only mixed
expect 0 'workload 2' --only argument
expect 0 'none nothing - - 0 2/2 0 unclear 2' --only none
expect 0 '"found":"lock"' --only mutex --json
expect 0 'beside a neighbour that keeps 3 threads busy' --only mutex --neighbours 3
FAKE=lock expect 1 'off by at most 10 points 29.00 MISSED' --only mixed
FAKE=lock expect 1 'ranked as interference: never 2.00 runs MISSED' --only search
FAKE=lock expect 1 'with a score above 0.05 0.50 MISSED' --only none
FAKE=lock expect 1 'is found: at least 95 % of runs 0.00 % MISSED' --only sleep
FAKE=busy expect 0 'skipped: every run was disturbed' --only mutex
FAKE=busy expect 1 'at least 95 % 0.00 % MISSED' --only mutex --neighbours 1
FAKE=empty expect 1 'failed: the report of mutex has no calls of work' --only mutex
expect 2 'usage' --only nothing
exit $failed
