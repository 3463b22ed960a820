/* mpi_functions.h: the functions of MPI that are wrapped, as X(name, in small
 * letters). Which of them an MPI has, is seen when it is loaded.
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
/* Of all versions of MPI up to 4.0. */
#define MPI_SMALL_FUNCTIONS(X)                                                                  \
    X(MPI_Init, mpi_init) X(MPI_Init_thread, mpi_init_thread) X(MPI_Finalize, mpi_finalize)     \
    X(MPI_Send, mpi_send) X(MPI_Ssend, mpi_ssend) X(MPI_Bsend, mpi_bsend)                       \
    X(MPI_Rsend, mpi_rsend) X(MPI_Isend, mpi_isend) X(MPI_Issend, mpi_issend)                   \
    X(MPI_Ibsend, mpi_ibsend) X(MPI_Irsend, mpi_irsend) X(MPI_Send_init, mpi_send_init)         \
    X(MPI_Ssend_init, mpi_ssend_init) X(MPI_Bsend_init, mpi_bsend_init)                         \
    X(MPI_Rsend_init, mpi_rsend_init) X(MPI_Recv_init, mpi_recv_init) X(MPI_Start, mpi_start)   \
    X(MPI_Startall, mpi_startall) X(MPI_Recv, mpi_recv) X(MPI_Irecv, mpi_irecv)                 \
    X(MPI_Mrecv, mpi_mrecv) X(MPI_Imrecv, mpi_imrecv) X(MPI_Sendrecv, mpi_sendrecv)             \
    X(MPI_Sendrecv_replace, mpi_sendrecv_replace) X(MPI_Isendrecv, mpi_isendrecv)               \
    X(MPI_Isendrecv_replace, mpi_isendrecv_replace) X(MPI_Probe, mpi_probe)                     \
    X(MPI_Iprobe, mpi_iprobe) X(MPI_Mprobe, mpi_mprobe) X(MPI_Improbe, mpi_improbe)             \
    X(MPI_Wait, mpi_wait) X(MPI_Waitall, mpi_waitall) X(MPI_Waitany, mpi_waitany)               \
    X(MPI_Waitsome, mpi_waitsome) X(MPI_Test, mpi_test) X(MPI_Testall, mpi_testall)             \
    X(MPI_Testany, mpi_testany) X(MPI_Testsome, mpi_testsome) X(MPI_Psend_init, mpi_psend_init) \
    X(MPI_Precv_init, mpi_precv_init) X(MPI_Pready, mpi_pready)                                 \
    X(MPI_Pready_range, mpi_pready_range) X(MPI_Pready_list, mpi_pready_list)                   \
    X(MPI_Parrived, mpi_parrived) X(MPI_Request_free, mpi_request_free)                         \
    X(MPI_Cancel, mpi_cancel) X(MPI_Barrier, mpi_barrier) X(MPI_Bcast, mpi_bcast)               \
    X(MPI_Scatter, mpi_scatter) X(MPI_Scatterv, mpi_scatterv) X(MPI_Reduce, mpi_reduce)         \
    X(MPI_Gather, mpi_gather) X(MPI_Gatherv, mpi_gatherv) X(MPI_Allreduce, mpi_allreduce)       \
    X(MPI_Allgather, mpi_allgather) X(MPI_Allgatherv, mpi_allgatherv)                           \
    X(MPI_Alltoall, mpi_alltoall) X(MPI_Alltoallv, mpi_alltoallv)                               \
    X(MPI_Alltoallw, mpi_alltoallw) X(MPI_Reduce_scatter, mpi_reduce_scatter)                   \
    X(MPI_Reduce_scatter_block, mpi_reduce_scatter_block) X(MPI_Scan, mpi_scan)                 \
    X(MPI_Exscan, mpi_exscan) X(MPI_Neighbor_allgather, mpi_neighbor_allgather)                 \
    X(MPI_Neighbor_allgatherv, mpi_neighbor_allgatherv)                                         \
    X(MPI_Neighbor_alltoall, mpi_neighbor_alltoall)                                             \
    X(MPI_Neighbor_alltoallv, mpi_neighbor_alltoallv)                                           \
    X(MPI_Neighbor_alltoallw, mpi_neighbor_alltoallw) X(MPI_Ibarrier, mpi_ibarrier)             \
    X(MPI_Ibcast, mpi_ibcast) X(MPI_Iscatter, mpi_iscatter) X(MPI_Iscatterv, mpi_iscatterv)     \
    X(MPI_Ireduce, mpi_ireduce) X(MPI_Igather, mpi_igather) X(MPI_Igatherv, mpi_igatherv)       \
    X(MPI_Iallreduce, mpi_iallreduce) X(MPI_Iallgather, mpi_iallgather)                         \
    X(MPI_Iallgatherv, mpi_iallgatherv) X(MPI_Ialltoall, mpi_ialltoall)                         \
    X(MPI_Ialltoallv, mpi_ialltoallv) X(MPI_Ialltoallw, mpi_ialltoallw)                         \
    X(MPI_Ireduce_scatter, mpi_ireduce_scatter)                                                 \
    X(MPI_Ireduce_scatter_block, mpi_ireduce_scatter_block) X(MPI_Iscan, mpi_iscan)             \
    X(MPI_Iexscan, mpi_iexscan) X(MPI_Ineighbor_allgather, mpi_ineighbor_allgather)             \
    X(MPI_Ineighbor_allgatherv, mpi_ineighbor_allgatherv)                                       \
    X(MPI_Ineighbor_alltoall, mpi_ineighbor_alltoall)                                           \
    X(MPI_Ineighbor_alltoallv, mpi_ineighbor_alltoallv)                                         \
    X(MPI_Ineighbor_alltoallw, mpi_ineighbor_alltoallw) X(MPI_Comm_dup, mpi_comm_dup)           \
    X(MPI_Comm_dup_with_info, mpi_comm_dup_with_info) X(MPI_Comm_idup, mpi_comm_idup)           \
    X(MPI_Comm_idup_with_info, mpi_comm_idup_with_info) X(MPI_Comm_create, mpi_comm_create)     \
    X(MPI_Comm_create_group, mpi_comm_create_group) X(MPI_Comm_split, mpi_comm_split)           \
    X(MPI_Comm_split_type, mpi_comm_split_type) X(MPI_Cart_create, mpi_cart_create)             \
    X(MPI_Cart_sub, mpi_cart_sub) X(MPI_Graph_create, mpi_graph_create)                         \
    X(MPI_Dist_graph_create, mpi_dist_graph_create)                                             \
    X(MPI_Dist_graph_create_adjacent, mpi_dist_graph_create_adjacent)                           \
    X(MPI_Intercomm_create, mpi_intercomm_create) X(MPI_Intercomm_merge, mpi_intercomm_merge)   \
    X(MPI_Comm_free, mpi_comm_free) X(MPI_Comm_disconnect, mpi_comm_disconnect)                 \
    X(MPI_Comm_spawn, mpi_comm_spawn) X(MPI_Comm_spawn_multiple, mpi_comm_spawn_multiple)       \
    X(MPI_Comm_accept, mpi_comm_accept) X(MPI_Comm_connect, mpi_comm_connect)                   \
    X(MPI_Comm_join, mpi_comm_join) X(MPI_Put, mpi_put) X(MPI_Get, mpi_get)                     \
    X(MPI_Accumulate, mpi_accumulate) X(MPI_Get_accumulate, mpi_get_accumulate)                 \
    X(MPI_Fetch_and_op, mpi_fetch_and_op) X(MPI_Compare_and_swap, mpi_compare_and_swap)         \
    X(MPI_Rput, mpi_rput) X(MPI_Rget, mpi_rget) X(MPI_Raccumulate, mpi_raccumulate)             \
    X(MPI_Rget_accumulate, mpi_rget_accumulate) X(MPI_Win_create, mpi_win_create)               \
    X(MPI_Win_allocate, mpi_win_allocate) X(MPI_Win_allocate_shared, mpi_win_allocate_shared)   \
    X(MPI_Win_create_dynamic, mpi_win_create_dynamic) X(MPI_Win_free, mpi_win_free)             \
    X(MPI_Win_fence, mpi_win_fence) X(MPI_Win_lock, mpi_win_lock)                               \
    X(MPI_Win_unlock, mpi_win_unlock) X(MPI_Win_lock_all, mpi_win_lock_all)                     \
    X(MPI_Win_unlock_all, mpi_win_unlock_all) X(MPI_Win_flush, mpi_win_flush)                   \
    X(MPI_Win_flush_all, mpi_win_flush_all) X(MPI_Win_flush_local, mpi_win_flush_local)         \
    X(MPI_Win_flush_local_all, mpi_win_flush_local_all) X(MPI_Win_post, mpi_win_post)           \
    X(MPI_Win_start, mpi_win_start) X(MPI_Win_complete, mpi_win_complete)                       \
    X(MPI_Win_wait, mpi_win_wait) X(MPI_Win_test, mpi_win_test) X(MPI_File_open, mpi_file_open) \
    X(MPI_File_close, mpi_file_close) X(MPI_File_sync, mpi_file_sync)                           \
    X(MPI_File_set_view, mpi_file_set_view) X(MPI_File_set_size, mpi_file_set_size)             \
    X(MPI_File_preallocate, mpi_file_preallocate) X(MPI_File_read, mpi_file_read)               \
    X(MPI_File_read_at, mpi_file_read_at) X(MPI_File_read_all, mpi_file_read_all)               \
    X(MPI_File_read_at_all, mpi_file_read_at_all) X(MPI_File_read_shared, mpi_file_read_shared) \
    X(MPI_File_read_ordered, mpi_file_read_ordered) X(MPI_File_write, mpi_file_write)           \
    X(MPI_File_write_at, mpi_file_write_at) X(MPI_File_write_all, mpi_file_write_all)           \
    X(MPI_File_write_at_all, mpi_file_write_at_all)                                             \
    X(MPI_File_write_shared, mpi_file_write_shared)                                             \
    X(MPI_File_write_ordered, mpi_file_write_ordered) X(MPI_File_iread, mpi_file_iread)         \
    X(MPI_File_iread_at, mpi_file_iread_at) X(MPI_File_iread_all, mpi_file_iread_all)           \
    X(MPI_File_iread_at_all, mpi_file_iread_at_all)                                             \
    X(MPI_File_iread_shared, mpi_file_iread_shared) X(MPI_File_iwrite, mpi_file_iwrite)         \
    X(MPI_File_iwrite_at, mpi_file_iwrite_at) X(MPI_File_iwrite_all, mpi_file_iwrite_all)       \
    X(MPI_File_iwrite_at_all, mpi_file_iwrite_at_all)                                           \
    X(MPI_File_iwrite_shared, mpi_file_iwrite_shared)                                           \
    X(MPI_File_read_all_begin, mpi_file_read_all_begin)                                         \
    X(MPI_File_read_at_all_begin, mpi_file_read_at_all_begin)                                   \
    X(MPI_File_read_ordered_begin, mpi_file_read_ordered_begin)                                 \
    X(MPI_File_write_all_begin, mpi_file_write_all_begin)                                       \
    X(MPI_File_write_at_all_begin, mpi_file_write_at_all_begin)                                 \
    X(MPI_File_write_ordered_begin, mpi_file_write_ordered_begin)                               \
    X(MPI_File_read_all_end, mpi_file_read_all_end)                                             \
    X(MPI_File_read_at_all_end, mpi_file_read_at_all_end)                                       \
    X(MPI_File_read_ordered_end, mpi_file_read_ordered_end)                                     \
    X(MPI_File_write_all_end, mpi_file_write_all_end)                                           \
    X(MPI_File_write_at_all_end, mpi_file_write_at_all_end)                                     \
    X(MPI_File_write_ordered_end, mpi_file_write_ordered_end)                                   \
    X(MPI_Barrier_init, mpi_barrier_init) X(MPI_Bcast_init, mpi_bcast_init)                     \
    X(MPI_Scatter_init, mpi_scatter_init) X(MPI_Scatterv_init, mpi_scatterv_init)               \
    X(MPI_Reduce_init, mpi_reduce_init) X(MPI_Gather_init, mpi_gather_init)                     \
    X(MPI_Gatherv_init, mpi_gatherv_init) X(MPI_Allreduce_init, mpi_allreduce_init)             \
    X(MPI_Allgather_init, mpi_allgather_init) X(MPI_Allgatherv_init, mpi_allgatherv_init)       \
    X(MPI_Alltoall_init, mpi_alltoall_init) X(MPI_Alltoallv_init, mpi_alltoallv_init)           \
    X(MPI_Alltoallw_init, mpi_alltoallw_init)                                                   \
    X(MPI_Reduce_scatter_init, mpi_reduce_scatter_init)                                         \
    X(MPI_Reduce_scatter_block_init, mpi_reduce_scatter_block_init)                             \
    X(MPI_Scan_init, mpi_scan_init) X(MPI_Exscan_init, mpi_exscan_init)                         \
    X(MPI_Neighbor_allgather_init, mpi_neighbor_allgather_init)                                 \
    X(MPI_Neighbor_allgatherv_init, mpi_neighbor_allgatherv_init)                               \
    X(MPI_Neighbor_alltoall_init, mpi_neighbor_alltoall_init)                                   \
    X(MPI_Neighbor_alltoallv_init, mpi_neighbor_alltoallv_init)                                 \
    X(MPI_Neighbor_alltoallw_init, mpi_neighbor_alltoallw_init)

