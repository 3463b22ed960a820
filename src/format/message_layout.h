/* message_layout.h: what the events of MPI tell of. A part of layout.h, which includes it. */
#ifndef HEURT_FORMAT_MESSAGE_LAYOUT_H
#define HEURT_FORMAT_MESSAGE_LAYOUT_H

#include <stdint.h>

/* A call of MPI is a span, MESSAGE_CALL: the communicator (0: none), bytes that it sends and has
 * room to receive. What it is made of is told in it, at its enter's tick or just before its leave,
 * in words of two numbers (HEURT_MESSAGE). Ranks are those in MPI_COMM_WORLD; requests have numbers
 * of their process, from 1.
 *
 *     MESSAGE_SENT          request (0: this call sends it whole), communicator; who gets it, tag;
 * bytes MESSAGE_AWAITED       request, communicator; who may send it, tag, or HEURT_MESSAGE_ANY;
 * bytes at most MESSAGE_DONE          request, 1: it was cancelled; of one that awaited a message
 * who sent it, its tag; bytes MESSAGE_COLLECTIVE    request (0: this call is it), communicator; the
 * root or HEURT_MESSAGE_ANY, enum heurt_message_call; bytes that this rank sends
 *     MESSAGE_COMMUNICATOR  its size, its number; this process's rank in it, the first one's in
 *                           MPI_COMM_WORLD; size of the group that it leads to (0: it is no
 *                           intercommunicator)
 *     MESSAGE_RANK          this process's rank, size of MPI_COMM_WORLD; enum
 * heurt_message_library, level of thread support that is given
 *
 * A communicator has the same number in all of its processes: what its members are, in their order,
 * and how many of the same members were made before it, come to it. So none is sent. Windows of
 * one-sided communication are told as communicators are (HEURT_MESSAGE_WINDOW in the third word):
 * what all of their ranks come to is collective on these.
 *
 * What is no message has a tag that no message has (HEURT_SIGNAL…):
 *
 *     SENT     ACCESS     bytes of a rank's memory are read or written by this call
 *     SENT     POST       that rank may access this one's memory from now on (MPI_Win_post);
 *     AWAITED  POST       awaited from MPI_Win_start on, done in MPI_Win_complete
 *     SENT     COMPLETE   this rank accesses that one's memory no more (MPI_Win_complete);
 *     AWAITED  COMPLETE   in MPI_Win_wait
 *     AWAITED  LOCK…      that rank's memory, or all ranks', is locked (MPI_Win_lock), until done
 * in MPI_Win_unlock
 */
/* Beside the runtime: what programs get preloaded, behind it, whose environment has one of these
 * variables: a launcher of MPI has started them. */
#define HEURT_MPI_LIBRARY_FILE "libheurt-mpi.so"
#define HEURT_MPI_WRAPPER_FILES "libheurt-mpi-" /* how those begin that it loads */
#define HEURT_MPI_VARIABLES                             \
    {                                                   \
        "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" \
    }

/* Two numbers of 32 bits in a word of an event of MPI. */
#define HEURT_MESSAGE(high, low) ((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low))
#define HEURT_MESSAGE_HIGH(word) ((uint32_t)((word) >> 32))
#define HEURT_MESSAGE_LOW(word) ((uint32_t)(word))
#define HEURT_MESSAGE_ANY 0xffffffffu /* rank or tag: whichever */

/* Tags of what is no message. */
#define HEURT_SIGNAL_ACCESS 0x80000001u
#define HEURT_SIGNAL_POST 0x80000002u
#define HEURT_SIGNAL_COMPLETE 0x80000003u
#define HEURT_SIGNAL_LOCK_SHARED 0x80000004u
#define HEURT_SIGNAL_LOCK_EXCLUSIVE 0x80000005u
#define HEURT_IS_SIGNAL(tag) ((tag) > 0x80000000u && (tag) < HEURT_MESSAGE_ANY)

/* A file of MPI as definitions of objects name it, by the number that its calls tell instead of a
 * communicator. */
#define HEURT_MESSAGE_FILE(number) (0xfd02000000000000ull | (uint32_t)(number))

