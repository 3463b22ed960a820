#!/usr/bin/env bats
# The forms of heurt mpi: one rank, one place, matrices, the least wait; and whose each message is, of very many
# (tests/programs/mpi_known.c, mpi_many.c), with each MPI that heurt was built for.
load ../helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
}

needs() { # MPI
    [ -x "$PROGRAMS/mpi_many_$1" ] && command -v "mpirun.$1" >/dev/null || skip "there is no $1 here"
}

shows() { # WORDS COMMAND…
    "${@:2}" >screen || fail "${*:2}: status $?"
    grep -qF -- "$1" screen || fail "'$1' is not in: $(cat screen)"
}

@test "one rank, one place, matrices and the least wait" {
    if command -v mpirun.openmpi >/dev/null; then mpi=openmpi; else mpi=mpich; fi
    needs $mpi
    mpirun.$mpi -n 3 "$HEURT" record --quiet --no-choice -o t "$PROGRAMS/mpi_known_$mpi" >out
    local place
    place=$("$HEURT" tables -i t --format csv mpi_calls:function,file,line,call |
        awk -F, '$1 == "late_sender" && $4 == "MPI_Recv" { sub(".*/", "", $2); print $2 ":" $3 }')

    shows "Rank 1 lived" "$HEURT" mpi -i t 1
    shows "Waited for it" "$HEURT" mpi -i t 1
    shows "MPI_Recv in late_sender $place: rank 0 waits for rank 1" "$HEURT" mpi -i t "$place"
    shows "MPI_Recv in late_sender $place" "$HEURT" mpi -i t late_sender
    run "$HEURT" mpi -i t 7
    [ "$status" = 2 ]
    [[ $output == *"no rank 7 is in t: it has 3 of 3"* ]]
    run "$HEURT" mpi -i t nowhere.c:1
    [ "$status" = 2 ]

    # A matrix is the pairs' table.
    local pair
    pair=$("$HEURT" tables -i t --format csv mpi_pairs:from,to,messages | sed -n 's/^1,2,//p')
    "$HEURT" mpi -i t --matrix messages >screen
    [ "$(awk '$1 == 1 { print $NF }' screen)" = "$pair" ] || fail "$pair: $(cat screen)"
    for what in bytes waited; do
        shows "from \\ to" "$HEURT" mpi -i t --matrix $what
    done
    run "$HEURT" mpi -i t --matrix colours
    [ "$status" = 2 ]

    # What is shorter is none; the others are as they were.
    local all long
    all=$("$HEURT" mpi -i t --json | "$JSON_GET" /dev/stdin 'ranks[].late_sender_ns' | head -1)
    shows "Left out: waits for a message below 10.0 s." "$HEURT" mpi -i t --late-message 10s
    "$HEURT" mpi -i t --late-message 10s --json >mpi.json
    long=$("$JSON_GET" mpi.json 'ranks[].late_sender_ns' | sort -u)
    [ "$all" -gt 0 ] && [ "$long" = 0 ] || fail "$all, then $long"
    [ "$("$JSON_GET" mpi.json 'ranks[].barrier_ns' | head -1)" -gt 0 ]
    "$HEURT" mpi -i t --late-collective 10s --json >mpi.json
    [ "$("$JSON_GET" mpi.json 'ranks[].barrier_ns' | sort -u)" = 0 ]
    shows "Left out: waits in collective operations below 10.0 s." "$HEURT" mpi -i t --late-collective 10s
}

# Calls of each form by name, in each function of the program, and their bytes.
variants_are_known() { # MPI LEAST-SHARE-OF-WAIT
    local off
    needs "$1"
    "mpirun.$1" -n 3 "$HEURT" record --quiet --no-choice -o t "$PROGRAMS/mpi_variants_$1" >out
    "$HEURT" tables -i t --format csv mpi_calls:function,call,times,bytes >told
    grep -q '^asks.MPI_Test=' out || fail "$(cat out)"
    off=$(awk -F'[.=]' '
        NR == FNR { split($0, row, ","); at = row[1] "." row[2]; times[at] += row[3]; bytes[at] += row[4]; next }
        /^[a-z_]+\.MPI_/ && times[$1 "." $2] " " bytes[$1 "." $2] != $3 {
            print $1, $2 ": told " times[$1 "." $2], bytes[$1 "." $2] ", not " $3
        }' told out)
    [ -z "$off" ] || fail "$off"
    "$HEURT" mpi -i t --json >mpi.json
    [ "$("$JSON_GET" mpi.json matched)" = "$(sed -n 's/^messages=//p' out)" ] || fail "$(cat out)"
    [ "$("$JSON_GET" mpi.json unmatched_sends) $("$JSON_GET" mpi.json unmatched_receives)" = "0 0" ]
    [ "$("$JSON_GET" mpi.json partial_operations)" = 0 ]
    [ "$("$JSON_GET" mpi.json 'ranks[].collectives' | awk '{ n += $1 } END { print n }')" = "$(sed -n 's/^operations=//p' out)" ]
    # Whoever asks until a message has come waits for it, in few spans. Ranks of MPICH, which never yield, take
    # each other's CPU while they ask.
    "$HEURT" tables -i t --format csv mpi_calls:function,call,waited_ns |
        awk -F, -v truth="$(sed -n 's/^asked=//p' out)" '
            $1 == "asks" && $2 == "MPI_Test" { told = $3 } END { exit !(told > least * truth && told <= truth * 1.03 + 1e6) }' least="$2" - ||
        fail "$(grep asks told), asked $(sed -n 's/^asked=//p' out) ns"
}

@test "Open MPI: calls in all their forms are counted" {
    variants_are_known openmpi 0.5
}

@test "MPICH: calls in all their forms are counted" {
    variants_are_known mpich 0
}

# Each is known to be the one that was sent, by the program; and by heurt, as each has a length of its own.
many_are_known() { # MPI MESSAGES
    needs "$1"
    "mpirun.$1" -n 3 "$HEURT" record --quiet --no-choice -o t "$PROGRAMS/mpi_many_$1" "$2" >out
    [ "$(sed -n 's/^wrong=//p' out)" = 0 ]
    "$HEURT" mpi -i t --json >mpi.json
    [ "$("$JSON_GET" mpi.json matched)" = "$(sed -n 's/^messages=//p' out)" ] || fail "$(cat out)"
    [ "$("$JSON_GET" mpi.json mismatched)" = 0 ]
    [ "$("$JSON_GET" mpi.json unmatched_sends) $("$JSON_GET" mpi.json unmatched_receives)" = "0 0" ]
}

@test "Open MPI: of many messages it is known which is whose" {
    many_are_known openmpi 21000
}

@test "MPICH: of many messages it is known which is whose" {
    many_are_known mpich 1050
}

@test "that ranks spawned others is said" {
    needs openmpi
    mpicc.openmpi -x c -o spawns - <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    int number = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                       MPI_ERRCODES_IGNORE);
        MPI_Recv(&number, 1, MPI_INT, 0, 5, child, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&number, 1, MPI_INT, 0, 5, parent);
    }
    MPI_Finalize();
    return number != 7;
}
END
    mpirun.openmpi -n 1 "$HEURT" record --quiet -o t ./spawns
    "$HEURT" report -i t --json >report.json
    "$JSON_GET" report.json 'warnings[]' >said
    grep -q 'has processes of MPI that it spawned' said || fail "$(cat said)"
}
