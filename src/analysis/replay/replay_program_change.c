/* replay_program_change.c: rows as a replay gets them: changed.
 *
 *     row ──► work scaled, waits left out or of another lock ──► operations for the replay
 *
 * Each thread of the replay has what the changes need to know of it: which occurrences it is in,
 * which locks it holds. */
#include "analysis/callsite/rules.h"
#include "analysis/replay/internal.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX
#define SITES_AT_MOST 256u /* locks in place of one, by site; above, some sites share one */
#define PIECES 4096u       /* of the run: so exactly do threads end that the program's end ends */

/* A change and what it means in this program. */
struct open_change {
    struct change what;
    const struct profile_class *class; /* REMOVE */
    bool of_function;                  /* the class is of a function, region or loop */
    bool *functions;                   /* SPEED: by class: it is meant */
    uint32_t object;                   /* of the lock that is meant */
    uint32_t first_part;               /* SPLIT: the others are objects from here on */
    uint32_t *parts; /* SPLIT by site: by class, which of them; NOBODY: none yet */
    uint32_t parts_given;
    uint64_t reference_work;     /* REMOVE: of the fastest occurrence, ticks on a CPU */
    uint64_t reference_rest;     /* and in waits and calls */
    struct team_work *team_work; /* BALANCE, TEAM: by stretch */
};

/* What a change needs to know of a thread. */
struct thread_change {
    uint32_t depth;  /* occurrences, or sections, that it is in */
    double factor;   /* of its work, in them */
    uint64_t left;   /* REMOVE: what of reference_rest is not used up */
    bool left_wait;  /* REMOVE: a wait was left out */
    uint32_t last;   /* SPLIT: the part it gave away last */
    uint64_t number; /* SPLIT: of its acquisitions */
};

/* A lock that it has, in the row; NOBODY: that acquisition was left out. */
struct replaced_lock {
    uint32_t object, by;
};

struct open_thread {
    const struct row_op *row;
    size_t at, count;
    uint64_t carried; /* work of operations that were left out */
    double rest;      /* of a tick that scaling left */
    struct replay_op pending,
        piece; /* a delay behind work; what is left of one that is in pieces */
    bool has_pending, has_piece;
    bool has_ended;
    bool is_told, says_end; /* that it ends; then it said so */
    struct vec locks;       /* struct replaced_lock */
    uint64_t long_ticks;    /* the longest life, or all that it has to do: pieces are parts of it */
    uint64_t given_ticks;   /* in pieces */
};

struct program_source {
    struct replay_source source; /* first: the replay gives this */
    const struct replay_program *program;
    struct replay_program *dealt; /* THREADS: program is this one */
    enum replay_costs costs;
    struct open_change *changes;
    size_t change_count;
    struct open_thread *threads;
    struct thread_change *states; /* [thread][change] */
    struct vec objects;           /* struct replay_object */
    uint32_t running;             /* threads that count and have not ended */
};

static struct thread_change *states_of(struct program_source *self, uint32_t thread)
{
    return self->states + (size_t)thread * self->change_count;
}

/* ---- an occurrence that is removed ----------------------------------------------------------- */

/* Work of the occurrence of the class whose ENTER is just before at; 0: its end is not known. */
static uint64_t work_of_occurrence(const struct open_thread *thread, uint32_t class)
{
    uint64_t work = 0;
    uint32_t depth = 1;
    for (size_t i = thread->at; i < thread->count; i++) {
        const struct row_op *op = &thread->row[i];
        if (op->kind != REPLAY_DELAY && op->kind != ROW_CALL && op->kind != ROW_STOLEN &&
            op->kind != ROW_LATE)
            work += op->work;
        if (op->class != class)
            continue;
        depth += op->kind == ROW_ENTER;
        depth -= op->kind == ROW_LEAVE;
        if (!depth)
            return work;
    }
    return 0;
}

