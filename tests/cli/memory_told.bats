#!/usr/bin/env bats
# heurt memory where a processor tells of accesses: no machine of these tests has one that does, so that the
# program writes what one would have told, and heurt record reads that (recorded_accesses.h).
load ../helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    : >records
    HEURT_TEST_ACCESSES=records "$HEURT" record --quiet --no-choice -o told "$PROGRAMS/told_accesses" records >out
    "$HEURT" memory -i told --json >told.json
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# The number, from 0, of what that line of the program allocates.
object() {
    local line title i=0
    line=$(grep -n "\*$1 = calloc" "$HEURT_SOURCE/tests/programs/told_accesses.c" | cut -d: -f1)
    "$JSON_GET" told.json 'objects[].title' >titles
    while read -r title; do
        [[ $title == *"told_accesses.c:$line"* ]] && echo "$i" && return
        i=$((i + 1))
    done <titles
    return 1
}

of() { # OBJECT FIELD
    "$JSON_GET" told.json "objects[$(object "$1")].$2"
}

@test "objects are those that the processor told, their time is the clock's, dealt by latency" {
    local -i far near sum=0 ns
    [ "$("$JSON_GET" told.json accesses_by)" = 'a test' ]
    far=$(of far time_ns) near=$(of near time_ns)
    # 400 cycles against 100, of as many accesses; a sample may stand between the two of a pair.
    ((far > near * 3 && far < near * 5))
    for ns in $("$JSON_GET" told.json 'objects[].time_ns'); do
        sum+=ns
    done
    [ "$sum" = "$("$JSON_GET" told.json at_memory_ns)" ]
    ((near > 0))
}

@test "what answered is told, and how long that took" {
    [[ $(of far latency_cycles) =~ ^400(\.0*)?$ ]]
    [[ $(of near latency_cycles) =~ ^100(\.0*)?$ ]]
    [ "$(of far remote_ns)" = "$(of far time_ns)" ]
    [ "$(of near remote_ns)" = 0 ]
    [ "$(of far answered)" = "$(of far samples)" ]
    [ "$(of far 'answers[].level')" = "another node's memory" ]
    [ "$(of near 'answers[].level')" = "the node's memory" ]
    "$HEURT" memory -i told >screen
    grep -q 'Accesses are told by the processor (a test), their time is the CPU clock' screen
    grep -q "Answered by another node's memory 100 % (400 cycles)" screen
}

@test "the instruction is the one that the processor told" {
    "$JSON_GET" told.json "objects[$(object far)].accesses[].place.function" | sort -u >functions
    [ "$(cat functions)" = use_far ]
    [ "$(of far 'accesses[].access' | sort -u)" = read ]
}

@test "instructions of one line at the same data are one row, with how many they are" {
    "$JSON_GET" told.json "objects[$(object far)].accesses[].address" | sort -u >addresses
    [ "$(wc -l <addresses)" = 1 ]
    [ "$("$JSON_GET" told.json "objects[$(object far)].accesses[].time_ns" | wc -l)" = 2 ]
    "$HEURT" memory -i told $(($(object far) + 1)) --width 200 >one
    [ "$(grep -c 'use_far' one)" = 1 ]
    grep -q 'reads .*use_far told_accesses.c:[0-9]* (2 instructions)' one
}

@test "the flow of an object tells what of its time another node answered" {
    local -i number
    number=$(($(object far) + 1))
    "$HEURT" memory -i told --flow "object=$number" --csv >flow.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { if ($at["remote_ns"] != $at["time_ns"] || $at["latency_cycles"] != 400) bad++; rows++ }
        END { exit !(rows && !bad) }' flow.csv
    "$HEURT" memory -i told --flow "object=$number" >flow
    grep -q '^ *from *time *writing *remote *cycles *threads' flow
    grep -q '0 % *100 % *400  *thread' flow
}

@test "without such a processor nothing of it is told" {
    "$HEURT" record --quiet --no-choice -o untold "$PROGRAMS/memory_known" >out
    "$HEURT" memory -i untold --json >untold.json
    [ "$("$JSON_GET" untold.json accesses_by)" = null ]
    "$JSON_GET" untold.json 'objects[].answered' | sort -u >answered
    [ "$(cat answered)" = 0 ]
    [ "$("$JSON_GET" untold.json 'objects[0].latency_cycles')" = null ]
    "$HEURT" memory -i untold >screen
    ! grep -q 'told by the processor\|Answered by' screen
}
