/* hook_ipc.c: what processes share by a number of the system: queues of messages (POSIX, System V),
 * and System V's semaphores.
 *
 * A queue is a channel, as a pipe is: a message is told with its bytes, also where the call returns
 * 0. A semaphore that is to be taken is tried first, as sem_wait does; the object is made of the
 * set's number and the place in it, the same in all processes. Of a call that changes several, the
 * first one that may wait is told as waited for. Waits for zero are not told. */
#include "runtime/channel.h"
#include "runtime/readable.h"
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <errno.h>

static struct thread *ipc_thread(void)
{
    struct thread *thread = hook__thread();
    return thread && !thread__in_seccomp(thread) ? thread : NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct thread *message__begin(uint64_t site, int descriptor, size_t bytes)
{
    struct thread *thread = ipc_thread();
    if (thread) {
        hook__stack(thread, site, (void *)(intptr_t)descriptor);
        event__write3(thread, HEURT_EVENT_IO, site, queue__word(thread, descriptor), bytes);
    }
    return thread;
}

static void message__end(struct thread *thread, int64_t bytes)
{
    if (thread)
        event__write1(thread, HEURT_EVENT_IO | 1, (uint64_t)bytes);
}

#define SEND(call, descriptor, bytes, real)                                               \
    do {                                                                                  \
        struct thread *thread = message__begin(SITE(HEURT_IO_##call), descriptor, bytes); \
        int result = real;                                                                \
        message__end(thread, result == 0 ? (int64_t)(bytes) : result);                    \
        return result;                                                                    \
    } while (0)

#define RECEIVE(call, descriptor, bytes, real)                                            \
    do {                                                                                  \
        struct thread *thread = message__begin(SITE(HEURT_IO_##call), descriptor, bytes); \
        ssize_t result = real;                                                            \
        message__end(thread, result);                                                     \
        return result;                                                                    \
    } while (0)

EXPORT int mq_send(mqd_t queue, const char *message, size_t bytes, unsigned priority)
{
    SEND(MQ_SEND, queue, bytes, REAL(mq_send)(queue, message, bytes, priority));
}

EXPORT int mq_timedsend(mqd_t queue, const char *message, size_t bytes, unsigned priority,
                        const struct timespec *until)
{
    SEND(MQ_SEND, queue, bytes, REAL(mq_timedsend)(queue, message, bytes, priority, until));
}

EXPORT ssize_t mq_receive(mqd_t queue, char *message, size_t bytes, unsigned *priority)
{
    RECEIVE(MQ_RECEIVE, queue, bytes, REAL(mq_receive)(queue, message, bytes, priority));
}

EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t bytes,
                               unsigned *restrict priority, const struct timespec *restrict until)
{
    RECEIVE(MQ_RECEIVE, queue, bytes,
            REAL(mq_timedreceive)(queue, message, bytes, priority, until));
}

EXPORT int mq_close(mqd_t queue)
{
    descriptor__forget(queue);
    return REAL(mq_close)(queue);
}

EXPORT int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
    SEND(MSGSND, HEURT_QUEUE_OF(queue), bytes, REAL(msgsnd)(queue, message, bytes, flags));
}

EXPORT ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
    RECEIVE(MSGRCV, HEURT_QUEUE_OF(queue), bytes, REAL(msgrcv)(queue, message, bytes, type, flags));
}

/* ---- semaphores ------------------------------------------------------------------------------ */

#define OPERATIONS_MOST 16 /* of a call; one that does more is passed on */
#define RAW_EAGAIN 11

static const void *semaphore_of(int set, unsigned short number)
{
    return (const void *)(HEURT_SHARED_OBJECT | (uint64_t)(uint32_t)set << 16 | number);
}

static void tell_name(int set, unsigned short number)
{
    char name[48], *end = number__put(name, number);
    for (const char *of = " of set "; *of; of++)
        *end++ = *of;
    *number__put(end, (uint32_t)set) = 0;
    define__object(semaphore_of(set, number), name);
}

/* The first operation that takes; NULL: none does. */
static const struct sembuf *taking(const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op < 0)
            return &operations[i];
    return NULL;
}

static void tell_posts(struct thread *thread, uint64_t site, int set,
                       const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op > 0)
            event__write2(thread, HEURT_EVENT_SEMAPHORE_POSTED, site,
                          (uintptr_t)semaphore_of(set, operations[i].sem_num));
}

static void tell_taken(struct thread *thread, uint64_t site, int set, const struct sembuf *take)
{
    const void *object = semaphore_of(set, take->sem_num);
    if (hook__leaves_out(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED))
        return;
    hook__stack(thread, site, object);
    event__write2(thread, HEURT_EVENT_SEMAPHORE_ACQUIRED, site, (uintptr_t)object);
}

/* As the system does it, but that it does not wait: 0, or a negative errno. */
static long try_all(int set, const struct sembuf *operations, size_t count)
{
    struct sembuf tried[OPERATIONS_MOST];
    for (size_t i = 0; i < count; i++) {
        tried[i] = operations[i];
        tried[i].sem_flg |= IPC_NOWAIT;
    }
    return RAW3(semop, set, tried, count);
}

static int wait_for(struct thread *thread, uint64_t site, int set, struct sembuf *operations,
                    size_t count, const struct timespec *limit, const struct sembuf *take)
{
    const void *object = semaphore_of(set, take->sem_num);
    hook__stack(thread, site, object);
    event__write2(thread, HEURT_EVENT_SEMAPHORE_WAIT, site, (uintptr_t)object);
    uint64_t since = clock__tick();
    int result = limit ? REAL(semtimedop)(set, operations, count, limit)
                       : REAL(semop)(set, operations, count);
    int error = errno;
    wait__end(thread, HEURT_EVENT_SEMAPHORE_WAIT | 1, since, (uint64_t)(int64_t)result);
    tell_name(set, take->sem_num);
    errno = error;
    return result;
}

static int operate(uint64_t site, int set, struct sembuf *operations, size_t count,
                   const struct timespec *limit)
{
    struct thread *thread = count && count <= OPERATIONS_MOST ? ipc_thread() : NULL;
    if (!thread || !memory__is_readable(operations, count * sizeof *operations))
        return limit ? REAL(semtimedop)(set, operations, count, limit)
                     : REAL(semop)(set, operations, count);
    const struct sembuf *take = taking(operations, count);
    if (!take) {
        tell_posts(thread, site, set, operations, count);
        return limit ? REAL(semtimedop)(set, operations, count, limit)
                     : REAL(semop)(set, operations, count);
    }
    long tried = try_all(set, operations, count);
    if (tried == 0)
        tell_taken(thread, site, set, take);
    bool waits = tried == -RAW_EAGAIN && !(take->sem_flg & IPC_NOWAIT);
    int result = tried == 0 ? 0
                 : waits    ? wait_for(thread, site, set, operations, count, limit, take)
                 : limit    ? REAL(semtimedop)(set, operations, count, limit)
                            : REAL(semop)(set, operations, count);
    if (result == 0)
        tell_posts(thread, site, set, operations, count);
    return result;
}

EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
    return operate(SITE(0), set, operations, count, NULL);
}

EXPORT int semtimedop(int set, struct sembuf *operations, size_t count,
                      const struct timespec *limit)
{
    return operate(SITE(0), set, operations, count, limit);
}
