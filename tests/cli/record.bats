# heurt record: it runs a program as if it were not there.
load ../helpers

@test "ends with the program's exit status" {
    heurt record -o t sh -c 'exit 0'
    expect_status 0
    heurt record -o t sh -c 'exit 3'
    expect_status 3
    heurt record -o t "$PROGRAMS/signals" --exit 41
    expect_status 41
}

@test "ends by the program's signal" {
    local number
    for number in 15 6 9 11; do
        heurt record -o t sh -c "ulimit -c 0; kill -$number \$\$"
        expect_status $((128 + number))
    done
    # A shell's 143 could also be exit(143); wait(2) knows.
    run perl -e 'system(@ARGV); print $? & 127, "\n"' "$HEURT" record --quiet -o t sh -c 'kill -15 $$'
    [ "$output" = 15 ]
}

@test "a program that exits with 143 is told from one that a signal ended" {
    run perl -e 'system(@ARGV); print $? >> 8, " ", $? & 127, "\n"' \
        "$HEURT" record --quiet -o t sh -c 'exit 143'
    [ "$output" = "143 0" ]
}

@test "a program that is missing: 127, and it is named" {
    heurt record -o t no-such-program-here
    expect_status 127
    says no-such-program-here
    heurt record -o t ./missing/program
    expect_status 127
    says ./missing/program
}

@test "a program that cannot be run: 126, and it is named" {
    echo data >data.txt
    heurt record -o t ./data.txt
    expect_status 126
    says data.txt
    mkdir directory
    heurt record -o t ./directory
    expect_status 126
    says directory
}

@test "nothing is recorded over when the program cannot be run" {
    record -o t true
    heurt record -o t no-such-program-here
    report_json t
    [ "$(json 'command[0]')" = true ]
}

@test "wrong usage: 2, and nothing is run" {
    local arguments
    for arguments in '' '-o t' '-o t --' '--no-such-option touch ran' '-o' '--max-size lots touch ran' \
        '--max-size -1 touch ran' '--stack-every x touch ran' '--stack-bytes x touch ran' \
        '-A nonsense touch ran' '-F ./missing-list touch ran'; do
        # shellcheck disable=SC2086
        heurt record $arguments
        [ "$status" -eq 2 ] || [[ $arguments == -F* && $status -eq 125 ]] || fail "for $arguments"
        [ -n "$stderr" ]
        [ -z "$output" ]
        [ ! -e ran ] || fail "ran with $arguments"
    done
}

@test "help is data: stdout, status 0" {
    heurt record --help
    expect_status 0
    [[ $output == *"usage: heurt record"* ]]
    heurt --help
    expect_status 0
    [[ $output == *record*report* ]]
    heurt --version
    expect_status 0
    [[ $output =~ ^heurt\ [0-9]+\.[0-9]+ ]]
    heurt
    expect_status 2
    [ -z "$output" ]
}

@test "stdout and stderr are the program's own, byte for byte" {
    printf 'a\0b\377\n' >expected
    "$HEURT" record -o t sh -c 'printf "a\0b\377\n"; echo talk >&2' >out 2>err </dev/null
    cmp out expected
    grep -qx talk err
    "$HEURT" record --quiet -o t sh -c 'echo talk >&2' 2>err </dev/null
    [ "$(cat err)" = talk ]
}

@test "stdin goes to the program, all of it" {
    seq 100000 >in
    "$HEURT" record -o t cat <in >out 2>err
    cmp in out
    seq 10 | "$HEURT" record -o t sh -c 'read a; echo "$a"; cat >rest' >out 2>err
    [ "$(cat out)" = 1 ]
    [ "$(wc -l <rest)" = 9 ]
}

@test "standard descriptors that are closed stay closed" {
    "$HEURT" record --quiet -o t sh -c '
        [ -e /proc/self/fd/0 ] || echo no stdin >seen; exec 5>&1; echo written; exit 4' <&- >out && false
    [ $? -eq 4 ] || fail "status"
    [ "$(cat out)" = written ]
    run "$HEURT" record --quiet -o t sh -c 'echo x; exit 6' >&-
    expect_status 6
    run "$HEURT" record -o t sh -c 'exit 7' 2>&-
    expect_status 7
}

