/* instructions.h: retired instructions of a thread, read from its own perf event without a system
 * call. */
#ifndef HEURT_RUNTIME_INSTRUCTIONS_H
#define HEURT_RUNTIME_INSTRUCTIONS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* How often a reading is begun anew before it is given up: the kernel writes to the page only when
 * it switches the thread. */
#define INSTRUCTIONS_TRIES 100u

/* The count of a self-monitoring event by the protocol of <linux/perf_event.h>: offset, and while
 * the event is on a counter (index, counted from 1) also what that holds, a number of pmc_width
 * bits with sign. lock is odd, or has changed, when the kernel wrote meanwhile. read_counter: the
 * rdpmc instruction. False: the counter must not be read, or there was no quiet moment. */
static inline bool instructions__count(const volatile struct perf_event_mmap_page *page,
                                       uint64_t (*read_counter)(uint32_t counter), uint64_t *count)
{
    for (unsigned tries = 0; tries < INSTRUCTIONS_TRIES; tries++) {
        uint32_t lock = page->lock, index;
        __asm__ volatile("" : : : "memory");
        uint64_t sum = (uint64_t)page->offset;
        unsigned width = page->pmc_width;
        bool readable = page->cap_user_rdpmc;
        index = page->index;
        if (readable && index && (width == 0 || width > 64))
            return false;
        if (readable && index) {
            uint64_t value = read_counter(index - 1) << (64 - width);
            sum += (uint64_t)((int64_t)value >> (64 - width));
        }
        __asm__ volatile("" : : : "memory");
        if (lock & 1 || page->lock != lock)
            continue;
        *count = sum;
        return readable;
    }
    return false;
}

struct thread;

/* Finds out whether there is a counter (HEURT_SESSION_INSTRUCTIONS); of the main thread, before
 * anything is calibrated. */
void instructions__prepare(void);
/* The calling thread's record begins, ends, or is another process's. */
void instructions__begin(struct thread *thread);
void instructions__end(struct thread *thread);
void instructions__forget(struct thread *thread);
/* The slow path of instructions__tell (runtime.h). */
void instructions__write(struct thread *thread);

#endif
