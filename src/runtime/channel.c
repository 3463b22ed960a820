/* channel.c: what descriptors lead to, and which of them are two ends of one thing.
 *
 * A descriptor is asked for at its first use, and again when its number may be another's; what is
 * known then is kept in a byte a descriptor. Of a pipe, a socket or an eventfd the trace gets a
 * CHANNEL event: what is read from it comes from the channel `in`, what is written to it goes to
 * `out`. Both ends of a pipe are one inode. Of a pair of sockets each end is a channel of its own
 * inode, which the other end writes to; of sockets of the internet the two directions are named by
 * their addresses. A Unix socket does not tell its other end: that one is found by the name, and
 * the process, which both know (docs/format.md). An eventfd has no name that could be asked for
 * without opening a file: it gets one when it is made. */
#include "runtime/channel.h"

#include "runtime/runtime.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define KINDS (1 << 16)   /* descriptors whose kind is remembered */
#define KINDS_COPIED 1024 /* of those, how many a forked child looks at */

/* What is remembered of one: its kind; of a file how often it was used, until its name is told: one
 * that is used a few times costs less than that. */
#define KIND_MASK 7
#define USE_STEP 8
#define USES_MASK 0x78
#define IS_NAMED 0x80

/* How many files were closed that had the number and were not used often enough to be named: from
 * so many on that is told, once. */
#define MANY_FILES 16
#define IS_TOLD 0xff

enum channel_of {
    CHANNEL_PIPE = 1,
    CHANNEL_SOCKET,
    CHANNEL_EVENT,
    CHANNEL_ADDRESSES,
    CHANNEL_NAME,
    CHANNEL_QUEUE,
    CHANNEL_QUEUE_V,
};

static uint64_t number_of(enum channel_of what, uint64_t number)
{
    return (uint64_t)what << 56 | (number & ((1ull << 56) - 1));
}

/* FNV-1a */
static uint64_t hash(uint64_t from, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    while (count--)
        from = (from ^ *byte++) * 0x100000001b3ull;
    return from;
}

static void tell(struct thread *thread, int descriptor, uint64_t kind, uint64_t in, uint64_t out)
{
    if (!heurt_state.aggregates)
        event__write3(thread, HEURT_EVENT_CHANNEL, (uint32_t)descriptor | kind << 32, in, out);
}

/* ---- sockets --------------------------------------------------------------------------------- */

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* False: it has none. */
static bool ask_address(int descriptor, bool peer, union address *address, socklen_t *length)
{
    *length = sizeof *address;
    memset(address, 0, sizeof *address);
    long result = peer ? RAW3(getpeername, descriptor, address, length)
                       : RAW3(getsockname, descriptor, address, length);
    return result == 0 && *length <= sizeof *address;
}

/* Of the internet: the same for both ends, whether it is an address of version 4 or is written as
 * one of version 6. */
static uint64_t hash_address(uint64_t from, const union address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const struct in6_addr *wide = &address->in6.sin6_addr;
    bool is_wide = address->any.sa_family == AF_INET6;
    if (is_wide && memcmp(wide, mapped, sizeof mapped) != 0)
        from = hash(from, wide, sizeof *wide);
    else
        from = hash(from, is_wide ? &wide->s6_addr[12] : (const void *)&address->in.sin_addr, 4);
    return hash(from, is_wide ? &address->in6.sin6_port : &address->in.sin_port, 2);
}

static bool tell_internet(struct thread *thread, int descriptor, const union address *own)
{
    union address peer;
    socklen_t length;
    if (!ask_address(descriptor, true, &peer, &length))
        return false;
    uint64_t out = hash_address(hash_address(0, own), &peer);
    uint64_t in = hash_address(hash_address(0, &peer), own);
    tell(thread, descriptor, HEURT_DESCRIPTOR_SOCKET, number_of(CHANNEL_ADDRESSES, in),
         number_of(CHANNEL_ADDRESSES, out));
    return true;
}

static uint64_t inode_of(int descriptor)
{
    struct stat status;
    return RAW2(fstat, descriptor, &status) == 0 ? status.st_ino : 0;
}

/* What a connected Unix socket goes by: the name that its listener has, and the process that
 * connected. */
