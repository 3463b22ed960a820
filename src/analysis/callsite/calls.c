#include "analysis/callsite/calls.h"

const char *class_kind__name(enum class_kind kind)
{
    static const char *const names[CLASS_KINDS] = {
        [CLASS_CALL] = "call",           [CLASS_REGION] = "region",
        [CLASS_ITERATION] = "iteration", [CLASS_LOCK] = "lock",
        [CLASS_CONDITION] = "condition", [CLASS_BARRIER] = "barrier",
        [CLASS_SEMAPHORE] = "semaphore", [CLASS_JOIN] = "join",
        [CLASS_DISK] = "disk",           [CLASS_NETWORK] = "network",
        [CLASS_PIPE] = "pipe",           [CLASS_POLL] = "poll",
        [CLASS_SLEEP] = "sleep",         [CLASS_YIELD] = "yield",
        [CLASS_FUTEX] = "futex",         [CLASS_MEMORY_MAP] = "memory map",
        [CLASS_FAULT] = "page fault",    [CLASS_LOOP] = "loop",
        [CLASS_MESSAGE] = "message",     [CLASS_MPI] = "mpi",
    };
    return (unsigned)kind < CLASS_KINDS ? names[kind] : "?";
}

bool class_kind__is_structural(enum class_kind kind)
{
    switch (kind) {
    case CLASS_CONDITION:
    case CLASS_JOIN:
    case CLASS_POLL:
    case CLASS_SLEEP:
    case CLASS_YIELD:
    case CLASS_MEMORY_MAP:
    case CLASS_FAULT:
    case CLASS_FUTEX:
        return false;
    default:
        return true;
    }
}

static void describe_lock(const struct event *event, struct call *call)
{
    static const char *const names[] = {
        [HEURT_LOCK_MUTEX] = "pthread_mutex_lock",
        [HEURT_LOCK_READ] = "pthread_rwlock_rdlock",
        [HEURT_LOCK_WRITE] = "pthread_rwlock_wrlock",
        [HEURT_LOCK_SPIN] = "pthread_spin_lock",
        [HEURT_LOCK_STREAM] = "flockfile",
        [HEURT_LOCK_FILE] = "file lock",
        [HEURT_LOCK_CRITICAL] = "omp critical",
        [HEURT_LOCK_OPENMP] = "omp_set_lock",
        [HEURT_LOCK_ORDERED] = ORDERED_SECTION,
    };
    uint32_t kind = HEURT_LOCK_KIND(event->payload[0]);
    call->variant = kind;
    const char *name = kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
    call->function = name ? name : "lock";
}

static bool io_has_size(uint32_t io)
{
    return (io >= HEURT_IO_READ && io <= HEURT_IO_SENDFILE) ||
           (io >= HEURT_IO_SEND && io <= HEURT_IO_RECVMMSG) || io >= HEURT_IO_MQ_SEND;
}

/* A new descriptor, or the one that goes away, says nothing about the time that it takes; and
 * poll and select are given many. */
static bool io_has_descriptor(uint32_t io)
{
    return io != HEURT_IO_OPEN && io != HEURT_IO_CLOSE && io != HEURT_IO_CONNECT &&
           io != HEURT_IO_POLL && io != HEURT_IO_SELECT;
}

static void describe_io(const struct event *event, struct call *call)
{
    uint32_t io = HEURT_SITE_HOW(event->payload[0]);
    uint32_t descriptor_kind = (uint32_t)(event->payload[1] >> 32);
    call->function = io__name((enum heurt_io)io);
    call->variant = io | descriptor_kind << 16;
    call->idle = call->kind == CLASS_POLL || io == HEURT_IO_ACCEPT;
    if (io_has_descriptor(io))
        call->keys[call->key_count++] = (struct profile_key){"fd", (uint32_t)event->payload[1]};
    if (io_has_size(io))
        call->keys[call->key_count++] =
            (struct profile_key){"size_class", log2_of(event->payload[2])};
}

