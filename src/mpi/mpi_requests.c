/* mpi_requests.c: requests that were made and are not done, by their handles: a table with open
 * addressing, under a lock that is held for some ten nanoseconds. Several requests may have one
 * handle (MPICH has one for all sends that are done at once): they are alike. */
#include "mpi/wrap.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_PLACES 1024u

static struct mpi_requests {
    uint32_t lock;
    uint32_t numbers; /* (atomic) that were given */
    struct mpi_request *places;
    uint64_t mask; /* their number less 1, a power of 2 less 1; key 0 is a free place */
    uint64_t used;
} own;

void *pages__get(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void pages__put(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}

static void lock(void)
{
    while (__atomic_exchange_n(&own.lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock(void)
{
    __atomic_store_n(&own.lock, 0, __ATOMIC_RELEASE);
}

uint32_t request__next_numbers(uint32_t count)
{
    return __atomic_fetch_add(&own.numbers, count, __ATOMIC_RELAXED) + 1;
}

static uint64_t home_of(uint64_t key)
{
    return (key * 0x9e3779b97f4a7c15ull >> 20) & own.mask;
}

static void insert(const struct mpi_request *request)
{
    uint64_t at = home_of(request->key);
    while (own.places[at].key)
        at = (at + 1) & own.mask;
    own.places[at] = *request;
    own.used++;
}

/* Room for one more; false: there is none. */
static bool grow(void)
{
    if (own.places && own.used * 2 <= own.mask)
        return true;
    struct mpi_request *old = own.places;
    uint64_t count = old ? own.mask + 1 : 0, places = old ? 2 * count : FIRST_PLACES;
    struct mpi_request *new = pages__get(places * sizeof *new);
    if (!new)
        return false;
    own.places = new;
    own.mask = places - 1;
    own.used = 0;
    for (uint64_t i = 0; i < count; i++)
        if (old[i].key)
            insert(&old[i]);
    if (old)
        pages__put(old, count * sizeof *old);
    return true;
}

/* The place of one that waits to be done, else of an inactive one; mask + 1: there is none. */
static uint64_t find(uint64_t key)
{
    uint64_t other = own.mask + 1;
    if (!own.places)
        return other;
    for (uint64_t at = home_of(key); own.places[at].key; at = (at + 1) & own.mask) {
        if (own.places[at].key == key && own.places[at].number)
            return at;
        if (own.places[at].key == key)
            other = at;
    }
    return other;
}

/* Those behind it that could not be where they belong move up. */
static void remove_at(uint64_t hole)
{
    for (uint64_t at = (hole + 1) & own.mask; own.places[at].key; at = (at + 1) & own.mask)
        if (((at - home_of(own.places[at].key)) & own.mask) >= ((at - hole) & own.mask)) {
            own.places[hole] = own.places[at];
            hole = at;
        }
    own.places[hole].key = 0;
    own.used--;
}

void request__put(struct mpi_request request)
{
    lock();
    if (request.key && grow())
        insert(&request);
    unlock();
}

bool request__take(uint64_t key, struct mpi_request *request)
{
    lock();
    uint64_t at = find(key);
    bool is_known = own.places && at <= own.mask && own.places[at].number;
    if (is_known) {
        *request = own.places[at];
        if (request->is_persistent)
            own.places[at].number = 0;
        else
            remove_at(at);
    }
    unlock();
    return is_known;
}

bool request__activate(uint64_t key, uint32_t number, struct mpi_request *request)
{
    lock();
    uint64_t at = find(key);
    bool is_known = own.places && at <= own.mask && own.places[at].is_persistent;
    if (is_known) {
        own.places[at].number = number;
        *request = own.places[at];
    }
    unlock();
    return is_known;
}

uint32_t request__number(uint64_t key)
{
    lock();
    uint64_t at = find(key);
    uint32_t number = own.places && at <= own.mask ? own.places[at].number : 0;
    unlock();
    return number;
}

void request__forget(uint64_t key)
{
    lock();
    uint64_t at = find(key);
    if (own.places && at <= own.mask)
        remove_at(at);
    unlock();
}
