/* compared_runs.c: see compared_runs.h. */
#include "cmd/compared_runs.h"

#include "analysis/iterations/iterations.h"
#include "analysis/structure/structure.h"
#include "analysis/timeline/timeline.h"
#include "present/compare/compared_names.h"

static int analyse(struct loaded *loaded, const struct compared_wishes *wishes)
{
    int status = 0;
    run__ask(&loaded->run, &iterations_analysis, NULL);
    if (wishes->renames)
        run__ask(&loaded->run, &structure_analysis, NULL);
    if (wishes->page) {
        run__ask(&loaded->run, &findings_analysis, NULL);
        run__ask(&loaded->run, &timeline_analysis, NULL);
        status = loaded__ask_profile(loaded, CLASSES_BY_STRUCTURE);
    }
    return status ? status : loaded__analyse(loaded);
}

static int open_run(const char *directory, const struct compared_wishes *wishes,
                    struct loaded *loaded, bool *is_open)
{
    int status = loaded__open(directory, loaded);
    *is_open = status == 0;
    return status ? status : analyse(loaded, wishes);
}

static struct vec calls_of(const struct loaded *loaded)
{
    return function_calls__of(&loaded->report, run__result(&loaded->run, &structure_analysis));
}

static void find_renames(struct compared_runs *runs)
{
    struct vec before = calls_of(&runs->before), after = calls_of(&runs->after);
    runs->renames = renames__find(&before, &after);
    vec__free(&before);
    vec__free(&after);
}

static struct vec phases_of(const struct loaded *loaded, const struct vec *renames)
{
    return told_phases__of(&loaded->report, run__result(&loaded->run, &iterations_analysis),
                           renames);
}

int compared_runs__open(const struct runs_comparison *comparison,
                        const struct compared_wishes *wishes, struct compared_runs *runs)
{
    *runs = (struct compared_runs){.renames = VEC_OF(struct renamed)};
    int status =
        open_run(comparison->before_run->directory, wishes, &runs->before, &runs->has_before);
    if (status == 0)
        status = open_run(comparison->after_run->directory, wishes, &runs->after, &runs->has_after);
    if (status)
        return status;
    if (wishes->renames)
        find_renames(runs);
    runs->phases.before = phases_of(&runs->before, &runs->renames);
    runs->phases.after = phases_of(&runs->after, NULL);
    runs->phases.pairs = phases__align(&runs->phases.before, &runs->phases.after);
    return 0;
}

void compared_runs__close(struct compared_runs *runs)
{
    told_phases__free(&runs->phases.before);
    told_phases__free(&runs->phases.after);
    vec__free(&runs->phases.pairs);
    vec__free(&runs->renames);
    if (runs->has_before)
        loaded__close(&runs->before);
    if (runs->has_after)
        loaded__close(&runs->after);
}