@test "arguments, environment, descriptors and signals are as without heurt" {
    local differs='^environ: (LD_PRELOAD|HEURT_[A-Z]*|_|BATS[A-Z_]*)='
    "$PROGRAMS/env_print" one 'two words' '' $'new\nline' '*' </dev/null >plain 2>err
    "$HEURT" record -o t "$PROGRAMS/env_print" one 'two words' '' $'new\nline' '*' </dev/null >recorded 2>err
    diff <(grep -Ev "$differs" plain) <(grep -Ev "$differs" recorded)
    grep -q 'argv\[2\]=two words' recorded
}

@test "a signal that was ignored or blocked stays so" {
    (
        trap '' INT HUP
        "$PROGRAMS/env_print" >plain
        "$HEURT" record --quiet -o t "$PROGRAMS/env_print" >recorded
    ) </dev/null
    grep -q disposition_1=ignored plain
    diff <(grep -E '^(blocked|disposition)' plain) <(grep -E '^(blocked|disposition)' recorded)
}

@test "an LD_PRELOAD of the user's stays" {
    echo 'int marked_by_user(void) { return 7; }' | compile user.so -shared -fPIC
    # (a heurt that is built with ASan itself would not start after another library)
    ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/user.so "$HEURT" record --quiet -o t \
        sh -c 'grep -c user.so /proc/$$/maps >count' </dev/null
    is_number_above 0 "$(cat count)"
}

@test "the trace is heurt.data unless said, and the one before is kept" {
    record true
    [ -s heurt.data/events ]
    record sh -c 'exit 0'
    [ -s heurt.data.old/events ]
    report_json heurt.data
    [ "$(json 'command[0]')" = sh ]
    report_json heurt.data.old
    [ "$(json 'command[0]')" = true ]
    record -o other true
    [ -s other/events ]
}

@test "a trace's place that holds something else is not touched" {
    mkdir precious
    echo data >precious/file
    heurt record -o precious touch ran
    [ -f precious/file ] || [ -f precious.old/file ]
    echo text >file
    heurt record -o file touch ran
    [ "$(cat file)" = text ] || [ "$(cat file.old)" = text ]
}

@test "what cannot be written: 125, a sentence, and the program is not started" {
    heurt record -o missing/directory/t touch ran
    expect_status 125
    says missing/directory
    [ ! -e ran ]
}

@test "a directory that may not be written: 125, a sentence" {
    public_room
    mkdir "$room/closed"
    chmod 555 "$room/closed"
    cd "$room/closed"
    run --separate-stderr as_ordinary_user "$room_heurt" record touch "$room/ran"
    show_run
    leave_room
    expect_status 125
    says 'heurt\.data|closed'
    [ ! -e "$room/ran" ]
}

@test "a full disk does not harm the program, and is told" {
    needs_root "mounting a small file system"
    mkdir small
    mount -t tmpfs -o size=256k none small || skip "no file system may be mounted here"
    heurt record -o small/t "$EXAMPLES/queue" --threads 2 --iterations 60000
    local program_output=$output recorded=$status
    heurt report -i small/t
    umount small
    [ "$recorded" -eq 0 ]
    [[ $program_output == elapsed_ns=*operations=240000 ]]
    expect_status 0
    grep -Eqi 'lost|dropped|space|full' <<<"$output$stderr"
}

@test "an output directory that vanishes does not harm the program, and is told" {
    heurt record -o t sh -c "rm -rf t; '$EXAMPLES/queue' --iterations 2000 && exit 4"
    [[ $output == *elapsed_ns* ]]
    expect_status 4
    [ -n "$stderr" ]
}

@test "--max-size bounds the trace, and what was dropped is counted" {
    record -o t --max-size 1M "$EXAMPLES/queue" --iterations 50000
    expect_status 0
    [ "$(stat -c %s t/events)" -le $((1024 * 1024)) ]
    report_json t
    is_number_above 0 "$(json coverage.events_lost)"
    run --separate-stderr "$HEURT" report -i t
    grep -Eqi 'lost|dropped|full' <<<"$output$stderr"
}

