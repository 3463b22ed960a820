/* wrap_collectives.c: the wrappers of collective operations, each with its nonblocking one and its
 * persistent one, with counts that are small or, compiled once more, large. */
#include "mpi/wrap.h"

#define LIST(...) __VA_ARGS__

static bool is_root(const struct communicator *in, int root)
{
    return in && (root == MPI_ROOT || (!in->remote && root >= 0 && (uint32_t)root == in->rank));
}

/* Where a process's own part stands in place, the other side tells how much that is. */
static uint64_t bytes_in_place(const void *buffer, mpi_count count, MPI_Datatype type,
                               mpi_count other_count, MPI_Datatype other_type)
{
    return buffer == MPI_IN_PLACE ? bytes_of(other_count, other_type) : bytes_of(count, type);
}

static uint64_t bytes_of_parts(uint64_t parts, const mpi_count *counts, MPI_Datatype type)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < parts; i++)
        count += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return count * bytes_of(1, type);
}

/* Each part of its own type. */
static uint64_t bytes_of_types(uint64_t parts, const mpi_count *counts, const MPI_Datatype *types)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < parts; i++)
        bytes += bytes_of(counts[i], types[i]);
    return bytes;
}

static uint64_t parts_of(const struct communicator *in)
{
    return in ? in->remote ? in->remote : in->size : 0;
}

static uint64_t neighbours_of(const struct communicator *in)
{
    return in ? in->neighbours : 0;
}

