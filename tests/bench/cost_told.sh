#!/bin/bash
# cost_told.sh BUILD [ROUNDS] [PROGRAM]...: what heurt says that recording cost, beside what it did cost.
# Each program runs bare and recorded by turns, with default options. cpu: its CPU time recorded over
# bare (of all its threads, as the trace has it), wall: likewise its wall time, told: what the report
# says of the CPU time. Medians; right: told is within 2 points or 20 % of the true one.
set -eu
build=$(realpath "$1") rounds=${2:-7}
shift $(($# < 2 ? $# : 2))
heurt=$build/src/cmd/heurt json=$build/tests/tools/json_get
pairs=$build/tests/bench/lock_pairs words=$build/tests/bench/word_count_long
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
head -c 24000000 <(cat "$heurt" /bin/* 2>/dev/null) >input

declare -A command=(
    [lock_pairs]="$pairs 2" [lock_pairs_1]="$pairs 1" [word_count]="$words"
    [gzip]='gzip -c input' [xz]='xz -T2 -1 -c input' [zstd]='zstd -T2 -9 -c input'
    [pigz]='pigz -p2 -c input' [pbzip2]='pbzip2 -p2 -c input' [lbzip2]='lbzip2 -n2 -c input'
    [sort]='sort --parallel=2 input' [openssl]='openssl dgst -sha512 input input input input'
    [sqlite]="sqlite3 :memory: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000000) SELECT sum(i%7*i) FROM n'"
    [node]="node -e 'const m=new Map();for(let i=0;i<3e6;i++)m.set(i%99991,\"\"+i);console.log(m.size)'"
    [perl]="perl -e '\$h{\$_ % 9973} .= chr(\$_ & 63) for 1..3000000; print scalar keys %h'"
    [python]="python3 -c 'print(sum(hash(str(i)) % 7 for i in range(1500000)))'"
)

median() {
    sort -n | awk '{ line[NR] = $1 } END { printf "%.3f", line[int((NR + 1) / 2)] }'
}


# Its user and system time, and its wall time.
bare() {
    local TIMEFORMAT='%U %S %R'
    { time eval "$1" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2, $3 }'
}

recorded() {
    rm -rf trace
    eval "\"$heurt\" record -q -o trace -- $1" >/dev/null 2>&1 || return 1
    "$heurt" report -i trace --json >report.json 2>/dev/null || return 1
    echo "$("$json" report.json cpu_ns) $("$json" report.json wall_ns) $("$json" report.json overhead.estimated_ns)"
}

printf '%-14s %8s %8s %8s %8s\n' program cpu wall 'true %' 'told %'
[ $# -gt 0 ] || set -- $(printf '%s\n' "${!command[@]}" | sort)
for program; do
    command -v "${command[$program]%% *}" >/dev/null || continue
    bare "${command[$program]}" >/dev/null
    for ((i = 0; i < rounds; i++)); do
        echo "$(bare "${command[$program]}") $(recorded "${command[$program]}")"
    done | awk 'NF == 5 && $3 > 0 { told = $5 == "null" ? 0 : $5
        print $3 / 1e9 / $1, $4 / 1e9 / $2, 100 * told / ($3 - told) }' >ratios
    [ -s ratios ] || { echo "$program: not recorded"; continue; }
    awk -v name="$program" -v cpu="$(awk '{ print $1 }' ratios | median)" \
        -v wall="$(awk '{ print $2 }' ratios | median)" -v told="$(awk '{ print $3 }' ratios | median)" 'BEGIN {
        true = 100 * (cpu - 1); off = told > true ? told - true : true - told
        printf "%-14s %8.3f %8.3f %8.1f %8.1f  %s\n", name, cpu, wall, true, told, off <= 2 || off <= 0.2 * true ? "right" : "" }'
done