static uint64_t meeting_of(int descriptor, bool accepted)
{
    union address name;
    socklen_t length, room = sizeof(struct ucred);
    struct ucred client = {.pid = (pid_t)heurt_state.pid};
    if (!ask_address(descriptor, !accepted, &name, &length) || length <= sizeof name.any.sa_family)
        return 0;
    if (accepted)
        RAW6(getsockopt, descriptor, SOL_SOCKET, SO_PEERCRED, &client, &room, 0);
    uint64_t sum = hash(hash(0, &name, length), &client.pid, sizeof client.pid);
    return number_of(CHANNEL_NAME, sum) | HEURT_CHANNEL_MEETS |
           (accepted ? HEURT_CHANNEL_ACCEPTED : 0);
}

/* What is known of it besides that it is used. */
enum connection { IS_USED, IS_CONNECTED, IS_ACCEPTED };

static void tell_socket(struct thread *thread, int descriptor, uint64_t inode, enum connection how)
{
    union address own;
    socklen_t length;
    int family = ask_address(descriptor, false, &own, &length) ? own.any.sa_family : AF_UNSPEC;
    if ((family == AF_INET || family == AF_INET6) && tell_internet(thread, descriptor, &own))
        return;
    bool meets = family == AF_UNIX && how != IS_USED;
    tell(thread, descriptor, HEURT_DESCRIPTOR_SOCKET, number_of(CHANNEL_SOCKET, inode),
         meets ? meeting_of(descriptor, how == IS_ACCEPTED) : 0);
}

void channel__connected(struct thread *thread, int descriptor, bool accepted)
{
    descriptor__forget(descriptor);
    if (thread__in_seccomp(thread))
        return;
    tell_socket(thread, descriptor, inode_of(descriptor), accepted ? IS_ACCEPTED : IS_CONNECTED);
    if (descriptor < KINDS)
        heurt_state.descriptor_kinds[descriptor] = HEURT_DESCRIPTOR_SOCKET;
}

void channel__paired(struct thread *thread, const int ends[2])
{
    descriptor__forget(ends[0]);
    descriptor__forget(ends[1]);
    if (thread__in_seccomp(thread))
        return;
    uint64_t in[2] = {number_of(CHANNEL_SOCKET, inode_of(ends[0])),
                      number_of(CHANNEL_SOCKET, inode_of(ends[1]))};
    for (int i = 0; i < 2; i++)
        tell(thread, ends[i], HEURT_DESCRIPTOR_SOCKET, in[i], in[!i]);
}

void channel__event_made(struct thread *thread, int descriptor)
{
    uint64_t count = __atomic_fetch_add(&heurt_state.event_descriptors, 1, __ATOMIC_RELAXED);
    uint64_t number =
        number_of(CHANNEL_EVENT, (uint64_t)heurt_state.process << 32 | (uint32_t)count);
    descriptor__forget(descriptor);
    tell(thread, descriptor, HEURT_DESCRIPTOR_OTHER, number, number);
}

/* ---- queues of messages ---------------------------------------------------------------------- */

uint64_t queue__word(struct thread *thread, int descriptor)
{
    uint32_t *told = &heurt_state.told_queues[(uint32_t)descriptor % TOLD_QUEUES];
    uint32_t own = (uint32_t)descriptor + 1;
    if (descriptor != -1 && __atomic_exchange_n(told, own, __ATOMIC_RELAXED) != own) {
        uint64_t number = descriptor < 0 ? number_of(CHANNEL_QUEUE_V, (uint32_t)descriptor)
                                         : number_of(CHANNEL_QUEUE, inode_of(descriptor));
        tell(thread, descriptor, HEURT_DESCRIPTOR_PIPE, number, number);
    }
    return (uint32_t)descriptor | (uint64_t)HEURT_DESCRIPTOR_PIPE << 32;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static uint8_t kind_of_mode(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFBLK:
        return HEURT_DESCRIPTOR_FILE;
    case S_IFSOCK:
        return HEURT_DESCRIPTOR_SOCKET;
    case S_IFIFO:
        return HEURT_DESCRIPTOR_PIPE;
    case S_IFCHR:
        return HEURT_DESCRIPTOR_TERMINAL;
    default:
        return HEURT_DESCRIPTOR_OTHER;
    }
}

