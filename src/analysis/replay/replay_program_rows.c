/* replay_program_rows.c: each thread's events as a row of operations.
 *
 * A thread's time is divided as its events come by: on a CPU (work, and what recording cost of it),
 * blocked, waiting for a CPU that the program itself used (which is left out: the replay finds it
 * anew) or that others used (which stays), and used by the recording for itself (left out, too).
 * What recording an event cost is taken off the work behind it; should that be too little, off the
 * work behind that.
 *
 * What the kernel tells stands behind what it happened in, so it is collected first. */
#include "analysis/analysis.h"
#include "analysis/events/thread_acts.h"
#include "analysis/replay/row_builder.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- time ------------------------------------------------------------------------------------ */

static const struct away *away_at(const struct builder *self)
{
    const struct vec *periods = &self->away->periods;
    return self->next_away < periods->count ? VEC_AT(periods, struct away, self->next_away) : NULL;
}

/* The next piece of its time until tick, which is spent in one way. False: it is at tick. */
static bool next_piece(struct builder *self, uint64_t tick, enum spending *what, uint64_t *ticks)
{
    const struct away *away = away_at(self);
    while (away && away->end <= self->at) {
        self->next_away++;
        away = away_at(self);
    }
    if (self->at >= tick)
        return false;
    uint64_t end = tick;
    *what = SPENT_WORK;
    if (away && away->begin <= self->at) {
        end = away->end < tick ? away->end : tick;
        *what = away->what;
    } else if (away && away->begin < tick) {
        end = away->begin;
    }
    *ticks = end - self->at;
    self->at = end;
    return true;
}

/* Divides what is known as one wait or call. */
static struct spent spend(struct builder *self, uint64_t tick)
{
    struct spent spent = {{0}};
    enum spending what;
    uint64_t ticks;
    while (next_piece(self, tick, &what, &ticks))
        spent.ticks[what] += ticks;
    return spent;
}

static void add_work(struct builder *self, uint64_t ticks)
{
    uint64_t excused = self->excused < ticks ? self->excused : ticks;
    self->excused -= excused;
    ticks -= excused;
    uint64_t paid = self->owed < ticks ? self->owed : ticks;
    self->owed -= paid;
    self->cost += paid;
    self->work += ticks - paid;
}

static void work_until(struct builder *self, uint64_t tick)
{
    enum spending what;
    uint64_t ticks;
    while (next_piece(self, tick, &what, &ticks)) {
        if (self->is_docked)
            continue;
        if (what == SPENT_WORK)
            add_work(self, ticks);
        else if (what == SPENT_BLOCKED)
            row__add_apart(self, REPLAY_DELAY, ticks, ROW_NO_CLASS);
        else if (what == SPENT_STOLEN)
            row__add_apart(self, ROW_STOLEN, ticks, ROW_NO_CLASS);
    }
}

static const struct thread_link *next_post(const struct builder *self, uint64_t tick)
{
    const struct vec *posts = &self->program->links[self->index].posts;
    const struct thread_link *post =
        self->next_post < posts->count ? VEC_AT(posts, struct thread_link, self->next_post) : NULL;
    return post && post->tick <= tick ? post : NULL;
}

/* What it told others up to tick; on the way to it when its time is work. */
static void post_until(struct builder *self, uint64_t tick, bool works)
{
    const struct thread_link *post;
    while ((post = next_post(self, tick))) {
        if (works)
            work_until(self, post->tick);
        row__add(self, REPLAY_POST, post->token, ROW_NO_CLASS);
        self->next_post++;
    }
}

static void owe(struct builder *self, uint64_t ticks)
{
    self->owed += ticks;
}

/* ---- classes --------------------------------------------------------------------------------- */

static uint32_t class_of_call(struct builder *self, const struct thread_act *act)
{
    return class_entry__number(class_table__call(self->table, self->thread->process, act->event));
}

/* ---- objects --------------------------------------------------------------------------------- */

static uint32_t object_of(struct builder *self, enum class_kind kind, uint64_t address)
{
    uint64_t hash = (address + kind) * 0x9e3779b97f4a7c15ull;
    struct row_object *recent = &self->recent[hash >> 40 & (RECENT_OBJECTS - 1)];
    if (recent->address != address || recent->kind_and_1 != kind + 1ull)
        *recent = (struct row_object){
            address, kind + 1ull,
            program__object(self->program, self->process->serial, kind, address)};
    return (uint32_t)recent->place; /* MAP_ABSENT becomes UINT32_MAX */
}

