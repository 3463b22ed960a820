/* wrap_windows.c: the wrappers of one-sided communication. Windows have numbers as communicators
 * have; what all ranks of a window come to is collective on it. Accesses, leave to access and locks
 * are told as messages are, with tags of their own (message_layout.h). */
#include "mpi/wrap.h"

#define LIST(...) __VA_ARGS__

static const struct communicator *window__of(MPI_Win handle)
{
    return handle == MPI_WIN_NULL ? NULL : group__of(KEY_OF(handle), GROUP_WINDOW);
}

/* A window that was made where nobody saw it is told by the first call of it. */
static inline uint64_t enter(uint64_t site, const struct communicator *in, uint64_t bytes)
{
    uint64_t since = heurt_message_enter(site, communicator__number(in), bytes);
    if (unlikely(since && in && !in->own->is_told))
        group__told(since, in);
    return since;
}

static inline int leave(uint64_t since, int result)
{
    if (likely(since))
        heurt_message_leave(since, (uint64_t)(int64_t)result);
    return result;
}
#define IS_DONE (since && result == MPI_SUCCESS)

/* ---- windows --------------------------------------------------------------------------------- */

#define MAKES_WINDOW(name, parameters, arguments)                   \
    EXPORT int heurt_MPI_##name(parameters, MPI_Win *window)        \
    {                                                               \
        uint64_t since = enter(SITE_OF(WIN_CREATE), NULL, 0);       \
        int result = NEXT(name)(arguments, window);                 \
        if (IS_DONE)                                                \
            group__told(heurt_message_tick(), window__of(*window)); \
        return leave(since, result);                                \
    }
/* clang-format off */
MAKES_WINDOW(Win_create, LIST(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm),
             LIST(base, size, unit, info, comm))
MAKES_WINDOW(Win_allocate, LIST(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base),
             LIST(size, unit, info, comm, base))
MAKES_WINDOW(Win_allocate_shared, LIST(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base),
             LIST(size, unit, info, comm, base))
MAKES_WINDOW(Win_create_dynamic, LIST(MPI_Info info, MPI_Comm comm), LIST(info, comm))
/* clang-format on */

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

/* ---- accesses -------------------------------------------------------------------------------- */

static inline void tell_access(uint64_t since, uint32_t request, const struct communicator *in,
                               int rank, uint64_t bytes)
{
    if (likely(since) && rank != MPI_PROC_NULL)
        tell__signal(since, HEURT_EVENT_MESSAGE_SENT, request, in, communicator__world(in, rank),
                     HEURT_SIGNAL_ACCESS, bytes);
}

#define ACCESS(name, call, parameters, arguments, accessed)                 \
    EXPORT int heurt_MPI_##name(parameters, MPI_Win window)                 \
    {                                                                       \
        const struct communicator *in = window__of(window);                 \
        uint64_t bytes = accessed, since = enter(SITE_OF(call), in, bytes); \
        tell_access(since, 0, in, rank, bytes);                             \
        int result = NEXT(name)(arguments, window);                         \
        return leave(since, result);                                        \
    }
#define ACCESS_BY_REQUEST(name, call, parameters, arguments, accessed)            \
    EXPORT int heurt_MPI_##name(parameters, MPI_Win window, MPI_Request *request) \
    {                                                                             \
        const struct communicator *in = window__of(window);                       \
        uint64_t bytes = accessed, since = enter(SITE_OF(call), in, bytes);       \
        uint32_t number = since ? request__next_number() : 0;                     \
        tell_access(since, number, in, rank, bytes);                              \
        int result = NEXT(name)(arguments, window, request);                      \
        if (IS_DONE)                                                              \
            request__put((struct mpi_request){.key = request__key(*request),      \
                                              .number = number,                   \
                                              .kind = REQUEST_ACCESS,             \
                                              .in = in});                         \
        return leave(since, result);                                              \
    }
#define TARGET int rank, MPI_Aint place, int target_count, MPI_Datatype target_type
#define TARGET_ARGUMENTS rank, place, target_count, target_type

/* clang-format off */
#define PUTS LIST(const void *from, int count, MPI_Datatype type, TARGET)
#define GETS LIST(void *to, int count, MPI_Datatype type, TARGET)
#define MOVES_ARGUMENTS(buffer) LIST(buffer, count, type, TARGET_ARGUMENTS)
#define ACCUMULATES LIST(const void *from, int count, MPI_Datatype type, TARGET, MPI_Op op)
#define ACCUMULATES_ARGUMENTS LIST(from, count, type, TARGET_ARGUMENTS, op)
#define ACCUMULATES_AND_GETS                                                                        \
    LIST(const void *from, int count, MPI_Datatype type, void *to, int room, MPI_Datatype as, TARGET, MPI_Op op)
#define ACCUMULATES_AND_GETS_ARGUMENTS LIST(from, count, type, to, room, as, TARGET_ARGUMENTS, op)

ACCESS(Put, PUT, LIST(PUTS), MOVES_ARGUMENTS(from), bytes_of(count, type))
ACCESS(Get, GET, LIST(GETS), MOVES_ARGUMENTS(to), bytes_of(count, type))
ACCESS(Accumulate, ACCUMULATE, LIST(ACCUMULATES), ACCUMULATES_ARGUMENTS, bytes_of(count, type))
ACCESS(Get_accumulate, GET_ACCUMULATE, LIST(ACCUMULATES_AND_GETS), ACCUMULATES_AND_GETS_ARGUMENTS,
       bytes_of(room, as))
ACCESS(Fetch_and_op, FETCH_AND_OP,
       LIST(const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op),
       LIST(from, to, type, rank, place, op), bytes_of(1, type))
ACCESS(Compare_and_swap, COMPARE_AND_SWAP,
       LIST(const void *from, const void *expected, void *to, MPI_Datatype type, int rank, MPI_Aint place),
       LIST(from, expected, to, type, rank, place), bytes_of(1, type))
ACCESS_BY_REQUEST(Rput, RPUT, LIST(PUTS), MOVES_ARGUMENTS(from), bytes_of(count, type))
ACCESS_BY_REQUEST(Rget, RGET, LIST(GETS), MOVES_ARGUMENTS(to), bytes_of(count, type))
ACCESS_BY_REQUEST(Raccumulate, RACCUMULATE, LIST(ACCUMULATES), ACCUMULATES_ARGUMENTS,
                  bytes_of(count, type))
ACCESS_BY_REQUEST(Rget_accumulate, RGET_ACCUMULATE, LIST(ACCUMULATES_AND_GETS),
                  ACCUMULATES_AND_GETS_ARGUMENTS, bytes_of(room, as))
/* clang-format on */

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
    uint64_t since = enter(SITE_OF(WIN_TEST), in, 0);
    int result = NEXT(Win_test)(window, flag);
    if (IS_DONE && in && *flag)
        tell_exposed(since, in);
    return leave(since, result);
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
