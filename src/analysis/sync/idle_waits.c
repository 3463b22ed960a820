#include "analysis/sync/idle_waits.h"

#include "analysis/sync/internal.h"
#include "base/memory.h"

#include <stdlib.h>

#define TURNS_SHARE 10 /* one in so many ticks of the waited time */
#define RING_SHARE 2   /* likewise, of what one wait of a ring passes on to the next */
#define AT_END_PART 20 /* of a wait: so soon after it ended the one who ended it was done */
#define ON_PART 10     /* of waits in vain: so soon after them the next one goes on with them */
#define WORK_PART 4    /* of waits in vain: who works less between them only looks now and then */
#define COMPANY_AT_MOST 128u /* of more conditions of a mutex no ways are looked for */

/* What a thread has to do with a condition or semaphore. */
struct member {
    uint32_t thread;
    uint64_t waited, ended; /* ticks: that it waited, that others waited until it signalled */
    uint64_t taken, given;  /* how often: taken of semaphores alone */
    /* What others waited here in vain, while it waited for what they did later. */
    uint64_t kept;
    uint64_t turns; /* ticks of ended in which it passed a turn on */
};

/* A condition or semaphore. */
struct turnstile {
    uint32_t process; /* serial */
    enum class_kind kind;
    uint64_t mutex;  /* that goes with the condition */
    uint64_t site;   /* of the first wait */
    uint64_t waited; /* ticks, in waits that ended */
    uint64_t joined; /* of them: until a thread was done that the one who waited had created */
    uint64_t
        kept; /* of them: in vain, while others waited for what the one who waits ended later */
    struct vec members; /* struct member */
    bool any_wait;
    bool passes_turns; /* found: not idle */
    bool is_join;      /* found: most of it */
};

static struct member *member_of(struct turnstile *meeting, uint32_t thread)
{
    VEC_EACH (member, &meeting->members, struct member) {
        if (member->thread == thread)
            return member;
    }
    struct member fresh = {.thread = thread};
    return vec__push(&meeting->members, &fresh);
}

