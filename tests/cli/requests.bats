#!/usr/bin/env bats
# heurt report --slowest: what a program that serves did for those it serves.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    "$HEURT" record --quiet -o served "$PROGRAMS/serves_known" server socket 400 >out </dev/null &
    "$PROGRAMS/serves_known" client socket 400
    wait $!
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

@test "requests are counted, and the slowest is told with what it was made of" {
    "$HEURT" report -i served --slowest --json >json
    [ "$("$JSON_GET" json schema)" = heurt.requests/1 ]
    local count median longest
    count=$("$JSON_GET" json count) median=$("$JSON_GET" json median_ns) longest=$("$JSON_GET" json longest_ns)
    [ "$count" -ge 399 ] && [ "$count" -le 400 ] # the last one may end with the client
    [ "$longest" -gt $((5 * median)) ]
    [ "$("$JSON_GET" json 'slowest[0].duration_ns')" = "$longest" ]
    [ "$("$JSON_GET" json 'slowest[].duration_ns' | sort -rn | head -n 1)" = "$longest" ]
    local -i sum=0
    local part
    for part in lock condition barrier disk network message sleep page_fault runnable other_blocked overhead running; do
        sum+=$("$JSON_GET" json "slowest[0].components_ns.$part")
    done
    [ "$sum" = "$longest" ]
}

@test "the first screen has a line of requests, and the command it names shows them" {
    "$HEURT" report -i served >screen
    grep -q '^  Requests: 4\?[0-9]*,\? \?.*the slowest' screen
    grep -q -- '--slowest' screen
    "$HEURT" report -i served --slowest >slowest
    grep -q '^   1  ' slowest
    grep -q 'serves_known #' slowest
}

@test "a program that serves nobody has no requests, and says so" {
    "$HEURT" record --quiet -o alone "$EXAMPLES/queue" >out </dev/null
    "$HEURT" report -i alone >screen
    ! grep -q 'Requests:' screen
    run --separate-stderr "$HEURT" report -i alone --slowest
    [[ "$output$stderr" == *request* ]]
}
