# One slow against one fast occurrence, and the program's iterations: of a program whose iterations
# are known, compared with what heurt dump prints of the same trace.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -o slow -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 1 --iterations 200 --variants --anomalies 8 --seed 7 \
        >slow.out 2>slow.err </dev/null
    "$HEURT" dump -i slow --function 'whole_iteration' | awk '
        { split($1, time, "."); ns = (time[1] % 1000000) * 1000000000 + time[2] }
        / enter / { begin[$2] = ns }
        / leave / { printf "%s %d %.0f %.0f\n", $2, turn[$2]++, begin[$2], ns - begin[$2] }' \
        >iterations
}

slow() {
    printf '%s/slow\n' "$BATS_FILE_TMPDIR"
}

# difference ARG…: heurt diff-occurrence of the trace, as JSON in difference.json.
difference() {
    heurt diff-occurrence -i "$(slow)" --json "$@"
    expect_status 0
    cp .out difference.json
    [ "$(of schema)" = heurt.difference/1 ]
}

of() { # PATH, in difference.json
    "$JSON_GET" difference.json "$1"
}

is() { # NAME FOUND EXPECTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

about() { # NAME FOUND EXPECTED: as far as ticks become ns in two ways
    awk -v found="$2" -v expected="$3" 'BEGIN { exit !(found - expected <= 1 && expected - found <= 1) }' ||
        fail "$1: $2, not $3"
}

# Everything that is promised to.
adds_up() {
    local side
    for side in slow fast; do
        is "components of $side" "$(of "$side.components_ns" | grep -oE -- '-?[0-9]+' | sum)" \
            "$(of $side.duration_ns)"
        is "rows of $side" "$(of "rows[].own_ns.$side" | sum)" "$(of $side.duration_ns)"
    done
    is "difference" "$(of difference_ns)" $(($(of slow.duration_ns) - $(of fast.duration_ns)))
    is "rows" "$(of 'rows[].own_difference_ns' | sum)" "$(of difference_ns)"
}

@test "iterations are the program's, turn by turn" {
    heurt structure -i "$(slow)" --json
    expect_status 0
    cp .out structure.json
    local phase slowest
    phase=$("$JSON_GET" structure.json 'iterations[]' | grep -n '"whole_iteration"' | head -n 1)
    [ -n "$phase" ]
    local at=$((${phase%%:*} - 1))
    is turns "$("$JSON_GET" structure.json "iterations[$at].turns")" 200
    [ "$(wc -l <"$BATS_FILE_TMPDIR/iterations")" = 200 ]
    slowest=$(sort -k4n "$BATS_FILE_TMPDIR/iterations" | tail -n 1)
    read -r tid turn _ took <<<"$slowest"
    about slowest "$("$JSON_GET" structure.json "iterations[$at].max_ns")" "$took"
    about fastest "$("$JSON_GET" structure.json "iterations[$at].min_ns")" \
        "$(sort -k4n "$BATS_FILE_TMPDIR/iterations" | awk 'NR == 1 { print $4 }')"
    # The program made calls slow: the slowest turn stands out, and comes first.
    is "turn of the slowest" "$("$JSON_GET" structure.json "iterations[$at].outliers[0].turn")" "$turn"
    is "tid of the slowest" "$("$JSON_GET" structure.json "iterations[$at].outliers[0].tid")" "$tid"
}

@test "every turn beyond the threshold stands out, no other" {
    heurt structure -i "$(slow)" --json
    cp .out structure.json
    local at threshold expected
    at=$("$JSON_GET" structure.json 'iterations[]' | grep -n '"whole_iteration"' | head -n 1)
    at=$((${at%%:*} - 1))
    threshold=$("$JSON_GET" structure.json "iterations[$at].threshold_ns")
    expected=$(awk -v threshold="$threshold" '$4 > threshold + 1' "$BATS_FILE_TMPDIR/iterations" | wc -l)
    local count
    count=$("$JSON_GET" structure.json "iterations[$at].outlier_count")
    [ "$count" -ge "$expected" ]
    [ "$count" -le "$(awk -v threshold="$threshold" '$4 > threshold - 2' "$BATS_FILE_TMPDIR/iterations" | wc -l)" ]
    [ "$count" -ge 1 ]
}

@test "the slowest turn against the fastest of its thread" {
    difference iteration
    adds_up
    read -r tid turn begin took < <(sort -k4n "$BATS_FILE_TMPDIR/iterations" | tail -n 1)
    is tid "$(of slow.tid)" "$tid"
    is turn "$(of slow.turn)" "$turn"
    is "tid of the fast one" "$(of fast.tid)" "$tid"
    about slow "$(of slow.duration_ns)" "$took"
    about fast "$(of fast.duration_ns)" \
        "$(grep "^$tid " "$BATS_FILE_TMPDIR/iterations" | sort -k4n | awk 'NR == 1 { print $4 }')"
}

@test "calls of a function: the slowest, the third slowest, the one at a time" {
    difference whole_iteration
    adds_up
    is count "$(of count)" 200
    local slowest third
    slowest=$(of slow.duration_ns)
    is slowest "$slowest" "$(of max_ns)"
    is fastest "$(of fast.duration_ns)" "$(of min_ns)"
    difference --slow 3 --fast 2 whole_iteration
    adds_up
    third=$(of slow.duration_ns)
    [ "$third" -le "$slowest" ]
    [ "$(of fast.duration_ns)" -ge "$(of min_ns)" ]
    # In the middle of that one it is found again, if no longer one was going on then.
    difference --at "$(($(of slow.start_ns) + third / 2))ns" --median whole_iteration
    adds_up
    [ "$(of slow.duration_ns)" -ge "$third" ]
}

@test "the number of a class is that of the report" {
    "$HEURT" report -i "$(slow)" --json >report.json
    local rank compared=0
    for rank in {1..40}; do
        # Page faults are told in sum: none of them is kept alone.
        [ "$(json "classes[$((rank - 1))].kind")" != "page fault" ] || continue
        difference "$rank"
        adds_up
        is "class $rank" "$(of of.function)" "$(json "classes[$((rank - 1))].function")"
        is "count of $rank" "$(of count)" "$(json "classes[$((rank - 1))].count")"
        [ $((++compared)) -lt 3 ] || break
    done
    is compared "$compared" 3
}

@test "classes by structure: both are of the same one" {
    "$HEURT" record --quiet --overhead none -o divided -f '*' "$PROGRAMS/classes_known" >/dev/null 2>&1 </dev/null
    "$HEURT" report -i divided --json >report.json
    local rank structured=0
    for rank in $(json 'classes[].rank'); do
        [ "$(json "classes[$((rank - 1))].count")" -ge 2 ] || continue
        heurt diff-occurrence -i divided --json "$rank"
        # Many quiet locks are one class, of which none can be looked at alone.
        [ "$status" -eq 0 ] || { says "looked at alone"; continue; }
        cp .out difference.json
        adds_up
        is "slowest of $rank" "$(of slow.duration_ns)" "$(json "classes[$((rank - 1))].max_ns")"
        is "fastest of $rank" "$(of fast.duration_ns)" "$(json "classes[$((rank - 1))].min_ns")"
        structured=$((structured + 1))
    done
    [ "$structured" -ge 3 ]
}

@test "the screen has both, and the parts" {
    heurt diff-occurrence -i "$(slow)" iteration
    expect_status 0
    grep -q '^iterations.*whole_iteration' <<<"$output"
    grep -Eq '^  slow  .* iteration [0-9]+, thread' <<<"$output"
    grep -Eq '^ +component +slow +fast +difference' <<<"$output"
    grep -Eq 'own time of' <<<"$output"
    [ "$(grep -c 'in all' <<<"$output")" -eq 2 ]
}

@test "what cannot be compared is told" {
    heurt diff-occurrence -i "$(slow)" 999
    expect_status 2
    says "no class 999: heurt report numbers"
    heurt diff-occurrence -i "$(slow)" no_such_function
    expect_status 2
    says "no class of this run is named 'no_such_function'"
    heurt diff-occurrence -i "$(slow)" --slow 201 whole_iteration
    expect_status 2
    says "200 times, so there is no 201"
    heurt diff-occurrence -i "$(slow)" --at 3600s whole_iteration
    expect_status 2
    says "at that time"
    heurt diff-occurrence -i "$(slow)" iteration:99
    expect_status 2
    says "no phase 99"
    heurt diff-occurrence -i nowhere 1
    expect_status 125
    says "no trace at nowhere"
}

@test "wrong usage" {
    local wrong
    for wrong in "" "1 2" "--slow 0 1" "--slow x 1" "--fast 0 1" "--at soon 1" "--slow 2 --at 1s 1" \
        "--fast 2 --median 1" "--class shape 1" "--csv 1"; do
        # shellcheck disable=SC2086
        heurt diff-occurrence -i "$(slow)" $wrong
        [ "$status" -eq 2 ] || fail "'$wrong': status $status"
        grep -q '^usage: heurt report' <<<"$stderr" || fail "'$wrong': no usage"
    done
}

@test "an aggregated run keeps no single occurrences" {
    "$HEURT" record --quiet --aggregate -o sums -f 'whole_*' "$PROGRAMS/structure_known" \
        --iterations 20 >/dev/null 2>&1 </dev/null
    local class
    for class in 1 iteration; do
        heurt diff-occurrence -i sums $class
        expect_status 125
        says "aggregate"
    done
}

@test "a class that occurred once" {
    "$HEURT" record --quiet --overhead none -o once -f step_norm "$PROGRAMS/structure_known" \
        --threads 1 --iterations 1 >/dev/null 2>&1 </dev/null
    heurt diff-occurrence -i once step_norm
    expect_status 2
    says "occurred once"
    heurt diff-occurrence -i once iteration
    expect_status 2
    says "no thread of this run has iterations"
}
