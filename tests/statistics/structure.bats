# What stands out of a trace's structure: the injected anomalies, and next to nothing else.
load ../helpers
load statistics

# walk NAME OPTION…: records structure_known with all its functions, or with none when it shows
# through hooks; trace NAME, output NAME.out.
walk() {
    local functions=(-f 'step_*' -f 'whole_*')
    [ "$1" != hooks ] || functions=()
    "$HEURT" record --quiet --overhead none -o "$1" "${functions[@]}" \
        "$PROGRAMS/structure_known" "${@:2}" >"$1.out" 2>"$1.err" </dev/null
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

# long_ones NAME: of the anomalies of a recorded walk, a line "TID FUNCTION BEGIN_NS END_NS" each.
long_ones() {
    occurrences "$1" >all
    sed -nE 's/^anomaly=.* tid=([0-9]+) function=([a-z_]+) .* occurrence=([0-9]+)$/\1 \2 \3/p' "$1.out" |
        awk 'NR == FNR { at[$1 " " $2 " " $3] = 1; next }
            at[$1 " " $2 " " $3] { print $1, $2, $4, $5 }' - all
}

# left NAME FORMAT: what heurt export --interesting leaves of it is in left.FORMAT.
left() {
    "$HEURT" export -i "$1" --interesting "--$2" -o "left.$2" 2>left.err ||
        fail "no export: $(cat left.err)"
}

@test "what is interesting is a twentieth of the trace at most" {
    local seed options all kept
    for seed in 1 2 3 4 5 6; do
        options=(--threads 3 --iterations 400 --anomalies $((4 * seed)) --seed "$seed")
        [ $((seed % 2)) = 0 ] || options+=(--variants --turns 1 5)
        [ $((seed % 3)) != 0 ] || options+=(--hooked)
        walk slow "${options[@]}"
        left slow csv
        all=$("$HEURT" export -i slow --csv | tail -n +2 | wc -l)
        kept=$(tail -n +2 left.csv | grep -Evc '^([^,]*,){4}gap,')
        echo "seed $seed: $kept of $all"
        [ $((20 * kept)) -le "$all" ]
    done
}

@test "few occurrences are listed one by one, and few iterations stand out" {
    walk slow --threads 2 --iterations 300 --anomalies 16 --seed 11
    "$HEURT" structure -i slow --interesting --csv >points.csv
    [ "$(wc -l <points.csv)" -lt 400 ] # of some 30,000 calls
    walk slow --threads 1 --setup 0 --iterations 300 --variants --turns 1 4 --anomalies 8 --seed 21
    "$HEURT" structure -i slow --json >structure.json
    [ "$("$JSON_GET" structure.json 'iterations[].outlier_count' | sort -n | tail -n 1)" -lt 60 ]
}

# difference CLASS AT_NS: the occurrence of then beside the fastest is in difference.json; the parts
# add up.
difference() {
    "$HEURT" diff-occurrence -i slow "$1" --at "$2ns" --json >difference.json ||
        fail "no difference of $1 at $2 ns"
    local whole
    whole=$("$JSON_GET" difference.json difference_ns)
    is "$1: own times" "$("$JSON_GET" difference.json 'rows[].own_difference_ns' | sum)" "$whole"
    is "$1: components" "$("$JSON_GET" difference.json components_ns | tr ',{}' '\n' |
        sed -n 's/.*://p' | sum)" "$whole"
}

@test "one slow and one fast iteration: the anomaly is what differs most" {
    walk slow --threads 1 --iterations 300 --anomalies 12 --seed 5
    long_ones slow >long
    local tid function begin end whole found=0
    while read -r tid function begin end; do
        difference "$function" $(((begin + end) / 2))
        is "$function at $begin: thread" "$("$JSON_GET" difference.json slow.tid)" "$tid"
        is "$function at $begin: begin" "$("$JSON_GET" difference.json slow.start_ns)" "$begin"
        [ "$("$JSON_GET" difference.json slow.duration_ns)" -ge \
            $((10 * $("$JSON_GET" difference.json fast.duration_ns))) ]
        whole=whole_iteration
        [[ $function != step_load && $function != step_index ]] || whole=whole_setup
        difference $whole $(((begin + end) / 2))
        # Another program may have taken more of the same iteration.
        paste -d ' ' <("$JSON_GET" difference.json 'rows[].function') \
            <("$JSON_GET" difference.json 'rows[].own_difference_ns') | sort -rn -k 2 >longest
        ! head -n 1 longest | grep -q "^$function " || found=$((found + 1))
    done <long
    echo "$found of $(wc -l <long)"
    [ $((2 * found)) -gt "$(wc -l <long)" ]
}