/* In the third word of MESSAGE_COMMUNICATOR: what it is of. */
#define HEURT_MESSAGE_WINDOW (1ull << 32)

enum heurt_message_library {
    HEURT_MESSAGE_OPEN_MPI = 1,
    HEURT_MESSAGE_MPICH = 2,
};

/* What a call of MPI is for those that wait in it. */
enum heurt_message_family {
    HEURT_MESSAGE_OTHER,     /* it begins, ends, or makes something: nobody is waited for by name */
    HEURT_MESSAGE_SENDS,     /* one message, or begins to */
    HEURT_MESSAGE_RECEIVES,  /* likewise */
    HEURT_MESSAGE_COMPLETES, /* waits for requests, or tests them */
    HEURT_MESSAGE_PROBES,
    HEURT_MESSAGE_BARRIER,   /* collective: all wait for the last, */
    HEURT_MESSAGE_ALL,       /* each needs something of all, */
    HEURT_MESSAGE_FROM_ROOT, /* all need something of the root, */
    HEURT_MESSAGE_TO_ROOT,   /* the root of all, */
    HEURT_MESSAGE_PREFIX,    /* each of those before it, */
    HEURT_MESSAGE_NEIGHBOURS,
    HEURT_MESSAGE_FENCE,     /* collective over a window: all wait for the last */
    HEURT_MESSAGE_ONE_SIDED, /* memory of another rank, or leave to access it */
    HEURT_MESSAGE_FILE,      /* not looked at further */
};

