#!/usr/bin/env bats
# heurt explain: every word of a screen, and every category of a finding, is explained.
load ../helpers
bats_require_minimum_version 1.5.0

@test "without a word all are listed; each of them is explained, at any width" {
    local columns word
    LC_ALL=C "$HEURT" explain --width 140 >list
    for word in working waiting lock barrier 'wanted a CPU' idle lost gain score 'critical path' holder spinning \
        sharing imbalance iteration cost confidence; do
        grep -q "^  $word  " list || fail "no $word"
    done
    sed -n 's/^  \([^ ].*[^ ]\)   *[A-Z].*/\1/p' list | grep -v '^heurt' >words
    [ "$(wc -l <words)" -ge 35 ] || fail "$(cat words)"
    while read -r word; do
        for columns in 60 80 100; do
            LC_ALL=C "$HEURT" explain --width "$columns" "$word" >text
            [ "$(head -n 1 text | sed 's/ (in data.*//')" = "$word" ] || fail "$word: $(cat text)"
            grep -q 'how it is measured' text || fail "$word: $(cat text)"
            grep -q 'on a screen' text || fail "$word: $(cat text)"
            ! LC_ALL=C grep -n '[^ -~]' text || fail "$word is not in ASCII"
            awk -v columns="$columns" 'length > columns { exit 1 }' text || fail "$columns: $(cat text)"
        done
    done <words
}

@test "a category of the JSON, another word, several words and large letters find it, too" {
    diff <("$HEURT" explain cpu) <("$HEURT" explain wanted a CPU)
    diff <("$HEURT" explain Mutex) <("$HEURT" explain lock)
    diff <("$HEURT" explain loop) <("$HEURT" explain iteration)
}

@test "what bars and columns of screens are called is explained as it stands there" {
    local words
    sed -n '/^const char \*component__doing/,/^}/s/.*"\([a-z][^"]*\)".*/\1/p' \
        "$HEURT_SOURCE/src/present/report/roles_text.c" >words
    sed -n 's/.*put_bar(&flow, "\([^"]*\)".*/\1/p' "$HEURT_SOURCE/src/present/report/roles_text.c" >>words
    printf '%s\n' 'left out' used lost share gain score contended acquired held 'on path' 'to wake' 'for nobody' \
        spread pressure >>words
    [ "$(wc -l <words)" -ge 25 ] || fail "$(cat words)"
    while read -r words; do
        "$HEURT" explain "$words" >text || fail "$words"
    done <words
}

@test "every category of a finding in the manual is explained" {
    sed -n '/^\*\*findings\*\*/,/^\*\*structure/p' "$HEURT_SOURCE/docs/heurt-report.md" | tr '\n' ' ' | tr -s ' ' |
        sed 's/.*\*\*category\*\* *(\([^)]*\)).*/\1/' | tr ',' '\n' | tr -d '*' | sed 's/^ *//; s/ *$//' >categories
    [ "$(wc -l <categories)" -ge 20 ]
    while read -r word; do
        "$HEURT" explain "$word" >text || fail "$word"
        grep -q 'how it is measured' text || fail "$word"
    done <categories
}

@test "a mistyped word is answered with the nearest one, status 2" {
    run -2 --separate-stderr "$HEURT" explain scroe
    [ -z "$output" ]
    [[ $stderr == "heurt: 'scroe' is no word of a screen; did you mean 'score'?"* ]]
    run -2 "$HEURT" explain nothing_like_it
    [[ $output == *"heurt explain lists them"* ]]
    run -2 "$HEURT" explain --markdown lock
}

@test "the page of words is what the command prints" {
    LC_ALL=C.UTF-8 "$HEURT" explain --markdown | diff - "$HEURT_SOURCE/docs/words.md"
}

@test "heurt help COMMAND is the command's help" {
    local command
    for command in record report explain; do
        diff <("$HEURT" help "$command") <("$HEURT" "$command" --help)
    done
    diff <("$HEURT" help) <("$HEURT" --help)
    run -2 "$HEURT" help reprot
    [[ $output == *"did you mean 'heurt help report'?"* ]]
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset COLUMNS NO_COLOR PAGER
}
