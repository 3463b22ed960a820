#!/usr/bin/env bats
# Every format of heurt export, each opened by a reader of others, of each kind of run: the queue, an OpenMP
# program, 1,000 threads, a killed run, names that nobody should have. As many calls are read as were recorded.
load ../helpers
load ../exported

READERS=$HEURT_SOURCE/tests/cli/readers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -f 'queue__*' -f 'crew__*' -o queue "$EXAMPLES/queue" --threads 4 \
        --delay 500 --iterations 300 >/dev/null
    [ ! -e "$PROGRAMS/openmp" ] || "$HEURT" record --quiet --overhead none -o openmp "$PROGRAMS/openmp" >/dev/null
    "$HEURT" record --quiet --overhead none -f known_work -o many "$PROGRAMS/threads_many" >/dev/null
    killed_program
    "$HEURT" record --quiet --overhead none -f 'work_*' -o killed ./kills_itself >/dev/null || :
    strange_names | "$HEURT_BUILD/tests/tools/make_trace" names
    for trace in queue openmp many killed names; do
        [ ! -e $trace ] || "$HEURT" dump -i $trace | awk '
            / point thread start/ { ended[$2] = 0 }
            / point thread end/ { ended[$2] = 1 }
            $4 == "enter" && !ended[$2] { count++ }
            / point +openmp begin / && !ended[$2] { count++ }
            END { print count }' >$trace.enters
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    TRACES=
    local trace
    for trace in queue openmp many killed names; do
        [ -e "$BATS_FILE_TMPDIR/$trace" ] || continue
        ln -s "$BATS_FILE_TMPDIR/$trace" "$trace"
        TRACES="$TRACES $trace"
    done
}

needs() { # READER
    command -v "$1" >/dev/null || skip "$1 is not installed (make deps)"
}

# each FORMAT READER: of each trace, the export is "out"; the reader prints how many calls it has seen.
each() {
    local trace calls
    for trace in $TRACES; do
        rm -rf out
        heurt export -i "$trace" "--$1" -o out
        expect_status 0
        calls=$("$2" 2>said) || fail "of $trace: $(head -c 1000 said)"
        [ "$calls" = any ] || [ "$calls" = "$(cat "$BATS_FILE_TMPDIR/$trace.enters")" ] ||
            fail "of $trace $calls calls are read, not $(cat "$BATS_FILE_TMPDIR/$trace.enters")"
    done
}

@test "there are enough calls, and the OpenMP program where there is OpenMP" {
    local trace
    for trace in $TRACES; do
        [ "$(cat "$BATS_FILE_TMPDIR/$trace.enters")" -ge 3 ] || fail "$trace has few"
    done
    [[ ! -e $PROGRAMS/openmp || $TRACES == *openmp* ]]
}

perfetto() {
    protoc -I "$READERS" --decode perfetto.protos.Trace perfetto.proto <out >decoded
    python3 "$READERS/perfetto.py" <decoded | sed -n 's/^slices_of_threads //p'
}

@test "Perfetto: protoc" {
    needs protoc
    each perfetto perfetto
}

folded() {
    ! LC_ALL=C grep -avE '^[^;]+(;[^;]+)* [0-9]+$' out >&2 && echo any
}

@test "folded stacks: lines as flame graphs take them" {
    each folded folded
}

speedscope() {
    # Times off the CPU are frames in brackets.
    python3 "$READERS/spans_json.py" speedscope <out | LC_ALL=C awk '/^span [^[]/ { sum += $NF } END { print sum }'
}

@test "speedscope: its JSON (the program itself: viewers)" {
    each speedscope speedscope
}

firefox() {
    python3 "$READERS/spans_json.py" firefox <out | grep -q '^samples [1-9]' && echo any
}

@test "Firefox: its JSON (the profiler itself: viewers)" {
    each firefox firefox
}

chrome() {
    python3 "$READERS/spans_json.py" chrome <out | sed -n 's/^spans //p'
}

@test "Chrome: its JSON" {
    each chrome chrome
}

pprof() {
    gzip -dc <out | protoc -I "$READERS" --decode perftools.profiles.Profile profile.proto >decoded
    ! grep -E '^ *[0-9]+:' decoded >&2 && grep -q '^sample {' decoded && echo any
}

@test "pprof: protoc (go tool pprof: viewers)" {
    needs protoc
    each pprof pprof
}

otf2() {
    otf2-print out/traces.otf2 | grep -c '^ENTER '
}

@test "OTF2: otf2-print" {
    needs otf2-print
    each otf2 otf2
}

ctf() {
    babeltrace2 out | grep -cE '^\[[^]]*\] \([^)]*\) enter(_with)?: '
}

@test "CTF: babeltrace2" {
    needs babeltrace2
    ulimit -n "$(ulimit -Hn)" # it opens the file of each thread
    each ctf ctf
}

paje() {
    pj_dump out | grep -ac '^State, '
}

@test "Paje: pj_dump" {
    needs pj_dump
    each paje paje
}

sqlite() {
    [ "$(sqlite3 -batch -bail out 'PRAGMA integrity_check')" = ok ]
    [ "$(sqlite3 -batch -bail out 'SELECT count(*) > 0 FROM threads')" = 1 ] && echo any
}

@test "SQLite: sqlite3" {
    needs sqlite3
    each sqlite sqlite
}
