#!/usr/bin/env bats
# heurt compare, heurt record --repeat, and --fail-if: runs against runs.
load ../helpers
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --locks all --repeat 5 -o a "$EXAMPLES/queue" --threads 2 --iterations 200 >out </dev/null
    "$HEURT" record --quiet --locks all --repeat 5 -o b "$EXAMPLES/queue" --threads 2 --iterations 200 --locks 2 \
        >out </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$BATS_FILE_TMPDIR"/[ab].* .
}

says() { # STATUS PART WORD…
    run -"$1" "$HEURT" "${@:3}"
    [[ $output == *"$2"* ]] || fail "$output"
}

value() { # FILE PATH
    "$JSON_GET" "$1" "$2"
}

@test "the rows of a run add up to its wall time and to the lives of all threads" {
    for trace in a.1 b.1; do
        "$HEURT" tables -i $trace --format csv wall:wall_ns,lives_ns >wall
        "$HEURT" report -i $trace --json >report
        "$HEURT" tables -i $trace --format csv threads:lifetime_ns >lives
        [ "$(awk -F, 'NR > 1 { sum += $1 } END { printf "%.0f", sum }' wall)" = "$(value report wall_ns)" ]
        [ "$(awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f", sum }' wall)" = \
            "$(awk 'NR > 1 { sum += $1 } END { printf "%.0f", sum }' lives)" ]
    done
}

@test "changes add up to the difference of the wall times, to the ns, in sets and single runs" {
    for sides in 'a b' 'a.1 b.1' 'a.1 a.2 -- b.1 b.2 b.3 b.4'; do
        # shellcheck disable=SC2086
        "$HEURT" compare --json $sides >json
        # shellcheck disable=SC2086
        "$HEURT" compare --csv $sides >csv
        [ "$(value json schema)" = heurt.compare/1 ]
        [ "$(value json adds_up)" = true ]
        [ "$(awk -F, 'NR > 1 { sum += $4 } END { printf "%.0f", sum }' csv)" = "$(value json wall_change_ns)" ]
        [ "$(awk -F, 'NR > 1 { sum += $9 } END { printf "%.0f", sum }' csv)" = "$(value json lives_before_ns)" ]
        [ "$(awk -F, 'NR > 1 { sum += $10 } END { printf "%.0f", sum }' csv)" = "$(value json lives_after_ns)" ]
        [ $(($(value json wall_before_ns) + $(value json wall_change_ns))) = "$(value json wall_after_ns)" ]
    done
    [ "$(value json verdict)" = 'too few runs' ]
    "$HEURT" compare --json a b >json
    [ "$(value json verdict)" != 'too few runs' ]
    value json 'after[4].directory' | grep -qx b.5
}

@test "a lock is the same one in another run, by its name" {
    "$HEURT" compare --csv a b >csv
    [ "$(cut -d, -f1 csv | sort | uniq -d | wc -l)" = 0 ]
    run ! grep 0x csv
    "$HEURT" compare --csv a b --table locks:acquisitions >csv
    [ "$(grep -c 'queue->head_lock' csv)" = 1 ]
    grep -q 'queue->own_tail_lock[^,]*,0.000000,' csv
    "$HEURT" diff --csv a b --table locks:acquisitions | cmp - csv
}

@test "a run compared with itself is no difference" {
    "$HEURT" compare --json a a >json
    [ "$(value json verdict)" = 'no difference shown' ]
    [ "$(value json wall_change_ns)" = 0 ]
    "$HEURT" compare a a --fail-if 'wall > +999999 %' --fail-if 'working > +1000 s' >out
    grep -q 'passed: wall time' out
}

@test "any table can be compared, if its rows have names" {
    for table in findings classes threads locks lock_sites path structure outliers; do
        "$HEURT" compare a.1 b.1 --table "$table" >out 2>err || [ "$(cat err)" ] || fail "$table"
        run ! grep Sanitizer err
    done
    says 2 "there is no table 'lokcs'" compare a b --table lokcs
    says 2 "the table locks has no figures 'object'" compare a b --table locks:object
    says 2 "has no figures 'nothing'" compare a b --table locks:nothing
}

