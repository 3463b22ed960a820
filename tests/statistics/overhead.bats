# heurt record --overhead: durations of a function that was sampled are those of all its calls.
load ../helpers
load statistics

class() { # FUNCTION FIELD
    json "classes[function=$1].$2"
}

# Patched no longer, and counted until then.
is_left_out() { # FUNCTION
    json "coverage.refused[function=$1].reason" | grep -q '^left out after'
}

# What the function did on the CPU: its sum without what the kernel told of waiting for one.
on_cpu() { # FUNCTION, in report.json
    local off
    off=$(($(class "$1" why_ns.runnable) + $(class "$1" why_ns.page_fault) +
        $(class "$1" why_ns.other_blocked)))
    echo $(($(class "$1" sum_ns) - off))
}

# Every 16th call takes ten times longer: durations of the two kinds, and so the sum, must be met. What
# else ran on the machine has made each run longer by as much as it had to wait for a CPU, which is taken
# off; where the kernel does not tell, that is within the stated error, which is made of it.
same_as_full() { # a recording of all calls, and one of some of them: whether they tell the same
    record -o full -f sampled_varied --max-size 1G "$PROGRAMS/sampled_known"
    record -o part -f sampled_varied --overhead 10% "$PROGRAMS/sampled_known"
    report_json full
    local p50 p99 sum slack=0
    p50=$(class sampled_varied p50_ns) p99=$(class sampled_varied p99_ns)
    sum=$(on_cpu sampled_varied)
    [ "$(class sampled_varied sampled)" = null ] || return 1
    report_json part
    ! is_left_out sampled_varied || return 1
    is_number_above 0 "$(class sampled_varied sum_error_ns)" || return 1
    "$HEURT" dump -i part -f kernel | grep -q . || slack=5
    awk -v sum="$sum" -v p50="$p50" -v p99="$p99" -v part="$(on_cpu sampled_varied)" \
        -v part50="$(class sampled_varied p50_ns)" -v part99="$(class sampled_varied p99_ns)" \
        -v error="$(class sampled_varied sum_error_ns)" -v slack="$slack" '
        function near(a, b, most) { return a - b < most && b - a < most }
        BEGIN {
            print sum, part, error, p50, part50, p99, part99
            exit !(near(sum, part, slack * error + 0.25 * sum) && near(p50, part50, 0.4 * p50) &&
                   near(p99, part99, 0.4 * p99) && part99 > 5 * part50)
        }'
}

# Between two runs the machine may have become slower for other reasons, but hardly in each of three pairs.
@test "durations and sums are those of the full recording, within the stated error" {
    same_as_full || same_as_full || same_as_full || fail "not the same"
}
