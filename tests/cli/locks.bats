# heurt locks: what it says of programs whose truth is known, its filters, and its errors.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o known "$PROGRAMS/locks_known" >known.out 2>err </dev/null
    "$HEURT" locks -i known --json >known.json
    "$HEURT" record --quiet -o one "$PROGRAMS/locks_split" 1 >one.out 2>err </dev/null
    "$HEURT" locks -i one --json --path >one.json
    "$HEURT" record --quiet -o inversion "$PROGRAMS/locks_inversion" >inversion.out 2>err </dev/null
}

# locks_json DIR [OPTION…]: what is told of the trace is in locks.json.
locks_json() {
    "$HEURT" locks -i "$1" --json "${@:2}" >locks.json || fail "no locks of $1"
    [ "$("$JSON_GET" locks.json schema)" = heurt.locks/1 ] || fail "not heurt.locks/1"
}

of() { # PATH, in locks.json
    "$JSON_GET" locks.json "$1"
}

printed() { # FILE KEY: what the program says itself
    sed -n "s/^$2=//p" "$BATS_FILE_TMPDIR/$1.out"
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

# known_lock KEY FIELD…: FIELD=EXPECTED of the lock whose address is printed as KEY_address
known_lock() {
    local address field path
    cp "$BATS_FILE_TMPDIR/known.json" locks.json
    address=$(printed known "$1_address")
    for field in "${@:2}"; do
        path="locks[address=$address].${field%%=*}"
        is "$1 ${field%%=*}" "$(of "$path")" "${field#*=}"
    done
}

@test "counts of every kind of lock are exact" {
    known_lock mutex kind=mutex "acquisitions=$(printed known mutex_acquired)" \
        "contended=$(printed known mutex_contended)" \
        "exclusive.busy=$(printed known mutex_busy)" \
        "exclusive.gave_up=$(printed known mutex_timed_out)"
    known_lock rwlock kind=rwlock "exclusive.acquisitions=$(printed known rwlock_write_acquired)" \
        "exclusive.contended=$(printed known rwlock_write_contended)" \
        "exclusive.busy=$(printed known rwlock_write_busy)" \
        "shared.acquisitions=$(printed known rwlock_read_acquired)" \
        "shared.contended=$(printed known rwlock_read_contended)" \
        "shared.busy=$(printed known rwlock_read_busy)"
    known_lock spin "kind=spin lock" "acquisitions=$(printed known spin_acquired)" \
        "contended=$(printed known spin_contended)" "exclusive.busy=$(printed known spin_busy)"
    known_lock mtx kind=mutex "acquisitions=$(printed known mtx_acquired)" \
        "contended=$(printed known mtx_contended)" "exclusive.busy=$(printed known mtx_busy)"
    known_lock shared kind=mutex "acquisitions=$(printed known shared_acquired)"
}

@test "counts of semaphores, barriers and conditions are exact" {
    known_lock semaphore kind=semaphore "acquisitions=$(printed known semaphore_acquired)" \
        "contended=$(printed known semaphore_contended)" \
        "signals=$(printed known semaphore_posted)"
    known_lock barrier kind=barrier "acquisitions=$(printed known barrier_waits)"
    known_lock condition kind=condition "exclusive.wait.count=$(printed known condition_waits)" \
        "broadcasts=$(printed known condition_broadcasts)" \
        "signals=$(($(printed known condition_signals) + $(printed known condition_broadcasts)))" \
        "signals_for_nobody=0"
    known_lock cnd kind=condition "exclusive.wait.count=$(printed known cnd_waits)"
    # A recursive lock that a thread already has is not acquired again.
    local address
    address=$(printed known recursive_address)
    is_number_above "$(of "locks[address=$address].acquisitions")" \
        "$(printed known recursive_acquired)"
}

@test "everything adds up" {
    local trace
    for trace in known one inversion; do
        heurt locks -i "$BATS_FILE_TMPDIR/$trace" --audit
        expect_status 0
        [[ $output == *"Everything adds up."* ]]
        heurt locks -i "$BATS_FILE_TMPDIR/$trace" --audit --csv
        [ "$(wc -l <<<"$output")" -gt 5 ]
    done
}

@test "one lock: every acquisition is on the critical path" {
    cp "$BATS_FILE_TMPDIR/one.json" locks.json
    local rounds
    rounds=$(printed one rounds)
    is contended "$(of all.contended)" "$rounds"
    is acquisitions "$(of all.acquisitions)" "$((2 * rounds))"
    # The section of who came last in the last round may be off it.
    is_number_above "$((2 * rounds - 2))" "$(of all.on_path.acquisitions)"
    is_number_above "$((rounds - 2))" "$(of all.on_path.contended)"
    is_number_above "$(of all.on_path.contended)" "$((rounds + 1))"
    is name "$(of 'locks[0].name')" head
    of 'locks[0].pairs[].holder.function' | grep -q '^go_first$'
    of 'locks[0].pairs[].waiter.function' | grep -q '^go_second$'
}

@test "two locks: nobody waits, on the critical path or off it" {
    "$HEURT" record --quiet -o two "$PROGRAMS/locks_split" 2 >two.out
    locks_json two
    is contended "$(of all.contended)" 0
    is waited "$(of all.wait_ns)" 0
    is "contended on the path" "$(of all.on_path.contended)" 0
    is "waited on the path" "$(of all.on_path.wait_ns)" 0
    # Only one thread's sections are on it.
    is "sections on the path" "$(of all.on_path.acquisitions)" "$(sed -n 's/^rounds=//p' two.out)"
}

@test "the pieces of the critical path add up to it" {
    cp "$BATS_FILE_TMPDIR/one.json" locks.json
    local pieces threads length
    length=$(($(of path.to_ns) - $(of path.from_ns)))
    pieces=$(($(of 'path.pieces[].to_ns' | sum) - $(of 'path.pieces[].from_ns' | sum)))
    threads=$(of 'path.threads[].ns' | sum)
    within 0.9999 1.0001 "$((pieces + $(of path.hand_over_ns)))" "$length"
    within 0.9999 1.0001 "$((threads + $(of path.hand_over_ns)))" "$length"
    is hand-overs "$(of path.hand_overs)" "$(($(of 'path.pieces[].thread' | wc -l) - 1))"
    is "by the lock" "$(of 'path.pieces[by=lock].object' | sort -u)" "$(of 'locks[0].address')"
    heurt locks -i "$BATS_FILE_TMPDIR/one" --path
    expect_status 0
    [[ $output == *"Critical path:"*"by thread"*"by lock"*"the longest pieces"*"shorter ones"* ]]
    heurt locks -i "$BATS_FILE_TMPDIR/one" --path --csv
    is lines "$(wc -l <<<"$output")" "$(($(of 'path.pieces[].thread' | wc -l) + 1))"
}

@test "pressure: the steps hold all of the waiting" {
    cp "$BATS_FILE_TMPDIR/one.json" locks.json
    local acquiring
    acquiring=$(of 'pressure.acquiring_ns[]' | sum)
    within 0.999 1.001 "$acquiring" "$(of all.wait_ns)"
    is steps "$(of 'pressure.running_ns[]' | wc -l)" "$(of pressure.steps)"
    is "of the lock" "$(of 'locks[0].acquiring_ns[]' | sum)" "$acquiring"
    heurt locks -i "$BATS_FILE_TMPDIR/one"
    # Its highest is a number, or one of so few that ran that it would be none.
    grep -A 9 '^pressure: ' <<<"$output" | grep -E '#1 head .*(max [0-9<>]|nobody ran|few ran)'
}

# cause NAME: its trace is told of in locks.json; what it printed is in NAME.out
cause() {
    "$HEURT" record --quiet -o "$1" "$PROGRAMS/causes/cause_$1" >"$BATS_FILE_TMPDIR/$1.out"
    locks_json "$1"
}

@test "a reader-writer lock: the readers' waits are theirs" {
    cause rwlock
    is kind "$(of 'locks[0].kind')" rwlock
    is reads "$(of 'locks[0].shared.acquisitions')" "$(printed rwlock calls)"
    is_number_above 0 "$(of 'locks[0].exclusive.acquisitions')"
    heurt locks -i rwlock
    [[ $output == *"rwlock writers"*"rwlock readers"* ]]
}

@test "a barrier: rounds, their spread, and who is usually last" {
    cause barrier
    is kind "$(of 'locks[0].kind')" barrier
    is rounds "$(of 'locks[0].rounds')" "$(($(printed barrier calls) / 2))"
    is_number_above "$(($(of 'locks[0].rounds') / 2 - 1))" "$(of 'locks[0].last_arrivals')"
    heurt locks -i barrier
    [[ $output == *"barriers (spread: "*"of rounds"* ]]
}

@test "a condition: waits, signals, and how long a wake-up takes" {
    cause condition
    is_number_above 0 "$(of 'locks[kind=condition].wake.sum_ns')"
    within 0 1 "$(of 'locks[kind=condition].wake.sum_ns')" "$(of 'locks[kind=condition].wait_ns')"
    is mutex "$(of 'locks[kind=condition].mutex')" "$(of 'locks[kind=mutex].address')"
    heurt locks -i condition
    [[ $output == *"conditions (to wake: "* ]]
}

@test "a semaphore: taken, posts, and how long a wake-up takes" {
    cause semaphore
    is taken "$(of 'locks[kind=semaphore].acquisitions')" "$(printed semaphore calls)"
    is_number_above 0 "$(of 'locks[kind=semaphore].wake.count')"
    heurt locks -i semaphore
    [[ $output == *"semaphores (to wake: "* ]]
}

@test "lock-order inversions: which, where, how often, and what they mean" {
    local times
    times=$(printed inversion times)
    locks_json "$BATS_FILE_TMPDIR/inversion"
    is inversions "$(of 'inversions[].guarded' | wc -l)" 4
    is guarded "$(of 'inversions[].guarded' | grep -c true)" 1
    is "of one thread" "$(of 'inversions[].one_thread' | grep -c true)" 1
    is times "$(of 'inversions[].orders[].times' | sort -u)" "$times"
    is places "$(of 'inversions[].orders[].place.function' | sort -u)" take_both
    # Two by two, and a circle of three; eta and theta are always taken in the same order.
    is orders "$(of 'inversions[].orders[].taken' | wc -l)" 9
    heurt locks -i "$BATS_FILE_TMPDIR/inversion"
    [[ $output == *"warning: locks are taken in both orders: no common lock guards them"*"alpha while beta is held"* ]]
    [[ $output == *"note: locks are taken in both orders: always under one other lock"*"delta while gamma_ is held"* ]]
    [[ $output == *"warning: locks are taken in a circle"*"circle[1] while circle[0] is held"* ]]
    [[ $output == *"note: locks are taken in both orders: by one and the same thread"*"zeta while epsilon is held"* ]]
    [[ $output != *"theta while eta"* ]]
}

# ---- filters ---------------------------------------------------------------------------------------

@test "--lock: an address, a variable, a pattern" {
    local address
    address=$(printed inversion alpha)
    locks_json "$BATS_FILE_TMPDIR/inversion" --lock "$address"
    is address "$(of 'locks[].address')" "$address"
    locks_json "$BATS_FILE_TMPDIR/inversion" --lock alpha
    is address "$(of 'locks[].address')" "$address"
    is filter "$(of filter.lock)" alpha
    locks_json "$BATS_FILE_TMPDIR/inversion" --lock 'circle*'
    is names "$(of 'locks[].name' | sort | tr '\n' ' ')" 'circle[0] circle[1] circle[2] '
    is acquisitions "$(of all.acquisitions)" "$((6 * $(printed inversion times)))"
}

@test "--min-wait: what waited less is not counted" {
    local all some rounds
    rounds=$(printed one rounds)
    locks_json "$BATS_FILE_TMPDIR/one" --min-wait 500us
    # Each wait was for more than most of a section.
    within 0.5 1 "$(of all.acquisitions)" "$rounds"
    is contended "$(of all.contended)" "$(of all.acquisitions)"
    locks_json "$BATS_FILE_TMPDIR/one" --min-wait 3600s
    is acquisitions "$(of all.acquisitions)" 0
    heurt locks -i "$BATS_FILE_TMPDIR/one" --min-wait 1h
    expect_status 2
    says "--min-wait: expected a number and ns, us, ms or s.*'1h'"
}

@test "--site and --thread: what others do is not counted" {
    local rounds tid
    rounds=$(printed one rounds)
    locks_json "$BATS_FILE_TMPDIR/one" --site go_second
    is acquisitions "$(of all.acquisitions)" "$rounds"
    is contended "$(of all.contended)" "$rounds"
    locks_json "$BATS_FILE_TMPDIR/one" --site 'go_f*'
    is acquisitions "$(of all.acquisitions)" "$rounds"
    is contended "$(of all.contended)" 0
    tid=$("$JSON_GET" "$BATS_FILE_TMPDIR/one.json" 'locks[0].longest[0].thread')
    locks_json "$BATS_FILE_TMPDIR/one" --thread "$tid"
    is acquisitions "$(of all.acquisitions)" "$rounds"
    is waits "$(of all.contended)" "$((rounds / 2))"
    is threads "$(of 'locks[0].longest[].thread' | sort -u)" "$tid"
}

@test "--from and --to: the parts are the whole" {
    local from to middle before after
    cp "$BATS_FILE_TMPDIR/one.json" locks.json
    from=$(of pressure.from_ns)
    to=$((from + $(of all.path_ns)))
    middle=$(((from + to) / 2))
    locks_json "$BATS_FILE_TMPDIR/one" --to "${middle}ns"
    before=$(of all.acquisitions)
    is_number_above 0 "$before"
    locks_json "$BATS_FILE_TMPDIR/one" --from "${middle}ns"
    after=$(of all.acquisitions)
    is_number_above 0 "$after"
    is both "$((before + after))" "$((2 * $(printed one rounds)))"
    heurt locks -i "$BATS_FILE_TMPDIR/one" --from 2s --to 1s
    expect_status 2
    heurt locks -i "$BATS_FILE_TMPDIR/one" --from 1000s
    expect_status 2
    says 'the run ended at'
}

# ---- one lock, the graph, forms --------------------------------------------------------------------

@test "one lock in depth" {
    heurt locks -i "$BATS_FILE_TMPDIR/one" 1
    expect_status 0
    local part
    for part in 'mutex 1: head' 'declared  .*locks_split.c' 'where it is taken' 'who blocked whom' \
        'go_first .* go_second' 'what the blockers were doing' 'how long they waited' \
        'how long it was held' 'the longest waits' 'on and off the critical path'; do
        grep -q "$part" <<<"$output" || fail "no $part in: $output"
    done
    "$HEURT" locks -i "$BATS_FILE_TMPDIR/one" 1 --json >locks.json
    is locks "$(of 'locks[].rank')" 1
    within 0.1 1.01 "$(of 'locks[0].holders[].wait_ns' | sum)" "$(of 'locks[0].wait_ns')"
    is "longest waits" "$(of 'locks[0].longest[].wait_ns' | wc -l)" 5
    of 'locks[0].longest[0].waiter_stack.frames[].function' | grep -q '^take_turns$'
    # A long wait has a stack of its own, as far as the budget of stacks reaches: not in each recording.
    local try=0
    until of 'locks[0].longest[].waiter_stack.of_this_wait' | grep -q true; do
        ((++try < 5)) || fail "none of the longest waits has a stack: $(of 'locks[0].longest[].waiter_stack')"
        "$HEURT" record --quiet -o "again$try" "$PROGRAMS/locks_split" 1 >again.out 2>err </dev/null
        "$HEURT" locks -i "again$try" 1 --json >locks.json
    done
    # That of the holder is the one most often taken there.
    is "the holder's" "$(of 'locks[0].longest[].holder_stack.of_this_wait' | sort -u)" false
    # Of a part of the run that is not known, and it is said.
    heurt locks -i "$BATS_FILE_TMPDIR/one" 1 --site go_second
    grep -q 'Not shown: it is known of the whole run only' <<<"$output"
    heurt locks -i "$BATS_FILE_TMPDIR/one" 99
    expect_status 2
    says 'there is no lock 99'
}

@test "--dot: a graph with an edge from who held it to who waited" {
    heurt locks -i "$BATS_FILE_TMPDIR/one" --dot
    expect_status 0
    [ "$(head -n 1 <<<"$output")" = 'digraph locks {' ]
    [ "$(tail -n 1 <<<"$output")" = '}' ]
    grep -Eq '^    "go_first" -> "go_second" \[label="head\\n[^"]*waits", weight=1000, .*\];$' \
        <<<"$output"
}

@test "--csv: every line has as many fields as the first" {
    heurt locks -i "$BATS_FILE_TMPDIR/known" --csv
    expect_status 0
    [ "$(wc -l <<<"$output")" -gt 12 ]
    awk '{ gsub(/"([^"]|"")*"/, "q"); fields = split($0, a, ",")
           if (NR == 1) want = fields
           else if (fields != want) exit 1 }' <<<"$output"
}

