# heurt export: the events for other tools, all of them or those that stand out.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -o t -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 2 --iterations 300 --anomalies 8 --seed 7 \
        >out </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$BATS_FILE_TMPDIR/t" heurt.data
}

json_lines() { # FILE: every line is an object
    if command -v jq >/dev/null; then
        jq -e -c . "$1" >/dev/null
    else
        ! grep -vqE '^\{.*\}$' "$1"
    fi
}

@test "as text it is what heurt dump prints" {
    "$HEURT" dump >dump
    "$HEURT" export >default
    "$HEURT" export --text -o text
    [ "$(wc -l <dump)" -gt 10000 ]
    cmp dump default
    cmp dump text
}

@test "JSON: threads first, then the events" {
    "$HEURT" dump --json | tail -n +2 >dump
    "$HEURT" export --json >lines
    json_lines lines
    head -n 1 lines | grep -q '"schema":"heurt.export\\\?/1"'
    [ "$(grep -c '"what":"thread"' lines)" -ge 3 ]
    tail -n +2 lines | grep -v '"what":"thread"' | cmp dump -
}

@test "CSV: a row for each event" {
    "$HEURT" dump >dump
    "$HEURT" export --csv >rows
    [ "$(head -n 1 rows)" = ns,tid,serial,thread,what,depth,name,detail,fields,until_ns,events ]
    [ "$(tail -n +2 rows | wc -l)" -eq "$(wc -l <dump)" ]
    [ "$(grep -c ',leave,' rows)" -eq "$(awk '$4 == "leave"' dump | wc -l)" ]
    awk -F, '$5 != "point" && NF < 11 { print; exit 1 }' rows
}

@test "filters: thread and time" {
    local thread
    thread=$("$HEURT" export | awk '$5 == "whole_iteration" { print $2; exit }')
    "$HEURT" export --thread "$thread" >of_thread
    [ -s of_thread ]
    awk -v thread="$thread" '$2 != thread { exit 1 }' of_thread
    "$HEURT" export --to 0 >before
    awk '$1 > 0 { exit 1 }' before
    status=0
    "$HEURT" export --thread nobody >nobody 2>said || status=$?
    [ "$status" = 2 ] && [ ! -s nobody ]
    grep -q 'no thread' said
}

# enters TID FUNCTION OCCURRENCE: the time at which the thread's occurrence, from 0, begins.
enter_time() {
    awk -v tid="$1" -v name="$2" -v left="$3" \
        '$2 == tid && $4 == "enter" && $5 == name && !left-- { print $1; exit }' dump
}

@test "what was made long is left, and nearly nothing else" {
    local line tid function occurrence time all left found=0
    heurt export --interesting
    expect_status 0
    says 'events are left'
    printf '%s\n' "$output" >left
    "$HEURT" dump >dump
    while read -r line; do
        eval "$(grep -oE '(tid|function|occurrence)=[^ ]+' <<<"$line")"
        time=$(enter_time "$tid" "$function" "$occurrence")
        [ -n "$time" ] || fail "no such occurrence: $line"
        awk -v tid="$tid" -v time="$time" '$1 == time && $2 == tid && $4 == "enter" { exit 1 }' left &&
            fail "not there: $line, at $time"
        found=$((found + 1))
    done < <(grep '^anomaly=' "$BATS_FILE_TMPDIR/out")
    [ "$found" -eq 8 ]
    all=$(wc -l <dump)
    left=$(awk '$4 != "gap"' left | wc -l)
    [ $((left * 20)) -le "$all" ] || fail "$left of $all events are left"
}

@test "gaps and what is left are all there was, and enters have their leaves" {
    local all
    all=$("$HEURT" dump | wc -l)
    "$HEURT" export --interesting >left
    awk -v all="$all" '$4 == "gap" { sum += $6; next } { sum++ }
        END { if (sum != all) { print sum, all; exit 1 } }' left
    awk '$4 == "enter" { open[$2]++ }
        $4 == "leave" && !open[$2]-- { print "no enter:", $0; exit 1 }
        END { for (tid in open) if (open[tid]) exit 1 }' left
    "$HEURT" export --interesting --json >lines
    json_lines lines
    [ "$(grep -c '"what":"gap"' lines)" -eq "$(awk '$4 == "gap"' left | wc -l)" ]
    "$HEURT" export --interesting --csv >rows
    [ "$(grep -c ',gap,' rows)" -eq "$(awk '$4 == "gap"' left | wc -l)" ]
}

