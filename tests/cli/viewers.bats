# heurt export in the formats of viewers, each read by a reader that is not heurt's: of a queue, of a thousand
# threads, of a killed run, of processes that fork, of names that nobody should have, of a full trace.
load ../helpers
load ../exported
bats_require_minimum_version 1.5.0

READERS=$HEURT_SOURCE/tests/cli/readers
TRACES='queue many killed forks names full rounds'

# In each of 20 ms, has-it has a lock for 890 us and waits-for-it waits for it for 881 us.
rounds_of_a_lock() {
    local i end=20001000
    printf 'start 1000\nend %s %s 0\nmeta command ./rounds -x\nprocess 0 100 /nowhere/rounds\n' $end $end
    printf 'thread 2 has-it\n1000 thread_start 0 -1 0x401000\n'
    for ((i = 1000; i < end; i += 1000000)); do
        printf '%s lock_acquired 0x401100 0x7000\n%s lock_released 0x401110 0x7000\n' $((i + 10000)) $((i + 900000))
    done
    printf '%s thread_end 50000000 0\nthread 3 waits-for-it\n1000 thread_start 0 2 0x401000\n' $end
    for ((i = 1000; i < end; i += 1000000)); do
        printf '%s lock_wait 0x401200 0x7000\n%s leave lock_wait 0\n%s lock_released 0x401210 0x7000\n' \
            $((i + 20000)) $((i + 901000)) $((i + 950000))
    done
    printf '%s thread_end 5000000 0\n' $end
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -f 'queue__*' -f 'crew__*' -o queue "$EXAMPLES/queue" --threads 4 \
        --delay 500 --iterations 300 >/dev/null
    "$HEURT" record --quiet --overhead none -f known_work -o many "$PROGRAMS/threads_many" >/dev/null
    killed_program
    "$HEURT" record --quiet --overhead none -f 'work_*' -o killed ./kills_itself >/dev/null || :
    "$HEURT" record --quiet --overhead none -o forks "$PROGRAMS/forker" >/dev/null
    rounds_of_a_lock | "$HEURT_BUILD/tests/tools/make_trace" rounds
    strange_names | "$HEURT_BUILD/tests/tools/make_trace" names
    "$HEURT" record --quiet --overhead none --max-size 1M -f known_work -o full "$PROGRAMS/threads_many" >/dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    local trace
    for trace in $TRACES; do
        ln -s "$BATS_FILE_TMPDIR/$trace" "$trace"
    done
}

teardown() {
    [ -z "${profiler-}" ] || kill "$profiler" 2>/dev/null || :
    leave_room
}

# exported TRACE OPTION…: it is written to the file "out", and nothing else is left.
exported() {
    local trace=$1
    shift
    rm -f out
    heurt export -i "$trace" "$@" -o out
    expect_status 0
    [ -s out ] || fail "nothing of $trace"
    [ -z "$(ls out.* 2>/dev/null)" ] || fail "left: $(ls out.*)"
}

enters() { # TRACE: of its spans that begin
    "$HEURT" dump -i "$1" | awk '$4 == "enter"' | wc -l
}

@test "all of them are what they are meant to be" {
    local trace
    [ "$("$HEURT" dump -i many | awk '$4 == "point" && $5 == "thread" && $6 == "start"' | wc -l)" -ge 1000 ]
    [ "$(enters queue)" -ge 2400 ]
    "$HEURT" dump -i killed | awk '$4 == "enter" { open++ } $4 == "leave" { open-- } END { exit !(open >= 1) }'
    [ "$("$HEURT" export -i forks --json | sed -n 's/.*"what":"thread".*"pid":\([0-9]*\).*/\1/p' | sort -u | wc -l)" -gt 3 ]
    heurt export -i full --text -o text
    says 'events are missing'
}

# ---- Perfetto ------------------------------------------------------------------------------------------------

read_perfetto() { # TRACE: what perfetto.py tells is in "told"
    exported "$1" --perfetto
    protoc -I "$READERS" --decode perfetto.protos.Trace perfetto.proto <out >decoded || fail "protoc does not read $1"
    python3 "$READERS/perfetto.py" <decoded >told || fail "of $1: $(cat told)"
}

told() { # KEY: its value
    sed -n "s/^$1 //p" told | grep . || echo 0
}

@test "Perfetto: protoc reads every trace, slices lie in one another, flows have two ends" {
    local trace
    read_perfetto full # of which the time until it was full is told
    [ "$(told slices_of_threads)" -gt 100 ]
    for trace in ${TRACES/full/}; do
        read_perfetto "$trace"
        [ "$(told slices_of_threads)" -eq "$(enters "$trace")" ] || fail "$trace: $(told slices_of_threads) slices, $(enters "$trace") enters"
    done
}

