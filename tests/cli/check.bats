# heurt check: the doctor.
load ../helpers

@test "tells of the machine, as text and as JSON" {
    heurt check
    expect_status 0
    [ "$(wc -l <<<"$output")" -gt 5 ]
    grep -qi 'clock' <<<"$output"
    "$HEURT" check --json >report.json
    json schema
}

@test "tells of a program, recordable or not" {
    heurt check "$EXAMPLES/queue"
    expect_status 0
    grep -q 'recordable' <<<"$output"
    echo 'int main(void) { return 0; }' | compile program -static
    heurt check ./program
    grep -qi 'static' <<<"$output"
    [ "$status" -lt 125 ]
}

@test "a program that is missing; wrong usage" {
    heurt check no-such-program-here
    [ "$status" -ne 0 ]
    says no-such-program-here
    heurt check --no-such-option
    expect_status 2
}

@test "as an ordinary user" {
    public_room
    cd "$room"
    run --separate-stderr as_ordinary_user "$room_heurt" check
    show_run
    [ "$status" -eq 0 ]
}
