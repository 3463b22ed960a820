#!/usr/bin/env bats
# heurt export --paje, read by pj_dump; and the way back by heurt import.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet --overhead none --no-kernel -o t -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" --threads 2 --iterations 300 --anomalies 8 --seed 7 >out </dev/null
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    ln -s "$BATS_FILE_TMPDIR/t" heurt.data
}

@test "pj_dump reads every state" {
    command -v pj_dump >/dev/null || skip "pj_dump is not installed (make deps)"
    "$HEURT" export --paje -o p.paje
    pj_dump p.paje >states
    "$HEURT" dump >dump
    for function in step_row step_sweep whole_iteration; do
        [ "$(awk -F', ' -v f=$function '$1 == "State" && $NF == f' states | wc -l)" = \
            "$(grep -cE "enter +$function\$" dump)" ] || fail "$function"
    done
    [ "$(grep -c '^Container, .*, Thread, ' states)" = 3 ]
}

@test "there and back: the calls and the loop are the same" {
    "$HEURT" export --paje -o p.paje
    heurt import p.paje -o back
    expect_status 0
    for dir in heurt.data back; do
        "$HEURT" tables -i $dir --format csv --class site classes:function,count --where 'function~step_*' |
            sort >$dir.classes
    done
    [ "$(wc -l <back.classes)" -gt 5 ]
    cmp heurt.data.classes back.classes
    for dir in heurt.data back; do
        "$HEURT" structure -i $dir | grep -q '×300 .*run a loop each' || fail "the loop of $dir"
    done
}

@test "names that attack are one word" {
    printf 'process 0 100 /bin/a\nfunction 0 1024 a"b\x1b[31m 0x401000\nthread 0 x\n1000 thread_start 1\n1100 a"b\x1b[31m\n1200 leave a"b\x1b[31m\n1300 thread_end\n' |
        "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --paje >p.paje
    grep -qF "2 v0 S \"a'b\\x1b[31m\"" p.paje
    ! grep -q $'\x1b' p.paje || fail "sent"
}

@test "a wait tells its lock" {
    {
        printf 'start 1000\nprocess 0 100 /bin/a\nthread 0 a\n1000 thread_start 0 -1 0x401000\n'
        printf '1200 lock_wait 0x401200/3 0x7000\n2100 leave lock_wait 0\n'
        printf '2200 lock_wait 0x401200/3 0x8000\n2300 leave lock_wait 0\n'
        printf '2400 lock_wait 0x401200/3 0x7000\n2500 leave lock_wait 0\n3000 thread_end 0 0\n'
    } | "$HEURT_BUILD/tests/tools/make_trace" made
    "$HEURT" export -i made --paje >p.paje
    [ "$(grep -c '^2 v' p.paje)" = 2 ]
    [ "$(grep -c "^4 .* $(sed -n 's/^2 \(v[0-9]*\) S "pthread_spin_lock (spin lock 0x7000)".*/\1/p' p.paje)\$" p.paje)" = 2 ]
}
