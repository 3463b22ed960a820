/* wrap_messages.c: the wrappers of messages, one after the other (wrap.h), with counts that are
 * small or, compiled once more, large. */
#include "mpi/wrap.h"

/* ---- messages -------------------------------------------------------------------------------- */

#define SEND(name, call)                                                                           \
    EXPORT int SIZED_WRAPPER(name)(const void *buffer, mpi_count count, MPI_Datatype type, int to, \
                                   int tag, MPI_Comm comm)                                         \
    {                                                                                              \
        const struct communicator *in = communicator__of(comm);                                    \
        uint64_t bytes = bytes_of(count, type), since = ENTER(call, in, bytes);                    \
        if (likely(since))                                                                         \
            tell__sent(since, 0, in, to, tag, bytes);                                              \
        int result = SIZED_NEXT(name)(buffer, count, type, to, tag, comm);                         \
        LEAVE();                                                                                   \
    }
/* clang-format off */
SEND(Send, SEND)
SEND(Ssend, SSEND)
SEND(Bsend, BSEND)
SEND(Rsend, RSEND)
/* clang-format on */

#define ISEND(name, call)                                                                          \
    EXPORT int SIZED_WRAPPER(name)(const void *buffer, mpi_count count, MPI_Datatype type, int to, \
                                   int tag, MPI_Comm comm, MPI_Request *request)                   \
    {                                                                                              \
        const struct communicator *in = communicator__of(comm);                                    \
        uint64_t bytes = bytes_of(count, type), since = ENTER(call, in, bytes);                    \
        uint32_t number = since ? request__next_number() : 0;                                      \
        if (likely(since))                                                                         \
            tell__sent(since, number, in, to, tag, bytes);                                         \
        int result = SIZED_NEXT(name)(buffer, count, type, to, tag, comm, request);                \
        if (IS_DONE)                                                                               \
            request__put((struct mpi_request){                                                     \
                .key = request__key(*request), .number = number, .kind = REQUEST_SEND, .in = in}); \
        LEAVE();                                                                                   \
    }
/* clang-format off */
ISEND(Isend, ISEND)
ISEND(Issend, ISSEND)
ISEND(Ibsend, IBSEND)
ISEND(Irsend, IRSEND)
/* clang-format on */

static void put_receive(MPI_Request handle, uint32_t number, const struct communicator *in)
{
    request__put((struct mpi_request){
        .key = request__key(handle), .number = number, .kind = REQUEST_RECEIVE, .in = in});
}

EXPORT int SIZED_WRAPPER(Recv)(void *buffer, mpi_count count, MPI_Datatype type, int from, int tag,
                               MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), since = ENTER(RECV, in, bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since)) {
        status = status == MPI_STATUS_IGNORE ? &own : status;
        tell__awaited(since, number, in, from, tag, bytes);
    }
    int result = SIZED_NEXT(Recv)(buffer, count, type, from, tag, comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

EXPORT int SIZED_WRAPPER(Irecv)(void *buffer, mpi_count count, MPI_Datatype type, int from, int tag,
                                MPI_Comm comm, MPI_Request *request)
{
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), since = ENTER(IRECV, in, bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since))
        tell__awaited(since, number, in, from, tag, bytes);
    int result = SIZED_NEXT(Irecv)(buffer, count, type, from, tag, comm, request);
    if (IS_DONE)
        put_receive(*request, number, in);
    LEAVE();
}

EXPORT int SIZED_WRAPPER(Sendrecv)(const void *sent, mpi_count count, MPI_Datatype type, int to,
                                   int tag, void *received, mpi_count room,
                                   MPI_Datatype received_type, int from, int received_tag,
                                   MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), room_bytes = bytes_of(room, received_type);
    uint64_t since = ENTER(SENDRECV, in, bytes + room_bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since)) {
        status = status == MPI_STATUS_IGNORE ? &own : status;
        tell__sent(since, 0, in, to, tag, bytes);
        tell__awaited(since, number, in, from, received_tag, room_bytes);
    }
    int result = SIZED_NEXT(Sendrecv)(sent, count, type, to, tag, received, room, received_type,
                                      from, received_tag, comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

EXPORT int SIZED_WRAPPER(Sendrecv_replace)(void *buffer, mpi_count count, MPI_Datatype type, int to,
                                           int tag, int from, int received_tag, MPI_Comm comm,
                                           MPI_Status *status)
{
    MPI_Status own;
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), since = ENTER(SENDRECV_REPLACE, in, 2 * bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since)) {
        status = status == MPI_STATUS_IGNORE ? &own : status;
        tell__sent(since, 0, in, to, tag, bytes);
        tell__awaited(since, number, in, from, received_tag, bytes);
    }
    int result = SIZED_NEXT(Sendrecv_replace)(buffer, count, type, to, tag, from, received_tag,
                                              comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

/* Both of a pair have one request, which is told of the message that it awaits. */
#if MPI_VERSION >= 4
static void put_exchange(MPI_Request handle, uint32_t number, const struct communicator *in,
                         int from, int tag, uint64_t bytes)
{
    request__put((struct mpi_request){.key = request__key(handle),
                                      .number = number,
                                      .kind = REQUEST_EXCHANGE,
                                      .in = in,
                                      .peer = from,
                                      .tag = tag,
                                      .bytes = bytes});
}

EXPORT int SIZED_WRAPPER(Isendrecv)(const void *sent, mpi_count count, MPI_Datatype type, int to,
                                    int tag, void *received, mpi_count room,
                                    MPI_Datatype received_type, int from, int received_tag,
                                    MPI_Comm comm, MPI_Request *request)
{
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), room_bytes = bytes_of(room, received_type);
    uint64_t since = ENTER(ISENDRECV, in, bytes + room_bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since)) {
        tell__sent(since, 0, in, to, tag, bytes);
        tell__awaited(since, number, in, from, received_tag, room_bytes);
    }
    int result = SIZED_NEXT(Isendrecv)(sent, count, type, to, tag, received, room, received_type,
                                       from, received_tag, comm, request);
    if (IS_DONE)
        put_exchange(*request, number, in, from, received_tag, room_bytes);
    LEAVE();
}

