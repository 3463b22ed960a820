#!/usr/bin/env bats
# heurt gate: what it answers, and when it ends. Programs differ by a factor that no neighbour makes: one that
# ends at once, and one that sleeps.
load ../helpers
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    printf '#!/bin/sh\nsleep 0.1\n' >slow
    printf '#!/bin/sh\nsleep 0.01\n' >fast
    printf '#!/bin/sh\nexit 3\n' >fails
    chmod +x slow fast fails
}

# After eight pairs, unless one of them stood still meanwhile.
@test "a program that takes ten times as long is a regression" {
    run -1 "$HEURT" gate --against ./fast --budget 300s --junit gate.xml -- ./slow
    [[ $output == *'regression after '*' pairs in '*'failed: wall time: +'* ]] || fail "$output"
    grep -q 'tests="1" failures="1"' gate.xml
}

@test "a program that is faster passes" {
    run -0 "$HEURT" gate --against ./slow --fail-if 'wall > +5 %' --budget 300s --markdown -o gate.md -- ./fast
    grep -q '^\*\*pass after [0-9]* pairs' gate.md
    grep -q '^- passed: ' gate.md
}

@test "a budget that is too short leaves it undecided, and says what it takes" {
    run -2 "$HEURT" gate --against ./slow --budget 1ms -- ./slow
    [[ $output == *'undecided after 1 pair in '*'8 are the fewest'* ]] || fail "$output"
    [[ $output == *'it takes'*'8 of each'* ]] || fail "$output"
}

@test "an interrupted gate tells what there is, and is undecided" {
    printf '#!/bin/sh\n[ -e go ] && kill -INT $(cat go)\nexec sleep 0.01\n' >interrupts
    chmod +x interrupts
    sh -c 'echo $$ >go; exec "$HEURT" gate --against ./interrupts -- ./interrupts' >told && status=0 || status=$?
    [ "$status" -eq 2 ]
    grep -q 'undecided after 0 pairs.*interrupted' told
}

@test "on GitHub what fails is an annotation" {
    GITHUB_ACTIONS=true run -1 "$HEURT" gate --against ./fast --budget 300s -- ./slow
    [[ $output == *'::error title=heurt gate::failed: wall time'* ]] || fail "$output"
}

@test "kept runs are a baseline, of the program of that name" {
    "$HEURT" record -q --repeat 5 -o kept.data "$EXAMPLES/queue" --threads 2 --iterations 200 >/dev/null
    run -125 "$HEURT" gate kept.data -- ./slow
    [[ $output == *'is of the program queue, not of slow'* ]] || fail "$output"
    run "$HEURT" gate kept.data --fail-if 'wall > +900 %' --budget 300s -- "$EXAMPLES/queue" --threads 2 --iterations 200
    [ "$status" -eq 0 ] || fail "$output"
    [[ $output == *'pass after '*' runs in '* ]] || fail "$output"
    run -125 "$HEURT" gate kept.data.1 -- "$EXAMPLES/queue" --threads 2 --iterations 200
    [[ $output == *'has 1 runs, and 5 are the fewest'* ]] || fail "$output"
}

@test "what is asked of each run needs no baseline, and is sure when enough runs agree" {
    run -0 "$HEURT" gate --fail-if 'lock > 100 %' --fail-if 'wall > 3000 s' --budget 300s --junit gate.xml -- \
        "$EXAMPLES/queue" --threads 2 --iterations 100
    [[ $output == *'pass after 10 runs'*'passed: lock: '*'so in 0 of 10 runs'* ]] || fail "$output"
    grep -q 'tests="2" failures="0"' gate.xml
    run -1 "$HEURT" gate --fail-if 'class(queue__take).count > 0' --budget 300s --markdown -- \
        "$EXAMPLES/queue" --threads 2 --iterations 100
    [[ $output == *'regression after 8 runs'*'class(queue\_\_take).count: '*'so in 8 of 8 runs'* ]] || fail "$output"
    run -2 "$HEURT" gate --fail-if 'class(nobody).score > 0.2' --budget 1ms -- \
        "$EXAMPLES/queue" --threads 2 --iterations 100
    [[ $output == *'undecided: class(nobody).score: no run has anything of that name'* ]] || fail "$output"
}

@test "of a run and of a change may be asked together" {
    run -1 "$HEURT" gate --against ./fast --fail-if 'wall > +5 %' --fail-if 'lock > 50 %' --budget 300s -- ./slow
    [[ $output == *'regression after '*' pairs in '*'failed: wall time: +'*'lock: '* ]] || fail "$output"
}

@test "a baseline of another machine is refused" {
    "$HEURT" record -q --repeat 5 -o kept.data ./fast >/dev/null
    processor=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
    grep -q "$processor" kept.data.1/events || skip 'this machine does not tell its processor'
    sed -i "s/$processor/Z${processor#?}/" kept.data.?/events
    run -125 "$HEURT" gate kept.data -- ./fast
    [[ $output == *"kept.data.1 ran on another machine (Z"*'; this is '* ]] || fail "$output"
}

@test "what cannot be asked is answered in one sentence" {
    run -125 "$HEURT" gate --against ./fast -- ./fails
    [[ $output == *'./fails ended with status 3'* ]] || fail "$output"
    run -127 "$HEURT" gate --against ./fast -- ./nowhere
    run -125 "$HEURT" gate nowhere.data -- ./fast
    [[ $output == *'no trace at nowhere.data'* ]] || fail "$output"
    run -125 "$HEURT" gate --against ./fast
    [[ $output == *'which program?'* ]] || fail "$output"
    run -125 "$HEURT" gate -- ./fast
    [[ $output == *"'wall > +5 %' is a change: expected one BASELINE, or --against"* ]] || fail "$output"
    run -125 "$HEURT" gate --against ./fast one.data -- ./fast
    [[ $output == *'expected one BASELINE, or --against'* ]] || fail "$output"
    run -125 "$HEURT" gate --fail-if 'class(f).best > 1' -- ./fast
    [[ $output == *'class(NAME).score, .lost or .count'* ]] || fail "$output"
}
