/* Memory of which it is known who uses it: counters on the heap that two threads count side by side
 * ("packed", the default; "padded": each on lines of its own), a table that both only read, and
 * blocks that are allocated and freed again and again, at an address that the counters had before
 * them ("reused"); or such counters in static data ("fixed"; "named" and "oddly-named"
 * with a name of their own). "handed": the first thread counts
 * there before both do. "own": they lie in memory that the program got by itself. "many": blocks of
 * 100 bytes and of 5,000, 3,000,000 and 20,000 of them, and nothing else. "forked": a child counts
 * at them as well. */
#include <heurt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 60000000, WORDS = 512 };

struct tally {
    uint64_t id;
    volatile uint64_t hits;
};

static struct {
    volatile uint64_t *hits;
    const volatile uint64_t *table;
} work_of[2];
static uint64_t limits[WORDS];
static struct tally fixed[2];

static __attribute__((noinline)) void count(volatile uint64_t *hits, const volatile uint64_t *table)
{
    for (long i = 0; i < ROUNDS; i++)
        *hits += table[i & (WORDS - 1)];
}

static void *work(void *which)
{
    count(work_of[(intptr_t)which].hits, work_of[(intptr_t)which].table);
    return NULL;
}

static void *make_and_free(void *first, size_t bytes)
{
    free(first);
    for (int i = 0; i < 3; i++)
        free(malloc(bytes));
    return malloc(bytes);
}

static int make_many(void)
{
    void *keep;
    for (int i = 0; i < 3000000; i++) {
        __asm__ volatile("" : : "r"(keep = malloc(100)) : "memory");
        free(keep);
        if (i % 150 == 0) {
            __asm__ volatile("" : : "r"(keep = malloc(5000)) : "memory");
            free(keep);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "packed";
    if (strcmp(how, "many") == 0)
        return make_many();
    size_t apart = strcmp(how, "padded") == 0 ? 256 : sizeof(struct tally);
    char *tallies = calloc(2, apart);
    pthread_t threads[2];
    if (strcmp(how, "reused") == 0)
        tallies = make_and_free(tallies, 2 * apart);
    bool is_odd = strcmp(how, "oddly-named") == 0, is_named = is_odd || strcmp(how, "named") == 0;
    if (is_named)
        heurt_object(fixed, sizeof fixed, is_odd ? "<b>&\"t'\x1b[1m</b>" : "tallies");
    if (is_named || strcmp(how, "fixed") == 0) {
        free(tallies);
        tallies = (char *)fixed;
    }
    if (strcmp(how, "own") == 0)
        tallies = sbrk(4096);
    if (!tallies || tallies == (char *)-1)
        return 1;
    memset(tallies, 0, 2 * apart);
    for (int i = 0; i < WORDS; i++)
        limits[i] = (uint64_t)i;
    if (strcmp(how, "handed") == 0)
        count(&((struct tally *)(void *)tallies)->hits, limits);
    bool is_forked = strcmp(how, "forked") == 0, is_child = is_forked && fork() == 0;
    for (intptr_t i = 0; i < 2; i++) {
        work_of[i].hits = &((struct tally *)(void *)(tallies + (size_t)i * apart))->hits;
        work_of[i].table = limits;
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)*work_of[0].hits);
    if (tallies != (char *)fixed && strcmp(how, "own") != 0)
        free(tallies);
    if (is_forked && !is_child)
        wait(NULL);
    return 0;
}
