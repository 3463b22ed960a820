/* record_options.h: what heurt record was asked for. */
#ifndef HEURT_CMD_RECORD_OPTIONS_H
#define HEURT_CMD_RECORD_OPTIONS_H

#include "cmd/options.h"
#include "cmd/ranks.h"
#include "format/layout.h"
#include "recorder/planner.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct overhead {
    uint32_t permille; /* 0: none */
    bool told;
};

/* Of locks that are taken at these places (return addresses in the program, as its trace tells
 * them): so many thousandths longer. */
struct longer_holds {
    uint32_t permille;
    uint64_t sites[HEURT_HOLD_SITES]; /* 0: no more */
};

struct recording {
    const char *directory; /* of the trace, as the user wrote it */
    struct plan_request request;
    uint64_t max_size_bytes; /* 0: the default */
    uint64_t stack_every, stack_bytes;
    struct overhead overhead;
    bool quiet, and_report, no_pack, all_locks, no_choice, no_loops, aggregate, no_kernel,
        no_memory, instructions;
    uint64_t choose_after_ns; /* CPU time */
    uint32_t patience_ms;
    bool raw_stacks, redact_arguments;
    char **command;
    bool hot;                    /* a run before this one finds the functions */
    const char *report_path;     /* NULL: the report goes to the terminal */
    FILE *report;                /* open for it, or NULL */
    char *other_directory;       /* owned: the trace, where the usual place is in use */
    char *local_directory;       /* owned: what the trace is called there */
    int wait_status;             /* the command's end */
    struct job_ranks ranks;      /* of an MPI job that this process is one of */
    const char *asked_directory; /* of the whole trace, where this process records a part of it */
    uint64_t repeat;             /* so many runs, one after the other */
    const char *local;           /* a directory of this host alone for its ranks' parts; NULL */
    bool is_part, tells_parts;   /* another heurt goes on with it; where, this one says */
    bool compares_clocks;        /* several hosts' ranks do, all of which are recorded */
    struct vec clock_offsets;    /* struct clock_offset: for tests, of hosts but the first */
    const char *program_output;  /* a file for the program's standard output; NULL: its own */
    uint64_t pid;                /* of a process that runs already; 0: a command is run */
    uint64_t duration_ns;        /* for which that is recorded; 0: until it ends, or Ctrl-C */
    uint64_t after_ns;           /* when that begins */
    uint64_t ring_bytes;         /* the last events alone, in so much; 0: all */
    struct vec triggers;         /* const char *: of it */
    uint64_t segment_ns;         /* a window each; 0: none */
    uint64_t keep;               /* so many windows, the last ones; 0: all */
    bool is_paused;              /* it begins stopped */
    int toggle_signal;           /* stops and starts it; 0: none */
    char *window_directory;      /* owned: the last window; NULL: there is none */
    struct longer_holds holds;   /* locks that are held longer on purpose; none: permille 0 */
    uint64_t cpus; /* that the program may use: the first so many; 0: all that heurt may */
};

/* Filled into a struct recording. */
extern const struct option_row record_options[];

#endif
