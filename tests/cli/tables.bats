#!/usr/bin/env bats
# heurt tables: any table of any analysis, in any format.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -o t -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 2 --iterations 300 --anomalies 8 --seed 7 \
        >out </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$BATS_FILE_TMPDIR/t" heurt.data
}

names() { # of all tables, a line each
    "$HEURT" tables --format csv | tail -n +2 | cut -d, -f1 | uniq
}

@test "all tables are listed, without a trace, with units and help" {
    rm heurt.data
    "$HEURT" tables >list
    for table in classes class_threads threads locks lock_sites lock_waits path iterations structure whatif; do
        grep -q "^$table: " list || fail "$table is not listed"
    done
    grep -Eq '^  excess_ns +ns +what they took longer' list
    "$HEURT" tables --format csv --where table=locks --where column=wait_ns >one
    [ "$(wc -l <one)" = 2 ]
    grep -q '^locks,wait_ns,ns,' one
}

@test "every table is printed in every format" {
    readarray -t all < <(names)
    for format in text csv json latex markdown; do
        "$HEURT" tables --format "$format" "${all[@]}" >out 2>err || fail "$format: $(cat err)"
        [ ! -s err ] || fail "$format says $(cat err)"
        case $format in
        text) found=$(grep -c '^[a-z_]*: ' out) ;;
        csv) found=$(($(grep -c '^$' out) + 1)) ;;
        json) found=$(grep -c '"rows": \[' out) ;;
        latex) found=$(grep -c 'end{tabular}' out) ;;
        markdown) found=$(grep -c '^\*\*' out) ;;
        esac
        [ "$found" = "${#all[@]}" ] || fail "$format has $found tables"
    done
    [ "${#all[@]}" -ge 15 ]
}

@test "JSON, CSV and the other commands' CSV say the same" {
    "$HEURT" tables --format csv classes >tables
    "$HEURT" report --csv >report
    # Gains are predictions; all else is equal.
    cmp tables report
    "$HEURT" tables --format csv locks | cmp - <("$HEURT" locks --csv)
    "$HEURT" tables --format csv path | cmp - <("$HEURT" locks --path --csv)
    "$HEURT" tables --format json classes:rank,excess_ns >json
    [ "$("$JSON_GET" json schema)" = heurt.tables/1 ]
    [ "$("$JSON_GET" json tables[0].name)" = classes ]
    [ "$("$JSON_GET" json tables[0].columns[1].unit)" = ns ]
    [ "$("$JSON_GET" json tables[0].rows[0].excess_ns)" = "$(sed -n 2p <("$HEURT" tables --format csv classes:excess_ns))" ]
}

@test "the table of findings is what the first screen and its JSON say" {
    "$HEURT" record --quiet -o queue "$EXAMPLES/queue" --threads 4 --iterations 2000 >out </dev/null
    "$HEURT" report -i queue --json >report.json
    "$HEURT" tables -i queue --format json findings >findings.json
    [ "$("$JSON_GET" findings.json tables[0].name)" = findings ]
    local count at key
    count=$("$HEURT" tables -i queue --format csv findings:rank | tail -n +2 | wc -l)
    [ "$count" -gt 0 ]
    [ "$count" = "$(grep -c '"sentence":' report.json)" ]
    for ((at = 0; at < count; at++)); do
        for key in rank ranked category sentence lost_ns share confidence; do
            [ "$("$JSON_GET" findings.json "tables[0].rows[$at].$key")" = \
                "$("$JSON_GET" report.json "findings[$at].$key")" ] || fail "$key of finding $at"
        done
        [ "$("$JSON_GET" findings.json "tables[0].rows[$at].leader")" = \
            "$("$JSON_GET" report.json "findings[$at].classes[0]" 2>/dev/null || echo null)" ] ||
            fail "leader of finding $at"
        [ "$("$JSON_GET" findings.json "tables[0].rows[$at].by_line")" = \
            "$("$JSON_GET" report.json "findings[$at].by.line" 2>/dev/null || echo null)" ] || fail "by"
    done
    "$HEURT" tables -i queue --format csv findings:try | tail -n +2 >tries
    ! grep -q '^$' tries || fail "a finding without anything to try"
}

@test "a lock without a name is known by the line that made it" {
    "$HEURT" record --quiet -o mutex "$EXAMPLES/mutex" --threads 4 --delay 4000 >out </dev/null
    "$HEURT" report -i mutex --json >report.json
    local line
    line=$(grep -n 'pthread_mutex_init' "$HEURT_SOURCE/examples/mutex.c" | cut -d: -f1)
    [ "$("$JSON_GET" report.json 'findings[category=lock].object.born.line')" = "$line" ]
    [ "$("$JSON_GET" report.json 'findings[category=lock].object.name')" = "made at mutex.c:$line" ]
    "$HEURT" report -i mutex >screen
    grep -q "lock made at mutex.c:$line" screen
}

@test "a thread's components add up to its life" {
    "$HEURT" tables --format csv threads >threads
    [ "$(wc -l <threads)" -ge 3 ]
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { sum = 0
          for (i = at["running_ns"]; i <= at["overhead_ns"]; i++) sum += $i
          if (sum != $(at["lifetime_ns"])) { print "off by", sum - $(at["lifetime_ns"]); exit 1 }
          if ($(at["preemptions"]) > $(at["switches"])) exit 1 }' threads
}

@test "columns are chosen, rows filtered and sorted" {
    "$HEURT" tables --format csv classes:function,count --where 'function~step_*' --sort count >rows
    [ "$(head -n 1 rows)" = function,count ]
    [ "$(wc -l <rows)" -gt 1 ]
    ! tail -n +2 rows | grep -v '^step_' || fail "others are there, too"
    tail -n +2 rows | cut -d, -f2 | sort -c -n -r
    "$HEURT" tables --format csv classes:count --where 'function~step_*' --sort -count | tail -n +2 | sort -c -n
    "$HEURT" tables --format csv classes:rank --where 'score>2' >none
    [ "$(cat none)" = rank ]
}

@test "several tables are one document" {
    "$HEURT" tables --format json threads locks >json
    [ "$("$JSON_GET" json tables[0].name)" = threads ]
    [ "$("$JSON_GET" json tables[1].name)" = locks ]
    "$HEURT" tables threads locks >text
    grep -q '^threads: ' text
    grep -q '^locks: ' text
}

@test "what is mistyped is answered with the nearest right word" {
    run "$HEURT" tables clases
    [ "$status" = 2 ]
    [[ $output == *"did you mean 'classes'?"* ]]
    run "$HEURT" tables classes:scroe
    [ "$status" = 2 ]
    [[ $output == *"did you mean 'score'?"* ]]
    run "$HEURT" tables classes --where 'socre>1'
    [ "$status" = 2 ]
    [[ $output == *"did you mean 'score'?"* ]]
    run "$HEURT" tables --format jsn classes
    [ "$status" = 2 ]
    [[ $output == *"did you mean 'json'?"* ]]
    run "$HEURT" tables classes --where 'score>many'
    [ "$status" = 2 ]
    [[ $output == *"no value of column score"* ]]
}

@test "an aggregated run says which table it has not" {
    "$HEURT" record --quiet --aggregate -o a "$EXAMPLES/queue" >out </dev/null
    "$HEURT" tables -i a classes threads >text
    grep -q '^threads: ' text
    run "$HEURT" tables -i a locks
    [ "$status" = 125 ]
    [[ $output == *aggregate* ]]
}