@test "screens fit their width; Markdown is a table; a file is written as a whole" {
    for width in 60 80 100; do
        "$HEURT" compare a b --width $width >out
        [ "$(wc -L <out)" -le $width ] || fail "$(cat out)"
        grep -q '^  wall time' out
    done
    LC_ALL=C "$HEURT" compare a b >out
    run ! grep '[^ -~]' out
    "$HEURT" compare a b --markdown >out
    grep -q '^| wall time | ' out
    "$HEURT" compare a b --markdown -o file
    cmp out file
    says 125 'could not be written' compare a b --markdown -o nowhere/file
    [ ! -e nowhere ]
    says 125 'is a file of the trace itself' compare a.1 b.1 --json -o a.1/events
}

@test "conditions fail with a sentence and status 3, and are undecided with 4" {
    says 3 'failed: wall time: ' compare a b --fail-if 'wall > -100 %'
    says 0 'passed: wall time: ' compare a b --fail-if 'wall > +999999 %'
    says 4 'undecided: wall time: ' compare a.1 b.1 --fail-if 'wall > +999999 %'
    says 3 'failed: row *crew.start' compare a b --fail-if 'row(*crew.start) > -10 s' --fail-if 'wall > +999999 %'
    says 3 'failed: barrier: ' compare a b --fail-if 'barrier > -10 s'
    says 2 "no row of any run is 'lokc'" compare a b --fail-if 'lokc > 1 %'
    says 0 'passed: semaphore: +0.0 %' compare a b --fail-if 'semaphore > +1 %' # none was waited for: there was no change
    says 0 'passed: remote memory: +0.0 %' compare a b --fail-if 'remote memory > +1 %'
    says 2 'expected a number at the end' compare a b --fail-if 'wall > +'
    says 2 'compared with a part' compare a b --fail-if 'wall > 2 x'
}

@test "conditions of a report are of its bars and findings" {
    says 0 '' report -i a.1 --fail-if 'wall > 1000 s' --fail-if 'lock > 100 %' --fail-if 'barrier >= 1000s'
    says 3 'failed: wall time: ' report -i a.1 --fail-if 'wall > 1 ns'
    says 3 'failed: working: ' report -i a.1 --json --fail-if 'working > 0 %'
    says 3 'failed: finding queue.c*, lost: ' report -i a.1 --fail-if 'finding(queue.c*).lost >= 0 ns'
    says 0 '' report -i a.1 --fail-if 'finding(no_such_function).lost > 0 ns' --fail-if 'findings > 1000'
    says 2 "has no 'lokc'; did you mean 'lock'?" report -i a.1 --fail-if 'lokc > 1 %'
    says 2 'a change (+ or -) is asked of heurt compare' report -i a.1 --fail-if 'lock > +1 %'
    says 2 "'wall time' is compared with a time" report -i a.1 --fail-if 'wall > 1 %'
    says 2 'which finding?' report -i a.1 --fail-if 'finding > 1 %'
    says 2 'goes with the first screen' report -i a.1 --csv --fail-if 'lock > 1 %'
    says 2 '--junit tells of conditions' report -i a.1 --junit x.xml
}

@test "a report as Markdown has the verdict, the findings, and what became of the conditions" {
    says 3 '' report -i a.1 --markdown --fail-if 'working > 0 %' --fail-if 'finding(no_such_*).lost > 0 ns'
    "$HEURT" report -i a.1 --markdown --fail-if 'working > 0 %' --fail-if 'finding(no_such_*).lost > 0 ns' >md 2>err || :
    [ "$(grep -c '^\*\*.*\*\*$' md)" = 1 ] || fail "$(cat md)"
    grep -q '^- \*\*failed\*\*: working: .* and it fails if \\> 0 %$' md || fail "$(cat md)"
    grep -qF -- '- passed: finding no\_such\_\*, lost: 0 ns' md || fail "$(cat md)"
    grep -q '^heurt: failed: working: ' err
    says 2 '--markdown is the first screen' report -i a.1 --markdown --coverage
    says 2 '--markdown is the first screen' report -i a.1 --markdown 1
}

# A thread that does load and index SETUP times, then gather, sweep, REFINE and NORM ITERATIONS times, 1 us each.
made() { # DIRECTORY SETUP ITERATIONS REFINE NORM
    {
        local now=1000 id=1024 name i
        printf 'start 1000\nend 9000000 9000000 0\nmeta command ./made\nmeta cpus 4\nprocess 0 100 /nowhere/made\n'
        for name in load index gather sweep "$4" "$5"; do
            printf 'function 0 %d %s 0x%x\n' $id "$name" $((0x400000 + id))
            id=$((id + 2))
        done
        printf 'thread 1 worker\n1000 thread_start 0 -1 0x401000\n'
        for ((i = 0; i < $2; i++)); do
            for name in load index; do
                printf '%d %s\n%d leave %s\n' $((now += 100)) "$name" $((now += 1000)) "$name"
            done
        done
        for ((i = 0; i < $3; i++)); do
            for name in gather sweep "$4" "$5"; do
                printf '%d %s\n%d leave %s\n' $((now += 100)) "$name" $((now += 1000)) "$name"
            done
        done
        printf '%d thread_end 8000000 0\n' $((now += 100))
    } | "$HEURT_BUILD/tests/tools/make_trace" "$1"
}

