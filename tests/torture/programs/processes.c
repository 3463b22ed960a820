/* processes.c: processes that come from processes while recorded functions are open: fork, vfork,
 * posix_spawn, exec; a child counts its own calls, the parent those of all. */
#include "known.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { CHILDREN = 10, CALLS = 200 };

#define FUNCTION KNOWN_FUNCTION static

extern char **environ;
static long *done; /* shared by all images that fork */

FUNCTION long t_work(long n)
{
    return n * 3 + 1;
}

FUNCTION long t_work_stack(long a, long b, long c, long d, long e, long f, long g)
{
    return t_work(a + b + c + d + e + f) + g;
}

static void work(void)
{
    long sum = 0;
    for (long i = 0; i < CALLS; i++)
        sum += t_work_stack(1, 2, 3, 4, 5, 6, i);
    KNOWN_CHECK(sum == CALLS * 64 + CALLS * (CALLS - 1) / 2);
    __atomic_add_fetch(done, CALLS, __ATOMIC_SEQ_CST);
}

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

/* Both of its returns, in the parent and in the child. */
FUNCTION long t_forks(long a, long b, long c, long d, long e, long f, long n)
{
    pid_t child = fork();
    if (child == 0)
        return -(a + b + c + d + e + f + n);
    return status_of(child);
}

/* The child never comes back from it. */
FUNCTION int t_forks_and_ends(int status)
{
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(status);
    }
    return status_of(child);
}

FUNCTION int t_vforks(char *program)
{
    pid_t child = vfork();
    if (child == 0) {
        execl(program, program, "--image", (char *)NULL);
        _exit(98);
    }
    return status_of(child);
}

FUNCTION int t_vforks_and_ends(int status)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(status);
    return status_of(child);
}

FUNCTION int t_spawns(char *program)
{
    pid_t child;
    char *words[] = {program, (char[]){"--image"}, NULL};
    KNOWN_CHECK(posix_spawn(&child, program, NULL, NULL, words, environ) == 0);
    return status_of(child);
}

FUNCTION void t_becomes(char *program)
{
    execl(program, program, "--image", (char *)NULL);
    _exit(98);
}

FUNCTION int t_image(long n)
{
    return (int)(n * 1000003);
}

/* What an executed program does: known to the one that starts it. */
static int image(void)
{
    int sum = 0;
    for (long i = 0; i < CALLS; i++)
        sum += t_image(i) & 1;
    return sum == CALLS / 2 ? 41 : 97;
}

static void fork_all(void)
{
    for (long i = 0; i < CHILDREN; i++) {
        long result = t_forks(1, 2, 3, 4, 5, 6, i);
        if (result < 0) {
            work();
            _exit((int)-result);
        }
        KNOWN_CHECK(result == 21 + i);
        KNOWN_CHECK(t_forks_and_ends((int)i + 50) == i + 50);
    }
    work();
    known__count("t_forks", CHILDREN);
    known__count("t_forks_and_ends", CHILDREN);
    known__count("t_work", *done);
    known__count("t_work_stack", *done);
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--image") == 0)
        return image();
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    KNOWN_CHECK(length > 0);
    program[length] = 0;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fork_all();
    for (int i = 0; i < CHILDREN / 2; i++) {
        KNOWN_CHECK(t_vforks(program) == 41);
        KNOWN_CHECK(t_vforks_and_ends(i) == i);
        KNOWN_CHECK(t_spawns(program) == 41);
    }
    printf("children as they should be\n");
    known__count("t_vforks", CHILDREN / 2);
    known__count("t_vforks_and_ends", CHILDREN / 2);
    known__count("t_spawns", CHILDREN / 2);
    known__count("t_becomes", 1);
    known__unfinished("t_becomes", 1);
    known__count("t_image", (CHILDREN + 1) * CALLS);
    fflush(stdout);
    t_becomes(program);
    return 1;
}
