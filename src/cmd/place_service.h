/* place_service.h: heurt place while programs run: moves their memory to the nodes that use it
 * (place/place_daemon.h), in the foreground or as a systemd service, and tells what it does.
 *
 * In goes whom, out come pages that are moved, lines on stderr of the rounds in which any were, a
 * status file each round, and, where a plan is asked for, a line for each decision. It ends when a
 * signal asks for it, when the processes that were named have ended, or the program has. */
#ifndef HEURT_CMD_PLACE_SERVICE_H
#define HEURT_CMD_PLACE_SERVICE_H

#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/place_replay.h"

struct place_service {
    struct vec pids;       /* const char *: as they were given */
    const char *cgroup;    /* NULL: none */
    const char *plan;      /* a file; NULL: none */
    char **command;        /* NULL: none */
    const struct vec *set; /* const char *: thresholds */
    uint64_t interval_ns;  /* 0: not given */
    double budget;         /* of one CPU; 0: not given */
    bool of_user, dry_run;
};

/* The exit status: of a program its own. */
int place_service__run(const struct command *self, const struct place_service *service);
/* Of the services of this user. */
int place_service__show_status(enum place_format format, uint64_t width);

#endif
