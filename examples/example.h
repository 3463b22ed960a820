/* example.h: what the example programs share: their options, busy work, threads that start
 * together, and the line that they print at the end:
 *
 *     elapsed_ns=… operations=…
 *
 * Header only, so that `cc -O2 -pthread mutex.c` builds an example. */
#ifndef HEURT_EXAMPLE_H
#define HEURT_EXAMPLE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LINE_BYTES 64
#define EXAMPLE_THREADS_MAX 1024

/* An option: a number, or a flag when flag is not NULL, or a word when word is not NULL. */
struct example_option {
    const char *name;
    long *number;
    bool *flag;
    const char **word;
    const char *help;
};

static inline void example__usage(const char *program, const struct example_option *options,
                                  FILE *out)
{
    fprintf(out, "usage: %s [OPTION]…\n", program);
    for (; options->name; options++) {
        fprintf(out, "  --%s%s\t%s", options->name,
                options->flag   ? ""
                : options->word ? " WORD"
                                : " N",
                options->help);
        if (options->number)
            fprintf(out, " (%ld)", *options->number);
        fputc('\n', out);
    }
}

static inline void example__wrong(const char *program, const struct example_option *options,
                                  const char *what)
{
    fprintf(stderr, "%s: %s\n", program, what);
    example__usage(program, options, stderr);
    exit(2);
}

static inline const struct example_option *example__find(const struct example_option *options,
                                                         const char *name)
{
    while (options->name && strcmp(options->name, name) != 0)
        options++;
    return options->name ? options : NULL;
}

/* Reads the command line into the options' places; the table ends in a row without a name.
 * Ends the process on --help and on wrong usage. */
static inline void example__options(int argc, char **argv, const struct example_option *options)
{
    for (int i = 1; i < argc; i++) {
        const struct example_option *option = NULL;
        if (strcmp(argv[i], "--help") == 0) {
            example__usage(argv[0], options, stdout);
            exit(0);
        }
        if (strncmp(argv[i], "--", 2) == 0)
            option = example__find(options, argv[i] + 2);
        if (!option)
            example__wrong(argv[0], options, "unknown option");
        if (option->flag) {
            *option->flag = true;
            continue;
        }
        if (++i == argc)
            example__wrong(argv[0], options, "an option lacks its value");
        if (option->word) {
            *option->word = argv[i];
            continue;
        }
        char *end;
        errno = 0;
        *option->number = strtol(argv[i], &end, 10);
        if (errno || *end || end == argv[i] || *option->number < 0)
            example__wrong(argv[0], options, "a value is not a number that makes sense");
    }
}

static inline long example__cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

static inline uint64_t example__now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* turns of work that needs nothing but a processor: a chain of multiplications that wait for each
 * other, some 3 ns a turn.  It leaves the processor's units nearly idle, so that it takes as long
 * whether or not another thread runs on the same core; it is not inlined, so that it takes as long
 * wherever it is called. */
static __attribute__((noinline, aligned(64), unused)) void busy(long turns)
{
    unsigned long value = 3;
    for (long i = 0; i < turns; i++) {
        value = value * value + (unsigned long)i;
        value = value * value + 1;
        value = value * value + 3;
        __asm__ volatile("" : "+r"(value));
    }
}

/* A small generator of random numbers (xorshift); the same seed gives the same work. */
static inline uint64_t example__random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A number from 0 to 2 × mean, so that threads do not fall into step; it is mean on average. */
static inline long example__about(long mean, uint64_t *state)
{
    return (long)(example__random(state) % (2 * (uint64_t)mean + 1));
}

static inline void *example__aligned(size_t bytes)
{
    size_t whole = (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
    void *memory = aligned_alloc(CACHE_LINE_BYTES, whole);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memset(memory, 0, whole);
}

/* ---- threads that start together ------------------------------------------------------------- */

struct crew;

struct crew_member {
    long index;
    struct crew *crew;
    pthread_t thread;
    uint64_t start_ns, end_ns;
};

struct crew {
    void (*work)(long index, void *shared);
    void *shared;
    pthread_barrier_t start;
    struct crew_member *members;
};

static inline void *crew__member(void *argument)
{
    struct crew_member *member = argument;
    pthread_barrier_wait(&member->crew->start);
    member->start_ns = example__now_ns();
    member->crew->work(member->index, member->crew->shared);
    member->end_ns = example__now_ns();
    return NULL;
}

/* Runs work(0 … threads-1, shared), each on a thread of its own, all begun together.  Returns the
 * time from the first's start to the last's end; first_ns, if not NULL, gets thread 0's own time.
 */
static inline uint64_t crew__run(long threads, void (*work)(long, void *), void *shared,
                                 uint64_t *first_ns)
{
    struct crew crew = {.work = work, .shared = shared};
    if (threads < 1 || threads > EXAMPLE_THREADS_MAX) {
        fprintf(stderr, "the number of threads must be 1 to %d\n", EXAMPLE_THREADS_MAX);
        exit(2);
    }
    crew.members = calloc((size_t)threads, sizeof *crew.members);
    if (!crew.members || pthread_barrier_init(&crew.start, NULL, (unsigned)threads) != 0)
        abort();
    for (long i = 0; i < threads; i++) {
        crew.members[i] = (struct crew_member){.index = i, .crew = &crew};
        int error = pthread_create(&crew.members[i].thread, NULL, crew__member, &crew.members[i]);
        if (error) {
            fprintf(stderr, "cannot create thread %ld: %s\n", i, strerror(error));
            exit(1);
        }
    }
    uint64_t start_ns = UINT64_MAX, end_ns = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(crew.members[i].thread, NULL);
        start_ns = crew.members[i].start_ns < start_ns ? crew.members[i].start_ns : start_ns;
        end_ns = crew.members[i].end_ns > end_ns ? crew.members[i].end_ns : end_ns;
    }
    if (first_ns)
        *first_ns = crew.members[0].end_ns - crew.members[0].start_ns;
    pthread_barrier_destroy(&crew.start);
    free(crew.members);
    return end_ns - start_ns;
}

static inline void example__result(uint64_t elapsed_ns, long operations)
{
    printf("elapsed_ns=%llu operations=%ld\n", (unsigned long long)elapsed_ns, operations);
}

#endif
