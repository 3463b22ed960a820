#!/bin/sh
# programs.sh NAME [PREFIX…]: runs one real program under a fixed load, with PREFIX before its
# command, in the current directory; prints seconds=S, how long the load took.
# Ends with 77 and a sentence on stderr when the program is not installed.
# PROGRAMS: the built test programs; BENCH: the built benchmarks; HEURT_SOURCE; CC.
set -eu
name=$1
shift

needs() {
    for program; do
        command -v "$program" >/dev/null || {
            echo "$program is not installed" >&2
            exit 77
        }
    done
}

now() {
    date +%s.%N
}

timed() { # COMMAND…: its stdout is not ours
    before=$(now)
    "$@" >output </dev/null
    after=$(now)
    echo "seconds=$(echo "$after $before" | awk '{ printf "%.6f", $1 - $2 }')"
}

# Ends the server: the started process, or the recorder's child. The recorder writes its last then.
end_server() {
    server=$started
    [ $# -eq 0 ] || server=$(tr -d ' ' <"/proc/$started/task/$started/children")
    kill -TERM "$server"
    wait "$started" || :
    started=
}

start_server() { # COMMAND…
    started=
    trap '[ -z "$started" ] || kill -TERM "$started"' EXIT
    rm -f socket
    "$@" >output 2>&1 </dev/null &
    started=$!
    tries=0
    until [ -S socket ]; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || {
            echo "$1 did not start: $(tail -n 3 output)" >&2
            exit 1
        }
        sleep 0.01
    done
}

case $name in
memcached)
    needs memcached
    user=
    [ "$(id -u)" != 0 ] || user='-u root'
    # shellcheck disable=SC2086 # two words or none
    start_server "$@" memcached $user -t 4 -s "$PWD/socket"
    "$PROGRAMS/load_memcached" --socket "$PWD/socket" --connections 8 --operations 10000 >load
    end_server "$@"
    awk -F= '/^elapsed_ns=/ { printf "seconds=%.6f\n", $2 / 1e9 }' load
    ;;
redis)
    needs redis-server redis-benchmark
    start_server "$@" redis-server --port 0 --unixsocket "$PWD/socket" --save '' --io-threads 4 \
        --io-threads-do-reads yes --dir "$PWD"
    before=$(now)
    redis-benchmark -s "$PWD/socket" -t set,get -n 500 -c 16 -q >load
    after=$(now)
    end_server "$@"
    echo "$after $before" | awk '{ printf "seconds=%.6f\n", $1 - $2 }'
    ;;
pbzip2)
    needs pbzip2
    [ -f data ] || seq 700000 | awk '{ print $1 * 7919 % 1000003, $1 }' >data
    timed "$@" pbzip2 -k -c -p2 -b2 data
    ;;
word-count) timed "$@" "$BENCH/word_count_long" ;;
openmp | openmp-calls)
    [ -x "$BENCH/openmp_long" ] || {
        echo "this compiler has no OpenMP library" >&2
        exit 77
    }
    timed "$@" "$BENCH/openmp_long"
    ;;
compiler)
    needs gcc
    timed "$@" gcc -O2 -D_GNU_SOURCE -I"$HEURT_SOURCE/src" -c -o object.o \
        "$HEURT_SOURCE/src/patch/plan.c"
    ;;
*)
    echo "programs.sh: $name is not known" >&2
    exit 2
    ;;
esac