EXPORT int SIZED_WRAPPER(Isendrecv_replace)(void *buffer, mpi_count count, MPI_Datatype type,
                                            int to, int tag, int from, int received_tag,
                                            MPI_Comm comm, MPI_Request *request)
{
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), since = ENTER(ISENDRECV_REPLACE, in, 2 * bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since)) {
        tell__sent(since, 0, in, to, tag, bytes);
        tell__awaited(since, number, in, from, received_tag, bytes);
    }
    int result = SIZED_NEXT(Isendrecv_replace)(buffer, count, type, to, tag, from, received_tag,
                                               comm, request);
    if (IS_DONE)
        put_exchange(*request, number, in, from, received_tag, bytes);
    LEAVE();
}
#endif

/* ---- persistent requests --------------------------------------------------------------------- */

#define PERSISTENT(name, constness, request_kind)                                              \
    EXPORT int SIZED_WRAPPER(name)(constness void *buffer, mpi_count count, MPI_Datatype type, \
                                   int rank, int tag, MPI_Comm comm, MPI_Request *request)     \
    {                                                                                          \
        const struct communicator *in = communicator__of(comm);                                \
        uint64_t since = ENTER(PERSISTENT, in, bytes_of(count, type));                         \
        int result = SIZED_NEXT(name)(buffer, count, type, rank, tag, comm, request);          \
        if (IS_DONE)                                                                           \
            request__put((struct mpi_request){.key = request__key(*request),                   \
                                              .kind = request_kind,                            \
                                              .is_persistent = true,                           \
                                              .in = in,                                        \
                                              .peer = rank,                                    \
                                              .tag = tag,                                      \
                                              .bytes = bytes_of(count, type)});                \
        LEAVE();                                                                               \
    }
/* clang-format off */
PERSISTENT(Send_init, const, REQUEST_SEND)
PERSISTENT(Ssend_init, const, REQUEST_SEND)
PERSISTENT(Bsend_init, const, REQUEST_SEND)
PERSISTENT(Rsend_init, const, REQUEST_SEND)
PERSISTENT(Recv_init, , REQUEST_RECEIVE)
/* clang-format on */

/* ---- messages that were matched -------------------------------------------------------------- */

EXPORT int SIZED_WRAPPER(Mrecv)(void *buffer, mpi_count count, MPI_Datatype type,
                                MPI_Message *message, MPI_Status *status)
{
    MPI_Status own;
    struct mpi_request matched = {0};
    uint64_t key = request__key_of_message(*message);
    uint64_t since = ENTER(MRECV, NULL, bytes_of(count, type));
    status = status == MPI_STATUS_IGNORE ? &own : status;
    bool is_known = since && request__take(key, &matched);
    int result = SIZED_NEXT(Mrecv)(buffer, count, type, message, status);
    if (IS_DONE && is_known)
        tell__received(heurt_message_tick(), matched.number, matched.in, status);
    LEAVE();
}

EXPORT int SIZED_WRAPPER(Imrecv)(void *buffer, mpi_count count, MPI_Datatype type,
                                 MPI_Message *message, MPI_Request *request)
{
    struct mpi_request matched = {0};
    uint64_t key = request__key_of_message(*message);
    uint64_t since = ENTER(IMRECV, NULL, bytes_of(count, type));
    bool is_known = since && request__take(key, &matched);
    int result = SIZED_NEXT(Imrecv)(buffer, count, type, message, request);
    if (IS_DONE && is_known) {
        matched.key = request__key(*request);
        matched.kind = REQUEST_RECEIVE;
        request__put(matched);
    }
    LEAVE();
}