/* Conditions of one mutex, or semaphores of one process. */
struct company {
    struct turnstile *meetings[COMPANY_AT_MOST];
    unsigned count;
    /* Whether who waits for the first ends half of the waits for the second, at the same place. */
    bool leads[COMPANY_AT_MOST][COMPANY_AT_MOST];
    uint64_t *waited; /* by thread: for one of them */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_share(uint64_t ticks, const struct turnstile *meeting)
{
    return ticks && ticks >= meeting->waited / TURNS_SHARE;
}

static void set_turns(struct member *member, uint64_t ticks)
{
    if (ticks > member->turns)
        member->turns = ticks;
}

/* Those who end waits and wait there themselves. */
static void find_own_turns(struct turnstile *meeting)
{
    VEC_EACH (member, &meeting->members, struct member) {
        uint64_t often = least(member->taken, member->given);
        if (meeting->kind == CLASS_CONDITION)
            set_turns(member, least(member->waited, member->ended));
        else if (often)
            set_turns(member,
                      (uint64_t)((double)member->ended * (double)often / (double)member->given));
    }
}

/* What is passed on from the one, for which its members wait, to the other. */
static uint64_t passed_on(const struct company *company, const struct turnstile *to)
{
    uint64_t sum = 0;
    VEC_EACH (member, &to->members, struct member)
        sum += least(member->ended, company->waited[member->thread]);
    return sum;
}

static void set_waited(struct company *company, const struct turnstile *from, bool waited)
{
    VEC_EACH (member, &from->members, struct member)
        company->waited[member->thread] = waited ? member->waited : 0;
}

/* Who waits at another place, for room or for results, is a stage, as of a pipeline. */
static bool leads_to(const struct company *company, const struct turnstile *from,
                     const struct turnstile *to)
{
    uint64_t passed = passed_on(company, to);
    return from != to && from->site == to->site && passed && passed >= to->waited / RING_SHARE;
}

static void find_leads(struct company *company)
{
    for (unsigned from = 0; from < company->count; from++) {
        set_waited(company, company->meetings[from], true);
        for (unsigned to = 0; to < company->count; to++)
            company->leads[from][to] =
                leads_to(company, company->meetings[from], company->meetings[to]);
        set_waited(company, company->meetings[from], false);
    }
}

/* Whether from the second a way goes to the first that is longer than one step. */
static bool has_way_back(const struct company *company, unsigned from, unsigned to)
{
    bool seen[COMPANY_AT_MOST] = {false};
    unsigned open[COMPANY_AT_MOST], count = 0;
    open[count++] = to;
    seen[to] = true;
    while (count) {
        unsigned at = open[--count];
        if (at != to && company->leads[at][from])
            return true;
        for (unsigned next = 0; next < company->count; next++) {
            if (company->leads[at][next] && !seen[next] && next != from) {
                seen[next] = true;
                open[count++] = next;
            }
        }
    }
    return false;
}

static void find_rings(struct company *company)
{
    find_leads(company);
    for (unsigned from = 0; from < company->count; from++) {
        set_waited(company, company->meetings[from], true);
        for (unsigned to = 0; to < company->count; to++) {
            if (!company->leads[from][to] || !has_way_back(company, from, to))
                continue;
            VEC_EACH (member, &company->meetings[to]->members, struct member)
                set_turns(member, least(member->ended, company->waited[member->thread]));
        }
        set_waited(company, company->meetings[from], false);
    }
}

static int by_company(const void *a, const void *b)
{
    const struct turnstile *left = *(struct turnstile *const *)a,
                           *right = *(struct turnstile *const *)b;
    int order = ORDER(left->process, right->process) ?: ORDER(left->kind, right->kind);
    return order ?: ORDER(left->mutex, right->mutex);
}

static void find_company(struct company *company, struct turnstile *const *meetings, size_t count)
{
    company->count = 0;
    for (size_t i = 0; i < count; i++) {
        find_own_turns(meetings[i]);
        if (count <= COMPANY_AT_MOST)
            company->meetings[company->count++] = meetings[i];
    }
    if (company->count > 2)
        find_rings(company);
    for (size_t i = 0; i < count; i++) {
        uint64_t turns = 0;
        VEC_EACH (member, &meetings[i]->members, struct member)
            turns += member->turns + (member->given ? member->kept : 0);
        meetings[i]->is_join = meetings[i]->joined > meetings[i]->waited / 2;
        meetings[i]->passes_turns =
            is_share(turns + meetings[i]->kept, meetings[i]) && !meetings[i]->is_join;
    }
}

static struct vec those_with_waits(const struct idle_waits *idle)
{
    struct vec turnstiles = VEC_OF(struct turnstile *);
    VEC_EACH (turnstile, &idle->turnstiles, struct turnstile *)
        if (*turnstile && (*turnstile)->any_wait)
            vec__push(&turnstiles, turnstile);
    return turnstiles;
}

void idle_waits__find(struct idle_waits *idle, size_t threads)
{
    struct vec turnstiles = those_with_waits(idle);
    struct company *company = memory__zeroed(1, sizeof *company);
    company->waited = memory__zeroed(threads, sizeof *company->waited);
    vec__sort(&turnstiles, by_company);
    for (size_t first = 0, end; first < turnstiles.count; first = end) {
        struct turnstile *const *own = VEC_AT(&turnstiles, struct turnstile *, first);
        for (end = first + 1; end < turnstiles.count && !by_company(&own[0], &own[end - first]);)
            end++;
        find_company(company, own, end - first);
    }
    free(company->waited);
    free(company);
    vec__free(&turnstiles);
}

/* NULL: nothing is known of it. */
static const struct turnstile *turnstile_at(const struct idle_waits *idle, uint32_t object)
{
    return object < idle->turnstiles.count ? *VEC_AT(&idle->turnstiles, struct turnstile *, object)
                                           : NULL;
}

bool idle_waits__join_at(const struct idle_waits *idle, uint32_t object)
{
    const struct turnstile *turnstile = turnstile_at(idle, object);
    return turnstile && turnstile->is_join;
}

bool idle_waits__at(const struct idle_waits *idle, uint32_t object)
{
    const struct turnstile *turnstile = turnstile_at(idle, object);
    return turnstile && turnstile->any_wait && !turnstile->passes_turns &&
           !parking__passes_turns(&idle->parking, object);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* NULL: of another kind. */
static struct turnstile *turnstile_of(struct idle_waits *idle, const struct sync_events *walk,
                                      uint32_t object)
{
    const struct sync_object *what = sync_events__object(walk, object);
    if (what->kind != CLASS_CONDITION && what->kind != CLASS_SEMAPHORE)
        return NULL;
    struct turnstile **place = VEC_REACH(&idle->turnstiles, struct turnstile *, object);
    if (!*place) {
        *place = memory__zeroed(1, sizeof **place);
        **place = (struct turnstile){
            .process = what->process, .kind = what->kind, .members = VEC_OF(struct member)};
    }
    (*place)->mutex = what->mutex;
    return *place;
}

static void creator_known(struct idle_waits *idle, uint32_t thread, uint32_t creator)
{
    while (idle->creators.count <= thread)
        vec__push(&idle->creators, &(uint32_t){SYNC_EVENT_NOBODY});
    *VEC_AT(&idle->creators, uint32_t, thread) = creator;
}

/* Whether it was ended by the end of a thread that the one who waited had created: it joins it in
 * a way of its own. */
static bool is_join(const struct idle_waits *idle, const struct sync_events *walk,
                    const struct sync_event *event)
{
    if (event->by == SYNC_EVENT_NOBODY || event->by >= idle->creators.count ||
        *VEC_AT(&idle->creators, uint32_t, event->by) != event->thread)
        return false;
    const struct trace_thread *by = trace__thread_at(walk->trace, event->by);
    uint64_t ticks = event->tick - event->since;
    return by->ended && by->end_tick <= event->by_tick + ticks / AT_END_PART;
}

/* Whoever waits again as soon as the time has run out waits on: it is one wait, which the one ends
 * who ends its last part. Returns how long it had waited before. */
static uint64_t waited_in_vain(struct idle_waits *idle, const struct sync_event *event)
{
    const struct vain_wait *vain = VEC_REACH(&idle->vain, struct vain_wait, event->thread);
    bool goes_on = vain->ticks && vain->object == event->object && event->since >= vain->tick &&
                   event->since - vain->tick <= vain->ticks / ON_PART;
    return goes_on ? vain->ticks : 0;
}

/* A wait that nobody ended, between others and work. */
static void note_timed_out(struct idle_waits *idle, const struct sync_event *event)
{
    struct timed_out *out = VEC_REACH(&idle->timed_out, struct timed_out, event->thread);
    if (!out->ticks || out->object != event->object)
        *out = (struct timed_out){.object = event->object, .since = event->since};
    out->ticks += event->tick - event->since;
}

/* Whoever ended this wait had waited in vain meanwhile. It worked in between: the work was there.
 * Or else it only looks now and then, unless the one who waited is one who tells it when there is.
 */
static void note_kept(struct idle_waits *idle, const struct sync_event *event)
{
    struct timed_out *out = VEC_REACH(&idle->timed_out, struct timed_out, event->by);
    uint64_t ticks = event->by_tick - out->since;
    if (out->ticks && event->by_tick > out->since && ticks > out->ticks) {
        uint64_t since = out->since > event->since ? out->since : event->since;
        double part = since < event->by_tick ? (double)(event->by_tick - since) / (double)ticks : 0;
        uint64_t kept = (uint64_t)((double)out->ticks * part);
        struct turnstile *turnstile = *VEC_AT(&idle->turnstiles, struct turnstile *, out->object);
        if (ticks - out->ticks >= out->ticks / WORK_PART)
            turnstile->kept += kept;
        else
            member_of(turnstile, event->thread)->kept += kept;
    }
    *out = (struct timed_out){0};
}

static void wait_ended(struct idle_waits *idle, const struct sync_events *walk,
                       struct turnstile *turnstile, const struct sync_event *event)
{
    uint64_t ticks = event->tick - event->since;
    ticks -= event->paused < ticks ? event->paused : ticks;
    turnstile->waited += ticks;
    turnstile->joined += is_join(idle, walk, event) ? ticks : 0;
    member_of(turnstile, event->thread)->waited += ticks;
    bool is_ended = event->type != SYNC_EVENT_GAVE_UP && event->by != SYNC_EVENT_NOBODY;
    ticks += waited_in_vain(idle, event);
    if (is_ended) {
        member_of(turnstile, event->by)->ended += ticks;
        note_kept(idle, event);
    } else if (event->type == SYNC_EVENT_GAVE_UP) {
        note_timed_out(idle, event);
    }
    *VEC_REACH(&idle->vain, struct vain_wait, event->thread) =
        (struct vain_wait){event->object, event->tick, is_ended ? 0 : ticks};
}

void idle_waits__take(struct idle_waits *idle, const struct sync_events *walk,
                      const struct sync_event *event)
{
    if (event->type == SYNC_EVENT_STARTED)
        creator_known(idle, event->thread, event->by);
    struct turnstile *turnstile =
        event->object != SYNC_EVENT_NO_OBJECT ? turnstile_of(idle, walk, event->object) : NULL;
    if (!turnstile)
        return;
    turnstile->any_wait |= event->type == SYNC_EVENT_WAITS;
    if (event->type == SYNC_EVENT_WAITS && !turnstile->site)
        turnstile->site = event->site;
    if (event->since && !event->unseen)
        wait_ended(idle, walk, turnstile, event);
    if (event->since && !event->unseen && turnstile->kind == CLASS_CONDITION)
        parking__take(&idle->parking, turnstile->process, event);
    if (event->type != SYNC_EVENT_ACQUIRED && event->type != SYNC_EVENT_SIGNALLED)
        return;
    struct member *member = member_of(turnstile, event->thread);
    member->taken += event->type == SYNC_EVENT_ACQUIRED ? event->weight : 0;
    member->given += event->type == SYNC_EVENT_SIGNALLED;
}

struct idle_waits idle_waits__start(void)
{
    return (struct idle_waits){.turnstiles = VEC_OF(struct turnstile *),
                               .parking = parking__start(),
                               .creators = VEC_OF(uint32_t),
                               .vain = VEC_OF(struct vain_wait),
                               .timed_out = VEC_OF(struct timed_out)};
}

void idle_waits__free(struct idle_waits *idle)
{
    VEC_EACH (turnstile, &idle->turnstiles, struct turnstile *) {
        if (*turnstile)
            vec__free(&(*turnstile)->members);
        free(*turnstile);
    }
    vec__free(&idle->turnstiles);
    vec__free(&idle->creators);
    vec__free(&idle->vain);
    vec__free(&idle->timed_out);
    parking__free(&idle->parking);
}
