/* replay_program_regions.c: parallel regions of OpenMP in the rows.
 *
 *     who calls   work  POST ──────── body ───────── AWAIT the others' ends
 *     another           AWAIT ─────── body ── POST   (between regions it does nothing)
 *
 * How a runtime's threads wait between regions, and at their end, is its own business: spinning,
 * futexes, conditions, tasks. In the rows it is these tokens, and no work but tasks'. Bodies are
 * cut at barriers of their team, so that changes can be of what is done between two of them. */
#include "analysis/replay/row_builder.h"
#include "base/memory.h"

#include <stdlib.h>

#define FORK UINT32_MAX /* of a team; a place in it is the end of that one's body */

static struct team_place *innermost(struct builder *self)
{
    return self->team_depth ? &self->teams[self->team_depth - 1] : NULL;
}

/* what: FORK, or a place in the team. */
static uint32_t token_of(struct builder *self, uint64_t number, uint32_t what)
{
    struct replay_program *program = self->program;
    uint64_t key[4] = {self->process->serial, number, what, 0};
    uint32_t fresh = program->model.token_count;
    uint64_t token = map__put(&program->teams, key, sizeof key, fresh);
    program->model.token_count += token == fresh;
    return (uint32_t)token;
}

static uint32_t stretch_of(struct builder *self, const struct team_place *body, uint64_t site)
{
    struct vec *stretches = &self->program->stretches;
    uint64_t key[4] = {self->process->serial, body->number, body->stretch, 1};
    uint64_t place = map__put(&self->program->teams, key, sizeof key, stretches->count);
    if (place == stretches->count)
        vec__push(stretches, &(struct program_stretch){self->process->serial, body->team, site});
    return (uint32_t)place;
}

/* ---- who comes, and who goes on late --------------------------------------------------------- */

enum { AT_FORK, AT_JOIN, AT_BARRIERS };

static uint32_t crossing_of(struct builder *self, uint64_t number, uint32_t what, uint32_t team)
{
    struct vec *crossings = &self->program->crossings;
    uint64_t key[4] = {self->process->serial, number, what, 2};
    uint64_t place = map__put(&self->program->teams, key, sizeof key, crossings->count);
    if (place == crossings->count)
        vec__push(crossings, &(struct program_crossing){.team = team});
    return (uint32_t)place;
}

static void come(struct builder *self, uint32_t crossing, uint64_t tick)
{
    struct program_crossing *of =
        VEC_AT(&self->program->crossings, struct program_crossing, crossing);
    of->tick = tick > of->tick ? tick : of->tick;
}

/* It may be late: then a delay is put there, once it is known when the others came. */
static void go_on(struct builder *self, uint32_t crossing, uint64_t tick)
{
    row__push(self, 0, 0, ROW_LATE, 0, ROW_NO_CLASS);
    vec__push(&self->program->lates,
              &(struct late_place){self->index, crossing, self->row->count - 1, tick});
}

static void fill_lates(struct replay_program *program)
{
    VEC_EACH (late, &program->lates, const struct late_place) {
        const struct program_crossing *crossing =
            VEC_AT(&program->crossings, struct program_crossing, late->crossing);
        uint64_t due = crossing->tick + program->model.token_ticks;
        if (late->op >= program->rows[late->thread].count || !crossing->tick)
            continue;
        struct row_op *op = VEC_AT(&program->rows[late->thread], struct row_op, late->op);
        bool is_place = op->kind == ROW_LATE && !op->work;
        if (is_place && late->tick > due && crossing->team <= program->model.cpus)
            op->work = late->tick - due < ROW_WORK_MOST ? late->tick - due : ROW_WORK_MOST;
    }
}

/* ---- regions and bodies ---------------------------------------------------------------------- */

static void begin_region(struct builder *self, const struct openmp_act *act)
{
    self->program->has_regions = true;
    come(self, crossing_of(self, act->a, AT_FORK, 0), act->tick);
    row__add(self, REPLAY_POST, token_of(self, act->a, FORK), ROW_NO_CLASS);
    if (self->team_depth < TEAMS_MOST)
        self->teams[self->team_depth++] =
            (struct team_place){.is_call = true, .number = act->a, .team = 1};
}

static void begin_body(struct builder *self, const struct openmp_act *act)
{
    struct team_place *call = innermost(self);
    bool is_caller = call && call->is_call && call->number == act->a;
    self->is_docked = false;
    if (!is_caller)
        row__add(self, REPLAY_AWAIT, token_of(self, act->a, FORK), ROW_NO_CLASS);
    else
        call->team = act->team;
    if (!is_caller)
        go_on(self, crossing_of(self, act->a, AT_FORK, act->team), act->tick);
    if (self->team_depth == TEAMS_MOST)
        return;
    struct team_place *body = &self->teams[self->team_depth++];
    *body = (struct team_place){.number = act->a, .place = act->number, .team = act->team};
    body->at = stretch_of(self, body, act->site);
    row__add(self, ROW_STRETCH, body->at, ROW_NO_CLASS);
}

