# The structure of traces: of a program that runs a known nest of loops, and of iterative solvers.
load ../helpers
load ../walks

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    walk calls --threads 3 --watchers 1 --iterations 300 --turns 2 2
    walk turns --threads 2 --iterations 300 --turns 1 6
    walk kinds --threads 2 --iterations 300 --variants --turns 1 6
    walk hooks --threads 2 --iterations 300 --hooked
    "$HEURT" record --quiet --overhead none -o solver -f set_up -f cycle -f smooth -f '*_level' \
        -f find_norm "$PROGRAMS/solver_threads" 4 30 >solver.out 2>solver.err </dev/null
}

walked() { # NAME: its trace, of this test or of all
    if [ -e "$1" ]; then
        printf '%s\n' "$PWD/$1"
    else
        printf '%s\n' "$BATS_FILE_TMPDIR/$1"
    fi
}

printed() { # NAME KEY: what the program says itself
    sed -n "s/^$2=//p" "$(walked "$1").out"
}

# structure NAME [OPTION…]: what is told of the trace is in structure.json and rows: a line
# "GROUP PATH LOOPS COUNT MIN MAX SUM_NS" each, where the path is "loop/whole_iteration/step_norm",
# MIN and MAX are a loop's turns, and "-" stands for nothing.
structure() {
    "$HEURT" structure -i "$(walked "$1")" --json "${@:2}" >structure.json ||
        fail "no structure of $1"
    is schema "$(of schema)" heurt.structure/1
    "$HEURT" structure -i "$(walked "$1")" --csv "${@:2}" >structure.csv
    awk -F, 'function or_none(text) { return text == "" ? "-" : text }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { depth = $at["depth"]
          path[depth] = (depth ? path[depth - 1] "/" : "") ($at["kind"] == "loop" ? "loop" : $at["function"])
          print $at["group"], path[depth], or_none($at["loops"]), or_none($at["count"]),
              or_none($at["turns_min"]), or_none($at["turns_max"]), $at["sum_ns"] }' structure.csv >rows
}

of() { # PATH, in structure.json
    "$JSON_GET" structure.json "$1"
}

# groups NAME ROLE: the groups in which the program's threads of that role are, each once.
groups() {
    local group tid tids
    for ((group = 0; ; group++)); do
        tids=$(of "groups[$group].threads[].tid" 2>/dev/null) || break
        for tid in $(sed -n "s/^thread=.* tid=\([0-9]*\) role=$2$/\1/p" "$(walked "$1").out"); do
            ! grep -qx "$tid" <<<"$tids" || echo "$group"
        done
    done | sort -u
}

# row GROUP PATH LOOPS COUNT MIN MAX: there is one such row.
row() {
    local found
    found=$(awk -v group="$1" -v path="$2" '$1 == group && $2 == path { print $3, $4, $5, $6 }' rows)
    is "group $1, $2" "$found" "$3 $4 $5 $6"
}

