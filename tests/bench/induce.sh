#!/bin/sh
# induce.sh BUILD [ROUNDS]: how much slower programs become that use memory in one way each, while heurt induce
# takes so much. All in turns; medians, and what they are of the same without.
set -eu
build=$1 rounds=${2:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    for kind in stream private shared; do
        for level in 0 25 50 75 100; do
            for what in memory cache; do
                "$build/src/cmd/heurt" induce $what --level $level -- \
                    "$build/tests/bench/induce_probe" $kind 2>"$scratch/told" |
                    awk -v what=$what -v level=$level '{ print what, level, $1, $2 }' >>"$scratch/figures"
            done
        done
    done
done
sort -k1,1 -k3,3 -k2,2n -k4,4n "$scratch/figures" | awk '
    { key = $1 " " $3 " " $2; if (key != last && last) tell(); n = key == last ? n + 1 : 1; last = key
      values[n] = $4; what = $1; kind = $3; level = $2 }
    function tell(   median) {
        median = n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        if (level == 0) base[what kind] = median
        printf "%-7s %-8s %3d %%  %8.2f  %6.1f %% less\n", what, kind, level, median, 100 * (1 - median / base[what kind])
    }
    END { tell() }'
