/* live_parts.h: what live_patch.c, live_plan.c and live_loops.c share. */
#ifndef HEURT_RECORDER_LIVE_PARTS_H
#define HEURT_RECORDER_LIVE_PARTS_H

#include "base/map.h"
#include "kernel/stop.h"
#include "recorder/live_patch.h"

#include <sys/types.h>

/* A function or loop of the session. */
struct live_function {
    uint32_t id;
    bool left_out;
};

/* What is told of a loop besides its patch. */
struct live_loop {
    uint64_t address; /* of its head, in the process */
    uint32_t parent;  /* number + 1 of the nearest marked loop around it; 0: none */
    bool saves_flags;
    char *file;
    uint32_t line;
};

/* One function or loop in one process. */
struct live_patch {
    struct heurt_plan plan;
    uint64_t slot;
    uint32_t function; /* index into live's functions, or loops */
    bool is_loop;
    const struct trace_module *module; /* of a function; live's */
    bool followed; /* a function of which it was asked whether its loops are to be marked */
    uint64_t applied_ns;
    struct live_loop loop;
    uint8_t jump[HEURT_PATCH_BYTES];
    bool applied, failed, defined;
    bool is_given; /* its process has patched it itself, by an ordinary plan: only to be taken away
                    */
    char *name;
};

enum process_state { PROCESS_WAITS, PROCESS_DONE, PROCESS_GONE };

struct live_process {
    uint32_t serial;
    pid_t pid;
    enum process_state state;
    size_t choices; /* of the planner's, that are planned for */
    unsigned attempts;
    uint64_t next_ns; /* of the next attempt */
    struct vec rooms; /* struct heurt_live: as its own memory has them */
    struct vec patches;
    struct stop *stop;
    bool lingers; /* stop__tend has still something to do */
};

struct live {
    const char *directory;
    struct planner *planner;
    struct trace_writer *writer;
    struct stop_log *stops; /* or NULL: nobody asks */
    struct vec functions;   /* struct live_function */
    struct vec loops;       /* struct live_function */
    struct map function_of_place, loop_of_place;
    struct vec modules;   /* struct trace_module *: of functions, own copies */
    struct vec processes; /* struct live_process */
    struct map process_of_serial;
    struct vec plans; /* struct plan *: processes that have the same mapped have the same */
    struct map plan_of_modules;
    struct vec places; /* struct hot_place: what is followed inwards; none: nothing is */
    uint64_t least_ns; /* of a loop */
    uint64_t next_follow_ns;
    struct vec loop_plans; /* struct vec of struct planned_loop: by module */
    struct map loop_plan_of_path;
    uint32_t processes_seen;
    unsigned looks;
    uint64_t next_look_ns;
    bool started, all_taken_away;
    char *trouble;
};

/* What the kernel and a process' own memory say of it. The trace, where any process of the session
 * can write, only says whom to ask. */
struct live_witness {
    struct vec ranges;  /* struct mapped_range */
    struct vec modules; /* struct witnessed_module */
    struct heurt_offers offers;
};
/* False: it is no process of this user with this runtime in it, or it offers nothing. */
bool live_witness__hear(struct live_witness *witness, pid_t pid, const char *library);
bool live_witness__confirms(const struct live_witness *witness, const struct trace_module *module);
void live_witness__free(struct live_witness *witness);
/* All three of the process's users are this one: it never had other rights, or has given them up.
 */
bool live_witness__is_own(pid_t pid);

/* The session's entry of a patch. */
struct live_function *live__function(const struct live *live, const struct live_patch *patch);

/* Says in the trace why a patch is not made, and gives it up. */
void live__refuse(struct live *live, const struct live_process *process, struct live_patch *patch,
                  const char *reason);

/* Adds the functions of one of the planner's choices to what is to be patched: those of modules
 * that known has now, as the witness confirms, and for which no plan of the ordinary kind was made.
 */
void live__plan(struct live *live, struct live_process *process, const struct trace_process *known,
                const struct live_witness *witness, size_t selection);

/* Live's own copy of a module: the trace that tells of it is closed again. */
const struct trace_module *live__keep_module(struct live *live, const struct trace_module *module);

/* Defines a marked loop in the trace. False: it is full. */
bool live__define_loop(struct live *live, const struct live_process *process,
                       struct live_patch *patch, const struct heurt_live *room);

/* Looks whether functions that were patched a while ago were entered, and adds the loops of those
 * that were not to what is to be patched. Returns whether any was added. */
bool live__follow(struct live *live, uint64_t now_ns);
void live__free_plans(struct live *live);
void live__free_loops(struct live *live);

#endif