static void describe_memory_map(const struct event *event, struct call *call)
{
    uint32_t how = HEURT_SITE_HOW(event->payload[0]);
    call->function = memory_map__name((enum heurt_memory_map)how);
    call->variant = how;
    call->keys[call->key_count++] = (struct profile_key){"size_class", log2_of(event->payload[2])};
}

static void describe_sleep(const struct event *event, struct call *call)
{
    call->function = sleep__name((enum heurt_sleep)HEURT_SLEEP_CALL(event->payload[0]));
    call->variant = HEURT_SITE_HOW(event->payload[0]);
    call->idle = call->kind == CLASS_SLEEP; /* who yields polls for what others do */
}

static void describe_message_call(const struct event *event, struct call *call)
{
    call->variant = HEURT_SITE_HOW(event->payload[0]);
    call->function = message_call__name(call->variant);
    call->idle = call->variant == HEURT_CALL_INIT; /* for processes that are still started */
    if (!HEURT_CALL_IS_OF_FILE(call->variant))
        return;
    if (event->payload[1])
        call->keys[call->key_count++] = (struct profile_key){"file", (uint32_t)event->payload[1]};
    if (event->payload[2])
        call->keys[call->key_count++] =
            (struct profile_key){"size_class", log2_of(event->payload[2])};
}

static void describe(const struct event *event, struct call *call)
{
    switch (call->kind) {
    case CLASS_LOCK:
        describe_lock(event, call);
        return;
    case CLASS_CONDITION:
        call->variant = HEURT_SITE_HOW(event->payload[0]);
        call->by_chance = call->variant == HEURT_CONDITION_OPENMP_REGION;
        call->function = call->by_chance ? WAIT_FOR_REGION : "pthread_cond_wait";
        return;
    case CLASS_BARRIER:
        call->variant = HEURT_SITE_HOW(event->payload[0]);
        call->by_chance = call->variant >= HEURT_BARRIER_OPENMP_REGION;
        call->function = call->variant == HEURT_BARRIER_OPENMP          ? "omp barrier"
                         : call->variant == HEURT_BARRIER_OPENMP_REGION ? END_OF_REGION
                         : call->variant == HEURT_BARRIER_OPENMP_TEAM   ? CALL_OF_REGIONS
                                                                        : "pthread_barrier_wait";
        return;
    case CLASS_SEMAPHORE:
        call->function = "sem_wait";
        return;
    case CLASS_JOIN:
        call->function = "pthread_join";
        call->idle = true;
        return;
    case CLASS_FUTEX:
        call->variant = HEURT_SITE_HOW(event->payload[0]) == HEURT_FUTEX_ONCE;
        call->function = call->variant ? "pthread_once" : "futex";
        return;
    case CLASS_SLEEP:
    case CLASS_YIELD:
        describe_sleep(event, call);
        return;
    case CLASS_MEMORY_MAP:
        describe_memory_map(event, call);
        return;
    case CLASS_MESSAGE:
    case CLASS_MPI:
        describe_message_call(event, call);
        return;
    case CLASS_FAULT:
        call->by_chance = true;
        call->function = "page fault";
        return;
    default:
        if (event->id == HEURT_EVENT_MESSAGE_CALL)
            describe_message_call(event, call);
        else
            describe_io(event, call);
        return;
    }
}

/* A thread that is joined and the time of a sleep are no objects that others meet at. */
static bool kind_has_object(enum class_kind kind)
{
    return kind == CLASS_LOCK || kind == CLASS_CONDITION || kind == CLASS_BARRIER ||
           kind == CLASS_SEMAPHORE || kind == CLASS_FUTEX;
}

bool call__describe(const struct event *event, struct call *call)
{
    *call = (struct call){.kind = call__kind(event)};
    if (call->kind == CLASS_KINDS)
        return false;
    describe(event, call);
    call->has_object = kind_has_object(call->kind) &&
                       !(call->kind == CLASS_BARRIER && call->variant != HEURT_BARRIER_PTHREAD);
    if (call->has_object)
        call->object = event->payload[1];
    return true;
}
