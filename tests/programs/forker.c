/* forker.c: all the ways in which a process makes another.
 *
 *     forker            runs each way CHILDREN times and prints how many processes of each there
 * were forker --child N  (what it executes) locks a mutex LOCKS times and ends with status N forker
 * --exec     replaces itself by forker --child 7
 *
 * Only the first process prints. */
#include "known.h"

#include <spawn.h>
#include <sys/wait.h>

enum { CHILDREN = 3, LOCKS = 5, STATUS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *self;
extern char **environ;

static void take_locks(void)
{
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *take_locks_in_thread(void *unused)
{
    (void)unused;
    take_locks();
    return NULL;
}

static void expect_status(pid_t child, int expected)
{
    int status;
    KNOWN_CHECK(child > 0);
    while (waitpid(child, &status, 0) < 0)
        KNOWN_CHECK(errno == EINTR);
    KNOWN_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

/* The child works on in the same image, also with a thread of its own. */
static void forks(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            take_locks();
            if (pthread_create(&thread, NULL, take_locks_in_thread, NULL) != 0)
                _exit(1);
            pthread_join(thread, NULL);
            _exit(STATUS);
        }
        expect_status(child, STATUS);
    }
}

static void fork_and_exec(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl(self, self, "--child", "41", (char *)NULL);
            _exit(127);
        }
        expect_status(child, 41);
    }
}

static void vfork_and_exec(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl(self, self, "--child", "42", (char *)NULL);
            _exit(127);
        }
        expect_status(child, 42);
    }
}

static void spawns(void)
{
    char child_option[] = "--child", status[] = "43";
    char *arguments[] = {(char *)self, child_option, status, NULL};
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child;
        KNOWN_CHECK(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
        expect_status(child, 43);
    }
}

static void systems(void)
{
    char command[4200];
    snprintf(command, sizeof command, "exec '%s' --child 44", self);
    for (int i = 0; i < CHILDREN; i++) {
        int status = system(command);
        KNOWN_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 44);
    }
}

static void popens(void)
{
    char command[4200], line[64];
    snprintf(command, sizeof command, "echo heard; exec '%s' --child 45", self);
    for (int i = 0; i < CHILDREN; i++) {
        FILE *pipe = popen(command, "r");
        KNOWN_CHECK(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "heard\n") == 0);
        int status = pclose(pipe);
        KNOWN_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 45);
    }
}

/* fork in a process with other threads, while these hold and take locks. */
static int stop;

static void *lock_all_the_time(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        take_locks_in_thread(unused);
    return NULL;
}

static void forks_beside_threads(void)
{
    pthread_t thread;
    KNOWN_CHECK(pthread_create(&thread, NULL, lock_all_the_time, NULL) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(46);
        expect_status(child, 46);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    KNOWN_CHECK(length > 0);
    self = path;
    if (argc > 2 && strcmp(argv[1], "--child") == 0) {
        take_locks();
        return atoi(argv[2]);
    }
    if (argc > 1 && strcmp(argv[1], "--exec") == 0) {
        take_locks();
        execl(self, self, "--child", "7", (char *)NULL);
        return 127;
    }
    forks();
    fork_and_exec();
    vfork_and_exec();
    spawns();
    systems();
    popens();
    forks_beside_threads();
    known__number("forked", 2 * CHILDREN); /* and no exec */
    known__number("fork_exec", CHILDREN);
    known__number("vfork_exec", CHILDREN);
    known__number("spawned", CHILDREN);
    known__number("system", CHILDREN);
    known__number("popen", CHILDREN);
    known__number("children_that_exec_forker", 5 * CHILDREN);
    known__number("locks_of_each_exec", LOCKS);
    known__number("locks_of_each_fork", 2 * LOCKS); /* of the first CHILDREN */
    return 0;
}
