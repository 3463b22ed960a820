/* openmp_barriers.c: what the threads of a team did up to each barrier, and who came last.
 *
 * A body is cut at the barriers that its team passes; its last stretch ends with the region. A
 * stretch of a team takes as long as its busiest thread's work, where there are CPUs for it; those
 * of a region one after the other are what the region takes. */
#include "analysis/openmp/internal.h"
#include "base/map.h"

#include <stdlib.h>

/* Of one thread, with what it belongs to. */
struct placed_stretch {
    uint32_t process;
    uint64_t region; /* its site */
    uint64_t late, late_end;
    uint32_t team; /* its threads, as it was told */
    const struct region_stretch *stretch;
};

struct barrier_search {
    const struct trace *trace;
    struct openmp_use *use;
    uint64_t (*site)(void *at, uint32_t process, uint64_t address);
    void *at;
    struct vec stretches; /* struct placed_stretch, by region's number and index */
    struct map barrier_of;
};

/* What one team's stretch came to, ns. */
struct team_stretch {
    const struct placed_stretch *of;
    size_t count;
    uint64_t work, most, mean, span, even;
    size_t last; /* place in it */
};

static int by_passing(const void *a, const void *b)
{
    const struct placed_stretch *left = a, *right = b;
    const struct region_stretch *one = left->stretch, *other = right->stretch;
    return ORDER(left->process, right->process) ?: ORDER(one->number, other->number)
               ?: ORDER(one->index, other->index) ?: ORDER(one->place, other->place);
}

static void gather(struct barrier_search *self, const struct vec *records)
{
    VEC_EACH (record, records, const struct thread_record)
        for (size_t i = 0; i < record->stretches.count; i++) {
            const struct region_stretch *stretch =
                VEC_AT(&record->stretches, struct region_stretch, i);
            const struct region_body *body =
                VEC_AT(&record->bodies, struct region_body, stretch->body);
            uint64_t region = VEC_AT(&record->sums, struct region_sum, body->row)->site;
            bool is_last = stretch->barrier == 0;
            vec__push(&self->stretches,
                      &(struct placed_stretch){.process = record->process,
                                               .region = region,
                                               .late = is_last ? body->late : 0,
                                               .late_end = is_last ? body->late_end : 0,
                                               .team = body->team,
                                               .stretch = stretch});
        }
    vec__sort(&self->stretches, by_passing);
}

static struct region_barrier *barrier_at(struct barrier_search *self,
                                         const struct placed_stretch *at)
{
    uint64_t region = self->site(self->at, at->process, at->region);
    uint64_t site =
        at->stretch->barrier ? self->site(self->at, at->process, at->stretch->barrier) : 0;
    uint64_t key[3] = {at->process, region, site};
    uint64_t place = map__put(&self->barrier_of, key, sizeof key, self->use->barriers.count);
    if (place == self->use->barriers.count)
        vec__push(&self->use->barriers,
                  &(struct region_barrier){.process = at->process,
                                           .region_site = region,
                                           .site = site,
                                           .members = VEC_OF(struct barrier_member)});
    return VEC_AT(&self->use->barriers, struct region_barrier, place);
}

static uint64_t work_of(const struct barrier_search *self, const struct placed_stretch *of)
{
    return trace__ns(self->trace, of->stretch->work + of->late);
}

static uint64_t end_of(const struct placed_stretch *of)
{
    return of->late_end > of->stretch->end ? of->late_end : of->stretch->end;
}

