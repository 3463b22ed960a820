#!/usr/bin/env bats
# heurt place, and the library that places memory. What it tells of several nodes make test-numa checks, on a
# machine that has them; here there may be one.
load ../helpers

PLACED=$HEURT_BUILD/src/place/libheurt-place.so

nodes() {
    ls -d /sys/devices/system/node/node* 2>/dev/null | wc -l
}

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    "$HEURT" record --quiet --no-choice -o fixed "$PROGRAMS/memory_known" fixed >out
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

@test "how many nodes there are is told, and on one there is nothing to be placed" {
    "$HEURT" place -i fixed --json >place.json
    [ "$("$JSON_GET" place.json schema)" = heurt.place/1 ]
    [ "$("$JSON_GET" place.json maptu)" = null ]
    [ "$(nodes)" = 0 ] || [ "$("$JSON_GET" place.json nodes)" = "$(nodes)" ]
    [ "$(nodes)" = 1 ] || skip "this machine has $(nodes) nodes"
    "$HEURT" place -i fixed | grep -q 'One NUMA node'
    [ "$("$HEURT" place -i fixed --csv | wc -l)" = 1 ]
}

@test "the machine is in the trace, as hwloc describes it, for who recorded alone" {
    grep -q '<topology' fixed/machine.xml
    grep -q 'type="PU"' fixed/machine.xml
    [ "$(stat -c %a fixed/machine.xml)" = 600 ]
    # A trace goes as a whole when another one takes its place.
    "$HEURT" record --quiet --no-choice -o again "$PROGRAMS/memory_known" fixed >out
    "$HEURT" record --quiet --no-choice -o again "$PROGRAMS/memory_known" fixed >out
    "$HEURT" record --quiet --no-choice -o again "$PROGRAMS/memory_known" fixed >out
    [ "$(ls -d again*)" = "$(printf 'again\nagain.old')" ]
}

@test "a trace without a machine is one of which nothing is known" {
    printf 'thread 0\n' >text
    "$HEURT" place -i fixed >/dev/null
    cp -r fixed bare
    rm bare/machine.xml
    "$HEURT" place -i bare --json | cmp - <("$HEURT" place -i fixed --json)
}

@test "the script runs the program that it is given, and none of itself" {
    "$HEURT" place -i fixed --script >script
    "$HEURT" place -i fixed --script -o script.sh
    cmp script script.sh
    [ -x script.sh ]
    [ "$(sh script.sh echo placed)" = placed ]
    run sh script.sh
    [ "$status" = 2 ]
    [[ $output == usage:* ]]
    ! grep -q "^[^#].*memory_known" script
}

@test "what is wrong is said" {
    run "$HEURT" place -i fixed -o file
    [ "$status" = 2 ]
    run "$HEURT" place -i fixed --script 1
    [ "$status" = 2 ]
    run "$HEURT" place -i nowhere
    [ "$status" = 125 ]
    run "$HEURT" place -i fixed --script -o fixed/events
    [ "$status" = 125 ]
}

# ---- the library -------------------------------------------------------------------------------

# The build-id of the program and where the call in that function returns to.
site() { # FUNCTION
    local id
    id=$(readelf -n "$PROGRAMS/place_known" | sed -n 's/.*Build ID: //p')
    objdump -d "$PROGRAMS/place_known" | awk -v name="<make_$1>:" -v id="$id" '
        $2 == name { inside = 1; next }
        inside && was_call { sub(":", "", $1); print id "+0x" $1; exit }
        inside { was_call = /call/ }'
}

placed() { # POLICY: what the program says
    HEURT_PLACE=$1 LD_PRELOAD=$PLACED "$PROGRAMS/place_known"
}

needs_policies() {
    placed_alone=$("$PROGRAMS/place_known")
    [[ $placed_alone != *=-* ]] || skip "the kernel tells no memory policies"
    printf 'heurt-place 1\nsite %s 1-99999999 interleave\n' "$(site malloc)" >try
    placed try 2>refused | grep -q malloc=3 || { cat refused; grep -q refuses refused && skip "mbind is refused"; }
}

@test "objects of a rule's place and size are placed, others are not" {
    needs_policies
    local call id
    for call in malloc calloc realloc aligned_alloc memalign posix_memalign mmap; do
        printf '#!/bin/sh\nexec "$@"\nheurt-place 1\n\n# one\nsite %s 1048576-1048576 parts 256 0=0 128=0\n' \
            "$(site $call)" >policy
        placed policy >told
        grep -qx "$call=1" told
        [ "$(grep -c '=1$' told)" = 1 ]
        grep -qx sum=7 told
    done
    printf 'heurt-place 1\nsite %s 1-1048575 interleave\n' "$(site malloc)" >policy
    ! placed policy | grep -q '=[13]$'
}

@test "policies are those of the rules" {
    needs_policies
    {
        echo 'heurt-place 1'
        echo "site $(site malloc) 1-9999999 interleave small"
        echo "site $(site calloc) 1-9999999 each 0"
        echo "site $(site mmap) 1-9999999 cycle 0 0"
    } >policy
    placed policy >told
    grep -qx malloc=3 told
    grep -qx calloc=1 told
    grep -qx mmap=1 told
    grep -qx realloc=0 told
}

@test "a variable is placed before the program begins" {
    needs_policies
    local id at
    id=$(readelf -n "$PROGRAMS/place_known" | sed -n 's/.*Build ID: //p')
    at=$(nm "$PROGRAMS/place_known" | sed -n 's/^0*\([0-9a-f]*\) . table$/\1/p')
    printf 'heurt-place 1\ndata %s+0x%s 2097152 interleave\n' "$id" "$at" >policy
    placed policy | grep -qx table=3
}

