#include "cmd/packing.h"

#include "cmd/command.h"
#include "format/pack.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_AFTER_MS = 1000 };

/* Shows on a terminal how far the packing is, once it has taken a while. */
struct packing_shown {
    struct timespec start;
    bool shown;
};

static void show_packing(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct packing_shown *packing = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (now.tv_sec - packing->start.tv_sec) * 1000 +
              (now.tv_nsec - packing->start.tv_nsec) / 1000000;
    packing->shown |= ms >= PROGRESS_AFTER_MS;
    if (packing->shown)
        fprintf(stderr, "\rheurt: packing the trace: %3.0f %%",
                100.0 * (double)done_bytes / (double)all_bytes);
}

void packing__pack(const char *directory, bool quiet)
{
    struct packing_shown shown = {.shown = false};
    struct pack_options options = {.least_bytes = PACK_LEAST_BYTES, .context = &shown};
    enum pack_outcome outcome;
    struct error error;
    clock_gettime(CLOCK_MONOTONIC, &shown.start);
    if (!quiet && isatty(STDERR_FILENO))
        options.progress = show_packing;
    int code = trace__pack(directory, &options, &outcome, &error);
    if (shown.shown)
        fputs("\r\033[K", stderr);
    if (code < 0)
        say("%s", error.text);
    else if (outcome == PACK_IN_USE && !quiet)
        say("the trace %s stays unpacked: a process that the program started still runs",
            directory);
}
