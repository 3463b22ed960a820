#include "cmd/attached_run.h"

#include "base/memory.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "recorder/install.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { PART_PROCESS, PART_SIGNALS, PART_TIME };

int attached_run__check_usage(const struct command *self, const struct recording *recording,
                              const char *program)
{
    const struct plan_request *request = &recording->request;
    const struct {
        bool asked;
        const char *option;
    } not_yet[] = {{request->functions.count, "-f, -F and -A"},
                   {request->modules.count, "-M"},
                   {recording->hot, "--hot"},
                   {recording->repeat, "--repeat"},
                   {recording->aggregate, "--aggregate"},
                   {recording->instructions, "--instructions"},
                   {recording->local || recording->clock_offsets.count, "--local"}};
    if (!recording->pid)
        return wrong_usage(self, "--duration and --after are for a process that runs already (-p)");
    if (program)
        return wrong_usage(self, "-p records a process that runs already, not the program '%s'",
                           program);
    for (size_t i = 0; i < sizeof not_yet / sizeof *not_yet; i++)
        if (not_yet[i].asked)
            return wrong_usage(self, "%s: not of a process that runs already (-p)",
                               not_yet[i].option);
    return 0;
}

char **attached_run__words(pid_t pid)
{
    char path[64], *word = NULL;
    size_t room = 0;
    struct vec words = VEC_OF(char *);
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *in = fopen(path, "re");
    while (in && getdelim(&word, &room, 0, in) > 0)
        vec__push(&words, &(char *){memory__text(word)});
    free(word);
    if (in)
        fclose(in);
    /* Who gave itself a title left the rest of its arguments empty. */
    while (words.count > 1 && !**VEC_AT(&words, char *, words.count - 1))
        free(*VEC_AT(&words, char *, --words.count));
    if (!words.count)
        return NULL;
    vec__push(&words, NULL);
    return words.items;
}

char *attached_run__program(pid_t pid)
{
    char path[64], name[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    ssize_t length = readlink(path, name, sizeof name);
    return memory__format("%.*s", length > 0 ? (int)length : 0, name);
}

void attached_run__free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* ---- when it ends ------------------------------------------------------------------------------
 */

static int hold_signals(struct attached_run *run)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigaddset(&ending, SIGQUIT);
    sigprocmask(SIG_BLOCK, &ending, &run->mask);
    return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_ends(struct attached_run *run, struct error *error)
{
    run->parts[PART_SIGNALS] = hold_signals(run);
    run->parts[PART_PROCESS] = (int)syscall(SYS_pidfd_open, run->attach.pid, 0); /* is CLOEXEC */
    run->parts[PART_TIME] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    run->end_fd = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (epoll_ctl(run->end_fd, EPOLL_CTL_ADD, run->parts[i], &event) != 0)
            return error__set(error, -errno, "process %d cannot be watched: %s", run->attach.pid,
                              strerror(errno));
    }
    return 0;
}

static void set_time(const struct attached_run *run, uint64_t ns)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}};
    timerfd_settime(run->parts[PART_TIME], 0, &when, NULL);
}

static bool is_readable(int descriptor, int timeout_ms)
{
    struct pollfd set = {.fd = descriptor, .events = POLLIN};
    int code;
    while ((code = poll(&set, 1, timeout_ms)) < 0 && errno == EINTR)
        ;
    return code > 0;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

int attached_run__prepare(const struct recording *recording, struct attached_run *run,
                          struct error *error)
{
    *run = (struct attached_run){
        .attach = {.pid = (pid_t)recording->pid}, .end_fd = -1, .parts = {-1, -1, -1}};
    sigprocmask(SIG_BLOCK, NULL, &run->mask);
    run->library = runtime_sibling__find("libheurt-", "attach");
    if (!run->library)
        return error__set(
            error, -ENOENT,
            "libheurt-attach.so does not lie beside libheurt.so: install heurt again");
    run->attach.library = run->library;
    int code = attach__check(run->attach.pid, run->library, error);
    code = code ? code : open_ends(run, error);
    if (code == 0 && recording->after_ns) {
        set_time(run, recording->after_ns);
        is_readable(run->end_fd, -1);
        run->is_over = is_readable(run->parts[PART_SIGNALS], 0);
        code = run->is_over ? 0 : attach__check(run->attach.pid, run->library, error);
    }
    return code;
}

int attached_run__begin(const struct recording *recording, struct attached_run *run,
                        struct error *error)
{
    run->directory = realpath(recording->directory, NULL);
    run->attach.directory = run->directory ? run->directory : recording->directory;
    int code = attach__enter(&run->attach, error);
    if (code == 0) {
        uint64_t expired;
        if (recording->after_ns)
            (void)!read(run->parts[PART_TIME], &expired, sizeof expired);
        set_time(run, recording->duration_ns);
        if (!recording->quiet)
            say("recording process %d: %" PRIu32 " places of calls in %" PRIu32
                " files are taken; %s",
                run->attach.pid, run->attach.slots, run->attach.modules,
                recording->duration_ns ? "Ctrl-C ends it early" : "Ctrl-C ends the recording");
    }
    return code;
}

static void tell(struct trace_writer *writer, const char *key, uint64_t value)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, value);
    trace_writer__meta(writer, key, number);
}

void attached_run__end(struct attached_run *run, struct trace_writer *writer, bool quiet)
{
    struct error error;
    struct attach *attach = &run->attach;
    bool has_ended = is_readable(run->parts[PART_PROCESS], 0);
    int code = has_ended ? 0 : attach__leave(attach, &error);
    tell(writer, "attached", (uint64_t)attach->pid);
    tell(writer, "attach_places", attach->slots);
    tell(writer, "attach_enter_us", attach->enter_ns / 1000);
    tell(writer, "attach_leave_us", attach->leave_ns / 1000);
    if (code < 0)
        say("%s; its calls still go through heurt's library, which records nothing any more",
            error.text);
    else if (attach->is_left_behind && !quiet)
        say("a thread of process %d is in the middle of heurt's library: some memory of the "
            "recording stays there until the next one",
            attach->pid);
    else if (has_ended && !quiet)
        say("process %d has ended", attach->pid);
}

void attached_run__free(struct attached_run *run)
{
    for (int i = 0; i < 3; i++)
        if (run->parts[i] >= 0)
            close(run->parts[i]);
    if (run->end_fd >= 0)
        close(run->end_fd);
    /* What has ended the recording is not to end this process afterwards. */
    sigset_t pending;
    if (sigpending(&pending) == 0)
        while (sigtimedwait(&pending, NULL, &(struct timespec){0}) > 0)
            ;
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
    free(run->library);
    free(run->directory);
    *run = (struct attached_run){.end_fd = -1, .parts = {-1, -1, -1}};
}