@test "what is told of a trace that was full is of the time until then" {
    record -o t --max-size 2M --overhead none --locks all "$EXAMPLES/queue" --threads 2 --iterations 60000
    expect_status 0
    report_json t
    [ "$(json part.to_ns)" -lt "$(json part.run_ns)" ]
    [ "$(json wall_ns)" = "$(json part.to_ns)" ]
    is_number_above 0 "$(json coverage.events_lost)"
    run --separate-stderr "$HEURT" report -i t --width 200
    [[ $output == *'the trace was full after'* ]]
    run --separate-stderr "$HEURT" locks -i t --width 200
    [[ $output == *'the trace was full after'* ]]
    [[ $output$stderr != *'may be missing'* ]]
}

@test "a thread whose first call stack is longer than its first chunk" {
    compile deep <<'C'
#include <pthread.h>
#include <string.h>
static void *deep(void *unused)
{
    char buffer[8000];
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    memset(buffer, 1, sizeof buffer);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    for (int i = 0; i < 10; i++)
        pthread_mutex_lock(&own), pthread_mutex_unlock(&own);
    return unused;
}
int main(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], 0, deep, 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], 0);
    }
}
C
    record --no-choice --no-pack --locks all --stack-bytes 8192 --stack-every 1 -o t ./deep
    expect_status 0
    "$HEURT" dump -i t >dump 2>err
    [ "$(grep -c 'lock acquired (mutex)' dump)" = 800 ]
    [ "$(grep -c 'point stack deep' dump)" -ge 800 ]
    ! grep -q damaged err
}

@test "what is written already is no part of the program's memory" {
    compile grows <<'C'
#include <pthread.h>
#include <stdio.h>
static long resident(void)
{
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
        return -1;
    fclose(file);
    return pages;
}
int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long before = 0;
    for (int i = 0; i < 1000000; i++) {
        if (i == 200000)
            before = resident();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    printf("pages=%ld\n", resident() - before);
    return before <= 0;
}
C
    record --no-choice --no-pack --locks all -o t ./grows
    expect_status 0
    [ "$(stat -c %s t/events)" -gt $((30 << 20)) ]
    [ "$(sed -n 's/^pages=//p' <<<"$output")" -lt 1024 ] # of 4 KiB; the trace grew by 9,000
}

@test "a program that closes all descriptors" {
    local way
    for way in '' --range; do
        # shellcheck disable=SC2086
        "$PROGRAMS/close_all" $way </dev/null >plain
        # shellcheck disable=SC2086
        "$HEURT" record --quiet -o t "$PROGRAMS/close_all" $way </dev/null >recorded
        diff <(grep -v _address= plain) <(grep -v _address= recorded)
        "$HEURT" report -i t >/dev/null
    done
}

@test "a static program runs, and it is said that it is not recorded" {
    echo 'int main(void) { puts("static"); return 9; }' | compile program -static
    heurt record -o t ./program
    expect_status 9
    [ "$output" = static ]
    says static
}

@test "a 32-bit program runs, and it is said that it is not recorded" {
    echo 'int main(void) { return 9; }' | compile program -m32 2>/dev/null ||
        skip "this compiler makes no 32-bit programs"
    ./program || [ $? -eq 9 ] || skip "this kernel runs no 32-bit programs"
    heurt record -o t ./program
    expect_status 9
    says 32
}

@test "a setuid program runs, and it is said that it is not recorded" {
    needs_root "making a program setuid"
    public_room
    echo '#include <unistd.h>
        int main(void) { printf("%d\n", (int)geteuid()); return 8; }' | compile program
    install -m 4755 program "$room/program"
    cd "$room"
    run --separate-stderr as_ordinary_user ./program
    plain=$output
    run --separate-stderr as_ordinary_user "$room_heurt" record -o t ./program
    show_run
    leave_room
    expect_status 8
    [ "$output" = "$plain" ]
    says 'setuid|set-user|privilege'
}