/* clang-format off */
/* X(name, number, family, text). The nonblocking one of a collective has its number plus 64. */
#define HEURT_MESSAGE_CALL_TABLE(X)                                 \
    X(INIT, 1, OTHER, "MPI_Init")                                   \
    X(FINALIZE, 2, OTHER, "MPI_Finalize")                           \
    X(SEND, 3, SENDS, "MPI_Send")                                   \
    X(SSEND, 4, SENDS, "MPI_Ssend")                                 \
    X(BSEND, 5, SENDS, "MPI_Bsend")                                 \
    X(RSEND, 6, SENDS, "MPI_Rsend")                                 \
    X(ISEND, 7, SENDS, "MPI_Isend")                                 \
    X(ISSEND, 8, SENDS, "MPI_Issend")                               \
    X(IBSEND, 9, SENDS, "MPI_Ibsend")                               \
    X(IRSEND, 10, SENDS, "MPI_Irsend")                              \
    X(RECV, 11, RECEIVES, "MPI_Recv")                               \
    X(IRECV, 12, RECEIVES, "MPI_Irecv")                             \
    X(MRECV, 13, RECEIVES, "MPI_Mrecv")                             \
    X(IMRECV, 14, RECEIVES, "MPI_Imrecv")                           \
    X(SENDRECV, 15, RECEIVES, "MPI_Sendrecv")                       \
    X(SENDRECV_REPLACE, 16, RECEIVES, "MPI_Sendrecv_replace")       \
    X(PERSISTENT, 17, OTHER, "MPI_…_init")                          \
    X(START, 18, SENDS, "MPI_Start")                                \
    X(STARTALL, 19, SENDS, "MPI_Startall")                          \
    X(PROBE, 20, PROBES, "MPI_Probe")                               \
    X(IPROBE, 21, PROBES, "MPI_Iprobe")                             \
    X(MPROBE, 22, PROBES, "MPI_Mprobe")                             \
    X(IMPROBE, 23, PROBES, "MPI_Improbe")                           \
    X(WAIT, 24, COMPLETES, "MPI_Wait")                              \
    X(WAITALL, 25, COMPLETES, "MPI_Waitall")                        \
    X(WAITANY, 26, COMPLETES, "MPI_Waitany")                        \
    X(WAITSOME, 27, COMPLETES, "MPI_Waitsome")                      \
    X(TEST, 28, COMPLETES, "MPI_Test")                              \
    X(TESTALL, 29, COMPLETES, "MPI_Testall")                        \
    X(TESTANY, 30, COMPLETES, "MPI_Testany")                        \
    X(TESTSOME, 31, COMPLETES, "MPI_Testsome")                      \
    X(COMMUNICATOR, 32, OTHER, "MPI_Comm_…")                        \
    X(SPAWN, 35, OTHER, "MPI_Comm_spawn")                           \
    X(ISENDRECV, 36, SENDS, "MPI_Isendrecv")                        \
    X(ISENDRECV_REPLACE, 37, SENDS, "MPI_Isendrecv_replace")        \
    X(PREADY, 38, SENDS, "MPI_Pready")                              \
    X(PARRIVED, 39, OTHER, "MPI_Parrived")                          \
    X(COMM_ACCEPT, 40, OTHER, "MPI_Comm_accept")                    \
    X(COMM_CONNECT, 41, OTHER, "MPI_Comm_connect")                  \
    X(COMM_JOIN, 42, OTHER, "MPI_Comm_join")                        \
    X(BARRIER, 65, BARRIER, "MPI_Barrier")                          \
    X(BCAST, 66, FROM_ROOT, "MPI_Bcast")                            \
    X(SCATTER, 67, FROM_ROOT, "MPI_Scatter")                        \
    X(SCATTERV, 68, FROM_ROOT, "MPI_Scatterv")                      \
    X(REDUCE, 69, TO_ROOT, "MPI_Reduce")                            \
    X(GATHER, 70, TO_ROOT, "MPI_Gather")                            \
    X(GATHERV, 71, TO_ROOT, "MPI_Gatherv")                          \
    X(ALLREDUCE, 72, ALL, "MPI_Allreduce")                          \
    X(ALLGATHER, 73, ALL, "MPI_Allgather")                          \
    X(ALLGATHERV, 74, ALL, "MPI_Allgatherv")                        \
    X(ALLTOALL, 75, ALL, "MPI_Alltoall")                            \
    X(ALLTOALLV, 76, ALL, "MPI_Alltoallv")                          \
    X(ALLTOALLW, 77, ALL, "MPI_Alltoallw")                          \
    X(REDUCE_SCATTER, 78, ALL, "MPI_Reduce_scatter")                \
    X(REDUCE_SCATTER_BLOCK, 79, ALL, "MPI_Reduce_scatter_block")    \
    X(SCAN, 80, PREFIX, "MPI_Scan")                                 \
    X(EXSCAN, 81, PREFIX, "MPI_Exscan")                             \
    X(NEIGHBOURS, 82, NEIGHBOURS, "MPI_Neighbor_…")                 \
    X(IBARRIER, 129, BARRIER, "MPI_Ibarrier")                       \
    X(IBCAST, 130, FROM_ROOT, "MPI_Ibcast")                         \
    X(ISCATTER, 131, FROM_ROOT, "MPI_Iscatter")                     \
    X(ISCATTERV, 132, FROM_ROOT, "MPI_Iscatterv")                   \
    X(IREDUCE, 133, TO_ROOT, "MPI_Ireduce")                         \
    X(IGATHER, 134, TO_ROOT, "MPI_Igather")                         \
    X(IGATHERV, 135, TO_ROOT, "MPI_Igatherv")                       \
    X(IALLREDUCE, 136, ALL, "MPI_Iallreduce")                       \
    X(IALLGATHER, 137, ALL, "MPI_Iallgather")                       \
    X(IALLGATHERV, 138, ALL, "MPI_Iallgatherv")                     \
    X(IALLTOALL, 139, ALL, "MPI_Ialltoall")                         \
    X(IALLTOALLV, 140, ALL, "MPI_Ialltoallv")                       \
    X(IALLTOALLW, 141, ALL, "MPI_Ialltoallw")                       \
    X(IREDUCE_SCATTER, 142, ALL, "MPI_Ireduce_scatter")             \
    X(IREDUCE_SCATTER_BLOCK, 143, ALL, "MPI_Ireduce_scatter_block") \
    X(ISCAN, 144, PREFIX, "MPI_Iscan")                              \
    X(IEXSCAN, 145, PREFIX, "MPI_Iexscan")                          \
    X(INEIGHBOURS, 146, NEIGHBOURS, "MPI_Ineighbor_…")              \
    X(PUT, 160, ONE_SIDED, "MPI_Put")                               \
    X(GET, 161, ONE_SIDED, "MPI_Get")                               \
    X(ACCUMULATE, 162, ONE_SIDED, "MPI_Accumulate")                 \
    X(GET_ACCUMULATE, 163, ONE_SIDED, "MPI_Get_accumulate")         \
    X(FETCH_AND_OP, 164, ONE_SIDED, "MPI_Fetch_and_op")             \
    X(COMPARE_AND_SWAP, 165, ONE_SIDED, "MPI_Compare_and_swap")     \
    X(RPUT, 166, ONE_SIDED, "MPI_Rput")                             \
    X(RGET, 167, ONE_SIDED, "MPI_Rget")                             \
    X(RACCUMULATE, 168, ONE_SIDED, "MPI_Raccumulate")               \
    X(RGET_ACCUMULATE, 169, ONE_SIDED, "MPI_Rget_accumulate")       \
    X(WIN_CREATE, 170, OTHER, "MPI_Win_create…")                    \
    X(WIN_POST, 171, ONE_SIDED, "MPI_Win_post")                     \
    X(WIN_FREE, 172, BARRIER, "MPI_Win_free")                       \
    X(WIN_FENCE, 173, FENCE, "MPI_Win_fence")                       \
    X(WIN_START, 174, ONE_SIDED, "MPI_Win_start")                   \
    X(WIN_COMPLETE, 175, ONE_SIDED, "MPI_Win_complete")             \
    X(WIN_WAIT, 176, ONE_SIDED, "MPI_Win_wait")                     \
    X(WIN_TEST, 177, ONE_SIDED, "MPI_Win_test")                     \
    X(WIN_LOCK, 178, ONE_SIDED, "MPI_Win_lock")                     \
    X(WIN_UNLOCK, 179, ONE_SIDED, "MPI_Win_unlock")                 \
    X(WIN_LOCK_ALL, 180, ONE_SIDED, "MPI_Win_lock_all")             \
    X(WIN_UNLOCK_ALL, 181, ONE_SIDED, "MPI_Win_unlock_all")         \
    X(WIN_FLUSH, 182, ONE_SIDED, "MPI_Win_flush")                   \
    X(WIN_FLUSH_ALL, 183, ONE_SIDED, "MPI_Win_flush_all")           \
    X(WIN_FLUSH_LOCAL, 184, ONE_SIDED, "MPI_Win_flush_local")       \
    X(WIN_FLUSH_LOCAL_ALL, 185, ONE_SIDED, "MPI_Win_flush_local_all")\
    X(FILE_OPEN, 190, FILE, "MPI_File_open")                        \
    X(FILE_CLOSE, 191, FILE, "MPI_File_close")                      \
    X(FILE_READ, 192, FILE, "MPI_File_read")                        \
    X(FILE_WRITE, 193, FILE, "MPI_File_write")                      \
    X(FILE_READ_AT, 194, FILE, "MPI_File_read_at")                         \
    X(FILE_WRITE_AT, 195, FILE, "MPI_File_write_at")                       \
    X(FILE_READ_SHARED, 196, FILE, "MPI_File_read_shared")                 \
    X(FILE_WRITE_SHARED, 197, FILE, "MPI_File_write_shared")               \
    X(FILE_IREAD, 198, FILE, "MPI_File_iread")                             \
    X(FILE_IWRITE, 199, FILE, "MPI_File_iwrite")                           \
    X(FILE_SYNC, 200, FILE, "MPI_File_sync")                               \
    X(FILE_READ_ALL, 201, FILE, "MPI_File_read_all")                       \
    X(FILE_WRITE_ALL, 202, FILE, "MPI_File_write_all")                     \
    X(FILE_READ_AT_ALL, 203, FILE, "MPI_File_read_at_all")                 \
    X(FILE_WRITE_AT_ALL, 204, FILE, "MPI_File_write_at_all")               \
    X(FILE_IREAD_AT, 205, FILE, "MPI_File_iread_at")                       \
    X(FILE_IWRITE_AT, 206, FILE, "MPI_File_iwrite_at")                     \
    X(FILE_IREAD_SHARED, 207, FILE, "MPI_File_iread_shared")               \
    X(FILE_IWRITE_SHARED, 208, FILE, "MPI_File_iwrite_shared")             \
    X(FILE_READ_ORDERED, 209, FILE, "MPI_File_read_ordered")               \
    X(FILE_WRITE_ORDERED, 210, FILE, "MPI_File_write_ordered")             \
    X(FILE_IREAD_ALL, 211, FILE, "MPI_File_iread_all")                     \
    X(FILE_IWRITE_ALL, 212, FILE, "MPI_File_iwrite_all")                   \
    X(FILE_IREAD_AT_ALL, 213, FILE, "MPI_File_iread_at_all")               \
    X(FILE_IWRITE_AT_ALL, 214, FILE, "MPI_File_iwrite_at_all")             \
    X(FILE_READ_ALL_BEGIN, 215, FILE, "MPI_File_read_all_begin")           \
    X(FILE_READ_ALL_END, 216, FILE, "MPI_File_read_all_end")               \
    X(FILE_WRITE_ALL_BEGIN, 217, FILE, "MPI_File_write_all_begin")         \
    X(FILE_WRITE_ALL_END, 218, FILE, "MPI_File_write_all_end")             \
    X(FILE_READ_AT_ALL_BEGIN, 219, FILE, "MPI_File_read_at_all_begin")     \
    X(FILE_READ_AT_ALL_END, 220, FILE, "MPI_File_read_at_all_end")         \
    X(FILE_WRITE_AT_ALL_BEGIN, 221, FILE, "MPI_File_write_at_all_begin")   \
    X(FILE_WRITE_AT_ALL_END, 222, FILE, "MPI_File_write_at_all_end")       \
    X(FILE_READ_ORDERED_BEGIN, 223, FILE, "MPI_File_read_ordered_begin")   \
    X(FILE_READ_ORDERED_END, 224, FILE, "MPI_File_read_ordered_end")       \
    X(FILE_WRITE_ORDERED_BEGIN, 225, FILE, "MPI_File_write_ordered_begin") \
    X(FILE_WRITE_ORDERED_END, 226, FILE, "MPI_File_write_ordered_end")     \
    X(FILE_SET_SIZE, 227, FILE, "MPI_File_set_size")                       \
    X(FILE_PREALLOCATE, 228, FILE, "MPI_File_preallocate")                 \
    X(FILE_SET_VIEW, 229, FILE, "MPI_File_set_view")
