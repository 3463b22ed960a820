# The walls of the house, and that a breach of each is seen.
bats_require_minimum_version 1.5.0

setup() {
    walls=$HEURT_SOURCE/tests/walls/walls.sh
    mkdir -p "$BATS_TEST_TMPDIR/src"/{base,format,analysis,present,runtime,cmd}
    cd "$BATS_TEST_TMPDIR"
}

rooms_with_code() {
    local room
    for room in "$HEURT_SOURCE"/src/*/; do
        room=$(basename "$room")
        [ "$room" = cmd ] || [ "$room" = runtime ] || [ "$room" = access ] || [ "$room" = mpi ] || [ "$room" = engine ] ||
            ! ls "$HEURT_SOURCE/src/$room"/*.c >/dev/null 2>&1 || echo "$room"
    done
}

archives() {
    local room
    for room in $(rooms_with_code); do
        ls "$HEURT_BUILD/src/$room"/lib*.a
    done
}

compile() { # NAME, source on stdin: an archive NAME.a
    "${CC:-cc}" -c -fPIC -O0 -fno-builtin -w -x c -o "$1.o" - && ar rc "$1.a" "$1.o"
}

library() { # NAME [FLAG]…: a shared library NAME.so, source on stdin
    local name=$1
    shift
    "${CC:-cc}" -shared -fPIC -O0 -fno-builtin -w -x c -o "$name.so" - -x none "$@"
}

@test "rooms include only whom they may know" {
    "$walls" includes "$HEURT_SOURCE"
}

@test "an include through a wall is seen" {
    echo '#include "base/vec.h"' >src/analysis/good.c
    touch src/base/vec.h
    "$walls" includes .
    echo '#include "present/present.h"' >src/analysis/bad.c
    run -1 "$walls" includes .
    [[ $output == *"analysis/bad.c"*"present/present.h"* ]]
}

@test "the runtime includes layout.h, the fold that stands alone and its own headers alone" {
    touch src/runtime/own.h
    printf '%s\n' '#include "format/layout.h"' '#include "own.h"' '#include "runtime/own.h"' \
        '#include "fold/fold.h"' >src/runtime/good.c
    "$walls" includes .
    echo '#include "analysis/events/spans.h"' >src/runtime/bad.c
    run -1 "$walls" includes .
    [[ $output == *"runtime/bad.c"*"analysis/events/spans.h"* ]]
    echo ' # include "format/reader.h"' >src/runtime/bad.c
    run -1 "$walls" includes .
    [[ $output == *"runtime/bad.c"*"format/reader.h"* ]]
}

@test "a way around through .. is seen, and a room that nobody knows" {
    echo '#include "../base/vec.h"' >src/present/bad.c
    run -1 "$walls" includes .
    rm src/present/bad.c
    mkdir src/util
    touch src/util/misc.c
    run -1 "$walls" includes .
}

@test "an analysis knows those that it stands on, and internals are known beside them alone" {
    mkdir -p src/analysis/{sync,ledger}
    touch src/analysis/sync/sync_merge.h
    echo '#include "analysis/sync/sync_merge.h"' >src/analysis/ledger/good.c
    echo '#include "analysis/sync/internal.h"' >src/analysis/sync/good.c
    "$walls" includes .
    echo '#include "analysis/ledger/audit.h"' >src/analysis/sync/bad.c
    run -1 "$walls" includes .
    [[ $output == *"sync/bad.c"*"ledger/audit.h"* ]]
    echo '#include "analysis/sync/internal.h"' >src/analysis/sync/bad.c
    "$walls" includes .
    echo '#include "analysis/sync/internal.h"' >src/analysis/ledger/bad.c
    run -1 "$walls" includes .
    [[ $output == *"ledger/bad.c"*"sync/internal.h"* ]]
    echo '#include "analysis/sync/internal.h"' >src/present/bad.c
    run -1 "$walls" includes .
    [[ $output == *"present/bad.c"*"sync/internal.h"* ]]
}

@test "what an event means is known in one place of the analyses" {
    local raw
    "$walls" decoders "$HEURT_SOURCE"
    mkdir -p src/analysis/{events,replay}
    for raw in 'HEURT_EVENT_LOCK_WAIT' 'HEURT_SITE_HOW(word)' 'HEURT_OFF(1, 2)' 'trace_cursor__next(c, &event)'; do
        echo "int x = $raw;" | tee src/analysis/events/good.c >src/analysis/replay/bad.c
        run -1 "$walls" decoders .
        [[ ${#lines[@]} = 1 && $output == *"replay/bad.c:1: ${raw%%[( ]*}"* ]]
    done
}

@test "who shows results sees no ticks; an event that is exported has its own" {
    "$walls" ticks "$HEURT_SOURCE"
    mkdir -p src/present/{screen,export}
    for breach in 'point->start_tick' 'uint64_t ticks;' 'trace__ns(trace, 1)' 'trace__since_start_ns(t, at)' \
        'class->accumulator->sum' 'histogram__lower(1)'; do
        echo "x = $breach; /* a tick */" >src/present/screen/bad.c
        run -1 "$walls" ticks .
        [[ ${#lines[@]} = 1 && $output == *"screen/bad.c:1: "* ]]
    done
    printf '%s\n' '/* of ticks' ' * a tick */' 'puts("ticks, or numbers");' 'sticks(trace__wall_ns(trace));' \
        >src/present/screen/bad.c
    echo 'trace__ns(trace, event->tick);' >src/present/export/events.c
    echo 'uint64_t tick;' >src/present/export/exporters.h
    "$walls" ticks .
    cp src/present/export/events.c src/present/export/export_text.c
    run -1 "$walls" ticks .
    [[ $output == *"export/export_text.c:1: "* ]]
}

@test "what the pages about the source name is there" {
    "$walls" pages "$HEURT_SOURCE"
    mkdir -p docs src/analysis/sync
    touch src/analysis/sync/open_waits.c src/cmd/cmd_a.c
    printf '%s\n' '`sync/` and `analysis/sync/open_waits.c`' '    src/cmd/  `cmd_*.c`' >docs/architecture.md
    printf '%s\n' 'nothing' >CONTRIBUTING.md
    "$walls" pages .
    echo 'It is in `sync/`, (`sync/gone.h`), `gone/`.' >CONTRIBUTING.md
    run -1 "$walls" pages .
    [ "${#lines[@]}" = 2 ]
    [[ $output == *"CONTRIBUTING.md:1: there is no sync/gone.h"*"there is no gone/"* ]]
}

@test "no two source files have one name" {
    "$walls" names "$HEURT_SOURCE"
    touch src/base/twice.c src/cmd/twice.c src/base/internal.h src/cmd/internal.h
    run -1 "$walls" names .
    [[ $output == twice.c* ]]
}

@test "no tag has two meanings" {
    "$walls" tags "$HEURT_SOURCE"
    echo 'struct twice {' >src/base/one.h
    echo 'enum twice {' >src/cmd/other.c
    run -1 "$walls" tags .
    [[ $output == twice:* ]]
}

@test "no source file is above 800 lines" {
    "$walls" sizes "$HEURT_SOURCE"
    seq 801 >src/base/long.c
    run -1 "$walls" sizes .
}

needs_runtime() {
    ls "$HEURT_SOURCE"/src/runtime/*.c >/dev/null 2>&1 || skip "the runtime is not there yet"
}

@test "the runtime needs libc alone" {
    needs_runtime
    "$walls" needed "$LIBHEURT"
    "$walls" needed "$HEURT_BUILD/src/access/libheurt-access.so"
}

@test "what programs of MPI get preloaded needs libc alone, too" {
    "$walls" needed "$HEURT_BUILD/src/runtime/libheurt-mpi.so"
}

@test "the library that places memory needs libc alone, too" {
    "$walls" needed "$HEURT_BUILD/src/place/libheurt-place.so"
    "$walls" imports "$HEURT_BUILD/src/place/libheurt-place.so"
}

@test "a second library is seen" {
    echo 'double sqrt(double); double root(double x) { return sqrt(x); }' |
        library two -Wl,--no-as-needed -lm
    run -1 "$walls" needed two.so
}

@test "the runtime never prints, exits, aborts or calls malloc" {
    needs_runtime
    "$walls" imports "$LIBHEURT"
    "$walls" imports "$HEURT_BUILD/src/access/libheurt-access.so"
}

@test "each of these calls is seen in a library" {
    local call
    for call in 'malloc(8)' 'printf("x%d", n)' 'puts("x")' 'exit(1)' '_exit(1)' 'abort()' \
        'fprintf(stderr, "%d", n)' 'strdup("x")'; do
        printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>
            int f(int n) { %s; return n; }' "$call" |
            library bad
        run -1 "$walls" imports bad.so
    done
    printf '#include <string.h>\nsize_t f(const char *t) { return strlen(t); }' | library good
    "$walls" imports good.so
}

@test "every room is built as a library of its name" {
    local room
    for room in $(rooms_with_code); do
        echo "$room"
        [ -f "$HEURT_BUILD/src/$room/lib$room.a" ]
    done
}

@test "no mutable globals outside runtime and cmd" {
    # shellcheck disable=SC2046
    "$walls" globals $(archives)
}

@test "mutable globals of every sort are seen, tables are not" {
    local code
    for code in 'int counter = 1;' 'int counter;' 'int f(void) { static int n; return n++; }' \
        'static int n = 3; int *f(void) { return &n; }' '__thread int n;' 'const char *name = "x";'; do
        compile bad <<<"$code"
        run -1 "$walls" globals bad.a
    done
    compile good <<<'static const char *const names[] = {"a", "b"}; const int n = 3;
        const char *f(int i) { return names[i]; }'
    "$walls" globals good.a
}

@test "only cmd prints, reads the command line or ends the process" {
    # shellcheck disable=SC2046
    "$walls" commands $(archives)
}

@test "each of these acts is seen in a room" {
    local call
    for call in 'printf("%d", n)' 'puts("x")' 'fputs("x", stderr)' 'exit(1)' 'perror("x")' \
        'getopt(0, 0, "x")' 'abort()' 'fprintf(stdout, "x%d", n)'; do
        printf '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>
            int f(int n) { %s; return n; }' "$call" | compile bad
        run -1 "$walls" commands bad.a
    done
    printf '#include <stdio.h>\nvoid f(FILE *out) { fprintf(out, "%%d", 3); fputs("x", out); }' |
        compile good
    "$walls" commands good.a
}

@test "present opens no trace and walks over none" {
    "$walls" readers "$HEURT_BUILD/src/present/libpresent.a"
}

@test "a presenter that reads is seen" {
    local call
    for call in trace_cursor__next trace_merge__start trace__open sync_events__next; do
        printf 'int %s(void *); int f(void *c) { return %s(c); }' "$call" "$call" | compile bad
        run -1 "$walls" readers bad.a
        [[ $output == *"calls $call"* ]]
    done
    compile good <<<'int trace__wall_ns(void *); int f(void *c) { return trace__wall_ns(c); }'
    "$walls" readers good.a
}

@test "screens and pages use the field's own words" {
    "$walls" words "$HEURT_SOURCE"
}

@test "an old word is seen on a screen and on a page, and not in a comment or a name" {
    mkdir -p src/present src/cmd docs
    printf '/* A meeting. */\nint meeting; const char *f(void) { return "a lock " /* meeting */ "is held"; }\n' >src/present/a.c
    printf 'What is there.\n' | tee docs/a.md README.md CHANGELOG.md >/dev/null
    "$walls" words .
    printf 'const char *f(void) { return "the next " \n "meetings of threads"; }\n' >src/present/a.c
    run -1 "$walls" words .
    [[ $output == *"src/present/a.c:1:the next meetings of threads -- say: synchronisation event"* ]]
    printf 'int a;\n' >src/present/a.c
    printf 'One\nThis one Stands out.\n' >docs/a.md
    run -1 "$walls" words .
    [[ $output == *"docs/a.md:2:"*"say: outlier"* ]]
}

@test "no message is longer than 200 characters" {
    "$walls" messages "$HEURT_SOURCE"
}

@test "a long message is seen, in however many pieces" {
    mkdir -p src
    local piece
    piece=$(printf 'x%.0s' {1..120})
    printf 'const char *a = "%s", *b = "%s";\n' "$piece" "$piece" >src/a.c
    "$walls" messages .
    printf 'const char *a = "%s"\n"%s";\n' "$piece" "$piece" >src/a.c
    run -1 "$walls" messages .
    [[ $output == *"src/a.c:1:"*" 240 characters; 200 are enough"* ]]
}
