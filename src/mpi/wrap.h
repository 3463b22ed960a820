/* wrap.h: what the wrappers of MPI's functions have in common. Compiled once for each ABI (mpi.h).
 *
 *     wrap_calls.c      the wrappers of messages;  wrap_collectives.c  of the rest
 *     communicators.c   communicators' numbers, and ranks in MPI_COMM_WORLD of their members
 *     mpi_requests.c    requests' numbers, from when they are made until they are done
 *
 * A wrapper tells libheurt.so of its call, calls on, and tells the end. It takes no memory from the
 * program's heap, and sends nothing. What MPI calls of itself in a call is told by nobody: enter
 * gives no tick then. It stands on libheurt.so and on MPI's own functions, by their PMPI names. */
#ifndef HEURT_MPI_WRAP_H
#define HEURT_MPI_WRAP_H

#include "format/layout.h"
#include "mpi/mpi_functions.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- libheurt.so's (runtime/hook_message.c) -------------------------------------------------- */

uint64_t heurt_message_enter(uint64_t site, uint64_t communicator, uint64_t bytes);
void heurt_message_point(uint64_t tick, uint32_t id, uint64_t a, uint64_t b, uint64_t c);
uint64_t heurt_message_tick(void);
void heurt_message_leave(uint64_t since, uint64_t result);
uint64_t heurt_message_caller(void);

/* ---- who calls, and what is called in the end ------------------------------------------------ */

extern void *heurt_mpi_next[MPI_FUNCTION_COUNT], *heurt_mpi_last[MPI_FUNCTION_COUNT];
extern struct mpi_code heurt_mpi_fortran;

/* Whether a wrapper that returns there was called for a call of Fortran (fortran.c). */
static inline bool fortran__calls(const void *address)
{
    return unlikely((uintptr_t)address - heurt_mpi_fortran.start < heurt_mpi_fortran.bytes);
}

/* Where the program called. */
static inline uint64_t site__of(const void *address)
{
    uint64_t caller = fortran__calls(address) ? heurt_message_caller() : 0;
    return caller ? caller : (uintptr_t)address;
}
#define SITE_OF(call) HEURT_SITE(site__of(__builtin_return_address(0)), HEURT_CALL_##call)

/* Open MPI's library for Fortran calls PMPI, by which a tool of C that stands there is passed by.
 */
static inline void *next__of(const void *address, enum mpi_function function)
{
    enum heurt_message_library library = HEURT_MPI_LIBRARY;
    bool is_passed_by = library == HEURT_MESSAGE_OPEN_MPI && fortran__calls(address);
    return (is_passed_by ? heurt_mpi_last : heurt_mpi_next)[function];
}
#define NEXT(name) ((__typeof__(&MPI_##name))next__of(__builtin_return_address(0), F_##name))

/* ---- communicators --------------------------------------------------------------------------- */

struct communicator {
    MPI_Comm handle;
    uint32_t number, size, rank; /* rank: this process's in it */
    uint32_t remote;             /* size of the other group; 0: there is none */
    int *world;                  /* of those that messages in it go to: ranks in MPI_COMM_WORLD */
    bool is_used;
};

/* This process's rank in MPI_COMM_WORLD is known from now on: tells it, and that communicator. */
void communicators__begin(uint64_t tick, int threads);
/* NULL: there is no room for it, or it is none. tick: of the call that it is told in, if it is new.
 */
const struct communicator *communicator__of(MPI_Comm handle);
/* It is new: its number is told. */
void communicator__made(uint64_t tick, MPI_Comm handle);
/* Its handle may be another one's from now on. */
void communicator__gone(MPI_Comm handle);

/* A rank of the communicator's as one of MPI_COMM_WORLD; HEURT_MESSAGE_ANY of any, or of none. */
static inline uint32_t communicator__world(const struct communicator *communicator, int rank)
{
    uint32_t count =
        communicator ? communicator->remote ? communicator->remote : communicator->size : 0;
    return rank >= 0 && (uint32_t)rank < count ? (uint32_t)communicator->world[rank]
                                               : HEURT_MESSAGE_ANY;
}

static inline uint32_t communicator__number(const struct communicator *communicator)
{
    return communicator ? communicator->number : 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE, REQUEST_MATCHED };

struct mpi_request {
    uint64_t key;    /* request__key of the handle */
    uint32_t number; /* 0: a persistent one that is not active */
    uint8_t kind;    /* enum request_kind */
    bool is_persistent;
    const struct communicator *in;
    /* Of a persistent one: what it sends or awaits. */
    int peer, tag;
    uint64_t bytes;
};

/* Handles are pointers or integers. Those of messages that were matched are kept as requests are.
 */
#define request__key(handle) ((uint64_t)(uintptr_t)(handle))
#define request__key_of_message(handle) ((uint64_t)(uintptr_t)(handle) ^ 1ull << 63)

uint32_t request__next_number(void);
void request__put(struct mpi_request request);
/* Out of the table, or, a persistent one, made inactive. False: it is not known. */
bool request__take(uint64_t key, struct mpi_request *request);
/* Gives a persistent one that number. False: it is not known. */
bool request__activate(uint64_t key, uint32_t number, struct mpi_request *request);
/* Forgets it, also a persistent one. */
void request__forget(uint64_t key);

/* Memory for so many bytes, zeroed, which is not the program's heap; NULL. */
void *pages__get(size_t bytes);
void pages__put(void *pages, size_t bytes);

/* ---- what is told ---------------------------------------------------------------------------- */

/* Of elements of a type; 0: of none. */
static inline uint64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return 0;
    return size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

void tell__sent(uint64_t tick, uint32_t request, const struct communicator *in, int to, int tag,
                uint64_t bytes);
void tell__awaited(uint64_t tick, uint32_t request, const struct communicator *in, int from,
                   int tag, uint64_t bytes);
/* A message that was awaited has come. */
void tell__received(uint64_t tick, uint32_t request, const struct communicator *in,
                    const MPI_Status *status);
/* A request is done, whatever it was. */
void tell__done(uint64_t tick, const struct mpi_request *request, const MPI_Status *status);
void tell__collective(uint64_t tick, uint32_t request, const struct communicator *in, int root,
                      uint32_t call, uint64_t bytes);

/* Whether anything was ever cancelled: only then a request that is done is asked. */
extern bool heurt_mpi_cancels __attribute__((visibility("hidden")));

#endif
