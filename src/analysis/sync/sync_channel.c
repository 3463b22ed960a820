/* sync_channel.c: what is written to pipes, sockets and eventfds, and who reads it.
 *
 * Reads and writes of a channel are counted in bytes. What a read has got ends with the byte up to
 * which all is read then, and that byte was brought by one write: without it the read could not
 * have ended. Where counts cannot be right (a reader that is not seen; who slept would have had
 * what it got) it is the last write, and counting begins anew. A write is told before it has put
 * anything there, so that it is known to whoever reads before it has returned. */
#include "analysis/sync/internal.h"

#include <string.h>

struct written {
    uint64_t end; /* bytes of the channel, with it */
    struct act by;
    bool is_open; /* its end was not told yet */
};

#define UNREAD_MOST 65536 /* writes; of more, nobody who is seen reads them */

struct channel {
    uint64_t written, read; /* bytes */
    struct vec writes;      /* struct written; those from first on are not yet read */
    size_t first;
    struct act last;
    uint32_t reader;    /* thread that read it last; NOBODY */
    uint64_t read_tick; /* when it had done so */
    uint32_t answer;    /* channel that its reader writes to; NOBODY: not known */
    bool takes_all;     /* a read does: eventfds */
};

/* ---- descriptors ----------------------------------------------------------------------------- */

static uint32_t channel_of(struct channels *channels, uint64_t number)
{
    struct channel fresh = {.writes = VEC_OF(struct written),
                            .last = {.thread = NOBODY},
                            .reader = NOBODY,
                            .answer = NOBODY};
    uint64_t place = map__put(&channels->by_number, &number, sizeof number, channels->all.count);
    if (place == channels->all.count)
        vec__push(&channels->all, &fresh);
    return (uint32_t)place;
}

static struct channel *channel_at(const struct channels *channels, uint32_t channel)
{
    return VEC_AT(&channels->all, struct channel, channel);
}

/* What the other end of a Unix socket reads from: of the one that came to the same name as first.
 */
static void meet(struct channels *channels, uint64_t name, uint32_t in)
{
    uint64_t other = name ^ HEURT_CHANNEL_ACCEPTED;
    uint64_t place = map__get(&channels->meetings, &other, sizeof other);
    struct vec *waiting =
        place == MAP_ABSENT ? NULL : VEC_AT(&channels->waiting, struct vec, place);
    if (waiting && waiting->count) {
        uint32_t end = *VEC_AT(waiting, uint32_t, 0);
        waiting->count--;
        memmove(waiting->items, (uint32_t *)waiting->items + 1, waiting->count * sizeof end);
        channel_at(channels, in)->answer = end;
        channel_at(channels, end)->answer = in;
        return;
    }
    place = map__put(&channels->meetings, &name, sizeof name, channels->waiting.count);
    if (place == channels->waiting.count) {
        struct vec fresh = VEC_OF(uint32_t);
        vec__push(&channels->waiting, &fresh);
    }
    vec__push(VEC_AT(&channels->waiting, struct vec, place), &in);
}

void channel__told(struct sync_events *walk, const struct thread_state *thread,
                   const struct step *step)
{
    struct channels *channels = &walk->channels;
    const uint32_t key[2] = {thread->serial, (uint32_t)step->payload[0]};
    uint64_t out = step->payload[2];
    uint32_t in = channel_of(channels, step->payload[1]);
    uint64_t place = map__put(&channels->by_descriptor, key, sizeof key, channels->ends.count);
    if (place == channels->ends.count)
        vec__push(&channels->ends, &in);
    *VEC_AT(&channels->ends, uint32_t, place) = in;
    channel_at(channels, in)->takes_all = step->payload[0] >> 32 == HEURT_DESCRIPTOR_OTHER;
    if (out & HEURT_CHANNEL_MEETS) {
        meet(channels, out, in);
    } else if (out) {
        uint32_t answer = channel_of(channels, out);
        channel_at(channels, in)->answer = answer;
    }
}

