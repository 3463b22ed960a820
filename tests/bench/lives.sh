#!/bin/bash
# lives.sh BUILD [ROUNDS]: what a thread, a child and a command cost, bare and recorded by turns, with
# default options and without what asks for perf events. us of CPU time, medians of ROUNDS runs, each
# of which tells the median of its own rounds (kernel_probe.c).
set -eu
build=$(realpath "$1") rounds=${2:-5}
heurt=$build/src/cmd/heurt probe=$build/tests/bench/kernel_probe
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

recorded() {
    rm -rf trace
    "$heurt" record -q --no-pack -o trace "$@"
}

median() {
    sort -n | awk '{ line[NR] = $1 } END { printf "%8.1f", line[int((NR + 1) / 2)] / 1e3 }'
}

printf '%-10s %8s %8s %8s\n' '' bare recorded hooks
for what in threads forks commands; do
    for ((i = 0; i < rounds; i++)); do
        "$probe" $what >>bare
        recorded -- "$probe" $what >>recorded
        recorded --no-choice --no-kernel -- "$probe" $what >>hooks
    done
    printf '%-10s %s %s %s\n' $what "$(cut -d= -f2 bare | median)" "$(cut -d= -f2 recorded | median)" \
        "$(cut -d= -f2 hooks | median)"
    rm bare recorded hooks
done
