# The ledger on programs of known cause: what is certain by their construction, a run of each.
# `make bench-causes` has all of them, and tells how often the answer is right.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o t --no-choice true >out 2>err </dev/null
    "$HEURT" report -i t --json >report.json
    kernel=$("$JSON_GET" report.json kernel.records)
    export kernel
}

# finds WORD PROGRAM: heurt's answer for it. Without a run in which the program itself measured that
# what it injects is most of what it loses, and waiting for a CPU little, there is nothing to ask.
finds() {
    "$HEURT_BUILD/tests/bench/bench-causes" --runs 1 --neighbours 0 --only "$2" --json >report.json ||
        cat report.json
    local reason
    reason=$(json 'alone[0].skipped') && skip "$reason"
    json 'alone[0].expected' >/dev/null || {
        [ "$(json alone)" = '[]' ] || fail "$(json alone)"
        skip "the machine is busy"
    }
    awk -v injected="$(json 'alone[0].injected_share')" \
        -v runnable="$([ "$1" = runnable ] || json 'alone[0].runnable_share')" \
        'BEGIN { exit !(injected > 0.6 && runnable < 0.3) }' || skip "the machine is busy"
    [ "$(json 'alone[0].found')" = "$1" ] || fail "$(json alone)"
}

needs_kernel() {
    [ "$kernel" = true ] || skip "the kernel's records are not to be had here"
}

@test "a mutex: lock" {
    finds lock mutex
}

@test "a reader-writer lock: lock" {
    finds lock rwlock
}

@test "a spin lock: lock" {
    finds lock spinlock
}

@test "a turnstile: condition" {
    finds condition condition
}

@test "a semaphore: condition" {
    finds condition semaphore
}

@test "a thread that comes late: barrier" {
    finds barrier barrier
}

@test "writing past the page cache: disk" {
    finds disk disk
}

@test "a server that takes its time: network" {
    finds network network
}

@test "sleeping: sleep" {
    finds sleep sleep
}

@test "more threads than CPUs: runnable" {
    needs_kernel
    finds runnable preemption
}

@test "fresh memory: page faults, and what recording them costs" {
    needs_kernel
    "$HEURT" record --quiet -o t -f work "$PROGRAMS/causes/cause_page_fault" >out
    report_json t
    local faults overhead excess
    faults=$(json 'classes[function=work].why_ns.page_fault')
    overhead=$(json 'classes[function=work].why_ns.overhead')
    excess=$(json 'classes[function=work].excess_ns')
    awk -v faults="$faults" -v overhead="$overhead" -v excess="$excess" \
        -v injected="$(sed -n 's/^injected_page_fault_ns=//p' out)" \
        'BEGIN { exit !(faults > 0 && faults <= excess && faults + overhead > injected / 2) }' ||
        fail "page faults $faults, overhead $overhead, excess $excess; $(tr '\n' ' ' <out)"
}

@test "an argument that decides how long it takes: workload, not interference" {
    finds workload argument
}
