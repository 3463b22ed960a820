#!/usr/bin/env bats
# Programs of Debian that do recorded what they do alone: those of tests/transparency/programs that need nothing but
# what the other tests need. `make transparency` has all of them, in more ways.
load ../helpers

@test "programs of Debian do recorded what they do alone" {
    needs_plain_heurt
    LIMIT_S=60 "$HEURT_SOURCE/tests/transparency/run" "$HEURT" --subset >table 2>differences ||
        fail "$(grep -E 'differs|the same' table; cat differences)"
}
