/* attached_run.h: how long a process that runs already is recorded, and what is said of it. */
#ifndef HEURT_CMD_ATTACHED_RUN_H
#define HEURT_CMD_ATTACHED_RUN_H

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/record_options.h"
#include "format/writer.h"
#include "recorder/attach.h"

#include <signal.h>
#include <stdbool.h>

struct attached_run {
    struct attach attach;
    char *library, *directory; /* owned: attach's */
    int end_fd;                /* readable when the recording is to end: for poll(2) */
    bool is_over;              /* before it began: the process or the user ended it */
    int parts[3];              /* private: of end_fd */
    sigset_t mask;
};

/* 0, or the exit status of wrong usage, which was said. program: behind the options, or NULL. */
int attached_run__check_usage(const struct command *self, const struct recording *recording,
                              const char *program);

/* The command line of a process, as record's command; NULL: it is gone. attached_run__free_words.
 */
char **attached_run__words(pid_t pid);
void attached_run__free_words(char **words);
/* The path of its program; free() it. */
char *attached_run__program(pid_t pid);

/* Looks whether the process can be recorded, and waits until it is to begin (recording->after_ns).
 * From here on INT, TERM, HUP and QUIT end the recording, not this process. 0, or a negative errno
 * with a sentence. */
int attached_run__prepare(const struct recording *recording, struct attached_run *run,
                          struct error *error);
/* Enters the process. */
int attached_run__begin(const struct recording *recording, struct attached_run *run,
                        struct error *error);
/* Leaves it, and tells the trace what that took. */
void attached_run__end(struct attached_run *run, struct trace_writer *writer, bool quiet);
/* In any case; run is empty then. */
void attached_run__free(struct attached_run *run);

#endif