/* clang-format on */
#define HEURT_MESSAGE_NONBLOCKING 64u

enum heurt_message_call {
#define HEURT_MESSAGE_CALL_NUMBER(name, number, family, text) HEURT_CALL_##name = number,
    HEURT_MESSAGE_CALL_TABLE(HEURT_MESSAGE_CALL_NUMBER)
#undef HEURT_MESSAGE_CALL_NUMBER
};

/* Calls that name a file by its number. */
#define HEURT_CALL_IS_OF_FILE(call) ((call) >= HEURT_CALL_FILE_OPEN)

/* What a rank's clock showed when another one's did: where its host's was compared with that of the
 * host of rank 0, over MPI, once at the start and once at the end. All ranks of a host tell the
 * same. The pair of the shortest of many round trips, in whose middle both are taken. */
struct heurt_host_clock {
    uint64_t run;                         /* a number that all ranks of the run have in common */
    uint32_t rank, size;                  /* in MPI_COMM_WORLD, of it */
    uint32_t host, reference;             /* as heurt_session.host: its own, rank 0's */
    uint32_t hosts;                       /* of the run */
    uint32_t is_end;                      /* 0: at the start */
    uint64_t tick;                        /* its own; 0: it is rank 0's clock itself */
    uint64_t reference_tick, error_ticks; /* of the reference; error: half of that round trip */
};

#endif