@test "functions that were renamed are found by their place and by what they call, and said to be perhaps so" {
    made s 300 200 refine norm
    made t 0 220 better measure
    "$HEURT" compare s t >out
    grep -q 'norm → measure' out || fail "$(cat out)"
    grep -q 'refine → better' out || fail "$(cat out)"
    "$HEURT" compare s t --csv >csv
    grep -q '^working in measure[^,]*,.*,norm$' csv || fail "$(cat csv)"
    run ! grep -q '^working in norm' csv
    awk -F, '/^working in measure/ { exit !($2 > 0 && $3 > 0) }' csv
    grep -q '^working in load[^,]*,.*,$' csv # which is gone, and nothing is in its place
    "$HEURT" compare --json s t >json
    [ "$(awk -F, 'NR > 1 { sum += $4 } END { printf "%.0f", sum }' csv)" = "$(value json wall_change_ns)" ]
    says 4 'undecided: row norm: ' compare s t --fail-if 'row(norm) > 900 %'
    "$HEURT" compare s s >out
    run ! grep -q renamed out
}

@test "the loops of both sides stand beside each other in their order, and what is missing is said" {
    made s 300 200 refine norm
    made t 0 220 better measure
    "$HEURT" compare --json s t >json
    value json 'phases[0].loop' | grep -q 'load, index'
    [ "$(value json 'phases[0].iterations_before')" = 300 ]
    [ "$(value json 'phases[0].after')" = null ]
    value json 'phases[1].loop' | grep -q 'better, measure'
    [ "$(value json 'phases[1].iterations_before')" = 200 ]
    [ "$(value json 'phases[1].iterations_after')" = 220 ]
    "$HEURT" compare s t >out
    tr -s ' \n' ' ' <out | grep -q \
        'Phase 1 before, 300 iterations of a loop of load, index, was not found after\.' || fail "$(cat out)"
    "$HEURT" compare t s >out
    tr -s ' \n' ' ' <out | grep -q 'Phase 1 after, 300 iterations .* was not found before\.' || fail "$(cat out)"
    "$HEURT" compare s s >out
    run ! grep -q 'not found' out
}

@test "a differential flame graph has the time of each stack on both sides, and is XML" {
    made s 300 200 refine norm
    made t 0 220 better measure
    "$HEURT" compare s t --flame flame.svg >out
    grep -q 'wall time' out # the screen is there, too
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' flame.svg
    # A call takes 1 us; what was renamed is one box.
    for box in 'gather: 200 us before, 220 us after' 'better: 200 us before, 220 us after' \
        'measure: 200 us before, 220 us after'; do
        grep -qF "<title>$box</title>" flame.svg || fail "$box: $(cat flame.svg)"
    done
    grep -q '>only before: 300 us, .*load<' flame.svg
    run ! grep -qE 'refine|norm|href|script' flame.svg
    grep -qF '<title>all threads: 1.54 ms before, 968 us after</title>' flame.svg # their lives
    for trace in s t; do
        "$HEURT" export -i $trace --folded --of all -o $trace.folded
    done
    grep -q ';gather 200$' s.folded
    says 2 'no --table goes with' compare s t --table classes --flame flame.svg
    says 125 'could not be written' compare s t --flame nowhere/f.svg
}

