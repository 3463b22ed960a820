#!/bin/sh
# coverage.sh BUILD: how much of large binaries can be instrumented, and how long planning takes.
#
# One line a binary: its functions, how many are planned with which mechanism, CPU seconds of
# planning with nothing kept of earlier runs and with it, and how many were instrumented in a
# recorded run of a program that loads it. Then what is in the way of the others. A binary that is
# not installed is left out. Fails when less than 95 % of one can be instrumented.
set -eu

build=$1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
failed=0

library() { # PATTERN: the path of the last library of that name
    ldconfig -p | sed -n "s/^[[:space:]]*\($1\) .*=> //p" | sort | tail -n 1
}

value() { # KEY FILE
    sed -n "s/^$1 //p" "$2"
}

instrumented() { # FILE COMMAND...
    file=$1
    shift
    "$build"/src/cmd/heurt record -q --stack-every 0 -o "$room"/trace -f '*' -M "${file##*/}" -- "$@" \
        >"$room"/output 2>&1 || { echo failed; return; }
    "$build"/src/cmd/heurt report -i "$room"/trace --json >"$room"/report.json
    "$build"/tests/tools/json_get "$room"/report.json coverage.instrumented
}

measure() { # NAME FILE COMMAND...
    name=$1 file=$2
    shift 2
    if [ -z "$file" ] || [ ! -e "$file" ] || ! command -v "$1" >/dev/null; then
        echo "$name is not installed: left out" >&2
        return
    fi
    file=$(readlink -f "$file")
    rm -rf "$room"/cache
    "$build"/tests/tools/plan_coverage "$file" "$room"/cache >"$room"/cold
    "$build"/tests/tools/plan_coverage "$file" "$room"/cache >"$room"/kept
    share=$(value share "$room"/cold)
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$name" "$(value functions "$room"/cold)" \
        "$share" "$(value frame "$room"/cold)" "$(value popped "$room"/cold)" \
        "$(value seconds "$room"/cold)" "$(value seconds "$room"/kept)" \
        "$(HEURT_CACHE="$room"/cache instrumented "$file" "$@")"
    { echo; echo "$name, not planned:"; } >>"$room"/reasons
    sed -n 's/^refused \([0-9]*\) /\1 /p' "$room"/cold | sort -rn | sed 's/^/    /' >>"$room"/reasons
    case $share in 100* | 9[5-9]*) ;; *) failed=1 ;; esac
}

python='import ctypes, sys; ctypes.CDLL(sys.argv[1])'
llvm=$(library 'libLLVM-[0-9]*\.so[.0-9]*') libpython=$(library 'libpython3\.11\.so[.0-9]*')
echo '| binary | functions | planned | in a frame | return address aside | planning s | kept s | instrumented in a run |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
measure node "$(command -v node || true)" node -e 0
measure libpython3.11 "$libpython" /usr/bin/python3 -c "$python" "$libpython"
measure libLLVM "$llvm" /usr/bin/python3 -c "$python" "$llvm"
[ ! -e "$room"/reasons ] || cat "$room"/reasons
exit $failed
