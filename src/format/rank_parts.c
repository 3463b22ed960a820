#include "format/rank_parts.h"

#include "base/memory.h"
#include "format/directory.h"
#include "format/retime.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One part on its way into the whole. */
struct part_joining {
    const char *directory, *name; /* of the whole; of the part */
    int fd;                       /* the whole's events */
    struct heurt_session session; /* the whole's */
    struct trace *part;
    off_t shift; /* from a place in the part to where it is in the whole */
    uint32_t rank;
    bool is_mapped; /* the part is of another host: */
    struct clock_map map;
};

static int open_events(const char *directory, int flags)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    return fd < 0 ? -errno : fd;
}

static int failed_to_join(const struct part_joining *joining, int code, struct error *error)
{
    return error__set(error, code, "the part %s could not be joined to %s: %s", joining->name,
                      joining->directory, strerrordesc_np(-code));
}

/* Two recordings of one machine and boot tell one time by their ticks: how far apart the starts are
 * on one clock, they are on the other, but for what drifts in a second. */
#define CLOCKS_APART_NS 1e7

static bool has_one_clock(const struct heurt_session *whole, const struct heurt_session *part)
{
    double ticks = (double)(whole->end.tick - whole->start.tick);
    double ns = (double)(whole->end.monotonic_ns - whole->start.monotonic_ns);
    if (whole->clock != part->clock || ticks <= 0)
        return whole->clock == part->clock;
    double apart_ns = (double)(int64_t)(part->start.tick - whole->start.tick) * ns / ticks -
                      (double)(int64_t)(part->start.monotonic_ns - whole->start.monotonic_ns);
    double bound = CLOCKS_APART_NS * (1 + ns / 1e9);
    return apart_ns < bound && apart_ns > -bound;
}

/* ---- the clocks of hosts --------------------------------------------------------------------- */

static double ns_per_tick(const struct heurt_session *session)
{
    double ticks = (double)(session->end.tick - session->start.tick);
    double ns = (double)(session->end.monotonic_ns - session->start.monotonic_ns);
    return session->finished && ticks > 0 && ns > 0 ? ns / ticks : 0;
}

/* The line through both points; through one of them where the program did not come to its end, by
 * what both clocks say of their rates. */
static bool make_map(const struct heurt_session *whole, const struct heurt_session *part,
                     const struct heurt_host_clock *first, const struct heurt_host_clock *last,
                     struct clock_map *map)
{
    double whole_ns = ns_per_tick(whole), part_ns = ns_per_tick(part);
    bool has_both = last->tick > first->tick && last->reference_tick > first->reference_tick;
    if (!whole_ns)
        return false;
    map->from = first->tick;
    map->to = first->reference_tick;
    map->rate = has_both ? (double)(last->reference_tick - first->reference_tick) /
                               (double)(last->tick - first->tick)
                         : part_ns / whole_ns;
    part_ns = part_ns ? part_ns : whole_ns * map->rate;
    map->from_ns = part->start.monotonic_ns +
                   (uint64_t)(int64_t)((double)(int64_t)(map->from - part->start.tick) * part_ns);
    map->to_ns = whole->start.monotonic_ns +
                 (uint64_t)(int64_t)((double)(int64_t)(map->to - whole->start.tick) * whole_ns);
    map->ns_rate = map->rate * whole_ns / part_ns;
    return map->rate > 0.01 && map->rate < 100 && map->ns_rate > 0.9 && map->ns_rate < 1.1;
}

static bool find_map(struct part_joining *joining)
{
    VEC_EACH (process, &joining->part->processes, const struct trace_process) {
        if (!process->clocks.count)
            continue;
        const struct heurt_host_clock *first = process->clocks.items;
        return first->tick && first->reference == joining->session.host &&
               make_map(&joining->session, trace__session(joining->part), first,
                        first + process->clocks.count - 1, &joining->map);
    }
    return false;
}

