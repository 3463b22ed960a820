/* wrap.h: what the wrappers of MPI's functions have in common. Compiled once for each ABI (mpi.h).
 *
 *     wrap_calls.c      the wrappers of requests and probes
 *     wrap_messages.c   of messages, with small and large counts
 *     wrap_collectives.c  of operations of all, likewise;  wrap_files.c  of files
 *     wrap_groups.c     of what makes communicators, and processes
 *     wrap_windows.c    of one-sided communication
 *     communicators.c   numbers of communicators and windows, and ranks in MPI_COMM_WORLD of
 *                       their members
 *     clocks.c          the clocks of several hosts
 *     mpi_requests.c    requests' numbers, from when they are made until they are done
 *
 * A wrapper tells libheurt.so of its call, calls on, and tells the end. It takes no memory from the
 * program's heap, and sends nothing, but for clocks.c. What MPI calls of itself in a call is told
 * by nobody: enter gives no tick then. It stands on libheurt.so and on MPI's own functions, by
 * their PMPI names. */
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
uint64_t heurt_message_ask(uint64_t site, uint64_t communicator);
void heurt_message_asked(uint64_t site, uint64_t since, uint64_t result);
void heurt_message_file(uint32_t number, const char *name);
void heurt_message_point(uint64_t tick, uint32_t id, uint64_t a, uint64_t b, uint64_t c);
uint64_t heurt_message_tick(void);
void heurt_message_leave(uint64_t since, uint64_t result);
uint64_t heurt_message_caller(void);
uint32_t heurt_message_host(void);
void heurt_message_clock(const struct heurt_host_clock *clock);
void heurt_message_note(const char *sentence);

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
#define NEXT_OF(function) \
    ((__typeof__(&function))next__of(__builtin_return_address(0), F_##function))
#define NEXT(name) NEXT_OF(MPI_##name)

/* Functions with counts: those with large ones (MPI 4), which have a name of their own, are the
 * same source, compiled once more. */
#ifdef HEURT_MPI_LARGE
#define SIZED(function) function##_c
typedef MPI_Count mpi_count;
typedef MPI_Aint mpi_place;
#else
#define SIZED(function) function
typedef int mpi_count, mpi_place;
#endif
/* Open MPI 4 has persistent collectives by names of its own. */
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT_COLLECTIVE(name) SIZED(MPIX_##name##_init)
#define HAS_PERSISTENT (OMPI_HAVE_MPI_EXT_PCOLLREQ)
#else
#define PERSISTENT_COLLECTIVE(name) SIZED(MPI_##name##_init)
#define HAS_PERSISTENT (MPI_VERSION >= 4)
#endif
#define GLUE(a, b) a##b
#define WRAPPER(function) GLUE(heurt_, function)
#define SIZED_WRAPPER(name) WRAPPER(SIZED(MPI_##name))
#define NEXT_EXPANDED(function) NEXT_OF(function)
#define SIZED_NEXT(name) NEXT_EXPANDED(SIZED(MPI_##name))

/* In a wrapper, which has since and result. */
#define ENTER(call, in, bytes) heurt_message_enter(SITE_OF(call), communicator__number(in), bytes)
#define LEAVE()                                                    \
    do {                                                           \
        if (likely(since))                                         \
            heurt_message_leave(since, (uint64_t)(int64_t)result); \
        return result;                                             \
    } while (0)
#define IS_DONE (since && result == MPI_SUCCESS)
/* Likewise in one that asks whether something has come: with site, too. As long as the program asks
 * at one place again and again, and nothing has come, that is one span. */
#define LEAVE_ASKED(has_come)                                            \
    do {                                                                 \
        if (IS_DONE && !(has_come)) {                                    \
            heurt_message_asked(site, since, (uint64_t)(int64_t)result); \
            return result;                                               \
        }                                                                \
        LEAVE();                                                         \
    } while (0)

/* ---- communicators --------------------------------------------------------------------------- */

enum group_kind { GROUP_COMMUNICATOR, GROUP_WINDOW, GROUP_KINDS };

/* Of a window: whose leave to access it awaits, or whom it gave leave, in its open epochs. */
struct group_peers {
    uint32_t count, request; /* the first one's; the next have the next numbers */
    int *world;              /* ranks in MPI_COMM_WORLD: room for all */
};

/* A process's own, of a window. */
struct group_own {
    bool is_told;
    struct group_peers started, posted;
    int ranks[]; /* of both */
};
#define GROUP_OWN_BYTES(size) (sizeof(struct group_own) + 2 * (size_t)(size) * sizeof(int))

/* A communicator or window. */
struct communicator {
    uint64_t key; /* of its handle */
    enum group_kind kind;
    uint32_t number, size, rank; /* rank: this process's in it */
    uint32_t remote;             /* size of the other group; 0: there is none */
    uint32_t neighbours;         /* that this process sends to in a neighbourhood's operations */
    int *world;                  /* of those that messages in it go to: ranks in MPI_COMM_WORLD */
    bool is_foreign;             /* some of them are not in it: nothing of theirs is told */
    struct group_own *own;       /* NULL: a communicator */
    bool is_used;
};

/* Handles are pointers or integers. */
#define KEY_OF(handle) ((uint64_t)(uintptr_t)(handle))
#define HANDLE_OF(type, key) ((type)(uintptr_t)(key))

/* This process's rank in MPI_COMM_WORLD is known from now on: tells it, and that communicator. */
void communicators__begin(uint64_t tick, int threads);
/* NULL: there is no room for it, or it is none. */
const struct communicator *group__of(uint64_t key, enum group_kind kind);
/* Its handle may be another one's from now on. */
void group__gone(uint64_t key, enum group_kind kind);
/* It is new: its number is told, in the call of that tick. */
void communicator__made(uint64_t tick, MPI_Comm handle);
/* Likewise, of a window, once. */
void group__told(uint64_t tick, const struct communicator *group);

static inline const struct communicator *communicator__of(MPI_Comm handle)
{
    return handle == MPI_COMM_NULL ? NULL : group__of(KEY_OF(handle), GROUP_COMMUNICATOR);
}

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

/* ---- clocks ---------------------------------------------------------------------------------- */

/* clocks.c: MPI has begun, and is about to end: in the thread that called MPI_Init, within the
 * call. All ranks come to both; is_told: this one's call is. */
void clocks__begin(bool is_told);
void clocks__end(bool is_told);

/* ---- requests -------------------------------------------------------------------------------- */

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_EXCHANGE, /* likewise, of MPI_Isendrecv: peer, tag, bytes: as it was asked for */
    REQUEST_COLLECTIVE,
    REQUEST_MATCHED,
    REQUEST_ACCESS,
    REQUEST_LOCK,
    REQUEST_COMMUNICATOR, /* bytes: where its handle is put */
    REQUEST_FILE,         /* a file that is open; number: its own */
};

struct mpi_request {
    uint64_t key;    /* request__key of the handle */
    uint32_t number; /* 0: a persistent one that is not active */
    uint8_t kind;    /* enum request_kind */
    bool is_persistent;
    const struct communicator *in;
    /* Of a persistent one: what it sends or awaits; of a collective: its root, its call. */
    int peer, tag;
    uint64_t bytes;
};

/* Messages that were matched, files and locks of windows are kept as requests are. */
#define request__key(handle) KEY_OF(handle)
#define request__key_of_message(handle) (KEY_OF(handle) ^ 1ull << 63)
#define request__key_of_file(handle) (KEY_OF(handle) ^ 3ull << 62)
#define request__key_of_lock(window, rank) \
    ((((uint64_t)(window) << 32 | (uint32_t)(rank)) & ~(3ull << 62)) | 1ull << 62)

/* The first of so many. */
uint32_t request__next_numbers(uint32_t count);
static inline uint32_t request__next_number(void)
{
    return request__next_numbers(1);
}
void request__put(struct mpi_request request);
/* Out of the table, or, a persistent one, made inactive. False: it is not known. */
bool request__take(uint64_t key, struct mpi_request *request);
/* Gives a persistent one that number. False: it is not known. */
bool request__activate(uint64_t key, uint32_t number, struct mpi_request *request);
/* The number of one that stays where it is; 0: it is not known. */
uint32_t request__number(uint64_t key);
/* Forgets it, also a persistent one. */
void request__forget(uint64_t key);

/* Memory for so many bytes, zeroed, which is not the program's heap; NULL. */
void *pages__get(size_t bytes);
void pages__put(void *pages, size_t bytes);

/* ---- what is told ---------------------------------------------------------------------------- */

/* Of elements of a type; 0: of none. */
static inline uint64_t bytes_of(int64_t count, MPI_Datatype type)
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
/* What is no message, to or from a rank in MPI_COMM_WORLD (HEURT_SIGNAL…). */
void tell__signal(uint64_t tick, uint32_t id, uint32_t request, const struct communicator *in,
                  uint32_t world, uint32_t signal, uint64_t bytes);
void tell__signal_done(uint64_t tick, uint32_t request, uint32_t world, uint32_t signal);
void tell__collective(uint64_t tick, uint32_t request, const struct communicator *in, int root,
                      uint32_t call, uint64_t bytes);

/* Whether anything was ever cancelled: only then a request that is done is asked. */
extern bool heurt_mpi_cancels __attribute__((visibility("hidden")));

#endif
