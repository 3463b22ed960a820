/* wrap_collectives.c: the wrappers of collective operations, each with its nonblocking one, and of
 * what makes communicators. */
#include "mpi/wrap.h"

#define LIST(...) __VA_ARGS__

static bool is_root(const struct communicator *in, int root)
{
    return in && (root == MPI_ROOT || (!in->remote && root >= 0 && (uint32_t)root == in->rank));
}

/* Where a process's own part stands in place, the other side tells how much that is. */
static uint64_t bytes_in_place(const void *buffer, int count, MPI_Datatype type, int other_count,
                               MPI_Datatype other_type)
{
    return buffer == MPI_IN_PLACE ? bytes_of(other_count, other_type) : bytes_of(count, type);
}

static uint64_t bytes_of_all(const struct communicator *in, const int *counts, MPI_Datatype type)
{
    uint64_t count = 0, parts = in ? in->remote ? in->remote : in->size : 0;
    for (uint64_t i = 0; i < parts; i++)
        count += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return count * bytes_of(1, type);
}

/* root: -1 where there is none; sent: bytes that this process gives. */
#define COLLECTIVE(name, i_name, call, i_call, parameters, arguments, root, sent)               \
    EXPORT int heurt_MPI_##name(parameters)                                                     \
    {                                                                                           \
        const struct communicator *in = communicator__of(comm);                                 \
        uint64_t bytes = sent;                                                                  \
        uint64_t since = heurt_message_enter(SITE_OF(call), communicator__number(in), bytes);   \
        if (likely(since))                                                                      \
            tell__collective(since, 0, in, root, HEURT_CALL_##call, bytes);                     \
        int result = NEXT(name)(arguments);                                                     \
        if (likely(since))                                                                      \
            heurt_message_leave(since, (uint64_t)(int64_t)result);                              \
        return result;                                                                          \
    }                                                                                           \
    EXPORT int heurt_MPI_##i_name(parameters, MPI_Request *request)                             \
    {                                                                                           \
        const struct communicator *in = communicator__of(comm);                                 \
        uint64_t bytes = sent;                                                                  \
        uint64_t since = heurt_message_enter(SITE_OF(i_call), communicator__number(in), bytes); \
        uint32_t number = since ? request__next_number() : 0;                                   \
        if (likely(since))                                                                      \
            tell__collective(since, number, in, root, HEURT_CALL_##i_call, bytes);              \
        int result = NEXT(i_name)(arguments, request);                                          \
        if (since && result == MPI_SUCCESS)                                                     \
            request__put((struct mpi_request){.key = request__key(*request),                    \
                                              .number = number,                                 \
                                              .kind = REQUEST_COLLECTIVE,                       \
                                              .in = in});                                       \
        if (likely(since))                                                                      \
            heurt_message_leave(since, (uint64_t)(int64_t)result);                              \
        return result;                                                                          \
    }

#define ONE_TYPE const void *sent_from, void *received, int count, MPI_Datatype type
#define TO_ALL \
    const void *sent_from, int count, MPI_Datatype type, void *received, int room, MPI_Datatype as
#define TO_ALL_ARGUMENTS sent_from, count, type, received, room, as
#define PARTS_TO_ALL                                                                  \
    const void *sent_from, const int counts[], const int places[], MPI_Datatype type, \
        void *received, const int rooms[], const int received_places[], MPI_Datatype as
#define PARTS_TO_ALL_ARGUMENTS sent_from, counts, places, type, received, rooms, received_places, as
#define TO_PARTS                                                                            \
    const void *sent_from, int count, MPI_Datatype type, void *received, const int rooms[], \
        const int places[], MPI_Datatype as
#define TO_PARTS_ARGUMENTS sent_from, count, type, received, rooms, places, as

/* clang-format off */
COLLECTIVE(Barrier, Ibarrier, BARRIER, IBARRIER, MPI_Comm comm, comm, -1, 0)
COLLECTIVE(Bcast, Ibcast, BCAST, IBCAST,
           LIST(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(buffer, count, type, root, comm), root, is_root(in, root) ? bytes_of(count, type) : 0)
COLLECTIVE(Scatter, Iscatter, SCATTER, ISCATTER, LIST(TO_ALL, int root, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, root, comm), root,
           is_root(in, root) ? bytes_of(count, type) * in->size : 0)
COLLECTIVE(Scatterv, Iscatterv, SCATTERV, ISCATTERV,
           LIST(const void *sent_from, const int counts[], const int places[], MPI_Datatype type,
                void *received, int room, MPI_Datatype as, int root, MPI_Comm comm),
           LIST(sent_from, counts, places, type, received, room, as, root, comm), root,
           is_root(in, root) ? bytes_of_all(in, counts, type) : 0)
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
           sent_from == MPI_IN_PLACE ? bytes_of_all(in, rooms, as) : bytes_of_all(in, counts, type))
COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALLW, IALLTOALLW,
           LIST(const void *sent_from, const int counts[], const int places[],
                const MPI_Datatype types[], void *received, const int rooms[],
                const int received_places[], const MPI_Datatype as[], MPI_Comm comm),
           LIST(sent_from, counts, places, types, received, rooms, received_places, as, comm), -1, 0)
COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, IREDUCE_SCATTER,
           LIST(const void *sent_from, void *received, const int counts[], MPI_Datatype type, MPI_Op op,
                MPI_Comm comm),
           LIST(sent_from, received, counts, type, op, comm), -1, bytes_of_all(in, counts, type))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK, IREDUCE_SCATTER_BLOCK,
           LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm), LIST(sent_from, received, count, type, op, comm), -1,
           bytes_of(count, type) * (in ? in->size : 0))