@test "a script is recorded through its interpreter" {
    printf '#!/bin/sh\n"%s" --iterations 200 >/dev/null\nexit 12\n' "$EXAMPLES/queue" >script
    chmod +x script
    record -o t ./script
    expect_status 12
    report_json t
    [ -n "$(classes lock count)" ]
}

@test "as an ordinary user, with perf_event_paranoid as it is" {
    public_room
    cd "$room"
    run --separate-stderr as_ordinary_user "$room_heurt" record -o t "$room/programs/queue" --iterations 2000
    show_run
    recorded=$status
    run --separate-stderr as_ordinary_user "$room_heurt" report -i t --json
    echo "$output" >"$BATS_TEST_TMPDIR/report.json"
    cd "$BATS_TEST_TMPDIR"
    leave_room
    [ "$recorded" -eq 0 ]
    [ "$(json schema)" = heurt.report/1 ]
    [ -n "$(classes lock count)" ]
}

@test "forks and executed programs are recorded too" {
    "$PROGRAMS/forker" </dev/null >plain
    "$HEURT" record --quiet -o t "$PROGRAMS/forker" </dev/null >recorded
    diff plain recorded
    report_json t
    is_number_above 2 "$(json 'threads[].tid' | sort -u | wc -l)"
}

@test "a program that becomes another keeps its exit status" {
    record -o t sh -c "exec '$EXAMPLES/queue' --iterations 500"
    expect_status 0
    report_json t
    [ -n "$(classes lock count)" ]
    record -o t "$PROGRAMS/forker" --exec
    expect_status 7
}

@test "1000 short threads and 64 at once: every event is there" {
    record -o t "$PROGRAMS/threads_many"
    expect_status 0
    wanted=$(sed -n 's/^mutex_acquired=//p' <<<"$output")
    mutex=$(sed -n 's/^mutex_address=//p' <<<"$output")
    report_json t
    [ "$(json coverage.events_lost)" = 0 ]
    [ "$(json 'threads[].tid' | wc -l)" = 1065 ]
    [ "$(json "classes[object=$mutex].count" | sum)" = "$wanted" ]
}

# What the C library does in the name of a thread that has ended waits for locks, too.
@test "threads that begin and end all the time, each with a call stack at every wait: nothing breaks" {
    for _ in 1 2 3; do
        record -o t --stack-every 1 --overhead 1% "$PROGRAMS/threads_short" 4000
        expect_status 0
        [ "$output" = 16000 ]
    done
}

@test "functions that were asked for are counted exactly" {
    record -o t -f call_plain -f 'call_recursive' "$PROGRAMS/calls_known"
    expect_status 0
    wanted=$(sed -n 's/^call_plain=//p' <<<"$output")
    report_json t
    [ "$(json 'classes[function=call_plain].count' | sum)" = "$wanted" ]
}

@test "what was asked for and not found is listed with a reason" {
    record -o t -f no_such_function_anywhere "$EXAMPLES/queue" --iterations 100
    expect_status 0
    report_json t
    [[ $(json 'coverage.refused[function=no_such_function_anywhere].reason') == ?* ]]
    run "$HEURT" report -i t --coverage
    [[ $output == *no_such_function_anywhere* ]]
}

@test "a function of one image or library is not missed in the others" {
    # calls_known loads a library while it runs; sh has no such function, the program has.
    record -o t -f call_plain -f in_no_image sh -c '"$0"' "$PROGRAMS/calls_known"
    expect_status 0
    report_json t
    is_number_above 0 "$(json 'classes[function=call_plain].count' | sum)"
    json 'coverage.refused[].function' >refused
    ! grep -qx call_plain refused
    [ "$(grep -cx in_no_image refused)" -eq 1 ]
}

@test "-F reads patterns from a file and from standard input" {
    printf '# functions\n\ncall_plain\n' >list
    record -o t -F list "$PROGRAMS/calls_known"
    report_json t
    [ -n "$(json 'classes[function=call_plain].count')" ]
    echo call_plain | "$HEURT" record --quiet -o t -F - "$PROGRAMS/calls_known" >out
    report_json t
    [ -n "$(json 'classes[function=call_plain].count')" ]
}

