#include "analysis/events/touched_pages.h"

#include "base/memory.h"

#include <stdlib.h>

/* Pages and blocks of them are known by a hash alone: of one thread that touches more than some
 * millions, some would be taken for one another. */
enum { PAGE_BITS = 12, PAGES_BITS = 23, BLOCK_BITS = PAGE_BITS + 6, BLOCKS_BITS = 17 };
#define BLOCK_PAGES (1u << (BLOCK_BITS - PAGE_BITS))

struct touched_pages {
    uint8_t pages[1 << (PAGES_BITS - 3)];
    uint8_t faults[1 << BLOCKS_BITS]; /* in a block, up to more than it has pages */
};

struct touched_pages *touched_pages__new(void)
{
    return memory__zeroed(1, sizeof(struct touched_pages));
}

void touched_pages__free(struct touched_pages *pages)
{
    free(pages);
}

static uint64_t hash(uint64_t number, unsigned bits)
{
    return number * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

bool touched_pages__add(struct touched_pages *pages, uint64_t address, bool is_place_known)
{
    uint8_t *faults = &pages->faults[hash(address >> BLOCK_BITS, BLOCKS_BITS)];
    uint64_t page = hash(address >> PAGE_BITS, PAGES_BITS);
    bool is_full = *faults >= BLOCK_PAGES;
    *faults += !is_full;
    if (!is_place_known)
        return is_full;
    bool is_known = pages->pages[page / 8] & 1u << page % 8;
    pages->pages[page / 8] |= (uint8_t)(1u << page % 8);
    return is_known;
}
