/* hook_openmp_loop.c: work-shared loops and sections of libgomp, chunk by chunk, and single.
 *
 * A thread asks for a chunk when it has done the one before, so that a chunk's time is that between
 * two answers.  Loops of a static schedule without a chunk ask for none: the compiler divides them.
 * A loop whose region is called with it has no start of its own: its body asks for the first one.
 */
#include "runtime/openmp_hooks.h"

#include <stdarg.h>

#define TOLD_TICKS 50000u /* of a chunk that is told on its own */

static uint64_t iterations_between(int64_t from, int64_t to, int64_t step)
{
    if (step == 1 || step == 0)
        return (uint64_t)(to - from);
    int64_t last = step > 0 ? step - 1 : step + 1;
    return (uint64_t)((to - from + last) / step);
}

void loop__begin(struct thread *thread, uint64_t site, const struct loop_bounds *bounds)
{
    if (!thread)
        return;
    loop__end(thread);
    uint64_t all = iterations_between(bounds->start, bounds->end, bounds->step);
    thread->openmp.frame.loop = (struct openmp_loop){.site = site, .step = bounds->step};
    openmp__begin(thread, site, HEURT_OPENMP_LOOP,
                  HEURT_OPENMP_LOOP(bounds->schedule, (uint64_t)bounds->chunk),
                  (int64_t)all > 0 ? all : 0);
}

/* The chunk under way is done. */
static void chunk__end(struct thread *thread, struct openmp_loop *loop, uint64_t now)
{
    if (loop->since && now - loop->since > TOLD_TICKS)
        openmp__end(thread, loop->site, HEURT_OPENMP_CHUNK, now - loop->since, loop->count,
                    loop->first);
    loop->since = 0;
}

void loop__given(struct thread *thread, bool is_given, int64_t first, int64_t behind)
{
    struct openmp_loop *loop = thread ? &thread->openmp.frame.loop : NULL;
    if (!loop || !loop->site)
        return;
    uint64_t now = clock__tick();
    chunk__end(thread, loop, now);
    if (!is_given)
        return;
    loop->since = now;
    loop->first = (uint64_t)first;
    loop->count = iterations_between(first, behind, loop->step);
    loop->iterations += loop->count;
    loop->chunks++;
}

void loop__end(struct thread *thread)
{
    struct openmp_loop *loop = thread ? &thread->openmp.frame.loop : NULL;
    if (!loop || !loop->site)
        return;
    if (loop->since)
        chunk__end(thread, loop, clock__tick());
    openmp__end(thread, loop->site, HEURT_OPENMP_LOOP, 0, loop->chunks, loop->iterations);
    loop->site = 0;
}

/* Around the call that begins a loop and gives the first chunk. */
#define START(name, bounds_, first, behind, arguments)                            \
    do {                                                                          \
        const struct loop_bounds bounds = bounds_;                                \
        __typeof__(&name) start_loop = OPENMP_REAL(name);                         \
        struct thread *thread = hook__thread();                                   \
        loop__begin(thread, SITE(0), &bounds);                                    \
        bool is_given = start_loop arguments;                                     \
        loop__given(thread, is_given, (int64_t) * (first), (int64_t) * (behind)); \
        return is_given;                                                          \
    } while (0)
#define NEXT(name)                                                                \
    do {                                                                          \
        bool is_given = OPENMP_REAL(name)(first, behind);                         \
        loop__given(hook__thread(), is_given, (int64_t)*first, (int64_t)*behind); \
        return is_given;                                                          \
    } while (0)
#define BOUNDS(schedule, start, end, step, chunk)                                      \
    ((struct loop_bounds){schedule, (int64_t)(start), (int64_t)(end), (int64_t)(step), \
                          (int64_t)(chunk)})