@test "heurt hot's list is what -F takes" {
    "$HEURT" hot true >/dev/null 2>&1 || skip "no sampling on this machine (see heurt check)"
    compile spinner <<'C'
__attribute__((noinline)) long hot_function(long n)
{
    for (volatile long i = 0; i < n; i++)
        ;
    return n;
}
int main(void)
{
    for (int i = 0; i < 60; i++)
        hot_function(2000000);
    return puts("output") < 0;
}
C
    "$HEURT" hot ./spinner 2>err | "$HEURT" record --quiet -o t -F - ./spinner >out
    [ "$(cat out)" = output ]
    report_json t
    [ "$(json 'classes[function=hot_function].count')" = 60 ]
}

@test "arguments that were asked for are keys" {
    record -o t -f call_arguments -A call_arguments=arg1 "$PROGRAMS/calls_known"
    expect_status 0
    "$HEURT" report -i t --key call_arguments=arg1 --json >report.json
    json 'classes[function=call_arguments].key' | grep -q arg1
}

@test "handlers that interrupt hooked calls" {
    "$HEURT" record --quiet -o t "$PROGRAMS/signals" >out </dev/null
    report_json t
    run "$HEURT" record --quiet -o t "$PROGRAMS/signals" --abort
    expect_status 134
    "$HEURT" report -i t >/dev/null
}

@test "threads that are cancelled in hooked calls" {
    "$HEURT" record --quiet -o t "$PROGRAMS/cancel" </dev/null
    report_json t
}

@test "libraries that come and go" {
    "$PROGRAMS/dlopener" >plain
    "$HEURT" record --quiet -o t -f plugin_function "$PROGRAMS/dlopener" >recorded </dev/null
    diff plain recorded
    report_json t
}

@test "bare heurt records, then reports; the exit status is the program's" {
    heurt "$EXAMPLES/queue" --iterations 1000
    expect_status 0
    [[ $output == elapsed_ns* && $output != *took* && $stderr == *took* ]]
    [ -s heurt.data/events ]
    heurt -o t sh -c 'exit 3'
    expect_status 3
    [ -s t/events ]
    heurt no-such-program-here
    expect_status 127
}

@test "a program that is called like a command" {
    printf '#!/bin/sh\necho ran; exit 5\n' >report
    chmod +x report
    PATH=$PWD:$PATH run --separate-stderr "$HEURT" -- report
    expect_status 5
    [[ $output == ran* ]]
}

