/* compared_work.c: two threads that do a known amount of work in two functions, half of it in each.
 *
 *     compared_work ROUNDS [PERCENT]
 *
 * Each thread calls steady_part and growing_part ROUNDS times; the latter does PERCENT (100) of its
 * work. So with 110 the program has 5 % more work, and one class of it 10 %. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, TURNS = 30000 };

static long rounds, growing_turns;

__attribute__((noinline)) static unsigned long turn(unsigned long sum, long turns)
{
    for (long i = 0; i < turns; i++)
        sum = sum * 6364136223846793005u + (unsigned long)i;
    return sum;
}

__attribute__((noinline)) static unsigned long steady_part(unsigned long sum)
{
    return turn(sum, TURNS) + 1;
}

__attribute__((noinline)) static unsigned long growing_part(unsigned long sum)
{
    return turn(sum, growing_turns) + 2;
}

static void *work(void *unused)
{
    unsigned long sum = 1;
    for (long i = 0; i < rounds; i++)
        sum = growing_part(steady_part(sum));
    return (void *)(sum & 1 ? &rounds : unused);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc < 2 || argc > 3) {
        fputs("usage: compared_work ROUNDS [PERCENT]\n", stderr);
        return 2;
    }
    rounds = atol(argv[1]);
    growing_turns = TURNS * (argc > 2 ? atol(argv[2]) : 100) / 100;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
