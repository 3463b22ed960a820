# What locks and their kin are called, and where they were made.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$PROGRAMS/names_known" >plain
    "$HEURT" record --quiet -o t "$PROGRAMS/names_known" >out </dev/null
    "$HEURT" dump -i t --function initialised >made
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# What the program said, with KIND as dump calls it: "KIND ADDRESS LINE COUNT", sorted.
said() {
    sed -n 's/^initialised //p' "$BATS_FILE_TMPDIR/out" | sort
}

# The same of the trace.
seen() {
    sed -nE -e 's/ parties=/ count=/; s/ value=/ count=/; s/reader-writer lock/rwlock/' \
        -e 's/spin lock/spin/; s/condition variable/condition/; /count=/!s/$/ count=0/' \
        -e 's/.* point +initialised \(([a-z]+)\) site=.*names_known\.c:([0-9]+) object=(0x[0-9a-f]+) count=([0-9]+)$/\1 \3 \2 \4/p' \
        "$BATS_FILE_TMPDIR/made" | sort
}

@test "each call that makes a lock or one of its kin has its event: what, where, how many" {
    seen | awk -v line="$(awk '/^many/ { print $3; exit }' "$BATS_FILE_TMPDIR/out")" '$3 != line' >seen
    said >said
    [ "$(wc -l <said)" -gt 20 ]
    diff said seen
}

@test "none of the many that are made at one place is left out" {
    sed -n 's/^many /mutex /p' "$BATS_FILE_TMPDIR/out" | sed 's/$/ 0/' | sort >said
    [ "$(wc -l <said)" -eq 3000 ]
    seen | awk -v line="$(awk '{ print $3; exit }' said)" '$3 == line' >seen
    diff said seen
}

@test "the program's output is what it is without the recorder" {
    sed 's/0x[0-9a-f]*/ADDRESS/' "$BATS_FILE_TMPDIR/plain" >plain
    sed 's/0x[0-9a-f]*/ADDRESS/' "$BATS_FILE_TMPDIR/out" >recorded
    diff plain recorded
}
