# heurt report on traces whose content is written down here.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset HEURT_TRACE NO_COLOR PAGER
}

# Two threads and one lock: thread 2 waits 900 us of 1 ms, thread 1 at most 1 us. 0.9 is the score.
make_trace() { # [DIRECTORY]
    "$HEURT_BUILD/tests/tools/make_trace" "${1:-heurt.data}" <<'END'
start 1000
end 1001000 1001000 0x200
meta command ./app -x
meta cpus 4
process 0 100 /nowhere/app
module 0 1000 0x400000 0x500000 /nowhere/app
function 0 1024 work 0x401000 size
refusal 0 tiny /nowhere/app shorter than a jump
thread 1 first
1000 thread_start 0 -1 0x401000
1100 work 7
1200 leave work
2500 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
904000 work 8
905000 leave work
1001000 thread_end 500000 0
thread 2 second
1000 thread_start 0 -1 0x401000
1500 lock_acquired 0x401100 0x7000
1600 lock_released 0x401110 0x7000
3000 lock_wait 0x401100 0x7000
903000 leave lock_wait 0
904000 lock_released 0x401110 0x7000
1001000 thread_end 100000 0
END
}

report() {
    "$HEURT" report "$@"
}

json() { # PATH: of the report
    report --json 2>/dev/null | "$JSON_GET" - "$1"
}

@test "without a trace: a sentence that says what to do, 125" {
    run --separate-stderr report
    [ "$status" -eq 125 ]
    [ -z "$output" ]
    [ "$stderr" = "heurt: no trace at heurt.data: record one first: heurt record ./program" ]
}

@test "a directory that is no trace: a sentence, 125" {
    mkdir heurt.data
    run --separate-stderr report
    [ "$status" -eq 125 ]
    [[ "$stderr" == "heurt: "*heurt.data* ]]
}

@test "the first screen names the program, what it lost and what that is" {
    make_trace
    run --separate-stderr report
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "app -x   took 1.00 ms on 4 CPUs, used 0.6   exit status 2 "* ]]
    [[ "$output" == *"One lock holds 1 thread back. Without that: "* ]]
    [[ "$output" == *"second, 1.00 ms of thread time"* ]]
    grep -Eq '^  1 +~900 us +45 % .*lock 0x7000' <<<"$output"
    [[ "$output" == *"Blocked 1 of 3 times (33 %), "* ]]
    [[ "$output" == *"heurt whatif --split 'lock=0x7000:2'"* ]]
    [[ "$output" != *$'\e'* ]]
}

# Thread 2 waits for 900 us and could go on for the last 300 of them, in which the other one takes the lock again,
# or not.
make_late() { # [LINE OF THREAD 1]...
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<END
start 1000
end 1001000 1001000
meta command ./app -x
meta cpus 1
process 0 100 /nowhere/app
thread 1 first
1000 thread_start 0 -1 0x401000
1000 kernel 0
2500 lock_acquired 0x401100 0x7000
603000 lock_released 0x401110 0x7000
$(printf '%s\n' "$@")
1001000 thread_end 990000 0
thread 2 second
1000 thread_start 0 -1 0x401000
1000 kernel 0
3000 lock_wait 0x401100 0x7000
903000 off_cpu 899000/0 300000/0 0
903000 leave lock_wait 0
904000 lock_released 0x401110 0x7000
1001000 thread_end 100000 0
END
}

@test "a lock's loss tells how much of it is want of a CPU, and not twice" {
    make_late '604000 lock_acquired 0x401100 0x7000' '902000 lock_released 0x401110 0x7000'
    report --width 200 >held
    grep -q 'waiting for a lock 60 % .* wanted a CPU, had none 30 %' held || fail "$(cat held)"
    grep -q 'In 300 us of the loss they could go on and had no CPU' held || fail "$(cat held)"
    make_late
    report --width 200 >free
    grep -q 'For 33 % of that nobody had it: the next in line had no CPU yet' free || fail "$(cat free)"
    ! grep -q 'they could go on' free || fail "$(cat free)"
}

