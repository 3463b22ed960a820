#!/usr/bin/env bats
# Several heurts that a launcher of MPI starts at a time, one a rank, make one trace (src/cmd/ranks.h). A shell
# is the launcher here: it passes on what theirs do.
load ../helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID
}

# Starts COMMAND as the ranks FIRST … COUNT - 1 of a job of COUNT; what they say is in out.0, err.0 … and their
# ends in status.0 …
launch() { # FIRST COUNT COMMAND…
    # shellcheck disable=SC2016 # the launcher's own
    sh -c 'first=$1 count=$2 rank=$2 ranks=
        shift 2
        while [ $rank -gt $first ]; do
            rank=$((rank - 1))
            OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$count "$@" >out.$rank 2>err.$rank &
            ranks="$rank:$! $ranks"
        done
        for each in $ranks; do
            wait ${each#*:} && status=0 || status=$?
            echo $status >status.${each%:*}
        done' launcher "$@"
}

processes() { # TRACE
    "$HEURT" tables -i "$1" --format csv processes:pid | tail -n +2 | sort -u | wc -l
}

releases() { # TRACE
    "$HEURT" dump -i "$1" | grep -c "lock released"
}

@test "three ranks end in one trace, and rank 0 alone talks" {
    launch 0 3 "$HEURT" --no-choice "$PROGRAMS/calls_known"
    [ ! -s err.1 ] && [ ! -s err.2 ] || fail "$(cat err.1 err.2)"
    grep -q "took" err.0 || fail "$(cat err.0)"
    [ "$(echo heurt.data*)" = heurt.data ]
    [ "$(processes heurt.data)" = 3 ]
    "$HEURT" report --audit | grep -q "Everything adds up"
}

@test "the events of all ranks are whole, packed or not" {
    launch 0 4 "$HEURT" record --quiet --no-choice --locks all -o t "$PROGRAMS/locks_known"
    launch 0 4 "$HEURT" record --quiet --no-choice --locks all --no-pack -o raw "$PROGRAMS/locks_known"
    "$HEURT" record --quiet --no-choice --locks all --no-pack -o alone "$PROGRAMS/locks_known"
    one=$(releases alone)
    [ "$one" -gt 0 ]
    [ "$(releases t)" = $((4 * one)) ]
    [ "$(releases raw)" = $((4 * one)) ]
}

@test "each rank ends as its program does" {
    # shellcheck disable=SC2016 # the rank's own
    launch 0 2 "$HEURT" record --quiet sh -c 'exit $((3 + OMPI_COMM_WORLD_RANK))'
    [ "$(cat status.0) $(cat status.1)" = "3 4" ]
}

@test "a rank that nobody records is missed after a while, and said" {
    OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run "$HEURT" record --quiet true
    [ "$status" = 0 ]
    [[ "$output" == *"1 of 2 ranks is not in heurt.data, rank 1 among them"* ]]
}

@test "a rank whose recorder is killed is taken as it is" {
    # shellcheck disable=SC2016 # the rank's own
    launch 0 2 "$HEURT" record --no-choice -o t sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || kill -9 $PPID'
    [ "$(cat status.0) $(cat status.1)" = "0 137" ]
    grep -q "the recording of rank 1 was ended from outside" err.0 || fail "$(cat err.0)"
    [ "$(echo t*)" = t ]
    [ "$(processes t)" = 2 ]
}