COLLECTIVE(Scan, Iscan, SCAN, ISCAN, LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, comm), -1, bytes_of(count, type))
COLLECTIVE(Exscan, Iexscan, EXSCAN, IEXSCAN, LIST(ONE_TYPE, MPI_Op op, MPI_Comm comm),
           LIST(sent_from, received, count, type, op, comm), -1, bytes_of(count, type))
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, NEIGHBOURS, INEIGHBOURS, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1, bytes_of(count, type))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOURS, INEIGHBOURS,
           LIST(TO_PARTS, MPI_Comm comm), LIST(TO_PARTS_ARGUMENTS, comm), -1, bytes_of(count, type))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOURS, INEIGHBOURS, LIST(TO_ALL, MPI_Comm comm),
           LIST(TO_ALL_ARGUMENTS, comm), -1, bytes_of(count, type))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOURS, INEIGHBOURS,
           LIST(PARTS_TO_ALL, MPI_Comm comm), LIST(PARTS_TO_ALL_ARGUMENTS, comm), -1, 0)
/* clang-format on */

/* ---- what is told by its call alone ---------------------------------------------------------- */

/* made: the communicator that it makes, or MPI_COMM_NULL. */
#define CALL(name, call, parent, parameters, arguments, made)                                 \
    EXPORT int heurt_MPI_##name(parameters)                                                   \
    {                                                                                         \
        uint64_t since = heurt_message_enter(SITE_OF(call), communicator__number(parent), 0); \
        int result = NEXT(name)(arguments);                                                   \
        if (since && result == MPI_SUCCESS)                                                   \
            communicator__made(heurt_message_tick(), made);                                   \
        if (likely(since))                                                                    \
            heurt_message_leave(since, (uint64_t)(int64_t)result);                            \
        return result;                                                                        \
    }
#define MAKES(name, parameters, arguments)           \
    CALL(name, COMMUNICATOR, communicator__of(comm), \
         LIST(MPI_Comm comm, parameters, MPI_Comm *new), LIST(comm, arguments, new), *new)

/* clang-format off */
CALL(Comm_dup, COMMUNICATOR, communicator__of(comm), LIST(MPI_Comm comm, MPI_Comm *new), LIST(comm, new), *new)
MAKES(Comm_dup_with_info, MPI_Info info, info)
MAKES(Comm_create, MPI_Group group, group)
MAKES(Comm_create_group, LIST(MPI_Group group, int tag), LIST(group, tag))
MAKES(Comm_split, LIST(int colour, int key), LIST(colour, key))
MAKES(Comm_split_type, LIST(int type, int key, MPI_Info info), LIST(type, key, info))
MAKES(Cart_create, LIST(int count, const int sizes[], const int periods[], int reorder),
      LIST(count, sizes, periods, reorder))
