/* counting.c: what libheurt-access.so, which counts accesses to memory, has of the recording: room
 * in the trace, and to be told when something else lies on a line (format/access_layout.h). */
#include "format/access_layout.h"
#include "runtime/arena.h"
#include "runtime/objects.h"
#include "runtime/runtime.h"

#define LINE 64u

EXPORT void heurt_access_join(struct heurt_access_table *table);
EXPORT enum heurt_access_room heurt_access_room(uint32_t units, void **room);
EXPORT void heurt_access_origin(struct heurt_access_count *count);

/* The linker's: where this library begins, and its code ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* Before anything is recorded, or at any time later. */
void heurt_access_join(struct heurt_access_table *table)
{
    table->recorder_code = (uint64_t)__ehdr_start;
    table->recorder_bytes = (uint64_t)(etext - __ehdr_start);
    __atomic_store_n(&heurt_state.allocating.counting, table, __ATOMIC_RELEASE);
}

/* Behind the lines of an object as long as all the table is, it begins anew. */
void counting__renew(const void *address, size_t bytes)
{
    const struct heurt_access_table *table = heurt_state.allocating.counting;
    uint64_t line = (uintptr_t)address / LINE, last = ((uintptr_t)address + bytes - 1) / LINE;
    if (!table || !bytes)
        return;
    if (last - line >= HEURT_GENERATIONS)
        last = line + HEURT_GENERATIONS - 1;
    for (; line <= last; line++)
        __atomic_fetch_add(&table->generations[line % HEURT_GENERATIONS], 1, __ATOMIC_RELAXED);
}

void counting__end(void)
{
    const struct heurt_access_table *table = heurt_state.allocating.counting;
    if (table)
        table->thread_ends();
}

/* The events need the rest of the trace. */
static struct heurt_chunk *claim(struct thread *thread, uint32_t units)
{
    static const char full[] = "There was no more room in the trace for accesses that are counted: "
                               "those that are told are not all (--max-size).";
    uint32_t untold = 0;
    if (quota__has(QUOTA_CLASSES, units))
        return chunk__claim(units, HEURT_CHUNK_COUNTS, thread->serial,
                            thread->allocations.counted_chunks++);
    if (__atomic_compare_exchange_n(&heurt_state.allocating.counts_are_full, &untold, 1, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        define__note(full);
    return NULL;
}

/* Room for the counts of this thread: what is behind the header of a chunk of so many units. */
enum heurt_access_room heurt_access_room(uint32_t units, void **room)
{
    struct thread *thread = hook__thread();
    if (!thread || thread->forking)
        return HEURT_ROOM_LATER;
    if (thread->ended || thread__in_seccomp(thread) || heurt_state.aggregates || heurt_state.full ||
        (uint32_t)RAW0(getpid) != heurt_state.pid)
        return HEURT_ROOM_NEVER;
    if (!thread->started)
        event__refill(NULL, 0);
    if (!thread->started)
        return HEURT_ROOM_NEVER;
    uint64_t mask = signals__block();
    struct heurt_chunk *chunk = claim(thread, units);
    signals__restore(mask);
    if (!chunk)
        return HEURT_ROOM_NEVER;
    *room = chunk + 1;
    return HEURT_ROOM_GIVEN;
}

/* When that begins, and whether it is on the thread's own stack. */
void heurt_access_origin(struct heurt_access_count *count)
{
    const struct thread *thread = &heurt_thread;
    count->tick = clock__tick();
    count->region = count->address >= thread->stack_low && count->address < thread->stack_high
                        ? HEURT_REGION_STACK
                        : HEURT_REGION_UNKNOWN;
}
