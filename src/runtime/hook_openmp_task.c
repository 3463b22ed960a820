/* hook_openmp_task.c: tasks of libgomp, as they are made and run, and waits for them.
 *
 * libgomp gets a function of ours to run, and in front of what it keeps for the task a header that
 * tells the program's:
 *
 *     |header: routine, site, who made it |padding |the program's own data          |
 *
 * libgomp copies by a function of ours, too, which writes both; so what the program passes is read
 * as ever, once. What libgomp writes to the begin of what it is given, or has copied, it writes to
 * the header: bounds of a taskloop, the event that ends a detached task. */
#include "runtime/openmp_hooks.h"

#define FLAG_NO_GROUP (1u << 11)
#define FLAG_REDUCTION (1u << 12)
#define FLAG_DETACH (1u << 13)

struct task_header {
    uint64_t bounds[2]; /* of a taskloop, or an event: libgomp writes them to what it has copied, */
    uint64_t reductions; /* and looks for these in what it is given */
    void (*routine)(void *);
    void (*copy)(void *, void *); /* NULL: bytes */
    void *data;                   /* the maker's, until they are copied */
    uint64_t bytes, offset;       /* of the program's data, behind this */
    uint64_t site;
    const struct thread *maker; /* not followed */
    unsigned written;           /* words that libgomp writes, and the program's data begin with */
};

static void task__copy(void *to, void *from)
{
    const struct task_header *task = from;
    char *data = (char *)to + task->offset;
    *(struct task_header *)to = *task;
    if (task->copy)
        task->copy(data, task->data);
    else
        bytes__copy(data, task->data, task->bytes);
}

/* Ticks of the task alone, then of all: what it waits for, and tasks that it runs meanwhile, are in
 * the second alone. */
static void task__told(struct thread *thread, const struct task_header *task, uint64_t since,
                       uint64_t wait_before)
{
    struct openmp_frame *frame = &thread->openmp.frame;
    uint64_t ticks = clock__tick() - since, waited = frame->wait_ticks;
    openmp__add(thread, SUM_TASK, task->site, ticks > waited ? ticks - waited : 0,
                task->maker != thread);
    frame->wait_ticks = wait_before;
    frame->task_ticks += ticks;
}

static void task__run(void *argument)
{
    const struct task_header task = *(const struct task_header *)argument;
    uint64_t *data = (uint64_t *)((char *)argument + task.offset);
    struct thread *thread = hook__thread();
    for (unsigned i = 0; i < task.written; i++)
        data[i] = task.bounds[i];
    if (!thread) {
        task.routine(data);
        return;
    }
    uint64_t wait_before = thread->openmp.frame.wait_ticks;
    bool was_told = thread->openmp.is_told;
    thread->openmp.frame.wait_ticks = 0;
    thread->openmp.is_told = false;
    uint64_t since = clock__tick();
    task.routine(data);
    if (!(thread = hook__thread()))
        return;
    task__told(thread, &task, since, wait_before);
    thread->openmp.is_told = was_told;
}

void openmp_wait__made(const struct openmp_wait *making, struct thread *thread, uint64_t site)
{
    struct openmp_frame *frame = &thread->openmp.frame;
    uint64_t ticks = clock__tick() - making->since, run = frame->task_ticks;
    frame->task_ticks = making->tasks_before;
    thread->openmp.is_told = making->was_told;
    frame->wait_ticks += ticks;
    openmp__add(thread, SUM_TASK_MADE, site, ticks > run ? ticks - run : 0, 0);
}

void openmp_wait__tasks(const struct openmp_wait *wait, struct thread *thread, uint64_t site)
{
    uint64_t idle;
    if (!thread)
        return;
    uint64_t ticks = openmp_wait__end(wait, thread, &idle);
    openmp__add(thread, SUM_TASKWAIT, site, ticks, idle);
}

