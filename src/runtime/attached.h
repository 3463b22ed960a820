/* attached.h: what differs in the library that a running process gets (libheurt-attach.so).
 *
 * It is the same source, built with HEURT_ATTACHED. A library that comes late gets hardly any of
 * the memory that lies at a fixed place in each thread: there is a pointer, and the rest is mapped
 * when a thread makes its first call that is seen. Nothing is interposed: the modules' own places
 * of addresses (GOT) are led here (slots.h). It stays loaded when a recording has ended, and is
 * used again by the next one: threads may still be in calls that they made through it. */
#ifndef HEURT_RUNTIME_ATTACHED_H
#define HEURT_RUNTIME_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

#ifdef HEURT_ATTACHED
/* Members of struct thread. */
#define THREAD_ATTACHED   \
    struct thread *older; \
    uint32_t tid; /* (atomic) 0: nobody's */

/* Where the functions behind ours are: a library that was opened is behind nobody. */
#define BEHIND_US RTLD_DEFAULT

/* The calling thread's record begins; with signals blocked. */
void attached__thread_begins(struct thread *thread);
/* Whether the recorder still lives; when not, nothing more is recorded. A system call or three. */
bool attached__is_served(void);
/* In a forked child: it is not recorded. True. */
bool attached__forked(void);
/* Gives SIGBUS back (hook_signal.c). */
void trace__unguard(void);
/* Empties pages that are kept for the next recording. NULL is allowed. */
void *pages__again(void *pages, uint64_t bytes);
#else
#define THREAD_ATTACHED
#define BEHIND_US RTLD_NEXT
static inline void attached__thread_begins(struct thread *thread)
{
    (void)thread;
}
static inline bool attached__is_served(void)
{
    return true;
}
static inline bool attached__forked(void)
{
    return false;
}
static inline void *pages__again(void *pages, uint64_t bytes)
{
    (void)bytes;
    return pages;
}
#endif

#endif