@test "files without names are one line, the program's first; what is so of several processes is said once" {
    local long=": stripped; functions are shown as module+offset. Install its debug symbols or rebuild with -g"
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<'END'
start 1000
end 1001000 1001000
meta command ./app -x
meta cpus 4
process 0 100 /nowhere/app
process 1 101 /nowhere/app
note 0 The process changes its user.
note 1 The process changes its user.
thread 1 first
1000 thread_start 0 -1 0x401000
2500 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
904000 futex_woken 0x401120 0x7100
1001000 thread_end 500000 0
END
    printf '{"schema": "heurt.symbols/1", "texts": [], "frames": [], "addresses": [], "variables": [],
            "sleeps": [], "stacks": [], "warnings": ["/lib/liba.so%s", "/lib/libb.so%s", "/nowhere/app%s", "/lib/libc.so%s"]}' \
        "$long" "$long" "$long" "$long" >heurt.data/symbols
    for screen in report locks structure; do
        "$HEURT" "$screen" --width 200 >screen
        grep -q '^  Names are missing: app, liba.so, libb.so and 1 more file are stripped' screen || fail "$(cat screen)"
        [ "$(grep -c stripped screen)" = 1 ]
        [ "$(grep -c 'changes its user' screen)" = 1 ]
        grep -q 'app (pid 100 and 1 more): The process changes its user' screen
    done
    "$HEURT" locks >screen
    ! grep -q '^futexes' screen || fail "nobody waited for one: $(cat screen)"
}

@test "files without names: the package that has them, where the trace tells; what is no name of one is not told" {
    local long=": stripped; functions are shown as module+offset. Install its debug symbols or rebuild with -g"
    make_trace
    printf '{"schema": "heurt.symbols/1", "texts": [], "frames": [], "addresses": [], "variables": [],
            "sleeps": [], "stacks": [], "warnings": ["/nowhere/app%s (package app-dbgsym)", "/lib/a.so%s (package libc++1.0-dbgsym)",
            "/lib/b.so%s (package app-dbgsym)"]}' "$long" "$long" "$long" >heurt.data/symbols
    report --width 200 >screen
    grep -q 'To have them: apt install app-dbgsym libc++1.0-dbgsym, or a build with -g\.$' screen || fail "$(cat screen)"
    for wrong in '-y' 'x; id' 'x)' 'X' ''; do
        printf '{"schema": "heurt.symbols/1", "texts": [], "frames": [], "addresses": [], "variables": [],
                "sleeps": [], "stacks": [], "warnings": ["/nowhere/app%s (package %s)"]}' "$long" "$wrong" >heurt.data/symbols
        report --width 200 >screen
        grep -q 'To have them: the debug symbols (on Debian' screen || fail "$(cat screen)"
    done
}

@test "a number is a finding's, with its costliest class; with --classes, a class's" {
    make_trace
    run report 1
    [ "$status" -eq 0 ]
    [[ "${lines[1]}" == "  1 "*"lock 0x7000"* ]]
    [[ "$output" == *"Class 1 (heurt report --classes N):"*"class 1: pthread_mutex_lock called by"* ]]
    run report --classes 1
    [[ "${lines[0]}" == "class 1: pthread_mutex_lock called by"* ]]
    run report --classes 2
    [[ "${lines[0]}" == "class 2: work"* ]]
    [ "$(report 1 --json)" = "$(report --classes 1 --json)" ]
}

@test "the table of classes has the score and the refused function; a threshold asks for it, too" {
    make_trace
    run --separate-stderr report --classes
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "app -x   took 1.00 ms on 4 CPUs"* ]]
    grep -q '^ 1  0\.90 .*lock 0x7000' <<<"$output"
    [[ "$output" == *"not instrumented: 1 of 2 functions (heurt report --coverage)"* ]]
    [ "$output" = "$(report --threshold 0.2)" ]
}

@test "a screen is as wide as it is asked to be, as COLUMNS says, else 100 columns" {
    make_trace
    local columns
    for columns in 60 80 100 140; do
        report --width "$columns" >asked
        COLUMNS=$columns report >said
        diff asked said
        LC_ALL=C report --width "$columns" >plain # a byte is a column
        awk -v columns="$columns" 'length > columns { exit 1 }' plain || fail "$columns: $(cat plain)"
    done
    unset COLUMNS
    diff <(report) <(report --width 100)
    COLUMNS=word report >said
    diff said <(report --width 100)
}

@test "bars and lines are ASCII where the terminal is" {
    make_trace
    LC_ALL=C report >screen
    ! LC_ALL=C grep -q '[^ -~]' screen
    grep -q '#' screen
}

