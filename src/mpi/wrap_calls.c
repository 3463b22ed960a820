/* wrap_calls.c: the wrappers of C, one after the other (wrap.h). */
#include "mpi/wrap.h"

#include <alloca.h>

#define ENTER(call, in, bytes) heurt_message_enter(SITE_OF(call), communicator__number(in), bytes)
#define LEAVE()                                                    \
    do {                                                           \
        if (likely(since))                                         \
            heurt_message_leave(since, (uint64_t)(int64_t)result); \
        return result;                                             \
    } while (0)
#define IS_DONE (since && result == MPI_SUCCESS)

/* ---- beginning and end ----------------------------------------------------------------------- */

EXPORT int heurt_MPI_Init(int *argc, char ***argv)
{
    uint64_t since = ENTER(INIT, NULL, 0);
    int result = NEXT(Init)(argc, argv);
    if (IS_DONE)
        communicators__begin(heurt_message_tick(), MPI_THREAD_SINGLE);
    if (result == MPI_SUCCESS)
        clocks__begin(since != 0);
    LEAVE();
}

EXPORT int heurt_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t since = ENTER(INIT, NULL, 0);
    int result = NEXT(Init_thread)(argc, argv, required, provided);
    if (IS_DONE)
        communicators__begin(heurt_message_tick(), *provided);
    if (result == MPI_SUCCESS)
        clocks__begin(since != 0);
    LEAVE();
}

EXPORT int heurt_MPI_Finalize(void)
{
    uint64_t since = ENTER(FINALIZE, communicator__of(MPI_COMM_WORLD), 0);
    clocks__end(since != 0);
    int result = NEXT(Finalize)();
    LEAVE();
}

/* ---- messages -------------------------------------------------------------------------------- */

#define SEND(name, call)                                                                           \
    EXPORT int heurt_MPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, \
                                MPI_Comm comm)                                                     \
    {                                                                                              \
        const struct communicator *in = communicator__of(comm);                                    \
        uint64_t bytes = bytes_of(count, type), since = ENTER(call, in, bytes);                    \
        if (likely(since))                                                                         \
            tell__sent(since, 0, in, to, tag, bytes);                                              \
        int result = NEXT(name)(buffer, count, type, to, tag, comm);                               \
        LEAVE();                                                                                   \
    }
/* clang-format off */
SEND(Send, SEND)
SEND(Ssend, SSEND)
SEND(Bsend, BSEND)
SEND(Rsend, RSEND)
/* clang-format on */

#define ISEND(name, call)                                                                          \
    EXPORT int heurt_MPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag, \
                                MPI_Comm comm, MPI_Request *request)                               \
    {                                                                                              \
        const struct communicator *in = communicator__of(comm);                                    \
        uint64_t bytes = bytes_of(count, type), since = ENTER(call, in, bytes);                    \
        uint32_t number = since ? request__next_number() : 0;                                      \
        if (likely(since))                                                                         \
            tell__sent(since, number, in, to, tag, bytes);                                         \
        int result = NEXT(name)(buffer, count, type, to, tag, comm, request);                      \
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

EXPORT int heurt_MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag,
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
    int result = NEXT(Recv)(buffer, count, type, from, tag, comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

EXPORT int heurt_MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    const struct communicator *in = communicator__of(comm);
    uint64_t bytes = bytes_of(count, type), since = ENTER(IRECV, in, bytes);
    uint32_t number = since ? request__next_number() : 0;
    if (likely(since))
        tell__awaited(since, number, in, from, tag, bytes);
    int result = NEXT(Irecv)(buffer, count, type, from, tag, comm, request);
    if (IS_DONE)
        request__put((struct mpi_request){
            .key = request__key(*request), .number = number, .kind = REQUEST_RECEIVE, .in = in});
    LEAVE();
}

EXPORT int heurt_MPI_Sendrecv(const void *sent, int count, MPI_Datatype type, int to, int tag,
                              void *received, int room, MPI_Datatype received_type, int from,
                              int received_tag, MPI_Comm comm, MPI_Status *status)
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
    int result = NEXT(Sendrecv)(sent, count, type, to, tag, received, room, received_type, from,
                                received_tag, comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

EXPORT int heurt_MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int tag,
                                      int from, int received_tag, MPI_Comm comm, MPI_Status *status)
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
    int result =
        NEXT(Sendrecv_replace)(buffer, count, type, to, tag, from, received_tag, comm, status);
    if (IS_DONE)
        tell__received(heurt_message_tick(), number, in, status);
    LEAVE();
}

/* ---- persistent requests --------------------------------------------------------------------- */