@test "the same trace gives the same answer, and colour only on a terminal" {
    local escape=$'\033['
    "$HEURT" locks -i "$BATS_FILE_TMPDIR/known" --json >one
    "$HEURT" locks -i "$BATS_FILE_TMPDIR/known" --json >two
    cmp one two
    run "$HEURT" locks -i "$BATS_FILE_TMPDIR/known"
    [[ $output != *"$escape"* ]]
    command -v script >/dev/null || skip "script is not installed"
    TERM=xterm PAGER=cat run script -qec "$HEURT locks -i $BATS_FILE_TMPDIR/known" /dev/null </dev/null
    [[ $output == *"$escape"* ]]
}

# ---- what is wrong ---------------------------------------------------------------------------------

@test "wrong usage: 2" {
    local arguments
    for arguments in '--no-such-option' '1 2' 'zero' '0' '-1' '-i' '--json --csv' '--lock' '--min-wait 5' \
        '--min-wait -1ms' '--from x' '--to 0s' '--path --dot' '--audit 1' '--dot --json' '--path 1' \
        '--path --lock x' '--from 2s --to 2s'; do
        # shellcheck disable=SC2086
        heurt locks $arguments
        [ "$status" -eq 2 ] || fail "$status for $arguments"
        [ -z "$output" ]
        [ -n "$stderr" ]
    done
}

