/* counts.c: records of accesses, and the table that finds them. */
#include "access/counts.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define UNITS_FIRST 1u
#define INDEX_FIRST 512u /* places */
#define LINE 64u

/* libheurt.so's, which are not there when nothing is recorded. */
extern void heurt_access_join(struct heurt_access_table *table) __attribute__((weak));
extern enum heurt_access_room heurt_access_room(uint32_t units, void **room) __attribute__((weak));
extern void heurt_access_origin(struct heurt_access_count *count) __attribute__((weak));

uint32_t heurt_generations[HEURT_GENERATIONS];

/* Where a thread looks that has counted nothing yet: one place, which is free. */
static uint64_t nothing[(sizeof(struct counts_index) + sizeof(void *)) / sizeof(uint64_t)];
#define NOTHING ((struct counts_index *)nothing)
__thread struct own_counts heurt_counting
    __attribute__((tls_model("initial-exec"))) = {.index = NOTHING};

/* ---- memory ---------------------------------------------------------------------------------- */

/* By the bare call: mmap is a function that others may stand in front of. -errno: none. */
static long raw__mmap(size_t bytes)
{
    register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    register long descriptor __asm__("r8") = -1;
    register long offset __asm__("r9") = 0;
    long result = SYS_mmap;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(0l), "S"(bytes), "d"((long)(PROT_READ | PROT_WRITE)), "r"(flags),
                       "r"(descriptor), "r"(offset)
                     : "rcx", "r11", "memory");
    return result;
}

static long raw__call3(long number, long a, long b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}

static struct counts_index *map_index(uint64_t places)
{
    size_t bytes = sizeof(struct counts_index) + places * sizeof(void *);
    long memory = raw__mmap(bytes);
    if (memory < 0 && memory > -4096)
        return NULL;
    raw__call3(SYS_madvise, memory, (long)bytes, MADV_WIPEONFORK);
    struct counts_index *index = (struct counts_index *)memory;
    index->mask = places - 1;
    index->bytes = bytes;
    return index;
}

/* ---- the index ------------------------------------------------------------------------------- */

/* The place of that count, or the one that is free for it. */
static struct heurt_access_count **place_of(struct counts_index *index, uint64_t site,
                                            uint64_t granule)
{
    uint64_t at = count__hash(site, granule) & index->mask;
    for (; index->places[at]; at = (at + 1) & index->mask)
        if (index->places[at]->site == site && index->places[at]->address == granule)
            break;
    return &index->places[at];
}

/* To one that has room for so many more; false: there is no memory. */
static bool grow(struct own_counts *self, uint64_t more)
{
    uint64_t places = INDEX_FIRST;
    while (places < 2 * (self->used + more))
        places *= 2;
    struct counts_index *index = map_index(places), *before = self->index;
    if (!index)
        return false;
    for (uint64_t i = 0; i <= before->mask; i++)
        if (before->places[i])
            *place_of(index, before->places[i]->site, before->places[i]->address) =
                before->places[i];
    index->before = before;
    __atomic_store_n(&self->index, index, __ATOMIC_RELEASE);
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Room for more records, in the trace and in the index. */
static bool take_room(struct own_counts *self)
{
    void *room = NULL;
    uint32_t units = self->units ? self->units : UNITS_FIRST;
    enum heurt_access_room answer =
        &heurt_access_room ? heurt_access_room(units, &room) : HEURT_ROOM_NEVER;
    if (answer != HEURT_ROOM_GIVEN) {
        self->is_full = answer == HEURT_ROOM_NEVER;
        return false;
    }
    char *end = (char *)room + (size_t)units * HEURT_UNIT_BYTES - sizeof(struct heurt_chunk);
    struct heurt_counts_head *head = room;
    struct heurt_access_count *next = (struct heurt_access_count *)(head + 1);
    uint64_t count = (uint64_t)(end - (char *)next) / sizeof *next;
    if (2 * (self->used + count) > self->index->mask && !grow(self, count)) {
        self->is_full = true;
        return false;
    }
    self->head = head;
    self->next = next;
    self->end = next + count;
    self->units = units < HEURT_CHUNK_UNITS_MAX ? 2 * units : units;
    return true;
}

/* A forked child has neither index nor records of its parent. */
static void forget_parent(struct own_counts *self)
{
    if (self->index != NOTHING && !self->index->bytes)
        *self = (struct own_counts){.index = NOTHING};
}

static struct heurt_access_count *make(struct own_counts *self, uint64_t site, uint64_t granule)
{
    if (self->is_full || (self->next == self->end && !take_room(self)))
        return NULL;
    struct heurt_access_count *count = self->next++;
    count->site = site;
    count->address = granule;
    heurt_access_origin(count);
    count->generation = generation__of(granule);
    return count;
}

static void widen(struct heurt_access_count *count, unsigned first, unsigned behind)
{
    bool is_new = !count->behind;
    if (is_new || first < count->first)
        count->first = (uint8_t)first;
    if (behind > count->behind)
        count->behind = (uint8_t)behind;
}

static void make_and_count(struct own_counts *self, uint64_t site, uint64_t granule, unsigned first,
                           unsigned behind)
{
    struct heurt_access_count *count = make(self, site, granule);
    if (!count) {
        if (self->head)
            count__raise(&self->head->missed);
        return;
    }
    widen(count, first, behind);
    count__raise(&count->count);
    /* Making room may have moved the index. */
    struct heurt_access_count **place = place_of(self->index, site, granule);
    self->used += !*place;
    *place = count;
}

__attribute__((noinline)) void count__find(uint64_t site, uint64_t granule, unsigned first,
                                           unsigned behind)
{
    struct own_counts *self = &heurt_counting;
    if (!&heurt_access_room)
        return;
    forget_parent(self);
    struct heurt_access_count *count = *place_of(self->index, site, granule);
    if (count && count->generation == generation__of(granule)) {
        widen(count, first, behind);
        count__raise(&count->count);
        return;
    }
    if (self->is_busy) {
        if (self->head)
            count__raise(&self->head->missed);
        return;
    }
    self->is_busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    make_and_count(self, site, granule, first, behind);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->is_busy = false;
}

void count__row(uint64_t site, uint64_t address, size_t bytes)
{
    for (uint64_t end = address + bytes; address < end;) {
        uint64_t line = address & ~(uint64_t)(LINE - 1);
        uint64_t behind = end - line < LINE ? end - line : LINE;
        count__access(site, line, (unsigned)(address - line), (unsigned)behind);
        address = line + LINE;
    }
}

/* ---- the way in and out ---------------------------------------------------------------------- */

/* What the thread does behind this is not counted: its record has ended. */
static void thread_ends(void)
{
    struct own_counts *self = &heurt_counting;
    struct counts_index *index = self->index;
    *self = (struct own_counts){.index = NOTHING, .is_full = true};
    while (index && index != NOTHING && index->bytes) {
        struct counts_index *before = index->before;
        raw__call3(SYS_munmap, (long)index, (long)index->bytes, 0);
        index = before;
    }
}

struct heurt_access_table heurt_joined = {heurt_generations, thread_ends};

__attribute__((constructor)) static void join(void)
{
    if (&heurt_access_join)
        heurt_access_join(&heurt_joined);
}