@test "JSON, CSV, one class, and coverage come on stdout" {
    make_trace
    [ "$(json schema)" = heurt.report/1 ]
    [ "$(json exit_status)" = 2 ]
    [ "$(json classes[0].kind)" = lock ]
    report --csv 2>/dev/null | head -n 1 | grep -q '^rank,kind,function,module,file,line,'
    run report 1
    [ "$status" -eq 0 ]
    [[ "$output" == *"class 1: pthread_mutex_lock called by"* ]]
    [[ "$output" == *"blocked  1 of 3 times (33 %)"* ]]
    run report --coverage
    [[ "$output" == *"2 functions were asked for: 1 instrumented, 1 not."* ]]
    [[ "$output" == *"1  shorter than a jump"* ]]
}

@test "names are looked up once and kept with the trace" {
    make_trace
    [ ! -e heurt.data/symbols ]
    report >first 2>/dev/null
    [ -s heurt.data/symbols ]
    run --separate-stderr report
    diff <(tail -n +2 first) <(tail -n +2 <<<"$output") # the first line has the trace's size
}

@test "a key and an ignored function are remembered in the trace, and forgotten" {
    make_trace
    [ "$(report --csv | grep -c ',work,')" = 1 ]
    report --csv --key work=size >/dev/null 2>said
    grep -q 'kept in heurt.data/rules' said
    [ "$(cat heurt.data/rules)" = "key work=size" ]
    [ "$(stat -c %a heurt.data/rules)" = 600 ]
    [ "$(report --csv | grep -c ',work,')" = 2 ]
    [ "$(report --csv --no-rules | grep -c ',work,')" = 1 ]
    report --ignore 'pthread_*' >/dev/null 2>&1
    report >screen
    [[ "$(sed -n 2p screen)" == "  1 class is hidden, as rules of this trace say: "*"All: heurt report --no-rules" ]] ||
        fail "$(cat screen)"
    [[ "$(report --no-rules)" != *hidden* ]]
    report --forget 'pthread_*' --forget work >/dev/null 2>&1
    [ -e heurt.data/rules ]
    [ ! -s heurt.data/rules ]
    [ "$(report --csv | grep -c ',work,')" = 1 ]
}

@test "rules are one trace's: another one in the same directory has its own" {
    mkdir sub
    make_trace sub/heurt.data
    make_trace sub/other
    report -i sub/heurt.data/ --ignore work >/dev/null 2>&1
    [ "$(cat sub/heurt.data/rules)" = "ignore work" ]
    [[ "$(report -i sub/other)" != *hidden* ]]
    cd sub/heurt.data
    [[ "$(report -i .)" == *"1 class is hidden"* ]]
}

@test "what one function calls can be hidden, and no more than that; the hint says so" {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" record --quiet -o t "$EXAMPLES/queue" --threads 2 --iterations 200 >/dev/null
    "$HEURT" report -i t --ignore 'pthread_mutex_lock in queue__append' >/dev/null 2>said
    ! grep 'no class' said
    "$HEURT" report -i t --csv 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $3 == "pthread_mutex_lock" { print $at["caller"], $at["ignored"], $at["rank"] }' | sort >classes
    [ "$(cut -d' ' -f1,2 classes | uniq | xargs)" = "queue__append 1 queue__take 0" ] || fail "$(cat classes)"
    "$HEURT" report -i t --classes "$(sed -n 's/^queue__take 0 //p' classes | head -n 1)" | tr -s ' \n' ' ' >screen
    grep -q "heurt report -i t --ignore 'pthread_mutex_lock in queue__take'; --forget 'pthread_mutex_lock in queue__take'" screen ||
        fail "$(cat screen)"
    "$HEURT" report -i t --forget 'pthread_mutex_lock in queue__append' >/dev/null 2>&1
    [[ "$("$HEURT" report -i t)" != *hidden* ]]
    "$HEURT" record --quiet -o t true # it is a trace still
    [ ! -e t/rules ] && [ -e t.old/rules ]
}

