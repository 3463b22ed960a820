/* Making the runs of a sweep. */
#include "cmd/sweep.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/single_run.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACEHOLDER "{}"

/* ---- the command ----------------------------------------------------------------------------- */

/* free() it. */
static char *with_number(const char *word, uint32_t number)
{
    char *text = memory__text("");
    for (const char *at; (at = strstr(word, PLACEHOLDER)); word = at + strlen(PLACEHOLDER))
        text = text__append(text, "%.*s%" PRIu32, (int)(at - word), word, number);
    return text__append(text, "%s", word);
}

/* NULL-ended (char *): texts__free it. */
static struct vec words_of(const struct sweep *sweep, uint32_t threads)
{
    struct vec words = VEC_OF(char *);
    VEC_EACH (word, &sweep->command, char *)
        vec__push(&words, &(char *){with_number(*word, threads)});
    vec__push(&words, &(char *){NULL});
    return words;
}

/* ---- one run --------------------------------------------------------------------------------- */

static int make_run(const struct sweep *sweep, struct sweep_entry *entry)
{
    const struct sweep_place *place = &entry->place;
    char *output = sweep__output(sweep, place);
    char *trace = place->is_recorded ? sweep__trace(sweep, place) : NULL;
    struct vec words = words_of(sweep, place->threads);
    const struct single_run run = {.words = words.items,
                                   .trace = trace,
                                   .output = output,
                                   .threads = place->threads,
                                   .cpus = place->pinned};
    struct run_end end;
    int status = single_run__make(&run, &end);
    entry->wait_status = end.wait_status;
    entry->wall_ns = end.wall_ns;
    entry->cpu_ns = end.cpu_ns;
    texts__free(&words);
    free(output);
    free(trace);
    return status;
}

/* "4 threads on 2 CPUs, recorded". free() it. */
static char *place_text(const struct sweep_place *place)
{
    char *text =
        memory__format("%" PRIu32 " thread%s", place->threads, place->threads == 1 ? "" : "s");
    if (place->pinned)
        text = text__append(text, " on %" PRIu32 " CPU%s", place->pinned,
                            place->pinned == 1 ? "" : "s");
    return text__append(text, "%s", place->is_recorded ? ", recorded" : ", alone");
}

static void say_failure(const struct sweep *sweep, const struct sweep_entry *entry)
{
    char *where = place_text(&entry->place), *output = sweep__output(sweep, &entry->place);
    if (WIFSIGNALED(entry->wait_status))
        say("the run with %s was ended by signal %d (%s): no conclusion is drawn from it; what it "
            "wrote is in %s",
            where, WTERMSIG(entry->wait_status), strsignal(WTERMSIG(entry->wait_status)), output);
    else
        say("the run with %s failed with status %d: no conclusion is drawn from it; what it wrote "
            "is in %s",
            where, WEXITSTATUS(entry->wait_status), output);
    free(where);
    free(output);
}

/* How far it is. */
struct sweep_progress {
    size_t now, all;
    uint64_t started_ns;
    bool is_quiet, is_line; /* a line that is written over */
};

static void say_progress(const struct sweep_progress *progress, const struct sweep_place *place)
{
    char *where = place_text(place), *rest = memory__text("");
    uint64_t spent_ns = clock__ns(CLOCK_MONOTONIC) - progress->started_ns;
    if (progress->now > 1) {
        uint64_t ns = spent_ns / (progress->now - 1) * (progress->all - progress->now + 1);
        rest = text__append(rest, "; about %" PRIu64 " s more", (ns + 500000000u) / 1000000000u);
    }
    if (progress->is_line)
        fprintf(stderr, "\r\033[Kheurt: run %zu of %zu: %s%s", progress->now, progress->all, where,
                rest);
    else if (!progress->is_quiet)
        say("run %zu of %zu: %s%s", progress->now, progress->all, where, rest);
    free(where);
    free(rest);
}

static void end_line(const struct sweep_progress *progress)
{
    if (progress->is_line)
        fputs("\r\033[K", stderr);
}

/* ---- which, and in which order --------------------------------------------------------------- */

uint32_t sweep__cpus(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) < 0 ? 1 : (uint32_t)CPU_COUNT(&allowed);
}

static void plan_pair(const struct sweep *sweep, struct vec *missing, struct sweep_place place)
{
    for (unsigned i = 0; i < 2; i++) {
        /* Neither always comes after the other. */
        place.is_recorded = (i ^ place.repetition) & 1;
        const struct sweep_entry *entry = sweep__entry(sweep, &place);
        if (!entry || !sweep_entry__is_good(entry))
            vec__push(missing, &place);
    }
}

/* All counts, and then all of them again: what changes on the machine meanwhile hits all alike. */
static struct vec missing_runs(const struct sweep *sweep, const struct sweep_plan *plan)
{
    struct vec missing = VEC_OF(struct sweep_place);
    for (uint32_t repetition = 1; repetition <= plan->repeat; repetition++)
        VEC_EACH (threads, &plan->threads, uint32_t) {
            struct sweep_place place = {.threads = *threads, .repetition = repetition};
            if (!plan->cores.count)
                plan_pair(sweep, &missing, place);
            VEC_EACH (cores, &plan->cores, uint32_t) {
                place.pinned = *cores;
                plan_pair(sweep, &missing, place);
            }
        }
    return missing;
}

static int make_one(struct sweep *sweep, const struct sweep_place *place,
                    const struct sweep_progress *progress)
{
    struct sweep_entry entry = {.place = *place,
                                .cpus = place->pinned ? place->pinned : sweep__cpus()};
    struct error error;
    say_progress(progress, place);
    int status = make_run(sweep, &entry);
    if (interrupts__came())
        return 128 + interrupts__came();
    if (status == 0 && sweep__add(sweep, &entry, &error) < 0)
        status = failed(&error);
    if (status == 0 && !sweep_entry__is_good(&entry)) {
        end_line(progress);
        say_failure(sweep, &entry);
    }
    return status;
}

int sweep__make(struct sweep *sweep, const struct sweep_plan *plan)
{
    struct interrupts before;
    struct vec missing = missing_runs(sweep, plan);
    struct sweep_progress progress = {.all = missing.count,
                                      .started_ns = clock__ns(CLOCK_MONOTONIC),
                                      .is_quiet = plan->quiet,
                                      .is_line = !plan->quiet && isatty(STDERR_FILENO)};
    int status = 0;
    interrupts__hold(&before);
    VEC_EACH (place, &missing, struct sweep_place) {
        if (status)
            break;
        progress.now++;
        status = make_one(sweep, place, &progress);
    }
    end_line(&progress);
    interrupts__release(&before);
    if (status > 128)
        say("interrupted before run %zu of %zu had ended: the same command goes on from here",
            progress.now, progress.all);
    vec__free(&missing);
    return status;
}