/* Of other hosts than the whole's, whose hosts are known. */
static int find_clock(struct part_joining *joining, struct error *error)
{
    const struct heurt_session *part = trace__session(joining->part);
    uint32_t host = joining->session.host;
    bool is_other = host && part->host && host != part->host;
    joining->is_mapped = is_other && find_map(joining);
    if (is_other ? joining->is_mapped : has_one_clock(&joining->session, part))
        return 0;
    return error__set(error, -EXDEV,
                      "the part %s is of another host, whose clock was not compared with this "
                      "one's: it stays where it is",
                      joining->name);
}

static int check(struct part_joining *joining, struct error *error)
{
    const struct heurt_session *part = trace__session(joining->part);
    const struct heurt_session *whole = &joining->session;
    if (memcmp(whole->magic, HEURT_MAGIC, sizeof whole->magic) != 0 ||
        whole->version != HEURT_VERSION || whole->unit_bytes != HEURT_UNIT_BYTES ||
        whole->packed_bytes || part->packed_bytes)
        return error__set(error, -EINVAL, "%s is no trace that a part could be joined to",
                          joining->directory);
    return find_clock(joining, error);
}

static int write_all_at(int fd, const char *bytes, size_t count, off_t offset)
{
    while (count) {
        ssize_t done = pwrite(fd, bytes, count < (1u << 20) ? count : 1u << 20, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        bytes += done;
        count -= (size_t)done;
        offset += done;
    }
    return 0;
}

/* What a part says of the session comes before what the whole says, which therefore holds. */
static int move_up(const struct part_joining *joining, const struct heurt_chunk *chunk)
{
    struct heurt_chunk header = *chunk;
    off_t copied = (off_t)((const char *)chunk - joining->part->bytes) + joining->shift;
    if (joining->is_mapped) {
        header.start.tick = clock_map__tick(&joining->map, header.start.tick);
        header.start.monotonic_ns = clock_map__ns(&joining->map, header.start.monotonic_ns);
    }
    header.pid = 0;
    header.sequence |= (uint64_t)joining->rank << 32;
    return write_all_at(joining->fd, (const char *)&header, sizeof header, copied);
}

/* A chunk with the times of the whole's clock. */
static int copy_mapped(const struct part_joining *joining, const struct trace_place *place)
{
    const struct trace *part = joining->part;
    char *copy = memory__zeroed(place->bytes, 1);
    memcpy(copy, place->chunk, place->bytes);
    trace__retime_chunk(part, place->chunk, copy, place->bytes, &joining->map);
    off_t at = (off_t)((const char *)place->chunk - part->bytes) + joining->shift;
    int code = write_all_at(joining->fd, copy, place->bytes, at);
    free(copy);
    return code;
}

static int copy(struct part_joining *joining)
{
    const struct trace *part = joining->part;
    struct trace_place place;
    int code = 0;
    if (part->size <= HEURT_UNIT_BYTES)
        return 0;
    code = write_all_at(joining->fd, part->bytes + HEURT_UNIT_BYTES, part->size - HEURT_UNIT_BYTES,
                        HEURT_UNIT_BYTES + joining->shift);
    for (size_t at = trace__first_place(part);
         code == 0 && joining->is_mapped && trace__next_place(part, &at, &place);)
        if (place.chunk)
            code = copy_mapped(joining, &place);
    for (size_t at = trace__first_place(part); code == 0 && trace__next_place(part, &at, &place);)
        if (place.chunk && place.bytes >= sizeof *place.chunk &&
            place.chunk->kind == HEURT_CHUNK_DEFINITIONS && place.chunk->process == HEURT_NO_SERIAL)
            code = move_up(joining, place.chunk);
    return code;
}

static uint64_t least_known(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

/* The header of both: from the first start to the last end, with the CPU time of all. */
static void add_session(struct heurt_session *whole, const struct heurt_session *part)
{
    if (part->start.tick < whole->start.tick) {
        whole->start = part->start;
        whole->start_realtime_ns = part->start_realtime_ns;
    }
    if (whole->finished && part->end.tick > whole->end.tick)
        whole->end = part->end;
    if (!whole->wait_status)
        whole->wait_status = part->wait_status;
    if (whole->others_ns != UINT64_MAX) /* the part's processes were others to the whole */
        whole->others_ns -= part->cpu_ns < whole->others_ns ? part->cpu_ns : whole->others_ns;
    whole->cpu_ns += part->cpu_ns;
    whole->system_ns += part->system_ns;
    whole->faults += part->faults;
    whole->events_lost += part->events_lost;
    whole->kernel_lost += part->kernel_lost;
    whole->full_tick = least_known(whole->full_tick, part->full_tick);
    whole->next_process = part->next_process;
    whole->next_thread = part->next_thread;
}

static int append(struct part_joining *joining, struct error *error)
{
    struct stat status;
    if (pread(joining->fd, &joining->session, sizeof joining->session, 0) !=
            sizeof joining->session ||
        fstat(joining->fd, &status) < 0)
        return failed_to_join(joining, -EIO, error);
    int code = check(joining, error);
    if (code < 0)
        return code;
    uint64_t units = ((uint64_t)status.st_size + HEURT_UNIT_BYTES - 1) / HEURT_UNIT_BYTES;
    joining->shift = (off_t)((units - 1) * HEURT_UNIT_BYTES);
    code = copy(joining);
    if (code == 0) {
        struct heurt_session *session = &joining->session;
        struct heurt_session part = *trace__session(joining->part);
        if (joining->is_mapped)
            session__retime(&part, &joining->map);
        add_session(session, &part);
        session->next_unit =
            units + (joining->part->size + HEURT_UNIT_BYTES - 1) / HEURT_UNIT_BYTES - 1;
        if (session->limit_units < session->next_unit)
            session->limit_units = session->next_unit;
        code = ftruncate(joining->fd, (off_t)(session->next_unit * HEURT_UNIT_BYTES)) < 0
                   ? -errno
                   : write_all_at(joining->fd, (const char *)session, sizeof *session, 0);
    }
    return code < 0 ? failed_to_join(joining, code, error) : 0;
}

int trace_part__append(const char *directory, const char *part, uint32_t rank, struct error *error)
{
    struct part_joining joining = {.directory = directory, .name = part, .rank = rank};
    int fd = open_events(part, O_RDONLY);
    if (fd < 0)
        return failed_to_join(&joining, fd, error);
    int code = trace__open_chunks(fd, part, &joining.part, error);
    close(fd);
    if (code < 0)
        return code;
    joining.fd = open_events(directory, O_RDWR);
    code = joining.fd < 0 ? failed_to_join(&joining, joining.fd, error) : append(&joining, error);
    if (joining.fd >= 0)
        close(joining.fd);
    trace__close(joining.part);
    return code;
}

/* ---- as if it were another host's ------------------------------------------------------------ */

static int shift_chunks(const struct trace *part, const struct clock_map *map, int fd)
{
    struct part_joining joining = {.part = (struct trace *)part, .fd = fd, .map = *map};
    struct heurt_session session = *trace__session(part);
    struct trace_place place;
    int code = 0;
    for (size_t at = trace__first_place(part); code == 0 && trace__next_place(part, &at, &place);)
        if (place.chunk)
            code = copy_mapped(&joining, &place);
    session__retime(&session, map);
    return code < 0 ? code : write_all_at(fd, (const char *)&session, sizeof session, 0);
}

int trace_part__shift(const char *directory, int64_t offset_ns, double drift_ppm,
                      struct error *error)
{
    struct part_joining joining = {.directory = directory, .name = directory};
    joining.fd = open_events(directory, O_RDWR);
    if (joining.fd < 0)
        return failed_to_join(&joining, joining.fd, error);
    int code = trace__open_chunks(joining.fd, directory, &joining.part, error);
    if (code == 0) {
        const struct heurt_session *session = trace__session(joining.part);
        double ns = ns_per_tick(session), rate = 1 + drift_ppm / 1e6;
        uint64_t ticks = ns > 0 ? (uint64_t)(int64_t)((double)offset_ns / ns) : 0;
        struct clock_map map = {session->start.tick,
                                session->start.tick + ticks,
                                rate,
                                session->start.monotonic_ns,
                                session->start.monotonic_ns + (uint64_t)offset_ns,
                                rate};
        code = shift_chunks(joining.part, &map, joining.fd);
        if (code < 0)
            code = failed_to_join(&joining, code, error);
        trace__close(joining.part);
    }
    close(joining.fd);
    return code;
}