static struct task_header task__of(const struct thread *maker, uint64_t site,
                                   void (*routine)(void *), void *data,
                                   void (*copy)(void *, void *), long bytes, long *alignment)
{
    uint64_t least = *alignment > (long)_Alignof(struct task_header) ? (uint64_t)*alignment
                                                                     : _Alignof(struct task_header);
    *alignment = (long)least;
    return (struct task_header){.routine = routine,
                                .copy = copy,
                                .data = data,
                                .bytes = (uint64_t)bytes,
                                .offset = (sizeof(struct task_header) + least - 1) / least * least,
                                .site = site,
                                .maker = maker};
}

EXPORT void GOMP_task(void (*routine)(void *), void *data, void (*copy)(void *, void *), long bytes,
                      long alignment, bool is_deferred, unsigned flags, void **depend, int priority,
                      void *detach)
{
    __typeof__(&GOMP_task) make = OPENMP_REAL(GOMP_task);
    struct thread *thread = hook__thread();
    openmp__has_tasks();
    if (!thread) {
        make(routine, data, copy, bytes, alignment, is_deferred, flags, depend, priority, detach);
        return;
    }
    struct task_header task =
        task__of(thread, openmp__place(routine), routine, data, copy, bytes, &alignment);
    task.written = flags & FLAG_DETACH ? 1 : 0;
    struct openmp_wait making;
    openmp_wait__begin(&making, thread);
    make(task__run, &task, task__copy, (long)(task.offset + task.bytes), alignment, is_deferred,
         flags, depend, priority, detach);
    openmp_wait__made(&making, thread, task.site);
}

/* The data begin with the bounds that libgomp fills in; it gives each task its own. But for those
 * without a group the call waits for its tasks. */
#define TASKLOOP(name)                                                                             \
    EXPORT void name(void (*routine)(void *), void *data, void (*copy)(void *, void *),            \
                     long bytes, long alignment, unsigned flags, unsigned long tasks,              \
                     int priority, long start, long end, long step)                                \
    {                                                                                              \
        __typeof__(&name) make = OPENMP_REAL(name);                                                \
        struct thread *thread = hook__thread();                                                    \
        openmp__has_tasks();                                                                       \
        if (!thread) {                                                                             \
            make(routine, data, copy, bytes, alignment, flags, tasks, priority, start, end, step); \
            return;                                                                                \
        }                                                                                          \
        struct task_header task =                                                                  \
            task__of(thread, openmp__place(routine), routine, data, copy, bytes, &alignment);      \
        task.written = 2;                                                                          \
        if (flags & FLAG_REDUCTION)                                                                \
            task.reductions = ((const uint64_t *)data)[2];                                         \
        struct openmp_wait making;                                                                 \
        openmp_wait__begin(&making, thread);                                                       \
        make(task__run, &task, task__copy, (long)(task.offset + task.bytes), alignment, flags,     \
             tasks, priority, start, end, step);                                                   \
        if (flags & FLAG_NO_GROUP)                                                                 \
            openmp_wait__made(&making, thread, task.site);                                         \
        else                                                                                       \
            openmp_wait__tasks(&making, thread, task.site);                                        \
    }
TASKLOOP(GOMP_taskloop)
TASKLOOP(GOMP_taskloop_ull)

/* ---- waits ----------------------------------------------------------------------------------- */

#define AWAIT(name, arguments)                       \
    do {                                             \
        __typeof__(&name) await = OPENMP_REAL(name); \
        struct thread *thread = hook__thread();      \
        struct openmp_wait wait;                     \
        openmp_wait__begin(&wait, thread);           \
        await arguments;                             \
        openmp_wait__tasks(&wait, thread, SITE(0));  \
    } while (0)

EXPORT void GOMP_taskwait(void)
{
    AWAIT(GOMP_taskwait, ());
}

EXPORT void GOMP_taskwait_depend(void **depend)
{
    AWAIT(GOMP_taskwait_depend, (depend));
}

EXPORT void GOMP_taskyield(void)
{
    AWAIT(GOMP_taskyield, ());
}

EXPORT void GOMP_taskgroup_end(void)
{
    AWAIT(GOMP_taskgroup_end, ());
}