#define CHUNKED(name, schedule)                                                                    \
    EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long *first, \
                                         long *behind)                                             \
    {                                                                                              \
        START(GOMP_loop_##name##_start, BOUNDS(schedule, start, end, step, chunk), first, behind,  \
              (start, end, step, chunk, first, behind));                                           \
    }                                                                                              \
    EXPORT bool GOMP_loop_##name##_next(long *first, long *behind)                                 \
    {                                                                                              \
        NEXT(GOMP_loop_##name##_next);                                                             \
    }                                                                                              \
    EXPORT bool GOMP_loop_ull_##name##_start(bool up, unsigned long start, unsigned long end,      \
                                             unsigned long step, unsigned long chunk,              \
                                             unsigned long *first, unsigned long *behind)          \
    {                                                                                              \
        START(GOMP_loop_ull_##name##_start, BOUNDS(schedule, start, end, step, chunk), first,      \
              behind, (up, start, end, step, chunk, first, behind));                               \
    }                                                                                              \
    EXPORT bool GOMP_loop_ull_##name##_next(unsigned long *first, unsigned long *behind)           \
    {                                                                                              \
        NEXT(GOMP_loop_ull_##name##_next);                                                         \
    }
CHUNKED_LOOPS(CHUNKED)

#define CHOSEN(name, schedule)                                                                    \
    EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long *first,            \
                                         long *behind)                                            \
    {                                                                                             \
        START(GOMP_loop_##name##_start, BOUNDS(schedule, start, end, step, 0), first, behind,     \
              (start, end, step, first, behind));                                                 \
    }                                                                                             \
    EXPORT bool GOMP_loop_##name##_next(long *first, long *behind)                                \
    {                                                                                             \
        NEXT(GOMP_loop_##name##_next);                                                            \
    }                                                                                             \
    EXPORT bool GOMP_loop_ull_##name##_start(bool up, unsigned long start, unsigned long end,     \
                                             unsigned long step, unsigned long *first,            \
                                             unsigned long *behind)                               \
    {                                                                                             \
        START(GOMP_loop_ull_##name##_start, BOUNDS(schedule, start, end, step, 0), first, behind, \
              (up, start, end, step, first, behind));                                             \
    }                                                                                             \
    EXPORT bool GOMP_loop_ull_##name##_next(unsigned long *first, unsigned long *behind)          \
    {                                                                                             \
        NEXT(GOMP_loop_ull_##name##_next);                                                        \
    }
RUNTIME_LOOPS(CHOSEN)

/* Of several loops in one the first is divided among threads. */
#define DOACROSS(name, schedule)                                                                 \
    EXPORT bool GOMP_loop_doacross_##name##_start(unsigned loops, long *counts, long chunk,      \
                                                  long *first, long *behind)                     \
    {                                                                                            \
        START(GOMP_loop_doacross_##name##_start,                                                 \
              BOUNDS((schedule) | HEURT_SCHEDULE_DOACROSS, 0, *counts, 1, chunk), first, behind, \
              (loops, counts, chunk, first, behind));                                            \
    }                                                                                            \
    EXPORT bool GOMP_loop_ull_doacross_##name##_start(unsigned loops, unsigned long *counts,     \
                                                      unsigned long chunk, unsigned long *first, \
                                                      unsigned long *behind)                     \
    {                                                                                            \
        START(GOMP_loop_ull_doacross_##name##_start,                                             \
              BOUNDS((schedule) | HEURT_SCHEDULE_DOACROSS, 0, *counts, 1, chunk), first, behind, \
              (loops, counts, chunk, first, behind));                                            \
    }
DOACROSS_LOOPS(DOACROSS)

EXPORT bool GOMP_loop_doacross_runtime_start(unsigned loops, long *counts, long *first,
                                             long *behind)
{
    START(GOMP_loop_doacross_runtime_start,
          BOUNDS(HEURT_SCHEDULE_RUNTIME | HEURT_SCHEDULE_DOACROSS, 0, *counts, 1, 0), first, behind,
          (loops, counts, first, behind));
}

EXPORT bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, unsigned long *counts,
                                                 unsigned long *first, unsigned long *behind)
{
    START(GOMP_loop_ull_doacross_runtime_start,
          BOUNDS(HEURT_SCHEDULE_RUNTIME | HEURT_SCHEDULE_DOACROSS, 0, *counts, 1, 0), first, behind,
          (loops, counts, first, behind));
}

/* ---- waits for iterations before --------------------------------------------------------------
 */

/* As many loops as one divides with others: more than anybody nests. Who passes fewer is read
 * beyond what it passes, where its frame is, and libgomp looks at none of that. */
#define SINK(name, number)                                                           \
    EXPORT void name(number first, ...)                                              \
    {                                                                                \
        __typeof__(&name) await = OPENMP_REAL(name);                                 \
        struct thread *thread = hook__thread();                                      \
        uint64_t since = sink__begin(thread);                                        \
        va_list list;                                                                \
        number at[9];                                                                \
        va_start(list, first);                                                       \
        for (unsigned i = 0; i < sizeof at / sizeof *at; i++)                        \
            at[i] = va_arg(list, number);                                            \
        va_end(list);                                                                \
        await(first, at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]); \
        sink__end(thread, SITE(0), since);                                           \
    }
SINK(GOMP_doacross_wait, long)
SINK(GOMP_doacross_ull_wait, unsigned long)

/* ---- loops with reductions of tasks ---------------------------------------------------------- */

#define IS_MONOTONIC (1l << 31) /* beside the number of a schedule, as libgomp passes it */

static uint64_t schedule_of(long number)
{
    uint64_t schedule = (uint64_t)(number & ~IS_MONOTONIC);
    return schedule <= HEURT_SCHEDULE_AUTO ? schedule : HEURT_SCHEDULE_RUNTIME;
}