static struct own_lock *held_lock(struct builder *self, uint32_t object)
{
    for (size_t i = self->held.count; i-- > 0;) {
        if (VEC_AT(&self->held, struct own_lock, i)->object == object)
            return VEC_AT(&self->held, struct own_lock, i);
    }
    return NULL;
}

/* Whether the event's tick is the next one, or a later one, of the list. */
static bool is_listed(const struct builder *self, const struct vec *ticks, size_t *next)
{
    while (*next < ticks->count && *VEC_AT(ticks, uint64_t, *next) < self->tick)
        ++*next;
    return *next < ticks->count && *VEC_AT(ticks, uint64_t, *next) == self->tick;
}

static void acquired(struct builder *self, uint32_t kind, uint64_t address, uint32_t class)
{
    uint32_t object = object_of(self, CLASS_LOCK, address);
    if (object == UINT32_MAX)
        return;
    struct own_lock *held = held_lock(self, object), fresh = {object, 1, false};
    if (held) {
        held->depth++;
        return;
    }
    fresh.handed = is_listed(self, &self->program->links[self->index].handed, &self->next_handed);
    vec__push(&self->held, &fresh);
    row__add(self, kind, object, class);
    if (fresh.handed)
        self->excused += VEC_AT(&self->program->models, struct replay_object, object)->handed_ticks;
}

static void drop_held(struct builder *self, struct own_lock *held)
{
    struct own_lock *last = VEC_AT(&self->held, struct own_lock, self->held.count - 1);
    memmove(held, held + 1, (size_t)(last - held) * sizeof *held);
    self->held.count--;
}

/* What waking another one took, and fetching memory that another one had used, the replay adds
 * where that happens. */
static void excuse_release(struct builder *self, uint32_t object, bool handed)
{
    const struct replay_object *model =
        VEC_AT(&self->program->models, struct replay_object, object);
    if (is_listed(self, &self->program->links[self->index].wakes, &self->next_wake))
        self->excused += model->release_ticks;
    else if (handed)
        self->excused += model->behind_ticks;
}

/* Where in the row an operation belongs that comes so many ticks of work before now, and not before
 * one at which the thread may have waited; *left: ticks of that one's work that come behind it. */
static size_t place_before(const struct builder *self, uint64_t ticks, uint64_t *left)
{
    size_t place = self->row->count;
    *left = ticks;
    while (place && *left) {
        const struct row_op *op = VEC_AT(self->row, struct row_op, place - 1);
        bool passes = op->kind == REPLAY_WORK || op->kind == ROW_ENTER || op->kind == ROW_LEAVE ||
                      op->kind == REPLAY_RELEASE;
        if (!passes)
            break;
        if (op->work >= *left)
            return place - 1;
        *left -= op->work;
        place--;
    }
    *left = 0;
    return place;
}

static void insert_acquire(struct builder *self, uint32_t object, uint64_t ticks)
{
    uint64_t behind;
    row__flush_work(self);
    size_t place = place_before(self, ticks, &behind);
    row__push(self, 0, 0, REPLAY_ACQUIRE, object, ROW_NO_CLASS);
    if (self->too_many)
        return;
    struct row_op *ops = VEC_AT(self->row, struct row_op, 0), fresh = ops[self->row->count - 1];
    memmove(&ops[place + 1], &ops[place], (self->row->count - 1 - place) * sizeof *ops);
    if (behind) {
        fresh.work = ops[place + 1].work - behind;
        ops[place + 1].work = behind;
    }
    ops[place] = fresh;
    VEC_EACH (open, &self->functions, struct open_function)
        open->enter += open->enter >= place;
}

/* A section whose beginning is not known: who came to it, when it had lasted for any time, found it
 * half over on average, so that as much of it lies before as after that. */
static void held(struct builder *self, const struct thread_act *act)
{
    uint32_t object = object_of(self, CLASS_LOCK, act->object);
    struct own_lock fresh = {object, 1, false};
    if (object == UINT32_MAX || act->shared || held_lock(self, object))
        return;
    vec__push(&self->held, &fresh);
    insert_acquire(self, object, 2 * act->ticks);
}

