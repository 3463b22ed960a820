# The structure of real programs: their outermost loop is the one that their sources have around
# everything, and it turned as often as they were asked to do something.
load ../helpers
load servers

# structure_json: what is told of trace t is in structure.json.
structure_json() {
    "$HEURT" structure -i t --json >structure.json || fail "no structure"
    [ "$("$JSON_GET" structure.json schema)" = heurt.structure/1 ]
}

# tids THREAD-NAME
tids() {
    "$JSON_GET" structure.json 'groups[].threads[]' | grep -F "\"name\":\"$1\"" |
        sed -n 's/.*"tid":\([0-9]*\).*/\1/p' | sort -u
}

# iterations_of TID: turns of the phase in which the thread turned most often.
iterations_of() {
    local phase
    for ((phase = 0; ; phase++)); do
        "$JSON_GET" structure.json "iterations[$phase].threads[tid=$1].turns" 2>/dev/null ||
            "$JSON_GET" structure.json "iterations[$phase].turns" >/dev/null 2>&1 || break
    done | sort -n | tail -n 1
}

# in_loop TID: what stands just in the outermost loop with the most turns of the thread's group, a
# line "FUNCTION COUNT" each, the loop first; counts are of a thread on the average.
in_loop() {
    local group
    for ((group = 0; ; group++)); do
        "$JSON_GET" structure.json "groups[$group].threads[].tid" >group_tids || fail "no $1" || return
        ! grep -qx "$1" group_tids || break
    done
    "$HEURT" structure -i t --csv | awk -F, -v group="$group" -v threads="$(wc -l <group_tids)" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["group"] != group { next }
        $at["depth"] == 0 { loop = $at["loops"] ? ++loops : 0; turns[loop] = $at["count"] }
        $at["depth"] == 1 { sequence = $at["kind"] == "sequence" }
        loop && $at["depth"] == 1 + sequence { inside[loop, $at["function"]] += $at["count"] }
        END {
            for (i = 1; i <= loops; i++) if (turns[i] > turns[most]) most = i
            print "loop", turns[most] / threads
            for (key in inside) {
                split(key, part, SUBSEP)
                if (part[1] == most && part[2] != "") print part[2], inside[key] / threads
            }
        }'
}

# waits TID: how often the thread looked for events.
waits() {
    "$HEURT" dump -i t --thread "$1" --function epoll_wait | grep -c enter
}

count_of() { # FUNCTION, in the file loop
    awk -v name="$1" '$1 == name { printf "%.0f\n", $2; found = 1 } END { if (!found) print 0 }' loop
}

# request_loop TID REQUESTS: the thread, whose client awaits each answer, turned about once for each
# request, and read and answered in each turn. At the beginning and the end it does other things,
# and a turn in which it did one may be counted apart.
request_loop() {
    local turns in_one answered call
    turns=$(iterations_of "$1")
    in_loop "$1" >loop
    echo "$turns iterations for $2 requests, $(waits "$1") waits; $(tr '\n' ' ' <loop)"
    [ "$turns" -ge $(($2 * 9 / 10)) ]
    [ "$turns" -le "$(waits "$1")" ]
    in_one=$(count_of loop)
    [ "$in_one" -ge $(($2 / 2)) ] # an event that comes in two parts divides the run of a loop
    [ "$in_one" -le $((2 * $(waits "$1"))) ]
    answered=$((in_one < $2 ? in_one : $2)) # a turn may find that there is nothing to read
    for call in "${@:3}"; do
        [ "$(count_of "$call")" -ge $((answered * 9 / 10)) ]
        [ "$(count_of "$call")" -le $((2 * $(waits "$1"))) ]
    done
}

load_memcached() {
    start_memcached 2 --overhead none
    "$PROGRAMS/load_memcached" --socket "$PWD/socket" --connections 2 --operations 3000 >load
}

memcached_loops() {
    local tid
    structure_json
    is_number_above 1 "$(tids mc-worker | wc -l)"
    for tid in $(tids mc-worker); do
        request_loop "$tid" 3000 epoll_wait read sendmsg
    done
}

@test "memcached: its workers' iteration is the request, from one wait for events to the next" {
    load_memcached
    end_server TERM
    [ "$ended" = 0 ] || fail "$(cat err)"
    memcached_loops
    heurt structure -i t
    expect_status 0
    grep -Eq 'threads? mc-worker runs? a loop' <<<"$output"
}

@test "memcached, killed while it waits: the same" {
    load_memcached
    end_server KILL
    [ "$ended" = 137 ] || fail "$ended: $(cat err)"
    memcached_loops
}

@test "redis: its iteration is the request" {
    start_redis --overhead none --
    redis-benchmark -s "$PWD/socket" -t set,get -n 5000 -c 1 -q >load
    end_server TERM
    [ "$ended" = 0 ] || fail "$(cat err)"
    structure_json
    local turns tid
    tid=$(tids redis-server | head -n 1)
    turns=$(iterations_of "$tid")
    echo "$turns iterations for 10000 requests; $(waits "$tid") waits"
    # Where a timer ran, or memory was given back, a turn is of another kind.
    [ "$turns" -ge 9000 ]
    [ "$turns" -le "$(waits "$tid")" ]
}
