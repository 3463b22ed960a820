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

# Ranks that record at the same time: each goes on when all have come to it, and rank 0 kills its recorder.
killed_first() { # COUNT
    rm -f here.*
    # shellcheck disable=SC2016 # the ranks' own
    launch 0 "$1" "$HEURT" record --no-choice -o t sh -c 'echo $$ >here.$OMPI_COMM_WORLD_RANK
        until [ $(echo here.* | wc -w) = $OMPI_COMM_WORLD_SIZE ]; do sleep 0.01; done
        [ $OMPI_COMM_WORLD_RANK != 0 ] || kill -9 $PPID'
}

@test "parts that nobody has joined, for rank 0's recorder was killed, are joined by the first who reads" {
    launch 1 2 "$HEURT" record --quiet --no-choice -o t true
    older=$(echo t.rank1-*)
    killed_first 3
    [ "$(cat status.0) $(cat status.1) $(cat status.2)" = "137 0 0" ]
    [ "$(echo t.rank* | wc -w)" = 3 ]
    "$HEURT" report -i t >report 2>said
    grep -q "what 2 ranks had left beside it is in it now" said || fail "$(cat said)"
    # That of another run is nobody's.
    [ "$(echo t t.rank*)" = "t $older" ] || fail "$(echo t*)"
    "$HEURT" report -i t >report 2>said
    ! grep -q "left beside it" said || fail "$(cat said)"
    for rank in 0 1 2; do
        "$HEURT" tables -i t --format csv processes:pid | grep -qx "$(cat here.$rank)" || fail "rank $rank is not in t"
    done
}

@test "parts stay where they are while a recorder is at work, and where nothing may be written" {
    killed_first 2
    part=$(echo t.rank1-*)
    flock t/events "$HEURT" report -i t >report 2>said
    [ -d "$part" ]
    "$HEURT" report -i t >report 2>said
    [ ! -e "$part" ]
}

@test "where not all ranks are recorded, hosts' clocks are not compared, and it is said" {
    OMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run "$HEURT" record --quiet true
    [ "$status" = 0 ]
    [[ "$output" == *"rank 1 of 2 is not seen beside heurt.data: hosts' clocks are not compared"* ]] || fail "$output"
    [ "$(echo heurt.data*)" = heurt.data ]
}

@test "a part of another host whose clock is not known stays beside the trace" {
    launch 0 2 "$HEURT" record --quiet --no-choice --clock-offset-test 50:100 -o t true
    grep -q "is of another host, whose clock was not compared" err.0 || fail "$(cat err.0)"
    [ "$(processes t)" = 1 ]
    [ "$(echo t.rank1-* | wc -w)" = 1 ]
    [ ! -e "$(echo t.rank1-*.met)" ] && [ ! -e "$(echo t.rank1-*.here)" ]
}

@test "offsets of clocks that cannot be are refused" {
    for offset in 50 50: :5 50:100, 20000:0 0:5000 x:1 50:100x; do
        run "$HEURT" record --clock-offset-test "$offset" true
        [ "$status" = 2 ] || fail "$offset: $status $output"
        [[ "$output" == *"--clock-offset-test: expected ms up to 10000"* ]] || fail "$output"
    done
}

@test "parts that stay where they are recorded are merged, and what does not belong together is refused" {
    launch 0 3 "$HEURT" record --no-choice --locks all --local l/ -o some/t "$PROGRAMS/locks_known"
    grep -q "heurt merge -o heurt.data DIR… makes one trace of them" err.0 || fail "$(cat err.0)"
    [ ! -s err.1 ] && [ ! -s err.2 ] || fail "$(cat err.1 err.2)"
    [ "$(echo l/t.rank*-* | wc -w)" = 3 ]
    "$HEURT" merge -q -o t l >said 2>&1
    [ ! -s said ] || fail "$(cat said)"
    [ "$(processes t)" = 3 ]
    [ "$(stat -c %a t)" = 700 ]
    "$HEURT" record --quiet --no-choice --locks all -o alone "$PROGRAMS/locks_known"
    [ "$(releases t)" = $((3 * $(releases alone))) ]
    run "$HEURT" merge -o t l
    [ "$status" = 125 ] && [[ "$output" == *"t is there already"* ]] || fail "$output"
    run "$HEURT" merge -o u l l/t.rank1-*
    [ "$status" = 125 ] && [[ "$output" == *"are both of rank 1"* ]] || fail "$output"
    mkdir none
    run "$HEURT" merge -o u none
    [ "$status" = 125 ] && [[ "$output" == *"none is no part of an MPI run, and none lies in it"* ]] || fail "$output"
    run "$HEURT" merge -o u gone
    [ "$status" = 125 ] && [[ "$output" == *"gone cannot be read"* ]] || fail "$output"
    run "$HEURT" merge -o u
    [ "$status" = 2 ] && [[ "$output" == *"which parts?"* ]] || fail "$output"
    # Another version of the format.
    printf '\013' | dd of="$(echo l/t.rank1-*)/events" bs=1 seek=8 conv=notrunc 2>dd
    run "$HEURT" merge -o u l
    [ "$status" = 125 ] && [[ "$output" == *"has format 11"* ]] || fail "$output"
    # One that is recorded still.
    rm -r l/t.rank1-*
    flock "$(echo l/t.rank2-*)/events" "$HEURT" merge -o u l >said 2>&1 && fail "it is merged"
    grep -q "is recorded still" said || fail "$(cat said)"
    run "$HEURT" merge -o u l
    [ "$status" = 0 ] && [[ "$output" == *"1 of 3 ranks is missing, rank 1 first: the rest is merged"* ]] || fail "$output"
    [ "$(processes u)" = 2 ]
    run "$HEURT" record --local l true
    [ "$status" = 2 ] && [[ "$output" == *"--local is for ranks of MPI"* ]] || fail "$output"
}

@test "a part whose recorder was killed is merged as it is" {
    # shellcheck disable=SC2016 # the rank's own
    launch 0 2 "$HEURT" record --no-choice --local l -o t sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || kill -9 $PPID'
    run "$HEURT" merge -o t l
    [ "$status" = 0 ] && [[ "$output" == *"the recording of rank 1 was ended from outside"* ]] || fail "$output"
    [ "$(processes t)" = 2 ]
}

# srun sets these in each task of a step. Two shells are the launchers of two hosts.
task() { # RANK COMMAND…
    # shellcheck disable=SC2016 # the launcher's own
    SLURM_PROCID=$1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=17 SLURM_STEP_ID=0 \
        sh -c '"$@"; exit $?' launcher "${@:2}"
}

@test "ranks that srun starts on two hosts, by the job's number" {
    task 1 "$HEURT" record --quiet --no-choice "$PROGRAMS/calls_known" &
    task 0 "$HEURT" record --no-choice "$PROGRAMS/calls_known" >out 2>err
    wait $!
    [ "$(echo heurt.data*)" = heurt.data ] || fail "$(echo heurt.data*; cat err)"
    [ "$(processes heurt.data)" = 2 ]
}
