# heurt locks: how long was waited, beside what the programs count themselves.
load ../helpers
load statistics

# locks_of NAME PROGRAM [ARG]…: its trace is told of in locks.json; what it printed is in NAME.out
locks_of() {
    "$HEURT" record --quiet -o "$1" "${@:2}" >"$1.out"
    "$HEURT" locks -i "$1" --json >locks.json || fail "no locks of $1"
    [ "$("$JSON_GET" locks.json schema)" = heurt.locks/1 ] || fail "not heurt.locks/1"
}

of() { # PATH, in locks.json
    "$JSON_GET" locks.json "$1"
}

printed() { # FILE KEY: what the program says itself
    sed -n "s/^$2=//p" "$1.out"
}

is() { # NAME FOUND EXPECTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# within LOW HIGH PART WHOLE: LOW · WHOLE ≤ PART ≤ HIGH · WHOLE
within() {
    awk -v low="$1" -v high="$2" -v part="$3" -v whole="$4" \
        'BEGIN { exit !(whole > 0 && part >= low * whole && part <= high * whole) }' ||
        fail "$3 is not $1 to $2 of $4"
}

@test "one lock: waits are as the program counts, and the critical path is that of its sections" {
    locks_of one "$PROGRAMS/locks_split" 1
    within 0.8 1.05 "$(of all.wait_ns)" "$(printed one waited_ns)"
    within 0.3 1 "$(of all.on_path.hold_ns)" "$(of all.path_ns)" # the rest: who was woken had no CPU
    within 0.8 1 "$(of all.on_path.wait_ns)" "$(of all.wait_ns)"
}

@test "the shared queue: with one lock its ends wait for each other, with a lock for each they do not" {
    # How much less is waited in all is a matter of processors and of what else runs: see
    # locks_split for that, where the program decides it.
    local locks
    for locks in 1 2; do
        locks_of t "$EXAMPLES/queue" --threads 4 --iterations 8000 --locks "$locks"
        of all.wait_ns >"all$locks"
        ends >"ends$locks"
    done
    within 0.2 1 "$(cat ends1)" "$(cat all1)"
    is "waited for the other end" "$(cat ends2)" 0
}

# Time waited at one end of the queue for a thread that was at the other one.
ends() {
    local function='[^}]*"function":"\([^"]*\)"'
    of 'locks[kind=mutex].pairs[]' |
        sed -n "s/.*\"holder\":{$function.*\"waiter\":{$function.*\"wait_ns\":\([0-9]*\).*/\1 \2 \3/p" |
        awk '$1 != $2 { total += $3 } END { printf "%.0f\n", total }'
}

cause() { # NAME
    locks_of "$1" "$PROGRAMS/causes/cause_$1"
}

# caused PART WAITED NAME: what the program counts as injected is without waiting for a CPU meanwhile.
caused() {
    awk -v waited="$2" -v injected="$(printed "$3" "injected_$1_ns")" \
        -v runnable="$(printed "$3" runnable_ns)" \
        'BEGIN { exit !(injected > 0 && waited > 0.8 * injected && waited < 1.2 * (injected + runnable)) }' ||
        fail "waited $2, but $(cat "$3.out")"
}

@test "a reader-writer lock: the readers' waits" {
    cause rwlock
    caused lock "$(of 'locks[0].shared.wait.sum_ns')" rwlock
}

@test "a barrier: waits, and the spread of its rounds" {
    cause barrier
    caused barrier "$(of 'locks[0].wait_ns')" barrier
    within 0.2 1.2 "$(of 'locks[0].spread.sum_ns')" "$(of 'locks[0].wait_ns')"
}

@test "a condition: waits" {
    cause condition
    caused condition "$(of 'locks[kind=condition].wait_ns')" condition
}

@test "a semaphore: waits" {
    cause semaphore
    caused condition "$(of 'locks[kind=semaphore].wait_ns')" semaphore
}
