#!/usr/bin/env bats
# The options of all commands: what --help, the manual and the shells say of them is one list, and what is
# mistyped is answered with the nearest right word.
load ../helpers
bats_require_minimum_version 1.5.0

COMMANDS='record report view locks openmp mpi analyse merge ctl place structure whatif tables compare gate scale induce stat hot dump export import check explain'

long_options() { # COMMAND: those of its --help
    "$HEURT" "$1" --help | sed -n '4,$s/^  \(-., \)\{0,1\}--\([a-z0-9-]*\).*/\2/p' | sort -u
}

@test "the manual's synopsis is the usage, and every option stands in the manual" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        page=$HEURT_SOURCE/docs/heurt-$command.md
        "$HEURT" "$command" --help | sed '/^$/,$d; s/^usage: //; s/…/.../g' | xargs >usage
        sed -n '/^# SYNOPSIS/,/^# [^S]/{/^#/d; s/[*\\]//g; p}' "$page" | xargs |
            sed 's/| /|/g' | diff usage - ||
            fail "the usage of $command, and its SYNOPSIS"
        sed -n 's/\\//g; /^# OPTIONS/,/^# [^O]/p' "$page" >options
        for option in $(long_options "$command"); do
            grep -q -e "^\*\*.*--$option\*\*" options || fail "no --$option in the OPTIONS of $page"
        done
        [ "$(long_options "$command" | wc -l)" -gt 0 ] || fail "$command has no options"
    done
}

@test "every option of the manual is one" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        long_options "$command" >known
        for option in $(sed -n 's/\\//g; /^# OPTIONS/,/^# [^O]/s/^\(\*\*-.*\)$/\1/p' \
            "$HEURT_SOURCE/docs/heurt-$command.md" | grep -o -e '--[a-z0-9-]*'); do
            [ "$option" = --help ] || grep -qx -e "${option#--}" known ||
                fail "the manual of $command has $option, which --help does not know"
        done
    done
}

@test "bash completes the options of each command, and no others" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        bash --norc -c 'source "$1" && _heurt_options "$2"' bash "$HEURT_SOURCE/completions/heurt.bash" "$command" |
            tr ' ' '\n' | sed -n 's/^--//p' | grep -vx help | sort -u >completed
        long_options "$command" | diff - completed || fail "of $command"
    done
}

fish_options() { # COMMAND
    local name=in_$1
    [ "$1" = record ] && name=__heurt_records
    grep -e " -n \"*\$*$name\"* " "$HEURT_SOURCE/completions/heurt.fish" | grep -o -e ' -l [a-z0-9-]*' | cut -c5-
}

zsh_options() { # COMMAND: of record an array, else from "COMMAND)" to ";;"
    local block="/^    $1)/,/;;/p"
    [ "$1" = record ] && block='/^_heurt_record_options=/,/^)/p'
    sed -n "$block" "$HEURT_SOURCE/completions/_heurt" | grep -o -e '--[a-z0-9-]*[[}]' | tr -d '[}' | cut -c3- |
        grep -vx help
}

@test "fish and zsh complete the options of each command, and no others" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        long_options "$command" >options
        fish_options "$command" | sort -u | diff options - || fail "fish: of $command"
        zsh_options "$command" | sort -u | diff options - || fail "zsh: of $command"
    done
}

@test "what is said of a command's letters is one list, too" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        "$HEURT" "$command" --help | sed -n 's/^  -\(.\), --.*/-\1/p' | sort >letters
        bash --norc -c 'source "$1" && _heurt_options "$2"' bash "$HEURT_SOURCE/completions/heurt.bash" "$command" |
            tr ' ' '\n' | grep -x -e '-.' | sort | diff letters - || fail "bash: of $command"
    done
}

says() { # STATUS PART WORD…
    run -"$1" "$HEURT" "${@:3}"
    [[ $output == *"$2"* ]] || fail "$output"
}

@test "a mistyped option is answered with the nearest one" {
    says 2 "'--treshold' is no option of report; did you mean '--threshold'?" report --treshold 1
    says 2 "'--jsno' is no option of locks; did you mean '--json'?" locks --jsno
    says 2 "'--foramt=csv' is no option of tables; did you mean '--format'?" tables --foramt=csv
    says 2 "'--frobnicate' is no option of dump" dump --frobnicate
    [[ $output != *"did you mean"* ]]
    says 2 "'--threshold' lacks its value: X" report --threshold
    says 2 "'--json=1': it takes no value" report --json=1
    says 2 "'-z' is no option of export" export -z
    says 2 "'--frobnicate' is no option of record" record --frobnicate true
    says 2 "'--quite' is no option of record; did you mean '--quiet'?" record --quite true
    says 2 "'--frequenzy=9' is no option of hot; did you mean '--frequency'?" hot --frequenzy=9 true
    says 2 "'--jason' is no option of check; did you mean '--json'?" check --jason
    says 2 "'-z' is no option of record" record -qz true
    says 2 "'--max-size' lacks its value: SIZE" record --max-size
    [[ $output != *and-report* ]] || fail "the house's own option is shown"
}

