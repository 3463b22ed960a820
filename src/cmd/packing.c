#include "cmd/packing.h"

#include "cmd/command.h"
#include "cmd/progress.h"

static void show(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct progress *progress = context;
    if (progress__is_due(progress))
        progress__put(progress, "packing the trace: %3.0f %%",
                      100.0 * (double)done_bytes / (double)all_bytes);
}

void packing__run(const char *directory, struct pack_ahead *ahead, bool quiet)
{
    struct progress progress = progress__start(!quiet);
    struct pack_options options = {
        .least_bytes = PACK_LEAST_BYTES, .context = &progress, .ahead = ahead};
    enum pack_outcome outcome;
    struct error error;
    if (progress.wanted)
        options.progress = show;
    int code = trace__pack(directory, &options, &outcome, &error);
    progress__end(&progress);
    if (code < 0)
        say("%s", error.text);
    else if (outcome == PACK_IN_USE && !quiet)
        say("the trace %s stays unpacked: a process that the program started still runs",
            directory);
}
