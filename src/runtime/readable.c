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

/* Above who asks, on the thread's own stack. */
static bool is_on_stack(uint64_t from, size_t bytes)
{
    const struct thread *thread = &heurt_thread;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return here >= thread->stack_low && here < thread->stack_high && from >= here &&
           from < thread->stack_high && bytes <= thread->stack_high - from;
}

/* A checker of memory (valgrind) shall not take for the program's what is asked here: this sequence
 * of instructions without effect is its. change: 1 before, -1 after. */
static void silence_checker(long change)
{
    const long request[6] = {0x1804 /* CHANGE_ERR_DISABLEMENT */, change};
    long result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(request)
                     : "cc", "memory");
}

/* A mask of signals is read from there before the kernel finds that there is no such way to set it:
 * the cheapest of questions (0.13 us; process_vm_readv takes 2). */
static bool page__is_readable(uint64_t page)
{
    return page && RAW4(rt_sigprocmask, -1, page, NULL, 8) != -RAW_EFAULT;
}

bool memory__is_readable(const void *from, size_t bytes)
{
    uint64_t at = (uint64_t)from, end = at + bytes;
    bool is_readable = true;
    if (bytes == 0 || is_on_stack(at, bytes))
        return true;
    if (end < at || thread__in_seccomp(&heurt_thread))
        return false;
    silence_checker(1);
    for (at &= ~(PAGE_BYTES - 1); at < end && is_readable; at += PAGE_BYTES)
        is_readable = page__is_readable(at);
    silence_checker(-1);
    return is_readable;
}

bool memory__copy(void *to, const void *from, size_t bytes)
{
    bool is_readable = memory__is_readable(from, bytes);
    if (is_readable)
        bytes__copy(to, from, bytes);
    return is_readable;
}

bool memory__copy_of_others(void *to, const void *from, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
    if (!is_on_stack((uint64_t)from, bytes) && !thread__in_seccomp(&heurt_thread))
        return RAW6(process_vm_readv, RAW0(getpid), &local, 1, &remote, 1, 0) == (long)bytes;
    bytes__copy(to, from, bytes);
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