@test "the trace holds what the program says that it did" {
    local trace function
    for trace in calls kinds; do
        report_json "$(walked $trace)"
        is "$trace: lost" "$(json coverage.events_lost)" 0
        for function in $(grep -oE '^(step|whole)_[a-z]+' "$(walked $trace).out"); do
            is "$trace: $function" "$(json "classes[function=$function].count" | sum)" \
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

@test "loops turn as often as the program says" {
    local walkers watchers
    structure calls
    walkers=$(groups calls walker)
    row "$walkers" loop/whole_setup - 60 - -
    row "$walkers" loop/whole_setup/loop 60 240 4 4
    row "$walkers" loop/whole_setup/loop/step_load - 240 - -
    row "$walkers" loop/whole_iteration - 900 - -
    row "$walkers" loop/whole_iteration/step_gather - 900 - -
    row "$walkers" loop/whole_iteration/loop/step_sweep - 7200 - -
    row "$walkers" loop/whole_iteration/loop/step_sweep/loop 7200 28800 4 4
    row "$walkers" loop/whole_iteration/loop/step_sweep/loop/step_row - 28800 - -
    row "$walkers" loop/whole_iteration/loop/step_refine - 1800 - -
    row "$walkers" loop/whole_iteration/step_norm - 900 - -
    row "$walkers" step_finish - 3 - -
    is "loops of setup and iterations" \
        "$(awk -v group="$walkers" '$1 == group && $2 == "loop"' rows | cut -d ' ' -f 3-6)" \
        $'3 60 20 20\n3 900 300 300'
    is "loops in an iteration" "$(awk -v group="$walkers" \
        '$1 == group && $2 == "loop/whole_iteration/loop"' rows | cut -d ' ' -f 3-6)" \
        $'900 7200 8 8\n900 1800 2 2'
    watchers=$(groups calls watcher)
    row "$watchers" loop 1 300 300 300
    row "$watchers" loop/loop 300 600 2 2
    row "$watchers" loop/step_note - 300 - -
}

@test "threads that do the same are one group, others are not" {
    structure calls
    is "walkers' groups" "$(groups calls walker | wc -l)" 1
    is "walkers" "$(of "groups[$(groups calls walker)].threads[].tid" | wc -l)" 3
    is "watchers" "$(of "groups[$(groups calls watcher)].threads[].tid" | wc -l)" 1
    structure solver
    is "groups" "$(of 'groups[].lifetime_ns' | wc -l)" 2
}

@test "a program without any recorded function has the same loops, seen through hooked calls" {
    structure hooks
    local walkers
    walkers=$(groups hooks walker)
    row "$walkers" loop 2 600 300 300
    row "$walkers" loop/pthread_barrier_wait - 600 - -
    row "$walkers" loop/loop 600 4800 8 8
    row "$walkers" loop/loop/write - 4800 - -
    row "$walkers" loop/loop/loop 4800 19200 4 4
    row "$walkers" loop/loop/loop/pthread_mutex_lock - 19200 - -
}

@test "a solver with barriers: its cycles, and the levels in them" {
    structure solver
    local workers=0
    is "threads" "$(of 'groups[0].threads[].tid' | wc -l)" 4
    row $workers loop 4 "$(printed solver cycle)" 30 30
    row $workers loop/cycle - 120 - -
    is "levels down and up" \
        "$(awk '$1 == 0 && $2 == "loop/cycle/loop" && $5 == 11 && $6 == 11 { print $3, $4 }' rows)" \
        $'120 1320\n120 1320'
    row $workers loop/cycle/loop/restrict_level - "$(printed solver restrict_level)" - -
    row $workers loop/cycle/loop/prolong_level - "$(printed solver prolong_level)" - -
}

@test "a solver with OpenMP: its iterations, in the thread that starts the regions and in the others" {
    [ -x "$PROGRAMS/solver_openmp" ] || skip "this compiler has no OpenMP library"
    "$HEURT" record --quiet --overhead none -o omp -f iteration -f '*omp_fn*' -f '*omp_outlined*' \
        "$PROGRAMS/solver_openmp" 4 40 >omp.out 2>omp.err </dev/null
    structure omp
    is "turns" "$(phase iteration turns)" 40
    # LLVM's runtime waits in calls that are recorded, as often as it happens to.
    ! ldd "$PROGRAMS/solver_openmp" | grep -q libomp || return 0
    is groups "$(of 'groups[].lifetime_ns' | wc -l)" 2
    is "loops" "$(awk '$2 == "loop" { print $4, $5, $6 }' rows | sort)" $'120 40 40\n40 40 40'
    is "regions" "$(awk '$2 ~ /^loop\/[^/]*omp/' rows | wc -l)" 5
}

@test "counts of all shapes are those of the report" {
    local function
    structure calls
    report_json "$(walked calls)"
    for function in step_gather step_row step_sweep step_refine step_norm whole_iteration; do
        is "$function" "$(awk -v name="$function" '$2 ~ "(^|/)" name "$" { n += $4 }
            END { print n }' rows)" "$(json "classes[function=$function].count" | sum)"
    done
}

# By chance the kinds come in runs, which are loops, too. How often each of them stood where is an estimate.
@test "iterations of two kinds are one loop" {
    structure kinds
    awk -v group="$(groups kinds walker)" '$1 == group && $2 == "loop"' rows >loops
    is "loops" "$(cut -d ' ' -f 3 loops)" $'2\n2'
    is "setup" "$(sed -n 1p loops | cut -d ' ' -f 4-6)" "40 20 20"
    awk 'NR == 2 { exit !($4 > 480 && $4 <= 600) }' loops || fail "$(cat loops)"
    heurt structure -i "$(walked kinds)"
    grep -Eq '^  ×~[23][0-9][0-9]  2 threads .*: whole_iteration' <<<"$output"
}

@test "only some threads, only so many levels" {
    local watcher
    watcher=$(sed -n 's/^thread=.* tid=\([0-9]*\) role=watcher$/\1/p' "$(walked calls).out")
    structure calls --thread "$watcher"
    is "threads" "$(of 'groups[].threads[].tid')" "$watcher"
    row 0 loop/step_note - 300 - -
    structure calls --thread 'structure_*'
    is "threads" "$(of 'groups[].threads[].tid' | wc -l)" 5
    cp rows whole
    structure calls --depth 2
    diff rows <(awk '$2 !~ "/.*/"' whole)
    is "cut rows" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["cut"] == 1 { n++ } END { print n }' structure.csv)" 3
}

@test "the first screen names the program's iteration, and how often it turned" {
    walk long --threads 2 --iterations 5000 # so long that it begins and ends in next to no time
    heurt structure -i long
    expect_status 0
    grep -Eq '^ *×5,000 +2 threads structure_known .*whole_iteration' <<<"$output"
    grep -Eq '^ +(step_sweep|loop) ×8 +80,000 ' <<<"$output"
    grep -Eq '^ +(step_row|loop) ×4 +320,000 ' <<<"$output"
    heurt structure -i long --all
    grep -Eq '^ +(whole_setup|loop) ×20 +40 ' <<<"$output"
    heurt structure -i "$(walked solver)"
    grep -Eq '^ *×30 +4 threads solver_threads .*cycle' <<<"$output"
}

@test "what cannot be done is said in a sentence" {
    local arguments
    heurt structure -i nowhere
    expect_status 125
    says "no trace at nowhere"
    "$HEURT" record --quiet --aggregate -o sums "$PROGRAMS/structure_known" --hooked >/dev/null 2>&1
    heurt structure -i sums
    expect_status 125
    says "aggregate.*order"
    for arguments in "--thread 1" "--thread nobody" "--depth x" "--depth 0" "--depth -1" "--depth" \
        "--thread" "more" "--json --csv" "--nonsense"; do
        # shellcheck disable=SC2086
        heurt structure -i "$(walked calls)" $arguments
        expect_status 2
        says "${arguments##* }|${arguments%% *}"
        [ -z "$output" ]
    done
}

# classes_by HOW NAME: the classes of functions of the trace, by site or by structure, a line
# "FUNCTION COUNT SUM_NS EXCESS_NS" each, are in classes.HOW; everything adds up in that view.
classes_by() {
    local trace
    trace=$(walked "$2")
    "$HEURT" report -i "$trace" --class "$1" --audit >audit || fail "$(cat audit)"
    "$HEURT" report -i "$trace" --class "$1" --threshold 0 --json >report.json
    paste -d ' ' <(classes call function) <(classes call count) <(classes call sum_ns) \
        <(classes call excess_ns) >"classes.$1"
}

# of_function FIELD: lines "FUNCTION SUM", of all its classes, from stdin.
of_function() {
    awk -v field="$1" '{ sum[$1] += $field } END { for (name in sum) print name, sum[name] }' | sort
}

@test "classes by structure and by site: the same counts and sums of every function, no more lost" {
    local trace
    for trace in calls turns kinds solver; do
        classes_by site $trace
        classes_by structure $trace
        diff <(of_function 2 <classes.site) <(of_function 2 <classes.structure)
        # Each class's sum is a whole number of ns.
        join <(of_function 3 <classes.site) <(of_function 3 <classes.structure) |
            join - <(cut -d ' ' -f 1 classes.structure | sort | uniq -c | awk '{ print $2, $1 }') |
            awk -v trace=$trace '{ apart = $2 - $3; if (apart < 0) apart = -apart }
                apart > 1 + $4 { print trace, $0; bad = 1 } END { exit bad || !NR }'
        join <(of_function 4 <classes.site) <(of_function 4 <classes.structure) |
            awk -v trace=$trace '$3 > $2 + 10 { print trace, $0; bad = 1 } END { exit bad || !NR }'
    done
}

@test "iterations of two kinds are two classes, however often their loops turned" {
    classes_by structure kinds
    is "whole_iteration" "$(awk '$1 == "whole_iteration" { print $2 }' classes.structure | sort -n)" \
        "$(sort -n <<<"$((2 * $(printed kinds iterations_a)))
$((2 * $(printed kinds iterations_b)))")"
    classes_by site kinds
    is "whole_iteration" "$(awk '$1 == "whole_iteration" { print $2 }' classes.site)" 600
    classes_by structure turns
    is "whole_iteration" "$(awk '$1 == "whole_iteration" { print $2 }' classes.structure)" 600
}

@test "what is interesting: of every anomaly all is kept, and not all of the rest" {
    local seed options tid function begin end all kept anomalies
    for seed in 1 2 3 4 5 6; do
        options=(--threads 3 --iterations 400 --anomalies $((4 * seed)) --seed "$seed")
        [ $((seed % 2)) = 0 ] || options+=(--variants --turns 1 5)
        [ $((seed % 3)) != 0 ] || options+=(--hooked)
        walk slow "${options[@]}"
        long_ones slow >long
        anomalies=$(wc -l <long)
        is "seed $seed: anomalies" "$anomalies" $((4 * seed))
        left slow csv
        while read -r tid function begin end; do
            grep -Eq "^$begin,$tid,[0-9]+,structure_known,enter,[0-9]+,$function," left.csv ||
                fail "seed $seed: the begin of $function of $tid at $begin ns is not kept"
            grep -Eq "^$end,$tid,[0-9]+,structure_known,leave,[0-9]+,$function," left.csv ||
                fail "seed $seed: the end of $function of $tid at $end ns is not kept"
        done <long
        all=$("$HEURT" export -i slow --csv | tail -n +2 | wc -l)
        kept=$(tail -n +2 left.csv | grep -Evc '^([^,]*,){4}gap,')
        echo "seed $seed: $kept of $all"
        [ "$kept" -lt "$all" ] # how much less, what else the machine does decides: tests/statistics
        grep -q "$kept of $all events" left.err
    done
}

@test "every exporter leaves the same out" {
    walk slow --threads 2 --iterations 100 --anomalies 5 --seed 9
    local format kept=
    for format in text json csv; do
        left slow $format
        is "$format: anomalies" "$(grep -cE 'enter.*step_' left.$format)" \
            "${kept:=$(grep -cE 'enter.*step_' left.$format)}"
    done
    [ "$kept" -ge 5 ]
}

# points NAME: what heurt structure --interesting lists one by one, a line "TID FUNCTION AT_NS".
points() {
    "$HEURT" structure -i "$1" --interesting --csv >points.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { sub(/.* > /, "", $at["path"]); print $at["tid"], $at["path"], $at["at_ns"] }' points.csv
}

@test "what is interesting is listed, every anomaly with its function" {
    walk slow --threads 2 --iterations 300 --anomalies 16 --seed 11
    long_ones slow >long
    points slow >points
    local tid function begin end
    while read -r tid function begin end; do
        awk -v tid="$tid" -v name="$function" -v begin="$begin" -v end="$end" '
            $1 == tid && $2 == name && $3 >= begin - 1 && $3 <= end { found = 1 }
            END { exit !found }' points || fail "$function of $tid at $begin ns is not listed"
    done <long
    [ "$(wc -l <points)" -lt 3000 ] # of some 30,000 calls
    heurt structure -i slow --interesting
    expect_status 0
    grep -Eq 'step_(row|sweep|refine|norm|gather|load|index)' <<<"$output"
}

@test "one slow and one fast occurrence: the anomaly, and where it is in what encloses it" {
    walk slow --threads 1 --iterations 300 --anomalies 12 --seed 5
    long_ones slow >long
    local tid function begin end whole
    while read -r tid function begin end; do
        difference "$function" $(((begin + end) / 2))
        is "$function at $begin: thread" "$("$JSON_GET" difference.json slow.tid)" "$tid"
        is "$function at $begin: begin" "$("$JSON_GET" difference.json slow.start_ns)" "$begin"
        [ "$("$JSON_GET" difference.json slow.duration_ns)" -ge \
            $((10 * $("$JSON_GET" difference.json fast.duration_ns))) ]
        whole=whole_iteration
        [[ $function != step_load && $function != step_index ]] || whole=whole_setup
        difference $whole $(((begin + end) / 2))
        "$JSON_GET" difference.json 'rows[].function' | grep -q "^$function" || fail "no row of $function"
    done <long
}

@test "what cannot be compared is said in a sentence" {
    local arguments
    for arguments in nosuch 999 "step_row --at 1h" "step_row --at 9999s" "step_row --slow 0" iteration:9 \
        "step_row more"; do
        # shellcheck disable=SC2086
        heurt diff-occurrence -i "$(walked calls)" $arguments
        expect_status 2
        says .
        [ -z "$output" ]
    done
    heurt diff-occurrence -i "$(walked calls)"
    expect_status 2
    heurt diff-occurrence -i nowhere step_row
    expect_status 125
}

# phase FUNCTION FIELD: of the iterations, in structure.json, whose body begins with that function.
phase() {
    local phase
    for ((phase = 0; ; phase++)); do
        of "iterations[$phase].turns" >/dev/null 2>&1 || fail "no iterations of $1" || return
        [ "$(of "iterations[$phase].body[0].function")" != "$1" ] || break
    done
    of "iterations[$phase].$2" || :
}

@test "iterations: as many as the program made, and those stand out that an anomaly is in" {
    local iteration
    structure calls
    is "turns" "$(phase whole_iteration turns)" 900
    is "threads" "$(phase whole_iteration 'threads[].turns')" $'300\n300\n300'
    is "body" "$(phase whole_iteration 'body[].function')" whole_iteration
    structure kinds
    is "turns of both kinds" "$(phase whole_iteration turns)" 600
    structure turns
    is "turns" "$(phase whole_iteration turns)" 600
    structure solver
    is "in step" "$(phase cycle in_step)" true
    is "cycles, in step" "$(phase cycle turns)" 30
    walk slow --threads 1 --setup 0 --iterations 300 --variants --turns 1 4 --anomalies 8 --seed 21
    structure slow
    is "turns" "$(phase whole_iteration turns)" 300
    for iteration in $(sed -nE 's/^anomaly=.* iteration=([0-9]+) .*/\1/p' slow.out); do
        phase whole_iteration 'outliers[].turn' | grep -qx "$iteration" || fail "iteration $iteration does not stand out"
    done
    [ "$(phase whole_iteration outlier_count)" -lt 150 ] # the half
}

@test "marked iterations are the program's iterations" {
    walk marked --threads 2 --iterations 100 --marked --hooked
    structure marked
    is "marked" "$(of 'iterations[].marked')" true
    is "turns" "$(of 'iterations[].threads[].turns')" $'100\n100'
}

@test "a program that was killed: what was open is where it was" {
    walk killed --threads 1 --iterations 50 --killed || :
    structure killed
    row "$(groups killed walker)" loop/whole_iteration - 50 - -
    row "$(groups killed walker)" loop/whole_iteration/step_norm - 50 - -
    is "iterations" "$(phase whole_iteration turns)" 50
    heurt structure -i killed
    expect_status 0
    grep -q 'signal 9' <<<"$output$stderr"
}