static uint64_t more(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct team_stretch measure(const struct barrier_search *self,
                                   const struct placed_stretch *of, size_t count)
{
    struct team_stretch team = {.of = of, .count = count};
    for (size_t i = 0; i < count; i++) {
        uint64_t work = work_of(self, &of[i]);
        team.work += work;
        team.most = more(team.most, work);
        if (end_of(&of[i]) >= end_of(&of[team.last]))
            team.last = i;
    }
    uint64_t least = team.work / self->use->cpus;
    team.mean = team.work / more(count, of->team);
    team.span = more(team.most, least);
    team.even = more(team.mean, least);
    return team;
}

/* At the region's end, what others did longer. */
static uint64_t wait_of(const struct barrier_search *self, const struct team_stretch *team,
                        size_t i)
{
    const struct placed_stretch *of = &team->of[i];
    if (of->stretch->barrier)
        return trace__ns(self->trace, of->stretch->wait);
    uint64_t last = end_of(&team->of[team->last]), end = of->stretch->end + of->late;
    return trace__ns(self->trace, last > end ? last - end : 0);
}

static void add_members(const struct barrier_search *self, const struct team_stretch *team,
                        struct region_barrier *barrier)
{
    for (size_t i = 0; i < team->count; i++) {
        struct barrier_member *member =
            VEC_REACH(&barrier->members, struct barrier_member, team->of[i].stretch->place);
        uint64_t wait = wait_of(self, team, i), work = work_of(self, &team->of[i]);
        barrier->wait_ns += wait;
        member->wait_ns += wait;
        member->work_ns += work;
        if (i != team->last || team->count < 2)
            continue;
        member->last++;
        member->last_work_ns += work;
        member->last_others_ns += (team->work - work) / (team->count - 1);
    }
}

static void add_stretch(struct barrier_search *self, struct team_stretch *team)
{
    struct region_barrier *barrier = barrier_at(self, team->of);
    const struct region_stretch *first = team->of->stretch;
    barrier->times++;
    barrier->threads = team->count > barrier->threads ? (uint32_t)team->count : barrier->threads;
    if (first->loop)
        barrier->loop_site = self->site(self->at, team->of->process, first->loop);
    barrier->work_ns += team->work;
    barrier->chain_ns += team->most;
    barrier->mean_ns += team->mean;
    barrier->span_ns += team->span;
    barrier->saved_ns += team->span - team->even;
    add_members(self, team, barrier);
}

/* Two of one region, one behind the other, of the same threads: both without the barrier between.
 */
static void add_joined(struct barrier_search *self, const struct team_stretch *before,
                       const struct team_stretch *now)
{
    uint64_t most = 0;
    if (before->count != now->count)
        return;
    for (size_t i = 0; i < now->count; i++) {
        if (before->of[i].stretch->place != now->of[i].stretch->place)
            return;
        most = more(most, work_of(self, &before->of[i]) + work_of(self, &now->of[i]));
    }
    uint64_t joined = more(most, (before->work + now->work) / self->use->cpus);
    uint64_t apart = before->span + now->span;
    if (apart > joined)
        barrier_at(self, before->of)->joined_ns += apart - joined;
}

static bool is_same_team(const struct placed_stretch *a, const struct placed_stretch *b)
{
    return a->process == b->process && a->stretch->number == b->stretch->number;
}

static void add_all(struct barrier_search *self)
{
    struct team_stretch before = {.count = 0};
    const struct placed_stretch *all = self->stretches.items;
    for (size_t at = 0, next; at < self->stretches.count; at = next) {
        for (next = at + 1; next < self->stretches.count && is_same_team(&all[at], &all[next]) &&
                            all[next].stretch->index == all[at].stretch->index;
             next++)
            continue;
        struct team_stretch team = measure(self, &all[at], next - at);
        add_stretch(self, &team);
        if (before.count && is_same_team(before.of, team.of))
            add_joined(self, &before, &team);
        before = team;
    }
}

/* ---- what depends on them -------------------------------------------------------------------- */

static struct parallel_region *region_of(struct openmp_use *use,
                                         const struct region_barrier *barrier)
{
    VEC_EACH (region, &use->regions, struct parallel_region)
        if (region->process == barrier->process && region->site == barrier->region_site)
            return region;
    return NULL;
}

static void add_to_loop(struct openmp_use *use, const struct region_barrier *barrier)
{
    VEC_EACH (loop, &use->loops, struct shared_loop) {
        if (loop->process != barrier->process || loop->site != barrier->loop_site ||
            loop->region_site != barrier->region_site)
            continue;
        loop->wait_ns += barrier->wait_ns;
        loop->saved_ns += barrier->saved_ns;
        for (size_t i = 0; i < barrier->members.count; i++) {
            const struct barrier_member *member =
                VEC_AT(&barrier->members, struct barrier_member, i);
            struct loop_member *of = VEC_REACH(&loop->members, struct loop_member, i);
            of->wait_ns += member->wait_ns;
            of->last += member->last;
        }
        return;
    }
}

/* Where others have the CPUs, what is saved of work saves of the time that they take from it, too:
 * of what the region takes without locks, tasks and the like. But not where its own threads are too
 * many for the CPUs. */
static void find_stretched(const struct openmp_use *use, struct parallel_region *region)
{
    const struct team_times *times = &region->times;
    uint64_t span = 0, others = times->lock_ns + times->task_ns + times->other_ns + times->fork_ns +
                                times->join_ns + times->recording_ns;
    region->stretched = 1;
    VEC_EACH (barrier, &use->barriers, const struct region_barrier)
        if (barrier->process == region->process && barrier->region_site == region->site)
            span += barrier->span_ns;
    others /= region->threads ? region->threads : 1;
    if (span && region->threads <= use->cpus && region->ns > others + span)
        region->stretched = (double)(region->ns - others) / (double)span;
}

static void stretch(uint64_t *ns, const struct parallel_region *region)
{
    *ns = (uint64_t)((double)*ns * region->stretched);
}

void openmp_barriers__find(const struct trace *trace, const struct vec *records,
                           uint64_t (*site)(void *at, uint32_t process, uint64_t address), void *at,
                           struct openmp_use *use)
{
    struct barrier_search self = {.trace = trace,
                                  .use = use,
                                  .site = site,
                                  .at = at,
                                  .stretches = VEC_OF(struct placed_stretch)};
    gather(&self, records);
    add_all(&self);
    VEC_EACH (region, &use->regions, struct parallel_region)
        find_stretched(use, region);
    VEC_EACH (barrier, &use->barriers, struct region_barrier) {
        struct parallel_region *region = region_of(use, barrier);
        if (region) {
            stretch(&barrier->saved_ns, region);
            stretch(&barrier->joined_ns, region);
            region->chain_ns += barrier->chain_ns;
            region->mean_ns += barrier->mean_ns;
            region->saved_ns += barrier->saved_ns;
        }
        if (barrier->loop_site)
            add_to_loop(use, barrier);
    }
    vec__free(&self.stretches);
    map__free(&self.barrier_of);
}
