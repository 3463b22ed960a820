/* One thread's events as calls of MPI, and what these sent, awaited and came to. */
#include "analysis/events/message_acts.h"
#include "analysis/events/open_call.h"
#include "analysis/events/time_off_cpu.h"
#include "analysis/mpi/internal.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

#define LOOK_BACK 64u /* accesses, for the last one of a rank's memory */

struct mpi_part {
    const struct trace *trace;
    struct rank_record record;
    struct map places;  /* site, call → index of places */
    struct map pending; /* request → kind << 32 | index in posts_of(kind) */
    bool is_in_call;
    uint64_t open_site;  /* of the call outside of MPI that it is in; 0: none */
    struct map blocking; /* site → index of doings, which are ticks until the walk ends */
};

enum pending_kind {
    PENDING_SEND,
    PENDING_RECEIVE,
    PENDING_COLLECTIVE,
    PENDING_ACCESS,
    PENDING_LOCK,
    PENDING_KINDS
};

static uint32_t place_of(struct mpi_part *part, const struct message_act *act)
{
    const struct vec *places = &part->record.places;
    const uint64_t key[] = {act->site, act->call};
    uint64_t found = map__put(&part->places, key, sizeof key, places->count);
    if (found == places->count)
        vec__push(&part->record.places, &(struct rank_place){.site = act->site, .call = act->call});
    return (uint32_t)found;
}

static void begin_call(struct mpi_part *part, const struct message_act *act)
{
    uint32_t place = place_of(part, act);
    if (place >= RANK_PLACES_MOST)
        return;
    VEC_AT(&part->record.places, struct rank_place, place)->bytes += act->bytes;
    vec__push(&part->record.calls,
              &(struct rank_call){
                  .enter = act->tick, .leave = act->tick, .blocker = MPI_NOBODY, .place = place});
    part->is_in_call = true;
}

static uint32_t call_of_now(const struct mpi_part *part)
{
    return part->is_in_call ? (uint32_t)(part->record.calls.count - 1) : NO_CALL;
}

static void end_call(struct mpi_part *part, uint64_t tick, uint32_t repeated)
{
    if (part->is_in_call) {
        struct rank_call *call = rank_record__call(&part->record, call_of_now(part));
        call->leave = tick;
        VEC_AT(&part->record.places, struct rank_place, call->place)->repeated += repeated;
    }
    part->is_in_call = false;
}

static struct vec *posts_of(struct rank_record *record, enum pending_kind kind)
{
    struct vec *const posts[PENDING_KINDS] = {
        &record->sends, &record->receives, &record->collectives, &record->accesses, &record->locks};
    return posts[kind];
}

static void post(struct mpi_part *part, const struct message_act *act, enum pending_kind kind)
{
    uint32_t now = call_of_now(part);
    struct vec *posts = posts_of(&part->record, kind);
    if (now == NO_CALL)
        return;
    if (act->request)
        map__put(&part->pending, &act->request, sizeof act->request,
                 (uint64_t)kind << 32 | posts->count);
    bool is_collective = kind == PENDING_COLLECTIVE;
    vec__push(posts, &(struct rank_post){.tick = act->tick,
                                         .bytes = act->bytes,
                                         .call = now,
                                         .done = act->request ? NO_CALL : now,
                                         .communicator = act->communicator,
                                         .peer = act->rank,
                                         .tag = is_collective ? act->call : act->tag,
                                         .order = (uint32_t)posts->count & INT32_MAX});
}

/* Before a signal that accesses are over: the last call that accessed memory of that rank. */
static uint32_t last_access(const struct rank_record *record, const struct message_act *act)
{
    const struct rank_post *accesses = record->accesses.items;
    for (size_t i = record->accesses.count; i-- > 0 && record->accesses.count - i <= LOOK_BACK;)
        if (accesses[i].communicator == act->communicator && accesses[i].peer == act->rank)
            return accesses[i].call;
    return NO_CALL;
}

static void post_signal(struct mpi_part *part, const struct message_act *act)
{
    size_t count = part->record.sends.count;
    post(part, act, PENDING_SEND);
    if (act->tag == HEURT_SIGNAL_COMPLETE && part->record.sends.count > count)
        VEC_AT(&part->record.sends, struct rank_post, count)->done =
            last_access(&part->record, act);
}

/* A request may be made by one thread and done by another: then it stays open here. */
static void done(struct mpi_part *part, const struct message_act *act)
{
    uint64_t found = map__get(&part->pending, &act->request, sizeof act->request);
    if (found == MAP_ABSENT)
        return;
    enum pending_kind kind = (enum pending_kind)(found >> 32);
    struct rank_post *posted =
        VEC_AT(posts_of(&part->record, kind), struct rank_post, (uint32_t)found);
    posted->done = call_of_now(part);
    posted->is_cancelled = act->type == MESSAGE_REQUEST_CANCELLED;
    if (kind == PENDING_RECEIVE && !posted->is_cancelled) {
        posted->peer = act->rank;
        posted->tag = act->tag;
        posted->bytes = act->bytes;
    }
}

