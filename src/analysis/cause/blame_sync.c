/* blame_sync.c: barriers and signals. */
#include "analysis/cause/internal.h"

#define PARTIES_AT_FIRST 64

static struct meeting *meeting_at(const struct blame_walk *walk, uint64_t place)
{
    return VEC_AT(&walk->meetings, struct meeting, place);
}

static uint64_t place_of(struct blame_walk *walk, uint32_t process, enum class_kind kind,
                         uint64_t object)
{
    uint64_t key[3] = {process, kind, object};
    uint64_t place = map__put(&walk->meeting_places, key, sizeof key, walk->meetings.count);
    if (place == walk->meetings.count) {
        struct meeting fresh = {
            .turnstile = turnstile__start(process, kind), .object = object, .signaller = NOBODY};
        fresh.arrivals = VEC_OF(struct arrival);
        fresh.parties = VEC_OF(struct watched);
        vec__push(&walk->meetings, &fresh);
    }
    return place;
}

/* Divides ticks as what was done between two looks is divided. */
static void divide(const struct doing *now, const struct doing *before, uint64_t ticks,
                   struct doing *part)
{
    uint64_t sum = 0, left = ticks;
    unsigned most = 0;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        part->ticks[i] = now->ticks[i] > before->ticks[i] ? now->ticks[i] - before->ticks[i] : 0;
        sum += part->ticks[i];
        most = part->ticks[i] > part->ticks[most] ? i : most;
    }
    if (!sum)
        most = COMPONENT_OTHER_BLOCKED; /* nobody knows */
    for (unsigned i = 0; i < COMPONENTS && sum; i++) {
        part->ticks[i] = (uint64_t)((unsigned __int128)part->ticks[i] * ticks / sum);
        left -= part->ticks[i];
    }
    part->ticks[most] += left;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void add_party(struct meeting *barrier, uint32_t thread)
{
    struct watched party = {.thread = thread};
    vec__push(&barrier->parties, &party);
}

/* What those had done at the round's first arrival who may be its last ones: who was there the last
 * time; at first, any of the process. */
static void start_round(struct blame_walk *walk, struct meeting *barrier, uint64_t tick)
{
    for (uint32_t i = 0; i < walk->thread_count && !barrier->round; i++) {
        if (walk->threads[i].serial == barrier->turnstile.process && !walk->threads[i].ended &&
            barrier->parties.count < PARTIES_AT_FIRST)
            add_party(barrier, i);
    }
    VEC_EACH (party, &barrier->parties, struct watched)
        party->before = *thread__did(walk, &walk->threads[party->thread], tick);
}

void barrier__wait_begins(struct blame_walk *walk, struct blame_thread *thread)
{
    thread->place = place_of(walk, thread->serial, CLASS_BARRIER, thread->waits[0].object);
    struct meeting *barrier = meeting_at(walk, thread->place);
    if (!barrier->arrivals.count)
        start_round(walk, barrier, thread->steps.tick);
    struct arrival arrival = {.thread = thread->index,
                              .tick = thread->steps.tick,
                              .site = HEURT_SITE_ADDRESS(thread->waits[0].site),
                              .did = *thread__did(walk, thread, thread->steps.tick)};
    vec__push(&barrier->arrivals, &arrival);
    thread->number = barrier->round;
}

static const struct doing *before_round(const struct meeting *barrier, uint32_t thread)
{
    static const struct doing nothing; /* all its life will do */
    VEC_EACH (party, &barrier->parties, struct watched) {
        if (party->thread == thread)
            return &party->before;
    }
    return &nothing;
}

static void blame_last(struct blame_walk *walk, const struct meeting *barrier)
{
    const struct arrival *last =
        VEC_AT(&barrier->arrivals, struct arrival, barrier->arrivals.count - 1);
    const struct doing *before = before_round(barrier, last->thread);
    struct blocker blocker = {barrier->turnstile.process, last->thread, true, last->site};
    VEC_EACH (arrival, &barrier->arrivals, struct arrival) {
        struct blame_thread *waiter = &walk->threads[arrival->thread];
        uint64_t ticks = last->tick - arrival->tick, most = wait__ticks(waiter);
        struct doing part;
        if (!waiter->entry)
            continue;
        divide(&last->did, before, ticks < most ? ticks : most, &part);
        entry__blame(waiter->entry, &blocker, &part);
    }
}

static void end_round(struct meeting *barrier)
{
    barrier->parties.count = 0;
    VEC_EACH (arrival, &barrier->arrivals, struct arrival)
        add_party(barrier, arrival->thread);
    barrier->arrivals.count = 0;
    barrier->round++;
}

static void forget_arrival(struct meeting *barrier, uint32_t thread)
{
    size_t kept = 0;
    for (size_t i = 0; i < barrier->arrivals.count; i++) {
        const struct arrival *arrival = VEC_AT(&barrier->arrivals, struct arrival, i);
        if (arrival->thread != thread)
            *VEC_AT(&barrier->arrivals, struct arrival, kept++) = *arrival;
    }
    barrier->arrivals.count = kept;
}

void barrier__wait_ends(struct blame_walk *walk, struct blame_thread *thread, bool round)
{
    struct meeting *barrier = meeting_at(walk, thread->place);
    if (thread->number != barrier->round)
        return; /* not the first one to leave */
    if (!round) {
        forget_arrival(barrier, thread->index);
        return;
    }
    blame_last(walk, barrier);
    end_round(barrier);
}

/* ---- threads whose doings a wait may need ---------------------------------------------------- */

