#!/bin/bash
# prompt.sh BUILD [ROUNDS] [EVENTS]: how long the prompt is kept waiting. First commands that are over
# at once: the whole of heurt record, and of heurt with its report, less the command alone. Then from a
# program's last moment to heurt's, after so many events (10^8), and the most memory that the recorder
# had meanwhile. Medians of rounds in which all take turns.
set -eu
build=$(realpath "$1") rounds=${2:-7} events=${3:-100000000}
heurt=$build/src/cmd/heurt
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"

cat >many.c <<'C'
#include <pthread.h>
#include <stdlib.h>
__attribute__((noinline)) static int work(int x)
{
    __asm__ volatile("");
    return 7 * x + 1;
}
int main(int count, char **arguments)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long pairs = atol(arguments[2]) / 2;
    int result = 0;
    for (long i = 0; i < pairs && *arguments[1] == 'f'; i++)
        result = work(result);
    for (long i = 0; i < pairs && *arguments[1] == 'l'; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return count == 0 ? result : 0;
}
C
"${CC:-cc}" -O1 -g -pthread -o many many.c

median() {
    sort -n "$1" | awk '{ line[NR] = $1 } END { printf "%.1f", line[int((NR + 1) / 2)] }'
}

ms_of() { # FILE COMMAND…: adds how long it took
    local file=$1 before=$EPOCHREALTIME
    shift
    "$@" >/dev/null 2>&1 || true
    awk "BEGIN { print ($EPOCHREALTIME - $before) * 1000 }" >>"$file"
}

at_once() { # NAME COMMAND…
    local name=$1
    shift
    rm -f bare record whole
    for ((i = 0; i <= rounds; i++)); do
        ms_of bare "$@"
        ms_of record "$heurt" record -o t "$@"
        ms_of whole "$heurt" -o t "$@"
        ((i)) || rm bare record whole # the first one fills the caches
    done
    printf '| %s | %s | %s | %s |\n' "$name" "$(median bare)" \
        "$(median record)" "$(median whole)"
}

most_kb() { # PID: until it ends
    local kb=0 now
    while now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null) && [ -n "$now" ]; do
        kb=$now
        sleep 0.02
    done
    echo "$kb"
}

at_the_end() { # NAME KIND OPTION…
    local name=$1 kind=$2
    shift 2
    rm -f end memory
    for ((i = 0; i < (rounds + 1) / 2; i++)); do
        "$heurt" record -q -o t --max-size 16G "$@" \
            bash -c '"$@"; echo $EPOCHREALTIME >ended' - ./many "$kind" "$events" >log 2>&1 &
        most_kb $! | awk '{ print $1 / 1024 }' >>memory
        wait $! || cat log >&2
        awk "BEGIN { print $EPOCHREALTIME - $(cat ended) }" >>end
    done
    printf '| %s | %s | %s |\n' "$name" "$(median end)" "$(median memory)"
}

grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
printf '| command | bare ms | heurt record ms | heurt ms |\n| --- | --- | --- | --- |\n'
at_once 'sleep 0' sleep 0
at_once ls ls
at_once 'python3 -c pass' "$(python3 -c 'import sys; print(sys.executable)')" -c pass
printf '\n| %s events | end to prompt s | memory MB |\n| --- | --- | --- |\n' "$events"
at_the_end functions f -f work --overhead none
at_the_end locks l
