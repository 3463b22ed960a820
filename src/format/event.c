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

/* By half the id. */
static const char *const names[HEURT_EVENT_FUNCTIONS / 2] = {
#define NAMED(event, name) [HEURT_EVENT_##event / 2] = name
    NAMED(THREAD_START, "thread start"),
    NAMED(THREAD_END, "thread end"),
    NAMED(LOCK_WAIT, "lock wait"),
    NAMED(LOCK_ACQUIRED, "lock acquired"),
    NAMED(LOCK_BUSY, "lock busy"),
    NAMED(LOCK_HELD, "lock held"),
    NAMED(LOCK_RELEASED, "lock released"),
    NAMED(CONDITION_WAIT, "condition wait"),
    NAMED(CONDITION_SIGNALLED, "condition signalled"),
    NAMED(BARRIER_WAIT, "barrier wait"),
    NAMED(SEMAPHORE_WAIT, "semaphore wait"),
    NAMED(SEMAPHORE_ACQUIRED, "semaphore acquired"),
    NAMED(SEMAPHORE_POSTED, "semaphore posted"),
    NAMED(JOIN, "join"),
    NAMED(THREAD_CREATED, "thread created"),
    NAMED(IO, "io"),
    NAMED(SLEEP, "sleep"),
    NAMED(FUTEX_WAIT, "futex wait"),
    NAMED(FUTEX_WOKEN, "futex woken"),
    NAMED(FORKED, "forked"),
    NAMED(EXEC, "exec"),
    NAMED(UNWOUND, "unwound"),
    NAMED(STACK, "stack"),
    NAMED(LOST, "lost"),
    NAMED(SAMPLED, "sampled"),
    NAMED(PAUSED, "paused"),
    NAMED(OFF_CPU, "off cpu"),
    NAMED(FAULT, "page fault"),
    NAMED(KERNEL, "kernel"),
    NAMED(KERNEL_LOST, "kernel lost"),
    NAMED(INSTRUCTIONS, "instructions"),
    NAMED(INITIALISED, "initialised"),
    NAMED(ALLOCATED, "allocated"),
    NAMED(FREED, "freed"),
    NAMED(MEMORY_MAP, "memory map"),
    NAMED(CHANNEL, "channel"),
    NAMED(LOOP_LEFT, "loop left"),
    NAMED(OPENMP_BEGIN, "openmp begin"),
    NAMED(OPENMP_END, "openmp end"),
    NAMED(MESSAGE_CALL, "mpi call"),
    NAMED(MESSAGE_SENT, "message sent"),
    NAMED(MESSAGE_AWAITED, "message awaited"),
    NAMED(MESSAGE_DONE, "request done"),
    NAMED(MESSAGE_COLLECTIVE, "collective operation"),
    NAMED(MESSAGE_COMMUNICATOR, "communicator"),
    NAMED(MESSAGE_RANK, "rank"),
#undef NAMED
};

const char *event__name(uint32_t id)
{
    return id < HEURT_EVENT_FUNCTIONS ? names[id / 2] : NULL;
}

#define NAMED(name, call, text) [call] = text,
static const char *const io_names[] = {HEURT_IO_TABLE(NAMED)};
static const char *const sleep_names[] = {HEURT_SLEEP_TABLE(NAMED)};
static const char *const memory_map_names[] = {HEURT_MEMORY_MAP_TABLE(NAMED)};
static const char *const openmp_names[] = {HEURT_OPENMP_TABLE(NAMED)};
#undef NAMED
#define NAMED(name, call, family, text) [call] = text,
static const char *const message_call_names[] = {HEURT_MESSAGE_CALL_TABLE(NAMED)};
#undef NAMED
#define FAMILY(name, call, family, text) [call] = HEURT_MESSAGE_##family,
static const uint8_t message_families[] = {HEURT_MESSAGE_CALL_TABLE(FAMILY)};
#undef FAMILY

#define NAME_OF(names, call) \
    ((size_t)(call) < sizeof(names) / sizeof *(names) && (names)[call] ? (names)[call] : "?")

const char *io__name(enum heurt_io call)
{
    return NAME_OF(io_names, call);
}

const char *sleep__name(enum heurt_sleep call)
{
    return NAME_OF(sleep_names, call);
}

const char *memory_map__name(enum heurt_memory_map call)
{
    return NAME_OF(memory_map_names, call);
}

const char *openmp__name(enum heurt_openmp what)
{
    return NAME_OF(openmp_names, what);
}

const char *message_call__name(uint32_t call)
{
    return NAME_OF(message_call_names, call);
}

enum heurt_message_family message_call__family(uint32_t call)
{
    return call < sizeof message_families ? message_families[call] : HEURT_MESSAGE_OTHER;
}

bool event__is_span(uint32_t id)
{
    id |= 1; /* only spans have a leave */
    return id >= HEURT_EVENT_FUNCTIONS ? id <= HEURT_FUNCTION_LAST + 1
                                       : event_payload_words[id] > 0;
}
