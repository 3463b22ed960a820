#include "cmd/place_service.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/launch.h"
#include "cmd/pager_print.h"
#include "cmd/service_notify.h"
#include "cmd/values.h"
#include "place/place_daemon.h"
#include "present/place/place_status_screens.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define DRAIN_MS 100 /* the kernel's rings hold some more samples than of that time */
#define INTERVAL_LEAST_NS 100000000u
#define PID_MOST 4194304u /* the kernel's PID_MAX_LIMIT */

struct serving {
    const struct place_service *service;
    struct place_settings settings;
    struct place_daemon *daemon;
    FILE *plan;
    int end_fd;        /* readable: it is to end */
    bool is_named;     /* it ends when nobody is left */
    bool tells_status; /* the file can be written */
};

/* ---- what was decided ------------------------------------------------------------------------ */

static void put_plan(const struct serving *self, const struct place_round *round)
{
    size_t index = 0;
    VEC_EACH (decision, &round->outcome->decisions, struct place_decision) {
        fprintf(self->plan, "%" PRIu32 ",%d,%s%s,0x%" PRIx64 ",%u,%" PRIu32 ",%" PRIu32 ",%s\n",
                round->number, (int)place_daemon__pid(self->daemon, decision->application),
                decision->is_advice ? "advise " : "", place_decision__name(decision->kind),
                decision->page * 4096, decision->is_huge ? PLACE_HUGE_PAGES : 1,
                place_daemon__node_id(self->daemon, decision->from),
                place_daemon__node_id(self->daemon, decision->to),
                place_effect__name(round->effects[index++]));
    }
    fflush(self->plan);
}

/* "812 pages migrate, 40 spread". free() it. */
static char *decisions_text(const struct place_round *round, uint32_t application)
{
    uint64_t pages[2][PLACE_DECISIONS] = {{0}};
    char *text = NULL;
    VEC_EACH (decision, &round->outcome->decisions, struct place_decision)
        if (decision->application == application)
            pages[decision->is_advice][decision->kind] += decision->is_huge ? PLACE_HUGE_PAGES : 1;
    for (unsigned is_advice = 0; is_advice < 2; is_advice++)
        for (unsigned kind = 0; kind < PLACE_DECISIONS; kind++)
            if (pages[is_advice][kind])
                text = text__append(text, "%s%s%s %" PRIu64, text ? ", " : "",
                                    is_advice ? "advise " : "", place_decision__name(kind),
                                    pages[is_advice][kind]);
    return text;
}