@test "a malformed rule is named with its line" {
    make_trace
    printf '# mine\n\nignore a\nkey work\n' >heurt.data/rules
    run --separate-stderr report
    [ "$status" -eq 125 ]
    [[ "$stderr" == "heurt: heurt.data/rules, line 4: expected a key FUNCTION=ARGUMENT"* ]]
    run report --no-rules
    [ "$status" -eq 0 ]
}

@test "rules that cannot be written hold for this report" {
    make_trace
    [ "$(id -u)" -ne 0 ] || mkdir heurt.data/rules.new
    [ "$(id -u)" -eq 0 ] || chmod a-w heurt.data
    run --separate-stderr report --ignore work
    chmod u+w heurt.data
    [ "$status" -eq 0 ]
    [[ "$output" == *"1 class is hidden"* ]]
    [[ "$stderr" == *"heurt.data/rules: "*"; the change holds for this report only"* ]]
}

@test "wrong usage is said, with status 2" {
    make_trace
    local arguments
    for arguments in "--threshold 1.5" "--threshold -0.1" "--threshold nan" "--threshold x" "0" \
        "-1" "x" "1 2" "99" "--json --csv" "--coverage 1" "--audit 1" "--audit --coverage" "--unknown" "--key work" "--key =a" \
        "--key work=a,,b" "-i"; do
        # shellcheck disable=SC2086
        run --separate-stderr report $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status"; false; }
        [ -z "$output" ]
        [[ "$stderr" == "heurt: "* ]]
    done
    [ ! -e heurt.data/rules ]
}

@test "a report that cannot be written is a failure" {
    [ -e /dev/full ] || skip "no /dev/full"
    make_trace
    run bash -c '"$HEURT" report >/dev/full'
    [ "$status" -eq 125 ]
    [[ "$output" == *"cannot write the report: No space left on device"* ]]
}

@test "--help shows the usage on stdout" {
    run --separate-stderr report --help
    [ "$status" -eq 0 ]
    [[ "$output" == "usage: heurt report "* ]]
}

@test "--audit: both sides of every identity, and 0 where they agree" {
    make_trace
    run --separate-stderr report --audit
    [ "$status" -eq 0 ]
    [[ "$output" == *"sum of its components"*"exact, in all 2 classes"* ]]
    [[ "$output" == *"Everything adds up."* ]]
    [ "$(report --audit --csv | grep -c ',0,1,0$')" -eq 5 ]
    [ "$(json audit.holds)" = true ]
    [ "$(json audit.classes)" = 2 ]
    [ "$(json audit.covered_ticks)" = "$(json audit.exclusive_sum_ticks)" ]
}

@test "without the kernel's records running is not known, and it is said why" {
    make_trace
    [ "$(json thread_time.components_ns.running)" = null ]
    [ "$(json threads[0].components_ns.running)" = null ]
    [ "$(json kernel.records)" = false ]
    run report
    [[ "$output" == *"working or not known"* ]]
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"warning: waiting for a CPU, page faults and other waits are not known"*"heurt check"* ]]
}

@test "only interference is ranked" {
    make_trace
    [ "$(json classes[0].verdict)" = interference ]
    [ "$(json classes[0].cause)" = lock ]
    [ "$(json 'classes[function=work].verdict')" = unclear ]
    run report --classes
    [[ "$output" == *"not enough evidence, not ranked: 1 class that costs next to nothing"* ]]
    ! grep -q '^ 2  ' <<<"$output"
}

part_json() { # PATH OPTION...: of the report on a part
    local path=$1
    shift
    report --json "$@" 2>/dev/null | "$JSON_GET" - "$path"
}

@test "--from, --to, --last: that part of the run, which the first line tells" {
    make_trace
    run --separate-stderr report --from 300us --to 700us
    [ "$status" -eq 0 ]
    [[ "${lines[0]}" == "app -x   only from 300 us to 700 us, 400 us of 1.00 ms on 4 CPUs"* ]]
    [[ "$output" == *"One lock holds 1 thread back"* ]]
    [[ "$output" == *"heurt report --from 0.0003s --to 0.0007s 1"* ]]
    [ "$(part_json part.from_ns --from 300us --to 700us)" = 300000 ]
    [ "$(part_json part.to_ns --from 300us --to 700us)" = 700000 ]
    [ "$(part_json part.run_ns --from 300us --to 700us)" = 1000000 ]
    [ "$(part_json wall_ns --last 100us)" = 100000 ]
    [ "$(part_json part.from_ns --last 100us)" = 900000 ]
    [ "$(part_json 'classes[kind=lock].sum_ns' --from 300us --to 700us)" = 400000 ]
    [ "$(json part)" = null ]
}

