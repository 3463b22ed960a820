/* single_run.h: a program run once, alone or recorded, in a process of its own: a recording is made
 * once in a process, and what a run changes is gone with it.
 *
 * In goes a command, out come its end and, of a run alone, its times. It costs a fork, and what
 * heurt record costs. It stands on launch.h, and on heurt record. One run at a time; not
 * thread-safe. */
#ifndef HEURT_CMD_SINGLE_RUN_H
#define HEURT_CMD_SINGLE_RUN_H

#include <signal.h>
#include <stdint.h>

struct single_run {
    char *const *words; /* NULL-ended */
    const char *trace;  /* it is recorded there, in place of an older one; NULL: it runs alone */
    const char *holds;  /* of one that is recorded: --hold-longer; NULL: none are */
    const char *output; /* a file for the program's standard output */
    uint32_t threads;   /* OMP_NUM_THREADS; 0: as it is */
    uint32_t cpus;      /* the first so many of those that heurt may use; 0: all of them */
};

struct run_end {
    int wait_status;          /* as by waitpid(2); of a recorded run heurt record's, the same */
    uint64_t wall_ns, cpu_ns; /* of one alone, from exec to its end; user and system; else 0 */
};

/* 0, whatever became of the program; or the exit status of a program that cannot be run, or of
 * heurt, after a sentence: more runs would tell the same. */
int single_run__make(const struct single_run *run, struct run_end *end);

/* Between these two, INT, TERM and HUP end the run that is made, and not this process; what this
 * process was told to ignore goes on being ignored. */
#define INTERRUPTS 3
struct interrupts {
    struct sigaction before[INTERRUPTS];
};
void interrupts__hold(struct interrupts *interrupts);
void interrupts__release(const struct interrupts *interrupts);
/* Which of them came since they are held; 0: none. */
int interrupts__came(void);

#endif