MAKES(Cart_sub, const int remaining[], remaining)
MAKES(Graph_create, LIST(int count, const int index[], const int edges[], int reorder),
      LIST(count, index, edges, reorder))
MAKES(Dist_graph_create,
      LIST(int count, const int sources[], const int degrees[], const int ends[], const int weights[],
           MPI_Info info, int reorder),
      LIST(count, sources, degrees, ends, weights, info, reorder))
MAKES(Dist_graph_create_adjacent,
      LIST(int in, const int sources[], const int in_weights[], int out, const int ends[],
           const int weights[], MPI_Info info, int reorder),
      LIST(in, sources, in_weights, out, ends, weights, info, reorder))
MAKES(Intercomm_create, LIST(int leader, MPI_Comm peers, int remote_leader, int tag),
      LIST(leader, peers, remote_leader, tag))
MAKES(Intercomm_merge, int high, high)
CALL(Comm_spawn, SPAWN, communicator__of(comm),
     LIST(const char *command, char *argv[], int count, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *new, int codes[]),
     LIST(command, argv, count, info, root, comm, new, codes), MPI_COMM_NULL)
CALL(Comm_spawn_multiple, SPAWN, communicator__of(comm),
     LIST(int count, char *commands[], char **argv[], const int counts[], const MPI_Info infos[],
          int root, MPI_Comm comm, MPI_Comm *new, int codes[]),
     LIST(count, commands, argv, counts, infos, root, comm, new, codes), MPI_COMM_NULL)
/* clang-format on */

EXPORT int heurt_MPI_Comm_free(MPI_Comm *comm)
{
    group__gone(KEY_OF(*comm), GROUP_COMMUNICATOR);
    return NEXT(Comm_free)(comm);
}

EXPORT int heurt_MPI_Comm_disconnect(MPI_Comm *comm)
{
    group__gone(KEY_OF(*comm), GROUP_COMMUNICATOR);
    return NEXT(Comm_disconnect)(comm);
}

#define FILE_CALL(name, call, parameters, arguments) \
    CALL(name, call, NULL, LIST(parameters), LIST(arguments), MPI_COMM_NULL)
#define TRANSFER MPI_File file, void *buffer, int count, MPI_Datatype type, MPI_Status *status
#define TRANSFER_ARGUMENTS file, buffer, count, type, status
#define WRITTEN MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status
#define AT(constness)                                                                      \
    MPI_File file, MPI_Offset place, constness void *buffer, int count, MPI_Datatype type, \
        MPI_Status *status
#define AT_ARGUMENTS file, place, buffer, count, type, status

/* clang-format off */
FILE_CALL(File_open, FILE_OPEN,
          LIST(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
          LIST(comm, name, mode, info, file))
FILE_CALL(File_close, FILE_CLOSE, LIST(MPI_File *file), LIST(file))
FILE_CALL(File_sync, FILE_SYNC, LIST(MPI_File file), LIST(file))
FILE_CALL(File_read, FILE_READ, LIST(TRANSFER), LIST(TRANSFER_ARGUMENTS))
FILE_CALL(File_write, FILE_WRITE, LIST(WRITTEN), LIST(TRANSFER_ARGUMENTS))
FILE_CALL(File_read_all, FILE_READ_ALL, LIST(TRANSFER), LIST(TRANSFER_ARGUMENTS))
FILE_CALL(File_write_all, FILE_WRITE_ALL, LIST(WRITTEN), LIST(TRANSFER_ARGUMENTS))
FILE_CALL(File_read_at, FILE_READ_AT, LIST(AT()), LIST(AT_ARGUMENTS))
FILE_CALL(File_write_at, FILE_WRITE_AT, LIST(AT(const)), LIST(AT_ARGUMENTS))
FILE_CALL(File_read_at_all, FILE_READ_AT_ALL, LIST(AT()), LIST(AT_ARGUMENTS))
FILE_CALL(File_write_at_all, FILE_WRITE_AT_ALL, LIST(AT(const)), LIST(AT_ARGUMENTS))
/* clang-format on */
