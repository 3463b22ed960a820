/* event.c: what the ids of events are called and how much payload they have. */
#include "format/trace.h"

#define STORED(words) ((words) == HEURT_WORDS_VARIABLE ? PAYLOAD_VARIABLE : ((words) + 1) & 0xff)

const uint8_t event_payload_words[HEURT_EVENT_FUNCTIONS] = {
#define POINT_WORDS(name, id, words) [id] = STORED(words),
#define SPAN_WORDS(name, id, enter_words, leave_words) \
    [id] = STORED(enter_words), [(id) | 1] = STORED(leave_words),
    HEURT_EVENT_TABLE(POINT_WORDS, SPAN_WORDS)
#undef POINT_WORDS
#undef SPAN_WORDS
};

const char *event__name(uint32_t id)
{
    switch (id & ~1u) {
    case HEURT_EVENT_THREAD_START:
        return "thread start";
    case HEURT_EVENT_THREAD_END:
        return "thread end";
    case HEURT_EVENT_LOCK_WAIT:
        return "lock wait";
    case HEURT_EVENT_LOCK_ACQUIRED:
        return "lock acquired";
    case HEURT_EVENT_LOCK_BUSY:
        return "lock busy";
    case HEURT_EVENT_LOCK_RELEASED:
        return "lock released";
    case HEURT_EVENT_CONDITION_WAIT:
        return "condition wait";
    case HEURT_EVENT_CONDITION_SIGNALLED:
        return "condition signalled";
    case HEURT_EVENT_BARRIER_WAIT:
        return "barrier wait";
    case HEURT_EVENT_SEMAPHORE_WAIT:
        return "semaphore wait";
    case HEURT_EVENT_SEMAPHORE_ACQUIRED:
        return "semaphore acquired";
    case HEURT_EVENT_SEMAPHORE_POSTED:
        return "semaphore posted";
    case HEURT_EVENT_JOIN:
        return "join";
    case HEURT_EVENT_THREAD_CREATED:
        return "thread created";
    case HEURT_EVENT_IO:
        return "io";
    case HEURT_EVENT_SLEEP:
        return "sleep";
    case HEURT_EVENT_FUTEX_WAIT:
        return "futex wait";
    case HEURT_EVENT_FUTEX_WOKEN:
        return "futex woken";
    case HEURT_EVENT_FORKED:
        return "forked";
    case HEURT_EVENT_EXEC:
        return "exec";
    case HEURT_EVENT_UNWOUND:
        return "unwound";
    case HEURT_EVENT_STACK:
        return "stack";
    case HEURT_EVENT_LOST:
        return "lost";
    case HEURT_EVENT_SAMPLED:
        return "sampled";
    case HEURT_EVENT_PAUSED:
        return "paused";
    case HEURT_EVENT_OFF_CPU:
        return "off cpu";
    case HEURT_EVENT_FAULT:
        return "page fault";
    case HEURT_EVENT_KERNEL:
        return "kernel";
    case HEURT_EVENT_KERNEL_LOST:
        return "kernel lost";
    case HEURT_EVENT_INSTRUCTIONS:
        return "instructions";
    case HEURT_EVENT_INITIALISED:
        return "initialised";
    case HEURT_EVENT_MEMORY_MAP:
        return "memory map";
    case HEURT_EVENT_LOOP_LEFT:
        return "loop left";
    }
    return NULL;
}

const char *io__name(enum heurt_io call)
{
    switch (call) {
#define IO_NAME(name, id, text) \
    case HEURT_IO_##name:       \
        return text;
        HEURT_IO_TABLE(IO_NAME)
#undef IO_NAME
    }
    return "?";
}

const char *sleep__name(enum heurt_sleep call)
{
    switch (call) {
#define SLEEP_NAME(name, id, text) \
    case HEURT_SLEEP_##name:       \
        return text;
        HEURT_SLEEP_TABLE(SLEEP_NAME)
#undef SLEEP_NAME
    }
    return "?";
}

const char *memory_map__name(enum heurt_memory_map call)
{
    switch (call) {
#define MEMORY_MAP_NAME(name, id, text) \
    case HEURT_MEMORY_MAP_##name:       \
        return text;
        HEURT_MEMORY_MAP_TABLE(MEMORY_MAP_NAME)
#undef MEMORY_MAP_NAME
    }
    return "?";
}

bool event__is_span(uint32_t id)
{
    id |= 1; /* only spans have a leave */
    return id >= HEURT_EVENT_FUNCTIONS ? id <= HEURT_FUNCTION_LAST + 1
                                       : event_payload_words[id] > 0;
}
