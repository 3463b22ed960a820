#!/usr/bin/env bats
# Accesses that a program counts itself: -fsanitize=thread and libheurt-access.so.
load ../helpers

# COMPILER LEVEL SOURCE NAME: a program that counts, made as docs/heurt-memory.md tells.
counting() {
    local library=$HEURT_BUILD/src/access
    local -a flags=(-g -pthread "$2" -fsanitize=thread)
    case ${1##*/} in
    clang*) flags+=(-mllvm -tsan-instrument-read-before-write=1) ;;
    *) flags+=(-fno-builtin) ;;
    esac
    "$1" "${flags[@]}" -mcx16 -c "$HEURT_SOURCE/tests/programs/$3" -o "$4.o"
    "$1" "$4.o" -o "$4" -pthread -L"$library" -Wl,-rpath,"$library" -lheurt-access
}

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# What the trace tells of objects: NAME READS WRITES SHARING, the name of a variable, or of the function
# that allocated it.
counted() {
    "$HEURT" tables -i "$1" --format json memory_objects:object,reads,writes,sharing,born_function >objects
    paste -d'|' <("$JSON_GET" objects 'tables[0].rows[].title') <("$JSON_GET" objects 'tables[0].rows[].reads') \
        <("$JSON_GET" objects 'tables[0].rows[].writes') <("$JSON_GET" objects 'tables[0].rows[].sharing') \
        <("$JSON_GET" objects 'tables[0].rows[].born_function') |
        awk -F'|' '{ name = $5; if (name == "" || name == "null") { name = $1; sub(/, .*/, "", name); sub(/.*::/, "", name) }
                     print name, $2, $3, $4 }'
}

# Each line of what the program printed is what was counted.
agrees() { # TRACE PRINTED
    local line
    counted "$1" >told
    while read -r line; do
        grep -qxF -- "$line" told || { echo "printed: $line"; cat told; return 1; }
    done <"$2"
}

# The compilers of a language that are here.
compilers() {
    local compiler
    for compiler; do
        command -v "$compiler" || :
    done
}

@test "each access is counted, at its object, whatever the compiler and its level" {
    local compiler level
    for compiler in $(compilers gcc clang); do
        for level in -O0 -O2 -O3; do
            echo "$compiler $level"
            counting "$compiler" "$level" accesses_known.c known
            "$HEURT" record --quiet -o known.data ./known >printed
            [ "$(wc -l <printed)" = 12 ]
            agrees known.data printed
            [ "$("$HEURT" memory -i known.data --json | "$JSON_GET" - missed)" = 0 ]
        done
    done
}

@test "in C++, too: virtual calls, atomics, threads" {
    local compiler level
    for compiler in $(compilers g++ clang++); do
        for level in -O0 -O2 -O3; do
            echo "$compiler $level"
            counting "$compiler" "$level" accesses_known.cc known
            "$HEURT" record --quiet -o known.data ./known >printed
            grep -v '^drawn' printed >others
            agrees known.data others
            # Each call reads the object's class, and changes a member.
            counted known.data | awk -v drawn="$(sed -n 's/^drawn //p' printed)" '
                $1 == "main" && $2 >= drawn && $3 >= drawn && $3 < drawn + 10 { found = 1 } END { exit !found }'
        done
    done
}

@test "atomic operations do what they are to do, recorded and alone" {
    local compiler
    for compiler in $(compilers gcc clang); do
        counting "$compiler" -O2 atomics_known.c atomics
        [ "$(./atomics)" = ok ]
        [ "$("$HEURT" record --quiet -o atomics.data ./atomics)" = ok ]
    done
}

@test "without a recording the program is what it is" {
    counting "${CC:-cc}" -O2 accesses_known.c known
    ./known >alone
    "$HEURT" record --quiet -o known.data ./known >recorded
    cmp alone recorded
}

@test "little memory is no reason to fail" {
    needs_plain_heurt
    counting "${CC:-cc}" -O2 accesses_known.c known
    ./known >alone
    (ulimit -v 300000 && "$HEURT" record --quiet -o small.data ./known >limited)
    cmp alone limited
}

@test "a program that is killed has told what it did until then" {
    counting "${CC:-cc}" -O2 accesses_known.c known
    ./known >printed
    run "$HEURT" record --quiet -o killed.data ./known killed
    [ "$status" -eq 137 ]
    agrees killed.data printed
}

@test "what finds no place in a full trace is told as missed" {
    counting "${CC:-cc}" -O2 accesses_known.c known
    "$HEURT" record --quiet --max-size 4M -o full.data ./known wide >printed
    "$HEURT" memory -i full.data --json >full.json
    local -i writes missed
    writes=$("$JSON_GET" full.json writes) missed=$("$JSON_GET" full.json missed)
    [ "$missed" -gt 0 ]
    [ $((writes + missed)) -ge "$(cut -d' ' -f3 printed)" ]
    [ $((writes + missed)) -lt $(($(cut -d' ' -f3 printed) + 100)) ]
    "$HEURT" memory -i full.data | grep -q 'found no place'
    "$HEURT" record --quiet -o whole.data ./known wide >printed
    agrees whole.data printed
}

@test "the screen says that it is counted, and shows who does it with which line" {
    counting "${CC:-cc}" -O2 accesses_known.c known
    "$HEURT" record --quiet -o known.data ./known >printed
    "$HEURT" memory -i known.data >screen
    grep -q 'Counted exactly: ' screen
    grep -q '20,000 .*false sharing' screen
    "$HEURT" memory -i known.data tallies >one
    grep -q 'counted exactly; false sharing' one
    local line
    line=$(grep -n 'tallies\[me\] = tallies' "$HEURT_SOURCE/tests/programs/accesses_known.c" | cut -d: -f1)
    # Two threads read and write 10,000 times each; a loop may be unrolled.
    grep "work accesses_known.c:$line" one | tr -d , | awk '{ sums[$3 " " $4] += $1 }
        END { for (one in sums) { all++; wrong += sums[one] != 10000 } exit all != 4 || wrong > 0 }'
}

@test "samples are held against what another run of the same program counted" {
    "$HEURT" record --quiet -o plain.data "$PROGRAMS/memory_known" packed >out
    counting "${CC:-cc}" -O2 accesses_known.c known
    "$HEURT" record --quiet -o known.data ./known >printed
    "$HEURT" memory -i plain.data --counted known.data --json >oracle.json
    [ "$("$JSON_GET" oracle.json schema)" = heurt.memory_oracle/1 ]
    [ "$("$JSON_GET" oracle.json judged_ns)" = 0 ] # another program: nothing is comparable
    run "$HEURT" memory -i plain.data --counted plain.data
    [ "$status" -eq 125 ]
    [[ $output == *"counts no accesses"* ]]
    "$HEURT" tables -i known.data memory_oracle >/dev/null
    "$HEURT" tables -i known.data memory_counts:count,function | grep -q work
}