static void released(struct builder *self, uint64_t address, uint32_t class)
{
    uint32_t object = object_of(self, CLASS_LOCK, address);
    struct own_lock *held = object == UINT32_MAX ? NULL : held_lock(self, object);
    if (!held || --held->depth > 0)
        return;
    bool handed = held->handed;
    drop_held(self, held);
    row__add(self, REPLAY_RELEASE, object, class);
    excuse_release(self, object, handed);
}

/* Whatever it held, nobody may wait for it for ever. */
static void release_all(struct builder *self)
{
    while (self->held.count)
        row__add(self, REPLAY_RELEASE,
                 VEC_AT(&self->held, struct own_lock, --self->held.count)->object, ROW_NO_CLASS);
}

static uint32_t kind_of_lock(const struct thread_act *act)
{
    return act->shared ? REPLAY_SHARE : REPLAY_ACQUIRE;
}

/* ---- waits and calls ------------------------------------------------------------------------- */

/* An I/O call without the kernel's records is taken to be blocked all the time. */
static void stays_as_long(struct builder *self, const struct spent *spent, uint32_t class)
{
    uint64_t work = spent->ticks[SPENT_WORK], blocked = spent->ticks[SPENT_BLOCKED];
    uint64_t stolen = spent->ticks[SPENT_STOLEN];
    if (self->call.begun.wait == WAITS_IN_SLEEP) { /* it gives the CPU away: whoever has it then */
        blocked += stolen;
        stolen = 0;
    }
    if (!self->away->has_kernel) {
        blocked += work;
        work = 0;
    }
    if (work)
        row__add_apart(self, ROW_CALL, work, class);
    if (blocked)
        row__add_apart(self, REPLAY_DELAY, blocked, class);
    if (stolen)
        row__add_apart(self, ROW_STOLEN, stolen, class);
}

/* A wait for a token. Then the thread wanted a CPU, and others had it for longer than waking takes.
 */
static void add_await(struct builder *self, uint32_t token, const struct spent *spent,
                      uint32_t class)
{
    uint64_t stolen = spent->ticks[SPENT_STOLEN], waking = self->program->model.token_ticks;
    row__add(self, REPLAY_AWAIT, token, class);
    if (stolen > waking)
        row__add_apart(self, ROW_LATE, stolen - waking, class);
}

/* Who is away in it waits for what another thread wrote; its own work stays. */
static void has_received(struct builder *self, const struct spent *spent,
                         const struct thread_link *await)
{
    struct spent own = *spent, then = {{0}};
    if (!await->was_there) {
        own =
            (struct spent){{[SPENT_WORK] = self->away->has_kernel ? spent->ticks[SPENT_WORK] : 0}};
        then.ticks[SPENT_STOLEN] = spent->ticks[SPENT_STOLEN];
    }
    stays_as_long(self, &own, self->call.class);
    add_await(self, await->token, &then, self->call.class);
    self->next_await++;
}

static void call_was_made(struct builder *self, const struct spent *spent)
{
    const struct vec *awaits = &self->program->links[self->index].awaits;
    const struct thread_link *next = self->next_await < awaits->count
                                         ? VEC_AT(awaits, struct thread_link, self->next_await)
                                         : NULL;
    if (self->call.begun.wait == WAITS_IN_CALL && next && next->tick == self->tick)
        has_received(self, spent, next);
    else
        stays_as_long(self, spent, self->call.class);
    post_until(self, self->tick, false);
}

/* A good end of a wait that a signal, a wake-up or the end of a thread ended. */
static void awaited(struct builder *self, const struct spent *spent, uint32_t class)
{
    const struct vec *awaits = &self->program->links[self->index].awaits;
    uint32_t token = UINT32_MAX;
    if (self->next_await < awaits->count)
        token = VEC_AT(awaits, struct thread_link, self->next_await++)->token;
    if (token == UINT32_MAX)
        stays_as_long(self, spent, class);
    else
        add_await(self, token, spent, class);
}