/* The channel that the process's descriptor reads from. It has the descriptors of who forked it. */
static uint32_t channel_at_end(const struct sync_events *walk, uint32_t process,
                               uint32_t descriptor)
{
    while (process != HEURT_NO_SERIAL) {
        const uint32_t key[2] = {process, descriptor};
        uint64_t place = map__get(&walk->channels.by_descriptor, key, sizeof key);
        if (place != MAP_ABSENT)
            return *VEC_AT(&walk->channels.ends, uint32_t, place);
        const struct trace_process *row = trace__process_of(walk->trace, process);
        process = row ? row->parent_serial : HEURT_NO_SERIAL;
    }
    return NOBODY;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum transfer transfer_of(uint32_t call)
{
    switch (call) {
    case HEURT_IO_READ:
    case HEURT_IO_READV:
    case HEURT_IO_RECV:
    case HEURT_IO_RECVFROM:
    case HEURT_IO_RECVMSG:
    case HEURT_IO_RECVMMSG:
    case HEURT_IO_MQ_RECEIVE:
    case HEURT_IO_MSGRCV:
        return TRANSFER_IN;
    case HEURT_IO_WRITE:
    case HEURT_IO_WRITEV:
    case HEURT_IO_SEND:
    case HEURT_IO_SENDTO:
    case HEURT_IO_SENDMSG:
    case HEURT_IO_SENDMMSG:
    case HEURT_IO_SENDFILE:
    case HEURT_IO_MQ_SEND:
    case HEURT_IO_MSGSND:
        return TRANSFER_OUT;
    case HEURT_IO_POLL:
    case HEURT_IO_SELECT:
    case HEURT_IO_EPOLL_WAIT:
        return TRANSFER_READY;
    default:
        return TRANSFER_NONE;
    }
}

/* What was read is forgotten, at times. */
static void forget_read(struct channel *channel)
{
    if (channel->first < 64 || channel->first < channel->writes.count / 2)
        return;
    channel->writes.count -= channel->first;
    memmove(channel->writes.items, VEC_AT(&channel->writes, struct written, channel->first),
            channel->writes.count * sizeof(struct written));
    channel->first = 0;
}

static struct act take_last(struct channel *channel)
{
    channel->first = channel->writes.count;
    channel->read = channel->written;
    return channel->last;
}

static struct written *written_by(struct channel *channel, uint32_t thread)
{
    for (size_t i = channel->writes.count; i-- > channel->first;) {
        struct written *written = VEC_AT(&channel->writes, struct written, i);
        if (written->is_open && written->by.thread == thread)
            return written;
    }
    return NULL;
}

static void write_begins(struct sync_events *walk, struct thread_state *thread,
                         const struct step *step)
{
    struct channel *channel = channel_at(&walk->channels, thread->channel);
    channel->last = (struct act){index_of(walk, thread), thread->steps.tick,
                                 HEURT_SITE_ADDRESS(step->payload[0])};
    channel->written += step->payload[2];
    struct written row = {channel->written, channel->last, true};
    if (channel->writes.count - channel->first == UNREAD_MOST)
        take_last(channel);
    forget_read(channel);
    vec__push(&channel->writes, &row);
    struct thread_state *reader =
        channel->reader != NOBODY ? &walk->threads[channel->reader] : NULL;
    if (reader && reader->transfer == TRANSFER_READY && reader->arrived.thread == NOBODY)
        reader->arrived = channel->last;
}

static void write_ends(struct sync_events *walk, struct thread_state *thread, int64_t result,
                       uint64_t asked)
{
    struct channel *channel = channel_at(&walk->channels, thread->channel);
    uint64_t missing = result < 0 ? asked : (uint64_t)result < asked ? asked - (uint64_t)result : 0;
    struct written *own = written_by(channel, index_of(walk, thread));
    channel->written -= missing < channel->written ? missing : channel->written;
    if (channel->last.thread == index_of(walk, thread))
        channel->last.tick = thread->steps.tick;
    if (!own)
        return;
    own->is_open = false;
    own->by.tick = thread->steps.tick;
    for (size_t i = (size_t)(own - (struct written *)channel->writes.items);
         i < channel->writes.count; i++)
        VEC_AT(&channel->writes, struct written, i)->end -= missing;
}

/* Who brought the last of so many bytes. slept: since then. */
static struct act take_bytes(struct channel *channel, uint64_t bytes, uint64_t slept)
{
    struct act by = {.thread = NOBODY};
    channel->read += bytes;
    if (channel->takes_all || channel->read > channel->written)
        return take_last(channel);
    while (channel->first < channel->writes.count) {
        const struct written *written = VEC_AT(&channel->writes, struct written, channel->first);
        by = written->by;
        if (written->end > channel->read)
            break;
        channel->first++;
        if (written->end == channel->read)
            break;
    }
    forget_read(channel);
    return by.thread != NOBODY && slept > by.tick ? take_last(channel) : by;
}

/* When the one who wrote there what the thread has read had got what that had written to it last,
 * the other way; 0: it is no answer, or not known. */
static uint64_t asked_at(const struct sync_events *walk, const struct thread_state *thread,
                         const struct channel *answers, uint32_t by)
{
    if (answers->answer == NOBODY)
        return 0;
    const struct channel *questions = channel_at(&walk->channels, answers->answer);
    bool is_asked = questions->reader == by && questions->last.thread == index_of(walk, thread);
    return is_asked ? questions->read_tick : 0;
}

static void tell_received(struct sync_events *walk, struct thread_state *thread,
                          const struct act *by, uint64_t asked)
{
    if (by->thread == NOBODY || by->thread == index_of(walk, thread))
        return;
    struct sync_event *event =
        sync_events__tell(walk, thread, SYNC_EVENT_RECEIVED, SYNC_EVENT_NO_OBJECT);
    event->since = thread->call_since;
    event->how = thread->slept_since != 0;
    sync_event__set_by(event, by);
    event->asked = asked;
}

static void read_ends(struct sync_events *walk, struct thread_state *thread, int64_t result)
{
    struct channel *channel = channel_at(&walk->channels, thread->channel);
    if (result <= 0)
        return;
    channel->reader = index_of(walk, thread);
    channel->read_tick = thread->steps.tick;
    struct act by = take_bytes(channel, (uint64_t)result, thread->slept_since);
    uint64_t asked = by.thread != NOBODY ? asked_at(walk, thread, channel, by.thread) : 0;
    tell_received(walk, thread, &by, asked);
}

/* ---- of a thread ----------------------------------------------------------------------------- */

void transfer__begins(struct sync_events *walk, struct thread_state *thread,
                      const struct step *step)
{
    if (step->id != HEURT_EVENT_IO || step->words < 3)
        return;
    enum transfer transfer = transfer_of(HEURT_SITE_HOW(step->payload[0]));
    thread->call_since = thread->steps.tick;
    thread->slept_since = 0;
    thread->bytes = step->payload[2];
    thread->arrived.thread = thread->channel = NOBODY;
    if (transfer == TRANSFER_IN || transfer == TRANSFER_OUT)
        thread->channel = channel_at_end(walk, thread->serial, (uint32_t)step->payload[1]);
    if (transfer == TRANSFER_OUT && thread->channel != NOBODY)
        thread->channel = channel_at(&walk->channels, thread->channel)->answer;
    thread->transfer =
        transfer == TRANSFER_READY || thread->channel != NOBODY ? transfer : TRANSFER_NONE;
    if (thread->transfer == TRANSFER_OUT)
        write_begins(walk, thread, step);
}

void transfer__ends(struct sync_events *walk, struct thread_state *thread, const struct step *step)
{
    int64_t result = step && step->words ? (int64_t)step->payload[0] : -1;
    enum transfer transfer = thread->transfer;
    thread->transfer = TRANSFER_NONE;
    if (transfer == TRANSFER_OUT)
        write_ends(walk, thread, result, thread->bytes);
    else if (transfer == TRANSFER_IN)
        read_ends(walk, thread, result);
    else if (transfer == TRANSFER_READY && result > 0)
        tell_received(walk, thread, &thread->arrived, 0);
}

struct channels channels__start(void)
{
    return (struct channels){
        .all = VEC_OF(struct channel), .ends = VEC_OF(uint32_t), .waiting = VEC_OF(struct vec)};
}

void channels__free(struct channels *channels)
{
    VEC_EACH (channel, &channels->all, struct channel)
        vec__free(&channel->writes);
    VEC_EACH (waiting, &channels->waiting, struct vec)
        vec__free(waiting);
    vec__free(&channels->all);
    vec__free(&channels->ends);
    vec__free(&channels->waiting);
    map__free(&channels->by_number);
    map__free(&channels->by_descriptor);
    map__free(&channels->meetings);
}
