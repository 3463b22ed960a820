# The structure of real programs: their outermost loop is the one that their sources have around
# everything, and it turned as often as they were asked to do something.
load ../helpers
load servers

number() { # KEY, that the load printed
    sed -n "s/^$1=//p" load
}

# structure_json: what is told of trace t is in structure.json.
structure_json() {
    "$HEURT" structure -i t --json >structure.json || fail "no structure"
    [ "$("$JSON_GET" structure.json schema)" = heurt.structure/1 ]
}

# phase_of THREAD-NAME: the number of the phase that such threads spent most time in.
phase_of() {
    local phase
    "$JSON_GET" structure.json 'groups[].threads[]' | grep -F "\"name\":\"$1\"" |
        grep -oE '"tid":[0-9]+' | sort -u >tids
    for ((phase = 0; ; phase++)); do
        "$JSON_GET" structure.json "iterations[$phase].threads[]" >phase_threads 2>/dev/null || break
        ! grep -oE '"tid":[0-9]+' phase_threads | grep -qxFf tids ||
            echo "$("$JSON_GET" structure.json "iterations[$phase].sum_ns") $phase"
    done | sort -rn | awk 'NR == 1 { print $2 }'
}

# waits THREAD-NAME: how often these threads looked for events.
waits() {
    "$HEURT" dump -i t --thread "$1" --function epoll_wait | grep -c enter
}

# The request loop of memcached's workers, each of which has one client that awaits its answers:
# every one of these is a turn at least, and no turn is for less than a part of what was sent.
request_loop() {
    local phase turns requests sent
    structure_json
    phase=$(phase_of mc-worker)
    [ -n "$phase" ] || fail "no iterations of the workers"
    "$JSON_GET" structure.json "iterations[$phase].body[].call" | head -n 1 | grep -qx epoll_wait
    is_number_above 1 "$("$JSON_GET" structure.json "iterations[$phase].threads[].tid" | wc -l)"
    turns=$("$JSON_GET" structure.json "iterations[$phase].turns")
    requests=$(($(number sets) + $(number gets)))
    sent=$((3 * $(number sets) + $(number gets)))
    echo "$turns turns for $requests requests; $(waits mc-worker) waits"
    [ "$turns" -ge "$requests" ]
    [ "$turns" -le $((sent + 100)) ]
    [ "$turns" -le "$(waits mc-worker)" ]
}

load_memcached() {
    start_memcached 2 --overhead none
    "$PROGRAMS/load_memcached" --socket "$PWD/socket" --connections 2 --operations 3000 >load
}

@test "memcached: its workers' iteration is the request, from one wait for events to the next" {
    load_memcached
    end_server TERM
    [ "$ended" = 0 ] || fail "$(cat err)"
    request_loop
    heurt structure -i t
    expect_status 0
    grep -Eq 'epoll_wait × [0-9,]+ +2 threads' <<<"$output"
}

@test "memcached, killed while it waits: the same" {
    load_memcached
    end_server KILL
    [ "$ended" = 137 ] || fail "$ended: $(cat err)"
    request_loop
}

@test "redis: its iteration is the request" {
    start_redis --overhead none --
    redis-benchmark -s "$PWD/socket" -t set,get -n 5000 -c 1 -q >load
    end_server TERM
    [ "$ended" = 0 ] || fail "$(cat err)"
    local phase turns
    structure_json
    phase=$(phase_of redis-server)
    [ -n "$phase" ] || fail "no iterations"
    "$JSON_GET" structure.json "iterations[$phase].body[].call" >body
    grep -qx epoll_wait body
    turns=$("$JSON_GET" structure.json "iterations[$phase].turns")
    echo "$turns turns for 10000 requests; $(waits redis-server) waits; $(tr '\n' ' ' <body)"
    # Where a timer ran, or memory was given back, a turn may be of another kind.
    [ "$turns" -ge 9500 ]
    [ "$turns" -le "$(waits redis-server)" ]
}
