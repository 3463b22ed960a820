#include "cmd/sweep_evidence.h"

#include "analysis/events/activity.h"
#include "analysis/openmp/openmp.h"
#include "analysis/timeline/wall_ledger.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/table_results.h"
#include "present/openmp/openmp_screens.h"
#include "present/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SERIAL_TOLD_FROM 0.3  /* of samples between regions, in one function */
#define RECORDING "recording" /* a row of the table of the wall time */
#define ONE_CALLER 1.02       /* lives of those who call regions, over the wall time: at most */

/* ---- what the time of an OpenMP program went to ---------------------------------------------- */

/* Takes over both texts. */
static void add_figure(struct run_figures *run, char *key, char *label, double ns)
{
    if (ns > 0) {
        const struct figures_row row = {key, label, ns, 0, NULL, NULL};
        vec__push(&run->rows, &row);
        return;
    }
    free(key);
    free(label);
}

/* The time that a region took, divided as the times of its threads are. */
static void add_region(struct run_figures *run, const struct report *report,
                       const struct parallel_region *region)
{
    const struct team_times *times = &region->times;
    const struct {
        const char *what;
        uint64_t ns;
    } parts[] = {
        {"work in", times->work_ns},
        {"waiting at the end of", times->end_ns},
        {"waiting at barriers in", times->barrier_ns - times->end_ns},
        {"waiting for locks in", times->lock_ns},
        {"having no task in", times->task_ns},
        {"wanting a CPU in", times->no_cpu_ns},
        {"other waits in", times->other_ns},
        {"beginning and ending", times->fork_ns + times->join_ns},
    };
    double capacity = region->capacity_ns ? (double)region->capacity_ns : 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *title = parallel_region__title(report, region);
        add_figure(run, memory__format("region\n%s\n%s", title, parts[i].what),
                   memory__format("%s region %s", parts[i].what, title),
                   (double)region->ns * (double)parts[i].ns / capacity);
        free(title);
    }
}

/* "between parallel regions (mostly in read_input)"; free() it. */
static char *serial_label(const struct report *report, const struct openmp_use *use)
{
    char *label = memory__text("between parallel regions");
    uint64_t all_ns = 0;
    VEC_EACH (part, &use->serial, const struct serial_part)
        all_ns += part->ns;
    const struct serial_part *first = use->serial.items;
    char unknown[32];
    if (!use->serial.count || (double)first->ns < SERIAL_TOLD_FROM * (double)all_ns)
        return label;
    struct place place = place__of_site(report, first->process, first->address, unknown);
    char *function = function__bare(place.function);
    label = text__append(label, " (mostly in %s)", function);
    free(function);
    return label;
}

/* False: several threads call regions, whose times do not add up to the run's. */
static bool fill_of_regions(struct run_figures *run, const struct report *report,
                            const struct openmp_use *use)
{
    double life = (double)use->efficiency.life_ns, wall = (double)run->wall_ns;
    if (life > ONE_CALLER * wall)
        return false;
    VEC_EACH (region, &use->regions, const struct parallel_region)
        if (!region->is_nested)
            add_region(run, report, region);
    double between = fmin(life, wall); /* what is left of it when regions are taken off */
    VEC_EACH (region, &use->regions, struct parallel_region)
        between -= region->is_nested ? 0 : (double)region->ns;
    add_figure(run, memory__text("serial"), serial_label(report, use), between);
    add_figure(run, memory__text("outside"), memory__text("starting and ending the program"),
               wall - life);
    return true;
}

/* ---- besides --------------------------------------------------------------------------------- */

static void add_work(struct sweep_use *use, const char *what, uint64_t count)
{
    if (count)
        vec__push(&use->work, &(struct sweep_work){what, count});
}

/* Of locks only where each was told: estimates are no evidence of other work. */
static void count_calls(struct sweep_use *use, const struct profile *profile)
{
    uint64_t barriers = 0, files = 0, locks = 0;
    bool is_exact = true;
    VEC_EACH (class, &profile->classes, struct profile_class) {
        enum class_kind kind = class->what.at.kind;
        is_exact = is_exact && (kind != CLASS_LOCK || class->recorded == class->count);
        barriers += kind == CLASS_BARRIER ? class->count : 0;
        files += kind == CLASS_DISK ? class->count : 0;
        locks += kind == CLASS_LOCK ? class->count : 0;
    }
    add_work(use, "waits at barriers", barriers);
    add_work(use, "reads and writes of files", files);
    add_work(use, "locks that were taken", is_exact ? locks : 0);
}

