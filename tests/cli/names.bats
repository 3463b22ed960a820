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

# as_named PROGRAM: after a run of it, each "ADDRESS NAME" that it said is in said, and what the report
# calls these addresses in seen.
as_named() {
    "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/$1" >out </dev/null
    report_json t
    sed -n 's/^name //p' out | sort -u >said
    local address
    while read -r address _; do
        json "classes[object=$address].object_name" | sort -u | sed "s/^/$address /"
    done <said >seen
    [ "$(wc -l <said)" -ge 10 ]
}

@test "static locks and fields of static objects are called as in the source" {
    local program tried=0
    for program in names_known names_known_cxx names_types_{cc,cxx} names_split_{cc,cxx} names_clang_{cc,cxx} names_apart; do
        [ -x "$PROGRAMS/$program" ] || continue
        as_named "$program"
        diff said seen || fail "$program"
        tried=$((tried + 1))
    done
    [ "$tried" -ge 7 ]
}

@test "locks in objects on the heap are called by the variable or type that leads to them, and the member" {
    local program
    for program in names_heap names_heap_cxx; do
        "$HEURT" record --quiet --overhead none -o t "$PROGRAMS/$program" >out </dev/null
        report_json t
        sed -n 's/^name //p' out >said
        [ -s said ]
        local address
        while read -r address _; do
            json "classes[object=$address].object_name" | sort -u | sed "s/^/$address /"
        done <said >seen
        diff said seen || fail "$program"
    done
}

@test "with the symbol table alone: the object's name and how far in it" {
    as_named names_symbols
    sed -nE 's/ ([a-z_]+)[.[].*/ \1/; p' said >objects
    # clang calls a function's static variable FUNCTION.VARIABLE.
    sed -nE 's/\+0x[0-9a-f]+$//; s/\[2\]$//; s/ contend_local\./ /; p' seen | diff objects -
    grep -Eq ' row_mutexes\[2\]$' seen # a symbol of that name and length is an array of mutexes
    grep -Eq ' tables\+0x[0-9a-f]+$' seen
    grep -Eq ' plain_lock$' seen
}

@test "stripped: no names but those that the dynamic linker needs, and no complaint" {
    heurt record -o t "$PROGRAMS/names_stripped"
    ! grep -i 'variable' <<<"$stderr"
    as_named names_stripped
    [ "$(sort -u seen | awk '$2 != "null"')" = '' ]
}

@test "where the lock is shown there is its name, and where it is declared" {
    report_json "$BATS_FILE_TMPDIR/t"
    local address rank
    address=$(sed -n 's/^name \(.*\) tables\[3\]\.lock$/\1/p' "$BATS_FILE_TMPDIR/out")
    rank=$(json "classes[object=$address].rank" | head -n 1)
    heurt report -i "$BATS_FILE_TMPDIR/t" --width 300 --classes "$rank"
    grep -Eq "^  object +$address tables\[3\]\.lock, declared in .*names_known\.c:35$" <<<"$output"
}

@test "an aggregated run names its locks, too" {
    "$HEURT" record --quiet --aggregate -o t "$PROGRAMS/names_known" >out </dev/null
    report_json t
    address=$(sed -n 's/^name \(.*\) queue.ends.tail_lock$/\1/p' out)
    [ "$(json "classes[object=$address].object_name" | sort -u)" = queue.ends.tail_lock ]
}

@test "a long wait has the stack of its own thread, not that of its class" {
    local address
    address=$(sed -n 's/^slow //p' "$BATS_FILE_TMPDIR/out")
    "$HEURT" dump -i "$BATS_FILE_TMPDIR/t" >dump
    # Its leave, the stack just before of the same time, and by which way it came there.
    awk -v lock="lock=$address" '
        / stack / { stack[$2] = $0; time[$2] = $1 }
        / enter +lock wait/ && index($0, lock) { waits[$2] = 1 }
        / leave +lock wait/ && waits[$2] {
            waits[$2] = 0
            if (time[$2] == $1) print stack[$2]
        }' dump >stacks
    grep -q 'lock_and_unlock .* < come_late .* < visit ' stacks
    report_json "$BATS_FILE_TMPDIR/t"
    # The class's stacks are those of the first occurrences, and of every ten-thousandth.
    json "classes[object=$address].stacks[].frames[].function" >frames
    grep -qx come_early frames
    ! grep -qx come_late frames
}

@test "a program is called by the name that it was started with, on every screen" {
    cp "$EXAMPLES/queue" the_file
    strip the_file
    ln -s the_file the_name
    record -o t ./the_name --threads 2 --iterations 200
    expect_status 0
    local verb
    for verb in report 'report --classes --threshold 0' locks structure; do
        # shellcheck disable=SC2086 # options
        "$HEURT" $verb -i t >screen
        ! grep the_file screen
    done
    "$HEURT" report -i t --json >report.json
    grep -q '\[the_name+0x' report.json
    ! grep the_file report.json
}
