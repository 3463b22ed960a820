/* env_print.c: prints what it was given: arguments, environment (in order), descriptors, signal
 * mask and dispositions, limits of its own stack.  The same with and without heurt, but for what
 * LD_PRELOAD and heurt's own variable must carry to programs that it starts. */
#include "known.h"

#include <signal.h>
#include <sys/resource.h>

extern char **environ;

static void print_signals(void)
{
    sigset_t mask;
    struct sigaction action;
    KNOWN_CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    for (int i = 1; i < 32; i++) {
        if (sigismember(&mask, i) == 1)
            printf("blocked=%d\n", i);
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("disposition_%d=%s\n", i, action.sa_handler == SIG_IGN ? "ignored" : "handler");
    }
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    for (int i = 0; i < argc; i++)
        printf("argv[%d]=%s\n", i, argv[i]);
    for (char **variable = environ; *variable; variable++)
        printf("environ: %s\n", *variable);
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0)
            printf("descriptor=%d\n", i);
    print_signals();
    KNOWN_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    printf("descriptors_limit=%llu\n", (unsigned long long)limit.rlim_cur);
    return 0;
}