#define PERSISTENT(name, constness, request_kind)                                               \
    EXPORT int heurt_MPI_##name(constness void *buffer, int count, MPI_Datatype type, int rank, \
                                int tag, MPI_Comm comm, MPI_Request *request)                   \
    {                                                                                           \
        const struct communicator *in = communicator__of(comm);                                 \
        uint64_t since = ENTER(PERSISTENT, in, bytes_of(count, type));                          \
        int result = NEXT(name)(buffer, count, type, rank, tag, comm, request);                 \
        if (IS_DONE)                                                                            \
            request__put((struct mpi_request){.key = request__key(*request),                    \
                                              .kind = request_kind,                             \
                                              .is_persistent = true,                            \
                                              .in = in,                                         \
                                              .peer = rank,                                     \
                                              .tag = tag,                                       \
                                              .bytes = bytes_of(count, type)});                 \
        LEAVE();                                                                                \
    }
/* clang-format off */
PERSISTENT(Send_init, const, REQUEST_SEND)
PERSISTENT(Ssend_init, const, REQUEST_SEND)
PERSISTENT(Bsend_init, const, REQUEST_SEND)
PERSISTENT(Rsend_init, const, REQUEST_SEND)
PERSISTENT(Recv_init, , REQUEST_RECEIVE)
/* clang-format on */

static void tell_start(uint64_t tick, MPI_Request handle)
{
    struct mpi_request request;
    if (!request__activate(request__key(handle), request__next_number(), &request))
        return;
    if (request.kind == REQUEST_SEND)
        tell__sent(tick, request.number, request.in, request.peer, request.tag, request.bytes);
    else
        tell__awaited(tick, request.number, request.in, request.peer, request.tag, request.bytes);
}

EXPORT int heurt_MPI_Start(MPI_Request *request)
{
    uint64_t since = ENTER(START, NULL, 0);
    if (since)
        tell_start(since, *request);
    int result = NEXT(Start)(request);
    LEAVE();
}

EXPORT int heurt_MPI_Startall(int count, MPI_Request requests[])
{
    uint64_t since = ENTER(STARTALL, NULL, 0);
    for (int i = 0; since && i < count; i++)
        tell_start(since, requests[i]);
    int result = NEXT(Startall)(count, requests);
    LEAVE();
}

EXPORT int heurt_MPI_Request_free(MPI_Request *request)
{
    request__forget(request__key(*request));
    return NEXT(Request_free)(request);
}

EXPORT int heurt_MPI_Cancel(MPI_Request *request)
{
    heurt_mpi_cancels = true;
    return NEXT(Cancel)(request);
}

/* ---- probes ---------------------------------------------------------------------------------- */

EXPORT int heurt_MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    uint64_t since = ENTER(PROBE, communicator__of(comm), 0);
    int result = NEXT(Probe)(from, tag, comm, status);
    LEAVE();
}

EXPORT int heurt_MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    uint64_t since = ENTER(IPROBE, communicator__of(comm), 0);
    int result = NEXT(Iprobe)(from, tag, comm, flag, status);
    LEAVE();
}

/* A message that is matched is received by whom has its handle: here its place in the order is. */
static void tell_matched(const struct communicator *in, MPI_Message message,
                         const MPI_Status *status)
{
    struct mpi_request matched = {.key = request__key_of_message(message),
                                  .number = request__next_number(),
                                  .kind = REQUEST_MATCHED,
                                  .in = in};
    tell__awaited(heurt_message_tick(), matched.number, in, status->MPI_SOURCE, status->MPI_TAG, 0);
    request__put(matched);
}

EXPORT int heurt_MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message,
                            MPI_Status *status)
{
    MPI_Status own;
    const struct communicator *in = communicator__of(comm);
    uint64_t since = ENTER(MPROBE, in, 0);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Mprobe)(from, tag, comm, message, status);
    if (IS_DONE && *message != MPI_MESSAGE_NO_PROC)
        tell_matched(in, *message, status);
    LEAVE();
}

EXPORT int heurt_MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                             MPI_Status *status)
{
    MPI_Status own;
    const struct communicator *in = communicator__of(comm);
    uint64_t since = ENTER(IMPROBE, in, 0);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Improbe)(from, tag, comm, flag, message, status);
    if (IS_DONE && *flag && *message != MPI_MESSAGE_NO_PROC)
        tell_matched(in, *message, status);
    LEAVE();
}

EXPORT int heurt_MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message,
                           MPI_Status *status)
{
    MPI_Status own;
    struct mpi_request matched = {0};
    uint64_t key = request__key_of_message(*message);
    uint64_t since = ENTER(MRECV, NULL, bytes_of(count, type));
    status = status == MPI_STATUS_IGNORE ? &own : status;
    bool is_known = since && request__take(key, &matched);
    int result = NEXT(Mrecv)(buffer, count, type, message, status);
    if (IS_DONE && is_known)
        tell__received(heurt_message_tick(), matched.number, matched.in, status);
    LEAVE();
}

EXPORT int heurt_MPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message,
                            MPI_Request *request)
{
    struct mpi_request matched = {0};
    uint64_t key = request__key_of_message(*message);
    uint64_t since = ENTER(IMRECV, NULL, bytes_of(count, type));
    bool is_known = since && request__take(key, &matched);
    int result = NEXT(Imrecv)(buffer, count, type, message, request);
    if (IS_DONE && is_known) {
        matched.key = request__key(*request);
        matched.kind = REQUEST_RECEIVE;
        request__put(matched);
    }
    LEAVE();
}