@test "the page of a comparison is one file that asks for nothing, is the screen as text, and has figures of --json" {
    "$HEURT" compare a b --html page.html --fail-if 'wall > +999999 %'
    [ "$(head -n 1 page.html)" = '<!doctype html>' ]
    [ "$(tail -n 1 page.html)" = '</html>' ]
    grep -v '^<script type="application/json"' page.html >parts
    run ! grep -qiE '<link|<img|<iframe|@import|url\(|src=|href=' parts
    sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' page.html >data
    [ -s data ]
    run ! grep -q '<' data
    "$HEURT" compare a b --json >json
    for path in wall_change_ns sentence 'rows[0].row' 'rows[0].change'; do
        [ "$(value data "comparison.$path")" = "$(value json "$path")" ] || fail "$path"
    done
    [ "$(value data 'comparison.checks[0].outcome')" = passed ]
    [ "$(value data 'before.timeline.lanes[0].pid')" -gt 0 ]
    value data after.directory | grep -q '^b\.[1-5]$'
    "$HEURT" compare a b --width 100 --fail-if 'wall > +999999 %' | sed 's/&/\&amp;/g; s/</\&lt;/g' >screen
    sed -n '/<noscript><pre>/,/<\/pre>/p' page.html | sed 's/.*<pre>//; s/<\/pre>.*//; $d' | diff screen - || fail 'another screen'
    says 2 '--html and --json exclude each other' compare a b --html x --json
    says 2 '-o is of the other formats' compare a b --html x -o y
    says 125 'could not be written' compare a b --html nowhere/x
    says 3 'failed: wall time' compare a b --html x --fail-if 'wall > -100 %'
    [ -s x ]
    says 125 'is a file of the trace itself' compare a.1 b.1 --html a.1/events
}

@test "JUnit XML has a case a condition, and is well-formed" {
    says 3 failed report -i a.1 --fail-if 'wall > 1ns' --fail-if 'finding(a<b>&"c").lost > 9s' --junit x.xml
    grep -q 'tests="2" failures="1" errors="0" skipped="0"' x.xml
    grep -q 'name="finding(a&lt;b&gt;&amp;&quot;c&quot;).lost &gt; 9s"/>' x.xml
    says 4 undecided compare a.1 b.1 --fail-if 'wall > +5 %' --junit y.xml
    grep -q '<skipped message="wall time: ' y.xml
}

@test "what cannot be compared is said" {
    says 125 'no trace at nothing' compare a nothing
    says 2 'expected two traces' compare a
    says 2 'expected two traces' compare a.1 a.2 b.1
    says 2 'no trace stands behind --' compare a --
    "$HEURT" record --quiet --aggregate -o sums "$EXAMPLES/queue" --iterations 50 >out </dev/null
    says 125 'recorded with --aggregate' compare a.1 sums
    says 0 '' compare sums sums --table classes
    mkdir empty
    run -125 "$HEURT" compare a.1 empty
}

@test "what is compared with something of another kind is said in a sentence, and nothing is written" {
    "$HEURT" compare a b --json >document.json
    says 125 'document.json is not a trace of heurt' compare a.1 document.json
    cp -rL a.1 foreign
    chmod u+w foreign/events
    printf '\143' | dd of=foreign/events bs=1 seek=8 conv=notrunc 2>/dev/null # the number of its format
    says 125 'the trace foreign has format 99' compare a.1 foreign --html page.html
    says 125 'the trace foreign has format 99' compare foreign b.1 --markdown -o page.html
    "$HEURT" record --quiet --aggregate -o sums "$EXAMPLES/queue" --iterations 50 >out </dev/null
    says 125 'sums was recorded with --aggregate' compare a.1 sums --html page.html
    says 125 'sums was recorded with --aggregate' compare sums a.1 --flame page.html
    says 125 'keeps no single events' compare a.1 sums --table locks
    [ ! -e page.html ]
}

@test "a damaged trace that claims to last for centuries is compared, and ends" {
    "$HEURT_BUILD/tests/tools/make_trace" long <<END
clock tsc
start 1000 0
end 9000 18446744073709551000
process 0 100 /nowhere/app
thread 1 first
1000 thread_start 0 -1 0x401000
9000 thread_end 1000 0
END
    # Not to be waited for where it does not.
    (ulimit -t 30 && "$HEURT" tables -i long wall >out) || fail "it does not end"
    grep -q '^  working .* 100 %' out || fail "$(cat out)"
    (ulimit -t 30 && "$HEURT" compare long long --html page.html) || fail "it does not end"
}

