#include "cmd/induced_runs.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/single_run.h"
#include "cmd/table_results.h"
#include "format/directory.h"
#include "present/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a trace tells ---------------------------------------------------------------------- */

static const struct table_source profile_source = {.of = MADE_OF(&profile_analysis)};

static struct run_figures *new_figures(struct induced_runs *made, const struct loaded *loaded,
                                       const struct table_rows *rows, const char *column)
{
    struct run_figures *figures = memory__zeroed(1, sizeof *figures);
    *figures = (struct run_figures){.wall_ns = loaded->profile->wall_ns,
                                    .rows = VEC_OF(struct figures_row)};
    run_figures__add(figures, rows, table__column(rows->table, column), NULL);
    vec__push(&made->figures, &figures);
    return figures;
}

static int load_classes(const char *trace, struct contended_run *run, struct induced_runs *made)
{
    const struct table_source *const sources[] = {&profile_source, NULL};
    struct table_results results;
    int status = table_results__make(trace, sources, CLASSES_BY_SITE, &results);
    if (status)
        return status;
    struct table_rows rows = class_rows(&results.loaded.report, EVERY_ROW);
    run->times = new_figures(made, &results.loaded, &rows, "sum_ns");
    run->counts = new_figures(made, &results.loaded, &rows, "count");
    table_rows__free(&rows);
    table_results__free(&results);
    return 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int refuse_failed(const char *program, int wait_status)
{
    bool is_signal = WIFSIGNALED(wait_status);
    say("%.100s %s %d: times of a program that fails tell nothing", program,
        is_signal ? "was ended by signal" : "ended with status",
        is_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
    return EXIT_HEURT;
}

static int check_inducer(const struct induced_plan *plan)
{
    int code = plan->inducer ? inducer__failure(plan->inducer) : 0;
    if (code == 0)
        return 0;
    say("the process that takes the resource does no more: %s",
        code == -ESRCH ? "it was killed, perhaps because memory was short" : strerror(-code));
    return EXIT_HEURT;
}

static int make_run(const struct induced_plan *plan, double level, uint32_t round,
                    const char *trace, struct induced_runs *made)
{
    char *holds = plan->lock ? heavy_lock__longer(plan->lock, level) : NULL;
    const struct single_run run = {
        .words = plan->words, .trace = trace, .holds = holds, .output = "/dev/null"};
    struct contended_run told = {.asked = level, .round = round, .wall_ns = NAN};
    struct induce_told had = {level, level, 1 + level};
    struct run_end end;
    if (plan->inducer)
        inducer__set(plan->inducer, level);
    int status = single_run__make(&run, &end);
    if (plan->inducer) {
        had = inducer__told(plan->inducer);
        inducer__set(plan->inducer, 0);
    }
    free(holds);
    status = status ? status : check_inducer(plan);
    if (status == 0 && end.wait_status && !interrupts__came())
        status = refuse_failed(plan->words[0], end.wait_status);
    if (status || interrupts__came())
        return status;
    told.taken = level > 0 ? had.had : 0;
    told.requests = had.requests;
    if (trace)
        status = load_classes(trace, &told, made);
    else
        told.wall_ns = (double)end.wall_ns;
    if (status == 0 && plan->lock)
        told.wall_ns = (double)told.times->wall_ns;
    if (status == 0)
        vec__push(&made->runs, &told);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int make_pair(const struct induced_plan *plan, double level, uint32_t round,
                     const char *place, struct induced_runs *made)
{
    char *trace = memory__format("%s/run", place);
    int status = 0;
    for (unsigned i = 0; status == 0 && !interrupts__came() && i < 2; i++) {
        bool is_recorded = (i ^ round) & 1;
        if (plan->lock && !is_recorded)
            continue;
        if (!plan->quiet)
            say("round %" PRIu32 " of %" PRIu64 ": %.3g %%, %s", round + 1, plan->rounds,
                100 * level, is_recorded ? "recorded" : "alone");
        status = make_run(plan, level, round, is_recorded ? trace : NULL, made);
        trace_directory__unmake(trace, false);
    }
    free(trace);
    return status;
}

static double level_at(const struct vec *levels, uint32_t round, size_t i)
{
    size_t place = (i + round / 2) % levels->count;
    return *VEC_AT(levels, double, round & 1 ? levels->count - 1 - place : place);
}

static int make_rounds(const struct induced_plan *plan, const char *place,
                       struct induced_runs *made)
{
    int status = 0;
    for (uint32_t round = 0; status == 0 && round < plan->rounds; round++)
        for (size_t i = 0; status == 0 && !interrupts__came() && i < plan->levels.count; i++)
            status = make_pair(plan, level_at(&plan->levels, round, i), round, place, made);
    made->is_cut = interrupts__came();
    return status;
}

int induced_runs__make(const struct induced_plan *plan, struct induced_runs *made)
{
    const char *temporary = getenv("TMPDIR");
    char *place = memory__format("%s/heurt-induce.XXXXXX", temporary ? temporary : "/tmp");
    struct interrupts interrupts;
    int status = EXIT_HEURT;
    *made =
        (struct induced_runs){VEC_OF(struct contended_run), VEC_OF(struct run_figures *), false};
    if (mkdtemp(place)) {
        interrupts__hold(&interrupts);
        status = make_rounds(plan, place, made);
        interrupts__release(&interrupts);
        rmdir(place);
    } else {
        say("cannot make a directory for traces as %.150s", place);
    }
    free(place);
    return status;
}

void induced_runs__free(struct induced_runs *made)
{
    VEC_EACH (figures, &made->figures, struct run_figures *) {
        run_figures__free(*figures);
        free(*figures);
    }
    vec__free(&made->figures);
    vec__free(&made->runs);
}