/* root: -1 where there is none; sent: bytes that this process gives. */
#define BLOCKING(name, call, parameters, arguments, root, sent)             \
    EXPORT int SIZED_WRAPPER(name)(parameters)                              \
    {                                                                       \
        const struct communicator *in = communicator__of(comm);             \
        uint64_t bytes = sent, since = ENTER(call, in, bytes);              \
        if (likely(since))                                                  \
            tell__collective(since, 0, in, root, HEURT_CALL_##call, bytes); \
        int result = SIZED_NEXT(name)(arguments);                           \
        LEAVE();                                                            \
    }
#define NONBLOCKING(name, call, parameters, arguments, root, sent)               \
    EXPORT int SIZED_WRAPPER(name)(parameters, MPI_Request * request)            \
    {                                                                            \
        const struct communicator *in = communicator__of(comm);                  \
        uint64_t bytes = sent, since = ENTER(call, in, bytes);                   \
        uint32_t number = since ? request__next_number() : 0;                    \
        if (likely(since))                                                       \
            tell__collective(since, number, in, root, HEURT_CALL_##call, bytes); \
        int result = SIZED_NEXT(name)(arguments, request);                       \
        if (IS_DONE)                                                             \
            request__put((struct mpi_request){.key = request__key(*request),     \
                                              .number = number,                  \
                                              .kind = REQUEST_COLLECTIVE,        \
                                              .in = in});                        \
        LEAVE();                                                                 \
    }
#if HAS_PERSISTENT
/* What MPI_Start begins is told as the nonblocking one of call is. */
#define PERSISTENT(name, call, parameters, arguments, root, sent)                          \
    EXPORT int WRAPPER(PERSISTENT_COLLECTIVE(name))(parameters, MPI_Info info,             \
                                                    MPI_Request * request)                 \
    {                                                                                      \
        const struct communicator *in = communicator__of(comm);                            \
        uint64_t bytes = sent, since = ENTER(PERSISTENT, in, bytes);                       \
        int result = NEXT_EXPANDED(PERSISTENT_COLLECTIVE(name))(arguments, info, request); \
        if (IS_DONE)                                                                       \
            request__put((struct mpi_request){.key = request__key(*request),               \
                                              .kind = REQUEST_COLLECTIVE,                  \
                                              .is_persistent = true,                       \
                                              .in = in,                                    \
                                              .peer = root,                                \
                                              .tag = HEURT_CALL_##call,                    \
                                              .bytes = bytes});                            \
        LEAVE();                                                                           \
    }
#else
#define PERSISTENT(name, call, parameters, arguments, root, sent)
#endif
#define COLLECTIVE(name, i_name, call, i_call, parameters, arguments, root, sent)    \
    BLOCKING(name, call, LIST(parameters), LIST(arguments), root, LIST(sent))        \
    NONBLOCKING(i_name, i_call, LIST(parameters), LIST(arguments), root, LIST(sent)) \
    PERSISTENT(name, i_call, LIST(parameters), LIST(arguments), root, LIST(sent))

#define ONE_TYPE const void *sent_from, void *received, mpi_count count, MPI_Datatype type
#define TO_ALL                                                                                 \
    const void *sent_from, mpi_count count, MPI_Datatype type, void *received, mpi_count room, \
        MPI_Datatype as
#define TO_ALL_ARGUMENTS sent_from, count, type, received, room, as
#define PARTS_TO_ALL                                                                              \
    const void *sent_from, const mpi_count counts[], const mpi_place places[], MPI_Datatype type, \
        void *received, const mpi_count rooms[], const mpi_place received_places[],               \
        MPI_Datatype as
#define PARTS_TO_ALL_ARGUMENTS sent_from, counts, places, type, received, rooms, received_places, as
#define TO_PARTS                                                               \
    const void *sent_from, mpi_count count, MPI_Datatype type, void *received, \
        const mpi_count rooms[], const mpi_place places[], MPI_Datatype as
#define TO_PARTS_ARGUMENTS sent_from, count, type, received, rooms, places, as

/* clang-format off */
#ifndef HEURT_MPI_LARGE
COLLECTIVE(Barrier, Ibarrier, BARRIER, IBARRIER, MPI_Comm comm, comm, -1, 0)
#endif
COLLECTIVE(Bcast, Ibcast, BCAST, IBCAST,
           LIST(void *buffer, mpi_count count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(buffer, count, type, root, comm), root, is_root(in, root) ? bytes_of(count, type) : 0)
COLLECTIVE(Scatter, Iscatter, SCATTER, ISCATTER, LIST(TO_ALL, int root, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, root, comm), root,
           is_root(in, root) ? bytes_of(count, type) * in->size : 0)
COLLECTIVE(Scatterv, Iscatterv, SCATTERV, ISCATTERV,
           LIST(const void *sent_from, const mpi_count counts[], const mpi_place places[], MPI_Datatype type,
                void *received, mpi_count room, MPI_Datatype as, int root, MPI_Comm comm),
           LIST(sent_from, counts, places, type, received, room, as, root, comm), root,
           is_root(in, root) ? bytes_of_parts(parts_of(in), counts, type) : 0)
COLLECTIVE(Reduce, Ireduce, REDUCE, IREDUCE, LIST(ONE_TYPE, MPI_Op op, int root, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, root, comm), root, bytes_of(count, type))
COLLECTIVE(Gather, Igather, GATHER, IGATHER, LIST(TO_ALL, int root, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, root, comm), root, bytes_in_place(sent_from, count, type, room, as))
COLLECTIVE(Gatherv, Igatherv, GATHERV, IGATHERV, LIST(TO_PARTS, int root, MPI_Comm comm),
           LIST(TO_PARTS_ARGUMENTS, root, comm), root,
           sent_from == MPI_IN_PLACE ? 0 : bytes_of(count, type))
COLLECTIVE(Allreduce, Iallreduce, ALLREDUCE, IALLREDUCE, LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, comm), -1, bytes_of(count, type))
COLLECTIVE(Allgather, Iallgather, ALLGATHER, IALLGATHER, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1, bytes_in_place(sent_from, count, type, room, as))
COLLECTIVE(Allgatherv, Iallgatherv, ALLGATHERV, IALLGATHERV, LIST(TO_PARTS, MPI_Comm comm),
           LIST(TO_PARTS_ARGUMENTS, comm), -1,
           sent_from == MPI_IN_PLACE ? in ? bytes_of(rooms[in->rank], as) : 0 : bytes_of(count, type))
COLLECTIVE(Alltoall, Ialltoall, ALLTOALL, IALLTOALL, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1,
           bytes_in_place(sent_from, count, type, room, as) * (in ? in->size : 0))
COLLECTIVE(Alltoallv, Ialltoallv, ALLTOALLV, IALLTOALLV, LIST(PARTS_TO_ALL, MPI_Comm comm),
           LIST(PARTS_TO_ALL_ARGUMENTS, comm), -1,
           sent_from == MPI_IN_PLACE ? bytes_of_parts(parts_of(in), rooms, as) : bytes_of_parts(parts_of(in), counts, type))
COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALLW, IALLTOALLW,
           LIST(const void *sent_from, const mpi_count counts[], const mpi_place places[],
                const MPI_Datatype types[], void *received, const mpi_count rooms[],
                const mpi_place received_places[], const MPI_Datatype as[], MPI_Comm comm),
           LIST(sent_from, counts, places, types, received, rooms, received_places, as, comm), -1,
           sent_from == MPI_IN_PLACE ? bytes_of_types(parts_of(in), rooms, as)
                                     : bytes_of_types(parts_of(in), counts, types))
COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, IREDUCE_SCATTER,
           LIST(const void *sent_from, void *received, const mpi_count counts[], MPI_Datatype type, MPI_Op op,
                MPI_Comm comm),
           LIST(sent_from, received, counts, type, op, comm), -1, bytes_of_parts(parts_of(in), counts, type))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK, IREDUCE_SCATTER_BLOCK,
           LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm), LIST(sent_from, received, count, type, op, comm), -1,
           bytes_of(count, type) * (in ? in->size : 0))
COLLECTIVE(Scan, Iscan, SCAN, ISCAN, LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, comm), -1, bytes_of(count, type))
COLLECTIVE(Exscan, Iexscan, EXSCAN, IEXSCAN, LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, comm), -1, bytes_of(count, type))
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, NEIGHBOURS, INEIGHBOURS, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1,
           bytes_of(count, type) * neighbours_of(in))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOURS, INEIGHBOURS,
           LIST(TO_PARTS, MPI_Comm comm), LIST(TO_PARTS_ARGUMENTS, comm), -1,
           bytes_of(count, type) * neighbours_of(in))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOURS, INEIGHBOURS, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1,
           bytes_of(count, type) * neighbours_of(in))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOURS, INEIGHBOURS,
           LIST(PARTS_TO_ALL, MPI_Comm comm), LIST(PARTS_TO_ALL_ARGUMENTS, comm), -1,
           bytes_of_parts(neighbours_of(in), counts, type))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOURS, INEIGHBOURS,
           LIST(const void *sent_from, const mpi_count counts[], const MPI_Aint places[],
                const MPI_Datatype types[], void *received, const mpi_count rooms[],
                const MPI_Aint received_places[], const MPI_Datatype as[], MPI_Comm comm),
           LIST(sent_from, counts, places, types, received, rooms, received_places, as, comm), -1,
           bytes_of_types(neighbours_of(in), counts, types))
/* clang-format on */