static void count_constructs(struct sweep_use *use, const struct openmp_use *openmp)
{
    uint64_t regions = 0, tasks = 0, iterations = 0;
    VEC_EACH (region, &openmp->regions, const struct parallel_region)
        regions += region->count;
    VEC_EACH (loop, &openmp->loops, const struct shared_loop)
        iterations += loop->iterations;
    VEC_EACH (construct, &openmp->constructs, const struct task_construct)
        tasks += construct->count;
    add_work(use, "calls of parallel regions", regions);
    add_work(use, "iterations of parallel loops", iterations);
    add_work(use, "tasks", tasks);
}

/* CPU time in which threads of teams waited: what is no work of what they used. */
static double spin_in_regions(const struct openmp_use *use, double cpu_ns)
{
    const struct team_times *times = &use->efficiency.times;
    double waits = (double)(times->barrier_ns + times->lock_ns + times->task_ns + times->join_ns +
                            times->fork_ns);
    double spun = cpu_ns - (double)use->efficiency.serial_ns - (double)times->work_ns;
    return fmin(fmax(spun, 0), waits);
}

static double spin_in_functions(const struct findings *findings)
{
    double ns = 0;
    VEC_EACH (finding, &findings->rows, struct finding)
        ns += finding->category == FINDING_SPINNING ? (double)finding->lost_ns : 0;
    return ns;
}

static double spin_of(const struct loaded *loaded, const struct openmp_use *openmp)
{
    size_t unknown;
    double cpu_ns = (double)profile__cpu_ns(loaded->profile, loaded->trace, &unknown);
    double spun = openmp                    ? spin_in_regions(openmp, cpu_ns)
                  : loaded->report.findings ? spin_in_functions(loaded->report.findings)
                                            : 0;
    return cpu_ns > 0 ? fmin(spun / cpu_ns, 1) : 0;
}

static void fill_use(struct sweep_use *use, const struct loaded *loaded)
{
    const struct cpu_activity *activity = run__result(&loaded->run, &activity_analysis);
    const struct openmp_use *openmp = run__result(&loaded->run, &openmp_analysis);
    *use = (struct sweep_use){.at_work = NAN,
                              .alone = NAN,
                              .others = profile__cpus_of_others(loaded->profile, loaded->trace),
                              .work = VEC_OF(struct sweep_work)};
    if (activity && activity->active_ns) {
        use->at_work = (double)activity->service_ns / (double)activity->active_ns;
        use->alone = (double)activity->single_ns / (double)activity->active_ns;
    }
    count_calls(use, loaded->profile);
    if (openmp)
        count_constructs(use, openmp);
    use->spin = spin_of(loaded, openmp);
}

/* What recording took is no part of the program; its rows add up to the rest. */
static void leave_out_recording(struct run_figures *run)
{
    double sum = 0;
    size_t kept = 0;
    VEC_EACH (row, &run->rows, struct figures_row) {
        if (strcmp(row->key, RECORDING) == 0) {
            free(row->key);
            free(row->label);
            continue;
        }
        sum += row->value;
        *VEC_AT(&run->rows, struct figures_row, kept++) = *row;
    }
    run->rows.count = kept;
    run->wall_ns = (uint64_t)sum;
}

/* ---- a trace --------------------------------------------------------------------------------- */

static const struct table_source use_source = {
    .of = MADE_OF(&profile_analysis, &activity_analysis, &openmp_analysis)};

static void see_threads(struct sweep_evidence *evidence, uint32_t threads)
{
    bool is_first = !evidence->seen_most;
    evidence->seen_least =
        is_first || threads < evidence->seen_least ? threads : evidence->seen_least;
    evidence->seen_most = threads > evidence->seen_most ? threads : evidence->seen_most;
}