static void watch(struct blame_walk *walk, struct blame_thread *thread, uint32_t index)
{
    if (index == thread->index || thread->watched_count == WATCHED)
        return;
    for (uint32_t i = 0; i < thread->watched_count; i++) {
        if (thread->watched[i].thread == index)
            return;
    }
    thread->watched[thread->watched_count++] = (struct watched){
        .thread = index, .before = *thread__did(walk, &walk->threads[index], thread->steps.tick)};
}

/* Who signalled there lately; else threads of the process that may. */
static void watch_signallers(struct blame_walk *walk, struct blame_thread *thread,
                             const struct meeting *meeting)
{
    thread->watched_count = 0;
    for (uint32_t i = 0; i < meeting->recent_count; i++)
        watch(walk, thread, meeting->recent[i]);
    size_t looked_at = walk->thread_count < 2 * WATCHED ? walk->thread_count : 2 * WATCHED;
    for (uint32_t i = 0; i < looked_at; i++) {
        if (walk->threads[i].serial == thread->serial && !walk->threads[i].ended)
            watch(walk, thread, i);
    }
}

static void blame_watched(struct blame_walk *walk, struct blame_thread *thread,
                          const struct blocker *blocker)
{
    static const struct doing nothing;
    const struct doing *before = &nothing;
    for (uint32_t i = 0; i < thread->watched_count; i++) {
        if (thread->watched[i].thread == blocker->thread)
            before = &thread->watched[i].before;
    }
    struct doing part;
    divide(thread__did(walk, &walk->threads[blocker->thread], thread->steps.tick), before,
           wait__ticks(thread), &part);
    entry__blame(thread->entry, blocker, &part);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void keep_recent(struct meeting *meeting, uint32_t thread)
{
    uint32_t place = 0;
    while (place < meeting->recent_count && meeting->recent[place] != thread)
        place++;
    if (place == meeting->recent_count) {
        if (meeting->recent_count < WATCHED)
            meeting->recent_count++;
        else
            place--;
    }
    for (; place > 0; place--)
        meeting->recent[place] = meeting->recent[place - 1];
    meeting->recent[0] = thread;
}

void signal__given(struct blame_walk *walk, struct blame_thread *thread, enum class_kind kind,
                   uint64_t site, uint64_t object)
{
    struct meeting *meeting = meeting_at(walk, place_of(walk, thread->serial, kind, object));
    meeting->signals++;
    meeting->signaller = thread->index;
    meeting->site = HEURT_SITE_ADDRESS(site);
    keep_recent(meeting, thread->index);
    if (kind == CLASS_SEMAPHORE)
        turnstile__member(&meeting->turnstile, thread->index)->given++;
}

void signal__wait_begins(struct blame_walk *walk, struct blame_thread *thread, enum class_kind kind)
{
    thread->place = place_of(walk, thread->serial, kind, thread->waits[0].object);
    struct meeting *meeting = meeting_at(walk, thread->place);
    meeting->turnstile.any_wait = true;
    if (kind == CLASS_CONDITION)
        meeting->turnstile.mutex = thread->waits[0].mutex;
    thread->number = meeting->signals;
    watch_signallers(walk, thread, meeting);
}

void signal__wait_ends(struct blame_walk *walk, struct blame_thread *thread, bool blame)
{
    struct meeting *meeting = meeting_at(walk, thread->place);
    uint64_t ticks = wait__ticks(thread);
    struct blocker blocker = {meeting->turnstile.process, meeting->signaller, false, meeting->site};
    meeting->turnstile.waited += ticks;
    turnstile__member(&meeting->turnstile, thread->index)->waited += ticks;
    if (!blame || meeting->signals == thread->number || blocker.thread == thread->index)
        return;
    turnstile__member(&meeting->turnstile, blocker.thread)->ended += ticks;
    if (thread->entry)
        blame_watched(walk, thread, &blocker);
}

void semaphore__taken(struct blame_walk *walk, const struct blame_thread *thread, uint64_t object,
                      uint64_t times)
{
    uint64_t place = place_of(walk, thread->serial, CLASS_SEMAPHORE, object);
    turnstile__member(&meeting_at(walk, place)->turnstile, thread->index)->taken += times;
}

void meetings__find_idle(struct blame_walk *walk)
{
    struct vec turnstiles = VEC_OF(struct turnstile *);
    VEC_EACH (meeting, &walk->meetings, struct meeting) {
        struct turnstile *turnstile = &meeting->turnstile;
        vec__push(&turnstiles, &turnstile);
    }
    turns__find(&turnstiles, walk->thread_count);
    vec__free(&turnstiles);
    VEC_EACH (entry, &walk->table->entries, struct class_entry *) {
        const struct class_definition *what = &(*entry)->what;
        uint64_t key[3] = {what->at.process, what->at.kind, what->object};
        if (what->at.kind != CLASS_CONDITION && what->at.kind != CLASS_SEMAPHORE)
            continue;
        uint64_t place = map__get(&walk->meeting_places, key, sizeof key);
        if (place != MAP_ABSENT)
            (*entry)->idle =
                turnstile__is_idle(&VEC_AT(&walk->meetings, struct meeting, place)->turnstile);
    }
}

void meetings__free(struct blame_walk *walk)
{
    VEC_EACH (meeting, &walk->meetings, struct meeting) {
        turnstile__free(&meeting->turnstile);
        vec__free(&meeting->arrivals);
        vec__free(&meeting->parties);
    }
    vec__free(&walk->meetings);
    map__free(&walk->meeting_places);
}