/* Those of MPI 4 whose counts are MPI_Count. */
#define MPI_LARGE_FUNCTIONS(X)                                                                  \
    X(MPI_Send_c, mpi_send_c) X(MPI_Ssend_c, mpi_ssend_c) X(MPI_Bsend_c, mpi_bsend_c)           \
    X(MPI_Rsend_c, mpi_rsend_c) X(MPI_Isend_c, mpi_isend_c) X(MPI_Issend_c, mpi_issend_c)       \
    X(MPI_Ibsend_c, mpi_ibsend_c) X(MPI_Irsend_c, mpi_irsend_c)                                 \
    X(MPI_Send_init_c, mpi_send_init_c) X(MPI_Ssend_init_c, mpi_ssend_init_c)                   \
    X(MPI_Bsend_init_c, mpi_bsend_init_c) X(MPI_Rsend_init_c, mpi_rsend_init_c)                 \
    X(MPI_Recv_init_c, mpi_recv_init_c) X(MPI_Recv_c, mpi_recv_c) X(MPI_Irecv_c, mpi_irecv_c)   \
    X(MPI_Mrecv_c, mpi_mrecv_c) X(MPI_Imrecv_c, mpi_imrecv_c) X(MPI_Sendrecv_c, mpi_sendrecv_c) \
    X(MPI_Sendrecv_replace_c, mpi_sendrecv_replace_c) X(MPI_Isendrecv_c, mpi_isendrecv_c)       \
    X(MPI_Isendrecv_replace_c, mpi_isendrecv_replace_c) X(MPI_Bcast_c, mpi_bcast_c)             \
    X(MPI_Scatter_c, mpi_scatter_c) X(MPI_Scatterv_c, mpi_scatterv_c)                           \
    X(MPI_Reduce_c, mpi_reduce_c) X(MPI_Gather_c, mpi_gather_c) X(MPI_Gatherv_c, mpi_gatherv_c) \
    X(MPI_Allreduce_c, mpi_allreduce_c) X(MPI_Allgather_c, mpi_allgather_c)                     \
    X(MPI_Allgatherv_c, mpi_allgatherv_c) X(MPI_Alltoall_c, mpi_alltoall_c)                     \
    X(MPI_Alltoallv_c, mpi_alltoallv_c) X(MPI_Alltoallw_c, mpi_alltoallw_c)                     \
    X(MPI_Reduce_scatter_c, mpi_reduce_scatter_c)                                               \
    X(MPI_Reduce_scatter_block_c, mpi_reduce_scatter_block_c) X(MPI_Scan_c, mpi_scan_c)         \
    X(MPI_Exscan_c, mpi_exscan_c) X(MPI_Neighbor_allgather_c, mpi_neighbor_allgather_c)         \
    X(MPI_Neighbor_allgatherv_c, mpi_neighbor_allgatherv_c)                                     \
    X(MPI_Neighbor_alltoall_c, mpi_neighbor_alltoall_c)                                         \
    X(MPI_Neighbor_alltoallv_c, mpi_neighbor_alltoallv_c)                                       \
    X(MPI_Neighbor_alltoallw_c, mpi_neighbor_alltoallw_c) X(MPI_Ibcast_c, mpi_ibcast_c)         \
    X(MPI_Iscatter_c, mpi_iscatter_c) X(MPI_Iscatterv_c, mpi_iscatterv_c)                       \
    X(MPI_Ireduce_c, mpi_ireduce_c) X(MPI_Igather_c, mpi_igather_c)                             \
    X(MPI_Igatherv_c, mpi_igatherv_c) X(MPI_Iallreduce_c, mpi_iallreduce_c)                     \
    X(MPI_Iallgather_c, mpi_iallgather_c) X(MPI_Iallgatherv_c, mpi_iallgatherv_c)               \
    X(MPI_Ialltoall_c, mpi_ialltoall_c) X(MPI_Ialltoallv_c, mpi_ialltoallv_c)                   \
    X(MPI_Ialltoallw_c, mpi_ialltoallw_c) X(MPI_Ireduce_scatter_c, mpi_ireduce_scatter_c)       \
    X(MPI_Ireduce_scatter_block_c, mpi_ireduce_scatter_block_c) X(MPI_Iscan_c, mpi_iscan_c)     \
    X(MPI_Iexscan_c, mpi_iexscan_c) X(MPI_Ineighbor_allgather_c, mpi_ineighbor_allgather_c)     \
    X(MPI_Ineighbor_allgatherv_c, mpi_ineighbor_allgatherv_c)                                   \
    X(MPI_Ineighbor_alltoall_c, mpi_ineighbor_alltoall_c)                                       \
    X(MPI_Ineighbor_alltoallv_c, mpi_ineighbor_alltoallv_c)                                     \
    X(MPI_Ineighbor_alltoallw_c, mpi_ineighbor_alltoallw_c)                                     \
    X(MPI_Bcast_init_c, mpi_bcast_init_c) X(MPI_Scatter_init_c, mpi_scatter_init_c)             \
    X(MPI_Scatterv_init_c, mpi_scatterv_init_c) X(MPI_Reduce_init_c, mpi_reduce_init_c)         \
    X(MPI_Gather_init_c, mpi_gather_init_c) X(MPI_Gatherv_init_c, mpi_gatherv_init_c)           \
    X(MPI_Allreduce_init_c, mpi_allreduce_init_c) X(MPI_Allgather_init_c, mpi_allgather_init_c) \
    X(MPI_Allgatherv_init_c, mpi_allgatherv_init_c) X(MPI_Alltoall_init_c, mpi_alltoall_init_c) \
    X(MPI_Alltoallv_init_c, mpi_alltoallv_init_c) X(MPI_Alltoallw_init_c, mpi_alltoallw_init_c) \
    X(MPI_Reduce_scatter_init_c, mpi_reduce_scatter_init_c)                                     \
    X(MPI_Reduce_scatter_block_init_c, mpi_reduce_scatter_block_init_c)                         \
    X(MPI_Scan_init_c, mpi_scan_init_c) X(MPI_Exscan_init_c, mpi_exscan_init_c)                 \
    X(MPI_Neighbor_allgather_init_c, mpi_neighbor_allgather_init_c)                             \
    X(MPI_Neighbor_allgatherv_init_c, mpi_neighbor_allgatherv_init_c)                           \
    X(MPI_Neighbor_alltoall_init_c, mpi_neighbor_alltoall_init_c)                               \
    X(MPI_Neighbor_alltoallv_init_c, mpi_neighbor_alltoallv_init_c)                             \
    X(MPI_Neighbor_alltoallw_init_c, mpi_neighbor_alltoallw_init_c) X(MPI_Put_c, mpi_put_c)     \
    X(MPI_Get_c, mpi_get_c) X(MPI_Accumulate_c, mpi_accumulate_c)                               \
    X(MPI_Get_accumulate_c, mpi_get_accumulate_c) X(MPI_Rput_c, mpi_rput_c)                     \
    X(MPI_Rget_c, mpi_rget_c) X(MPI_Raccumulate_c, mpi_raccumulate_c)                           \
    X(MPI_Rget_accumulate_c, mpi_rget_accumulate_c) X(MPI_Win_create_c, mpi_win_create_c)       \
    X(MPI_Win_allocate_c, mpi_win_allocate_c)                                                   \
    X(MPI_Win_allocate_shared_c, mpi_win_allocate_shared_c) X(MPI_File_read_c, mpi_file_read_c) \
    X(MPI_File_read_at_c, mpi_file_read_at_c) X(MPI_File_read_all_c, mpi_file_read_all_c)       \
    X(MPI_File_read_at_all_c, mpi_file_read_at_all_c)                                           \
    X(MPI_File_read_shared_c, mpi_file_read_shared_c)                                           \
    X(MPI_File_read_ordered_c, mpi_file_read_ordered_c) X(MPI_File_write_c, mpi_file_write_c)   \
    X(MPI_File_write_at_c, mpi_file_write_at_c) X(MPI_File_write_all_c, mpi_file_write_all_c)   \
    X(MPI_File_write_at_all_c, mpi_file_write_at_all_c)                                         \
    X(MPI_File_write_shared_c, mpi_file_write_shared_c)                                         \
    X(MPI_File_write_ordered_c, mpi_file_write_ordered_c) X(MPI_File_iread_c, mpi_file_iread_c) \
    X(MPI_File_iread_at_c, mpi_file_iread_at_c) X(MPI_File_iread_all_c, mpi_file_iread_all_c)   \
    X(MPI_File_iread_at_all_c, mpi_file_iread_at_all_c)                                         \
    X(MPI_File_iread_shared_c, mpi_file_iread_shared_c) X(MPI_File_iwrite_c, mpi_file_iwrite_c) \
    X(MPI_File_iwrite_at_c, mpi_file_iwrite_at_c)                                               \
    X(MPI_File_iwrite_all_c, mpi_file_iwrite_all_c)                                             \
    X(MPI_File_iwrite_at_all_c, mpi_file_iwrite_at_all_c)                                       \
    X(MPI_File_iwrite_shared_c, mpi_file_iwrite_shared_c)                                       \
    X(MPI_File_read_all_begin_c, mpi_file_read_all_begin_c)                                     \
    X(MPI_File_read_at_all_begin_c, mpi_file_read_at_all_begin_c)                               \
    X(MPI_File_read_ordered_begin_c, mpi_file_read_ordered_begin_c)                             \
    X(MPI_File_write_all_begin_c, mpi_file_write_all_begin_c)                                   \
    X(MPI_File_write_at_all_begin_c, mpi_file_write_at_all_begin_c)                             \
    X(MPI_File_write_ordered_begin_c, mpi_file_write_ordered_begin_c)

