#!/bin/bash
# mpi.sh BUILD [RANKS,EVENTS…]: how long heurt analyse takes of traces of many ranks (rank_trace.c), and in how
# much memory, by kinds of programs and numbers of ranks and events of each; and whether it finds what is known:
# all messages, and the rank that all wait for. Nothing else should run.
set -eu
build=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 1000,1000 1000,10000 10000,1000 10000,10000
work=$(mktemp -d "${TMPDIR:-/var/tmp}/ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
known() { # KEY
    awk -v key="$1" '$1 == key { print $2 }' known
}
printf '%-8s %7s %11s %9s %8s %7s %12s %9s %s\n' kind ranks events seconds MB 'ns each' messages unmatched 'delays of the late rank'
for kind in stencil all master; do
    for size; do
        rm -rf t
        "$build/tests/bench/rank_trace" t "$kind" "${size%,*}" "${size#*,}" >known
        # The names of addresses, which there are none of here, are made once.
        /usr/bin/time -f '%e %M' -o took "$build/src/cmd/heurt" analyse -i t 2>/dev/null
        "$build/src/cmd/heurt" tables -i t --format csv mpi_ranks:rank,delay_ns,waited_ns,sent,received,calls,collectives >ranks
        read -r seconds kilobytes <took
        awk -F, -v kind="$kind" -v ranks="${size%,*}" -v events="$((${size%,*} * ${size#*,}))" -v seconds="$seconds" \
            -v kb="$kilobytes" -v late="$(known late)" -v messages="$(known messages)" -v waited="$(known waited)" '
            NR > 1 { all += $2; if ($1 == late) its = $2; sum += $3; sent += $4; received += $5 }
            END {
                printf "%-8s %7d %11d %9.2f %8.0f %7.0f %12d %9d %.1f %%%s\n", kind, ranks, events, seconds, kb / 1024,
                    seconds * 1e9 / events, sent, (sent - messages) + (messages - received), all ? 100 * its / all : 0,
                    (waited + 0 == 0 ? "" : sum == waited ? ", waits as made" : ", waits are not as made")
            }' ranks
    done
done
