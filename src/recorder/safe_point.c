#include "recorder/safe_point.h"

#include "base/memory.h"
#include "kernel/process_map.h"
#include "kernel/remote_call.h"

#include <stdlib.h>
#include <sys/syscall.h>

#define STACK_LOOKED_AT (256u << 10)
#define STACK_NEAR (16u << 10) /* in which a handler's frame lies above the code that it runs */

static bool waits(const struct stopped_thread *thread)
{
    static const uint16_t calls[] = {
        SYS_futex,     SYS_poll,         SYS_ppoll,           SYS_select,
        SYS_pselect6,  SYS_epoll_wait,   SYS_epoll_pwait,     441 /* epoll_pwait2 */,
        SYS_nanosleep, SYS_read,         SYS_clock_nanosleep, SYS_readv,
        SYS_recvfrom,  SYS_recvmsg,      SYS_accept,          SYS_accept4,
        SYS_wait4,     SYS_waitid,       SYS_rt_sigtimedwait, SYS_rt_sigsuspend,
        SYS_pause,     SYS_io_getevents, SYS_restart_syscall, SYS_semop,
        SYS_msgrcv,    SYS_semtimedop,   SYS_mq_timedreceive,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == thread->registers.orig_rax)
            return true;
    return false;
}

static bool is_unsafe(const struct remote_image *image, uint64_t address)
{
    VEC_EACH (range, &image->unsafe, const struct address_range)
        if (address_range__has(range, address))
            return true;
    return address_range__has(&image->library, address);
}

/* Of the stack from the thread's stack pointer on; the words, to be freed. */
static uint64_t *read_stack(const struct stop *stop, const struct stopped_thread *thread,
                            const struct remote_image *image, size_t most, size_t *count)
{
    uint64_t from = thread->registers.rsp & ~7ull;
    const struct mapped_range *range = process_map__find(&image->maps, from);
    size_t bytes = range ? range->end - from : 0;
    bytes = bytes < most ? bytes : most;
    uint64_t *words = memory__zeroed(bytes / 8 + 1, sizeof *words);
    *count = bytes && stop__read(stop, from, words, bytes & ~7ull) ? bytes / 8 : 0;
    return words;
}

/* Whether a call stands before that address: of a near address, or through a register or memory. */
static bool is_behind_call(const struct stop *stop, uint64_t address)
{
    uint8_t code[8];
    if (!stop__read(stop, address - 8, code, sizeof code))
        return false;
    for (unsigned length = 2; length <= 7; length++)
        if (code[8 - length] == 0xff && (code[9 - length] >> 3 & 7) == 2)
            return true;
    return code[3] == 0xe8;
}

bool safe_point__has_room(const struct stopped_thread *thread, const struct remote_image *image)
{
    uint64_t at = thread->registers.rsp;
    const struct mapped_range *range = process_map__find(&image->maps, at);
    return range && range->writable && (range->is_stack || at - range->start > REMOTE_CALL_STACK);
}

bool safe_point__is(const struct stop *stop, const struct stopped_thread *thread,
                    const struct remote_image *image)
{
    uint64_t at = thread->registers.rip;
    bool is_in_call = (int64_t)thread->registers.orig_rax >= 0;
    if (thread->signal || thread->by_job_control || !safe_point__has_room(thread, image) ||
        is_unsafe(image, at) ||
        (is_in_call ? !waits(thread) : address_range__has(&image->libc, at)))
        return false;
    size_t count;
    uint64_t *words = read_stack(stop, thread, image, STACK_LOOKED_AT, &count);
    bool is_safe = count > 0;
    for (size_t i = 0; i < count && is_safe; i++)
        is_safe = words[i] != image->restorer &&
                  !(is_unsafe(image, words[i]) && is_behind_call(stop, words[i]) &&
                    !address_range__has(&image->library, words[i]));
    free(words);
    return is_safe;
}

bool safe_point__is_within_library(const struct stop *stop, const struct stopped_thread *thread,
                                   const struct remote_image *image)
{
    if (address_range__has(&image->library, thread->registers.rip))
        return true;
    size_t count;
    uint64_t *words = read_stack(stop, thread, image, STACK_NEAR, &count);
    bool is_within = false;
    for (size_t i = 0; i < count && !is_within; i++)
        is_within =
            address_range__has(&image->library, words[i]) && !is_behind_call(stop, words[i]);
    free(words);
    return is_within;
}