@test "runs of different programs and recorders are compared, and it is said that they are such" {
    made s 0 100 refine norm
    "$HEURT" compare a.1 s --table locks >out
    tr -s ' \n' ' ' <out | grep -q 'No row is on both sides: are these runs of one program?' || fail "$(cat out)"
    "$HEURT" compare a b >out
    run ! grep -q 'No row is on both sides' out
    says 4 'undecided: row nothing: +0.0 %, of too few runs' compare a.1 s --fail-if 'row(nothing) > +1 %'
    echo '[{"name":"f","ph":"B","ts":1,"pid":1,"tid":1},{"name":"f","ph":"E","ts":100,"pid":1,"tid":1}]' >chrome.json
    "$HEURT" import chrome.json -o i 2>err
    "$HEURT" compare a.1 i >out
    tr -s ' \n' ' ' <out | grep -q 'Before was recorded by heurt, after by Chrome JSON: what one of them does not tell' ||
        fail "$(cat out)"
    "$HEURT" compare i i >out
    run ! grep -q 'was recorded by' out
}

# What a step of the action runs, as bash runs it there: -e, and pipefail.
step_of_action() { # NAME
    awk -v name="    - name: $1" '
        $0 == name { inside = 1; next }
        /^    - / { inside = 0 }
        inside && /^      run: \|$/ { running = 1; next }
        inside && running { sub(/^        /, ""); print }' "$HEURT_SOURCE/action.yml" >step
    [ -s step ] || fail "action.yml has no step '$1' with lines to run"
    bash --noprofile --norc -eo pipefail step
}

@test "the action installs heurt and gates; what is not decided passes or fails, as is asked" {
    mkdir fake
    printf '#!/bin/sh\necho "$@" >>made\n' >fake/make
    printf '#!/bin/sh\necho sudo >>made\nexec "$@"\n' >fake/sudo
    chmod +x fake/*
    GITHUB_ACTION_PATH='/some where' PATH=$PWD/fake:$PATH step_of_action 'build heurt'
    [ "$(cat made)" = "$(printf 'sudo\n-C /some where deps install PREFIX=/usr/local')" ] || fail "$(cat made)"

    export GITHUB_ACTION_PATH=$HEURT_SOURCE GITHUB_STEP_SUMMARY=$PWD/summary HEURT BUDGET=1ms
    export BEFORE="$EXAMPLES/queue --threads 2 --iterations 50" AFTER="$EXAMPLES/queue --threads 2 --iterations 50 --locks 2"
    export CONDITIONS=$'wall > +5 %\n\nlock > +20 %\n'
    UNDECIDED=pass run -0 step_of_action gate
    [[ $output == *'::warning::'* ]] || fail "$output"
    grep -q '^\*\*undecided after 1 pair' summary
    [ "$(grep -c '<testcase' heurt-gate/gate.xml)" = 2 ]
    UNDECIDED=fail run -2 step_of_action gate
    CONDITIONS='' UNDECIDED=fail run -2 step_of_action gate
    CONDITIONS='lokc > 1 %' UNDECIDED=pass run -125 step_of_action gate
    [[ $output == *"a report has no 'lokc'"* ]] || fail "$output"
    BEFORE='' BUDGET=300s CONDITIONS='lock > 100 %' UNDECIDED=fail run -0 step_of_action gate
    grep -q '^- passed: lock: ' heurt-gate/gate.md
}

@test "the action's steps, the page on it and the project's own workflow name inputs that it has" {
    sed -n '/^inputs:/,/^runs:/s/^  \([a-z-]*\):$/\1/p' "$HEURT_SOURCE/action.yml" | sort >inputs
    [ "$(wc -l <inputs)" -ge 5 ]
    grep -o 'inputs\.[a-z-]*' "$HEURT_SOURCE/action.yml" | cut -d. -f2 | sort | diff inputs -
    for page in "$HEURT_SOURCE/docs/ci.md" "$HEURT_SOURCE/.github/workflows/ci.yml"; do
        awk '/uses: \.\// { with = 1; next }
            with && /^ *- / { with = 0 }
            with && /^ *[a-z-]*:( |$)/ { sub(/:.*/, ""); gsub(/ /, ""); if ($0 != "with") print }' "$page" >used
        [ "$(wc -l <used)" -ge 3 ] || fail "$page: $(cat used)"
        run -1 grep -vxFf inputs used
    done
    run ! grep -q OWNER "$HEURT_SOURCE/docs/ci.md"
}

@test "heurt looks at itself" {
    run -0 "$HEURT_SOURCE/.ci/self" -b "$HEURT_BUILD" -d self -c 'lock > 100 %'
    grep -q '^- passed: lock: ' self/gate.md
    grep -q '<testcase' self/gate.xml
    rm -r self
    GITHUB_STEP_SUMMARY=$PWD/summary run -1 "$HEURT_SOURCE/.ci/self" -b "$HEURT_BUILD" -d self -c 'wall > 1 ns'
    grep -q '^- \*\*failed\*\*: wall: ' summary
    run -2 "$HEURT_SOURCE/.ci/self" -x
}

