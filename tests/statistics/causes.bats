# The ledger on programs of known cause: what is certain by their construction, a run of each.
# `make bench-causes` has all of them, and tells how often the answer is right.
load ../helpers
load statistics

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    "$HEURT" record --quiet -o t --no-choice true >out 2>err </dev/null
    "$HEURT" report -i t --json >report.json
    kernel=$("$JSON_GET" report.json kernel.records)
    export kernel
}

# finds WORD PROGRAM [OPTION VALUE]: what most of the time that work lost went to, but for waiting for a CPU: that
# depends on what else the machine does, and is no part of what the program injects.
finds() {
    local besides=runnable
    [ "$1" != runnable ] || besides=none
    "$HEURT" record --quiet -o t "${@:3}" -f work "$PROGRAMS/causes/cause_$2" >out
    report_json t
    json 'classes[function=work].why_ns' | tr -d ' "{}\n' | tr ',' '\n' | tr ':' ' ' >why
    [ "$(grep -c . why)" -gt 10 ] || fail "$(cat why)"
    local largest
    largest=$(grep -v "^$besides " why | sort -k 2 -n | tail -n 1)
    [ "${largest% *}" = "$1" ] || fail "$(cat out why)"
    [ "${largest#* }" -gt 0 ]
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
    # The post may be the last thing that a patched function does: then it returns into heurt itself.
    ! "$HEURT" report -i t | grep -F heurt_stub || fail "heurt's own code is shown as the program's"
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
    finds workload argument -A work=amount
}