static void say_round(const struct serving *self, const struct place_round *round)
{
    VEC_EACH (finding, &round->outcome->findings, struct place_finding) {
        char *text = decisions_text(round, finding->application);
        if (text)
            say("round %" PRIu32 ": %s (%d), %.0f %% local, pages: %s%s", round->number,
                place_daemon__name(self->daemon, finding->application),
                (int)place_daemon__pid(self->daemon, finding->application),
                100 * finding->metrics.local, text,
                self->settings.is_dry ? "; not done (--dry-run)" : "");
        free(text);
    }
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell(struct serving *self, const char *state)
{
    struct error error;
    struct place_status status = place_daemon__tell(self->daemon, state);
    char *text =
        memory__format("STATUS=%" PRIu64 " processes, %" PRIu64 " pages moved: %s",
                       status.daemon.processes, status.daemon.moved, status.daemon.verdict);
    service__notify(text);
    if (self->tells_status && place_status__write(&status, &error) < 0) {
        say("%s", error.text);
        self->tells_status = false;
    }
    free(text);
    place_status__free(&status);
}

static void say_end(const struct serving *self)
{
    struct place_status status = place_daemon__tell(self->daemon, "stopped");
    const struct status_daemon *of = &status.daemon;
    char *local = isnan(of->local) ? memory__text("no samples at memory enough")
                                   : memory__format("local %.0f %% at first, %.0f %% in the end",
                                                    100 * of->first_local, 100 * of->local);
    say("%" PRIu64 " rounds, %" PRIu64 " pages moved, %" PRIu64 " of them back; %s (heurt place "
        "--status)",
        of->rounds, of->moved, of->back, local);
    free(local);
    place_status__free(&status);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void do_round(struct serving *self)
{
    struct place_round round = place_daemon__round(self->daemon);
    if (self->plan)
        put_plan(self, &round);
    say_round(self, &round);
    tell(self, self->settings.is_dry ? "dry run" : "watching");
}

/* True: it is to end. */
static bool wait_until(struct serving *self, uint64_t ns)
{
    for (uint64_t now; (now = clock__ns(CLOCK_MONOTONIC)) < ns;) {
        uint64_t left_ms = (ns - now) / 1000000u + 1;
        struct pollfd end = {self->end_fd, POLLIN, 0};
        int ready = poll(&end, 1, (int)(left_ms < DRAIN_MS ? left_ms : DRAIN_MS));
        if (ready > 0)
            return true;
        place_daemon__drain(self->daemon);
    }
    return false;
}

/* A round that takes longer than the interval puts off those behind it. */
static void loop(struct serving *self)
{
    uint64_t next = clock__ns(CLOCK_MONOTONIC);
    do_round(self);
    service__notify("READY=1");
    for (;;) {
        uint64_t now = clock__ns(CLOCK_MONOTONIC);
        next += self->settings.interval_ns;
        next = next > now ? next : now;
        if (wait_until(self, next))
            break;
        do_round(self);
        if (self->is_named && !place_daemon__has_any(self->daemon))
            break;
    }
    service__notify("STOPPING=1");
    tell(self, "stopped");
    say_end(self);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Each thread that is watched takes a descriptor a CPU. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static FILE *open_plan(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        say("'%s' cannot be written: %s", path, strerror(errno));
    else
        fputs("round,pid,decision,address,pages,from,to,effect\n", out);
    return out;
}

/* 0, or the exit status after a sentence. */
static int read_settings(const struct command *command, struct serving *self)
{
    const struct place_service *service = self->service;
    struct error error;
    uint64_t number;
    self->settings = place_settings__usual();
    self->settings.is_dry = service->dry_run;
    self->settings.whom.cgroup = service->cgroup;
    self->settings.whom.of_user = service->of_user;
    if (service->budget > 0)
        self->settings.cpu_share = service->budget;
    if (service->interval_ns)
        self->settings.interval_ns = service->interval_ns;
    if (self->settings.interval_ns < INTERVAL_LEAST_NS)
        return wrong_usage(command, "--interval: expected 100ms at least");
    VEC_EACH (text, &service->pids, const char *) {
        if (!number__parse(*text, 1, PID_MOST, &number))
            return wrong_usage(command,
                               "--pid: expected the number of a process from 1 to 4194304, found "
                               "'%s'",
                               *text);
        vec__push(&self->settings.whom.pids, &(pid_t){(pid_t)number});
    }
    VEC_EACH (text, service->set, const char *)
        if (place_thresholds__set(&self->settings.thresholds, *text, &error)) {
            say("%s", error.text);
            return EXIT_USAGE;
        }
    self->plan = service->plan ? open_plan(service->plan) : NULL;
    return service->plan && !self->plan ? EXIT_HEURT : 0;
}

static int open_daemon(struct serving *self)
{
    struct error error;
    raise_descriptors();
    self->daemon = place_daemon__new(&self->settings, &error);
    self->tells_status = true;
    place_status__sweep();
    return self->daemon ? 0 : failed(&error);
}

static void end(struct serving *self)
{
    place_daemon__free(self->daemon);
    vec__free(&self->settings.whom.pids);
    if (self->plan)
        fclose(self->plan);
}

/* ---- a program that is started --------------------------------------------------------------- */

static int serve_program(struct serving *self)
{
    struct launch launch = LAUNCH_INIT;
    struct error error;
    int wait_status = 0, code = launch__start(self->service->command, NULL, &launch, &error);
    if (code < 0)
        return failed(&error);
    vec__push(&self->settings.whom.pids, &launch.pid);
    int status = open_daemon(self);
    if (status) {
        launch__abandon(&launch);
        return status;
    }
    code = launch__go(&launch, &error);
    if (code < 0) {
        say("%s", error.text);
        return launch__status_of_failure(code);
    }
    self->end_fd = launch.end_fd;
    loop(self);
    code = launch__wait(&launch, &wait_status, &error);
    end(self);
    *self = (struct serving){0};
    return code < 0 ? failed(&error) : launch__exit_like(wait_status);
}

/* ---- processes that run ---------------------------------------------------------------------- */

static int serve_processes(struct serving *self)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    self->end_fd = signalfd(-1, &set, SFD_CLOEXEC);
    int status = open_daemon(self);
    if (!status)
        loop(self);
    close(self->end_fd);
    return status;
}

int place_service__run(const struct command *command, const struct place_service *service)
{
    struct serving self = {.service = service, .is_named = service->pids.count || service->command};
    int status = read_settings(command, &self);
    if (!status)
        status = service->command ? serve_program(&self) : serve_processes(&self);
    end(&self);
    return status;
}

/* ---- --status -------------------------------------------------------------------------------- */

struct status_showing {
    const struct vec *statuses;
    enum place_format format;
};

static void present(const void *subject, const struct style *style, FILE *out)
{
    const struct status_showing *showing = subject;
    if (showing->format == PLACE_JSON)
        place_statuses__put_json(showing->statuses, out);
    else if (showing->format == PLACE_CSV)
        place_statuses__put_csv(showing->statuses, out);
    else
        place_statuses__put_text(showing->statuses, style, out);
}

int place_service__show_status(enum place_format format, uint64_t width)
{
    struct vec statuses = place_status__read_all();
    int status = show_either(format == PLACE_TEXT, present,
                             &(struct status_showing){&statuses, format}, width);
    place_statuses__free(&statuses);
    return status;
}
