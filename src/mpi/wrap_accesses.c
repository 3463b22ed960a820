/* wrap_accesses.c: the wrappers of what makes windows, and of accesses to other ranks' memory, with
 * counts that are small or, compiled once more, large. */
#include "mpi/windows.h"

#define LIST(...) __VA_ARGS__

/* ---- windows --------------------------------------------------------------------------------- */

#define MAKES_WINDOW(name, parameters, arguments)                   \
    EXPORT int SIZED_WRAPPER(name)(parameters, MPI_Win * window)    \
    {                                                               \
        uint64_t since = enter(SITE_OF(WIN_CREATE), NULL, 0);       \
        int result = SIZED_NEXT(name)(arguments, window);           \
        if (IS_DONE)                                                \
            group__told(heurt_message_tick(), window__of(*window)); \
        return leave(since, result);                                \
    }
/* clang-format off */
MAKES_WINDOW(Win_create, LIST(void *base, MPI_Aint size, mpi_place unit, MPI_Info info, MPI_Comm comm),
             LIST(base, size, unit, info, comm))
MAKES_WINDOW(Win_allocate, LIST(MPI_Aint size, mpi_place unit, MPI_Info info, MPI_Comm comm, void *base),
             LIST(size, unit, info, comm, base))
MAKES_WINDOW(Win_allocate_shared, LIST(MPI_Aint size, mpi_place unit, MPI_Info info, MPI_Comm comm, void *base),
             LIST(size, unit, info, comm, base))
#ifndef HEURT_MPI_LARGE
MAKES_WINDOW(Win_create_dynamic, LIST(MPI_Info info, MPI_Comm comm), LIST(info, comm))
#endif
/* clang-format on */

/* ---- accesses -------------------------------------------------------------------------------- */

static inline void tell_access(uint64_t since, uint32_t request, const struct communicator *in,
                               int rank, uint64_t bytes)
{
    if (likely(since) && rank != MPI_PROC_NULL)
        tell__signal(since, HEURT_EVENT_MESSAGE_SENT, request, in, communicator__world(in, rank),
                     HEURT_SIGNAL_ACCESS, bytes);
}

#define ACCESS(name, call, parameters, arguments, accessed)                 \
    EXPORT int SIZED_WRAPPER(name)(parameters, MPI_Win window)              \
    {                                                                       \
        const struct communicator *in = window__of(window);                 \
        uint64_t bytes = accessed, since = enter(SITE_OF(call), in, bytes); \
        tell_access(since, 0, in, rank, bytes);                             \
        int result = SIZED_NEXT(name)(arguments, window);                   \
        return leave(since, result);                                        \
    }
#define ACCESS_BY_REQUEST(name, call, parameters, arguments, accessed)                \
    EXPORT int SIZED_WRAPPER(name)(parameters, MPI_Win window, MPI_Request * request) \
    {                                                                                 \
        const struct communicator *in = window__of(window);                           \
        uint64_t bytes = accessed, since = enter(SITE_OF(call), in, bytes);           \
        uint32_t number = since ? request__next_number() : 0;                         \
        tell_access(since, number, in, rank, bytes);                                  \
        int result = SIZED_NEXT(name)(arguments, window, request);                    \
        if (IS_DONE)                                                                  \
            request__put((struct mpi_request){.key = request__key(*request),          \
                                              .number = number,                       \
                                              .kind = REQUEST_ACCESS,                 \
                                              .in = in});                             \
        return leave(since, result);                                                  \
    }
#define TARGET int rank, MPI_Aint place, mpi_count target_count, MPI_Datatype target_type
#define TARGET_ARGUMENTS rank, place, target_count, target_type

/* clang-format off */
#define PUTS LIST(const void *from, mpi_count count, MPI_Datatype type, TARGET)
#define GETS LIST(void *to, mpi_count count, MPI_Datatype type, TARGET)
#define MOVES_ARGUMENTS(buffer) LIST(buffer, count, type, TARGET_ARGUMENTS)
#define ACCUMULATES LIST(const void *from, mpi_count count, MPI_Datatype type, TARGET, MPI_Op op)
#define ACCUMULATES_ARGUMENTS LIST(from, count, type, TARGET_ARGUMENTS, op)
#define ACCUMULATES_AND_GETS                                                                        \
    LIST(const void *from, mpi_count count, MPI_Datatype type, void *to, mpi_count room, MPI_Datatype as, TARGET, MPI_Op op)
#define ACCUMULATES_AND_GETS_ARGUMENTS LIST(from, count, type, to, room, as, TARGET_ARGUMENTS, op)

ACCESS(Put, PUT, LIST(PUTS), MOVES_ARGUMENTS(from), bytes_of(count, type))
ACCESS(Get, GET, LIST(GETS), MOVES_ARGUMENTS(to), bytes_of(count, type))
ACCESS(Accumulate, ACCUMULATE, LIST(ACCUMULATES), ACCUMULATES_ARGUMENTS, bytes_of(count, type))
ACCESS(Get_accumulate, GET_ACCUMULATE, LIST(ACCUMULATES_AND_GETS), ACCUMULATES_AND_GETS_ARGUMENTS,
       bytes_of(room, as))
#ifndef HEURT_MPI_LARGE
ACCESS(Fetch_and_op, FETCH_AND_OP,
       LIST(const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op),
       LIST(from, to, type, rank, place, op), bytes_of(1, type))
ACCESS(Compare_and_swap, COMPARE_AND_SWAP,
       LIST(const void *from, const void *expected, void *to, MPI_Datatype type, int rank, MPI_Aint place),
       LIST(from, expected, to, type, rank, place), bytes_of(1, type))
#endif
ACCESS_BY_REQUEST(Rput, RPUT, LIST(PUTS), MOVES_ARGUMENTS(from), bytes_of(count, type))
ACCESS_BY_REQUEST(Rget, RGET, LIST(GETS), MOVES_ARGUMENTS(to), bytes_of(count, type))
ACCESS_BY_REQUEST(Raccumulate, RACCUMULATE, LIST(ACCUMULATES), ACCUMULATES_ARGUMENTS,
                  bytes_of(count, type))
ACCESS_BY_REQUEST(Rget_accumulate, RGET_ACCUMULATE, LIST(ACCUMULATES_AND_GETS),
                  ACCUMULATES_AND_GETS_ARGUMENTS, bytes_of(room, as))
/* clang-format on */