@test "Perfetto: processes, threads, names, flows from holders to who waited" {
    read_perfetto queue
    [ "$(told 'slice queue__take')" -eq 1200 ]
    [ "$(told processes)" -eq 1 ]
    [ "$(told threads)" -eq 5 ]
    [ "$(told flows)" -ge 1 ] # at the barrier; who is joined may have ended before
    [ "$(told counters)" -gt 1000 ]
    grep -q 'name: "queue__append"' decoded
    grep -q 'function_name: "queue__take"' decoded
    grep -q 'line_number:' decoded
    grep -q 'name: "mutex queue->head_lock"' decoded
    read_perfetto many
    [ "$(told threads)" -ge 1065 ]
    read_perfetto forks
    [ "$(told processes)" -gt 3 ]
}

@test "Perfetto: each wait for a lock has a flow from who released it, and says so" {
    read_perfetto rounds
    [ "$(told 'slice pthread_mutex_lock')" -eq 20 ]
    [ "$(told flows)" -eq 20 ]
    [ "$(told slices_of_others)" -eq 40 ] # the lock is held 20 times by each
    grep -q 'str: "has-it (' decoded
    grep -q 'str: "mutex 0x7000"' decoded
}

@test "Perfetto: at most 25 bytes an event, beside the counters" {
    read_perfetto many
    local bytes events
    bytes=$(($(stat -c %s out) - 24 * $(told counters)))
    events=$("$HEURT" dump -i many | wc -l)
    [ $((25 * events)) -ge "$bytes" ] || fail "$bytes bytes of $events events"
}

@test "Perfetto: names that nobody should have are there, as UTF-8" {
    read_perfetto names
    grep -q 'name: "a\\001b\\033\[31m\\"c\\"\\\\d;e<f>&g"' decoded
    grep -Eq 'name: "x{10000}"' decoded
}

# ---- folded stacks -------------------------------------------------------------------------------------------

# Of each line: frames without a control character, and a number of us.
is_folded() {
    LC_ALL=C awk '!/^[^ -~\x80-\xff]*[^;]+(;[^;]+)* [0-9]+$/ || /[\x01-\x1f\x7f]/ { print "not folded: " $0; exit 1 }' out
}

lifetimes_us() { # TRACE: of all threads
    "$HEURT" export -i "$1" --json | sed -n 's/^{"ns":\([0-9]*\).*"what":"thread".*"until_ns":\([0-9]*\).*/\1 \2/p' |
        awk '{ sum += $2 - $1 } END { printf "%.0f\n", sum / 1000 }'
}

us_of() { # of all lines of out
    awk '{ sum += $NF } END { printf "%.0f\n", sum }' out
}

@test "folded: lines are stacks; work and wait together are the lives of the threads" {
    local trace work wait lives
    for trace in queue names rounds; do
        exported "$trace" --folded
        is_folded
        work=$(us_of)
        heurt export -i "$trace" --folded --of wait -o out
        is_folded
        wait=$(us_of)
        lives=$(lifetimes_us "$trace")
        awk -v sum=$((work + wait)) -v lives="$lives" 'BEGIN { exit !(sum >= 0.99 * lives - 10 && sum <= 1.01 * lives + 10) }' ||
            fail "$trace: $work + $wait us are not $lives"
    done
    for trace in many killed forks full; do
        exported "$trace" --folded
        is_folded
    done
}

@test "folded: a lock is the last frame of a wait, and threads of one name are one" {
    exported queue --folded --of wait
    grep -q ';pthread_barrier_wait;barrier ' out
    exported many --folded
    [ "$(cut -d';' -f1 out | sed 's/ [0-9]*$//' | sort -u | wc -l)" -eq 1 ]
    exported rounds --folded --of wait
    [ "$(cat out)" = 'waits-for-it;pthread_mutex_lock;mutex 0x7000 17620' ]
}

@test "folded: no time is lost in waits for the end of others" {
    exported queue --folded --of lost
    is_folded
    run -1 grep pthread_join out
}

# ---- speedscope, Chrome --------------------------------------------------------------------------------------

read_json() { # TRACE FORMAT: what spans_json.py tells is in "told"
    exported "$1" "--$2"
    python3 "$READERS/spans_json.py" "$2" <out >told || fail "of $1: $(cat told)"
}

@test "speedscope: a profile for each thread, frames lie in one another" {
    local trace
    for trace in $TRACES; do
        read_json "$trace" speedscope
        [ "$(told spans)" -gt 0 ]
    done
    read_json queue speedscope
    [ "$(told threads)" -eq 5 ]
    [ "$(told 'span queue__take')" -eq 1200 ]
    read_json many speedscope
    [ "$(told threads)" -ge 1065 ]
    read_json rounds speedscope
    [ "$(told 'span pthread_mutex_lock (mutex 0x7000)')" -eq 20 ]
}

