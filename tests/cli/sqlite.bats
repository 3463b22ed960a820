#!/usr/bin/env bats
# heurt export --sqlite: the tables of all analyses as a database, and the queries of its page.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none --locks all -o t "$EXAMPLES/queue" --threads 3 \
        --delay 2000 --iterations 2000 >out </dev/null
    "$HEURT" export -i t --sqlite -o run.db
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$BATS_FILE_TMPDIR/t" heurt.data
    ln -s "$BATS_FILE_TMPDIR/run.db" run.db
}

ask() { # SQL: rows, their fields parted by |
    sqlite3 -batch -bail run.db "$1"
}

# The N-th query of the page, as it stands there.
query() { # N
    awk -v wanted="$1" '/^```sql/ { n++; inside = n == wanted; next } /^```/ { inside = 0 } inside' \
        "$HEURT_SOURCE/docs/heurt-sqlite.md"
}

@test "every table is there, with the columns and the number of rows of heurt tables" {
    "$HEURT" tables --format csv | tail -n +2 | cut -d, -f1 | uniq >names
    [ "$(wc -l <names)" -ge 20 ]
    while read -r table; do
        "$HEURT" tables --format csv "$table" </dev/null >csv
        [ "$(ask "SELECT group_concat(name) FROM pragma_table_info('$table')")" = "$(head -n 1 csv)" ] ||
            fail "other columns of $table"
        # No name of this program has a line's end.
        [ "$(ask "SELECT count(*) FROM \"$table\"")" = "$(($(wc -l <csv) - 1))" ] ||
            fail "other rows of $table"
    done <names
    [ "$(ask 'SELECT count(*) FROM columns')" = "$("$HEURT" tables --format csv | tail -n +2 | wc -l)" ]
    [ "$(ask 'PRAGMA user_version')" = 1 ]
    [ "$(ask 'PRAGMA integrity_check')" = ok ]
}

@test "figures are those of the documents, types are right, and what is not known is NULL" {
    report_json heurt.data
    [ "$(ask 'SELECT excess_ns FROM classes ORDER BY rank')" = "$(json 'classes[].excess_ns')" ]
    [ "$(ask 'SELECT wall_ns FROM run')" = "$(json wall_ns)" ]
    [ "$(ask "SELECT DISTINCT typeof(excess_ns) || typeof(score) || typeof(kind) FROM classes")" = integerrealtext ]
    [ "$(ask "SELECT count(*) FROM findings WHERE by_function = ''")" = 0 ]
    [ "$(ask "SELECT count(*) FROM pragma_index_list('occurrences')")" -ge 4 ]
    ask "EXPLAIN QUERY PLAN SELECT * FROM occurrences WHERE rank = 1" | grep -q occurrences_by_rank
}