static int load_trace(const char *directory, struct sweep_run *run, struct sweep_evidence *evidence)
{
    const struct table_source *const sources[] = {&wall_source, &use_source, NULL};
    struct table_results results;
    int status = table_results__make(directory, sources, CLASSES_BY_SITE, &results);
    if (status)
        return status;
    const struct loaded *loaded = &results.loaded;
    const struct openmp_use *openmp = run__result(&loaded->run, &openmp_analysis);
    struct run_figures *figures = run->figures = memory__zeroed(1, sizeof *figures);
    *figures = (struct run_figures){.wall_ns = loaded->profile->wall_ns,
                                    .rows = VEC_OF(struct figures_row)};
    vec__push(&evidence->figures, &figures);
    run->wall_ns = figures->wall_ns;
    fill_use(&run->use, loaded);
    see_threads(evidence, (uint32_t)trace__threads(loaded->trace)->count);
    evidence->is_openmp = evidence->is_openmp || openmp;
    if (trace__session(loaded->trace)->clock == HEURT_CLOCK_TSC)
        evidence->cycles_a_second = trace__ticks(loaded->trace, 1000000000);
    if (!openmp || !fill_of_regions(figures, &loaded->report, openmp)) {
        struct table_rows rows = table_results__rows(&results, &wall_source);
        run_figures__add(figures, &rows, table__column(wall_source.table, "wall_ns"), NULL);
        table_rows__free(&rows);
    }
    leave_out_recording(figures);
    table_results__free(&results);
    return 0;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void refuse(struct sweep_evidence *evidence, const struct sweep_entry *entry)
{
    int status = entry->wait_status;
    char *why = WIFSIGNALED(status) ? memory__format("signal %d", WTERMSIG(status))
                                    : memory__format("status %d", WEXITSTATUS(status));
    vec__push(&evidence->refused, &(struct refused_run){entry->place, why});
}

static int load_entry(const struct sweep *sweep, const struct sweep_entry *entry,
                      struct sweep_evidence *evidence)
{
    struct sweep_run run = {.threads = entry->place.threads,
                            .cpus = entry->cpus,
                            .is_recorded = entry->place.is_recorded,
                            .wall_ns = entry->wall_ns,
                            .cpu_ns = entry->cpu_ns};
    if (!sweep_entry__is_good(entry)) {
        refuse(evidence, entry);
        return 0;
    }
    char *trace = sweep__trace(sweep, &entry->place);
    int status = run.is_recorded ? load_trace(trace, &run, evidence) : 0;
    free(trace);
    if (status == 0)
        vec__push(&evidence->runs, &run);
    return status;
}

/* Whether those were recorded with several counts. */
static bool differ_threads(const struct vec *runs)
{
    uint32_t threads = 0;
    VEC_EACH (run, runs, struct sweep_run) {
        if (!run->is_recorded)
            continue;
        if (threads && run->threads != threads)
            return true;
        threads = run->threads;
    }
    return false;
}

int sweep_evidence__load(const struct sweep *sweep, struct sweep_evidence *evidence)
{
    int status = 0;
    *evidence = (struct sweep_evidence){.runs = VEC_OF(struct sweep_run),
                                        .figures = VEC_OF(struct run_figures *),
                                        .refused = VEC_OF(struct refused_run)};
    VEC_EACH (entry, &sweep->entries, struct sweep_entry)
        if (status == 0)
            status = load_entry(sweep, entry, evidence);
    evidence->heeds_nothing = evidence->seen_most && evidence->seen_least == evidence->seen_most &&
                              differ_threads(&evidence->runs);
    return status;
}

void sweep_evidence__free(struct sweep_evidence *evidence)
{
    VEC_EACH (run, &evidence->runs, struct sweep_run)
        vec__free(&run->use.work);
    VEC_EACH (figures, &evidence->figures, struct run_figures *) {
        run_figures__free(*figures);
        free(*figures);
    }
    VEC_EACH (refused, &evidence->refused, struct refused_run)
        free(refused->why);
    vec__free(&evidence->runs);
    vec__free(&evidence->figures);
    vec__free(&evidence->refused);
}
