/* mpi_functions.h: the functions of MPI that are wrapped, as X(name without MPI_, in
 * small letters).
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

#include <stdint.h>

/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                            \
    X(Init, init) X(Init_thread, init_thread) X(Finalize, finalize) X(Send, send) X(Ssend, ssend)   \
    X(Bsend, bsend) X(Rsend, rsend) X(Isend, isend) X(Issend, issend) X(Ibsend, ibsend)             \
    X(Irsend, irsend) X(Send_init, send_init) X(Ssend_init, ssend_init) X(Bsend_init, bsend_init)   \
    X(Rsend_init, rsend_init) X(Recv_init, recv_init) X(Start, start) X(Startall, startall)         \
    X(Recv, recv) X(Irecv, irecv) X(Mrecv, mrecv) X(Imrecv, imrecv) X(Sendrecv, sendrecv)           \
    X(Sendrecv_replace, sendrecv_replace) X(Probe, probe) X(Iprobe, iprobe) X(Mprobe, mprobe)       \
    X(Improbe, improbe) X(Wait, wait) X(Waitall, waitall) X(Waitany, waitany)                       \
    X(Waitsome, waitsome) X(Test, test) X(Testall, testall) X(Testany, testany)                     \
    X(Testsome, testsome) X(Request_free, request_free) X(Cancel, cancel) X(Barrier, barrier)       \
    X(Bcast, bcast) X(Scatter, scatter) X(Scatterv, scatterv) X(Reduce, reduce) X(Gather, gather)   \
    X(Gatherv, gatherv) X(Allreduce, allreduce) X(Allgather, allgather) X(Allgatherv, allgatherv)   \
    X(Alltoall, alltoall) X(Alltoallv, alltoallv) X(Alltoallw, alltoallw)                           \
    X(Reduce_scatter, reduce_scatter) X(Reduce_scatter_block, reduce_scatter_block) X(Scan, scan)   \
    X(Exscan, exscan) X(Neighbor_allgather, neighbor_allgather)                                     \
    X(Neighbor_allgatherv, neighbor_allgatherv) X(Neighbor_alltoall, neighbor_alltoall)             \
    X(Neighbor_alltoallv, neighbor_alltoallv) X(Ibarrier, ibarrier) X(Ibcast, ibcast)               \
    X(Iscatter, iscatter) X(Iscatterv, iscatterv) X(Ireduce, ireduce) X(Igather, igather)           \
    X(Igatherv, igatherv) X(Iallreduce, iallreduce) X(Iallgather, iallgather)                       \
    X(Iallgatherv, iallgatherv) X(Ialltoall, ialltoall) X(Ialltoallv, ialltoallv)                   \
    X(Ialltoallw, ialltoallw) X(Ireduce_scatter, ireduce_scatter)                                   \
    X(Ireduce_scatter_block, ireduce_scatter_block) X(Iscan, iscan) X(Iexscan, iexscan)             \
    X(Ineighbor_allgather, ineighbor_allgather) X(Ineighbor_allgatherv, ineighbor_allgatherv)       \
    X(Ineighbor_alltoall, ineighbor_alltoall) X(Ineighbor_alltoallv, ineighbor_alltoallv)           \
    X(Comm_dup, comm_dup) X(Comm_dup_with_info, comm_dup_with_info) X(Comm_create, comm_create)     \
    X(Comm_create_group, comm_create_group) X(Comm_split, comm_split)                               \
    X(Comm_split_type, comm_split_type) X(Cart_create, cart_create) X(Cart_sub, cart_sub)           \
    X(Graph_create, graph_create) X(Dist_graph_create, dist_graph_create)                           \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent)                                       \
    X(Intercomm_create, intercomm_create) X(Intercomm_merge, intercomm_merge)                       \
    X(Comm_free, comm_free) X(Comm_disconnect, comm_disconnect) X(Comm_spawn, comm_spawn)           \
    X(Comm_spawn_multiple, comm_spawn_multiple) X(Put, put) X(Get, get) X(Accumulate, accumulate)   \
    X(Get_accumulate, get_accumulate) X(Fetch_and_op, fetch_and_op)                                 \
    X(Compare_and_swap, compare_and_swap) X(Rput, rput) X(Rget, rget) X(Raccumulate, raccumulate)   \
    X(Rget_accumulate, rget_accumulate) X(Win_create, win_create) X(Win_allocate, win_allocate)     \
    X(Win_allocate_shared, win_allocate_shared) X(Win_create_dynamic, win_create_dynamic)           \
    X(Win_free, win_free) X(Win_fence, win_fence) X(Win_lock, win_lock)                             \
    X(Win_unlock, win_unlock) X(Win_lock_all, win_lock_all) X(Win_unlock_all, win_unlock_all)       \
    X(Win_flush, win_flush) X(Win_flush_all, win_flush_all) X(Win_flush_local, win_flush_local)     \
    X(Win_flush_local_all, win_flush_local_all) X(Win_post, win_post)                               \
    X(Win_start, win_start) X(Win_complete, win_complete) X(Win_wait, win_wait)                     \
    X(Win_test, win_test)                                                                           \
    X(File_open, file_open) X(File_close, file_close) X(File_sync, file_sync)                       \
    X(File_read, file_read) X(File_write, file_write) X(File_read_at, file_read_at)                 \
    X(File_write_at, file_write_at) X(File_read_all, file_read_all)                                 \
    X(File_write_all, file_write_all) X(File_read_at_all, file_read_at_all)                         \
    X(File_write_at_all, file_write_at_all)
/* clang-format on */

enum mpi_function {
#define MPI_FUNCTION_NUMBER(name, lower) F_##name,
    MPI_FUNCTIONS(MPI_FUNCTION_NUMBER)
#undef MPI_FUNCTION_NUMBER
        MPI_FUNCTION_COUNT
};

/* What a wrapper calls in the end, by enum mpi_function: filled in before the first of them runs.
 */
#define MPI_NEXT_SYMBOL "heurt_mpi_next"
/* What PMPI's names are, likewise. */
#define MPI_LAST_SYMBOL "heurt_mpi_last"
/* The wrappers, likewise; NULL: there is none. */
#define MPI_WRAPPERS_SYMBOL "heurt_mpi_wrappers"
/* Where the code of MPI's library for Fortran is (struct mpi_code): likewise. */
#define MPI_FORTRAN_SYMBOL "heurt_mpi_fortran"

struct mpi_code {
    uintptr_t start, bytes; /* 0: there is none */
};

#endif
