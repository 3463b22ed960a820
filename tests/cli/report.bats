# heurt report: what it shows, in which form, and what it says of traces that are none.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o t -f queue__append -f queue__take \
        "$EXAMPLES/queue" --iterations 5000 --threads 4 >out 2>err </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$BATS_FILE_TMPDIR/t" heurt.data
}

copy_of_trace() { # NAME: a fresh copy
    rm -rf "$1" && cp -r heurt.data "$1"
}

@test "the first screen names the program, its threads, and where time is lost" {
    heurt report
    expect_status 0
    [[ $output == *queue* ]]
    [[ $output == *threads* ]]
    [[ $output == *crew__member* ]]
    heurt report --classes # on the first screen it stands where neighbours leave CPUs to the threads
    [[ $output == *score* ]]
    [[ $output == *queue__* ]]
    [ -z "$(grep -i warning <<<"$stderr")" ]
}

@test "--json is JSON, with the fields of its contract" {
    report_json heurt.data
    local field
    for field in command exit_status wall_ns threads overhead coverage classes; do
        json "$field" >/dev/null || fail "no $field"
    done
    for field in rank kind function module file line caller object key threads count min_ns p50_ns \
        p99_ns max_ns sum_ns excess_ns exclusive_excess_ns score score_all why_ns verdict cause \
        wall_gain confidence stacks; do
        json "classes[0].$field" >/dev/null || fail "no classes[0].$field"
    done
    for field in tid name lifetime_ns components_ns; do
        json "threads[0].$field" >/dev/null || fail "no threads[0].$field"
    done
    [ "$(json 'classes[0].rank')" = 1 ]
    [ "$(json exit_status)" = 0 ]
}

@test "the parts of an excess add up to it, and a score is within 0 and 1" {
    report_json heurt.data
    json 'classes[]' >classes
    local number=0 line excess why
    while IFS= read -r line; do
        excess=$("$JSON_GET" - excess_ns <<<"$line")
        why=$("$JSON_GET" - why_ns <<<"$line" | tr -d '{}' | tr ',' '\n' | sed 's/.*://' | sum)
        [ "$excess" = "$why" ] || fail "excess $excess, its parts $why: $line"
        "$JSON_GET" - score <<<"$line" | awk '{ exit !($1 >= 0 && $1 <= 1) }' || fail "score: $line"
        number=$((number + 1))
    done <classes
    [ "$number" -gt 2 ]
}

@test "functions and lines come from the debug information" {
    report_json heurt.data
    [ "$(json 'classes[function=queue__take].count' | sum)" -gt 0 ]
    json 'classes[kind=lock].caller.function' | grep -Eq '^queue__(take|append)$'
    json 'classes[kind=lock].caller.file' | grep -q 'queue\.c$'
    is_number_above 0 "$(json 'classes[kind=lock].caller.line' | head -n 1)"
}

@test "--csv: every line has as many fields as the first" {
    heurt report --csv
    expect_status 0
    [ "$(wc -l <<<"$output")" -gt 2 ]
    # Fields in quotes may hold commas.
    awk '{ gsub(/"([^"]|"")*"/, "q"); fields = split($0, a, ",")
           if (NR == 1) want = fields
           else if (fields != want) exit 1 }' <<<"$output"
    grep -q queue__ <<<"$output"
}

@test "one class in depth" {
    heurt report --classes 1
    expect_status 0
    [ "$(wc -l <<<"$output")" -gt 5 ]
    heurt report 100000
    [ "$status" -ne 0 ]
    [ "$status" -lt 128 ]
    [ -n "$stderr" ]
}

@test "the same trace gives the same report" {
    "$HEURT" report --json >one
    "$HEURT" report --json >two
    cmp one two
    "$HEURT" report >one
    "$HEURT" report >two
    cmp one two
}

@test "the report does not need the program that was recorded" {
    cp "$EXAMPLES/queue" ./program
    record -o moved ./program --iterations 500
    "$HEURT" report -i moved --json >before
    rm program
    mv moved elsewhere
    "$HEURT" report -i elsewhere --json >after
    diff before after
}

@test "a stripped program: module and offset, and a warning" {
    cp "$EXAMPLES/queue" ./program
    strip program
    record -o t ./program --iterations 500
    report_json t
    json 'classes[kind=lock].caller.function' | grep -q 'program+0x'
    run "$HEURT" report -i t
    grep -Eqi 'stripped|no symbols|debug' <<<"$output"
}

@test "--threshold divides the classes, and must be a score" {
    local bad
    heurt report --threshold 0
    expect_status 0
    heurt report --threshold 1
    expect_status 0
    for bad in x -1 2 nan ''; do
        heurt report --threshold "$bad"
        expect_status 2
    done
}

@test "what is ignored stays so, until it is forgotten" {
    report_json heurt.data
    json 'classes[function=queue__take].rank' >before
    run "$HEURT" report --ignore queue__take
    expect_status 0
    "$HEURT" report --json >report.json
    ! json 'classes[function=queue__take].rank' >after || ! cmp -s before after
    run "$HEURT" report --forget queue__take
    report_json heurt.data
    json 'classes[function=queue__take].rank' >after
    cmp before after
}

@test "colour on a terminal only, and not with NO_COLOR" {
    command -v script >/dev/null || skip "script is not installed"
    local escape=$'\033['
    run "$HEURT" report
    [[ $output != *"$escape"* ]]
    TERM=xterm PAGER=cat run script -qec "$HEURT report" /dev/null </dev/null
    [[ $output == *"$escape"* ]]
    NO_COLOR=1 TERM=xterm PAGER=cat run script -qec "$HEURT report" /dev/null </dev/null
    [[ $output != *"$escape"* ]]
    TERM=dumb PAGER=cat run script -qec "$HEURT report" /dev/null </dev/null
    [[ $output != *"$escape"* ]]
}

