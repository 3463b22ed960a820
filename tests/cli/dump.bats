# heurt dump: the trace as text.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/locks_known" >out </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -r "$BATS_FILE_TMPDIR/t" heurt.data
}

@test "one line an event: time, thread, what" {
    heurt dump
    expect_status 0
    [ "$(wc -l <<<"$output")" -gt 100 ]
    ! grep -Evq '^ *[0-9]+\.[0-9]{9} +[0-9]+ .+ (enter|leave|point) ' <<<"$output" ||
        fail "$(grep -Ev '^ *[0-9]+\.[0-9]{9} +[0-9]+ .+ (enter|leave|point) ' <<<"$output" | head -n 3)"
}

@test "times never go back, but for what was read from the kernel before the leave that it belongs to" {
    "$HEURT" dump | grep -vE ' point +(off cpu|page fault)' >dump
    [ "$(wc -l <dump)" -gt 100 ]
    awk '$1 < last { print last, $0; exit 1 } { last = $1 }' dump
}

@test "every contended acquisition of a known lock is there" {
    local name address contended seen compared=0
    while IFS='=' read -r name contended; do
        name=${name%_contended}
        address=$(sed -n "s/^${name}_address=//p" "$BATS_FILE_TMPDIR/out")
        seen=$("$HEURT" dump --function 'lock wait*' | grep enter | grep -c "lock=$address" || :)
        [ "$seen" -ge "$contended" ] || fail "$name at $address: $seen waits, $contended made"
        compared=$((compared + 1))
    done < <(grep -E '^[a-z_]*mutex[a-z_]*_contended=[1-9]' "$BATS_FILE_TMPDIR/out")
    [ "$compared" -gt 0 ]
}

@test "what the kernel told: how long, why, on which CPU" {
    local records='point +(off cpu \((blocked|preempted|page fault|futex|disk|stopped)\) off=[0-9]+ ns'
    records+=' runnable=([0-9]+ ns|\?) cpu=[0-9]+( waker=[0-9]+)?|page fault \((measured|estimated|counted)\)'
    records+=' took=[0-9]+ ns address=0x[0-9a-f]+( site=.*)?)$'
    "$HEURT" dump --function kernel >kernel
    [ -s kernel ] || skip "the kernel tells nothing here"
    awk '!/point +kernel cpu=[0-9]+$/ { exit 1 }' kernel
    "$HEURT" dump --function 'off cpu' --function 'page fault' >dump
    # Threads of the program slept and waited.
    [ "$(grep -cE 'off cpu \((blocked|futex)\)' dump)" -gt 10 ]
    ! grep -Evq "$records" dump || fail "$(grep -Ev "$records" dump | head -n 3)"
    sed -n 's/.* off=\([0-9]*\) ns runnable=\([0-9]*\) ns .*/\1 \2/p' dump >times
    awk '$2 > $1 { print; exit 1 }' times
}

@test "filters: time, function, thread" {
    "$HEURT" dump >all
    local middle thread
    middle=$(awk '{ t[NR] = $1 } END { print t[int(NR / 2)] }' all)
    "$HEURT" dump --to "$middle" >before
    "$HEURT" dump --from "$middle" >after
    awk -v middle="$middle" '$1 > middle { exit 1 }' before
    awk -v middle="$middle" '$1 < middle { exit 1 }' after
    [ "$(sort -u before after | wc -l)" -eq "$(sort -u all | wc -l)" ]
    thread=$(awk 'NR == 1 { print $2 }' all)
    "$HEURT" dump --thread "$thread" >thread
    [ -s thread ]
    awk -v thread="$thread" '$2 != thread { exit 1 }' thread
    "$HEURT" dump --function 'lock wait*' >locks
    ! grep -vq 'lock wait' locks
}

@test "wrong usage: 2; no trace: 125" {
    heurt dump --no-such-option
    expect_status 2
    heurt dump --from later
    expect_status 2
    heurt dump -i missing
    expect_status 125
    says missing
}

@test "a reader that goes away ends it" {
    run bash -c 'timeout 20 "$1" dump | head -n 1; echo "${PIPESTATUS[0]}"' bash "$HEURT"
    expect_status 0
    [ "${#lines[@]}" -eq 2 ] || fail "more than a line of the dump and its exit status"
    [ "${lines[1]}" = 0 ] || fail "ended with ${lines[1]}"
}
