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

@test "sleeps of a loop that asks whether it may go on are one wait, but the first" {
    local naps count
    record_waits naps
    naps=$(sed -n 's/^naps=//p' <<<"$output")
    count=$(json 'classes[function=usleep].count' | sum)
    [ $((count * 10)) -lt "$naps" ] || fail "$count waits of $naps sleeps"
    [ "$(classes yield function | sort -u)" = usleep ]
    [ "$(classes yield idle)" = false ]
    classes yield caller.function | grep -F nap_until_ready
}

@test "a loop that looks under a lock between its sleeps asks, for as long as it becomes patient, too" {
    local naps waits
    record_waits looks
    naps=$(sed -n 's/^naps=//p' <<<"$output")
    waits=$(classes yield count | sum)
    # Several sleeps are one wait, six of these 20 on a quiet machine. Where others have the CPU in between, it
    # may look as if it had done something.
    is_number_above 0 "$waits" || fail "$waits waits of $naps sleeps"
    classes yield caller.function | grep -F nap_until_told
}

@test "a sleep after a lock was refused is a wait for it, the first one, too" {
    local naps waits
    record_waits tries
    naps=$(sed -n 's/^naps=//p' <<<"$output")
    waits=$(classes yield count | sum)
    # Who had no CPU in between is not known to have slept for it.
    # Where others have the CPU in between, it may look as if it had done something.
    [ $((5 * waits)) -gt "$naps" ] || fail "$waits waits of $naps sleeps"
    [ "$(classes yield function | sort -u)" = usleep ]
    classes yield caller.function | grep -F nap_until_free
}

@test "sleeps between which something is done are sleeps, each of them" {
    record_waits paces
    [ "$(classes sleep count | sum)" = "$(sed -n 's/^naps=//p' <<<"$output")" ]
    [ -z "$(classes yield count)" ]
}

@test "sleeps that are now longer and now shorter ask for nothing" {
    record_waits stands
    # The first ones may look as if they did.
    is_number_above 40 "$(classes sleep count | sum)"
}

# once_in KIND FUNCTION: one wait, for who makes what is made once.
once_in() {
    record_waits "$1"
    [ "$(classes futex count | sum)" = 1 ] || fail "$(classes futex count)"
    classes futex caller.function | grep -F "$2"
    classes futex blames | grep -q . # who made it
}

@test "pthread_once: who comes while it is made waits for that" {
    once_in once come_for_once
    [ "$(classes futex function)" = pthread_once ]
}

@test "a static local variable: who comes while it is made waits for that" {
    once_in guard made_once
}

@test "waits for children and for signals" {
    record_waits children
    [ "$(json 'classes[function=waitpid].count' | sum)" = "$(sed -n 's/^waits=//p' <<<"$output")" ]
    record_waits signals
    [ "$(json 'classes[function=sigwait].count' | sum)" = 1 ]
}

@test "critical and ordered sections and barriers of OpenMP are locks and barriers, by the program's own places" {
    [ -x "$PROGRAMS/openmp" ] || skip "no OpenMP here"
    local regions=10 threads
    record -o t --quiet --no-choice "$PROGRAMS/openmp"
    expect_status 0
    report_json t
    threads=$(sed -n 's/^threads=//p' <<<"$output")
    [ "$(json 'classes[function=omp critical].count' | sum)" = "$(sed -n 's/^critical=//p' <<<"$output")" ]
    [ "$(json 'classes[function=omp ordered].count' | sum)" = "$(sed -n 's/^ordered=//p' <<<"$output")" ]
    json 'classes[function=omp ordered].object_name' | grep -x ordered
    json 'classes[function=omp critical].object_name' | grep -xF 'critical(unnamed)'
    # The end of the loop, and the one that is called.
    [ "$(json 'classes[function=omp barrier].count' | sum)" = $((2 * regions * threads)) ]
    if ldd "$PROGRAMS/openmp" | grep -q libgomp; then # of the first region at least
        is_number_above $((threads - 1)) "$(json 'classes[function=end of omp parallel].count' | sum)"
        # Between the regions all but the one who calls them wait for the next one: that is no loss.
        is_number_above $((threads - 2)) "$(json 'classes[function=wait for omp parallel].count' | sum)"
        ! json 'classes[function=wait for omp parallel].idle' | grep -v true
    fi
    json 'classes[kind=barrier].caller.file' | grep -F openmp.c
    ! json 'classes[function=omp critical].caller.file' | grep -vF openmp.c
}

record_short_regions() { # [ARGUMENT]: or skips
    [ -x "$PROGRAMS/openmp_short" ] || skip "no OpenMP here"
    ldd "$PROGRAMS/openmp_short" | grep -q libgomp || skip "no libgomp"
    record -o t --quiet --no-choice "$PROGRAMS/openmp_short" "$@"
    expect_status 0
}

