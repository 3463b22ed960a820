# What the shells offer for heurt's command line.
bats_require_minimum_version 1.5.0

completions=$HEURT_SOURCE/completions

complete_line() { # WORD…, the last one is being typed: the candidates, one a line
    bash --norc --noprofile -c '
        source "$1" && shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _heurt heurt
        printf "%s\n" "${COMPREPLY[@]}"' bash "$completions/heurt.bash" "$@"
}

has() { # CANDIDATE: it is among the lines of $output
    grep -qxF -- "$1" <<<"$output" || { echo "no $1 in: $output"; return 1; }
}

has_not() {
    ! grep -qxF -- "$1" <<<"$output" || { echo "$1 in: $output"; return 1; }
}

@test "bash: the commands, and programs to record" {
    run complete_line heurt rep # and whatever programs there are that begin so
    has report
    has_not record
    run complete_line heurt re
    has record
    has report
    run complete_line heurt bas
    has bash
}

@test "bash: the options of each command" {
    run complete_line heurt record --sta
    has --stack-every
    has --stack-bytes
    run complete_line heurt --max
    has --max-size
    run complete_line heurt report --
    has --json
    has --ignore
    has_not --max-size
    run complete_line heurt dump -
    has -i
    has --json
    has_not --csv
}

@test "bash: the value of an option" {
    cd "$BATS_TEST_TMPDIR"
    mkdir runs.data
    touch runs.txt
    run complete_line heurt report -i ru
    [ "$output" = runs.data ]
    run complete_line heurt record -F ru
    has runs.txt
    run complete_line heurt record --max-size 1
    has 1G
}

@test "bash: the program, and after it its own arguments" {
    cd "$BATS_TEST_TMPDIR"
    touch input.txt
    run complete_line heurt record -o trace -f 'x*' -- bas
    has bash
    run complete_line heurt record cat inp
    [ "$output" = input.txt ]
    run complete_line heurt cat --max
    has_not --max-size
    run complete_line heurt -f report ca
    has cat
}

@test "bash: a program's own completion is asked when there is one" {
    run bash --norc --noprofile -c '
        source "$1"
        _command_offset() { COMPREPLY=("offset $1"); }
        COMP_WORDS=(heurt record -o x -- cat in) COMP_CWORD=6
        _heurt heurt
        printf "%s\n" "${COMPREPLY[@]}"' bash "$completions/heurt.bash"
    [ "$output" = "offset 5" ]
}

fail() {
    echo "$*"
    return 1
}

@test "zsh reads its completion" {
    command -v zsh >/dev/null || skip "zsh is not installed"
    zsh -n "$completions/_heurt"
    run zsh -fc 'autoload -U compinit && compinit -u -D && fpath=($1 $fpath) && autoload -U _heurt &&
        compdef _heurt heurt && whence -v _heurt' zsh "$completions"
    [ "$status" -eq 0 ]
}

@test "fish reads its completion" {
    command -v fish >/dev/null || skip "fish is not installed"
    fish --no-config --no-execute "$completions/heurt.fish"
    run fish --no-config -c "source $completions/heurt.fish; complete -C 'heurt rep'"
    grep -q '^report' <<<"$output"
    run fish --no-config -c "source $completions/heurt.fish; complete -C 'heurt record --max'"
    [[ $output == --max-size* ]]
    run fish --no-config -c "source $completions/heurt.fish; complete -C 'heurt record -o x ca'"
    grep -q '^cat' <<<"$output"
}
