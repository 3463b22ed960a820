/* wrap_windows.c: the wrappers of one-sided communication but for accesses. Windows have numbers as
 * communicators have; what all ranks of a window come to is collective on it. Accesses, leave to
 * access and locks are told as messages are, with tags of their own (message_layout.h). */
#include "mpi/windows.h"

#define LIST(...) __VA_ARGS__

/* ---- windows --------------------------------------------------------------------------------- */

EXPORT int heurt_MPI_Win_free(MPI_Win *window)
{
    uint64_t key = KEY_OF(*window);
    const struct communicator *in = window__of(*window);
    uint64_t since = enter(SITE_OF(WIN_FREE), in, 0);
    if (since)
        tell__collective(since, 0, in, -1, HEURT_CALL_WIN_FREE, 0);
    group__gone(key, GROUP_WINDOW); /* before another may get the handle */
    int result = NEXT(Win_free)(window);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_fence(int assert, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_FENCE), in, 0);
    if (since)
        tell__collective(since, 0, in, -1, HEURT_CALL_WIN_FENCE, 0);
    int result = NEXT(Win_fence)(assert, window);
    return leave(since, result);
}

/* ---- leave to access ------------------------------------------------------------------------- */

static void take_peers(struct group_peers *peers, MPI_Group group, uint32_t room)
{
    MPI_Group world;
    int count = 0;
    peers->count = 0;
    if (PMPI_Group_size(group, &count) != MPI_SUCCESS || count <= 0 || (uint32_t)count > room ||
        PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return;
    for (int i = 0; i < count; i++)
        PMPI_Group_translate_ranks(group, 1, &i, world, &peers->world[i]);
    PMPI_Group_free(&world);
    peers->count = (uint32_t)count;
}

EXPORT int heurt_MPI_Win_post(MPI_Group group, int assert, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_POST), in, 0);
    if (since && in) {
        struct group_peers *posted = &in->own->posted;
        posted->world = in->own->ranks;
        take_peers(posted, group, in->size);
        for (uint32_t i = 0; i < posted->count; i++)
            tell__signal(since, HEURT_EVENT_MESSAGE_SENT, 0, in, (uint32_t)posted->world[i],
                         HEURT_SIGNAL_POST, 0);
    }
    int result = NEXT(Win_post)(group, assert, window);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_start(MPI_Group group, int assert, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_START), in, 0);
    if (since && in) {
        struct group_peers *started = &in->own->started;
        started->world = in->own->ranks + in->size;
        take_peers(started, group, in->size);
        started->request = request__next_numbers(started->count);
        for (uint32_t i = 0; i < started->count; i++)
            tell__signal(since, HEURT_EVENT_MESSAGE_AWAITED, started->request + i, in,
                         (uint32_t)started->world[i], HEURT_SIGNAL_POST, 0);
    }
    int result = NEXT(Win_start)(group, assert, window);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_complete(MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_COMPLETE), in, 0);
    struct group_peers started = since && in ? in->own->started : (struct group_peers){0};
    for (uint32_t i = 0; i < started.count; i++)
        tell__signal(since, HEURT_EVENT_MESSAGE_SENT, 0, in, (uint32_t)started.world[i],
                     HEURT_SIGNAL_COMPLETE, 0);
    int result = NEXT(Win_complete)(window);
    uint64_t tick = started.count ? heurt_message_tick() : 0;
    for (uint32_t i = 0; i < started.count; i++)
        tell__signal_done(tick, started.request + i, (uint32_t)started.world[i], HEURT_SIGNAL_POST);
    if (started.count)
        in->own->started.count = 0;
    return leave(since, result);
}

/* All that got leave have completed. */
static void tell_exposed(uint64_t since, const struct communicator *in)
{
    uint64_t tick = heurt_message_tick();
    struct group_peers *posted = &in->own->posted;
    uint32_t request = request__next_numbers(posted->count);
    for (uint32_t i = 0; i < posted->count; i++) {
        uint32_t world = (uint32_t)posted->world[i];
        tell__signal(since, HEURT_EVENT_MESSAGE_AWAITED, request + i, in, world,
                     HEURT_SIGNAL_COMPLETE, 0);
        tell__signal_done(tick, request + i, world, HEURT_SIGNAL_COMPLETE);
    }
    posted->count = 0;
}