@test "a part: what the system counted of whole lives is not held against it" {
    make_trace
    [ "$(part_json cpu_ns --from 300us --to 700us)" = null ]
    [ "$(part_json 'checks[name=running].holds' --from 300us --to 700us)" = null ]
    run report --from 300us --to 700us --audit
    [ "$status" -eq 0 ]
    [[ "$output" == *"Everything adds up."* ]]
}

@test "a part that cannot be had: a sentence that says why" {
    make_trace
    run --separate-stderr report --from 5s
    [ "$status" -eq 2 ]
    [ "$stderr" = "heurt: --from 5.00 s: the run had ended after 1.00 ms; give an earlier time" ]
    for arguments in "--from 2" "--from 2s --to 1s" "--from 1us --last 1us"; do
        # shellcheck disable=SC2086
        run --separate-stderr report $arguments
        [ "$status" -eq 2 ]
        [[ "$stderr" == "heurt: "*--* ]]
    done
}

# As long as it was, so that the file stays whole.
mark_kept() {
    sed -i 's/One lock/0NE L0CK/' heurt.data/screens
}

is_marked() { # ARGUMENT...
    [[ "$(report "$@" 2>/dev/null)" == *"0NE L0CK"* ]]
}

isnt_marked() { # ARGUMENT...
    if is_marked "$@"; then false; fi
}

@test "what a report came to is kept, and shown as it was" {
    make_trace
    report >first
    [ "$(stat -c %a heurt.data/screens)" = 600 ]
    report >second
    cmp first second
    report --json >json
    [ "$("$JSON_GET" json findings[0].category)" = lock ]
    report 1 >in_depth
    rm heurt.data/screens
    report 1 | cmp - in_depth
    rm heurt.data/screens
    report --json | cmp - json
    report --classes 1 >class # is kept with the first screen
    rm heurt.data/screens
    report --classes 1 | cmp - class
    rm heurt.data/screens
    report --width 80 >narrow
    report --classes >classes
    report --classes work >of_function
    for again in kept anew; do
        report --width 80 | cmp - narrow
        report --classes | cmp - classes
        report --classes work | cmp - of_function
        rm -f heurt.data/screens
    done
    report >/dev/null
    mark_kept
    is_marked
}

@test "what other verbs came to is kept, each question by itself" {
    make_trace
    for question in locks structure whatif "whatif --remove lock=0x7000" "structure --all"; do
        # shellcheck disable=SC2086
        "$HEURT" $question >/dev/null
        sed -i 's/ ms/ mS/g' heurt.data/screens # as long as it was
        # shellcheck disable=SC2086
        [[ "$("$HEURT" $question)" == *" mS"* ]]
        # shellcheck disable=SC2086
        [[ "$("$HEURT" $question --width 60)" == *" mS"* ]]
    done
    for question in "whatif --all" "structure --thread second" "whatif --class site"; do
        # shellcheck disable=SC2086
        [[ "$("$HEURT" $question)" != *" mS"* ]]
    done
    "$HEURT" whatif --json >first.json
    "$HEURT" whatif --json | cmp - first.json
    echo "ignore nothing" >>heurt.data/rules
    [[ "$("$HEURT" structure)" != *" mS"* ]]
}

@test "what is kept is of that trace, those options and that width alone" {
    make_trace
    report >/dev/null
    mark_kept
    isnt_marked --width 73
    is_marked --width 60 # which terminals have
    isnt_marked --no-rules
    isnt_marked --thread second
    isnt_marked --from 1us
    is_marked
    cp -r heurt.data copy
    isnt_marked -i copy
    is_marked
    isnt_marked -i ./heurt.data
    report >/dev/null
    mark_kept
    report --ignore nothing >/dev/null 2>&1
    isnt_marked
}

@test "what is kept and not whole, or not one's own alone, is not believed" {
    make_trace
    report >first
    mark_kept
    chmod 666 heurt.data/screens
    isnt_marked
    report >/dev/null
    mark_kept
    head -c -1 heurt.data/screens >shorter
    cat shorter >heurt.data/screens
    report | cmp - first
    rm heurt.data/screens
    ln -s "$PWD/first" heurt.data/screens
    report | cmp - first
}

