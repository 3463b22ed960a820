/* A chain of calls with known names and lines, inlined ones among them. Ends in a call of the
 * function that it was given; where each call stands is written down on the line of the call. */
#include "symbol_chain.h"

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

/* Keeps the call above from becoming a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

int chain_lines[CHAIN_LINES];

/* Not exported: a stripped file has no name for it. */
static NOINLINE void chain_private(chain_callback *take)
{
    chain_lines[CHAIN_PRIVATE] = __LINE__, take();
    STAY();
}

INLINE void chain_inlined_inner(chain_callback *take)
{
    chain_lines[CHAIN_INNER] = __LINE__, chain_private(take);
    STAY();
}

INLINE void chain_inlined_outer(chain_callback *take)
{
    STAY();
    chain_lines[CHAIN_OUTER] = __LINE__, chain_inlined_inner(take);
    STAY();
}

NOINLINE void chain_middle(chain_callback *take)
{
    chain_lines[CHAIN_MIDDLE] = __LINE__, chain_inlined_outer(take);
    STAY();
}

/* A frame with room of its own and a stack pointer that moves. */
NOINLINE void chain_begin(chain_callback *take, int bytes)
{
    volatile char *room = __builtin_alloca((unsigned)bytes);
    room[0] = room[bytes - 1] = 1;
    chain_lines[CHAIN_BEGIN] = __LINE__, chain_middle(take);
    room[0] = 2;
}

NOINLINE void chain_recurse(chain_callback *take, int depth)
{
    if (depth > 1)
        chain_recurse(take, depth - 1);
    else
        take();
    STAY();
}

/* Ends in the call: the return address belongs to the function behind. */
NOINLINE void chain_last(chain_callback *leave)
{
    volatile char room[40] = "";
    room[1] = room[0];
    chain_lines[CHAIN_LAST] = __LINE__, leave();
    __builtin_unreachable();
}

NOINLINE void chain_behind(chain_callback *take)
{
    take();
    STAY();
}
