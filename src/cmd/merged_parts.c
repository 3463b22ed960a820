#include "cmd/merged_parts.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/ranks.h"
#include "format/layout.h"
#include "format/trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What its own definitions tell. */
static int read_part(struct merged_part *part)
{
    struct trace *trace;
    struct error error;
    if (ranks__is_recorded(part->path)) {
        say("%.120s is recorded still: merge it when its program has ended", part->path);
        return EXIT_HEURT;
    }
    if (trace__open(part->path, &trace, &error) < 0)
        return failed(&error);
    const char *count = trace__meta(trace, "ranks");
    part->count = count ? (uint32_t)strtoul(count, NULL, 10) : 0;
    VEC_EACH (process, trace__processes(trace), const struct trace_process)
        if (process->clocks.count && !part->run)
            part->run = ((const struct heurt_host_clock *)process->clocks.items)->run;
    trace__close(trace);
    return 0;
}

/* 0, or EXIT_HEURT; nothing is done where the name is no part's. */
static int take(struct vec *parts, const char *path, const char *name)
{
    struct merged_part part = {0};
    if (!ranks__is_name(name, &part.rank, &part.job))
        return 0;
    part.path = memory__text(path);
    part.is_cut = path[strlen(path) - 1] == '~';
    vec__push(parts, &part);
    return read_part(VEC_AT(parts, struct merged_part, parts->count - 1));
}

static int find_in(struct vec *parts, const char *path)
{
    DIR *entries = opendir(path);
    int status = 0;
    if (!entries) {
        say("%.120s cannot be read: %s", path, strerror(errno));
        return EXIT_HEURT;
    }
    for (const struct dirent *entry; !status && (entry = readdir(entries));) {
        char *inside = memory__format("%s/%s", path, entry->d_name);
        status = take(parts, inside, entry->d_name);
        free(inside);
    }
    closedir(entries);
    return status;
}

int merged_parts__find(struct vec *parts, const char *path)
{
    size_t before = parts->count, length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *plain = memory__format("%.*s", (int)length, path);
    const char *slash = strrchr(plain, '/');
    int status = take(parts, plain, slash ? slash + 1 : plain);
    if (!status && parts->count == before)
        status = find_in(parts, plain);
    if (!status && parts->count == before) {
        say("%.100s is no part of an MPI run, and none lies in it: heurt record --local DIR makes "
            "them",
            plain);
        status = EXIT_HEURT;
    }
    free(plain);
    return status;
}

/* ---- one run --------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct merged_part *left = a, *right = b;
    return ORDER(left->rank, right->rank) ?: strcmp(left->path, right->path);
}

/* Jobs have a number of their own on each host where the launcher tells none. */
static bool are_of_one_run(const struct merged_part *a, const struct merged_part *b)
{
    if (a->run && b->run)
        return a->run == b->run;
    return a->job == b->job && (!a->count || !b->count || a->count == b->count);
}

int merged_parts__check(struct vec *parts)
{
    const struct merged_part *first = parts->items;
    vec__sort(parts, by_rank);
    VEC_EACH (part, parts, const struct merged_part) {
        if (!are_of_one_run(first, part)) {
            say("%.80s and %.80s are of two runs: give the parts of one", first->path, part->path);
            return EXIT_HEURT;
        }
        if (part > first && part[-1].rank == part->rank) {
            say("%.70s and %.70s are both of rank %u: give one of them", part[-1].path, part->path,
                part->rank);
            return EXIT_HEURT;
        }
    }
    return 0;
}

void merged_parts__free(struct vec *parts)
{
    VEC_EACH (part, parts, const struct merged_part)
        free(part->path);
    vec__free(parts);
}
