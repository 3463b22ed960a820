/* replay_program_teams.c: parallel regions of which the work is divided otherwise, or is done by
 * another number of threads.
 *
 * What a thread does between two barriers of its team is scaled, so that the team's rows take as
 * long as they would then; where they meet, and what they wait for otherwise, stays as it is. */
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <errno.h>

/* What the threads of a team do in a stretch, ticks. */
struct team_work {
    double sum, most;       /* of a thread */
    double share, shares;   /* TEAM: of the threads whose work one does then, the last; the most */
    uint32_t order, number; /* threads that were added; the last share's */
    bool is_seen;           /* BALANCE: one of them is the first already */
};

/* Of a team's work, with what others took of the CPUs from it: they would have taken that from who
 * does the work then. */
static bool is_of_team(const struct row_op *op)
{
    return op->kind != REPLAY_DELAY && op->kind != ROW_CALL && op->kind != ROW_LATE;
}

/* Until the next barrier of its team, or the end of its body. */
static uint64_t work_of_stretch(const struct row_op *ops, size_t count)
{
    uint64_t work = 0;
    for (size_t i = 0; i < count; i++) {
        const struct row_op *op = &ops[i];
        work += is_of_team(op) ? op->work : 0;
        if (op->kind == ROW_STRETCH)
            break;
    }
    return work;
}

static bool is_meant(const struct change *change, const struct program_stretch *stretch)
{
    for (size_t i = 0; i < change->site_count; i++)
        if (change->sites[i] == stretch->site && change->process == stretch->process)
            return true;
    return change->type == CHANGE_TEAM;
}

/* What the threads of the team do now is evenly divided, or nearly: the first has uneven times as
 * much as on the average. */
static double balanced(struct team_work *work, double uneven, uint32_t team, uint64_t own)
{
    double mean = work->sum / team;
    bool is_first = !work->is_seen;
    double rest = team > 1 ? (team - uneven) / (team - 1) : 1;
    work->is_seen = true;
    return own ? mean * (is_first ? uneven : rest > 0 ? rest : 0) / (double)own : 1;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* By so many threads in the place of the team: fewer ones do the work of several each, more ones a
 * part of it; and as far as there are CPUs. The team's rows are as long as that takes then. */
static double by_other_team(const struct team_work *work, uint32_t then, uint32_t team,
                            uint32_t cpus)
{
    double ticks = then < team ? work->shares : work->most * team / then;
    ticks = larger(ticks, work->sum / cpus);
    double now = team > cpus ? larger(work->sum / cpus, work->most) : work->most;
    return now > 0 ? ticks / now : 1;
}

double teams__factor(const struct replay_program *program, const struct change *change,
                     struct team_work *works, uint32_t at, const struct row_op *ops, size_t count)
{
    const struct program_stretch *stretch =
        at < program->stretches.count ? VEC_AT(&program->stretches, struct program_stretch, at)
                                      : NULL;
    if (!stretch || !is_meant(change, stretch))
        return 1;
    if (change->type == CHANGE_TEAM)
        return by_other_team(&works[at], change->count, stretch->team, program->model.cpus);
    return balanced(&works[at], change->factor, stretch->team, work_of_stretch(ops, count));
}

/* ---- what teams do now ----------------------------------------------------------------------- */

static void add_own(struct team_work *work, uint32_t then, uint32_t team, double own)
{
    uint32_t number = (uint32_t)((uint64_t)work->order++ * then / (team ? team : 1));
    if (number != work->number)
        work->share = 0;
    work->number = number;
    work->share += own;
    work->shares = larger(work->shares, work->share);
    work->sum += own;
    work->most = larger(work->most, own);
}

/* The work of each stretch, of all its threads, in their order. */
static void add_up_teams(const struct replay_program *program, uint32_t then,
                         struct team_work *works)
{
    const struct vec *stretches = &program->stretches;
    for (size_t i = 0; i < program->thread_count; i++) {
        uint32_t at = UINT32_MAX;
        double own = 0;
        VEC_EACH (op, &program->rows[i], const struct row_op) {
            own += is_of_team(op) ? (double)op->work : 0;
            if (op->kind != ROW_STRETCH)
                continue;
            if (at < stretches->count)
                add_own(&works[at], then, VEC_AT(stretches, struct program_stretch, at)->team, own);
            at = op->object;
            own = 0;
        }
    }
}

int teams__find(const struct replay_program *program, const struct change *change,
                struct team_work **works, struct error *error)
{
    *works = memory__zeroed(program->stretches.count + 1, sizeof **works);
    add_up_teams(program, change->count ? change->count : 1, *works);
    VEC_EACH (stretch, &program->stretches, const struct program_stretch)
        if (is_meant(change, stretch))
            return 0;
    return error__set(error, -ENOENT, "no such parallel region is in what is replayed of the run");
}
