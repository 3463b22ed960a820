/* place_known.c: allocates 1 MiB by each call that libheurt-place.so knows, each in a function of
 * its own (make_malloc, make_calloc, …), then prints a line "NAME=MODE" for each: the kernel's
 * memory policy at its middle: 0 is none, 1 is a preferred node, 3 is interleaving. "-": the kernel
 * does not tell. The variable "table" has one of these lines, too. Ends with "sum=N" of what it
 * wrote, which is 7. */
#include <linux/mempolicy.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ALIGNMENT = 4096 };

unsigned char table[2 * BYTES] __attribute__((aligned(4096)));

#define MAKER __attribute__((noinline)) static void *
/* Nothing may follow the call within it but what makes it no jump. */
#define KEPT(call)                     \
    void *made = call;                 \
    __asm__ volatile("" ::: "memory"); \
    return made

MAKER make_malloc(void)
{
    KEPT(malloc(BYTES));
}

MAKER make_calloc(void)
{
    KEPT(calloc(2, BYTES / 2));
}

MAKER make_realloc(void)
{
    KEPT(realloc(NULL, BYTES));
}

MAKER make_aligned_alloc(void)
{
    KEPT(aligned_alloc(ALIGNMENT, BYTES));
}

MAKER make_memalign(void)
{
    KEPT(memalign(ALIGNMENT, BYTES));
}

MAKER make_posix_memalign(void)
{
    void *made = NULL;
    if (posix_memalign(&made, ALIGNMENT, BYTES) != 0)
        return NULL;
    return made;
}

MAKER make_mmap(void)
{
    KEPT(mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static unsigned show(const char *name, unsigned char *memory)
{
    int mode = -1;
    unsigned char *middle = memory + BYTES / 2;
    *middle = 1;
    if (syscall(SYS_get_mempolicy, &mode, NULL, 0, middle, MPOL_F_ADDR) < 0)
        printf("%s=-\n", name);
    else
        printf("%s=%d\n", name, mode);
    return *middle;
}

#define SHOW(name) show(#name, make_##name())

int main(void)
{
    unsigned sum = SHOW(malloc) + SHOW(calloc) + SHOW(realloc) + SHOW(aligned_alloc) +
                   SHOW(memalign) + SHOW(posix_memalign) + SHOW(mmap);
    show("table", table);
    printf("sum=%u\n", sum);
    return 0;
}
