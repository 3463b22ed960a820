/* kinds.h: which events are occurrences of one class, and what kind of class it is.
 *
 * Used by the analyses and inside the recorded program, as accumulate.h is.
 *
 * In goes an event, out come its kind and the component that it stands for: one look into a table.
 * It stands on format/event.h. */
#ifndef HEURT_FOLD_KINDS_H
#define HEURT_FOLD_KINDS_H

#include "fold/accumulate.h"
#include "format/event.h"

#include <stdbool.h>

enum class_kind {
    CLASS_CALL,
    CLASS_REGION,
    CLASS_ITERATION,
    CLASS_LOCK,
    CLASS_CONDITION,
    CLASS_BARRIER,
    CLASS_SEMAPHORE,
    CLASS_JOIN,
    CLASS_DISK,
    CLASS_NETWORK,
    CLASS_PIPE, /* pipes, terminals and other descriptors */
    CLASS_POLL,
    CLASS_SLEEP,
    CLASS_YIELD,
    CLASS_FUTEX,
    CLASS_MEMORY_MAP,
    CLASS_FAULT,   /* page faults at one instruction */
    CLASS_LOOP,    /* iterations of a loop that the recorder marked */
    CLASS_MESSAGE, /* calls of MPI that wait for other ranks */
    CLASS_MPI,     /* its other calls */
    CLASS_KINDS
};

/* The kind of occurrence that a hooked call's event (an enter or a point) is; CLASS_KINDS: that of
 * no class. */
enum class_kind call__kind(const struct event *event);

/* What a wait of that kind is; COMPONENT_RUNNING: functions and regions. */
enum component class_kind__component(enum class_kind kind);

/* Code of the program, which is measured, and no call with a meaning. */
static inline bool class_kind__is_code(enum class_kind kind)
{
    return kind == CLASS_CALL || kind == CLASS_REGION || kind == CLASS_ITERATION ||
           kind == CLASS_LOOP;
}

/* Whether occurrences of that kind wait for other threads alone, or need not be at all: undisturbed
 * they take no time, so that one is enough to know what was lost. False: the fastest occurrence has
 * to tell. */
bool class_kind__waits_for_threads(enum class_kind kind);

/* What a thread was that was off its CPU outside of known waits, by enum heurt_off. */
enum component off__component(uint32_t how);

/* Whole part of the logarithm to base 2; 0 of 0. */
static inline unsigned log2_of(uint64_t value)
{
    return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

/* Waiting and not having to are occurrences of one class. */
static inline uint32_t call__class_id(uint32_t id)
{
    if (id == HEURT_EVENT_LOCK_ACQUIRED)
        return HEURT_EVENT_LOCK_WAIT;
    return id == HEURT_EVENT_SEMAPHORE_ACQUIRED ? HEURT_EVENT_SEMAPHORE_WAIT : id;
}

/* Whether the third word of its enter event is a size, of which the logarithm is part of the key.
 */
static inline bool call__has_size(uint32_t id)
{
    return id == HEURT_EVENT_IO || id == HEURT_EVENT_MEMORY_MAP;
}

/* Whether the second word is an object, or a descriptor, that is part of the key. */
static inline bool call__has_subject(uint32_t id)
{
    return id != HEURT_EVENT_SLEEP && id != HEURT_EVENT_JOIN && id != HEURT_EVENT_MEMORY_MAP &&
           id != HEURT_EVENT_FAULT && id != HEURT_EVENT_MESSAGE_CALL;
}

#define CALL_KEY_WORDS 3

/* Within one process image and while no module comes or goes, hooked calls with the same
 * call__class_id and the same key are occurrences of one class.  False: of no class. */
static inline bool call__key(const struct event *event, uint64_t key[CALL_KEY_WORDS])
{
    if (event->words < 2)
        return false;
    uint32_t id = event->id;
    key[0] = event->payload[0];
    key[1] = call__has_subject(id) ? event->payload[1] : 0;
    key[2] = call__has_size(id) && event->words > 2 ? log2_of(event->payload[2]) : 0;
    return true;
}

#endif