static void take_act(struct mpi_part *part, const struct message_act *act)
{
    struct rank_record *record = &part->record;
    switch (act->type) {
    case MESSAGE_CALL_BEGINS:
        begin_call(part, act);
        return;
    case MESSAGE_CALL_ENDS:
        end_call(part, act->tick, act->size);
        return;
    case MESSAGE_IS_SENT:
        post(part, act, PENDING_SEND);
        return;
    case MESSAGE_IS_AWAITED:
        post(part, act, PENDING_RECEIVE);
        return;
    case MESSAGE_COLLECTIVE_BEGINS:
        post(part, act, PENDING_COLLECTIVE);
        return;
    case MESSAGE_REQUEST_DONE:
    case MESSAGE_REQUEST_CANCELLED:
        done(part, act);
        return;
    case MESSAGE_COMMUNICATOR_MADE:
        vec__push(&record->members, &(struct rank_member){act->communicator, act->size, act->rank,
                                                          (uint32_t)(act->bytes >> 32)});
        return;
    case MESSAGE_ACCESS:
        post(part, act, PENDING_ACCESS);
        return;
    case MESSAGE_SIGNAL_SENT:
        post_signal(part, act);
        return;
    case MESSAGE_SIGNAL_AWAITED:
        post(part, act, PENDING_RECEIVE);
        return;
    case MESSAGE_LOCK_AWAITED:
        post(part, act, PENDING_LOCK);
        return;
    case MESSAGE_RANK_KNOWN:
        record->rank = act->rank;
        record->size = act->size;
        record->library = act->call;
        record->threads_level = act->tag;
        return;
    default:
        return;
    }
}

void *mpi_walk__thread(const struct trace *trace, uint32_t thread)
{
    struct mpi_part *part = memory__zeroed(1, sizeof *part);
    const struct trace_thread *own = trace__thread_at(trace, thread);
    part->trace = trace;
    part->record = (struct rank_record){.process = trace__serial_of(trace, thread),
                                        .thread = thread,
                                        .rank = MPI_NOBODY,
                                        .begin = own->start_tick,
                                        .end = own->end_tick,
                                        .places = VEC_OF(struct rank_place),
                                        .calls = VEC_OF(struct rank_call),
                                        .sends = VEC_OF(struct rank_post),
                                        .receives = VEC_OF(struct rank_post),
                                        .collectives = VEC_OF(struct rank_post),
                                        .accesses = VEC_OF(struct rank_post),
                                        .locks = VEC_OF(struct rank_post),
                                        .splits = VEC_OF(struct rank_split),
                                        .members = VEC_OF(struct rank_member),
                                        .offs = VEC_OF(struct rank_off),
                                        .doings = VEC_OF(struct rank_doing)};
    return part;
}

static void add_blocked(struct mpi_part *part, const struct off_cpu *off)
{
    struct vec *doings = &part->record.doings;
    if (part->is_in_call || !part->open_site || off->runnable <= off->begin)
        return;
    uint64_t at =
        map__put(&part->blocking, &part->open_site, sizeof part->open_site, doings->count);
    if (at == doings->count)
        vec__push(doings, &(struct rank_doing){part->open_site, 0});
    VEC_AT(doings, struct rank_doing, at)->ns += off->runnable - off->begin;
}

void mpi_walk__event(void *self, const struct event *event)
{
    struct mpi_part *part = self;
    struct message_act act = message_act__of(event);
    if (act.type != MESSAGE_ACT_NOTHING) {
        take_act(part, &act);
        return;
    }
    part->open_site = open_call__site(event, part->open_site);
    struct off_cpu off = off_cpu__of(event);
    if ((off.type == OFF_CPU_BLOCKED || off.type == OFF_CPU_PREEMPTED) && off.end > off.begin) {
        vec__push(&part->record.offs, &(struct rank_off){off.begin, off.runnable, off.end});
        add_blocked(part, &off);
    }
}

/* A call that is open when the trace ends, ends then. */
void mpi_walk__end(void *self)
{
    struct mpi_part *part = self;
    end_call(part, part->record.end, 0);
    VEC_EACH (doing, &part->record.doings, struct rank_doing)
        doing->ns = trace__ns(part->trace, doing->ns);
}

struct rank_record mpi_walk__take(void *self)
{
    struct mpi_part *part = self;
    struct rank_record record = part->record;
    struct vec *all[] = {&record.calls,       &record.sends,    &record.receives,
                         &record.collectives, &record.accesses, &record.locks};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        vec__trim(all[i]);
    record.callers = record.calls.count > 0;
    map__free(&part->places);
    map__free(&part->pending);
    map__free(&part->blocking);
    free(part);
    return record;
}

void rank_record__free(struct rank_record *record)
{
    vec__free(&record->places);
    vec__free(&record->calls);
    vec__free(&record->sends);
    vec__free(&record->receives);
    vec__free(&record->collectives);
    vec__free(&record->accesses);
    vec__free(&record->locks);
    vec__free(&record->splits);
    vec__free(&record->members);
    vec__free(&record->offs);
    vec__free(&record->doings);
}
