/* selection.h: which functions of a program are worth recording, found by sampling it.
 *
 * The first choice is made after a given CPU time of the program and all it starts, or sooner when
 * the picture is stable: the same functions at several looks, and not before 0.25 s. Chosen are the
 * functions with at least CHOICE_PERCENT of the samples that fell into ELF files (not the kernel,
 * not code that is made at run time). Then a fifth of the samples are taken for as long as the
 * program runs, and looked at in windows of CPU time: functions that become busy are chosen, too,
 * and so are those of which other instructions than before are. */
#ifndef HEURT_RECORDER_SELECTION_H
#define HEURT_RECORDER_SELECTION_H

#include "base/error.h"
#include "base/vec.h"
#include "patch/plan_loops.h"
#include "recorder/access_log.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHOICE_PERCENT 1.0
#define CHOICE_AFTER_NS 1000000000u
#define CHOICE_SAMPLES_LEAST 5u /* of a function that is chosen later */

struct selection;

/* Starts to sample the program that waits for its exec, pid. after_ns: CPU time; 0: nothing is to
 * be chosen. Where its threads were goes into the trace; settings NULL: into none. */
int selection__open(pid_t pid, uint64_t after_ns, const struct access_log_settings *settings,
                    struct selection **selection, struct error *error);
void selection__close(struct selection *selection); /* NULL is allowed */

/* Takes what was sampled, no more often than worthwhile. True: it is time to choose, for the first
 * time or again. */
bool selection__look(struct selection *selection);

/* A function that takes too much time to be left aside. */
struct chosen_function {
    char *pattern; /* "function @module" as -F reads it; NULL: it cannot be named */
    char *name, *path;
    char *reason; /* of pattern NULL */
    double percent;
};

struct chosen {
    struct vec
        functions;    /* struct chosen_function, the heaviest first; none that was chosen before */
    uint64_t samples; /* in ELF files */
    uint64_t sampled_ns;  /* CPU time that was sampled, all in all */
    double least_percent; /* what each of them has at least */
};

/* The sampled instructions of files (struct hot_place), for chosen functions that have to be
 * followed inwards. Paths are the choice's. */
struct vec selection__places(struct selection *selection);

struct chosen selection__make(struct selection *selection);

/* These are chosen: from now on it is looked what becomes busy besides. */
void selection__accept(struct selection *selection, const struct chosen *chosen);
void chosen__free(struct chosen *chosen);

#endif
