# heurt whatif on real runs: that the program would gain by what it would gain by, and by nothing else.
load ../helpers
load ../contended
load statistics

needs_cpus() {
    [ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs"
}

@test "without the contended lock the program is faster, without another one it is not" {
    needs_cpus 2
    contended
    whatif --remove "lock=$(address_of first_lock)"
    local without
    without=$(json 'answers[0].prediction.wall_ns')
    is_number_above "$((without * 103 / 100))" "$(json unrecorded_ns)" # more where nothing disturbs
    [ "$(json 'answers[0].object')" = "$(address_of first_lock)" ]
    [ "$(json 'answers[0].object_name')" = first_lock ]
    local by_address
    by_address=$(gain 0)
    whatif --remove lock=first_lock
    [ "$(gain 0)" = "$by_address" ]
    whatif --remove "lock=$(address_of own_locks)"
    is_number_above "$((without * 103 / 100))" "$(json 'answers[0].prediction.wall_ns')"
    whatif --shrink lock=first_lock:100%
    is_number_above "$(gain 0)" 1.05
    whatif --shrink lock=first_lock:0
    is_number_above "$((103 * $(json 'answers[0].prediction.wall_ns') / 100))" "$(json unrecorded_ns)"
}

@test "the contention of a lock that is removed moves to the next one" {
    needs_cpus 2
    contended 150000
    whatif --remove lock=first_lock
    local second="answers[0].prediction.objects[object=$(address_of second_lock)]"
    is_number_above "$(json "$second.waited_before_ns")" "$(json "$second.waited_after_ns")"
    heurt whatif -i t --remove lock=first_lock
    grep -q 'What limits then' <<<"$output"
    grep -Eq 'lock second_lock' <<<"$output"
}