EXPORT int heurt_MPI_Win_wait(MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_WAIT), in, 0);
    int result = NEXT(Win_wait)(window);
    if (IS_DONE && in)
        tell_exposed(since, in);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_test(MPI_Win window, int *flag)
{
    const struct communicator *in = window__of(window);
    uint64_t site = SITE_OF(WIN_TEST), since = heurt_message_ask(site, communicator__number(in));
    int result = NEXT(Win_test)(window, flag);
    if (IS_DONE && in && *flag)
        tell_exposed(since, in);
    LEAVE_ASKED(*flag);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void tell_locked(uint64_t since, const struct communicator *in, uint32_t world,
                        uint32_t signal)
{
    struct mpi_request lock = {.key = request__key_of_lock(communicator__number(in), world),
                               .number = request__next_number(),
                               .kind = REQUEST_LOCK,
                               .in = in};
    tell__signal(since, HEURT_EVENT_MESSAGE_AWAITED, lock.number, in, world, signal, 0);
    request__put(lock);
}

/* In the end of the call that unlocks. */
static void tell_unlocked(const struct communicator *in, uint32_t world)
{
    struct mpi_request lock;
    if (request__take(request__key_of_lock(communicator__number(in), world), &lock))
        tell__signal_done(heurt_message_tick(), lock.number, world, HEURT_SIGNAL_LOCK_SHARED);
}

EXPORT int heurt_MPI_Win_lock(int type, int rank, int assert, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_LOCK), in, 0);
    if (since && rank != MPI_PROC_NULL)
        tell_locked(since, in, communicator__world(in, rank),
                    type == MPI_LOCK_EXCLUSIVE ? HEURT_SIGNAL_LOCK_EXCLUSIVE
                                               : HEURT_SIGNAL_LOCK_SHARED);
    int result = NEXT(Win_lock)(type, rank, assert, window);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_unlock(int rank, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_UNLOCK), in, 0);
    int result = NEXT(Win_unlock)(rank, window);
    if (since && rank != MPI_PROC_NULL)
        tell_unlocked(in, communicator__world(in, rank));
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_lock_all(int assert, MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_LOCK_ALL), in, 0);
    if (since)
        tell_locked(since, in, HEURT_MESSAGE_ANY, HEURT_SIGNAL_LOCK_SHARED);
    int result = NEXT(Win_lock_all)(assert, window);
    return leave(since, result);
}

EXPORT int heurt_MPI_Win_unlock_all(MPI_Win window)
{
    const struct communicator *in = window__of(window);
    uint64_t since = enter(SITE_OF(WIN_UNLOCK_ALL), in, 0);
    int result = NEXT(Win_unlock_all)(window);
    if (since)
        tell_unlocked(in, HEURT_MESSAGE_ANY);
    return leave(since, result);
}

#define FLUSH(name, call, parameters, arguments)                      \
    EXPORT int heurt_MPI_##name(parameters)                           \
    {                                                                 \
        uint64_t since = enter(SITE_OF(call), window__of(window), 0); \
        int result = NEXT(name)(arguments);                           \
        return leave(since, result);                                  \
    }
/* clang-format off */
FLUSH(Win_flush, WIN_FLUSH, LIST(int rank, MPI_Win window), LIST(rank, window))
FLUSH(Win_flush_all, WIN_FLUSH_ALL, MPI_Win window, window)
FLUSH(Win_flush_local, WIN_FLUSH_LOCAL, LIST(int rank, MPI_Win window), LIST(rank, window))
FLUSH(Win_flush_local_all, WIN_FLUSH_LOCAL_ALL, MPI_Win window, window)
/* clang-format on */
