/* wrap_groups.c: the wrappers of what makes communicators, and of processes that are spawned or
 * connected to. */
#include "mpi/wrap.h"

#define LIST(...) __VA_ARGS__

/* made: the communicator that it makes, or MPI_COMM_NULL. */
#define CALL(name, call, parent, parameters, arguments, made) \
    EXPORT int heurt_MPI_##name(parameters)                   \
    {                                                         \
        uint64_t since = ENTER(call, parent, 0);              \
        int result = NEXT(name)(arguments);                   \
        if (IS_DONE)                                          \
            communicator__made(heurt_message_tick(), made);   \
        LEAVE();                                              \
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
     LIST(command, argv, count, info, root, comm, new, codes), *new)
CALL(Comm_spawn_multiple, SPAWN, communicator__of(comm),
     LIST(int count, char *commands[], char **argv[], const int counts[], const MPI_Info infos[],
          int root, MPI_Comm comm, MPI_Comm *new, int codes[]),
     LIST(count, commands, argv, counts, infos, root, comm, new, codes), *new)
CALL(Comm_accept, COMM_ACCEPT, communicator__of(comm),
     LIST(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *new),
     LIST(port, info, root, comm, new), *new)
CALL(Comm_connect, COMM_CONNECT, communicator__of(comm),
     LIST(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *new),
     LIST(port, info, root, comm, new), *new)
CALL(Comm_join, COMM_JOIN, NULL, LIST(int descriptor, MPI_Comm *new), LIST(descriptor, new), *new)
/* clang-format on */

/* It may be asked what it is made of when its request is done. */
#define MAKES_LATER(name, parameters, arguments)                                 \
    EXPORT int heurt_MPI_##name(parameters, MPI_Comm *new, MPI_Request *request) \
    {                                                                            \
        uint64_t since = ENTER(COMMUNICATOR, communicator__of(comm), 0);         \
        int result = NEXT(name)(arguments, new, request);                        \
        if (IS_DONE)                                                             \
            request__put((struct mpi_request){.key = request__key(*request),     \
                                              .number = request__next_number(),  \
                                              .kind = REQUEST_COMMUNICATOR,      \
                                              .bytes = (uintptr_t) new});        \
        LEAVE();                                                                 \
    }
MAKES_LATER(Comm_idup, MPI_Comm comm, comm)
#if MPI_VERSION >= 4
MAKES_LATER(Comm_idup_with_info, LIST(MPI_Comm comm, MPI_Info info), LIST(comm, info))
#endif

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
