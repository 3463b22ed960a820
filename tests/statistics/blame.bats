# For how long waits are blamed on whom and on what that one did meanwhile, as the program counts it
# itself (tests/programs/blame_known.c).
load ../helpers
load statistics

known() { # KEY
    sed -n "s/^$1=//p" <<<"$output"
}

record_known() { # HOW
    record -o t --quiet "$PROGRAMS/blame_known" "$1"
    expect_status 0
    report_json t
}

# is_share TOLERANCE PART WHOLE EXPECTED_PART EXPECTED_WHOLE: the two shares differ by no more.
is_share() {
    awk -v most="$1" -v part="$2" -v whole="$3" -v known="$4" -v all="$5" 'BEGIN {
        if (!(whole > 0 && all > 0))
            exit 1
        difference = part / whole - known / all
        exit !(difference < most && difference > -most)
    }' || fail "$2 of $3, where it was $4 of $5"
}

blamed() { # FIELD: summed over all locks
    classes lock "blames[].$1" | sum
}

kernel_tells() {
    [ "$(json 'threads[].components_ns.runnable' | sum)" != 0 ]
}

@test "a holder's sleep is told apart from its work" {
    local slept
    record_known sleeps
    slept=$(known slept_ns)
    kernel_tells || slept=$((slept + $(known late_ns)))
    is_share 0.1 "$(blamed doing_ns.sleep)" "$(blamed wait_ns)" "$slept" "$(known held_ns)"
    is_share 0.1 "$(blamed wait_ns)" "$(known held_ns)" 1 1
}

@test "a holder that was preempted is" {
    record_known preempted
    kernel_tells || skip "the kernel tells nothing here"
    is_share 0.1 "$(blamed doing_ns.runnable)" "$(blamed wait_ns)" \
        "$(known runnable_ns)" "$(known held_ns)"
}

@test "waits at a barrier are blamed on the one that is late, for most of the time" {
    record_known barrier
    # Some of its time it had slept and had no CPU yet.
    local first='classes[kind=barrier].blames[0]'
    is_number_above "$(($(json "$first.wait_ns") / 2))" \
        "$(($(json "$first.doing_ns.sleep") + $(json "$first.doing_ns.runnable")))"
    is_number_above "$(($(json 'classes[kind=barrier].blames[].wait_ns' | sum) / 2))" \
        "$(json "$first.wait_ns")"
}