@test "regions with nothing to do: starting and ending them is a finding, of all of them one" {
    record_short_regions
    report_json t
    [ "$(json 'findings[].sentence' | grep -c 'short parallel regions')" = 1 ] || fail "$(json findings)"
    # Whatever the neighbours take of the CPUs: nothing else of the program's own costs as much.
    json 'findings[].sentence' | grep -v 'wanted a CPU' | head -n 1 | grep 'short parallel regions.*run_'
    # Who calls them waits; the others have nothing to do in between.
    [ "$(json 'classes[function=start and end of omp parallel].idle' | sort -u)" = false ]
    ! json 'classes[function=wait for omp parallel].idle' | grep -v true
}

@test "who is alone in its team meets nobody: the run can be replayed" {
    record_short_regions teams
    "$HEURT" whatif -i t --json >report.json
    local replayed measured
    replayed=$(json replayed_ns) measured=$(json measured_ns)
    [ "$replayed" -gt $((measured / 2)) ] || fail "replayed $replayed of $measured ns"
}

# waits_in KIND FUNCTION: the one wait is told, at the program's own place, from the first occurrence on.
waits_in() {
    record_waits "$1"
    [ "$(json 'classes[kind=futex].caller.function' | grep -c "$2")" = 1 ] || fail "$(classes futex caller.function)"
    is_number_above 0 "$(classes futex excess_ns | sort -n | tail -n 1)"
    classes futex verdict | grep -q interference
    classes futex blames | grep -q . # who woke it
    ! classes futex object_name | grep -F waiter_pool
}

@test "std::latch: a wait in the program, at the variable it is" {
    waits_in latch wait_for_latch
    classes futex object_name | grep -Fx local.together
}

@test "std::barrier: not what libstdc++ waits at" {
    waits_in barrier wait_for_round
}

@test "std::counting_semaphore" {
    waits_in semaphore take_token
}

@test "std::atomic::wait" {
    waits_in atomic wait_for_phase
    classes futex object_name | grep -F phase
}

# events PATTERN: how many there are of the run in t.
events() {
    "$HEURT" dump -i t | grep -cE "$1" || :
}

# record_calls KIND: with the calls that the program makes by instructions of its own.
record_calls() {
    record -o t --quiet "$PROGRAMS/system_calls" "$1"
    expect_status 0
    truth=$output
}

@test "futex(2) by an instruction of the program: each wait and wake is told, nothing else is changed" {
    needs_plain_heurt
    record_calls inline
    [ "$(sed -n 's/^kept=//p' <<<"$truth")" = 7 ]
    [ "$(events 'enter futex wait .*call_inline')" = "$(sed -n 's/^waits=//p' <<<"$truth")" ]
    [ "$(events 'leave futex wait')" = "$(sed -n 's/^waits=//p' <<<"$truth")" ]
    [ "$(events 'futex woken .*call_inline')" = "$(sed -n 's/^wakes=//p' <<<"$truth")" ]
    report_json t
    classes futex blames | grep -q call_inline # who woke it
    record -o t --quiet --no-choice "$PROGRAMS/system_calls" inline # nothing is patched then
    [ "$(events '(enter|leave|point) +futex')" = 0 ]
}

@test "a wait inside of libc is told once, and named by what its caller asked for" {
    needs_plain_heurt
    record_calls file
    [ "$(events 'enter futex wait')" = "$(sed -n 's/^waits=//p' <<<"$truth")" ]
    report_json t
    classes futex caller.function | grep -F move_in_file
}

@test "a recorder that does not answer does not hold up a program that makes a thread" {
    needs_plain_heurt
    record_calls inline # what is found out is kept
    heurt record -o stopped --quiet sh -c 'kill -STOP $PPID; "$0" inline; kill -CONT $PPID' \
        "$PROGRAMS/system_calls"
    expect_status 0
    grep -Fx kept=7 <<<"$output"
    "$HEURT" report -i stopped --json | grep -F 'did not answer'
}

@test "who reads the result of a process it started waits for that, as for its end: no finding" {
    cat >work.sh <<'END'
count() { i=0; while [ $i -lt $1 ]; do i=$((i + 1)); done; echo $i; }
count 40000 >own
result=$(count 100000)
cat own; echo "$result"
END
    record -o t --quiet --no-choice sh work.sh
    expect_status 0
    [ "$output" = $'40000\n100000' ]
    report_json t
    [ "$(json 'classes[kind=pipe].idle' | sort -u)" = false ] # by itself it could be an exchange
    ! json 'findings[].category' | grep -x pipe || fail "$(json findings)"
}