find_speedscope() {
    SPEEDSCOPE=$HEURT_BUILD/readers/node_modules/speedscope/dist/release/index.html
    [ -e "$SPEEDSCOPE" ] || skip "speedscope is not here: make readers"
    for browser in chromium chromium-browser google-chrome; do
        command -v $browser >/dev/null && return
    done
    skip "there is no chromium here"
}

shown_at() { # FRAGMENT of speedscope's page: what it shows, a text a line
    local profile
    profile=$(mktemp -d)
    timeout 300 "$browser" --headless --no-sandbox --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-dev-shm-usage --allow-file-access-from-files \
        --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --user-data-dir="$profile" \
        --virtual-time-budget=20000 --dump-dom "file://$SPEEDSCOPE$1" 2>/dev/null |
        sed 's/<style.*<\/style>//; s/<[^>]*>/\n/g' >shown
    rm -rf "$profile"
}

in_speedscope() { # FILE
    printf 'speedscope.loadFileFromBase64("%s","%s")' "$1" "$(base64 -w0 "$1")" >load.js
    shown_at "#localProfilePath=$PWD/load.js"
}

@test "speedscope itself opens it, and the folded stacks" {
    find_speedscope
    shown_at ''
    grep -q 'Import' shown || skip "chromium does not start here"
    exported rounds --speedscope
    in_speedscope out
    grep -q 'waits-for-it (' shown
    grep -qx '(1/2)' shown
    exported many --speedscope
    in_speedscope out
    grep -qx '(1/1065)' shown
    exported names --speedscope
    in_speedscope out
    grep -q '^t"' shown
    exported queue --folded
    mv out out.folded
    in_speedscope out.folded
    grep -q 'out.folded' shown
    run -1 grep -q 'Drag and drop' shown
}

@test "Firefox: columns of one length, numbers of what is there, samples that are the threads' lives" {
    local trace
    for trace in $TRACES; do
        read_json "$trace" firefox
        [ "$(told samples)" -gt 0 ]
    done
    read_json queue firefox
    [ "$(told threads)" -eq 5 ]
    [ "$(told 'frame queue__take')" -eq 4 ]
    read_json many firefox
    [ "$(told threads)" -ge 1065 ]
    read_json rounds firefox
    [ "$(told 'marker pthread_mutex_lock mutex 0x7000 by has-it (1002)')" -eq 20 ]
    [ "$(told 'lost us')" -eq 17620 ]
}

find_firefox_profiler() {
    FIREFOX=$HEURT_BUILD/readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
    [ -e "$FIREFOX" ] || skip "the Firefox Profiler is not here: make readers"
    command -v node >/dev/null || skip "there is no node here"
    export HOME=$BATS_TEST_TMPDIR # where it keeps what it has loaded
}

firefox_profiler() { # COMMAND…
    timeout 60 node "$FIREFOX" "$@" --session test </dev/null 3>&-
}

# It answers from a process of its own, which would be given half a second to begin: here it may take longer.
open_in_firefox_profiler() { # TRACE
    local tries
    exported "$1" --firefox
    mv out "$1.json"
    node "$FIREFOX" --daemon "$PWD/$1.json" --session test >daemon 2>&1 </dev/null 3>&- &
    profiler=$!
    for ((tries = 0; tries < 100; tries++)); do
        firefox_profiler thread list --limit 5000 >shown 2>&1 && return
        kill -0 $profiler 2>/dev/null || break
    done
    kill $profiler 2>/dev/null || :
    fail "it does not read $1: $(cat shown daemon)"
}

@test "the Firefox Profiler itself opens it" {
    find_firefox_profiler
    local trace
    for trace in many names killed rounds; do
        open_in_firefox_profiler "$trace"
        [ "$(grep -cE '^[* ] t-[0-9]+ ' shown)" -eq "$(grep -o '"registerTime"' "$trace.json" | wc -l)" ] ||
            fail "$trace: $(cat shown)"
        [ "$trace" = rounds ] || firefox_profiler stop
    done
    firefox_profiler thread markers --thread t-1 --list >markers
    firefox_profiler thread samples-top-down --thread t-1 --include-idle >tree
    firefox_profiler stop
    [ "$(grep -c 'mutex 0x7000 .* < has-it (1002)' markers)" -eq 20 ] || fail "$(cat markers)"
    grep -q 'pthread_mutex_lock \[total: 88.1%' tree || fail "$(cat tree)"
}

