#include "cmd/background.h"

#include "base/clock.h"
#include "base/memory.h"
#include "format/layout.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 20 /* looks at who has opened no session yet */
#define PATIENCE_MS 10
#define LOOK_AGAIN_NS 500000000u
/* One that hands over to its child may be gone, and the child not yet there, when it is looked. */
#define EMPTY_LOOKS 5

/* ---- who goes on ----------------------------------------------------------------------------- */

/* What is looked for. */
struct background_search {
    struct stat program;
    char *events;       /* the path of the trace's file */
    bool of_younger;    /* than this process, alone */
    size_t found, left; /* in a session of their own; in this one */
    size_t ended;       /* while it was looked: what they have started may have come too late */
};

static bool is_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool runs(const struct background_search *search, const char *pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%.16s/exe", pid);
    return stat(path, &status) == 0 && is_file(&status, &search->program);
}

/* Whether a line of /proc/PID/maps ends with the path. */
static bool is_mapped_there(const char *line, const char *path)
{
    const char *at = strchr(line, '/');
    size_t bytes = strlen(path);
    return at && strncmp(at, path, bytes) == 0 && at[bytes] == '\n';
}

/* Who does not map the trace records nothing, or no more. */
static bool records(const struct background_search *search, const char *pid)
{
    char path[64], *line = NULL;
    size_t bytes = 0;
    bool is_mapped = false;
    snprintf(path, sizeof path, "/proc/%.16s/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && !is_mapped && getline(&line, &bytes, maps) > 0)
        is_mapped = is_mapped_there(line, search->events);
    free(line);
    if (maps)
        fclose(maps);
    return is_mapped;
}

/* A process that was made since this one, and has no file any more; threads of the kernel, which
 * have none either, are of no session. */
static bool has_ended(pid_t pid, const char *name)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%.16s/exe", name);
    return pid > getpid() && stat(path, &status) < 0 && errno == ENOENT && getsid(pid) != 0;
}

static void look_at(struct background_search *search, const char *name)
{
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    if (pid <= 0 || pid == getpid() || (search->of_younger && pid < getpid()))
        return;
    if (!runs(search, name) || !records(search, name)) {
        search->ended += has_ended(pid, name);
        return;
    }
    search->found += getsid(pid) != getsid(0);
    search->left += getsid(pid) == getsid(0);
}

static struct background_search look(const char *program, const char *trace, bool of_younger)
{
    char *events = memory__format("%s/" HEURT_EVENTS_FILE, trace);
    struct background_search search = {.events = realpath(events, NULL), .of_younger = of_younger};
    bool is_known = stat(program, &search.program) == 0 && search.events;
    DIR *processes = is_known ? opendir("/proc") : NULL;
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        look_at(&search, entry->d_name);
    if (processes)
        closedir(processes);
    free(search.events);
    search.events = NULL;
    free(events);
    return search;
}

/* ---- who ends it ----------------------------------------------------------------------------- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define SIGNALS (sizeof ending_signals / sizeof *ending_signals)

/* Written by the handler; what was there before. One launch at a time. */
static volatile sig_atomic_t is_left;
static struct sigaction before[SIGNALS];

static void leave(int signal_number)
{
    (void)signal_number;
    is_left = 1;
}

static void hold_signals(void)
{
    const struct sigaction end = {.sa_handler = leave};
    is_left = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &end, NULL);
    }
}

/* ---- while it goes on -------------------------------------------------------------------------
 */

bool background__begin(const char *program, const char *trace, bool is_alone,
                       void (*wait)(void *context, int ms), void *context,
                       struct background *background)
{
    struct background_search search = look(program, trace, is_alone);
    for (unsigned i = 0; i < PATIENCE && !search.found && (search.left || search.ended); i++) {
        wait(context, PATIENCE_MS);
        search = look(program, trace, is_alone);
    }
    *background = (struct background){program, trace, search.found, 0, 0};
    if (search.found)
        hold_signals();
    return search.found;
}

bool background__is_over(struct background *background)
{
    uint64_t now_ns = clock__ns(CLOCK_MONOTONIC);
    if (now_ns >= background->next_ns) {
        background->processes = look(background->program, background->trace, false).found;
        background->empty = background->processes ? 0 : background->empty + 1;
        background->next_ns = now_ns + (background->empty ? PATIENCE_MS * 1000000u : LOOK_AGAIN_NS);
    }
    return background->empty >= EMPTY_LOOKS || is_left;
}

void background__end(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(ending_signals[i], &before[i], NULL);
}