@test "wrong usage: 2" {
    local arguments
    for arguments in '--no-such-option' '1 2' '-i' '--json --csv' '--key' '--ignore'; do
        # shellcheck disable=SC2086
        heurt report $arguments
        [ "$status" -eq 2 ] || fail "$status for $arguments"
        [ -z "$output" ]
        [ -n "$stderr" ]
    done
}

@test "no trace, or something else: 125 and a sentence" {
    heurt report -i missing
    expect_status 125
    says missing
    mkdir empty
    heurt report -i empty
    expect_status 125
    says empty
    echo text >file
    heurt report -i file
    expect_status 125
    says file
    mkdir other
    head -c 100000 /dev/urandom >other/events
    heurt report -i other
    expect_status 125
    says other
    : >other/events
    heurt report -i other
    expect_status 125
}

@test "a trace of another format version: 125, and it is said" {
    copy_of_trace newer
    printf '\377' | dd of=newer/events bs=1 seek=8 conv=notrunc status=none
    heurt report -i newer
    expect_status 125
    says "format 255"
}

@test "a trace that was cut off anywhere: a report or a sentence" {
    local size bytes
    size=$(stat -c %s heurt.data/events)
    for bytes in 1 8 100 4096 16383 16384 16385 20000 $((size / 3)) $((size / 2)) $((size - 1)); do
        copy_of_trace cut
        truncate -s "$bytes" cut/events
        heurt report -i cut --json
        [ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "at $bytes bytes"
        [ "$status" -eq 0 ] || says cut
    done
}

@test "a trace with bytes changed anywhere: a report or a sentence" {
    local size seed at
    size=$(stat -c %s heurt.data/events)
    for seed in {1..40}; do
        copy_of_trace bad
        RANDOM=$seed
        for at in 1 2 3 4 5 6 7 8; do
            at=$((seed % 2 ? (RANDOM * 32768 + RANDOM) % size : RANDOM % 20000))
            printf "\\x$(printf %02x $((RANDOM % 256)))" |
                dd of=bad/events bs=1 seek="$at" conv=notrunc status=none
        done
        run --separate-stderr "$HEURT" report -i bad --json
        [ "$status" -eq 0 ] || [ "$status" -eq 125 ] || { show_run; fail "seed $seed"; }
    done
}

@test "names that are missing or broken: the report is made nonetheless" {
    copy_of_trace nameless
    rm nameless/symbols
    heurt report -i nameless
    expect_status 0
    copy_of_trace broken
    head -c 100 heurt.data/symbols >broken/symbols
    heurt report -i broken
    [ "$status" -eq 0 ] || [ "$status" -eq 125 ]
    [ "$status" -eq 0 ] || says broken
}

@test "a trace in a directory that may not be written is reported" {
    chmod 555 heurt.data
    heurt report
    expect_status 0
}

@test "a reader that goes away is no reason to complain" {
    run bash -c '"$1" report | head -n 1; echo "${PIPESTATUS[0]}"' bash "$HEURT"
    [[ $output != *"heurt:"* ]]
}

@test "what was not looked at is said: time in code that nothing was recorded of, and runtimes" {
    compile stepper <<'C'
static volatile long sink;
__attribute__((noinline, noclone)) void step(void)
{
    for (long i = 0; i < 300000; i++)
        sink += i;
}
int main(void)
{
    for (int i = 0; i < 300; i++)
        step();
    return 0;
}
C
    heurt record -q -o t --no-choice ./stepper
    report_json t
    [ "$(json coverage.unseen)" = 1.000000 ]
    [[ $("$HEURT" report -i t | tr -s "\n " " ") == *"Not looked at: single calls of the code that takes 100 % of the time on a CPU"* ]] ||
        fail "$("$HEURT" report -i t)"
    heurt record -q -o t --choose-after 60 ./stepper
    "$HEURT" report -i t | grep -q 'the run was too short to choose any' || fail "$("$HEURT" report -i t)"
    heurt record -q -o t -f step ./stepper
    report_json t
    awk -v unseen="$(json coverage.unseen)" 'BEGIN { exit !(unseen < 0.5) }' ||
        fail "unseen $(json coverage.unseen)"
    [ -z "$(json 'coverage.runtimes[].name')" ]
    [ -x "$PROGRAMS/openmp" ] || return 0
    heurt record -q -o t --no-choice "$PROGRAMS/openmp"
    report_json t
    [ "$(json 'coverage.runtimes[].name')" = OpenMP ]
    [[ $("$HEURT" report -i t | tr -s "\n " " ") == *"It runs in OpenMP: seen are critical sections"* ]]
}

@test "a runtime that is there and not used is not named, and one is known by its thread" {
    compile user -Wl,--no-as-needed -lgomp -Wl,--as-needed <<'C' || skip "no libgomp here"
#define _GNU_SOURCE
#include <pthread.h>
static void *tick(void *unused)
{
    pthread_setname_np(pthread_self(), "ghc_ticker");
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 1) {
        pthread_create(&thread, NULL, tick, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
C
    ldd ./user | grep -q libgomp || fail "it does not have libgomp"
    heurt record -q -o t --no-choice ./user
    report_json t
    [ -z "$(json 'coverage.runtimes[].name')" ]
    heurt record -q -o t --no-choice ./user ticks
    report_json t
    [ "$(json 'coverage.runtimes[].name')" = "GHC's runtime" ]
}
