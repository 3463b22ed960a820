# The structure of traces: of a program that runs a known nest of loops, and of iterative solvers.
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    walk calls --threads 3 --watchers 1 --iterations 300 --turns 2 2
    walk kinds --threads 2 --iterations 300 --variants --turns 1 6
}

# walk NAME OPTION…: records structure_known with all its functions; trace NAME, output NAME.out.
walk() {
    "$HEURT" record --quiet --overhead none -o "$1" -f 'step_*' -f 'whole_*' \
        "$PROGRAMS/structure_known" "${@:2}" >"$1.out" 2>"$1.err" </dev/null
}

walked() { # NAME: its trace
    printf '%s/%s\n' "$BATS_FILE_TMPDIR" "$1"
}

printed() { # NAME KEY: what the program says itself
    sed -n "s/^$2=//p" "$(walked "$1").out"
}

is() { # NAME FOUND EXPECTED
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# occurrences TRACE: of the walkers' functions, a line "TID FUNCTION OCCURRENCE BEGIN_NS END_NS" each.
occurrences() {
    "$HEURT" dump -i "$1" --function 'step_*' --function 'whole_*' | awk '
        { split($1, time, "."); ns = (time[1] % 1000000) * 1000000000 + time[2]
          for (i = 3; $i != "enter" && $i != "leave"; i++) if (i == NF) next
          function_name = $(i + 1); key = $2 " " function_name }
        $i == "enter" { begin[key] = ns }
        $i == "leave" { printf "%s %d %.0f %.0f\n", key, count[key]++, begin[key], ns }'
}

@test "the trace holds what the program says that it did" {
    local trace function
    for trace in calls kinds; do
        report_json "$(walked $trace)"
        is "$trace: lost" "$(json coverage.events_lost)" 0
        for function in $(grep -oE '^(step|whole)_[a-z]+' "$(walked $trace).out"); do
            is "$trace: $function" "$(json "classes[function=$function].count" || echo 0)" \
                "$(printed $trace "$function")"
        done
    done
    [ "$(printed kinds step_skip)" -gt 100 ]
    [ "$(printed calls step_skip)" = 0 ]
}

@test "anomalies last as long as the program says, occurrence by occurrence" {
    walk slow --threads 2 --iterations 100 --variants --anomalies 12 --seed 7
    occurrences slow >all
    local tid function occurrence took median compared=0
    while read -r tid function occurrence; do
        took=$(awk -v at="$tid $function $occurrence" '$1 " " $2 " " $3 == at { print $5 - $4 }' all)
        median=$(awk -v name="$function" '$2 == name { print $5 - $4 }' all | sort -n |
            awk '{ ns[NR] = $1 } END { print ns[int((NR + 1) / 2)] }')
        [ "$took" -ge $((10 * median)) ] ||
            fail "$function $occurrence of $tid took $took ns, the median is $median ns"
        compared=$((compared + 1))
    done < <(sed -nE 's/^anomaly=.* tid=([0-9]+) function=([a-z_]+) .* occurrence=([0-9]+)$/\1 \2 \3/p' slow.out)
    is "anomalies" "$compared" 12
}
