#include "analysis/scaling/speedup.h"

#include <math.h>
#include <string.h>

#define SPIN_FROM 0.03 /* of the CPU time */
#define WORK_DIFFERS_FROM 0.02

static bool is_of(const struct speedup_row *row, const struct sweep_run *run)
{
    return run->threads == row->threads && run->cpus == row->cpus;
}

static double median_of(const struct vec *values)
{
    return values->count ? shift__median(values->items, values->count) : NAN;
}

/* Standard deviation over mean; NaN: of one. */
static double scatter_of(const struct vec *values)
{
    double sum = 0, squares = 0, count = (double)values->count;
    VEC_EACH (value, values, double)
        sum += *value;
    VEC_EACH (value, values, double)
        squares += pow(*value - sum / count, 2);
    return count > 1 ? sqrt(squares / (count - 1)) / (sum / count) : NAN;
}

static void push_known(struct vec *values, double value)
{
    if (!isnan(value))
        vec__push(values, &value);
}

static void fill_row(struct speedup_row *row, const struct vec *runs)
{
    struct vec alone = VEC_OF(double), at_work = alone, spin = alone;
    VEC_EACH (run, runs, struct sweep_run) {
        if (!is_of(row, run))
            continue;
        row->recorded += run->is_recorded;
        row->alone += !run->is_recorded;
        push_known(&alone, run->is_recorded ? NAN : (double)run->cpu_ns);
        push_known(&at_work, run->is_recorded ? run->use.at_work : NAN);
        push_known(&spin, run->is_recorded ? run->use.spin : NAN);
    }
    row->cpu_ns = median_of(&alone);
    row->scatter = scatter_of(&alone);
    row->at_work = median_of(&at_work);
    row->spin = median_of(&spin);
    vec__free(&alone);
    vec__free(&at_work);
    vec__free(&spin);
}

/* ---- whether the work is the same ------------------------------------------------------------ */

static const struct sweep_run *recorded_run(const struct speedup_row *row, const struct vec *runs)
{
    VEC_EACH (run, runs, struct sweep_run)
        if (run->is_recorded && is_of(row, run))
            return run;
    return NULL;
}

static uint64_t work_of(const struct sweep_run *run, const char *what)
{
    VEC_EACH (work, &run->use.work, struct sweep_work)
        if (strcmp(work->what, what) == 0)
            return work->count;
    return 0;
}

/* Of one recorded run each: counts that the work makes are the same in every run. */
static bool is_other_work(struct speedup_row *row, const struct speedup_row *first,
                          const struct vec *runs)
{
    const struct sweep_run *here = recorded_run(row, runs), *there = recorded_run(first, runs);
    if (!here || !there)
        return false;
    VEC_EACH (work, &here->use.work, struct sweep_work) {
        double one = (double)work->count, other = (double)work_of(there, work->what);
        if (fabs(one - other) <= WORK_DIFFERS_FROM * fmax(one, other))
            continue;
        row->here = *work;
        row->first = (struct sweep_work){work->what, (uint64_t)other};
        return true;
    }
    return false;
}

static enum speedup_refusal refusal_of(struct speedup_row *row, const struct speedup_row *first,
                                       const struct vec *runs)
{
    if (!first || isnan(row->cpu_ns) || isnan(first->cpu_ns))
        return SPEEDUP_NO_FIRST;
    if (isnan(row->at_work))
        return SPEEDUP_SWITCHES;
    if (row->spin >= SPIN_FROM || first->spin >= SPIN_FROM)
        return SPEEDUP_SPIN;
    return is_other_work(row, first, runs) ? SPEEDUP_WORK : SPEEDUP_STANDS;
}

/* m = S + R + D by construction: S + R = A, whatever omega is. */
static void divide(struct speedup_row *row, const struct speedup_row *first)
{
    double factor = first ? row->cpu_ns / first->cpu_ns : NAN;
    row->omega = factor - 1;
    row->speedup = row->at_work / factor;
    row->inflated = row->at_work - row->speedup;
    row->waiting = row->threads - row->at_work;
    row->no_cpu = row->cpus < row->threads ? row->threads - row->cpus : 0;
}

static int by_threads(const void *left, const void *right)
{
    const struct speedup_row *one = left, *other = right;
    int order = ORDER(one->threads, other->threads);
    return order ? order : ORDER(one->cpus, other->cpus);
}

static bool has_row(const struct vec *rows, const struct sweep_run *run)
{
    VEC_EACH (row, rows, struct speedup_row)
        if (is_of(row, run))
            return true;
    return false;
}

static bool has_several_cpus(const struct vec *runs, uint32_t threads)
{
    uint32_t cpus = 0;
    VEC_EACH (run, runs, struct sweep_run) {
        if (run->threads != threads)
            continue;
        if (cpus && run->cpus != cpus)
            return true;
        cpus = run->cpus;
    }
    return false;
}

struct vec speedup__rows(const struct vec *runs)
{
    struct vec rows = VEC_OF(struct speedup_row);
    VEC_EACH (run, runs, struct sweep_run)
        if (!has_row(&rows, run) && has_several_cpus(runs, run->threads))
            vec__push(&rows, &(struct speedup_row){.threads = run->threads, .cpus = run->cpus});
    vec__sort(&rows, by_threads);
    const struct speedup_row *first = NULL;
    VEC_EACH (row, &rows, struct speedup_row) {
        fill_row(row, runs);
        if (row->cpus == 1)
            first = row;
        const struct speedup_row *of_it = first && first->threads == row->threads ? first : NULL;
        divide(row, of_it);
        row->refusal = refusal_of(row, of_it, runs);
    }
    return rows;
}