/* At a barrier to which nobody else ever comes, what it waits for is not told. */
static void met(struct builder *self, enum class_kind kind, uint32_t op, const struct spent *spent)
{
    uint32_t object = object_of(self, kind, self->call.begun.object);
    const struct replay_object *models = self->program->models.items;
    if (kind == CLASS_BARRIER && row__joins(self))
        return;
    if (object == UINT32_MAX || (kind == CLASS_BARRIER && models[object].parties == 1))
        stays_as_long(self, spent, self->call.class);
    else
        row__add(self, op, object, self->call.class);
    if (kind == CLASS_BARRIER)
        row__passed_barrier(self);
}

static void got(struct builder *self, const struct spent *spent)
{
    const struct thread_act *begun = &self->call.begun;
    switch (begun->wait) {
    case WAITS_FOR_LOCK:
        acquired(self, kind_of_lock(begun), begun->object, self->call.class);
        break;
    case WAITS_FOR_BARRIER:
        met(self, CLASS_BARRIER, REPLAY_MEET, spent);
        break;
    case WAITS_FOR_SEMAPHORE:
        met(self, CLASS_SEMAPHORE, REPLAY_TAKE, spent);
        break;
    default:
        awaited(self, spent, self->call.class);
        break;
    }
}

static void take_mutex_again(struct builder *self)
{
    if (self->call.begun.mutex)
        acquired(self, ROW_REACQUIRE, self->call.begun.mutex, self->call.class);
}

static bool is_call(enum wait_type wait)
{
    return wait == WAITS_IN_CALL || wait == WAITS_IN_SLEEP;
}

/* Between regions a thread waits for the next one, by whatever its runtime makes of that. */
static bool is_between_regions(const struct builder *self)
{
    enum wait_type wait = self->call.begun.wait;
    return self->is_docked &&
           (wait == WAITS_FOR_CONDITION || wait == WAITS_FOR_OTHER || is_call(wait));
}

static void skip_await(struct builder *self, bool is_good)
{
    const struct vec *awaits = &self->program->links[self->index].awaits;
    if (self->next_await >= awaits->count)
        return;
    bool is_its = VEC_AT(awaits, struct thread_link, self->next_await)->tick == self->tick;
    self->next_await += is_call(self->call.begun.wait) ? is_its : is_good;
}

/* However it ended: when that is not known, what it told others comes behind it. */
static void wait_ends(struct builder *self, const struct thread_act *act)
{
    struct spent spent = spend(self, self->tick);
    bool is_seen = act->type != ACT_WAIT_UNSEEN;
    if (is_between_regions(self)) {
        post_until(self, self->tick, false);
        skip_await(self, act->type == ACT_GOT);
    } else if (is_seen && is_call(self->call.begun.wait)) {
        call_was_made(self, &spent);
    } else {
        if (is_seen)
            post_until(self, self->tick, false);
        if (act->type == ACT_GOT)
            got(self, &spent);
        else
            stays_as_long(self, &spent, self->call.class);
    }
    take_mutex_again(self);
}

