/* instructions.c: each thread counts its retired instructions (heurt record --instructions).
 *
 * The event is opened, its one page is mapped, and its descriptor is closed: the mapping keeps the
 * event.  It is pinned: either it counts all the time, or the count stands still, which readers
 * take for not recorded.
 *
 * A forked child does not have the mapping, and may run recorded code before it is known to be one
 * (or never be: a raw clone).  So the way to the page leads over a word in memory that the kernel
 * clears in children. */
#include "runtime/instructions.h"

#include "runtime/runtime.h"

#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define PAGE_BYTES 4096u

typedef const volatile struct perf_event_mmap_page *user_page;

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

static uint64_t read_counter(uint32_t counter)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    return (uint64_t)high << 32 | low;
}

/* NULL: this thread does not count. */
static user_page page_of(const struct thread *thread)
{
    return thread->instructions ? *(user_page *)thread->instructions : NULL;
}

static user_page open_page(void)
{
    static const struct perf_event_attr attributes = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .pinned = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    long descriptor = RAW6(perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (is_error(descriptor))
        return NULL;
    long memory = RAW6(mmap, 0, PAGE_BYTES, PROT_READ, MAP_SHARED, descriptor, 0);
    RAW1(close, descriptor);
    if (is_error(memory))
        return NULL;
    user_page page = (user_page)memory;
    if (page->cap_user_rdpmc)
        return page;
    RAW2(munmap, memory, PAGE_BYTES);
    return NULL;
}

/* Memory for the word that leads to the page, or NULL. */
static uint64_t *make_way(void)
{
    long memory =
        RAW6(mmap, 0, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(memory))
        return NULL;
    if (RAW3(madvise, memory, PAGE_BYTES, MADV_WIPEONFORK) == 0)
        return (uint64_t *)memory;
    RAW2(munmap, memory, PAGE_BYTES);
    return NULL;
}

static bool open_counter(struct thread *thread)
{
    user_page page = open_page();
    uint64_t *way = page ? make_way() : NULL;
    if (way) {
        *way = (uint64_t)page;
        thread->instructions = way;
    } else if (page) {
        RAW2(munmap, page, PAGE_BYTES);
    }
    return way;
}

static void say_once(void)
{
    if (!__atomic_exchange_n(&heurt_state.instructions_noted, true, __ATOMIC_RELAXED))
        define__note("Retired instructions are not counted in some threads, because they could not "
                     "open or map a counter when they began (no descriptor or locked memory left? "
                     "ulimit -n, ulimit -l).");
}

static bool is_wanted(void)
{
    return heurt_state.session->flags & HEURT_SESSION_INSTRUCTIONS;
}

void instructions__prepare(void)
{
    heurt_state.counts_instructions = is_wanted() && open_counter(&heurt_thread);
}

void instructions__begin(struct thread *thread)
{
    /* The child of a vfork has its parent's memory, not a record of its own. */
    if (!is_wanted() || thread->instructions || thread__in_seccomp(thread) ||
        (uint32_t)RAW0(getpid) != heurt_state.pid)
        return;
    if (!heurt_state.counts_instructions || !open_counter(thread))
        say_once();
}

void instructions__end(struct thread *thread)
{
    user_page page = page_of(thread);
    uint64_t *way = thread->instructions;
    thread->instructions = NULL;
    if (page)
        RAW2(munmap, page, PAGE_BYTES);
    if (way)
        RAW2(munmap, way, PAGE_BYTES);
}

void instructions__forget(struct thread *thread)
{
    instructions__end(thread); /* the way leads nowhere in a child */
}

void instructions__write(struct thread *thread)
{
    user_page page = page_of(thread);
    uint64_t count;
    if (!page)
        return;
    clock__settle(); /* what was done before is to be counted */
    if (instructions__count(page, read_counter, &count))
        event__write1(thread, HEURT_EVENT_INSTRUCTIONS, count);
}
