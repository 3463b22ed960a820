/* blame_turns.c: which waits for conditions and semaphores are for work, by the rule in blame.h. */
#include "analysis/blame_walk.h"

#include "base/memory.h"

#include <stdlib.h>

#define TURNS_SHARE 10       /* one in so many ticks of the waited time */
#define COMPANY_AT_MOST 128u /* of more conditions of a mutex no ways are looked for */

struct member *meeting__member(struct meeting *meeting, uint32_t thread)
{
    VEC_EACH(member, &meeting->members, struct member)
    {
        if (member->thread == thread)
            return member;
    }
    struct member fresh = {.thread = thread};
    return vec__push(&meeting->members, &fresh);
}

/* Conditions of one mutex, or semaphores of one process. */
struct company {
    struct meeting *meetings[COMPANY_AT_MOST];
    unsigned count;
    /* Whether who waits for the first ends a tenth of the waits for the second. */
    bool leads[COMPANY_AT_MOST][COMPANY_AT_MOST];
    uint64_t *waited; /* by thread: for one of them */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_share(uint64_t ticks, const struct meeting *meeting)
{
    return ticks && ticks >= meeting->waited / TURNS_SHARE;
}

static void set_turns(struct member *member, uint64_t ticks)
{
    if (ticks > member->turns)
        member->turns = ticks;
}

/* Those who end waits and wait there themselves. */
static void find_own_turns(struct meeting *meeting)
{
    VEC_EACH(member, &meeting->members, struct member)
    {
        uint64_t often = least(member->taken, member->given);
        if (meeting->kind == CLASS_CONDITION)
            set_turns(member, least(member->waited, member->ended));
        else if (often)
            set_turns(member,
                      (uint64_t)((double)member->ended * (double)often / (double)member->given));
    }
}

/* What is passed on from the one, for which its members wait, to the other. */
static uint64_t passed_on(const struct company *company, const struct meeting *to)
{
    uint64_t sum = 0;
    VEC_EACH(member, &to->members, struct member)
    sum += least(member->ended, company->waited[member->thread]);
    return sum;
}

static void set_waited(struct company *company, const struct meeting *from, bool waited)
{
    VEC_EACH(member, &from->members, struct member)
    company->waited[member->thread] = waited ? member->waited : 0;
}

static void find_leads(struct company *company)
{
    for (unsigned from = 0; from < company->count; from++) {
        set_waited(company, company->meetings[from], true);
        for (unsigned to = 0; to < company->count; to++)
            company->leads[from][to] =
                from != to &&
                is_share(passed_on(company, company->meetings[to]), company->meetings[to]);
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
            VEC_EACH(member, &company->meetings[to]->members, struct member)
            set_turns(member, least(member->ended, company->waited[member->thread]));
        }
        set_waited(company, company->meetings[from], false);
    }
}

static int by_company(const void *a, const void *b)
{
    const struct meeting *left = *(struct meeting *const *)a, *right = *(struct meeting *const *)b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return left->mutex < right->mutex ? -1 : left->mutex > right->mutex;
}

static struct vec sorted_meetings(const struct blame_walk *walk)
{
    struct vec sorted = VEC_OF(struct meeting *);
    VEC_EACH(meeting, &walk->meetings, struct meeting)
    {
        if ((meeting->kind == CLASS_CONDITION || meeting->kind == CLASS_SEMAPHORE) &&
            meeting->any_wait)
            vec__push(&sorted, &meeting);
    }
    if (sorted.count)
        qsort(sorted.items, sorted.count, sizeof(struct meeting *), by_company);
    return sorted;
}

static void find_company(struct company *company, struct meeting *const *meetings, size_t count)
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
        VEC_EACH(member, &meetings[i]->members, struct member)
        turns += member->turns;
        meetings[i]->turns = is_share(turns, meetings[i]);
    }
}

static void find_companies(struct blame_walk *walk)
{
    struct vec sorted = sorted_meetings(walk);
    struct company *company = memory__zeroed(1, sizeof *company);
    company->waited = memory__zeroed(walk->thread_count, sizeof *company->waited);
    for (size_t first = 0, end; first < sorted.count; first = end) {
        struct meeting *const *meetings = VEC_AT(&sorted, struct meeting *, first);
        for (end = first + 1;
             end < sorted.count && !by_company(&meetings[0], &meetings[end - first]);)
            end++;
        find_company(company, meetings, end - first);
    }
    free(company->waited);
    free(company);
    vec__free(&sorted);
}

void turns__find(struct blame_walk *walk)
{
    find_companies(walk);
    VEC_EACH(entry, &walk->table->entries, struct class_entry *)
    {
        struct profile_class *what = &(*entry)->what;
        uint64_t key[3] = {what->process, what->kind, what->object};
        if (what->kind != CLASS_CONDITION && what->kind != CLASS_SEMAPHORE)
            continue;
        uint64_t place = map__get(&walk->meeting_places, key, sizeof key);
        if (place != MAP_ABSENT) {
            const struct meeting *meeting = VEC_AT(&walk->meetings, struct meeting, place);
            what->idle = meeting->any_wait && !meeting->turns;
        }
    }
}
