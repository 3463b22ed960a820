#!/bin/bash
# loops.sh BUILD: of the loops that hold at least 5 % of the CPU time of programs of Debian, how many can
# be marked. Programs that are not installed are passed over. HOT_LOOPS_ALSO: more commands, one a line.
set -u
tool=$(realpath "$1")/tests/tools/hot_loops
source=$(cd "${0%/*}/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -c 24000000 /dev/zero | openssl enc -aes-128-ctr -pass pass:1 -nosalt 2>/dev/null | base64 >"$work/text"
found=0 marked=0 programs=0
try() { # COMMAND…
    command -v "$1" >/dev/null || return 0
    local last
    "$tool" "$@" >"$work/out" 2>/dev/null </dev/null || true
    last=$(grep -a '^loops [0-9]* marked [0-9]*$' "$work/out" | tail -n 1)
    [ -n "$last" ] || return 0
    printf '%-60.60s %s\n' "$*" "$last"
    grep -a '^not ' "$work/out"
    found=$((found + $(cut -d' ' -f2 <<<"$last"))) marked=$((marked + $(cut -d' ' -f4 <<<"$last")))
    programs=$((programs + 1))
}
cd "$work" || exit 1
try gzip -k text
try bzip2 -k text
try xz -2 -k text
try zstd -q -9 text -o text.zst
try sort text -o sorted
try sha256sum text
try md5sum text
try grep -c 'a[b-x]*[0-9]z' text
try awk '{ n += length($0) } END { print n }' text
try sed -n 's/a\(.*\)b/\1/p' text
try perl -e 'my $n = 0; for (my $i = 0; $i < 9000000; $i++) { $n ^= $i * 3 } print $n'
try python3 -c 'print(sum(i * i % 7 for i in range(9000000)))'
try openssl speed -seconds 1 -bytes 8192 md5
try diff text sorted
try cc -O2 -x c -c -o /dev/null "$source"/src/fold/fold.c
while read -r line; do
    [ -z "$line" ] || eval "try $line"
done <<<"${HOT_LOOPS_ALSO:-}"
awk -v found="$found" -v marked="$marked" -v programs="$programs" 'BEGIN {
    printf "%d programs: %d of %d loops with at least 5 %% of the CPU time can be marked (%.1f %%, bar 95 %%)\n",
        programs, marked, found, found ? 100 * marked / found : 0
    exit !(found && marked >= 0.95 * found)
}'
