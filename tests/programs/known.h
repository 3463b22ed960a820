/* known.h: what the programs share whose truth is known by construction.
 *
 * A program prints one line "key=value" for each count that it injected.  What it needs to arrange
 * that (waiting for another thread, looking at its state) is done by atomics and bare system calls,
 * never by calls that heurt hooks, so that the printed counts are all there is.  C and C++. */
#ifndef HEURT_TESTS_KNOWN_H
#define HEURT_TESTS_KNOWN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A function that stays a function of its own, called as written. */
#if defined(__clang__)
#define KNOWN_FUNCTION __attribute__((noinline, used))
#else
#define KNOWN_FUNCTION __attribute__((noipa, used))
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KNOWN_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KNOWN_ADDRESS_SANITIZER
#endif
#endif

#define KNOWN_CHECK(condition)                                                                \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, \
                    errno);                                                                   \
            _exit(99);                                                                        \
        }                                                                                     \
    } while (0)

static inline void known__number(const char *key, long long value)
{
    printf("%s=%lld\n", key, value);
}

static inline void known__address(const char *key, const void *address)
{
    printf("%s=0x%llx\n", key, (unsigned long long)(uintptr_t)address);
}

/* For the torture suite (tests/torture/truth.h): how often a function was entered; how many of
 * these entries never left it; and that it may be left alone for a reason that holds this text (or
 * one of several, with a '|' between them). */
static inline void known__count(const char *function, long long entered)
{
    printf("count %s %lld\n", function, entered);
}

static inline void known__unfinished(const char *function, long long entries)
{
    printf("unfinished %s %lld\n", function, entries);
}

/* These were left by a jump that no library tells of (longjmp): ended or not, both is true. */
static inline void known__abandoned(const char *function, long long entries)
{
    printf("abandoned %s %lld\n", function, entries);
}

/* So many more or less may have been recorded: they were ended in the middle of it. */
static inline void known__uncertain(const char *function, long long entries)
{
    printf("uncertain %s %lld\n", function, entries);
}

static inline void known__refusable(const char *function, const char *reason)
{
    printf("refused %s %s\n", function, reason);
}

static inline int known__tid(void)
{
    return (int)syscall(SYS_gettid);
}

/* sched_yield that no hook sees. */
static inline void known__yield(void)
{
    syscall(SYS_sched_yield);
}

static inline void known__await(const int *flag, int value)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
        known__yield();
}

/* The content of /proc/self/task/TID/NAME as text, by bare system calls; false when unreadable. */
static inline bool known__task_file(int tid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
    long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    long got = syscall(SYS_read, descriptor, text, size - 1);
    syscall(SYS_close, descriptor);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Whether the thread sleeps in the kernel; where the kernel tells which system call it sleeps in
 * and address is not NULL: in futex(2) on a word of the object at address. A timed wait that was
 * interrupted (who patches stops all threads for a moment) goes on in another system call, which
 * tells no word. */
static inline bool known__sleeps(int tid, const void *address, size_t bytes)
{
    char text[512];
    unsigned long long number, word;
    if (known__task_file(tid, "syscall", text, sizeof text)) {
        if (sscanf(text, "%llu 0x%llx", &number, &word) != 2)
            return false; /* "running" */
        return !address || number == SYS_restart_syscall ||
               (number == SYS_futex && word - (uintptr_t)address < bytes);
    }
    if (!known__task_file(tid, "stat", text, sizeof text))
        return false;
    const char *after_name = strrchr(text, ')');
    return after_name && after_name[1] == ' ' && after_name[2] == 'S';
}

static inline void known__await_sleep(int tid, const void *address, size_t bytes)
{
    while (!known__sleeps(tid, address, bytes))
        known__yield();
}

/* A file of its own, with no name left; descriptor by a bare system call. */
static inline int known__temporary_file(void)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/heurt-known-%d-%d", directory ? directory : "/tmp",
             (int)getpid(), known__tid());
    int descriptor =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    KNOWN_CHECK(descriptor >= 0);
    syscall(SYS_unlink, path);
    return descriptor;
}

#endif
