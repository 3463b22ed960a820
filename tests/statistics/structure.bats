# What stands out of a trace's structure: the injected anomalies, and next to nothing else.
load ../helpers
load ../walks
load statistics

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
