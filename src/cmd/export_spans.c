/* export_spans.c: see export_spans.h. */
#include "cmd/export_spans.h"

#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_walk.h"
#include "cmd/load.h"
#include "cmd/span_feed.h"
#include "cmd/whole_directory.h"
#include "cmd/whole_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1u << 18)

/* What --of may say of that format, as a part of a sentence. free() it. */
static char *allowed(const struct span_exporter *exporter)
{
    char *text = memory__text("");
    for (size_t i = 0; exporter->ofs && exporter->ofs[i]; i++)
        text = text__join(text, ", ", exporter->ofs[i]);
    return text;
}

static int check_of(const struct span_wishes *wishes)
{
    const struct span_exporter *exporter = wishes->exporter;
    for (size_t i = 0; wishes->of && exporter->ofs && exporter->ofs[i]; i++)
        if (strcmp(wishes->of, exporter->ofs[i]) == 0)
            return 0;
    if (!wishes->of)
        return 0;
    char *words = allowed(exporter);
    if (*words)
        say("--of: with --%s it is one of %s, not '%.50s'", exporter->name, words, wishes->of);
    else
        say("--of: --%s has all there is; leave it out", exporter->name);
    free(words);
    return EXIT_USAGE;
}

static int check(const struct span_wishes *wishes)
{
    if (wishes->exporter->is_directory && !wishes->output) {
        say("--%s writes a directory; give its name with -o", wishes->exporter->name);
        return EXIT_USAGE;
    }
    if (wishes->exporter->is_binary && !wishes->output && isatty(STDOUT_FILENO)) {
        say("--%s is not for a terminal; give a file with -o", wishes->exporter->name);
        return EXIT_USAGE;
    }
    return check_of(wishes);
}

/* NULL: all are. */
static bool *chosen_threads(const struct trace *trace)
{
    size_t threads = trace__threads(trace)->count;
    if (!trace__has_asides(trace))
        return NULL;
    bool *chosen = memory__zeroed(threads, sizeof *chosen);
    for (size_t i = 0; i < threads; i++)
        chosen[i] = !trace__thread_at(trace, i)->is_aside;
    return chosen;
}

static void say_remarks(struct vec *remarks)
{
    VEC_EACH (remark, remarks, char *)
        say("%s", *remark);
    texts__free(remarks);
}

/* Returns 0, or the errno of a write that failed. */
static int tell(const struct loaded *loaded, const struct span_wishes *wishes, FILE *out,
                const char *directory)
{
    bool *chosen = chosen_threads(loaded->trace);
    const struct span_request request = {wishes->exporter, wishes->of, chosen, directory};
    struct vec remarks = VEC_OF(char *);
    setvbuf(out, NULL, _IOFBF, BUFFER_BYTES);
    int failed = span_feed__tell(&loaded->report, &request, out, &remarks);
    free(chosen);
    if (!failed)
        say_what_is_missing(loaded->trace);
    say_remarks(&remarks);
    return failed;
}

static int write_to_stdout(const struct loaded *loaded, const struct span_wishes *wishes)
{
    int failed = tell(loaded, wishes, stdout, NULL);
    if (!failed || failed == EPIPE)
        return 0;
    say("the events could not be written: %s", strerror(failed));
    return EXIT_HEURT;
}

static int write_to_file(const struct loaded *loaded, const struct span_wishes *wishes)
{
    struct whole_file file;
    int status = whole_file__open(&file, wishes->directory, wishes->output);
    return status ? status : whole_file__close(&file, tell(loaded, wishes, file.out, NULL));
}

static int write_directory(const struct loaded *loaded, const struct span_wishes *wishes)
{
    struct whole_directory directory;
    int status = whole_directory__open(&directory, wishes->output);
    if (status)
        return status;
    FILE *nothing = fopen("/dev/null", "we");
    int failed = nothing ? tell(loaded, wishes, nothing, directory.beside) : errno;
    if (nothing)
        fclose(nothing);
    return whole_directory__close(&directory, failed);
}

static int write_output(const struct loaded *loaded, const struct span_wishes *wishes)
{
    if (wishes->exporter->is_directory)
        return write_directory(loaded, wishes);
    return wishes->output ? write_to_file(loaded, wishes) : write_to_stdout(loaded, wishes);
}

static int cut(struct loaded *loaded, const struct span_wishes *wishes)
{
    bool to_end = wishes->to_ns == UINT64_MAX;
    const struct part_asked part = {wishes->from_ns, to_end ? 0 : wishes->to_ns, 0};
    return loaded__cut(loaded, &part);
}

/* Which waits are idle, and no time is lost in, the profile knows. */
static bool tells_lost(const struct span_wishes *wishes)
{
    return wishes->exporter->tells_lost || (wishes->of && strcmp(wishes->of, "lost") == 0);
}

static int write_loaded(struct loaded *loaded, const struct span_wishes *wishes)
{
    if (trace__is_aggregated(loaded->trace)) {
        say("the run was recorded with --aggregate, which keeps no events; record it without");
        return EXIT_HEURT;
    }
    int status = cut(loaded, wishes);
    if (status == 0)
        status = loaded__choose_threads(loaded, wishes->threads);
    if (status == 0 && tells_lost(wishes))
        status = loaded__profile(loaded, CLASSES_BY_SITE);
    if (status == 0)
        status = write_output(loaded, wishes);
    return status;
}

int export_spans(const struct span_wishes *wishes)
{
    struct loaded loaded;
    int status = check(wishes);
    if (status == 0)
        status = loaded__open(wishes->directory, &loaded);
    if (status)
        return status;
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is no reason to die by a signal */
    status = write_loaded(&loaded, wishes);
    loaded__close(&loaded);
    return status;
}
