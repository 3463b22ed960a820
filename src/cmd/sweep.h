/* sweep.h: one program, run with several numbers of threads, or on several numbers of CPUs, again
 * and again: by itself, and recorded.
 *
 *     heurt.scale/            0700
 *         sweep               the command, then a line a run that has ended
 *         4-threads.1         a trace                 4-threads-2-cpus.1
 *         4-threads.1.out     what the program wrote  …
 *         4-threads.1.alone.out
 *
 * A run that is not in the file was not made, or interrupted: it is made (again) when the sweep
 * goes on. A run that failed is made again, too, and its last line stands.
 *
 * In go a directory, a command and what is to be run; out come runs. It stands on launch.h, and on
 * heurt record. One sweep at a time. */
#ifndef HEURT_CMD_SWEEP_H
#define HEURT_CMD_SWEEP_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#define SWEEP_DIRECTORY "heurt.scale"
#define SWEEP_COUNT_MOST 1024 /* threads, CPUs */
#define SWEEP_REPEAT_MOST 1000

/* Which run it is. */
struct sweep_place {
    uint32_t threads;
    uint32_t pinned;     /* on so many CPUs; 0: on all that it may use */
    uint32_t repetition; /* from 1 */
    bool is_recorded;
};

/* What became of a run. */
struct sweep_entry {
    struct sweep_place place;
    uint32_t cpus;   /* that it could use */
    int wait_status; /* as by waitpid(2); of a recorded run heurt record's, which is the same */
    uint64_t wall_ns, cpu_ns; /* of one alone: cpu_ns user and system */
};

struct sweep {
    const char *directory;
    struct vec command; /* char *, as it was typed, "{}" and all */
    struct vec entries; /* struct sweep_entry, each place once */
    int file;           /* of the state; -1: nothing is added */
};

/* sweep_state.c */

/* What there is of it. 0; -ENOENT: no sweep is there; or a negative errno; with a sentence. */
int sweep__read(const char *directory, struct sweep *sweep, struct error *error);
/* The one in the directory, which is made if there is none, to be gone on with. Fails where another
 * command's stands there, or anything else. */
int sweep__open(const char *directory, char **command, struct sweep *sweep, struct error *error);
void sweep__free(struct sweep *sweep);
/* NULL: it was not made yet. */
const struct sweep_entry *sweep__entry(const struct sweep *sweep, const struct sweep_place *place);
/* Adds it to the file. */
int sweep__add(struct sweep *sweep, const struct sweep_entry *entry, struct error *error);
/* On one line, for people. free() it. */
char *sweep__command(const struct sweep *sweep);
/* Of its trace, or of what the program wrote. free() it. */
char *sweep__trace(const struct sweep *sweep, const struct sweep_place *place);
char *sweep__output(const struct sweep *sweep, const struct sweep_place *place);
bool sweep_entry__is_good(const struct sweep_entry *entry);

/* sweep_make.c */

/* What is to be run. */
struct sweep_plan {
    struct vec threads; /* uint32_t, ascending */
    struct vec cores;   /* likewise; none: all CPUs */
    uint64_t repeat;
    bool quiet;
};

/* CPUs that a program may use here. */
uint32_t sweep__cpus(void);
/* Makes what is missing, and says how far it is. 0, EXIT_HEURT after a sentence, the exit status of
 * a program that cannot be run, or 128 + the signal that ended it. */
int sweep__make(struct sweep *sweep, const struct sweep_plan *plan);

#endif
