/* readable.c: memory that the program hands to a call, and that is looked at here before the call
 * is made. Where it cannot be read the kernel answers EFAULT, and that answer is the program's: who
 * looks must not fail on it.
 *
 * The stack of the thread is there without a question. All else the kernel is asked for, in the
 * process that calls: between vfork and exec that is not the one of the record. */
#include "runtime/readable.h"
#include "runtime/runtime.h"

#include <sys/uio.h>

#define RAW_EFAULT 14
#define PAGE_BYTES 4096ull
#define NO_PAGE 1ull
#define PAGES_MOST 8u /* asked for in one call */

/* Above who asks, on the thread's own stack. */
static bool is_on_stack(uint64_t from, size_t bytes)
{
    const struct thread *thread = &heurt_thread;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return here >= thread->stack_low && here < thread->stack_high && from >= here &&
           from < thread->stack_high && bytes <= thread->stack_high - from;
}

/* Bytes that were copied, or a negative errno. */
static long copy_asking(const struct iovec *to, const struct iovec *from, unsigned parts)
{
    return RAW6(process_vm_readv, RAW0(getpid), to, 1, from, parts, 0);
}

bool memory__copy(void *to, const void *from, size_t bytes)
{
    if (!is_on_stack((uint64_t)from, bytes)) {
        if (thread__in_seccomp(&heurt_thread))
            return false;
        long copied =
            copy_asking(&(struct iovec){to, bytes}, &(struct iovec){(void *)from, bytes}, 1);
        if (copied == (long)bytes)
            return true;
        if (copied >= 0 || copied == -RAW_EFAULT)
            return false;
    } /* else a container forbids the question */
    bytes__copy(to, from, bytes);
    return true;
}

/* A byte of each page says it for all of it. */
static bool pages__are_readable(uint64_t first, unsigned count)
{
    char bytes[PAGES_MOST];
    struct iovec from[PAGES_MOST];
    for (unsigned i = 0; i < count; i++)
        from[i] = (struct iovec){(void *)(first + i * PAGE_BYTES), 1};
    long copied = copy_asking(&(struct iovec){bytes, count}, from, count);
    return copied == (long)count || (copied < 0 && copied != -RAW_EFAULT);
}

bool memory__is_readable(const void *from, size_t bytes)
{
    uint64_t at = (uint64_t)from, end = at + bytes;
    if (bytes == 0 || is_on_stack(at, bytes))
        return true;
    if (end < at || thread__in_seccomp(&heurt_thread))
        return false;
    for (at &= ~(PAGE_BYTES - 1); at < end; at += PAGES_MOST * PAGE_BYTES) {
        uint64_t left = (end - at + PAGE_BYTES - 1) / PAGE_BYTES;
        if (!pages__are_readable(at, left < PAGES_MOST ? (unsigned)left : PAGES_MOST))
            return false;
    }
    return true;
}

/* Texts that lie one behind the other are often of one page: *page is the last one that was asked
 * for. */
static bool text__is_readable(const char *text, uint64_t *page)
{
    for (;; text++) {
        if (((uint64_t)text & ~(PAGE_BYTES - 1)) != *page) {
            if (!memory__is_readable(text, 1))
                return false;
            *page = (uint64_t)text & ~(PAGE_BYTES - 1);
        }
        if (!*text)
            return true;
    }
}

bool texts__are_readable(char *const *texts)
{
    uint64_t page_of_list = NO_PAGE, page = NO_PAGE;
    for (; texts; texts++) {
        if (((uint64_t)texts & ~(PAGE_BYTES - 1)) != page_of_list) {
            if (!memory__is_readable(texts, sizeof *texts))
                return false;
            page_of_list = (uint64_t)texts & ~(PAGE_BYTES - 1);
        }
        if (!*texts)
            break;
        if (!text__is_readable(*texts, &page))
            return false;
    }
    return true;
}