@test "a set is recorded as a whole, and is not mixed with an older one" {
    says 125 'a.5 is there from an earlier recording' record --repeat 4 -o a true
    says 125 'a.1 is there' record --repeat 2 -o a.1 true
    says 7 'run 1 of 3 did not end well' record --quiet --repeat 3 -o c sh -c 'exit 7'
    [ -d c.1 ] && [ ! -e c.2 ]
    says 2 '--repeat is for heurt record' --repeat 3 true
}

@test "the script for CI runs both sides in turns and compares them" {
    HEURT=$HEURT run -4 "$HEURT_SOURCE/.ci/compare" -n 2 -d runs -c 'wall > +5 %' -- \
        "$EXAMPLES/queue --threads 2 --iterations 50" "$EXAMPLES/queue --threads 2 --iterations 50 --locks 2"
    [[ $output == *'Too few runs'* ]]
    grep -q '<testcase' runs/junit.xml
    grep -q '^| wall time' runs/comparison.md
    [ "$(value runs/comparison.json in_turns)" = true ]
    run -2 "$HEURT_SOURCE/.ci/compare" -d runs true true
    run -2 "$HEURT_SOURCE/.ci/compare" true
}

@test "with --base results stand side by side, and changes are to the first" {
    "$HEURT" compare --base a --csv b.1 b >csv
    [ "$(head -n 1 csv)" = 'row,a,b.1,b.1 change,b.1 part,b,b change,b part' ]
    [ "$(sed -n 2p csv | cut -d, -f1)" = 'wall time' ]
    # To a millionth: figures are written with six digits behind the point.
    awk -F, 'NR > 1 { a = $4 - ($3 - $2); b = $7 - ($6 - $2); if (a * a > 1e-6 || b * b > 1e-6) exit 1
        if ($2 > 0 && ($8 - ($6 / $2 - 1)) ^ 2 > 1e-6) exit 1 }' csv
    "$HEURT" compare --csv a.1 b.1 --base a.1 --table wall:wall_ns >single
    [ "$(sed -n 2p single | cut -d, -f3)" = "$(sed -n 2p single | cut -d, -f2)" ] # a.1 against itself
}

@test "with --rows a few of them stand, summed and by the names that they are given" {
    printf '# of a paper\nwall time = wall\n*ing = threads\nnothing here = none\n' >rows
    "$HEURT" compare --base a.1 --rows rows b.1 --csv >csv 2>told
    [ "$(cut -d, -f1 csv | tail -n +2 | tr '\n' ' ')" = 'wall threads none ' ]
    [ "$(sed -n 4p csv)" = none,,,, ]
    grep -q 'nothing in any run is named as none' told
    "$HEURT" compare --base a.1 b.1 --csv >all
    for column in 2 3; do # what is printed is rounded
        awk -F, -v column="$column" -v told="$(sed -n 3p csv | cut -d, -f$column)" \
            '$1 ~ /ing$/ { sum += $column; rows++ }
             END { off = told - sum; exit !(rows && told > 0 && off < 1e-6 * (rows + 1) && off > -1e-6 * (rows + 1)) }' all
    done
    "$HEURT" compare --base a.1 --rows rows b.1 --latex -o table.tex 2>told
    grep -q '^  wall & .* \\\\$' table.tex
    "$HEURT" compare --base a.1 --rows rows b.1 --markdown 2>told | grep -q '^| wall |'
    "$HEURT" compare --base a.1 --rows rows b.1 --json 2>told >json
    [ "$(value json 'tables[0].rows[0].row')" = wall ]
}

@test "of a sweep each number of threads is a result" {
    "$HEURT" scale -q --threads 1,2 --repeat 1 -o sweep -- "$EXAMPLES/queue" --threads {} --iterations 100 >out
    "$HEURT" compare --base sweep --csv >csv
    [ "$(head -n 1 csv)" = 'row,m=1,m=2,m=2 change,m=2 part' ]
}

@test "what no table of several results can be made of is a sentence" {
    says 2 'give another trace' compare --base a
    says 2 '--rows and --latex are of' compare --latex a b
    says 2 'makes a table' compare --base a b --fail-if 'wall > +5 %'
    says 2 'cannot be read' compare --base a b --rows nowhere
    : >empty
    says 2 'names no row' compare --base a b --rows empty
}