@test "what was found out about code is kept where it is wanted, and nowhere else" {
    local program="$PROGRAMS/calls_known" kept
    HEURT_CACHE="$PWD/kept" record -o t -f call_empty "$program"
    kept=(kept/plans/*.plan)
    [ -s "${kept[0]}" ]
    kept=(kept/names/*.names)
    [ -s "${kept[0]}" ]
    HEURT_CACHE= HOME="$PWD" XDG_CACHE_HOME="$PWD/caches" record -o t -f call_empty "$program"
    [ ! -e caches ] && [ ! -e .cache ]
    env -u HEURT_CACHE HOME="$PWD" XDG_CACHE_HOME="$PWD/caches" "$HEURT" record -q -o t -f call_empty "$program"
    kept=(caches/heurt/plans/*.plan)
    [ -s "${kept[0]}" ]
    env -u HEURT_CACHE -u XDG_CACHE_HOME HOME="$PWD" "$HEURT" record -q -o t -f call_empty "$program"
    kept=(.cache/heurt/plans/*.plan)
    [ -s "${kept[0]}" ]
    touch file
    HEURT_CACHE="$PWD/file" heurt record -q -o t -f call_empty "$program"
    expect_status 0
    [ -z "$stderr" ]
}

@test "names are looked up on this machine: nothing is loaded that would ask a network for them" {
    LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/loaded HEURT_CACHE= heurt record -q -o t true
    expect_status 0
    grep -q libdw.so loaded.*
    ! grep -q debuginfod loaded.*
}

@test "functions of one name are several" {
    local side
    for side in left right; do
        cat >$side.c <<CODE
static int __attribute__((noinline)) same(int a) { volatile int b = a; return b * 3; }
int $side(int a) { return same(a) + same(a + 1); }
CODE
    done
    echo 'int left(int), right(int); int main(void) { return left(1) + right(2) - 24; }' >main.c
    "$CC" -O1 -o same main.c left.c right.c
    record -q -o t -f same ./same
    expect_status 0
    report_json t
    [ "$(json coverage.instrumented)" = 2 ]
}

# On a machine that has counters for them, and on one that has none, as heurt check tells.
@test "--instructions: counted around each call, or one sentence why not" {
    local calls state
    "$HEURT" check --json >check.json
    state=$("$JSON_GET" check.json 'facilities[key=pmu].state')
    heurt record -q -o t --instructions -f call_empty "$PROGRAMS/calls_known"
    expect_status 0
    calls=$(sed -n 's/^call_empty=//p' <<<"$output")
    "$HEURT" dump -i t --raw >dump
    [ "$(awk '$3 >= 1024 && $3 % 2 == 0' dump | wc -l)" = "$calls" ]
    if [ "$state" != no ] && [ -z "$stderr" ]; then
        awk '$3 >= 1024 && last[$2] != 62 { exit 1 } $3 != 44 { last[$2] = $3 }' dump
        return
    fi
    [ "$(wc -l <<<"$stderr")" = 1 ]
    says 'retired instructions are not counted: [a-z]'
    [ "$(awk '$3 == 62' dump | wc -l)" = 0 ]
    heurt record -q -o t --instructions --no-choice sh -c 'echo out; exit 3'
    expect_status 3
    [ "$output" = out ]
    [ "$(wc -l <<<"$stderr")" = 1 ]
}

@test "--instructions and --aggregate: one sentence, and recorded without" {
    heurt record -q -o t --instructions --aggregate --no-choice sh -c 'exit 3'
    expect_status 3
    [ "$(wc -l <<<"$stderr")" = 1 ]
    says 'retired instructions are not counted: --aggregate'
}

# places_differ ARG…: heurt record with these before the program; what it prints is as without.
places_differ() {
    env -i PATH="$PATH" one=1 two=22 "$PROGRAMS/places_known" >bare
    env -i PATH="$PATH" one=1 two=22 "$HEURT" record -q -o t "$@" "$PROGRAMS/places_known" >recorded
    diff bare recorded
}

@test "memory, keys, descriptors and environment lie where they lie without heurt" {
    needs_plain_heurt
    places_differ
    places_differ --aggregate
    places_differ -f count_keys
    places_differ --no-kernel
    env -i PATH="$PATH" LD_PRELOAD=libm.so.6 one=1 "$PROGRAMS/places_known" >bare
    env -i PATH="$PATH" LD_PRELOAD=libm.so.6 one=1 "$HEURT" record -q -o t "$PROGRAMS/places_known" >recorded
    diff bare recorded
    report_json t
    # The last thread began when the program had had all keys; its end is in the record, too.
    local i
    for i in 0 1 2; do
        [ "$(json "threads[$i].ended")" = true ]
    done
}

@test "programs that a recorded one starts find all in its place, too" {
    needs_plain_heurt
    local start='exec "$0"; exit 1'
    env -i PATH="$PATH" one=1 sh -c "$start" "$PROGRAMS/places_known" >bare
    env -i PATH="$PATH" one=1 "$HEURT" record -q -o t sh -c "$start" "$PROGRAMS/places_known" >recorded
    diff bare recorded
}

@test "the stack lies where it lies without heurt when chance has no part in it" {
    needs_plain_heurt
    setarch -R true || skip "the kernel's choice of places cannot be turned off"
    env -i one=1 /usr/bin/setarch -R "$PROGRAMS/places_known" --stack >bare
    env -i one=1 /usr/bin/setarch -R "$HEURT" record -q -o t "$PROGRAMS/places_known" --stack >recorded
    diff bare recorded
}