@test "a filter that nothing can match: a sentence" {
    heurt locks -i "$BATS_FILE_TMPDIR/known" --lock nothing_like_it
    expect_status 2
    says nothing_like_it
    heurt locks -i "$BATS_FILE_TMPDIR/known" --lock 0x12345
    expect_status 2
    says 0x12345
    heurt locks -i "$BATS_FILE_TMPDIR/known" --thread 999999999
    expect_status 2
    says 999999999
}

@test "no trace, an aggregated one, one without locks: one clear sentence" {
    heurt locks -i missing
    expect_status 125
    says 'no trace at missing'
    "$HEURT" record --quiet --aggregate -o aggregated "$PROGRAMS/locks_split" 2 >out
    heurt locks -i aggregated
    expect_status 125
    says 'aggregate.*no single events'
    [ "$(wc -l <<<"$stderr")" = 1 ]
    "$HEURT" record --quiet -o none "$PROGRAMS/env_print" >out
    heurt locks -i none
    expect_status 0
    grep -q 'The program used no lock' <<<"$output"
    locks_json none
    is locks "$(of locks)" '[]'
}

@test "a trace that was cut off anywhere: an answer or a sentence" {
    local size bytes
    size=$(stat -c %s "$BATS_FILE_TMPDIR/known/events")
    for bytes in 1 8 4096 16384 20000 $((size / 3)) $((size / 2)) $((size - 1)); do
        rm -rf cut && cp -r "$BATS_FILE_TMPDIR/known" cut
        truncate -s "$bytes" cut/events
        heurt locks -i cut
        [ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "at $bytes bytes"
        [ "$status" -eq 0 ] || says cut
        heurt locks -i cut --json --path
        [ "$status" -eq 0 ] || [ "$status" -eq 125 ] || fail "at $bytes bytes"
    done
}