static void remove_begins(const struct open_change *change, struct thread_change *state,
                          const struct open_thread *thread)
{
    uint64_t work = work_of_occurrence(thread, change->what.class);
    bool is_longer = work > change->reference_work;
    state->factor = is_longer ? (double)change->reference_work / (double)work : 1;
    state->left = change->reference_rest;
    state->left_wait = false;
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bool means(const struct open_change *change, uint32_t class)
{
    if (class == ROW_NO_CLASS)
        return false;
    if (change->what.type == CHANGE_SPEED)
        return change->functions[class];
    return change->what.type == CHANGE_REMOVE && change->of_function && change->what.class == class;
}

static void enter(struct program_source *self, uint32_t index, uint32_t class)
{
    struct thread_change *states = states_of(self, index);
    for (size_t i = 0; i < self->change_count; i++) {
        if (!means(&self->changes[i], class) || states[i].depth++ > 0)
            continue;
        if (self->changes[i].what.type == CHANGE_SPEED)
            states[i].factor = 1 / self->changes[i].what.factor;
        else
            remove_begins(&self->changes[i], &states[i], &self->threads[index]);
    }
}

/* Returns the ticks in which the fastest occurrence waited and this one no longer does. */
static uint64_t leave(struct program_source *self, uint32_t index, uint32_t class)
{
    struct thread_change *states = states_of(self, index);
    uint64_t waits = 0;
    for (size_t i = 0; i < self->change_count; i++) {
        if (!means(&self->changes[i], class) || !states[i].depth || --states[i].depth > 0)
            continue;
        states[i].factor = 1;
        waits += states[i].left_wait ? states[i].left : 0;
    }
    return waits;
}

/* ---- parallel regions ------------------------------------------------------------------------ */

static void enter_stretch(struct program_source *self, uint32_t index, uint32_t at)
{
    struct thread_change *states = states_of(self, index);
    const struct open_thread *thread = &self->threads[index];
    for (size_t i = 0; i < self->change_count; i++)
        if (self->changes[i].team_work)
            states[i].factor =
                teams__factor(self->program, &self->changes[i].what, self->changes[i].team_work, at,
                              thread->row + thread->at, thread->count - thread->at);
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Whether the wait is not made: of a class that is removed, or in an occurrence of one. */
static bool wait_is_removed(struct program_source *self, uint32_t index, uint32_t class)
{
    struct thread_change *states = states_of(self, index);
    bool removed = false;
    for (size_t i = 0; i < self->change_count; i++) {
        const struct open_change *change = &self->changes[i];
        if (change->what.type != CHANGE_REMOVE)
            continue;
        if (change->of_function && states[i].depth)
            removed = states[i].left_wait = true;
        removed |= !change->of_function && change->what.class == class;
    }
    return removed;
}

/* Which part of a split lock the acquisition gets. */
static uint32_t part_of(struct open_change *change, struct thread_change *state, uint32_t thread,
                        uint32_t class)
{
    uint64_t place;
    if (change->what.by_site) {
        uint32_t unknown = 0;
        uint32_t *part = class == ROW_NO_CLASS ? &unknown : &change->parts[class];
        if (*part == NOBODY)
            *part = change->parts_given++;
        place = *part;
    } else { /* one by one would keep threads in step */
        uint64_t hash = ((uint64_t)thread << 40 ^ state->number++) * 0x9e3779b97f4a7c15ull;
        place = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull >> 33;
    }
    place %= change->what.count;
    return place ? change->first_part + (uint32_t)place - 1 : change->object;
}

static bool is_of_lock(const struct open_change *change, enum change_type type, uint32_t object)
{
    return change->what.type == type && change->object == object;
}

/* The lock that is taken in place of object; NOBODY: none. */
static uint32_t replacement(struct program_source *self, uint32_t index, const struct row_op *op)
{
    struct thread_change *states = states_of(self, index);
    if (wait_is_removed(self, index, op->class))
        return NOBODY;
    for (size_t i = 0; i < self->change_count; i++) {
        struct open_change *change = &self->changes[i];
        if (is_of_lock(change, CHANGE_REMOVE_LOCK, op->object))
            return NOBODY;
        if (!is_of_lock(change, CHANGE_SPLIT, op->object))
            continue;
        if (op->kind != ROW_REACQUIRE)
            states[i].last = part_of(change, &states[i], index, op->class);
        return states[i].last;
    }
    return op->object;
}

static void shrink(struct program_source *self, uint32_t index, uint32_t object, bool begins)
{
    struct thread_change *states = states_of(self, index);
    for (size_t i = 0; i < self->change_count; i++) {
        if (is_of_lock(&self->changes[i], CHANGE_SHRINK, object))
            states[i].factor = begins ? self->changes[i].what.factor : 1;
    }
}

/* Of a split lock, the part that it gives away: a condition wait takes that one again. */
static void remember_part(struct program_source *self, uint32_t index,
                          const struct replaced_lock *lock)
{
    struct thread_change *states = states_of(self, index);
    for (size_t i = 0; i < self->change_count; i++) {
        if (is_of_lock(&self->changes[i], CHANGE_SPLIT, lock->object))
            states[i].last = lock->by;
    }
}

static uint32_t acquire(struct program_source *self, uint32_t index, const struct row_op *op)
{
    struct replaced_lock lock = {op->object, replacement(self, index, op)};
    vec__push(&self->threads[index].locks, &lock);
    shrink(self, index, op->object, true);
    return lock.by;
}

static uint32_t release(struct program_source *self, uint32_t index, const struct row_op *op)
{
    struct vec *locks = &self->threads[index].locks;
    shrink(self, index, op->object, false);
    for (size_t i = locks->count; i-- > 0;) {
        struct replaced_lock *lock = VEC_AT(locks, struct replaced_lock, i);
        if (lock->object != op->object)
            continue;
        uint32_t by = lock->by;
        remember_part(self, index, lock);
        *lock = *VEC_AT(locks, struct replaced_lock, --locks->count);
        return by;
    }
    return NOBODY;
}

/* How long the delay, or the call's own work, is with its class removed, or what it is in. */
static uint64_t cut(const struct open_change *change, struct thread_change *state,
                    const struct row_op *op, uint64_t length)
{
    bool goes_on = change->of_function || (op->kind == REPLAY_DELAY && state->left_wait);
    uint64_t limit = goes_on ? state->left : change->reference_rest;
    length = length < limit ? length : limit;
    state->left = limit - length;
    if (!change->of_function)
        state->left_wait = op->kind == ROW_CALL; /* its DELAY follows */
    return length;
}

static uint64_t length_of(struct program_source *self, uint32_t index, const struct row_op *op)
{
    struct thread_change *states = states_of(self, index);
    uint64_t length = op->work;
    for (size_t i = 0; i < self->change_count; i++) {
        const struct open_change *change = &self->changes[i];
        if (change->what.type == CHANGE_REMOVE &&
            (change->of_function ? states[i].depth > 0 : change->what.class == op->class))
            length = cut(change, &states[i], op, length);
    }
    return length;
}

/* ---- work ------------------------------------------------------------------------------------ */

static uint64_t work_of(struct program_source *self, uint32_t index, const struct row_op *op)
{
    struct open_thread *thread = &self->threads[index];
    const struct thread_change *states = states_of(self, index);
    double factor = 1;
    for (size_t i = 0; i < self->change_count; i++) /* of teams, but for what a lock makes serial */
        factor *=
            self->changes[i].what.type == CHANGE_TEAM && thread->locks.count ? 1 : states[i].factor;
    uint64_t work = op->work;
    if (factor != 1) {
        double scaled = (double)work * factor + thread->rest;
        work = scaled > 0 ? (uint64_t)(scaled + 0.5) : 0;
        thread->rest = scaled - (double)work;
    }
    return work + (self->costs == REPLAY_COSTS_KEPT ? op->cost : 0);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool give(struct open_thread *thread, uint32_t kind, uint32_t object, struct replay_op *op)
{
    *op = (struct replay_op){thread->carried, object, kind};
    thread->carried = 0;
    return true;
}

static bool give_delay(struct open_thread *thread, uint64_t ticks, struct replay_op *op)
{
    struct replay_op delay = {ticks, 0, REPLAY_DELAY};
    if (!ticks)
        return false;
    if (!thread->carried) {
        *op = delay;
        return true;
    }
    thread->pending = delay;
    thread->has_pending = true;
    return give(thread, REPLAY_WORK, 0, op);
}

static bool give_unless(struct open_thread *thread, bool is_left_out, uint32_t kind,
                        uint32_t object, struct replay_op *op)
{
    return !is_left_out && give(thread, kind, object, op);
}

static bool is_told_by(const struct program_source *self, uint32_t thread, uint32_t by)
{
    return self->program->told_by && thread < self->program->thread_count &&
           self->program->told_by[thread] == by;
}

/* It is about to await that token, which may be the end of a thread that it told to end. */
static void tell(struct program_source *self, uint32_t by, uint32_t token)
{
    if (is_told_by(self, token, by))
        self->threads[token].is_told = true;
}

/* False: nothing of it is left but, perhaps, work. */
static bool take_op(struct program_source *self, uint32_t index, const struct row_op *row,
                    struct replay_op *op)
{
    struct open_thread *thread = &self->threads[index];
    uint32_t object;
    if (row->kind == REPLAY_DELAY)
        return give_delay(thread, length_of(self, index, row), op);
    if (row->kind == ROW_STOLEN) /* the less it works, the less is taken from it */
        return give_delay(thread, work_of(self, index, row), op);
    if (row->kind == ROW_LATE)
        return !wait_is_removed(self, index, row->class) && give_delay(thread, row->work, op);
    if (row->kind == ROW_CALL) {
        thread->carried += length_of(self, index, row);
        return false;
    }
    thread->carried += work_of(self, index, row);
    if (row->kind == REPLAY_AWAIT)
        tell(self, index, row->object);
    switch (row->kind) {
    case ROW_STRETCH:
        enter_stretch(self, index, row->object);
        return false;
    case ROW_ENTER:
        enter(self, index, row->class);
        return false;
    case ROW_LEAVE:
        return give_delay(thread, leave(self, index, row->class), op);
    case REPLAY_ACQUIRE:
    case REPLAY_SHARE:
    case ROW_REACQUIRE:
        object = acquire(self, index, row);
        return give_unless(thread, object == NOBODY,
                           row->kind == REPLAY_SHARE ? REPLAY_SHARE : REPLAY_ACQUIRE, object, op);
    case REPLAY_RELEASE:
        object = release(self, index, row);
        return give_unless(thread, object == NOBODY, REPLAY_RELEASE, object, op);
    case REPLAY_TAKE:
    case REPLAY_MEET:
    case REPLAY_AWAIT:
        return give_unless(thread, wait_is_removed(self, index, row->class), row->kind, row->object,
                           op);
    default:
        return give_unless(thread, row->kind == REPLAY_WORK, row->kind, row->object, op);
    }
}

static bool next_whole(struct program_source *self, uint32_t index, struct replay_op *op)
{
    struct open_thread *thread = &self->threads[index];
    if (thread->has_pending) {
        thread->has_pending = false;
        *op = thread->pending;
        return true;
    }
    while (thread->at < thread->count) {
        const struct row_op *row = &thread->row[thread->at++];
        if (take_op(self, index, row, op))
            return true;
    }
    return thread->carried && give(thread, REPLAY_WORK, 0, op);
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Of a thread that others end: in short pieces. There are PIECES of them and as many as operations,
 * even where a damaged trace has more to do than any life is long; where a change makes that
 * longer, PIECES more each time that it is e times as much. */
static bool next_piece(struct program_source *self, uint32_t index, struct replay_op *op)
{
    struct open_thread *thread = &self->threads[index];
    if (thread->has_piece)
        *op = thread->piece;
    else if (!next_whole(self, index, op))
        return false;
    thread->has_piece = false;
    uint64_t all = plus(thread->given_ticks, op->ticks);
    uint64_t piece_ticks = (all > thread->long_ticks ? all : thread->long_ticks) / PIECES + 1;
    if (op->ticks <= piece_ticks) {
        thread->given_ticks = all;
        return true;
    }
    thread->given_ticks = plus(thread->given_ticks, piece_ticks);
    thread->piece = *op;
    thread->piece.ticks -= piece_ticks;
    thread->has_piece = true;
    /* After work, something that is nothing: the replay takes all work before an operation at once.
     */
    op->kind = op->kind == REPLAY_DELAY ? REPLAY_DELAY : REPLAY_POST;
    op->object = NOBODY;
    op->ticks = piece_ticks;
    return true;
}

/* Of a thread that was told to end: it gives back what it has, and its end is awaited. */
static bool next_of_end(struct program_source *self, uint32_t index, struct replay_op *op)
{
    struct open_thread *thread = &self->threads[index];
    bool releases = thread->has_piece && thread->piece.kind == REPLAY_RELEASE;
    uint32_t object = releases ? thread->piece.object : NOBODY;
    thread->has_pending = thread->has_piece = false;
    thread->carried = 0;
    while (object == NOBODY && thread->locks.count)
        object = VEC_AT(&thread->locks, struct replaced_lock, --thread->locks.count)->by;
    if (object != NOBODY)
        return give(thread, REPLAY_RELEASE, object, op);
    bool has_said = thread->says_end;
    thread->says_end = true;
    return !has_said && give(thread, REPLAY_POST, index, op);
}

static bool next_of_thread(struct program_source *self, uint32_t index, struct replay_op *op)
{
    if (!self->program->counts[index])
        return self->running && next_piece(self, index, op);
    if (self->threads[index].is_told)
        return next_of_end(self, index, op);
    if (self->program->told_by && self->program->told_by[index] != NOBODY)
        return next_piece(self, index, op);
    return next_whole(self, index, op);
}

static bool next(struct replay_source *source, uint32_t index, struct replay_op *op)
{
    struct program_source *self = (struct program_source *)source;
    if (next_of_thread(self, index, op))
        return true;
    self->running -= !self->threads[index].has_ended;
    self->threads[index].has_ended = true;
    return false;
}

/* ---- what changes mean ----------------------------------------------------------------------- */

static int find_lock(struct program_source *self, struct open_change *change, struct error *error)
{
    uint64_t place =
        program__object(self->program, change->what.process, CLASS_LOCK, change->what.lock);
    if (place == MAP_ABSENT)
        return error__set(error, -ENOENT,
                          "no lock at 0x%" PRIx64 " was taken in process %" PRIu32
                          " of the trace; heurt locks lists those that were",
                          change->what.lock, change->what.process);
    change->object = (uint32_t)place;
    return 0;
}

static int find_split(struct program_source *self, struct open_change *change, struct error *error)
{
    int result = find_lock(self, change, error);
    if (result < 0)
        return result;
    if (change->what.by_site && change->what.count == 0)
        change->what.count = SITES_AT_MOST;
    if (change->what.count < 1 || change->what.count > 4096)
        return error__set(error, -EINVAL, "a lock can be split into 1 to 4096, not into %" PRIu32,
                          change->what.count);
    change->first_part = (uint32_t)self->objects.count;
    for (uint32_t i = 1; i < change->what.count; i++) {
        struct replay_object part = *VEC_AT(&self->objects, struct replay_object, change->object);
        vec__push(&self->objects, &part);
    }
    if (!change->what.by_site)
        return 0;
    change->parts = memory__zeroed(self->program->class_count, sizeof *change->parts);
    for (uint32_t i = 0; i < self->program->class_count; i++)
        change->parts[i] = NOBODY;
    return 0;
}

static int find_factor(const struct open_change *change, struct error *error)
{
    double factor = change->what.factor;
    bool is_speed = change->what.type == CHANGE_SPEED;
    if (factor >= 0 && factor < 1e6 && (factor > 1e-6 || !is_speed))
        return 0;
    return error__set(error, -EINVAL, "a factor of %g makes no sense", factor);
}

static int refuse_sampled(const struct profile_class *class, struct error *error)
{
    if (class->recorded >= class->count)
        return 0;
    return error__set(error, -ENOTSUP,
                      "only %" PRIu64 " of %" PRIu64 " occurrences of %s were recorded, and a "
                      "replay needs all of them; record again without --overhead, with -f %s",
                      class->recorded, class->count, class->what.at.function,
                      class->what.at.function);
}

static int find_speed(struct program_source *self, struct open_change *change, struct error *error)
{
    const struct replay_program *program = self->program;
    bool any = false;
    int result = find_factor(change, error);
    change->functions = memory__zeroed(program->class_count, sizeof *change->functions);
    for (uint32_t i = 0; i < program->class_count && result == 0; i++) {
        const struct profile_class *class = program->classes[i];
        if (!class || !class_kind__is_code(class->what.at.kind) ||
            !rule__matches(change->what.pattern, class->what.at.function))
            continue;
        change->functions[i] = any = true;
        result = refuse_sampled(class, error);
    }
    if (result < 0 || any)
        return result;
    return error__set(error, -ENOENT,
                      "no function that was recorded is called %s; record it with "
                      "-f %s",
                      change->what.pattern, change->what.pattern);
}

static int find_class(struct program_source *self, struct open_change *change, struct error *error)
{
    const struct replay_program *program = self->program;
    if (change->what.class >= program->class_count || !program->classes[change->what.class])
        return error__set(error, -ENOENT, "there is no class with number %" PRIu32,
                          change->what.class);
    const struct profile_class *class = program->classes[change->what.class];
    change->class = class;
    change->of_function = class_kind__is_code(class->what.at.kind);
    uint64_t sum = 0;
    for (unsigned i = 0; i < COMPONENTS && class->accumulator; i++)
        sum += class->accumulator->component_reference[i];
    if (class->accumulator) {
        const uint64_t *reference = class->accumulator->component_reference;
        uint64_t work = reference[COMPONENT_RUNNING] + reference[COMPONENT_PAGE_FAULT];
        change->reference_work = work;
        change->reference_rest =
            sum - reference[COMPONENT_OVERHEAD] - reference[COMPONENT_RUNNABLE] - work;
        if (!change->of_function)
            change->reference_rest = sum - reference[COMPONENT_RUNNABLE];
    }
    return refuse_sampled(class, error);
}

static int find_meaning(struct program_source *self, struct open_change *change,
                        struct error *error)
{
    switch (change->what.type) {
    case CHANGE_REMOVE:
        return find_class(self, change, error);
    case CHANGE_REMOVE_LOCK:
        return find_lock(self, change, error);
    case CHANGE_SPEED:
        return find_speed(self, change, error);
    case CHANGE_SHRINK: {
        int result = find_factor(change, error);
        return result < 0 ? result : find_lock(self, change, error);
    }
    case CHANGE_SPLIT:
        return find_split(self, change, error);
    case CHANGE_BALANCE:
    case CHANGE_TEAM:
        return teams__find(self->program, &change->what, &change->team_work, error);
    default:
        return 0; /* THREADS: done before */
    }
}

/* Barriers at which another number of threads meet. */
static void take_parties(struct program_source *self)
{
    for (size_t i = 0; i < self->dealt->models.count; i++)
        VEC_AT(&self->objects, struct replay_object, i)->parties =
            VEC_AT(&self->dealt->models, struct replay_object, i)->parties;
}

/* A barrier at which fewer meet. */
static void count_parties(struct program_source *self)
{
    const struct replay_program *program = self->program;
    uint64_t *meets = memory__zeroed(2 * self->objects.count, sizeof *meets);
    uint64_t *left = meets + self->objects.count;
    for (size_t i = 0; i < program->thread_count; i++) {
        VEC_EACH (op, &program->rows[i], struct row_op) {
            if (op->kind != REPLAY_MEET)
                continue;
            bool removed = false;
            for (size_t j = 0; j < self->change_count; j++)
                removed |= self->changes[j].what.type == CHANGE_REMOVE &&
                           self->changes[j].what.class == op->class;
            meets[op->object]++;
            left[op->object] += !removed;
        }
    }
    for (size_t i = 0; i < self->objects.count; i++) {
        struct replay_object *object = VEC_AT(&self->objects, struct replay_object, i);
        if (meets[i] && left[i] < meets[i])
            object->parties =
                (uint32_t)(((uint64_t)object->parties * left[i] + meets[i] / 2) / meets[i]);
        object->parties += !object->parties;
    }
    free(meets);
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint64_t life_of(const struct trace *trace, size_t index)
{
    const struct trace_thread *thread = trace__thread_at(trace, index);
    return thread->end_tick > thread->start_tick ? thread->end_tick - thread->start_tick : 0;
}

static uint64_t ticks_of_row(const struct vec *row)
{
    uint64_t ticks = 0;
    VEC_EACH (op, row, struct row_op)
        ticks = plus(ticks, op->work);
    return ticks;
}

static uint64_t longest_life(const struct trace *trace, size_t threads)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < threads && i < trace__threads(trace)->count; i++) {
        uint64_t life = life_of(trace, i);
        longest = life > longest ? life : longest;
    }
    return longest;
}

static void start_threads(struct program_source *self)
{
    const struct replay_program *program = self->program;
    uint64_t longest = longest_life(program->trace, program->thread_count);
    self->threads = memory__zeroed(program->thread_count, sizeof *self->threads);
    self->states = memory__zeroed(program->thread_count * self->change_count, sizeof *self->states);
    for (size_t i = 0; i < program->thread_count; i++) {
        uint64_t ticks = ticks_of_row(&program->rows[i]);
        self->threads[i].row = program->rows[i].items;
        self->threads[i].count = program->rows[i].count;
        self->threads[i].long_ticks = ticks > longest ? ticks : longest;
        self->threads[i].locks = VEC_OF(struct replaced_lock);
        self->running += program->counts[i];
        for (size_t j = 0; j < self->change_count; j++)
            states_of(self, (uint32_t)i)[j].factor = 1;
    }
}

/* Where pieces of work are dealt anew, nobody knows in which function they are. */
static int deal_threads(struct program_source *self, struct error *error)
{
    const struct change *threads = NULL;
    for (size_t i = 0; i < self->change_count; i++) {
        if (self->changes[i].what.type == CHANGE_THREADS)
            threads = &self->changes[i].what;
    }
    if (!threads)
        return 0;
    for (size_t i = 0; i < self->change_count; i++) {
        const struct open_change *change = &self->changes[i];
        if (change->what.type == CHANGE_SPEED || change->of_function)
            return error__set(error, -ENOTSUP,
                              "another number of threads and a change of a function cannot be "
                              "predicted together");
    }
    int result = program__deal(self->program, threads->count, &self->dealt, error);
    if (result == 0)
        self->program = self->dealt;
    return result;
}

static struct program_source *new_source(const struct replay_program *program,
                                         const struct change *changes, size_t count,
                                         enum replay_costs costs)
{
    struct program_source *self = memory__zeroed(1, sizeof *self);
    self->source.next = next;
    self->program = program;
    self->costs = costs;
    self->objects = VEC_OF(struct replay_object);
    self->change_count = count;
    self->changes = memory__zeroed(count, sizeof *self->changes);
    for (size_t i = 0; i < count; i++) {
        self->changes[i].what = changes[i];
        self->changes[i].object = NOBODY;
    }
    VEC_EACH (object, &program->models, struct replay_object)
        vec__push(&self->objects, object);
    return self;
}

struct replay_source *replay_program__open(const struct replay_program *program,
                                           const struct change *changes, size_t count,
                                           enum replay_costs costs, struct replay_model *model,
                                           struct error *error)
{
    struct program_source *self = new_source(program, changes, count, costs);
    for (size_t i = 0; i < count; i++) {
        if (find_meaning(self, &self->changes[i], error) < 0) {
            replay_program__close(&self->source);
            return NULL;
        }
    }
    if (deal_threads(self, error) < 0) {
        replay_program__close(&self->source);
        return NULL;
    }
    if (self->dealt)
        take_parties(self);
    if (count)
        count_parties(self);
    start_threads(self);
    *model = self->program->model;
    model->object_count = (uint32_t)self->objects.count;
    model->objects = self->objects.items;
    return &self->source;
}

uint32_t replay_program__threads(const struct replay_source *source)
{
    const struct program_source *self = (const struct program_source *)source;
    uint32_t threads = 0;
    for (size_t i = 0; i < self->program->thread_count; i++)
        threads += !self->dealt || self->threads[i].count > 2; /* more than to begin and to end */
    return threads;
}

void replay_program__close(struct replay_source *source)
{
    struct program_source *self = (struct program_source *)source;
    if (!self)
        return;
    for (size_t i = 0; self->threads && i < self->program->thread_count; i++)
        vec__free(&self->threads[i].locks);
    for (size_t i = 0; i < self->change_count; i++) {
        free(self->changes[i].functions);
        free(self->changes[i].parts);
        free(self->changes[i].team_work);
    }
    program__free_dealt(self->dealt);
    free(self->changes);
    free(self->threads);
    free(self->states);
    vec__free(&self->objects);
    free(self);
}
