#!/usr/bin/env bats
# The options of all commands: what --help, the manual and the shells say of them is one list, and what is
# mistyped is answered with the nearest right word.
load ../helpers
bats_require_minimum_version 1.5.0

COMMANDS='record report locks structure diff-occurrence whatif tables hot dump export check'

long_options() { # COMMAND: those of its --help
    "$HEURT" "$1" --help | sed -n '4,$s/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' | sort -u
}

@test "every option stands in the manual" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        page=$HEURT_SOURCE/docs/heurt-$command.md
        sed 's/\\//g' "$page" >page
        sed -n '/^# OPTIONS/,/^# [^O]/p' page >options
        for option in $(long_options "$command"); do
            grep -q -e "^\*\*.*--$option\*\*" options || fail "no --$option in the OPTIONS of $page"
        done
        usage=$("$HEURT" "$command" --help | sed -n 1p)
        synopsis=$(sed -n '/^# SYNOPSIS/,/^# [^S]/p' page)
        for option in $(grep -o -e '--[a-z-]*' <<<"$synopsis"); do
            [[ $usage == *"$option"* ]] || fail "the SYNOPSIS of $command has $option, its usage has not"
        done
        for option in $(grep -o -e '--[a-z-]*' <<<"$usage"); do
            [[ $synopsis == *'[*option*]'* ]] ||
                [[ $synopsis == *"$option"* ]] || fail "the usage of $command has $option, its SYNOPSIS has not"
        done
        [ "$(long_options "$command" | wc -l)" -gt 0 ] || fail "$command has no options"
    done
}

@test "every option of the manual is one" {
    cd "$BATS_TEST_TMPDIR"
    for command in $COMMANDS; do
        long_options "$command" >known
        for option in $(sed -n 's/\\//g; /^# OPTIONS/,/^# [^O]/s/^\(\*\*-.*\)$/\1/p' \
            "$HEURT_SOURCE/docs/heurt-$command.md" | grep -o -e '--[a-z-]*'); do
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

@test "fish and zsh complete them, too" {
    for command in $COMMANDS; do
        for option in $(long_options "$command"); do
            grep -q -e "-l $option " "$HEURT_SOURCE/completions/heurt.fish" || fail "fish: no --$option of $command"
            grep -q -e "--$option" "$HEURT_SOURCE/completions/_heurt" || fail "zsh: no --$option of $command"
        done
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
}

@test "a mistyped command is answered with the nearest one; a program is recorded all the same" {
    cd "$BATS_TEST_TMPDIR"
    says 127 "did you mean 'heurt report'?" reprot
    says 127 "did you mean 'heurt whatif'?" what-if
    printf '#!/bin/sh\necho it ran\n' >reprot
    chmod +x reprot
    PATH=$PATH:. says 0 "it ran" reprot
    says 0 "it ran" ./reprot
}

@test "heurt report --compare is heurt diff-occurrence" {
    cd "$BATS_TEST_TMPDIR"
    "$HEURT" record --quiet --overhead none "$EXAMPLES/queue" >out </dev/null
    "$HEURT" diff-occurrence 1 --slow 2 --json >other
    "$HEURT" report 1 --compare --slow 2 --json | cmp - other
    "$HEURT" report --compare pthread_mutex_lock >/dev/null
    says 2 "go with --compare" report 1 --slow 2
}
