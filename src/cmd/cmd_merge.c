/* heurt merge: parts that the ranks of an MPI job recorded, each on its own host, become one trace.
 */
#include "base/descriptor.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/merged_parts.h"
#include "cmd/options.h"
#include "cmd/packing.h"
#include "cmd/whole_directory.h"
#include "format/rank_parts.h"
#include "format/trace.h"
#include "recorder/trace_names.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct merge_asked {
    const char *output;
    bool no_pack, quiet;
};

/* ---- the first part -------------------------------------------------------------------------- */

static int copy_all(int from, int to)
{
    size_t room = 1u << 20;
    char *bytes = memory__zeroed(1, room);
    ssize_t count;
    int failed = 0;
    while (!failed && (count = read(from, bytes, room)) != 0)
        if ((count < 0 && errno != EINTR) ||
            (count > 0 && !descriptor__write_all(to, bytes, (size_t)count)))
            failed = errno;
    free(bytes);
    return failed;
}

/* The events of a part into a directory. 0, or an errno. */
static int copy_events(const char *part, const char *directory)
{
    char *source = memory__format("%s/" HEURT_EVENTS_FILE, part);
    char *target = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    int from = descriptor__open_plain(source), code = from < 0 ? errno : 0;
    int to = code ? -1 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (!code)
        code = to < 0 ? errno : copy_all(from, to);
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) < 0 && !code)
        code = errno;
    free(source);
    free(target);
    return code;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* What was there of the job, and what was not. */
static void say_what_is_missing(const struct vec *parts, const struct vec *left)
{
    const struct merged_part *part = parts->items;
    uint32_t count = part->count, missing = 0, first = 0, next = 0;
    VEC_EACH (one, parts, const struct merged_part) {
        if (one->rank > next && !missing)
            first = next;
        missing += one->rank - next;
        next = one->rank + 1;
    }
    if (next < count && !missing)
        first = next;
    missing += next < count ? count - next : 0;
    if (missing)
        say("%u of %u ranks %s missing, rank %u first: the rest is merged", missing,
            count > next ? count : next, missing == 1 ? "is" : "are", first);
    VEC_EACH (one, parts, const struct merged_part)
        if (one->is_cut)
            say("the recording of rank %u was ended from outside: what there was of it is merged",
                one->rank);
    VEC_EACH (rank, left, const uint32_t)
        say("rank %u is not merged", *rank);
}

/* Whose clock is not known is left; its number comes into left. */
static void join(const struct vec *parts, const char *directory, struct vec *left)
{
    const struct merged_part *first = parts->items;
    struct error error;
    VEC_EACH (part, parts, const struct merged_part)
        if (part != first && trace_part__append(directory, part->path, part->rank, &error) < 0) {
            say("%s", error.text);
            vec__push(left, &part->rank);
        }
}

/* Names are looked up here, where the files should be that the ranks ran. 0, or an errno. */
static int complete(const struct merge_asked *asked, const char *directory)
{
    struct trace *trace;
    struct error error;
    int code = trace__open(directory, &trace, &error);
    if (code == 0) {
        code = trace_names__keep(trace, directory, &error);
        trace__close(trace);
    }
    if (code == 0 && !asked->no_pack)
        packing__run(directory, NULL, true);
    if (code < 0)
        say("%s", error.text);
    return -code;
}

static int merge(const struct merge_asked *asked, const struct vec *parts)
{
    const struct merged_part *first = parts->items;
    struct whole_directory whole;
    struct vec left = VEC_OF(uint32_t);
    int status = whole_directory__open(&whole, asked->output);
    if (status)
        return status;
    int code = chmod(whole.beside, 0700) < 0 ? errno : copy_events(first->path, whole.beside);
    if (!code) {
        join(parts, whole.beside, &left);
        say_what_is_missing(parts, &left);
        code = complete(asked, whole.beside);
    }
    status = whole_directory__close(&whole, code);
    if (!status && !asked->quiet)
        say("%zu rank%s in %.80s: heurt report -i %.80s shows it; the parts may be removed",
            parts->count - left.count, parts->count - left.count == 1 ? " is" : "s are",
            asked->output, asked->output);
    vec__free(&left);
    return status;
}

static const struct option_row option_rows[] = {
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .help = "the trace, which is not there yet (heurt.data)",
     TEXT(struct merge_asked, output)},
    {.name = "no-pack",
     .help = "leave the trace as long as it was written",
     FLAG(struct merge_asked, no_pack)},
    {.letter = 'q',
     .name = "quiet",
     .help = "say nothing when all went well",
     FLAG(struct merge_asked, quiet)},
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct merge_asked asked = {.output = DEFAULT_TRACE};
    struct vec parts = VEC_OF(struct merged_part);
    int status = options__read(self, argc, argv, &asked);
    if (status)
        return status;
    if (optind >= argc)
        return wrong_usage(self, "which parts?");
    for (int i = optind; !status && i < argc; i++)
        status = merged_parts__find(&parts, argv[i]);
    if (!status)
        status = merged_parts__check(&parts);
    if (!status)
        status = merge(&asked, &parts);
    merged_parts__free(&parts);
    return status;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "make one trace of what ranks of MPI recorded, each on its host",
    .rows = option_rows,
    .operands = "PART…",
    .run = run};
