/* place_processes.h: whom the daemon follows: processes that were named, those of a cgroup, or all
 * of this user; with what they start.
 *
 * A process is known by a pidfd, so that a number that comes again is never taken for it; after an
 * exec it is another application. Kernel threads, this process itself and what has ended are never
 * followed, and of what was not chosen nothing is.
 *
 * In goes a choice, out come the processes of now, round by round, with the CPU time of each. It
 * costs a look at /proc: some us for each process that is new, and for each that is followed. One
 * thread at a time. */
#ifndef HEURT_PLACE_PLACE_PROCESSES_H
#define HEURT_PLACE_PLACE_PROCESSES_H

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One of them. */
struct place_selection {
    struct vec pids;    /* pid_t: these, and their children from then on */
    const char *cgroup; /* a folder below /sys/fs/cgroup, or its whole path; NULL: none */
    bool of_user;       /* all of this user */
};

struct place_process {
    uint32_t id; /* of the application: another one after an exec; never comes again */
    pid_t pid;
    int pidfd;
    char name[16];
    uint64_t code;   /* where its program begins in memory: another one after an exec */
    uint64_t cpu_ns; /* in its life */
    double cpus;     /* that it used since the last look */
    bool is_new;     /* since the last look, or it has called exec */
    bool is_chosen;  /* in this look */
};

struct place_processes {
    struct place_selection selection;
    struct vec items; /* struct place_process, by id */
    struct vec seen;  /* uint32_t: all processes of the machine at the last look, by number */
    uint32_t next_id;
    uint64_t looked_ns;
};

/* -errno after a sentence: a process that is not there or not this user's, a folder that is no
 * cgroup, all processes of root. The selection is kept, not copied. place_processes__free it. */
int place_processes__open(struct place_processes *self, const struct place_selection *selection,
                          struct error *error);
void place_processes__free(struct place_processes *self);
/* Who is there now. gone is told of each that is no more, before it is forgotten. */
void place_processes__look(struct place_processes *self,
                           void (*gone)(const struct place_process *process, void *context),
                           void *context);

#endif