@test "occurrences: components add up, the longest one is the class's maximum" {
    [ "$(ask 'SELECT count(*) > 0 FROM occurrences')" = 1 ]
    [ "$(ask 'SELECT count(*) FROM occurrences WHERE took_ns <> lock_ns + condition_ns + barrier_ns +
        disk_ns + network_ns + message_ns + sleep_ns + page_fault_ns + runnable_ns + other_blocked_ns +
        overhead_ns + running_ns')" = 0 ]
    [ "$(ask 'SELECT count(*) FROM classes c WHERE max_ns <>
        (SELECT max(took_ns) FROM occurrences o WHERE o.rank = c.rank)')" = 0 ]
    # A class with fewer than are kept has all of them.
    [ "$(ask 'SELECT count(*) FROM classes c WHERE min(count, 1000) <
        (SELECT count(*) FROM occurrences o WHERE o.rank = c.rank)')" = 0 ]
}

@test "the page: what is in the way" {
    report_json heurt.data
    query 1 | sqlite3 -batch run.db >rows
    [ "$(head -n 1 rows | cut -d'|' -f3)" = "$(json 'findings[0].lost_ns')" ]
    [ "$(head -n 1 rows | cut -d'|' -f6-)" = "$(json 'findings[0].sentence')" ]
}

@test "the page: the thread that loses most by a class" {
    report_json heurt.data
    query 2 | sqlite3 -batch run.db >rows
    [ -s rows ]
    while IFS='|' read -r rank _ _ _ lost; do
        [ "$lost" = "$(json "classes[$((rank - 1))].threads_detail[].excess_ns" | sort -n | tail -n 1)" ]
    done <rows
}

@test "the page: the longest waits for locks" {
    report_json heurt.data
    query 3 | sqlite3 -batch run.db >rows
    [ "$(head -n 1 rows | cut -d'|' -f2)" = "$(classes lock max_ns | sort -n | tail -n 1)" ]
    awk -F'|' '$6 < 0 { print; exit 1 }' rows
}

@test "the page: the places where a lock is waited for" {
    "$HEURT" locks --json >locks
    query 4 | sqlite3 -batch run.db >rows
    [ "$(head -n 1 rows | cut -d'|' -f4)" = \
        "$("$JSON_GET" locks locks[].sites[].wait_ns | sort -n | tail -n 1)" ]
    awk -F'|' '{ sum[$1] += $5 } END { for (name in sum) if (sum[name] > 100.5) exit 1 }' rows
}

@test "the page: lives by name" {
    report_json heurt.data
    query 5 | sqlite3 -batch run.db >rows
    [ "$(cut -d'|' -f2 rows | sum)" = "$(json 'threads[].tid' | wc -l)" ]
    [ "$(cut -d'|' -f3 rows | sum)" = "$(json 'threads[].lifetime_ns' | sum)" ]
    [ "$(cut -d'|' -f4 rows | sum)" = "$(json 'threads[].components_ns.running' | sum)" ]
}

@test "an aggregated run has what it has, and says what it has not" {
    "$HEURT" record --quiet --aggregate -o a "$EXAMPLES/queue" >out </dev/null
    heurt export -i a --sqlite -o a.db
    expect_status 0
    says 'aggregate'
    [ "$(sqlite3 a.db 'SELECT count(*) > 0 FROM classes')" = 1 ]
    [ "$(sqlite3 a.db 'SELECT count(*) FROM locks')" = 0 ]
}

@test "a name with control characters is shown, not sent" {
    printf 'process 0 100 /bin/a\x1b[31mb\nfunction 0 1024 work 0x401000\nthread 0 x\n1000 thread_start 1\n1100 work\n1200 leave work\n1300 thread_end\n' |
        "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --sqlite -o made.db
    [ "$(sqlite3 made.db 'SELECT path FROM processes')" = '/bin/a\x1b[31mb' ]
}

@test "what cannot be written: a sentence, and nothing half-written" {
    heurt export --sqlite
    expect_status 2
    says 'give its name with -o'
    heurt export --sqlite -o heurt.data/events
    expect_status 125
    says 'would be lost'
    heurt export --sqlite -o nowhere/run.db
    expect_status 125
    says 'could not be written'
    heurt export --sqlite -o /dev/full
    expect_status 125
    says 'no regular file'
    ulimit -f 64
    heurt export --sqlite -o small.db
    [ "$status" -ne 0 ]
    [ ! -e small.db ]
}

@test "a time is chosen; what selects events is refused" {
    local wall
    wall=$(ask 'SELECT wall_ns FROM run')
    heurt export --sqlite --from 0 --to "$(awk -v wall="$wall" 'BEGIN { printf "%.9f", wall / 2e9 }')" -o half.db
    expect_status 0
    [ "$(sqlite3 half.db "SELECT wall_ns * 2 BETWEEN $wall - 10 AND $wall + 10 FROM run")" = 1 ]
    [ "$(sqlite3 half.db 'SELECT sum(count) FROM classes')" -lt "$(ask 'SELECT sum(count) FROM classes')" ]
    heurt export --sqlite --interesting -o no.db
    expect_status 2
    says 'interesting is for events; --sqlite has tables of all threads'
    heurt export --sqlite --thread queue -o no.db
    expect_status 2
    says 'thread is for events'
    heurt export --sqlite --function queue__take -o no.db
    expect_status 2
    [ ! -e no.db ]
}
