#!/bin/bash
# openmp.sh BUILD [ROUNDS]: what recording adds to constructs of OpenMP: bare and recorded runs take turns,
# medians of both. The ratio for regions of two threads says little on a busy machine.
set -eu
build=$(realpath "$1")
rounds=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for ((i = 0; i < rounds; i++)); do
    "$build/tests/bench/openmp_cost" | sed 's/^/bare /' >>figures
    "$build/src/cmd/heurt" record --quiet --no-choice -o t "$build/tests/bench/openmp_cost" | sed 's/^/recorded /' >>figures
done
sort -k2,2 -k1,1 -k3,3n figures | awk -v rounds="$rounds" '
    { key = $1 " " $2; count[key]++; if (count[key] == int((rounds + 1) / 2)) median[key] = $3; names[$2] = 1 }
    END {
        printf "%-14s %10s %10s %8s %8s\n", "ns each", "bare", "recorded", "added", "ratio"
        for (name in names)
            printf "%-14s %10.1f %10.1f %8.1f %8.2f\n", name, median["bare " name], median["recorded " name],
                median["recorded " name] - median["bare " name], median["recorded " name] / median["bare " name]
    }'