/* Without a place for the first chunk it is asked for by the next call. */
#define START_REDUCED(name, bounds_, arguments)                               \
    do {                                                                      \
        const struct loop_bounds bounds = bounds_;                            \
        __typeof__(&name) start_loop = OPENMP_REAL(name);                     \
        struct thread *thread = hook__thread();                               \
        if (first)                                                            \
            loop__begin(thread, SITE(0), &bounds);                            \
        bool is_given = start_loop arguments;                                 \
        if (first)                                                            \
            loop__given(thread, is_given, (int64_t)*first, (int64_t)*behind); \
        return is_given;                                                      \
    } while (0)

#define REDUCED(name, beside)                                                                      \
    EXPORT bool GOMP_loop_##name(long start, long end, long step, long schedule, long chunk,       \
                                 long *first, long *behind, uintptr_t *reductions, void **memory)  \
    {                                                                                              \
        START_REDUCED(GOMP_loop_##name,                                                            \
                      BOUNDS(schedule_of(schedule) | (beside), start, end, step, chunk),           \
                      (start, end, step, schedule, chunk, first, behind, reductions, memory));     \
    }                                                                                              \
    EXPORT bool GOMP_loop_ull_##name(bool up, unsigned long start, unsigned long end,              \
                                     unsigned long step, long schedule, unsigned long chunk,       \
                                     unsigned long *first, unsigned long *behind,                  \
                                     uintptr_t *reductions, void **memory)                         \
    {                                                                                              \
        START_REDUCED(GOMP_loop_ull_##name,                                                        \
                      BOUNDS(schedule_of(schedule) | (beside), start, end, step, chunk),           \
                      (up, start, end, step, schedule, chunk, first, behind, reductions, memory)); \
    }
REDUCED(start, 0)
REDUCED(ordered_start, HEURT_SCHEDULE_ORDERED)

/* ---- ends ------------------------------------------------------------------------------------ */

EXPORT void GOMP_loop_end(void)
{
    loop__end(hook__thread());
    MEET(GOMP_loop_end, ());
}

EXPORT void GOMP_loop_end_nowait(void)
{
    loop__end(hook__thread());
    OPENMP_REAL(GOMP_loop_end_nowait)();
}

EXPORT bool GOMP_loop_end_cancel(void)
{
    loop__end(hook__thread());
    MEET_OR_CANCEL(GOMP_loop_end_cancel);
}

/* ---- sections, single ------------------------------------------------------------------------ */

#define START_SECTIONS(name, count, arguments)                                       \
    do {                                                                             \
        const struct loop_bounds bounds = {HEURT_SCHEDULE_SECTIONS, 0, count, 0, 0}; \
        __typeof__(&name) start_sections = OPENMP_REAL(name);                        \
        struct thread *thread = hook__thread();                                      \
        loop__begin(thread, SITE(0), &bounds);                                       \
        unsigned section = start_sections arguments;                                 \
        loop__given(thread, section, section, (int64_t)section + 1);                 \
        return section;                                                              \
    } while (0)

EXPORT unsigned GOMP_sections_start(unsigned count)
{
    START_SECTIONS(GOMP_sections_start, count, (count));
}

EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    START_SECTIONS(GOMP_sections2_start, count, (count, reductions, memory));
}

EXPORT unsigned GOMP_sections_next(void)
{
    unsigned section = OPENMP_REAL(GOMP_sections_next)();
    loop__given(hook__thread(), section, section, (int64_t)section + 1);
    return section;
}

EXPORT void GOMP_sections_end(void)
{
    loop__end(hook__thread());
    MEET(GOMP_sections_end, ());
}

EXPORT void GOMP_sections_end_nowait(void)
{
    loop__end(hook__thread());
    OPENMP_REAL(GOMP_sections_end_nowait)();
}

EXPORT bool GOMP_sections_end_cancel(void)
{
    loop__end(hook__thread());
    MEET_OR_CANCEL(GOMP_sections_end_cancel);
}

EXPORT bool GOMP_single_start(void)
{
    bool is_chosen = OPENMP_REAL(GOMP_single_start)();
    if (is_chosen)
        openmp__end(hook__thread(), SITE(0), HEURT_OPENMP_SINGLE, 0, 1, 0);
    return is_chosen;
}

/* NULL: this thread does it, and gives to the others what they wait for. */
EXPORT void *GOMP_single_copy_start(void)
{
    __typeof__(&GOMP_single_copy_start) start = OPENMP_REAL(GOMP_single_copy_start);
    struct openmp_meeting meeting = meeting__begin(__builtin_return_address(0));
    void *copied = start();
    if (copied)
        meeting__end(&meeting, SITE(HEURT_BARRIER_OPENMP));
    else
        openmp__end(hook__thread(), SITE(0), HEURT_OPENMP_SINGLE, 0, 1, 0);
    return copied;
}

EXPORT void GOMP_single_copy_end(void *copied)
{
    MEET(GOMP_single_copy_end, (copied));
}
