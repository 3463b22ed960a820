# heurt check: what this machine and a program allow.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
}

state_of() { # KEY
    "$JSON_GET" table "facilities[key=$1].state"
}

@test "the verdict follows what is required" {
    [ -e "$LIBHEURT" ] || skip "no runtime was built"
    run -0 "$HEURT" check
    [[ $output == *'heurt record works here.'* ]]
    "$HEURT" check --json >table
    [ "$("$JSON_GET" table works)" = true ]
    [ "$(state_of runtime)" = yes ]
    [ "$("$JSON_GET" table 'facilities[key=runtime].found')" = "$(realpath "$LIBHEURT")" ]
    HEURT_RUNTIME=/no/such/file run -1 "$HEURT" check
    [[ $output == *'/no/such/file'* ]]
    status=0
    HEURT_RUNTIME=/no/such/file "$HEURT" check --json >table || status=$?
    [ $status = 1 ]
    [ "$("$JSON_GET" table works)" = false ]
}

@test "what is tried here is what is said" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    status=0
    "$PROGRAMS/without_call" 298 13 "$HEURT" check --json >table || status=$?
    [ $status = 77 ] && skip "no system call filters here"
    [ "$(state_of sampling)" != yes ]
    [ "$(state_of switches)" = no ]
    [ "$("$JSON_GET" table works)" = "$([ -e "$LIBHEURT" ] && echo true || echo false)" ]
    "$PROGRAMS/without_call" 434 38 "$HEURT" check --json >table || true
    [ "$(state_of pidfd)" = partly ]
}

@test "programs: dynamic, stripped, static, a script, none" {
    [ -e "$LIBHEURT" ] || skip "no runtime was built"
    "$HEURT" check --json -- "$PROGRAMS/hot_known" >table
    [ "$("$JSON_GET" table 'program.facilities[key=recordable].state')" = yes ]
    [ "$("$JSON_GET" table 'program.facilities[key=symbols].state')" = yes ]
    [ "$("$JSON_GET" table 'program.facilities[key=libraries].state')" = yes ]
    strip -o stripped "$PROGRAMS/hot_known"
    "$HEURT" check --json ./stripped >table
    [ "$("$JSON_GET" table 'program.facilities[key=recordable].state')" = yes ]
    [ "$("$JSON_GET" table 'program.facilities[key=symbols].state')" != yes ]
    [ "$("$JSON_GET" table 'program.facilities[key=debug_info].state')" = no ]
    echo 'int main(void) { return 0; }' >static.c
    "$CC" -static -o static static.c
    run -1 "$HEURT" check ./static
    [[ $output == *'statically linked'* ]]
    "$HEURT" record --quiet -o t ./static # its report says why there is nothing
    "$HEURT" report -i t | grep -F 'Nothing was recorded: ' | grep -F static
    printf '#!/bin/sh\n' >script && chmod +x script
    "$HEURT" check --json ./script >table
    [ "$("$JSON_GET" table 'program.facilities[key=recordable].state')" = partly ]
    run -1 "$HEURT" check ./nothing
    [[ $output == *nothing* ]]
}

@test "a captured machine" {
    run -0 "$HEURT" check --machine "$HEURT_SOURCE/tests/golden/machines/server"
    run -125 "$HEURT" check --machine /no/such/machine
    run -2 "$HEURT" check --machine "$HEURT_SOURCE/tests/golden/machines/server" true
    run -2 "$HEURT" check --nonsense
}

@test "what records use is said to be used, within 80 columns, each no with what it would buy" {
    local machine key
    for machine in "$HEURT_SOURCE"/tests/golden/machines/*/; do
        "$HEURT" check --machine "$machine" >text || [ $? = 1 ]
        [ "$(awk 'length > 80' text | wc -l)" = 0 ]
        "$HEURT" check --machine "$machine" --json >table || [ $? = 1 ]
        for key in switches faults thread_rings schedstat pmu tracepoints futex block; do
            [ "$("$JSON_GET" table "facilities[key=$key].used")" = true ]
            [ -n "$("$JSON_GET" table "facilities[key=$key].buys")" ]
        done
        [ "$("$JSON_GET" table 'facilities[key=uprobes].used')" = false ]
    done
    "$HEURT" check --machine "$HEURT_SOURCE/tests/golden/machines/user" --json >table
    [[ $("$JSON_GET" table 'facilities[key=tracepoints].enable') == *sudo* ]]
    [ "$("$JSON_GET" table 'facilities[key=pmu].state')" = yes ]
    "$HEURT" check --machine "$HEURT_SOURCE/tests/golden/machines/container" --json >table
    [ "$("$JSON_GET" table 'facilities[key=switches].state')" = no ]
    [[ $("$JSON_GET" table 'facilities[key=switches].enable') == *seccomp=unconfined* ]]
    "$HEURT" check --machine "$HEURT_SOURCE/tests/golden/machines/root" --json >table
    [ "$("$JSON_GET" table 'facilities[key=block].state')" = yes ]
}
