# heurt report --class: by what a call does inside, or by its site alone.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o t -f handle -f parse -f look_up -f store \
        "$PROGRAMS/classes_known" 1000 >printed 2>err </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$BATS_FILE_TMPDIR/t" heurt.data
}

printed() { # KEY: what the program says of itself
    awk -v key="$1" '$1 == key { print $2 }' "$BATS_FILE_TMPDIR/printed"
}

# report_by VIEW: its report is in report.json.
report_by() {
    heurt report --json --class "$1"
    expect_status 0
    printf '%s\n' "$output" >report.json
    [ "$(json classes_by)" = "$1" ]
}

# class_that_calls FUNCTION: the rank of the class of handle that calls it.
class_that_calls() {
    local rank
    for rank in $(json 'classes[function=handle].rank'); do
        ! json "classes[rank=$rank].structure.inside[function=$1].function" >/dev/null 2>&1 ||
            echo "$rank"
    done
}

@test "requests of two sorts are two classes, and by site they are one" {
    report_by structure
    [ "$(json 'classes[function=handle].count' | wc -l)" = 2 ]
    local looks stores
    looks=$(class_that_calls look_up) stores=$(class_that_calls store)
    [ "$(json "classes[rank=$looks].count")" = "$(printed look_up)" ]
    [ "$(json "classes[rank=$stores].count")" = "$(printed store)" ]
    is_number_above "$(json "classes[rank=$looks].min_ns")" "$(json "classes[rank=$stores].min_ns")"
    report_by site
    [ "$(json 'classes[function=handle].count')" = $(($(printed look_up) + $(printed store))) ]
    [ "$(json 'classes[function=handle].structure')" = null ]
}

@test "structure is the default" {
    heurt report --json
    local by_default=$output
    heurt report --json --class structure
    [ "$by_default" = "$output" ]
}

@test "where nothing is nested both views are one" {
    record --quiet -o flat --no-choice -f look_up "$PROGRAMS/classes_known" 500
    expect_status 0
    local view
    for view in site structure; do
        "$HEURT" report -i flat --json --class "$view" | grep -v '"classes_by"' >"$view.json"
        "$HEURT" report -i flat --csv --class "$view" >"$view.csv"
    done
    [ "$("$JSON_GET" site.json 'classes[function=look_up].count')" = 500 ]
    diff site.json structure.json
    diff site.csv structure.csv
}

@test "how often something is repeated is told and makes no class" {
    report_by structure
    local stores
    stores=$(class_that_calls store)
    [ "$(json "classes[rank=$stores].structure.inside[function=store].least")" = 1 ]
    [ "$(json "classes[rank=$stores].structure.inside[function=store].most")" = 8 ]
    [ "$(json "classes[rank=$stores].structure.inside[function=parse].most")" = 1 ]
}

@test "both views agree on counts and sums of every function, and both add up" {
    local view function
    for view in site structure; do
        report_by "$view"
        for function in handle parse look_up store; do
            echo "$function $(json "classes[function=$function].count" | sum)"
        done >"$view.counts"
        json audit.exclusive_sum_ticks >>"$view.counts"
        json audit.covered_ticks >>"$view.counts"
        heurt report --audit --class "$view"
        expect_status 0
    done
    diff site.counts structure.counts
}

@test "the first screen tells the classes of one function apart" {
    heurt report --threshold 0
    expect_status 0
    grep -Eq 'handle \(parse, look_up\)' <<<"$output"
    grep -Eq 'handle \(parse, store x1\.\.8\)' <<<"$output"
    heurt report --threshold 0 --class site
    ! grep -q 'handle (' <<<"$output"
}

@test "one class in depth shows what it calls" {
    report_by structure
    heurt report --classes "$(class_that_calls store)"
    expect_status 0
    grep -q 'what it calls' <<<"$output"
    grep -Eq '^ +store +x1\.\.8$' <<<"$output"
    grep -Eq '^ +pthread_mutex_lock$' <<<"$output"
}

@test "a prediction has the report's numbers, in the same view" {
    report_by structure
    local looks stores
    looks=$(class_that_calls look_up) stores=$(class_that_calls store)
    heurt whatif --json "$stores"
    expect_status 0
    [ "$("$JSON_GET" - 'answers[0].lost_ns' <<<"$output")" = "$(json "classes[rank=$stores].excess_ns")" ]
    [ "$("$JSON_GET" - 'answers[0].structure' <<<"$output")" = "$(json "classes[rank=$stores].structure.text")" ]
    heurt whatif --json --all
    expect_status 0
    for rank in "$looks" "$stores"; do
        [ "$("$JSON_GET" - "answers[rank=$rank].lost_ns" <<<"$output")" = "$(json "classes[rank=$rank].excess_ns")" ]
        is_number_above 0 "$("$JSON_GET" - "answers[rank=$rank].prediction.wall_ns" <<<"$output")"
    done
    report_by site
    local rank
    rank=$(json 'classes[function=handle].rank')
    heurt whatif --json --class site "$rank"
    expect_status 0
    [ "$("$JSON_GET" - 'answers[0].lost_ns' <<<"$output")" = "$(json "classes[rank=$rank].excess_ns")" ]
}

@test "a run without a trace knows sites only, and says so when it is asked for more" {
    record --quiet --aggregate -o a -f handle -f parse -f look_up -f store "$PROGRAMS/classes_known" 1000
    expect_status 0
    heurt report -i a --json --class structure
    expect_status 0
    says 'classes are by site'
    printf '%s\n' "$output" >report.json
    [ "$(json classes_by)" = site ]
    [ "$(json 'classes[function=handle].count')" = 2000 ]
    heurt report -i a --json
    expect_status 0
    [ -z "$stderr" ]
}

@test "another view is wrong usage" {
    heurt report --class thread
    expect_status 2
    says "site or structure, found 'thread'"
    heurt whatif --class thread
    expect_status 2
}