static void end_body(struct builder *self, uint64_t tick)
{
    const struct team_place *body = innermost(self);
    if (!body || body->is_call)
        return;
    row__add(self, ROW_STRETCH, UINT32_MAX, ROW_NO_CLASS);
    come(self, crossing_of(self, body->number, AT_JOIN, body->team), tick);
    self->team_depth--;
    const struct team_place *call = innermost(self);
    if (!call || !call->is_call || call->number != body->number)
        row__add(self, REPLAY_POST, token_of(self, body->number, body->place), ROW_NO_CLASS);
    self->is_docked = true;
}

static void end_region(struct builder *self, uint64_t tick)
{
    const struct team_place *call = innermost(self);
    if (!call || !call->is_call)
        return;
    self->is_docked = false;
    for (uint32_t place = 1; place < call->team; place++)
        row__add(self, REPLAY_AWAIT, token_of(self, call->number, place), ROW_NO_CLASS);
    if (call->team > 1)
        go_on(self, crossing_of(self, call->number, AT_JOIN, call->team), tick);
    self->team_depth--;
}

/* Of the time from begin to now, what was spent so. */
static uint64_t away_since(const struct builder *self, uint64_t begin, uint64_t now,
                           enum spending what)
{
    const struct vec *periods = &self->away->periods;
    uint64_t ticks = 0;
    size_t i = self->next_away < periods->count ? self->next_away + 1 : periods->count;
    while (i-- > 0) {
        const struct away *away = VEC_AT(periods, struct away, i);
        uint64_t from = away->begin > begin ? away->begin : begin;
        uint64_t to = away->end < now ? away->end : now;
        if (away->end <= begin)
            break;
        ticks += to > from && (away->what == what) ? to - from : 0;
    }
    return ticks;
}

/* Tasks that were run behind the body's end, where its time is none of the thread's otherwise. */
static uint64_t run_tasks(struct builder *self, const struct openmp_act *act)
{
    if (!self->is_docked || act->ticks >= act->tick)
        return 0;
    uint64_t begin = act->tick - act->ticks, work = act->ticks;
    uint64_t stolen = away_since(self, begin, act->tick, SPENT_STOLEN);
    uint64_t others = away_since(self, begin, act->tick, SPENT_RUNNABLE) +
                      away_since(self, begin, act->tick, SPENT_BLOCKED);
    if (stolen)
        row__add_apart(self, ROW_STOLEN, stolen, ROW_NO_CLASS);
    return work > stolen + others ? work - stolen - others : 0;
}

uint64_t row__take_openmp(struct builder *self, const struct openmp_act *act)
{
    switch (act->type) {
    case OPENMP_REGION_BEGINS:
        begin_region(self, act);
        return 0;
    case OPENMP_REGION_ENDS:
        end_region(self, act->tick);
        return 0;
    case OPENMP_BODY_BEGINS:
        begin_body(self, act);
        return 0;
    case OPENMP_BODY_ENDS:
        end_body(self, act->tick);
        return 0;
    case OPENMP_TASKS_RUN:
        return run_tasks(self, act);
    default:
        return 0;
    }
}

void row__passed_barrier(struct builder *self)
{
    struct team_place *body = innermost(self);
    if (!body || body->is_call || self->call.begun.how != HEURT_BARRIER_OPENMP)
        return;
    uint64_t site = VEC_AT(&self->program->stretches, struct program_stretch, body->at)->site;
    uint32_t crossing = crossing_of(self, body->number, AT_BARRIERS + body->stretch, body->team);
    come(self, crossing, self->call.begun.tick);
    go_on(self, crossing, self->tick);
    body->stretch++;
    body->at = stretch_of(self, body, site);
    row__add(self, ROW_STRETCH, body->at, ROW_NO_CLASS);
}

bool row__joins(const struct builder *self)
{
    return self->is_docked && self->team_depth && self->teams[self->team_depth - 1].is_call &&
           self->call.begun.how == HEURT_BARRIER_OPENMP_TEAM;
}

void program__end_regions(struct replay_program *program)
{
    fill_lates(program);
    bool *posted = memory__zeroed((size_t)program->model.token_count + 1, sizeof *posted);
    for (size_t i = 0; program->has_regions && i < program->thread_count; i++)
        VEC_EACH (op, &program->rows[i], const struct row_op)
            if (op->kind == REPLAY_POST && op->object < program->model.token_count)
                posted[op->object] = true;
    for (size_t i = 0; program->has_regions && i < program->thread_count; i++)
        VEC_EACH (op, &program->rows[i], struct row_op)
            if (op->kind == REPLAY_AWAIT && op->object < program->model.token_count &&
                !posted[op->object])
                op->kind = REPLAY_WORK;
    free(posted);
}
