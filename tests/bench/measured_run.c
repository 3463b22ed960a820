#include "measured_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

double process__anonymous_kb(pid_t process)
{
    char path[64], line[256];
    double kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "RssAnon: %lf", &kb) == 1)
            break;
    if (in)
        fclose(in);
    return kb;
}

static pid_t start(const struct words *words, const char *log)
{
    pid_t process = fork();
    if (process != 0)
        return process;
    int out = open("/dev/null", O_WRONLY), err = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(words->word[0], (char *const *)words->word);
    _exit(127);
}

int measured_run__make(const struct words *words, const char *log, struct measured_run *run,
                       struct error *error)
{
    struct rusage usage;
    int status = 0;
    double before = now_s();
    pid_t process = start(words, log);
    if (process < 0)
        return error__set(error, -errno, "cannot start %s: %s", words->word[0], strerror(errno));
    run->memory_kb = 0;
    while (wait4(process, &status, WNOHANG, &usage) == 0) {
        double kb = process__anonymous_kb(process);
        run->memory_kb = kb > run->memory_kb ? kb : run->memory_kb;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    run->wall_s = now_s() - before;
    run->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error__set(error, -ECHILD, "%s %s failed; what it said is in %s", words->word[0],
                          words->word[1], log);
    return 0;
}

int process__measure(int (*work)(const char *directory, void *outcome, struct error *error),
                     const char *directory, void *outcome, size_t bytes, double *memory_kb,
                     struct error *error)
{
    int ends[2], status = 0;
    if (pipe(ends) < 0)
        return error__set(error, -errno, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        struct error own = {""};
        if (work(directory, outcome, &own) < 0)
            fprintf(stderr, "%s\n", own.text);
        else if (write(ends[1], outcome, bytes) != (ssize_t)bytes)
            _exit(125);
        _exit(0);
    }
    close(ends[1]);
    *memory_kb = 0;
    while (process > 0 && waitpid(process, &status, WNOHANG) == 0) {
        *memory_kb = fmax(*memory_kb, process__anonymous_kb(process));
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    bool told = process > 0 && read(ends[0], outcome, bytes) == (ssize_t)bytes;
    close(ends[0]);
    return told ? 0 : error__set(error, -ECHILD, "%s was not analysed", directory);
}