@test "a policy that is none is one sentence, and the program runs on" {
    printf 'heurt-place 1\nsite 00+0x10 1-2 nowhere\n' >policy
    "$PROGRAMS/place_known" >alone
    placed policy 2>said | cmp - alone
    [ "$(cat said)" = 'libheurt-place: memory is not placed: line 2 of the policy cannot be understood' ]
    placed not_there 2>said | cmp - alone
    [ "$(wc -l <said)" = 1 ]
    LD_PRELOAD=$PLACED "$PROGRAMS/place_known" 2>said | cmp - alone
    [ "$(wc -l <said)" = 1 ]
}

@test "a program that is recorded has its memory placed, too" {
    needs_plain_heurt
    needs_policies
    local call
    for call in malloc mmap; do
        printf 'heurt-place 1\nsite %s 1-9999999 interleave\n' "$(site $call)" >policy
        HEURT_PLACE=$PWD/policy LD_PRELOAD=$PLACED "$HEURT" record --quiet --no-choice -o both \
            "$PROGRAMS/place_known" >told
        [ "$(grep -c '=3$' told)" = 1 ]
        grep -qx "$call=3" told
        grep -qx sum=7 told
        [ "$("$HEURT" dump -i both | grep -c 'allocated.* size=1048576')" = 7 ]
    done
}

# In front of that allocator, a program that allocates in all ways. What it tells is what it tells alone.
placed_before() { # ALLOCATOR
    HEURT_PLACE=$PWD/policy LD_PRELOAD=$PLACED:$1 "$PROGRAMS/place_known" >told 2>said
    [ ! -s said ]
    grep -qx sum=7 told
    HEURT_PLACE=$PWD/policy LD_PRELOAD=$PLACED:$1 sort -R /etc/services >shuffled
    sort shuffled | cmp - <(sort /etc/services)
}

@test "memory goes back to the allocator that it came from, also what is asked for before main" {
    printf 'heurt-place 1\nsite 00+0x10 1-2 interleave\n' >policy
    # It ends the program when it gets back what is not its own.
    LD_PRELOAD=$PROGRAMS/strict_allocator.so "$PROGRAMS/place_known" >alone
    placed_before "$PROGRAMS/strict_allocator.so"
    local name
    for name in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
        LD_PRELOAD=$name env true 2>missing # not the shell's own
        [ -s missing ] || placed_before $name
    done
}

# ---- on another machine ------------------------------------------------------------------------

four_nodes() {
    printf '%s\n' 'nodes 4' 'latency 90 140 140 190' 'latency 140 90 190 140' 'latency 140 190 90 140' \
        'latency 190 140 140 90' 'controller 20' 'link 10' >four
}

@test "a trace is replayed on a machine that is described" {
    four_nodes
    "$HEURT" place --replay fixed --machine four --interval 10ms --json >replay.json
    [ "$("$JSON_GET" replay.json schema)" = heurt.place_simulation/1 ]
    [ "$("$JSON_GET" replay.json nodes)" = 4 ]
    [ "$("$JSON_GET" replay.json bandwidth_told)" = true ]
    "$HEURT" place --replay fixed --machine four --interval 10ms --csv >replay.csv
    [ "$(head -n 1 replay.csv)" = policy,time_ns,times,local,imbalance,moved,copied,advised,undone,guarded,rounds ]
    "$HEURT" place --replay fixed --machine four --interval 10ms --csv | cmp - replay.csv
    [ "$("$JSON_GET" replay.json samples)" -gt 0 ] || skip "no samples at memory here"
    [ "$(wc -l <replay.csv)" = 8 ]
    # Who knows all is not slower than who does nothing, in half a millisecond.
    awk -F, '/^first touch/ { first = $2 } /^oracle,/ { found = 1; exit $2 > first + 500000 }
        END { exit !found }' replay.csv || fail "$(cat replay.csv)"
    "$HEURT" place --replay fixed --machine four | grep -q 'Carrefour with copies'
}

@test "machines are what hwloc describes, too, and the trace's own" {
    "$HEURT" place --replay fixed --machine fixed/machine.xml --csv >xml
    "$HEURT" place --replay fixed --csv >own
    [ "$(nodes)" != 1 ] || cmp xml own
}

@test "thresholds are listed, and set" {
    "$HEURT" place --thresholds | grep -q 'maptu'
    [ "$("$HEURT" place --thresholds --set maptu=15 --csv | sed -n 's/^maptu,\([^,]*\),\([^,]*\),.*/\1 \2/p')" = '15.000000 50.000000' ]
    run "$HEURT" place --thresholds --set maptu=much
    [ "$status" = 2 ]
    [[ $output == *'maptu=NUMBER, from 0 to '* ]]
    run "$HEURT" place --replay fixed --set nothing=1
    [ "$status" = 2 ]
    [[ $output == *--thresholds* ]]
}

@test "what cannot be replayed is said" {
    printf 'nodes 2\nlatency 90\n' >short
    run "$HEURT" place --replay fixed --machine short
    [ "$status" = 125 ]
    [[ $output == *"line 2 of 'short'"* ]]
    run "$HEURT" place --replay fixed --machine nowhere
    [ "$status" = 125 ]
    run "$HEURT" place --machine short
    [ "$status" = 2 ]
    run "$HEURT" place --replay fixed --script
    [ "$status" = 2 ]
}
