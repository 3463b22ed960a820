/* Parts of a book are typeset by children, each of which is waited for before the next one starts.
 * TRUTH: join; place=typeset|wait_for|main
 * Fixed: two of them at a time. */
#include "truth.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(int part)
{
    pid_t child = fork();
    if (child == 0)
        _exit(mix((uint64_t)part + 1, 30000000) == 0);
    return child;
}

static int wait_for(pid_t child)
{
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

static int typeset(int parts, int at_a_time)
{
    pid_t children[2];
    int failed = 0;
    for (int i = 0; i < parts; i += at_a_time) {
        for (int k = 0; k < at_a_time; k++)
            children[k] = start(i + k);
        for (int k = 0; k < at_a_time; k++)
            failed += wait_for(children[k]) != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    printf("%d failed\n", typeset(12, is_fixed(argc, argv) ? 2 : 1));
    return 0;
}
