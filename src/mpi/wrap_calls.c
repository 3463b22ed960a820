/* wrap_calls.c: the wrappers of what begins and ends, of requests and of probes (wrap.h). */
#include "mpi/wrap.h"

#include <alloca.h>

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

/* ---- requests that are begun again ------------------------------------------------------------
 */

static void tell_start(uint64_t tick, MPI_Request handle)
{
    struct mpi_request request;
    if (!request__activate(request__key(handle), request__next_number(), &request))
        return;
    if (request.kind == REQUEST_COLLECTIVE)
        tell__collective(tick, request.number, request.in, request.peer, (uint32_t)request.tag,
                         request.bytes);
    else if (request.kind == REQUEST_SEND)
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

/* Partitions of messages (MPI 4): their calls are told, not which is whose. */
#if MPI_VERSION >= 4
#define PARTITIONED(name, constness)                                                              \
    EXPORT int heurt_MPI_##name(constness void *buffer, int partitions, MPI_Count count,          \
                                MPI_Datatype type, int rank, int tag, MPI_Comm comm,              \
                                MPI_Info info, MPI_Request *request)                              \
    {                                                                                             \
        uint64_t bytes = bytes_of(count, type) * (partitions > 0 ? (uint64_t)partitions : 0);     \
        uint64_t since = ENTER(PERSISTENT, communicator__of(comm), bytes);                        \
        int result = NEXT(name)(buffer, partitions, count, type, rank, tag, comm, info, request); \
        LEAVE();                                                                                  \
    }
/* clang-format off */
PARTITIONED(Psend_init, const)
PARTITIONED(Precv_init, )
/* clang-format on */

EXPORT int heurt_MPI_Pready(int partition, MPI_Request request)
{
    uint64_t since = ENTER(PREADY, NULL, 0);
    int result = NEXT(Pready)(partition, request);
    LEAVE();
}

EXPORT int heurt_MPI_Pready_range(int first, int last, MPI_Request request)
{
    uint64_t since = ENTER(PREADY, NULL, 0);
    int result = NEXT(Pready_range)(first, last, request);
    LEAVE();
}

EXPORT int heurt_MPI_Pready_list(int count, int partitions[], MPI_Request request)
{
    uint64_t since = ENTER(PREADY, NULL, 0);
    int result = NEXT(Pready_list)(count, partitions, request);
    LEAVE();
}

EXPORT int heurt_MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    uint64_t site = SITE_OF(PARRIVED), since = heurt_message_ask(site, 0);
    int result = NEXT(Parrived)(request, partition, flag);
    LEAVE_ASKED(*flag);
}
#endif

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
    uint64_t site = SITE_OF(IPROBE),
             since = heurt_message_ask(site, communicator__number(communicator__of(comm)));
    int result = NEXT(Iprobe)(from, tag, comm, flag, status);
    LEAVE_ASKED(*flag);
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
    uint64_t site = SITE_OF(IMPROBE), since = heurt_message_ask(site, communicator__number(in));
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Improbe)(from, tag, comm, flag, message, status);
    if (IS_DONE && *flag && *message != MPI_MESSAGE_NO_PROC)
        tell_matched(in, *message, status);
    LEAVE_ASKED(*flag);
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
    uint64_t key = request__key(*handle);
    uint64_t site = SITE_OF(TEST), since = heurt_message_ask(site, 0);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Test)(handle, flag, status);
    if (IS_DONE && *flag && request__take(key, &request))
        tell__done(heurt_message_tick(), &request, status);
    LEAVE_ASKED(*flag);
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
    uint64_t site = SITE_OF(TESTALL), since = heurt_message_ask(site, 0);
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
    LEAVE_ASKED(*flag);
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
    uint64_t site = SITE_OF(TESTANY), since = heurt_message_ask(site, 0);
    uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;
    REMEMBER(count, requests, keys);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = NEXT(Testany)(count, requests, index, flag, status);
    if (IS_DONE && keys && *flag && *index != MPI_UNDEFINED)
        tell_all(&keys[*index], 1, status);
    FREE_COPIES(keys, count);
    LEAVE_ASKED(*flag);
}

/* All that are done. */
static void tell_some(uint64_t *keys, int done, const int *indices, const MPI_Status *statuses)
{
    for (int i = 0; keys && statuses && done != MPI_UNDEFINED && i < done; i++)
        tell_all(&keys[indices[i]], 1, &statuses[i]);
}

#define SOME(name, begins, ends)                                                             \
    EXPORT int heurt_MPI_##name(int count, MPI_Request requests[], int *done, int indices[], \
                                MPI_Status statuses[])                                       \
    {                                                                                        \
        begins;                                                                              \
        MPI_Status *all = statuses;                                                          \
        uint64_t *keys = since ? COPIES(uint64_t, count) : NULL;                             \
        REMEMBER(count, requests, keys);                                                     \
        if (keys && statuses == MPI_STATUSES_IGNORE)                                         \
            all = COPIES(MPI_Status, count);                                                 \
        int result = NEXT(name)(count, requests, done, indices, all ? all : statuses);       \
        if (IS_DONE)                                                                         \
            tell_some(keys, *done, indices, all);                                            \
        if (all != statuses)                                                                 \
            FREE_COPIES(all, count);                                                         \
        FREE_COPIES(keys, count);                                                            \
        ends;                                                                                \
    }
/* clang-format off */
SOME(Waitsome, uint64_t since = ENTER(WAITSOME, NULL, 0), LEAVE())
SOME(Testsome, uint64_t site = SITE_OF(TESTSOME); uint64_t since = heurt_message_ask(site, 0), LEAVE_ASKED(*done))
/* clang-format on */