@test "wrong usage: 2; no trace, nothing to write to, a full disk: 125" {
    heurt export --no-such-option
    expect_status 2
    heurt export --json --csv
    expect_status 2
    heurt export --from later
    expect_status 2
    heurt export -i missing
    expect_status 125
    says missing
    heurt export -o missing/file
    expect_status 125
    says missing/file
    heurt export --csv -o /dev/full
    expect_status 125
    says 'could not be written'
    status=0
    "$HEURT" export >/dev/full 2>said || status=$?
    expect_status 125
    grep -q 'could not be written' said
}

@test "a run without events has nothing that stands out" {
    "$HEURT" record --quiet --aggregate -o a "$PROGRAMS/structure_known" --iterations 2 >/dev/null
    heurt export -i a --interesting
    expect_status 125
    says 'record it without'
}

@test "a reader that goes away ends it" {
    run bash -c 'timeout 20 "$1" export --json | head -n 1; echo "${PIPESTATUS[0]}"' bash "$HEURT"
    expect_status 0
    [ "${#lines[@]}" -eq 2 ] || fail "more than a line of the export and its exit status"
    [ "${lines[1]}" = 0 ] || fail "ended with ${lines[1]}"
}

# interval TID FUNCTION OCCURRENCE: begin and end in ns of the thread's occurrence, from 0.
interval() {
    awk -v tid="$1" -v name="$2" -v left="$3" '
        $2 == tid && $5 == name && ($4 == "enter" ? !left-- : begin) {
            split($1, t, "."); ns = t[1] * 1000000000 + t[2]
            if ($4 == "leave") { printf "%.0f %.0f\n", begin, ns; exit }
            begin = ns }' dump
}

@test "heurt structure lists what was made long: where, when, what it lost" {
    local line tid function occurrence begin end found=0
    "$HEURT" dump >dump
    "$HEURT" structure --interesting --csv >rows
    while read -r line; do
        eval "$(grep -oE '(tid|function|occurrence)=[^ ]+' <<<"$line")"
        read -r begin end < <(interval "$tid" "$function" "$occurrence")
        awk -F, -v tid="$tid" -v name="$function" -v begin="$begin" -v end="$end" '
            $2 == tid && $4 >= begin && $4 < end && index($8, name) && $7 * 2 > end - begin { n++ }
            END { exit !n }' rows || fail "not there: $line, $begin to $end"
        found=$((found + 1))
    done < <(grep '^anomaly=' "$BATS_FILE_TMPDIR/out")
    [ "$found" -eq 8 ]
    # What a point took is more than is usual by what it lost, and its parts add up to it.
    awk -F, 'NR > 1 && $1 == "long" && ($5 - $6 - $7 > 2 || $7 - $5 + $6 > 2) { print; exit 1 }' rows
    awk -F, 'NR > 1 { sum = 0; for (i = 11; i <= NF; i++) sum += $i
        if (sum > $5 || $5 - sum > NF) { print sum, $0; exit 1 } }' rows
}

@test "heurt structure --interesting: a screen, JSON, one thread" {
    local tid
    heurt structure --interesting
    expect_status 0
    grep -q 'outliers lost' <<<"$output"
    grep -q 'whole_iteration' <<<"$output"
    "$HEURT" structure --interesting --csv >rows
    "$HEURT" structure --interesting --json >report.json
    [ "$(json schema)" = heurt.points/1 ]
    [ "$(json "points[0].lost_ns")" = "$(sed -n 2p rows | cut -d, -f7)" ]
    [ "$(json "points[0].tid")" = "$(sed -n 2p rows | cut -d, -f2)" ]
    tid=$(sed -n 2p rows | cut -d, -f2)
    "$HEURT" structure --interesting --csv --thread "$tid" >of_thread
    awk -F, -v tid="$tid" 'NR > 1 && $2 != tid { exit 1 }' of_thread
    cmp <(awk -F, -v tid="$tid" '$2 == tid' rows) <(tail -n +2 of_thread)
    heurt structure --interesting --thread nobody
    expect_status 2
    heurt structure --interesting --depth 2
    expect_status 2
}
