/* classes_known.c: threads handle requests of two sorts. One sort parses and looks something up;
 * the other parses and stores one to eight items, one at a time under a lock that both threads
 * want, and takes some ten times as long. How many of each there are is printed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "known.h"

enum { THREADS = 2 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long table[64];
static unsigned requests = 2000;

KNOWN_FUNCTION static void work(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        table[i % 64] += i;
}

KNOWN_FUNCTION static void parse(unsigned request)
{
    work(200);
    table[request % 64] = request;
}

KNOWN_FUNCTION static void look_up(unsigned request)
{
    work(300);
    table[request % 64]++;
}

KNOWN_FUNCTION static void store(unsigned item)
{
    pthread_mutex_lock(&table_lock);
    work(3000);
    table[item % 64] = item;
    pthread_mutex_unlock(&table_lock);
}

KNOWN_FUNCTION static void handle(unsigned request)
{
    parse(request);
    if (request % 2)
        look_up(request);
    else
        for (unsigned i = 0; i <= request / 2 % 8; i++)
            store(request + i);
    table[0]++;
}

static void *serve(void *argument)
{
    for (unsigned i = 0; i < requests; i++)
        handle(i);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        requests = (unsigned)strtoul(argv[1], NULL, 10);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, serve, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("look_up %u\nstore %u\n", THREADS * (requests / 2), THREADS * (requests - requests / 2));
    return 0;
}
