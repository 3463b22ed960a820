#include "fold/kinds.h"

/* Also compiled into the recorded program: see accumulate.c. */

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
    case CLASS_FAULT:
        return COMPONENT_PAGE_FAULT;
    case CLASS_MESSAGE:
    case CLASS_MPI:
        return COMPONENT_MESSAGE;
    case CLASS_JOIN:
    case CLASS_PIPE:
    case CLASS_POLL:
    case CLASS_YIELD:
    case CLASS_FUTEX:
    case CLASS_MEMORY_MAP:
        return COMPONENT_OTHER_BLOCKED;
    default:
        return COMPONENT_RUNNING;
    }
}

bool class_kind__waits_for_threads(enum class_kind kind)
{
    switch (kind) {
    case CLASS_LOCK:
    case CLASS_CONDITION:
    case CLASS_BARRIER:
    case CLASS_SEMAPHORE:
    case CLASS_JOIN:
    case CLASS_YIELD:
    case CLASS_FUTEX:
    case CLASS_FAULT:
    case CLASS_MESSAGE:
        return true;
    default:
        return false;
    }
}

enum component off__component(uint32_t how)
{
    switch (how) {
    case HEURT_OFF_PREEMPTED:
        return COMPONENT_RUNNABLE;
    case HEURT_OFF_FAULT:
        return COMPONENT_PAGE_FAULT;
    case HEURT_OFF_DISK:
        return COMPONENT_DISK;
    default:
        return COMPONENT_OTHER_BLOCKED;
    }
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

static enum class_kind kind_of_sleep(uint32_t how)
{
    return how == HEURT_SLEEP_YIELD || how & HEURT_SLEEP_POLLS ? CLASS_YIELD : CLASS_SLEEP;
}

/* What MPI does with files is as what others do. Whoever receives, completes, probes, comes to a
 * collective or synchronizes windows waits for others; who sends may. */
static enum class_kind kind_of_message_call(uint32_t call)
{
    if (HEURT_CALL_IS_OF_FILE(call))
        return CLASS_DISK;
    bool waits = (call >= HEURT_CALL_RECV && call <= HEURT_CALL_SENDRECV_REPLACE &&
                  call != HEURT_CALL_IRECV && call != HEURT_CALL_IMRECV) ||
                 (call >= HEURT_CALL_PROBE && call <= HEURT_CALL_TESTSOME) ||
                 (call >= HEURT_CALL_BARRIER && call <= HEURT_CALL_NEIGHBOURS) ||
                 (call >= HEURT_CALL_WIN_FREE && call <= HEURT_CALL_WIN_FLUSH_LOCAL_ALL);
    return waits ? CLASS_MESSAGE : CLASS_MPI;
}

enum class_kind call__kind(const struct event *event)
{
    if (event->words < (call__has_size(event->id) ? 3 : 2))
        return CLASS_KINDS;
    switch (event->id) {
    case HEURT_EVENT_LOCK_WAIT:
    case HEURT_EVENT_LOCK_ACQUIRED:
        return CLASS_LOCK;
    case HEURT_EVENT_CONDITION_WAIT:
        return CLASS_CONDITION;
    case HEURT_EVENT_BARRIER_WAIT:
        return CLASS_BARRIER;
    case HEURT_EVENT_SEMAPHORE_WAIT:
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        return CLASS_SEMAPHORE;
    case HEURT_EVENT_JOIN:
        return CLASS_JOIN;
    case HEURT_EVENT_FUTEX_WAIT:
        return CLASS_FUTEX;
    case HEURT_EVENT_IO:
        return kind_of_io(HEURT_SITE_HOW(event->payload[0]), (uint32_t)(event->payload[1] >> 32));
    case HEURT_EVENT_SLEEP:
        return kind_of_sleep(HEURT_SITE_HOW(event->payload[0]));
    case HEURT_EVENT_MEMORY_MAP:
        return CLASS_MEMORY_MAP;
    case HEURT_EVENT_FAULT:
        return CLASS_FAULT;
    case HEURT_EVENT_MESSAGE_CALL:
        return kind_of_message_call(HEURT_SITE_HOW(event->payload[0]));
    default:
        return CLASS_KINDS;
    }
}
