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
