#include "cmd/packing.h"

#include "cmd/command.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PROGRESS_AFTER_MS = 1000 };

struct progress {
    struct timespec start;
    bool shown;
};

static void show(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct progress *progress = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (now.tv_sec - progress->start.tv_sec) * 1000 +
              (now.tv_nsec - progress->start.tv_nsec) / 1000000;
    progress->shown |= ms >= PROGRESS_AFTER_MS;
    if (progress->shown)
        fprintf(stderr, "\rheurt: packing the trace: %3.0f %%",
                100.0 * (double)done_bytes / (double)all_bytes);
}

void packing__run(const char *directory, struct pack_ahead *ahead, bool quiet)
{
    struct progress progress = {.shown = false};
    struct pack_options options = {
        .least_bytes = PACK_LEAST_BYTES, .context = &progress, .ahead = ahead};
    enum pack_outcome outcome;
    struct error error;
    clock_gettime(CLOCK_MONOTONIC, &progress.start);
    if (!quiet && isatty(STDERR_FILENO))
        options.progress = show;
    int code = trace__pack(directory, &options, &outcome, &error);
    if (progress.shown)
        fputs("\r\033[K", stderr);
    if (code < 0)
        say("%s", error.text);
    else if (outcome == PACK_IN_USE && !quiet)
        say("the trace %s stays unpacked: a process that the program started still runs",
            directory);
}
