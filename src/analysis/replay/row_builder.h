/* row_builder.h: what makes a thread's row of operations: for replay_program_rows.c and _regions.c.
 *
 * One builder serves all threads, one after the other. */
#ifndef HEURT_ANALYSIS_REPLAY_ROW_BUILDER_H
#define HEURT_ANALYSIS_REPLAY_ROW_BUILDER_H

#include "analysis/events/openmp_acts.h"
#include "analysis/events/thread_acts.h"
#include "analysis/replay/internal.h"
#include "analysis/replay/part_ends.h"

#define RECENT_OBJECTS 1024u

struct spent {
    uint64_t ticks[SPENDINGS];
};

/* The outermost wait or call that is open. */
struct open_call {
    uint32_t class;
    struct thread_act begun;
};

struct open_function {
    uint32_t id, class;
    uint32_t bias, cost;
    const struct class_entry *divided; /* its class is known with its end; NULL: it is known */
    size_t enter;                      /* place in the row */
};

struct own_lock {
    uint32_t object;
    uint32_t depth;
    bool handed; /* another thread had it before */
};

struct row_object {
    uint64_t address, kind_and_1, place;
};

#define TEAMS_MOST 16u

/* A call of a region, or a body in one. */
struct team_place {
    bool is_call;
    uint64_t number; /* of the region */
    uint32_t place, team;
    uint32_t at, stretch; /* among the program's stretches; in the body, from 0 */
};

struct builder {
    struct replay_program *program;
    struct thread_away *all_away; /* by thread */
    struct class_table *table;
    struct run *run;
    uint64_t first_tick; /* of all threads */
    struct thread_acts acts;
    bool has_parts;
    struct part_ends parts;
    struct row_object *recent;
    /* The current thread. */
    const struct trace_thread *thread;
    const struct trace_process *process;
    uint32_t index;
    struct vec *row;
    const struct thread_away *away;
    size_t next_away, next_post, next_await, next_wake, next_handed;
    uint64_t tick;    /* of the last event, never stepping back */
    uint64_t at;      /* its time is divided up to here */
    uint64_t work;    /* since the last operation */
    uint64_t cost;    /* of it, what recording cost */
    uint64_t owed;    /* by the work that comes, for recording */
    uint64_t excused; /* of the work until the next operation: the replay adds it where it is due */
    struct open_call call;
    struct vec functions; /* struct open_function */
    struct vec held;      /* struct own_lock */
    uint32_t drawn;       /* weight of the next occurrence */
    bool too_many;
    struct team_place teams[TEAMS_MOST]; /* calls of regions, and bodies, that it is in */
    uint32_t team_depth;
    bool is_docked; /* between regions, or behind its body: what it does then is no work */
};

/* An operation behind the work until now. */
void row__add(struct builder *self, uint32_t kind, uint32_t object, uint32_t class);
void row__flush_work(struct builder *self);
void row__push(struct builder *self, uint64_t work, uint64_t cost, uint32_t kind, uint32_t object,
               uint32_t class);
/* kind: REPLAY_DELAY, ROW_STOLEN, ROW_LATE or ROW_CALL. */
void row__add_apart(struct builder *self, uint32_t kind, uint64_t ticks, uint32_t class);

/* ---- replay_program_regions.c ---------------------------------------------------------------- */

/* Of OpenMP: what it did until then is told already. Returns ticks of work that come now. */
uint64_t row__take_openmp(struct builder *self, const struct openmp_act *act);
/* It has passed a barrier of its team. */
void row__passed_barrier(struct builder *self);
/* The caller of a region waits for its team to end; what comes out is a wait for their ends. */
bool row__joins(const struct builder *self);
/* Nobody waits for what was never told. */
void program__end_regions(struct replay_program *program);

#endif
