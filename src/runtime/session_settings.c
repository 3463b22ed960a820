/* session_settings.c: a process image's place in the session: how it joins, what it believes there,
 * and how it leaves.
 *
 * The events file is mapped by all processes of the session, also by one that has given up rights
 * which the others have: it holds what is recorded and counters, never what another process acts
 * on.  That stands in a file that only the recorder writes, of which each process has a copy of its
 * own. */
#include "runtime/real.h"
#include "runtime/runtime.h"

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

static const char *read_number(const char *at, uint64_t *number)
{
    while (*at == ' ')
        at++;
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

#define UNKNOWN_USER 65534u /* as the kernel shows all that have no number in a namespace */

/* In a namespace in which this user has no number, all other users that have none look the same. */
bool user__is_known(void)
{
    char map[1024];
    uint64_t user = (uint64_t)RAW0(geteuid), first, outside, count;
    long descriptor = RAW3(open, "/proc/self/uid_map", O_RDONLY | O_CLOEXEC, 0);
    if (descriptor < 0)
        return user != UNKNOWN_USER;
    long bytes = RAW3(read, descriptor, map, sizeof map - 1);
    RAW1(close, descriptor);
    map[bytes > 0 ? bytes : 0] = 0;
    for (const char *at = map; *at; at += *at == '\n') {
        at = read_number(read_number(read_number(at, &first), &outside), &count);
        if (user >= first && user - first < count)
            return true;
        if (*at && *at != '\n')
            return false;
    }
    return false;
}

/* A descriptor of a file of the trace that belongs to this process' own user, or -1. */
static int open_own(const char *name, int flags, struct stat *status)
{
    char path[sizeof heurt_state.directory + 16];
    size_t length = text__length(heurt_state.directory);
    bytes__copy(path, heurt_state.directory, length);
    path[length++] = '/';
    bytes__copy(path + length, name, text__length(name) + 1);
    long descriptor = RAW3(open, path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    if (RAW2(fstat, descriptor, status) == 0 && S_ISREG(status->st_mode) &&
        status->st_uid == (uid_t)RAW0(geteuid))
        return (int)descriptor;
    RAW1(close, descriptor);
    return -1;
}

static bool read_settings(void)
{
    struct heurt_session *settings = &heurt_state.settings;
    struct stat status;
    int descriptor = open_own(HEURT_SESSION_FILE, O_RDONLY, &status);
    if (descriptor < 0)
        return false;
    bool whole = RAW3(read, descriptor, settings, sizeof *settings) == (long)sizeof *settings &&
                 memcmp(settings->magic, HEURT_MAGIC, sizeof settings->magic) == 0 &&
                 settings->version == HEURT_VERSION && settings->unit_bytes == HEURT_UNIT_BYTES &&
                 (settings->clock == HEURT_CLOCK_MONOTONIC || tsc_is_invariant());
    RAW1(close, descriptor);
    return whole;
}

static uint64_t address_space(void)
{
    struct rlimit limit;
    return RAW4(prlimit64, 0, RLIMIT_AS, NULL, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/* Under a limit of address space less is mapped; claims end there. */
static uint64_t bound(uint64_t bytes)
{
    uint64_t part = address_space() / HEURT_SPACE_PART;
    return (bytes < part ? bytes : part) & ~(uint64_t)(HEURT_UNIT_BYTES - 1);
}

/* Where the trace lies if it can: so far below this library that there is room near the libraries'
 * code for what is patched. Just below them, where the kernel would put it, it takes all of that.
 */
#define ROOM_BYTES (2ull << 30)
#define ALIGNMENT (2ull << 20)
static uint64_t place_of_events(uint64_t bytes)
{
    uint64_t library = (uint64_t)&heurt_state & ~(ALIGNMENT - 1);
    return library > 2 * ROOM_BYTES + bytes ? library - ROOM_BYTES - bytes : 0;
}

/* The descriptor is closed again: programs close those they do not know. */
static bool map_events(void)
{
    struct stat status;
    int descriptor = open_own(HEURT_EVENTS_FILE, O_RDWR, &status);
    if (descriptor < 0)
        return false;
    uint64_t bytes = bound((uint64_t)status.st_size);
    long memory = -1;
    for (; bytes >= 2 * HEURT_UNIT_BYTES; bytes = bytes / 2 & ~(uint64_t)(HEURT_UNIT_BYTES - 1)) {
        memory = RAW6(mmap, place_of_events(bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      descriptor, 0);
        if (memory > 0 || memory < -4095)
            break;
    }
    RAW1(close, descriptor);
    if (bytes < 2 * HEURT_UNIT_BYTES)
        return false;
    heurt_state.session = (struct heurt_session *)memory;
    heurt_state.mapped_units = bytes / HEURT_UNIT_BYTES;
    return true;
}

bool session__has_ended(void)
{
    return __atomic_load_n(&heurt_state.session->flags, __ATOMIC_SEQ_CST) & HEURT_SESSION_CLOSED;
}

bool session__attach(void)
{
    return address_space() >= HEURT_SPACE_MIN && user__is_known() && read_settings() &&
           map_events() && !session__has_ended();
}

#define IN_FLIGHT_UNITS (16 * HEURT_CHUNK_UNITS_MAX) /* being claimed by other threads */

void trace__shrink(uint64_t bytes)
{
    struct state *state = &heurt_state;
    if (!state->recording || thread__in_seccomp(&heurt_thread))
        return;
    uint64_t old = state->mapped_units, units = bytes / HEURT_UNIT_BYTES;
    uint64_t claimed = __atomic_load_n(&state->session->next_unit, __ATOMIC_SEQ_CST);
    if (claimed > old || units < claimed + IN_FLIGHT_UNITS)
        units = claimed + IN_FLIGHT_UNITS;
    if (units >= old)
        return;
    __atomic_store_n(&state->mapped_units, units, __ATOMIC_SEQ_CST);
    define__note(
        "The program limits its memory (RLIMIT_AS or mlockall): its trace is bounded too.");
    RAW2(munmap, (char *)state->session + units * HEURT_UNIT_BYTES,
         (old - units) * HEURT_UNIT_BYTES);
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* Fresh memory of this process alone, in place of what is there; threads that write at this moment
 * go on in it. False: there is none. */
static bool replace(char *at, uint64_t bytes)
{
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return !bytes || RAW6(mmap, at, bytes, PROT_READ | PROT_WRITE, kind, -1, 0) == (long)at;
}

/* The session's header, of which others may be reading. */
static bool replace_header(char *header)
{
    const uint64_t bytes = HEURT_UNIT_BYTES;
    long copy = RAW6(mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy < 0 && copy > -4096)
        return false;
    bytes__copy((void *)copy, header, bytes);
    return RAW6(mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, header, 0) ==
           (long)header;
}

/* Nothing more of it is recorded, and it has nothing more of the session: neither the trace to
 * write, nor a way to ask the recorder, nor does what it starts get it. */
static void leave_session(const char *note)
{
    struct state *state = &heurt_state;
    /* A child of vfork has its parent's memory: what it becomes finds the trace closed to it. */
    if (!state->recording || (uint32_t)RAW0(getpid) != state->pid)
        return;
    define__note(note);
    uint64_t mask = signals__block();
    __atomic_store_n(&state->recording, false, __ATOMIC_SEQ_CST);
    char *header = (char *)state->session;
    if (!thread__in_seccomp(&heurt_thread) &&
        !(replace(header + HEURT_UNIT_BYTES, (state->mapped_units - 1) * HEURT_UNIT_BYTES) &&
          replace_header(header)))
        RAW2(munmap, header + HEURT_UNIT_BYTES, (state->mapped_units - 1) * HEURT_UNIT_BYTES);
    signals__restore(mask);
}

/* ---- who changes its user -------------------------------------------------------------------- */

long user__changed(long result)
{
    if (result == 0)
        leave_session(HEURT_NOTE_LEAVES);
    return result;
}

/* All users that a process has in one. */
static bool is_same(uid_t first, uid_t second, uid_t third)
{
    uid_t now[3];
    const uid_t next[3] = {first, second, third};
    if (RAW3(getresuid, &now[0], &now[1], &now[2]) != 0)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (next[i] != (uid_t)-1 && next[i] != now[i])
            return false;
    return true;
}

EXPORT int setuid(uid_t user)
{
    bool same = is_same(user, user, user);
    int result = REAL(setuid)(user);
    return same ? result : (int)user__changed(result);
}

EXPORT int seteuid(uid_t user)
{
    bool same = is_same(-1, user, -1);
    int result = REAL(seteuid)(user);
    return same ? result : (int)user__changed(result);
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
    bool same = is_same(real, effective, effective);
    int result = REAL(setreuid)(real, effective);
    return same ? result : (int)user__changed(result);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    bool same = is_same(real, effective, saved);
    int result = REAL(setresuid)(real, effective, saved);
    return same ? result : (int)user__changed(result);
}
