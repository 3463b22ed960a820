# Waits that no pthread function makes (tests/programs/waits_known.cc).
load ../helpers

record_waits() { # KIND
    record -o t --quiet --no-choice "$PROGRAMS/waits_known" "$1"
    expect_status 0
    report_json t
}

@test "yields that poll are one wait, however many" {
    local yields count
    record_waits polls
    yields=$(sed -n 's/^yields=//p' <<<"$output")
    count=$(classes yield count | sum)
    is_number_above 0 "$count"
    [ $((count * 10)) -lt "$yields" ] || fail "$count waits of $yields yields"
    [ "$(classes yield idle | sort -u)" = false ]
    [ "$(classes yield verdict | sort -u)" = interference ]
    is_number_above 0 "$(classes yield score)"
    classes yield caller.function | grep -F poll_until_ready
}
