/* Does what standard input says, a line a command, and answers each with a line: "busy N": two
 * threads take turns with one lock, and each calls handle() N times; "slow MS": handle() takes so
 * long, once; "crash". Without input there is nothing to do. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long handled;

void handle(long ms);

__attribute__((noinline)) void handle(long ms)
{
    handled++;
    if (ms)
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void *work(void *argument)
{
    for (long turns = *(long *)argument; turns > 0; turns--) {
        pthread_mutex_lock(&lock);
        handle(0);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void be_busy(long turns)
{
    pthread_t other;
    if (pthread_create(&other, NULL, work, &turns) != 0)
        exit(1);
    work(&turns);
    pthread_join(other, NULL);
}

int main(void)
{
    char word[16];
    long number;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (scanf("%15s %ld", word, &number) == 2) {
        if (strcmp(word, "busy") == 0)
            be_busy(number);
        else if (strcmp(word, "slow") == 0)
            handle(number);
        else
            raise(SIGKILL);
        puts(word);
    }
    return 0;
}
