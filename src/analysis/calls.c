#include "analysis/calls.h"

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
        [CLASS_FUTEX] = "futex",
    };
    return (unsigned)kind < CLASS_KINDS ? names[kind] : "?";
}

enum component class_kind__component(enum class_kind kind)
{
    switch (kind) {
    case CLASS_LOCK:
        return COMPONENT_LOCK;
    case CLASS_CONDITION:
    case CLASS_SEMAPHORE:
        return COMPONENT_CONDITION;
    case CLASS_BARRIER:
        return COMPONENT_BARRIER;
    case CLASS_DISK:
        return COMPONENT_DISK;
    case CLASS_NETWORK:
        return COMPONENT_NETWORK;
    case CLASS_SLEEP:
        return COMPONENT_SLEEP;
    case CLASS_JOIN:
    case CLASS_PIPE:
    case CLASS_POLL:
    case CLASS_YIELD:
    case CLASS_FUTEX:
        return COMPONENT_OTHER_BLOCKED;
    default:
        return COMPONENT_REST;
    }
}

unsigned log2_of(uint64_t value)
{
    return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

static void describe_lock(const struct event *event, struct call *call)
{
    static const char *const names[] = {
        [HEURT_LOCK_MUTEX] = "pthread_mutex_lock",
        [HEURT_LOCK_READ] = "pthread_rwlock_rdlock",
        [HEURT_LOCK_WRITE] = "pthread_rwlock_wrlock",
        [HEURT_LOCK_SPIN] = "pthread_spin_lock",
    };
    uint32_t kind = HEURT_SITE_HOW(event->payload[0]);
    call->kind = CLASS_LOCK;
    call->variant = kind;
    call->function = kind <= HEURT_LOCK_SPIN ? names[kind] : "lock";
}

static enum class_kind kind_of_descriptor(uint32_t descriptor_kind)
{
    if (descriptor_kind == HEURT_DESCRIPTOR_FILE)
        return CLASS_DISK;
    return descriptor_kind == HEURT_DESCRIPTOR_SOCKET ? CLASS_NETWORK : CLASS_PIPE;
}

static enum class_kind kind_of_io(uint32_t io, uint32_t descriptor_kind)
{
    if (io == HEURT_IO_OPEN)
        return CLASS_DISK;
    if (io >= HEURT_IO_POLL && io <= HEURT_IO_EPOLL_WAIT)
        return CLASS_POLL;
    if (io >= HEURT_IO_SEND && io <= HEURT_IO_CONNECT)
        return CLASS_NETWORK;
    return kind_of_descriptor(descriptor_kind);
}

static bool io_has_size(uint32_t io)
{
    return (io >= HEURT_IO_READ && io <= HEURT_IO_SENDFILE) ||
           (io >= HEURT_IO_SEND && io <= HEURT_IO_RECVMMSG);
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
    call->kind = kind_of_io(io, descriptor_kind);
    call->function = io__name((enum heurt_io)io);
    call->variant = io | descriptor_kind << 16;
    call->idle = call->kind == CLASS_POLL || io == HEURT_IO_ACCEPT;
    if (io_has_descriptor(io))
        call->keys[call->key_count++] = (struct profile_key){"fd", (uint32_t)event->payload[1]};
    if (io_has_size(io))
        call->keys[call->key_count++] =
            (struct profile_key){"size_class", log2_of(event->payload[2])};
}

static void describe_sleep(const struct event *event, struct call *call)
{
    uint32_t how = HEURT_SITE_HOW(event->payload[0]);
    call->kind = how == HEURT_SLEEP_YIELD ? CLASS_YIELD : CLASS_SLEEP;
    call->function = sleep__name((enum heurt_sleep)how);
    call->variant = how;
    call->idle = true;
}

static void describe_plain(struct call *call, enum class_kind kind, const char *function)
{
    call->kind = kind;
    call->function = function;
}

static bool describe(const struct event *event, struct call *call)
{
    switch (event->id) {
    case HEURT_EVENT_LOCK_WAIT:
    case HEURT_EVENT_LOCK_ACQUIRED:
        describe_lock(event, call);
        return true;
    case HEURT_EVENT_CONDITION_WAIT:
        describe_plain(call, CLASS_CONDITION, "pthread_cond_wait");
        return true;
    case HEURT_EVENT_BARRIER_WAIT:
        describe_plain(call, CLASS_BARRIER, "pthread_barrier_wait");
        return true;
    case HEURT_EVENT_SEMAPHORE_WAIT:
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        describe_plain(call, CLASS_SEMAPHORE, "sem_wait");
        return true;
    case HEURT_EVENT_JOIN:
        describe_plain(call, CLASS_JOIN, "pthread_join");
        call->idle = true;
        return true;
    case HEURT_EVENT_FUTEX_WAIT:
        describe_plain(call, CLASS_FUTEX, "futex");
        return true;
    case HEURT_EVENT_IO:
        describe_io(event, call);
        return true;
    case HEURT_EVENT_SLEEP:
        describe_sleep(event, call);
        return true;
    default:
        return false;
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
    *call = (struct call){0};
    unsigned needed = event->id == HEURT_EVENT_IO ? 3 : 2;
    if (event->words < needed || !describe(event, call))
        return false;
    call->has_object = kind_has_object(call->kind);
    if (call->has_object)
        call->object = event->payload[1];
    return true;
}
