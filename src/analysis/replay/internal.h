/* internal.h: what the parts of replay_program share. For replay_program*.c only.
 *
 *     replay_program.c          the program, its model, its classes
 *     replay_program_links.c    one walk over all threads: who ends whose wait, objects, latencies
 *     replay_program_away.c     when threads had no CPU, and why
 *     replay_program_rows.c     each thread's events as a row of operations
 *     replay_program_regions.c  parallel regions of OpenMP in it
 *     replay_program_told.c     threads that run until they are told to end
 *     replay_program_threads.c  rows of another number of threads
 *     replay_program_teams.c    regions whose work is divided otherwise
 *     replay_program_change.c   rows as a replay gets them: changed
 */
#ifndef HEURT_ANALYSIS_REPLAY_INTERNAL_H
#define HEURT_ANALYSIS_REPLAY_INTERNAL_H

#include "analysis/analysis.h"
#include "analysis/replay/replay_program.h"
#include "analysis/sync/sync_events.h"
#include "base/map.h"

/* Beyond enum replay_kind. */
enum row_kind {
    ROW_ENTER = 32, /* an occurrence of a function's class begins */
    ROW_LEAVE,      /* the innermost one of the class ends */
    ROW_REACQUIRE,  /* ACQUIRE of the mutex that the condition wait just before gave away */
    ROW_STOLEN,     /* a delay: programs other than this one used the CPUs */
    ROW_LATE,       /* the same, behind an AWAIT: who does not wait is not late */
    ROW_STRETCH, /* in a region, up to a barrier: object: place in stretches; UINT32_MAX: its end */
    ROW_CALL,    /* work of a call that is of a class itself (I/O, sleep); its DELAY may follow */
};

#define ROW_NO_CLASS 0xffffffu
#define ROW_WORK_MOST ((1ull << 40) - 1)
#define ROW_COST_MOST ((1ull << 24) - 1)

/* 16 bytes. */
struct row_op {
    uint64_t work : 40; /* ticks on a CPU before it; DELAY: its length; CALL: its own work */
    uint64_t cost : 24; /* ticks on a CPU before it that recording cost */
    uint32_t object;    /* index into objects; a token */
    uint32_t kind : 8;
    uint32_t class : 24; /* number in the profile, of the wait, call or function */
};
_Static_assert(sizeof(struct row_op) == 16, "memory is stated in operations");

struct program_object {
    uint32_t process; /* serial */
    enum class_kind kind;
    uint64_t address;
};

/* Something that a thread tells others, or that it waited for. */
struct thread_link {
    uint64_t tick;
    uint32_t token;
    bool was_there; /* awaits: of a message that need not be waited for */
};

/* Who created a thread to do what. */
struct thread_origin {
    uint64_t creator, routine; /* serial; address */
    uint32_t process;          /* serial */
    bool is_created;           /* by a thread of the trace: it begins with a token */
};

/* What the threads of a team do up to a barrier of it, of one call of a region. */
struct program_stretch {
    uint32_t process; /* serial */
    uint32_t team;    /* threads */
    uint64_t site;    /* of the region */
};

/* Where they come together, or begin: when the last one came. */
struct program_crossing {
    uint64_t tick;
    uint32_t team;
};

/* An operation of a thread that went on from there at that tick: how late it was. */
struct late_place {
    uint32_t thread, crossing;
    size_t op;
    uint64_t tick;
};

struct thread_links {
    struct vec posts;  /* struct thread_link, by tick */
    struct vec awaits; /* struct thread_link, by tick at which the wait ended */
    struct vec wakes;  /* uint64_t: ticks of releases that woke another one */
    struct vec handed; /* uint64_t: ticks of acquisitions of locks that another one had before */
    bool is_created;   /* by a thread of the trace: it begins with a token */
};

