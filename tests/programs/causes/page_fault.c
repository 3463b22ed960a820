/* All calls touch the same pages; before some of them the kernel was given these back.
 * --cure: it never is. */
#include "cause.h"

#include <sys/mman.h>

enum { PAGES = 256, PAGE_BYTES = 4096 };
static char *memory[2];
static bool cured;

KNOWN_FUNCTION void work(struct cause_thread *thread, unsigned long amount)
{
    cause__compute(amount);
    injected__begin(thread);
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)&memory[thread->number][i * PAGE_BYTES] = 1;
    injected__end(thread, 0);
}

static unsigned long prepare(struct cause_thread *thread)
{
    cause__rest_us(cause__draw(thread, 50));
    if (cause__draw(thread, 2) && !cured)
        KNOWN_CHECK(madvise(memory[thread->number], PAGES * PAGE_BYTES, MADV_DONTNEED) == 0);
    return 50000;
}

int main(int count, char **words)
{
    cured = cause__read(count, words);
    for (unsigned i = 0; i < 2; i++) {
        memory[i] = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        KNOWN_CHECK(memory[i] != MAP_FAILED);
        madvise(memory[i], PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    }
    return cause__run(&(struct cause){.name = "page_fault",
                                      .parts = {"page_fault"},
                                      .threads = 2,
                                      .calls = 800,
                                      .prepare = prepare});
}
