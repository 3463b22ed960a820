/* mpi_functions.h: the functions of MPI that are wrapped, as X(name without MPI_).
 *
 *     program ─► MPI_Send in libheurt-mpi.so (trampolines.c), which jumps on
 *                  └─► heurt_MPI_Send in libheurt-mpi-openmpi.so or libheurt-mpi-mpich.so
 * (wrap_*.c) ├─► an event (libheurt.so) └─► MPI_Send of the program's own tool, or of MPI
 *
 * The first library knows no MPI and is loaded where a launcher of MPI has set a rank; the others
 * are one source, compiled for each ABI, and loaded at the first call by what the program has
 * loaded. Nobody's link changes. */
#ifndef HEURT_MPI_MPI_FUNCTIONS_H
#define HEURT_MPI_MPI_FUNCTIONS_H

/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                              \
    X(Init) X(Init_thread) X(Finalize)                                                                \
    X(Send) X(Ssend) X(Bsend) X(Rsend) X(Isend) X(Issend) X(Ibsend) X(Irsend)                         \
    X(Send_init) X(Ssend_init) X(Bsend_init) X(Rsend_init) X(Recv_init) X(Start) X(Startall)          \
    X(Recv) X(Irecv) X(Mrecv) X(Imrecv) X(Sendrecv) X(Sendrecv_replace)                               \
    X(Probe) X(Iprobe) X(Mprobe) X(Improbe)                                                           \
    X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome)               \
    X(Request_free) X(Cancel)                                                                         \
    X(Barrier) X(Bcast) X(Scatter) X(Scatterv) X(Reduce) X(Gather) X(Gatherv) X(Allreduce)            \
    X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce_scatter)                \
    X(Reduce_scatter_block) X(Scan) X(Exscan)                                                         \
    X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv)           \
    X(Ibarrier) X(Ibcast) X(Iscatter) X(Iscatterv) X(Ireduce) X(Igather) X(Igatherv) X(Iallreduce)    \
    X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce_scatter)          \
    X(Ireduce_scatter_block) X(Iscan) X(Iexscan)                                                      \
    X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv)       \
    X(Comm_dup) X(Comm_dup_with_info) X(Comm_create) X(Comm_create_group) X(Comm_split)               \
    X(Comm_split_type) X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create)                \
    X(Dist_graph_create_adjacent) X(Intercomm_create) X(Intercomm_merge) X(Comm_free)                 \
    X(Comm_disconnect) X(Comm_spawn) X(Comm_spawn_multiple)                                           \
    X(Put) X(Get) X(Accumulate) X(Get_accumulate) X(Win_fence) X(Win_lock) X(Win_unlock)              \
    X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_all) X(Win_post) X(Win_start)          \
    X(Win_complete) X(Win_wait)                                                                       \
    X(File_open) X(File_close) X(File_sync) X(File_read) X(File_write) X(File_read_at)                \
    X(File_write_at) X(File_read_all) X(File_write_all) X(File_read_at_all) X(File_write_at_all)
/* clang-format on */

enum mpi_function {
#define MPI_FUNCTION_NUMBER(name) F_##name,
    MPI_FUNCTIONS(MPI_FUNCTION_NUMBER)
#undef MPI_FUNCTION_NUMBER
        MPI_FUNCTION_COUNT
};

/* What a wrapper calls in the end, by enum mpi_function: filled in before the first of them runs.
 */
#define MPI_NEXT_SYMBOL "heurt_mpi_next"
/* The wrappers, likewise; NULL: there is none. */
#define MPI_WRAPPERS_SYMBOL "heurt_mpi_wrappers"

#endif