/* The end of thread t is token t, its creation token count + t. */
struct replay_program {
    const struct trace *trace;
    const struct profile *profile;
    size_t thread_count;
    struct vec *rows;              /* struct row_op, by thread */
    uint64_t op_count;             /* of all rows */
    struct thread_origin *origins; /* by thread */
    bool *counts;                  /* by thread: it ended by itself; the program's end is the last
                                      such one's */
    uint32_t *told_by;             /* by thread: who joins it, and told it to end; UINT32_MAX: it
                                      ends by itself. NULL: all do */
    struct thread_links *links;    /* by thread; empty once the rows are made */
    struct vec objects;            /* struct program_object */
    struct vec models;             /* struct replay_object, likewise */
    const struct drawn_run *drawn; /* trace is its; NULL: of all of the run */
    struct map places;             /* process, kind, address -> place in objects */
    struct map teams;              /* process, region's number, what -> token, or stretch */
    struct vec stretches;          /* struct program_stretch */
    struct vec crossings;          /* struct program_crossing */
    struct vec lates;              /* struct late_place */
    bool has_regions;
    const struct profile_class **classes; /* by number; NULL: there is none */
    uint32_t class_count;
    struct replay_model model;
};

/* The token that the thread posts or awaits is its own end's or creation's. */
static inline bool row_op__is_own_token(const struct replay_program *program, uint32_t thread,
                                        const struct row_op *op)
{
    return op->object == (op->kind == REPLAY_POST ? thread : program->thread_count + thread);
}

/* MAP_ABSENT: not met in the walk. */
uint64_t program__object(const struct replay_program *program, uint32_t process,
                         enum class_kind kind, uint64_t address);

uint64_t program__ticks_of_ns(const struct replay_program *program, uint64_t ns);

/* ---- replay_program_links.c: objects, models, links, latencies; model.token_count ------------ */
extern const struct analysis links_analysis;

/* ---- replay_program_away.c ------------------------------------------------------------------- */

/* How a thread's time is spent. */
enum spending {
    SPENT_WORK,
    SPENT_BLOCKED,
    SPENT_RUNNABLE, /* waiting for a CPU that the program itself used */
    SPENT_STOLEN,   /* that others used */
    SPENT_PAUSED,   /* by the recording, for itself */
    SPENDINGS
};

/* A time not on a CPU, or not for the program. */
struct away {
    uint64_t begin, end;
    enum spending what;
};

struct thread_away {
    struct vec periods; /* struct away, by begin */
    bool has_kernel;    /* the kernel's records tell of it */
};

extern const struct analysis away_analysis; /* struct thread_away, by thread */
/* Whose CPUs they waited for. */
void program__find_stolen(const struct replay_program *program, struct thread_away *all);
void program__free_away(const struct replay_program *program, struct thread_away *all);

/* ---- replay_program_rows.c: fails when there are too many operations ------------------------- */
extern const struct analysis rows_analysis; /* with the program, for all three */

/* ---- replay_program_told.c ------------------------------------------------------------------- */

/* since: when the wait for the thread's end began. Afterwards told_by holds those that ended soon
 * after that; find_told leaves of them, once there are rows, those that are told. */
void program__was_joined(struct replay_program *program, uint32_t thread, uint32_t by,
                         uint64_t since);
void program__find_told(struct replay_program *program);

/* ---- replay_program_teams.c ------------------------------------------------------------------ */

struct team_work;

/* For a change of regions: by stretch, what their teams do; free() it. Fails (-ENOENT) with a
 * sentence where it means none. */
int teams__find(const struct replay_program *program, const struct change *change,
                struct team_work **works, struct error *error);
/* Times what a thread does in that stretch, of which the operations follow; at: UINT32_MAX: in
 * none. It is asked once a thread and stretch. */
double teams__factor(const struct replay_program *program, const struct change *change,
                     struct team_work *works, uint32_t at, const struct row_op *ops, size_t count);

/* ---- replay_program_threads.c ---------------------------------------------------------------- */

/* A program in which count threads do the work of those that are alike. It stands on program.
 * Fails (-ENOTSUP) with a sentence where that cannot be known. */
int program__deal(const struct replay_program *program, uint32_t count,
                  struct replay_program **dealt, struct error *error);
void program__free_dealt(struct replay_program *dealt); /* NULL is allowed */

#endif
