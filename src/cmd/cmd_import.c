/* heurt import: a trace that another tool recorded becomes one of heurt. */
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/packing.h"
#include "format/directory.h"
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct import_request {
    const char *output;
    bool quiet;
};

static void say_what_came(const struct import_request *request,
                          const struct import_outcome *outcome)
{
    if (!request->quiet)
        say("%" PRIu64 " events of %" PRIu64 " thread%s in %s, imported from %s: %s",
            outcome->events, outcome->threads, outcome->threads == 1 ? "" : "s", request->output,
            outcome->name, outcome->lacks);
    if (outcome->passed_over)
        say("%" PRIu64 " parts of the source were passed over; the first: %s", outcome->passed_over,
            outcome->passed_over_what);
}

static int not_recognised(const char *path)
{
    char *names = importer__names();
    say("%.200s is in no format that is known; these are: %s", path, names);
    free(names);
    return EXIT_HEURT;
}

/* ---- apart ----------------------------------------------------------------------------------- */

/* What a process apart came to, in memory that both share. */
struct apart_result {
    int code;
    struct import_outcome outcome;
    struct error error;
};

static bool is_trace(const char *directory)
{
    char *path = memory__format("%s/" HEURT_EVENTS_FILE, directory);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

#define LOOK_MS 1000
#define SECONDS_MAX 30 /* of CPU time in which nothing comes of it */

/* A library can go round in a damaged file for ever. */
static bool gets_nowhere(clockid_t clock, const struct import_outcome *outcome, uint64_t *came,
                         time_t *since)
{
    struct timespec used;
    uint64_t comes = outcome->events + outcome->passed_over;
    if (clock_gettime(clock, &used) < 0)
        return false;
    if (comes != *came)
        *since = used.tv_sec;
    *came = comes;
    return used.tv_sec - *since > SECONDS_MAX;
}

/* The status of the process; *is_stuck: it got nowhere and was ended. */
static int wait_for(pid_t pid, const struct import_outcome *outcome, bool *is_stuck)
{
    struct pollfd ends = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    clockid_t clock;
    uint64_t came = 0;
    time_t since = 0;
    int status = 0;
    bool can_look = ends.fd >= 0 && clock_getcpuclockid(pid, &clock) == 0;
    *is_stuck = false;
    while (can_look && !*is_stuck && poll(&ends, 1, LOOK_MS) <= 0)
        *is_stuck = gets_nowhere(clock, outcome, &came, &since);
    if (*is_stuck)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (ends.fd >= 0)
        close(ends.fd);
    return status;
}

static int died(const struct importer *importer, const struct import_source *source,
                const char *directory, bool was_trace, int status, bool is_stuck,
                struct error *error)
{
    trace_directory__unmake(directory, was_trace);
    if (is_stuck)
        return error__set(error, -EINVAL, "%.200s is damaged: %s came to no end", source->path,
                          importer->library);
    if (WIFSIGNALED(status))
        return error__set(error, -EINVAL, "%.200s is damaged: %s ended by signal %d (%s)",
                          source->path, importer->library, WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
    return error__set(error, -EINVAL, "%.200s is damaged: %s gave up", source->path,
                      importer->library);
}

/* What the library says of that is not for whoever asked heurt; and it may open many files. */
static void prepare_for_library(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

/* Libraries of others may end the process where a file is damaged: they work in one of their own.
 */
static int import_apart(const struct importer *importer, const struct import_source *source,
                        const char *directory, struct import_outcome *outcome, struct error *error)
{
    bool was_trace = is_trace(directory);
    bool is_stuck;
    struct apart_result *result =
        mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = result == MAP_FAILED ? -1 : fork();
    if (pid < 0)
        return error__set(error, -errno, "no process can be started: %s", strerror(errno));
    if (pid == 0) {
        prepare_for_library();
        result->code = importer__run(importer, source, directory, &result->outcome, &result->error);
        _exit(0);
    }
    int status = wait_for(pid, &result->outcome, &is_stuck);
    *outcome = result->outcome;
    *error = result->error;
    int code = status ? died(importer, source, directory, was_trace, status, is_stuck, error)
                      : result->code;
    munmap(result, sizeof *result);
    return code;
}

static int import_source(const struct importer *importer, const struct import_source *source,
                         const char *directory, struct import_outcome *outcome, struct error *error)
{
    return importer->library ? import_apart(importer, source, directory, outcome, error)
                             : importer__run(importer, source, directory, outcome, error);
}

static int import_path(const char *path, const struct import_request *request)
{
    struct import_source source;
    struct import_outcome outcome;
    struct error error;
    if (import_source__open(path, &source, &error) < 0)
        return failed(&error);
    const struct importer *importer = importer__of(&source);
    if (!importer)
        return not_recognised(path);
    if (import_source(importer, &source, request->output, &outcome, &error) < 0)
        return failed(&error);
    packing__run(request->output, NULL, true);
    say_what_came(request, &outcome);
    return 0;
}

static const struct option_row option_rows[] = {
    {.kind = OPTION_OPERAND,
     .name = "FILE",
     .help = "what another tool recorded: a file or a directory"},
    {.letter = 'o',
     .name = "output",
     .value = "DIR",
     .help = "where the trace goes (heurt.data)",
     TEXT(struct import_request, output)},
    {.letter = 'q',
     .name = "quiet",
     .help = "say only what was passed over",
     FLAG(struct import_request, quiet)},
    {0},
};

static int run(const struct command *self, int argc, char **argv)
{
    struct import_request request = {.output = DEFAULT_TRACE};
    int status = options__read(self, argc, argv, &request);
    if (status)
        return status;
    if (optind + 1 != argc)
        return wrong_usage(self, optind == argc ? "the file to be imported is missing"
                                                : "one file at a time");
    char *path = memory__text(argv[optind]);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';)
        path[--n] = 0;
    status = import_path(path, &request);
    free(path);
    return status;
}

const struct command command_import = {.name = "import",
                                       .summary = "make a trace of what another tool recorded",
                                       .rows = option_rows,
                                       .operands = "FILE",
                                       .run = run};