/* Persistent collectives, as Open MPI 4 calls them. */
#define MPI_EXTENSION_FUNCTIONS(X)                                                            \
    X(MPIX_Barrier_init, mpix_barrier_init) X(MPIX_Bcast_init, mpix_bcast_init)               \
    X(MPIX_Scatter_init, mpix_scatter_init) X(MPIX_Scatterv_init, mpix_scatterv_init)         \
    X(MPIX_Reduce_init, mpix_reduce_init) X(MPIX_Gather_init, mpix_gather_init)               \
    X(MPIX_Gatherv_init, mpix_gatherv_init) X(MPIX_Allreduce_init, mpix_allreduce_init)       \
    X(MPIX_Allgather_init, mpix_allgather_init) X(MPIX_Allgatherv_init, mpix_allgatherv_init) \
    X(MPIX_Alltoall_init, mpix_alltoall_init) X(MPIX_Alltoallv_init, mpix_alltoallv_init)     \
    X(MPIX_Alltoallw_init, mpix_alltoallw_init)                                               \
    X(MPIX_Reduce_scatter_init, mpix_reduce_scatter_init)                                     \
    X(MPIX_Reduce_scatter_block_init, mpix_reduce_scatter_block_init)                         \
    X(MPIX_Scan_init, mpix_scan_init) X(MPIX_Exscan_init, mpix_exscan_init)                   \
    X(MPIX_Neighbor_allgather_init, mpix_neighbor_allgather_init)                             \
    X(MPIX_Neighbor_allgatherv_init, mpix_neighbor_allgatherv_init)                           \
    X(MPIX_Neighbor_alltoall_init, mpix_neighbor_alltoall_init)                               \
    X(MPIX_Neighbor_alltoallv_init, mpix_neighbor_alltoallv_init)                             \
    X(MPIX_Neighbor_alltoallw_init, mpix_neighbor_alltoallw_init)

#define MPI_FUNCTIONS(X) MPI_SMALL_FUNCTIONS(X) MPI_LARGE_FUNCTIONS(X) MPI_EXTENSION_FUNCTIONS(X)
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