/* ---- completion ------------------------------------------------------------------------------ */

/* Copies of what a call will overwrite: on the stack where they are few. */
#define FEW 64
#define COPIES(type, count) \
    ((count) <= FEW ? alloca(FEW * sizeof(type)) : pages__get((size_t)(count) * sizeof(type)))
#define FREE_COPIES(copies, count)                                  \
    do {                                                            \
        if ((count) > FEW && (copies))                              \
            pages__put(copies, (size_t)(count) * sizeof *(copies)); \
    } while (0)

EXPORT int heurt_MPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    MPI_Status own;
    struct mpi_request request;
    uint64_t since = ENTER(WAIT, NULL, 0);
    bool is_known = since && request__take(request__key(*handle), &request);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Wait)(handle, status);
    if (IS_DONE && is_known)
        tell__done(heurt_message_tick(), &request, status);
    LEAVE();
}

EXPORT int heurt_MPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    MPI_Status own;
    struct mpi_request request;
    uint64_t key = request__key(*handle), since = ENTER(TEST, NULL, 0);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Test)(handle, flag, status);
    if (IS_DONE && *flag && request__take(key, &request))
        tell__done(heurt_message_tick(), &request, status);
    LEAVE();
}

/* Each that is known of those that were done, in their order. */
static void tell_all(const uint64_t *keys, int count, const MPI_Status *statuses)
{
    struct mpi_request request;
    uint64_t tick = heurt_message_tick();
    for (int i = 0; i < count; i++)
        if (request__take(keys[i], &request))
            tell__done(tick, &request, &statuses[i]);
}

#define REMEMBER(count, requests, keys)       \
    for (int i = 0; keys && i < (count); i++) \
    (keys)[i] = request__key((requests)[i])

EXPORT int heurt_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    uint64_t since = ENTER(WAITALL, NULL, 0);
    MPI_Status *all = statuses;
    uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;
    REMEMBER(count, requests, keys);
    if (keys && statuses == MPI_STATUSES_IGNORE)
        all = COPIES(MPI_Status, count);
    int result = NEXT(Waitall)(count, requests, all ? all : statuses);
    if (IS_DONE && keys && all)
        tell_all(keys, count, all);
    if (all != statuses)
        FREE_COPIES(all, count);
    FREE_COPIES(keys, count);
    LEAVE();
}

EXPORT int heurt_MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    uint64_t since = ENTER(TESTALL, NULL, 0);
    MPI_Status *all = statuses;
    uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;
    REMEMBER(count, requests, keys);
    if (keys && statuses == MPI_STATUSES_IGNORE)
        all = COPIES(MPI_Status, count);
    int result = NEXT(Testall)(count, requests, flag, all ? all : statuses);
    if (IS_DONE && *flag && keys && all)
        tell_all(keys, count, all);
    if (all != statuses)
        FREE_COPIES(all, count);
    FREE_COPIES(keys, count);
    LEAVE();
}

EXPORT int heurt_MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    MPI_Status own;
    uint64_t since = ENTER(WAITANY, NULL, 0);
    uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;
    REMEMBER(count, requests, keys);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Waitany)(count, requests, index, status);
    if (IS_DONE && keys && *index != MPI_UNDEFINED)
        tell_all(&keys[*index], 1, status);
    FREE_COPIES(keys, count);
    LEAVE();
}

EXPORT int heurt_MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                             MPI_Status *status)
{
    MPI_Status own;
    uint64_t since = ENTER(TESTANY, NULL, 0);
    uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;
    REMEMBER(count, requests, keys);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Testany)(count, requests, index, flag, status);
    if (IS_DONE && keys && *flag && *index != MPI_UNDEFINED)
        tell_all(&keys[*index], 1, status);
    FREE_COPIES(keys, count);
    LEAVE();
}

#define SOME(name, call)                                                                     \
    EXPORT int heurt_MPI_##name(int count, MPI_Request requests[], int *done, int indices[], \
                                MPI_Status statuses[])                                       \
    {                                                                                        \
        uint64_t since = ENTER(call, NULL, 0);                                               \
        MPI_Status *all = statuses;                                                          \
        uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;                             \
        REMEMBER(count, requests, keys);                                                     \
        if (keys && statuses == MPI_STATUSES_IGNORE)                                         \
            all = COPIES(MPI_Status, count);                                                 \
        int result = NEXT(name)(count, requests, done, indices, all ? all : statuses);       \
        for (int i = 0; IS_DONE && keys && all && *done != MPI_UNDEFINED && i < *done; i++)  \
            tell_all(&keys[indices[i]], 1, &all[i]);                                         \
        if (all != statuses)                                                                 \
            FREE_COPIES(all, count);                                                         \
        FREE_COPIES(keys, count);                                                            \
        LEAVE();                                                                             \
    }
/* clang-format off */
SOME(Waitsome, WAITSOME)
SOME(Testsome, TESTSOME)
/* clang-format on */
