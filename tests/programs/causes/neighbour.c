/* Not a cause but what disturbs the others from outside: keeps as many threads busy as its argument
 * says, until its standard input ends. */
#include "../known.h"

static _Noreturn void *burn(void *argument)
{
    (void)argument;
    for (;;)
        __asm__ volatile("");
}

int main(int count, char **words)
{
    unsigned threads = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1;
    pthread_t thread;
    char byte;
    for (; threads; threads--)
        KNOWN_CHECK(pthread_create(&thread, NULL, burn, NULL) == 0);
    puts("busy");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
