/* tell.c: what a call is made of, as points in its span. Of messages to and from MPI_PROC_NULL,
 * which nobody gets, and of those of other MPI_COMM_WORLDs' processes, nothing is told. */
#include "mpi/wrap.h"

bool heurt_mpi_cancels;

static uint32_t world_of(const struct communicator *in, int rank)
{
    return communicator__world(in, rank);
}

static bool is_told(const struct communicator *in)
{
    return likely(!in || !in->is_foreign);
}

static uint32_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? HEURT_MESSAGE_ANY : (uint32_t)tag;
}

void tell__sent(uint64_t tick, uint32_t request, const struct communicator *in, int to, int tag,
                uint64_t bytes)
{
    if (to != MPI_PROC_NULL && is_told(in))
        heurt_message_point(tick, HEURT_EVENT_MESSAGE_SENT,
                            HEURT_MESSAGE(request, communicator__number(in)),
                            HEURT_MESSAGE(world_of(in, to), tag), bytes);
}

void tell__awaited(uint64_t tick, uint32_t request, const struct communicator *in, int from,
                   int tag, uint64_t bytes)
{
    if (from != MPI_PROC_NULL && is_told(in))
        heurt_message_point(tick, HEURT_EVENT_MESSAGE_AWAITED,
                            HEURT_MESSAGE(request, communicator__number(in)),
                            HEURT_MESSAGE(world_of(in, from), tag_of(tag)), bytes);
}

static bool is_cancelled(const MPI_Status *status)
{
    int flag = 0;
    if (heurt_mpi_cancels)
        PMPI_Test_cancelled(status, &flag);
    return flag;
}

void tell__received(uint64_t tick, uint32_t request, const struct communicator *in,
                    const MPI_Status *status)
{
    MPI_Count bytes = 0;
    bool cancelled = is_cancelled(status);
    if ((status->MPI_SOURCE == MPI_PROC_NULL && !cancelled) || !is_told(in))
        return;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes); /* counts those of more than 2^31, too */
    heurt_message_point(tick, HEURT_EVENT_MESSAGE_DONE, HEURT_MESSAGE(request, cancelled),
                        HEURT_MESSAGE(world_of(in, status->MPI_SOURCE), status->MPI_TAG),
                        bytes > 0 ? (uint64_t)bytes : 0);
}

/* MPICH 4.0 does not fill in the status of such a request: then the message was the one that was
 * asked for, as long as there was room. */
static void tell_exchanged(uint64_t tick, const struct mpi_request *request,
                           const MPI_Status *status)
{
    enum heurt_message_library library = HEURT_MPI_LIBRARY;
    if (library != HEURT_MESSAGE_MPICH)
        tell__received(tick, request->number, request->in, status);
    else if (is_told(request->in) && request->peer != MPI_PROC_NULL)
        heurt_message_point(
            tick, HEURT_EVENT_MESSAGE_DONE, HEURT_MESSAGE(request->number, 0),
            HEURT_MESSAGE(world_of(request->in, request->peer), tag_of(request->tag)),
            request->bytes);
}

void tell__done(uint64_t tick, const struct mpi_request *request, const MPI_Status *status)
{
    if (request->kind == REQUEST_RECEIVE)
        tell__received(tick, request->number, request->in, status);
    else if (request->kind == REQUEST_EXCHANGE)
        tell_exchanged(tick, request, status);
    else if (request->kind == REQUEST_COMMUNICATOR)
        communicator__made(tick, *(MPI_Comm *)(uintptr_t)request->bytes);
    else if (is_told(request->in))
        heurt_message_point(tick, HEURT_EVENT_MESSAGE_DONE,
                            HEURT_MESSAGE(request->number, is_cancelled(status)), 0, 0);
}

void tell__signal(uint64_t tick, uint32_t id, uint32_t request, const struct communicator *in,
                  uint32_t world, uint32_t signal, uint64_t bytes)
{
    heurt_message_point(tick, id, HEURT_MESSAGE(request, communicator__number(in)),
                        HEURT_MESSAGE(world, signal), bytes);
}

void tell__signal_done(uint64_t tick, uint32_t request, uint32_t world, uint32_t signal)
{
    heurt_message_point(tick, HEURT_EVENT_MESSAGE_DONE, HEURT_MESSAGE(request, 0),
                        HEURT_MESSAGE(world, signal), 0);
}

void tell__collective(uint64_t tick, uint32_t request, const struct communicator *in, int root,
                      uint32_t call, uint64_t bytes)
{
    if (is_told(in))
        heurt_message_point(tick, HEURT_EVENT_MESSAGE_COLLECTIVE,
                            HEURT_MESSAGE(request, communicator__number(in)),
                            HEURT_MESSAGE(world_of(in, root), call), bytes);
}