@test "Chrome: spans lie in one another, flows have two ends" {
    local trace
    for trace in ${TRACES/full/}; do
        read_json "$trace" chrome
        [ "$(told spans)" -eq "$(enters "$trace")" ] || fail "$trace: not as many spans as enters"
    done
    read_json rounds chrome
    [ "$(told flows)" -eq 20 ]
}

# ---- pprof ---------------------------------------------------------------------------------------------------

@test "pprof: work and delay are the lives of the threads" {
    local trace
    for trace in $TRACES; do
        exported "$trace" --pprof
        gzip -dc <out | protoc -I "$READERS" --decode perftools.profiles.Profile profile.proto >decoded ||
            fail "protoc does not read $trace"
        run -1 grep -E '^ *[0-9]+:' decoded
    done
    for trace in queue rounds; do
        exported "$trace" --pprof
        gzip -dc <out | protoc -I "$READERS" --decode perftools.profiles.Profile profile.proto |
            awk '$1 == "value:" { values[n++ % 4] += $2 } END { printf "%.0f\n", (values[0] + values[2]) / 1000 }' >us
        awk -v sum="$(cat us)" -v lives="$(lifetimes_us "$trace")" \
            'BEGIN { exit !(sum >= 0.99 * lives - 10 && sum <= 1.01 * lives + 10) }' || fail "$trace: $(cat us) us"
    done
}

@test "go tool pprof reads it, and compares two" {
    command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q usage || skip "there is no go tool pprof"
    export HOME=$BATS_TEST_TMPDIR
    local trace
    for trace in $TRACES; do
        exported "$trace" --pprof
        go tool pprof -top out >top 2>/dev/null || fail "$trace is not read"
        mv out "$trace.pb.gz"
    done
    go tool pprof -sample_index=delay -top rounds.pb.gz 2>/dev/null | grep -q '17.62ms .*mutex 0x7000'
    go tool pprof -sample_index=contentions -top rounds.pb.gz 2>/dev/null | grep -Eq '^ +20 .*mutex 0x7000'
    go tool pprof -sample_index=delay -diff_base rounds.pb.gz -top rounds.pb.gz 2>/dev/null | grep -q '^Showing.* 0% of'
    go tool pprof -sample_index=delay -diff_base names.pb.gz -top rounds.pb.gz 2>/dev/null | grep -q '17.62ms .*mutex 0x7000'
}

# ---- what is asked for ---------------------------------------------------------------------------------------

@test "a target that cannot be written, a full disk, a file of the trace: a sentence, and nothing is left" {
    local format
    for format in perfetto folded speedscope firefox chrome pprof; do
        heurt export -i queue --$format -o missing/file
        expect_status 125
        says 'missing/file could not be written'
        heurt export -i queue --$format -o /dev/full
        expect_status 125
        says 'could not be written: No space'
        heurt export -i queue --$format -o queue/events
        expect_status 125
        says 'file of the trace itself'
        mkdir directory
        heurt export -i queue --$format -o directory
        expect_status 125
        says 'could not be written'
        rmdir directory
        [ -z "$(ls ./*.part 2>/dev/null)" ]
    done
}

@test "an older file stays as it is until the new one is whole" {
    echo old >kept
    heurt export -i missing --folded -o kept
    expect_status 125
    [ "$(cat kept)" = old ]
    heurt export -i queue --folded -o kept
    expect_status 0
    grep -q queue__take kept
}

@test "what does not go together is said" {
    heurt export -i queue --folded --interesting
    expect_status 2
    says 'interesting is for'
    heurt export -i queue --perfetto --function f -o out
    expect_status 2
    heurt export -i queue --perfetto --of wait -o out
    expect_status 2
    says 'leave it out'
    heurt export -i queue --folded --of nothing
    expect_status 2
    says 'work, wait, lost'
    heurt export -i queue --of wait
    expect_status 2
    [ ! -e out ]
}

@test "threads and a time are chosen" {
    local thread
    thread=$("$HEURT" export -i queue --json | sed -n 's/.*"tid":\([0-9]*\).*"name":"queue__take".*/\1/p' | head -n 1)
    exported queue --perfetto --thread "$thread"
    protoc -I "$READERS" --decode perfetto.protos.Trace perfetto.proto <out | python3 "$READERS/perfetto.py" >told
    [ "$(told 'slice queue__take')" -eq 300 ]
    exported queue --perfetto --to 0.001
    protoc -I "$READERS" --decode perfetto.protos.Trace perfetto.proto <out | python3 "$READERS/perfetto.py" >told
    [ "$(told slices_of_threads)" -lt 2400 ]
}

@test "a run without events cannot be exported" {
    "$HEURT" record --quiet --aggregate -o a "$PROGRAMS/counted" >/dev/null || :
    heurt export -i a --perfetto -o out
    expect_status 125
    says 'keeps no events'
    [ ! -e out ]
}
