#include "analysis/sync/open_waits.h"

bool wait__is_call(uint32_t id)
{
    return id == HEURT_EVENT_IO || id == HEURT_EVENT_SLEEP || id == HEURT_EVENT_MEMORY_MAP;
}

bool wait__is_begun_by(uint32_t id)
{
    return wait__is_call(id) || id == HEURT_EVENT_LOCK_WAIT || id == HEURT_EVENT_CONDITION_WAIT ||
           id == HEURT_EVENT_BARRIER_WAIT || id == HEURT_EVENT_SEMAPHORE_WAIT ||
           id == HEURT_EVENT_JOIN || id == HEURT_EVENT_FUTEX_WAIT;
}

bool wait__is_good(uint32_t id, uint32_t words, const uint64_t *leave)
{
    if (!words)
        return false;
    int64_t result = (int64_t)leave[0];
    return result == 0 || (id == HEURT_EVENT_LOCK_WAIT && result == 130) || /* EOWNERDEAD */
           (id == HEURT_EVENT_BARRIER_WAIT && result == -1); /* PTHREAD_BARRIER_SERIAL_THREAD */
}