@test "a trace that cannot be written is reported on all the same" {
    make_trace
    report >first
    rm heurt.data/screens
    mkdir heurt.data/screens.new
    run --separate-stderr report
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "$output" = "$(<first)" ]
    [ ! -e heurt.data/screens ]
}

@test "an aggregated run has no parts" {
    "$HEURT" record --quiet --aggregate -o a "$EXAMPLES/queue" --iterations 10 >out </dev/null
    run -125 --separate-stderr "$HEURT" report -i a --from 1ms
    [ -z "$output" ]
    [[ $stderr == *'--aggregate'*'leave out --from, --to and --last'* ]]
}

# The second thread waits 900 us for the first one, which waits for none.
@test "--thread: what these threads lost, which the first line tells" {
    make_trace
    number=$(json 'threads[name=second].tid')
    for thread in second 'sec*' "$number"; do
        run --separate-stderr report --thread "$thread"
        [ "$status" -eq 0 ]
        [[ "$output" == *"only thread #$number of 2"* ]]
        [[ "$output" == *"holds 1 thread back"* ]]
        [ "$(part_json part.threads --thread "$thread" | tr -d ' \n')" = "[$number]" ]
        [ "$(part_json 'threads[name=first]' --thread "$thread" 2>&1 | grep -c tid)" -eq 0 ]
        [ "$(part_json 'classes[kind=lock].sum_ns' --thread "$thread")" = 900000 ]
        [ "$(part_json 'findings[category=lock].lost_ns' --thread "$thread")" = 900000 ]
    done
    [[ "$(report --thread 'sec*')" == *"heurt report --thread 'sec*' 1"* ]]
    run --separate-stderr report --thread first
    [[ "$output" == *"No interference found: 1 thread "* ]]
    [ "$(part_json 'classes[kind=lock].sum_ns' --thread first)" = 0 ]
}

# One thread, on so many CPUs.
make_alone() { # CPUS
    "$HEURT_BUILD/tests/tools/make_trace" heurt.data <<END
start 1000
end 1001000 1001000
meta command ./app -x
meta cpus $1
process 0 100 /nowhere/app
thread 1 first
1000 thread_start 0 -1 0x401000
1000 kernel 0
2500 lock_acquired 0x401100 0x7000
903000 lock_released 0x401110 0x7000
1001000 thread_end 990000 0
END
}

@test "a thread that works alone on several CPUs is told, for nobody could get in its way" {
    make_alone 4
    [[ "$(report --width 200)" == *"No interference found: 1 thread worked "*" It worked alone: "*" the 4 CPUs "* ]]
    make_alone 1
    [[ "$(report --width 200)" == *"No interference found: 1 thread worked "* ]]
    [[ "$(report --width 200)" != *"worked alone"* ]]
}

@test "--thread, of all threads: the run" {
    make_trace
    report --thread '*' >all
    report --no-rules >whole
    cmp all whole
    report --thread first --thread second | cmp - whole
}

@test "--thread: one that is not there, and what it does not go with" {
    make_trace
    run --separate-stderr report --thread secnd
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$stderr" = "heurt: --thread: no thread of the run has the number or the name 'secnd'; did you mean \
'second'?" ]
    for arguments in "--html page.html" "--audit" "--coverage" "--compare work"; do
        # shellcheck disable=SC2086
        run --separate-stderr report --thread first $arguments
        [ "$status" -eq 2 ]
        [[ "$stderr" == "heurt: "*--thread* ]]
    done
}

@test "what heurt locks came to is kept, too, and told from what reports came to" {
    make_trace
    report >/dev/null
    "$HEURT" locks >all
    "$HEURT" locks 1 >one
    "$HEURT" locks --json >json
    for again in kept anew; do
        "$HEURT" locks | cmp - all
        "$HEURT" locks 1 | cmp - one
        "$HEURT" locks --json | cmp - json
        rm -f heurt.data/screens
    done
    "$HEURT" locks >/dev/null
    sed -i 's/wait/w4it/' heurt.data/screens
    "$HEURT" locks | grep -q w4it
    [[ "$("$HEURT" locks --thread second)" != *w4it* ]] # what is filtered is not kept
}