static uint8_t ask_kind(struct thread *thread, int descriptor)
{
    struct stat status;
    if (RAW2(fstat, descriptor, &status) < 0)
        return HEURT_DESCRIPTOR_UNKNOWN;
    uint8_t kind = kind_of_mode(status.st_mode);
    uint64_t pipe = number_of(CHANNEL_PIPE, status.st_ino);
    if (kind == HEURT_DESCRIPTOR_PIPE)
        tell(thread, descriptor, kind, pipe, pipe);
    else if (kind == HEURT_DESCRIPTOR_SOCKET)
        tell_socket(thread, descriptor, status.st_ino, IS_USED);
    return kind;
}

static void name_file(struct thread *thread, int descriptor, uint8_t *known)
{
    char path[512];
    if (heurt_state.aggregates || thread__in_seccomp(thread))
        return;
    *known |= IS_NAMED;
    if (descriptor__path(descriptor, path, sizeof path))
        define__object((const void *)HEURT_FILE_ADDRESS(descriptor), path);
}

static uint8_t *files_of(int descriptor)
{
    return &heurt_state.descriptor_kinds[KINDS + descriptor];
}

static void count_file(int descriptor, uint8_t known)
{
    uint8_t *files = files_of(descriptor);
    if ((known & KIND_MASK) == HEURT_DESCRIPTOR_FILE && known & USES_MASK && !(known & IS_NAMED) &&
        *files < MANY_FILES)
        ++*files;
}

/* What the number was used for so far was no single file. */
static void tell_many(struct thread *thread, int descriptor)
{
    uint8_t *files = files_of(descriptor);
    if (heurt_state.aggregates || *files != MANY_FILES || thread__in_seccomp(thread))
        return;
    *files = IS_TOLD;
    define__object((const void *)HEURT_FILE_ADDRESS(descriptor), "many files");
}

static void count_use(struct thread *thread, int descriptor, uint8_t *known, bool is_sync)
{
    if (is_sync || (*known & USES_MASK) == USES_MASK)
        name_file(thread, descriptor, known);
    else
        *known += USE_STEP;
}

uint64_t descriptor__word(struct thread *thread, int descriptor, bool is_sync)
{
    uint64_t kind = HEURT_DESCRIPTOR_UNKNOWN;
    uint8_t *known =
        descriptor >= 0 && descriptor < KINDS ? &heurt_state.descriptor_kinds[descriptor] : NULL;
    if (known && *known)
        kind = *known & KIND_MASK;
    else if (descriptor >= 0 && !thread__in_seccomp(thread))
        kind = ask_kind(thread, descriptor);
    if (known && !*known) {
        *known = (uint8_t)kind;
        tell_many(thread, descriptor);
    }
    if (known && kind == HEURT_DESCRIPTOR_FILE && !(*known & IS_NAMED))
        count_use(thread, descriptor, known, is_sync);
    return (uint32_t)descriptor | kind << 32;
}

void descriptors__forked(void)
{
    for (unsigned i = 0; i < KINDS_COPIED; i++) {
        if (heurt_state.descriptor_kinds[i] & IS_NAMED)
            heurt_state.descriptor_kinds[i] &= KIND_MASK;
        if (*files_of((int)i))
            *files_of((int)i) = 0;
    }
}

void descriptor__forget(int descriptor)
{
    if (descriptor >= 0)
        heurt_state.told_queues[(uint32_t)descriptor % TOLD_QUEUES] = 0;
    if (descriptor >= 0 && descriptor < KINDS && heurt_state.descriptor_kinds) {
        count_file(descriptor, heurt_state.descriptor_kinds[descriptor]);
        heurt_state.descriptor_kinds[descriptor] = HEURT_DESCRIPTOR_UNKNOWN;
    }
}

char *number__put(char *end, uint32_t number)
{
    char digits[12];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *end++ = digits[--count];
    return end;
}

bool descriptor__path(int descriptor, char *path, size_t room)
{
    char link[32] = "/proc/self/fd/", *end = link + sizeof "/proc/self/fd/" - 1;
    if (descriptor < 0)
        return false;
    *number__put(end, (uint32_t)descriptor) = 0;
    long length = RAW3(readlink, link, path, room - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}
