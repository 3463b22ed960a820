/* torture.c: the driver of the torture suite (docs/torture.md).
 *
 *     torture --heurt HEURT --cases LIST --awaited LIST [--table] [--keep] [CASE…]
 *
 * Runs every case of the list (or those that match a glob), two at a time, and prints TAP, or with
 * --table each function with the calls that were made and the calls that were counted. Exit status:
 * 0 when all is as it should be, else 1. --keep leaves the traces of cases that failed. */
#include "base/memory.h"
#include "trial.h"

#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 2 };

struct options {
    const char *heurt, *cases, *awaited;
    bool table, keep;
    char **globs;
};

struct job {
    const struct trial *trial;
    char *room;
    pid_t child;
    bool ended, good;
};

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "torture: no memory for %zu bytes\n", bytes);
    exit(1);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static bool is_chosen(const struct trial *trial, char **globs)
{
    if (!*globs)
        return true;
    for (; *globs; globs++)
        if (fnmatch(*globs, trial->name, 0) == 0)
            return true;
    return false;
}

static void start(struct job *job, const struct options *options, const struct vec *awaited)
{
    fflush(NULL);
    if (mkdir(job->room, 0777) != 0)
        return;
    job->child = fork();
    if (job->child != 0)
        return;
    FILE *rows = chdir(job->room) == 0 ? fopen("rows", "we") : NULL;
    if (!rows)
        _exit(1);
    bool good = trial__run(job->trial, awaited, options->heurt, rows);
    _exit(fclose(rows) == 0 && good ? 0 : 1);
}

static void await_one(struct vec *jobs)
{
    int status;
    pid_t child = wait(&status);
    VEC_EACH (job, jobs, struct job)
        if (job->child == child && child > 0) {
            job->ended = true;
            job->good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
}

static void print_rows(const char *room, const char *prefix)
{
    char *path = memory__format("%s/rows", room), *line = NULL;
    FILE *rows = fopen(path, "re");
    size_t capacity = 0;
    while (rows && getline(&line, &capacity, rows) >= 0)
        printf("%s%s", prefix, line);
    if (rows)
        fclose(rows);
    free(line);
    free(path);
}

static void print(const struct job *job, size_t number, bool table)
{
    const struct trial *trial = job->trial;
    if (trial->skip && table)
        printf("%s: skipped, %s\n", trial->name, trial->skip);
    else if (trial->skip)
        printf("ok %zu %s # skip %s\n", number, trial->name, trial->skip);
    else if (table)
        printf("%s%s\n", trial->name, job->good ? "" : "  FAILED");
    else
        printf("%sok %zu %s\n", job->good ? "" : "not ", number, trial->name);
    if (!trial->skip && (table || !job->good))
        print_rows(job->room, table ? "" : "# ");
    fflush(stdout);
}

/* At the end of its job's turn; in the order of the list. */
static bool finish(struct job *job, size_t number, const struct options *options)
{
    print(job, number, options->table);
    if (job->good || job->trial->skip || !options->keep)
        nftw(job->room, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    else
        printf("# kept in %s\n", job->room);
    free(job->room);
    return job->good || job->trial->skip;
}

static int run_all(struct vec *jobs, const struct options *options, const struct vec *awaited)
{
    size_t started = 0, running = 0, failed = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = VEC_AT(jobs, struct job, i);
        while (!job->ended) {
            for (; started < jobs->count && running < AT_ONCE; started++) {
                struct job *next = VEC_AT(jobs, struct job, started);
                next->ended = next->trial->skip != NULL;
                if (!next->ended)
                    start(next, options, awaited);
                next->ended |= next->child <= 0;
                running += !next->ended;
            }
            if (!job->ended) {
                await_one(jobs);
                running--;
            }
        }
        failed += !finish(job, i + 1, options);
    }
    if (options->table)
        printf("%zu cases, %zu failed\n", jobs->count, failed);
    return failed != 0;
}

static bool read_options(int count, char **words, struct options *options)
{
    static const struct option known[] = {
        {"heurt", required_argument, NULL, 'h'},   {"cases", required_argument, NULL, 'c'},
        {"awaited", required_argument, NULL, 'a'}, {"table", no_argument, NULL, 't'},
        {"keep", no_argument, NULL, 'k'},          {0}};
    for (int option; (option = getopt_long(count, words, "", known, NULL)) != -1;) {
        if (option == 'h')
            options->heurt = realpath(optarg, NULL); /* cases run in directories of their own */
        else if (option == 'c')
            options->cases = optarg;
        else if (option == 'a')
            options->awaited = optarg;
        else if (option == 't')
            options->table = true;
        else if (option == 'k')
            options->keep = true;
        else
            return false;
    }
    options->globs = words + optind;
    return options->heurt && options->cases && options->awaited;
}

int main(int count, char **words)
{
    static struct options options; /* static: they are never freed */
    static struct vec trials = VEC_OF(struct trial), awaited = VEC_OF(struct awaited);
    static struct vec jobs = VEC_OF(struct job);
    const char *temporary = getenv("TMPDIR");
    if (!read_options(count, words, &options)) {
        fprintf(stderr, "usage: torture --heurt HEURT --cases LIST --awaited LIST [--table] "
                        "[--keep] [CASE]...\n");
        return 2;
    }
    char *room = memory__format("%s/heurt-torture-XXXXXX", temporary ? temporary : "/tmp");
    if (!trials__read(options.cases, &trials) || !awaited__read(options.awaited, &awaited) ||
        !mkdtemp(room))
        return 1;
    VEC_EACH (trial, &trials, struct trial)
        if (is_chosen(trial, options.globs))
            vec__push(&jobs,
                      &(struct job){trial, memory__format("%s/%s", room, trial->name), 0, 0, 0});
    if (!options.table)
        printf("1..%zu\n", jobs.count);
    else
        printf("%-46s %9s %9s  %s\n", "function", "expected", "counted", "result");
    int failed = run_all(&jobs, &options, &awaited);
    rmdir(room);
    free(room);
    return failed;
}
