/* attach_check.c: whether a process can be entered, and if not, why. */
#include "recorder/attach.h"

#include "base/clock.h"
#include "symbol/binary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct process_told {
    char state;
    int leader, tracer;
    unsigned real, effective, saved;
    int seccomp;
};

static bool told__read(pid_t pid, struct process_told *told)
{
    char path[64], line[256];
    *told = (struct process_told){0};
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "State: %c", &told->state) == 1 ||
            sscanf(line, "Tgid: %d", &told->leader) == 1 ||
            sscanf(line, "TracerPid: %d", &told->tracer) == 1 ||
            sscanf(line, "Uid: %u %u %u", &told->real, &told->effective, &told->saved) == 3 ||
            sscanf(line, "Seccomp: %d", &told->seccomp) == 1)
            continue;
    if (in)
        fclose(in);
    return told->state != 0;
}

static int check_state(pid_t pid, const struct process_told *told, struct error *error)
{
    if (told->leader != pid)
        return error__set(error, -EINVAL, "%d is a thread of process %d: attach to that one", pid,
                          told->leader);
    if (pid == getpid())
        return error__set(error, -EINVAL, "heurt cannot record itself");
    if (told->state == 'Z' || told->state == 'X')
        return error__set(error, -ESRCH, "process %d has ended: it only waits to be collected",
                          pid);
    if (told->tracer)
        return error__set(error, -EPERM,
                          "process %d is traced by process %d (a debugger, strace): end that first",
                          pid, told->tracer);
    if (told->state == 'T')
        return error__set(error, -EAGAIN, "process %d is stopped: kill -CONT %d lets it go on", pid,
                          pid);
    return 0;
}

static int check_user(pid_t pid, const struct process_told *told, struct error *error)
{
    if (told->real != told->effective || told->saved != told->effective)
        return error__set(error, -EPERM,
                          "process %d has changed its user (set-user-ID): it is not entered", pid);
    if (told->effective != geteuid())
        return error__set(error, -EPERM,
                          "process %d is of user %u, and the trace would be of user %u: run heurt "
                          "as that user (sudo -u '#%u' heurt …)",
                          pid, told->effective, geteuid(), told->effective);
    if (told->seccomp)
        return error__set(error, -EPERM,
                          "process %d limits its own system calls (seccomp): heurt's would end it",
                          pid);
    return 0;
}

static int check_program(pid_t pid, struct error *error)
{
    char path[64], name[4096];
    struct binary binary;
    struct error why;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (readlink(path, name, sizeof name) < 0)
        return error__set(error, -errno,
                          errno == ENOENT
                              ? "process %d is a thread of the kernel"
                              : "process %d may not be looked at: it is another user's, "
                                "or does not let itself be dumped",
                          pid);
    int code = binary__inspect(path, &binary, error);
    if (code < 0)
        return code;
    if (!binary__is_recordable(&binary, &why))
        code = error__set(error, -ENOEXEC, "process %d cannot be entered: %s", pid, why.text);
    binary__free(&binary);
    return code;
}

/* Whether a path is the same file for that process as for us. */
static bool is_same_there(pid_t pid, const char *path)
{
    struct stat here, there;
    char *name = NULL;
    bool same = asprintf(&name, "/proc/%d/root%s", pid, path) >= 0 && stat(path, &here) == 0 &&
                stat(name, &there) == 0 && here.st_ino == there.st_ino &&
                here.st_dev == there.st_dev;
    free(name);
    return same;
}

/* One that is stopped for a moment is waited for. */
static bool read_patiently(pid_t pid, struct process_told *told)
{
    struct patience patience = patience__of(1000000000);
    bool read;
    while ((read = told__read(pid, told)) && told->state == 'T' && !patience__is_over(&patience))
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return read;
}

int attach__check(pid_t pid, const char *library, struct error *error)
{
    struct process_told told;
    if (!read_patiently(pid, &told))
        return error__set(error, -ESRCH, "there is no process %d", pid);
    int code = check_state(pid, &told, error);
    code = code ? code : check_user(pid, &told, error);
    code = code ? code : check_program(pid, error);
    if (code == 0 && !is_same_there(pid, library))
        code = error__set(error, -ENOENT,
                          "process %d has other files (a container?): %.300s is not there for it; "
                          "run heurt in the container",
                          pid, library);
    return code;
}
