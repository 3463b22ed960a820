#!/usr/bin/env bats
# `make fault-injection` in short.
load ../helpers

@test "whoever is killed or stopped, and whatever is full, at any instant: the program goes on, the trace is read" {
    "$HEURT_SOURCE/tests/fault_injection/inject" "$HEURT" "$PROGRAMS/counted" 27 >said || fail "$(cat said)"
}
