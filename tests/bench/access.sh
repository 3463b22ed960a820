#!/bin/sh
# access.sh BUILD [RUNS]: what an access costs that a program counts (libheurt-access.so): ns of the CPU for a
# read and a write, medians of RUNS (default 5) taken in turns: bare; built to count but not recorded; recorded.
set -eu
build=$(realpath "$1") runs=${2:-5}
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

make_probe() { # COMPILER
    case $1 in
    clang*) announced='-mllvm -tsan-instrument-read-before-write=1' ;;
    *) announced=-fno-builtin ;;
    esac
    "$1" -O2 -pthread "$here/access_probe.c" -o "bare-$1"
    # shellcheck disable=SC2086
    "$1" -O2 -pthread -fsanitize=thread $announced -c "$here/access_probe.c" -o probe.o
    "$1" probe.o -o "counting-$1" -pthread -L"$build/src/access" -Wl,-rpath,"$build/src/access" -lheurt-access
}

median() { # FILE COLUMN
    sort -n -k"$2" "$1" | awk -v column="$2" '{ value[NR] = $column } END { print value[int((NR + 1) / 2)] }'
}

show() { # NAME FILE
    printf '%-34s %9s %9s %9s\n' "$1" "$(median "$2" 1)" "$(median "$2" 2)" "$(median "$2" 3)"
}

printf '%-34s %9s %9s %9s\n' 'ns a read and a write' 'one place' 'table' 'atomic'
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    make_probe "$compiler"
    for threads in 1 2; do
        rm -f bare alone recorded
        for run in $(seq "$runs"); do
            "./bare-$compiler" "$threads" >>bare
            "./counting-$compiler" "$threads" >>alone
            "$build/src/cmd/heurt" record --quiet -o "run$run" "./counting-$compiler" "$threads" >>recorded
            rm -rf "run$run"
        done
        show "$compiler, $threads threads, bare" bare
        show "$compiler, $threads threads, not recorded" alone
        show "$compiler, $threads threads, recorded" recorded
    done
done