@test "a mistyped value is answered with the nearest one; what excludes each other is said so" {
    says 2 "--class: expected site or structure, found 'strucutre'; did you mean 'structure'?" whatif --class strucutre
    says 2 "--depth: expected how many levels to show, from 1 to 200, found '201'" structure --depth 201
    says 2 "--stack-bytes: expected bytes from 0 to 8192, found '-1'" record --stack-bytes -1 true
    says 2 "--slow and --at exclude each other" report 1 --compare --slow 2 --at 1s
    says 2 "--raw and --json exclude each other" dump --raw --json
    says 2 "--depth and --grammar exclude each other" structure --depth 1 --grammar
    says 2 "expected options only, found '1'" export 1
}

@test "a mistyped command is answered with the nearest one; a program is recorded all the same" {
    cd "$BATS_TEST_TMPDIR"
    says 127 "did you mean 'heurt report'?" reprot
    says 127 "did you mean 'heurt whatif'?" what-if
    says 127 "did you mean 'heurt report'?" repot
    printf '#!/bin/sh\necho it ran\n' >reprot
    chmod +x reprot
    PATH=$PATH:. says 0 "it ran" reprot
    [[ $output == *"'reprot' is no command of heurt's ('report' is): recording the program ./reprot"* ]]
    says 0 "it ran" ./reprot
    [[ $output != *"is no command"* ]]
}

@test "words that sound like commands never run programs of that name" {
    cd "$BATS_TEST_TMPDIR"
    printf '#!/bin/sh\necho it ran\n' >top
    chmod +x top
    PATH=$PWD:$PATH says 2 "did you mean 'heurt report'? A program of that name: heurt -- top" top
    says 2 "did you mean 'heurt whatif'?" replay a b
    PATH=$PWD:$PATH says 0 "it ran" -- top
}

@test "a mistyped function is answered with the nearest one" {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" record --quiet --overhead none -f 'whole_*' "$PROGRAMS/structure_known" --iterations 20 >out 2>&1 </dev/null
    "$HEURT" report whole_iteration | grep -q '^class [0-9]*: whole_iteration'
    says 2 "no class of this run is named 'whole_iteratoin'; did you mean 'whole_iteration'?" report whole_iteratoin
    says 2 "did you mean 'whole_iteration'?" diff-occurrence whole_iteratoin
    says 2 "did you mean 'whole_iteration'?" whatif --remove whole_iteratoin
    says 2 "no class of this run is named 'nothing_like_it': heurt report" report nothing_like_it
    says 2 "number or the name structure_knwon; did you mean 'structure_known'?" structure --thread structure_knwon
    says 0 "nothing was instrumented for 'whole_iteratoin': no function of this name; did you mean 'whole_iteration'?" \
        record --quiet -f whole_iteratoin "$PROGRAMS/structure_known" --iterations 2
    says 0 "nothing was instrumented for 'wait::fast(Queue)': no function of this name" \
        record --quiet -f 'wait::fast(Queue)' "$PROGRAMS/structure_known" --iterations 2
    [[ $output != *"did you mean"* ]]
}

@test "what a trace does not have is answered with the nearest that it has" {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" record --quiet --overhead none "$PROGRAMS/locks_known" >out 2>&1 </dev/null
    says 2 "no lock of this trace has the name semahpore; did you mean 'semaphore'?" locks --lock semahpore
    says 2 "no lock of this trace has the name nothing_like_it; heurt locks" locks --lock nothing_like_it
    says 0 "a function lock_and_unlokc; did you mean 'lock_and_unlock'?" locks --site lock_and_unlokc
    says 0 "--ignore: no class of this run is named 'pthread_spin_lokc'; did you mean 'pthread_spin_lock'?" \
        report --ignore pthread_spin_lokc
    says 0 "--key: no class of this run is named 'nothing_like_it'" report --key nothing_like_it=arg1
    [[ $output != *"did you mean"* ]]
    says 0 "heurt.data/rules has no rule for 'nothing_liek_it'; did you mean 'nothing_like_it'?" \
        report --forget nothing_liek_it
    says 0 "" report --forget nothing_like_it --ignore pthread_spin_lock
    [[ $output != *"is named"* && $output != *"has no rule"* ]]
}

@test "an older verb stands for what is written in its place" {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" record --quiet --overhead none "$EXAMPLES/queue" --threads 2 >out </dev/null
    "$HEURT" diff-occurrence pthread_mutex_lock --slow 2 --json >other
    "$HEURT" report pthread_mutex_lock --compare --slow 2 --json | cmp - other
    "$HEURT" report --compare pthread_mutex_lock >/dev/null
    says 2 "go with --compare" report 1 --slow 2
    diff <("$HEURT" dump) <("$HEURT" export --text)
    diff <("$HEURT" dump --raw) <("$HEURT" export --raw)
    "$HEURT" dump --raw | grep -qx '[0-9]* #[0-9]* [0-9]*\( 0x[0-9a-f]*\)*' || fail "no such line"
}
