# Whom waits are blamed on and what that one did meanwhile, as the program counts it itself
# (tests/programs/blame_known.c).
load ../helpers

known() { # KEY
    sed -n "s/^$1=//p" <<<"$output"
}

record_known() { # HOW
    record -o t --quiet "$PROGRAMS/blame_known" "$1"
    expect_status 0
    report_json t
}

blamed() { # FIELD: summed over all locks
    classes lock "blames[].$1" | sum
}

@test "waits for a holder that sleeps are blamed on it, and some of them on its sleep" {
    record_known sleeps
    [ "$(blamed waits)" = 30 ]
    [ "$(json 'classes[kind=lock].blames[0].function' | grep -v null)" = hold ]
    is_number_above 0 "$(blamed doing_ns.sleep)"
    is_number_above "$(blamed doing_ns.sleep)" "$(blamed wait_ns)" # it works, too
}

@test "waits at a barrier are blamed on the one that is late" {
    record_known barrier
    [ "$(json 'classes[kind=barrier].blames[0].thread')" = "$(known late_tid)" ]
    is_number_above 0 "$(json 'classes[kind=barrier].blames[0].doing_ns.sleep')"
    [ "$(json 'classes[kind=barrier].idle')" = false ]
}

@test "waiting for work is idle, waiting for one's turn is not" {
    record_known roles
    [ "$(json "classes[object=$(known work)].idle")" = true ]
    [ "$(json "classes[object=$(known done)].idle" | sort -u)" = true ]
    [ "$(json "classes[object=$(known turn)].idle")" = false ]
    [ "$(json "classes[object=$(known turn)].blames[0].function")" = take_turns ]
    [ "$(json "classes[object=$(known work)].blames[].function" | grep -c put_items)" -ge 1 ]
}
