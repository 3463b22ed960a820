/* channel.h: what descriptors lead to. Nothing here is for under seccomp threads but where it says
 * so. */
#ifndef HEURT_RUNTIME_CHANNEL_H
#define HEURT_RUNTIME_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;

/* The word that IO events have of it. At its first use the thread gets a CHANNEL event. A file that
 * is used often, or synced, is named. Seccomp too. */
uint64_t descriptor__word(struct thread *thread, int descriptor, bool is_sync);
/* Likewise of a queue of messages, which many may write to and read from; descriptor: POSIX's, or
 * HEURT_QUEUE_OF System V's. */
uint64_t queue__word(struct thread *thread, int descriptor);
/* In a forked child: its files have no names yet, as it is a process of its own. */
void descriptors__forked(void);
/* Its number is another's from now on. Seccomp too. */
void descriptor__forget(int descriptor);
/* Writes a number in decimal, without a zero behind it; returns where it ends, 10 bytes on at most.
 */
char *number__put(char *end, uint32_t number);
/* The file's name as the kernel tells it. */
bool descriptor__path(int descriptor, char *path, size_t room);

/* What calls have just made; the thread records. Seccomp too. */
void channel__connected(struct thread *thread, int descriptor, bool accepted);
void channel__paired(struct thread *thread, const int ends[2]);
void channel__event_made(struct thread *thread, int descriptor);

#endif