static void wait_begins(struct builder *self, const struct thread_act *act)
{
    self->call = (struct open_call){class_of_call(self, act), *act};
    if (act->mutex)
        released(self, act->mutex, self->call.class);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void function_begins(struct builder *self, const struct thread_act *act)
{
    struct class_entry *entry =
        class_table__function(self->table, self->thread->process, act->event);
    if (!entry)
        return;
    bool divided = entry->division;
    struct open_function open = {act->event->id,
                                 divided ? CLASS_NOT_NUMBERED : class_entry__number(entry),
                                 entry->fold.bias, entry->fold.cost, divided ? entry : NULL};
    if (self->drawn > 1)
        owe(self, (uint64_t)(self->drawn - 1) * self->process->left_out_ticks);
    self->drawn = 0;
    row__add(self, ROW_ENTER, 0, open.class);
    open.enter = self->row->count - 1;
    vec__push(&self->functions, &open);
    owe(self, open.bias);
}

static void find_class(struct builder *self, struct open_function *open)
{
    open->class = part_ends__class(&self->parts, open->divided, self->tick);
    if (!self->too_many)
        VEC_AT(self->row, struct row_op, open->enter)->class = open->class & ROW_NO_CLASS;
}

static void leave_innermost(struct builder *self)
{
    struct open_function *open =
        VEC_AT(&self->functions, struct open_function, --self->functions.count);
    if (open->divided)
        find_class(self, open);
    row__add(self, ROW_LEAVE, 0, open->class);
    owe(self, open->cost > open->bias ? open->cost - open->bias : 0);
}

static void function_ends(struct builder *self, uint32_t id)
{
    size_t place = self->functions.count;
    while (place && VEC_AT(&self->functions, struct open_function, place - 1)->id != id)
        place--;
    while (place && self->functions.count >= place)
        leave_innermost(self);
}

/* ---- acts ------------------------------------------------------------------------------------ */

static void semaphore_act(struct builder *self, uint64_t address, uint32_t kind, uint32_t class)
{
    uint32_t object = object_of(self, CLASS_SEMAPHORE, address);
    if (object != UINT32_MAX)
        row__add(self, kind, object, class);
}

static void lost(struct builder *self)
{
    while (self->functions.count)
        leave_innermost(self);
    release_all(self);
}

static void started(struct builder *self, const struct thread_act *act)
{
    self->program->origins[self->index] = (struct thread_origin){
        act->by, act->routine, self->process->serial, self->program->links[self->index].is_created};
}

static void take_act(struct builder *self, const struct thread_act *act)
{
    switch (act->type) {
    case ACT_STARTED:
        started(self, act);
        break;
    case ACT_ENTERED:
        function_begins(self, act);
        break;
    case ACT_LEFT:
        function_ends(self, act->id);
        break;
    case ACT_UNWOUND:
        if (self->functions.count)
            leave_innermost(self);
        break;
    case ACT_ACQUIRED:
        acquired(self, kind_of_lock(act), act->object, class_of_call(self, act));
        break;
    case ACT_HELD:
        held(self, act);
        break;
    case ACT_RELEASED:
        released(self, act->object, ROW_NO_CLASS);
        break;
    case ACT_TOOK:
        semaphore_act(self, act->object, REPLAY_TAKE, class_of_call(self, act));
        break;
    case ACT_GAVE:
        semaphore_act(self, act->object, REPLAY_GIVE, ROW_NO_CLASS);
        break;
    case ACT_WAITS:
        wait_begins(self, act);
        break;
    case ACT_GOT:
    case ACT_CAME_BACK:
    case ACT_WAIT_UNSEEN:
        wait_ends(self, act);
        break;
    case ACT_DRAWN:
        self->drawn = act->weight;
        break;
    case ACT_LOST:
        lost(self);
        break;
    default:
        break;
    }
}

/* What recording the act cost, the work behind it pays. */
static void owe_for(struct builder *self, const struct thread_act *act)
{
    const uint64_t costs[] = {[COST_EVENT] = self->process->event_ticks,
                              [COST_OFF_CPU] = self->process->off_cpu_ticks,
                              [COST_FAULT] = self->process->fault_ticks};
    owe(self, costs[act->cost]);
}

static void pass_time_and_act(struct builder *self, const struct thread_act *act)
{
    self->tick = act->tick;
    if (act->passes_time) {
        post_until(self, self->tick, true);
        work_until(self, self->tick);
    }
    take_act(self, act);
    owe_for(self, act);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Without the kernel's records it is not known when the thread was off the CPU outside of waits;
 * how long it was on one in all may be. */
static void scale_to_cpu_time(struct builder *self)
{
    uint64_t work = 0, known = 0;
    double rate = (double)trace__ns(self->program->trace, 1u << 30) / (1u << 30);
    if (self->away->has_kernel || self->thread->cpu_ns == UINT64_MAX || !self->thread->ended)
        return;
    VEC_EACH (op, self->row, struct row_op) {
        if (op->kind == REPLAY_DELAY)
            continue;
        work += op->work;
        known += op->cost;
    }
    double cpu = (double)self->thread->cpu_ns / rate - (double)known;
    double factor = work && cpu > 0 ? cpu / (double)work : 1;
    VEC_EACH (op, self->row, struct row_op)
        if (op->kind != REPLAY_DELAY && factor < 1)
            op->work = (uint64_t)((double)op->work * factor);
}

static void start_thread(struct builder *self, uint32_t index)
{
    struct replay_program *program = self->program;
    self->index = index;
    self->thread = trace__thread_at(program->trace, index);
    self->process = trace__process_at(program->trace, self->thread->process);
    self->row = &program->rows[index];
    memset(self->recent, 0, RECENT_OBJECTS * sizeof *self->recent);
    self->away = &self->all_away[index];
    self->next_away = self->next_post = self->next_await = self->next_wake = self->next_handed = 0;
    self->at = self->tick = self->thread->start_tick;
    self->work = self->cost = self->owed = self->excused = 0;
    self->drawn = 0;
    self->functions.count = self->held.count = 0;
    self->team_depth = 0;
    self->is_docked = false;
    thread_acts__start(&self->acts, self->thread);
    if (self->has_parts)
        part_ends__start(&self->parts, self->table, program->drawn, index);
    class_table__begin_thread(self->table, index);
    if (program->links[index].is_created)
        row__add(self, REPLAY_AWAIT, (uint32_t)program->thread_count + index, ROW_NO_CLASS);
    else if (self->at > self->first_tick)
        row__add_apart(self, REPLAY_DELAY, self->at - self->first_tick, ROW_NO_CLASS);
}

static void end_thread(void *part)
{
    struct builder *self = part;
    const struct thread_links *links = &self->program->links[self->index];
    release_all(self);
    while (self->next_post < links->posts.count)
        row__add(self, REPLAY_POST,
                 VEC_AT(&links->posts, struct thread_link, self->next_post++)->token, ROW_NO_CLASS);
    row__add(self, REPLAY_POST, self->index, ROW_NO_CLASS);
    scale_to_cpu_time(self);
    if (self->has_parts)
        part_ends__end(&self->parts);
    class_table__forget_thread(self->table);
}

/* ---- the program ----------------------------------------------------------------------------- */

static uint64_t first_tick_of(const struct trace *trace)
{
    uint64_t first = UINT64_MAX;
    VEC_EACH (thread, trace__threads(trace), struct trace_thread)
        first = thread->start_tick < first ? thread->start_tick : first;
    return first;
}

static void *start(struct run *run)
{
    struct replay_program *program = (void *)run->options;
    struct builder *self = memory__zeroed(1, sizeof *self);
    *self = (struct builder){.run = run,
                             .program = program,
                             .table = profile__table(program->profile),
                             .parts = part_ends__new(),
                             .all_away = run__take(run, &away_analysis),
                             .first_tick = first_tick_of(program->trace),
                             .functions = VEC_OF(struct open_function),
                             .held = VEC_OF(struct own_lock)};
    program__find_stolen(program, self->all_away);
    self->has_parts = class_table__has_parts(self->table);
    self->recent = memory__zeroed(RECENT_OBJECTS, sizeof *self->recent);
    return self;
}

static void *make_row(void *argument, unsigned lane, uint32_t thread)
{
    struct builder *self = argument;
    (void)lane;
    if (self->too_many)
        return NULL;
    start_thread(self, thread);
    return self;
}

/* Which part of its site an occurrence was of is known before its act. */
static void take_event(void *part, const struct event *event)
{
    struct builder *self = part;
    struct openmp_act openmp = openmp_act__of(event);
    struct thread_act act;
    if (self->has_parts)
        part_ends__event(&self->parts, event);
    thread_acts__put(&self->acts, event);
    while (thread_acts__next(&self->acts, &act))
        pass_time_and_act(self, &act);
    if (openmp.type != OPENMP_ACT_NOTHING)
        add_work(self, row__take_openmp(self, &openmp));
}

static void *finish(void *argument)
{
    struct builder *self = argument;
    if (self->too_many)
        self->run->code =
            error__set(&self->run->error, -E2BIG,
                       "the trace has more than %u million operations, which is what a replay can "
                       "keep; record a shorter run, or fewer functions",
                       REPLAY_KEPT_OPS >> 20);
    program__end_regions(self->program);
    part_ends__free(&self->parts);
    program__free_away(self->program, self->all_away);
    vec__free(&self->functions);
    vec__free(&self->held);
    free(self->recent);
    free(self);
    return NULL;
}

const struct analysis rows_analysis = {
    .name = "rows",
    .after = (const struct analysis *const[]){&links_analysis, &away_analysis, NULL},
    .walk = WALK_IN_ORDER,
    .start = start,
    .thread = make_row,
    .event = take_event,
    .end = end_thread,
    .finish = finish};
