/* How a program scales, as tables and as heurt.scale/1: the contract is in docs/heurt-scale.md. */
#include "base/memory.h"
#include "base/text.h"
#include "present/scaling/scaling_screens.h"
#include "present/table/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE "the whole run"

static uint64_t ns_of(double ns)
{
    return isnan(ns) ? UINT64_MAX : (uint64_t)fmax(ns + 0.5, 0);
}

static int64_t signed_ns(double ns)
{
    return (int64_t)llround(ns);
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct count_cells {
    uint32_t threads, cpus;
    uint64_t alone, recorded, wall_ns, recorded_ns, cpu_ns;
    double speedup, efficiency, scatter, at_work, one_alone;
    bool crowded, used;
};

#define COUNT(member, title, unit, help) COLUMN(count_cells, member, title, unit, help)
static const struct column count_columns[] = {
    COUNT(threads, "threads", "", "that the program was asked to use"),
    COUNT(cpus, "CPUs", "", "that it could use"),
    COUNT(alone, "alone", "", "runs by themselves that ended well"),
    COUNT(recorded, "recorded", "", "runs that were recorded, and ended well"),
    COUNT(wall_ns, "time", "ns", "of a run alone: median"),
    COUNT(recorded_ns, NULL, "ns", "of a run that is recorded: median"),
    COUNT(cpu_ns, "CPU time", "ns", "user and system, of a run alone: median"),
    COLUMN_AS(COLUMN_FACTOR, count_cells, speedup, "times as fast", "×",
              "as with the fewest threads (or CPUs)"),
    COUNT(efficiency, "efficiency", "share", "of what so many threads (or CPUs) could do"),
    COUNT(scatter, NULL, "share", "of the time: what runs alone differ by at most"),
    COUNT(at_work, "at work", "", "threads on a CPU, while there was one: on the average"),
    COUNT(one_alone, "one alone", "share", "of that time, with a single thread on a CPU"),
    COUNT(crowded, NULL, "", "whether there were more threads than CPUs"),
    COUNT(used, NULL, "", "whether laws are of it"),
};
static const struct table counts_table =
    TABLE(count_cells, "counts", "a row a number of threads, or of CPUs", count_columns);

static struct table_rows count_rows(const void *subject)
{
    const struct scaling_view *view = subject;
    const struct scaling *scaling = view->scaling;
    struct table_rows rows = table_rows__of(&counts_table);
    VEC_EACH (count, &scaling->counts, struct scaling_count)
        TABLE_ROW(&rows, count_cells, count->threads, count->cpus, count->alone, count->recorded,
                  ns_of(count->wall_ns), ns_of(count->recorded_ns), ns_of(count->cpu_ns),
                  scaling__speedup(scaling, count), scaling__efficiency(scaling, count),
                  count->scatter, count->at_work, count->alone_share, count->is_crowded,
                  count->is_used);
    return rows;
}

/* ---- parts by count -------------------------------------------------------------------------- */

struct scaling_part_cells {
    const char *part;
    uint64_t count, time_ns, least_ns, most_ns;
    int64_t cost_ns;
    double share;
    bool predicted;
};

#define PART(member, title, unit, help) COLUMN(scaling_part_cells, member, title, unit, help)
static const struct column part_columns[] = {
    PART(part, "part", "", "of the program: what the time of the run went to"),
    PART(count, "count", "", "of threads, or of CPUs"),
    PART(predicted, "predicted", "", "whether that count was not run"),
    PART(time_ns, "time", "ns", "that it took: median, scaled to runs alone"),
    PART(least_ns, "at least", "ns", "of what is predicted: the law's interval (95 in 100)"),
    PART(most_ns, "at most", "ns", "likewise"),
    PART(share, "share", "share", "of the run's time there"),
    PART(cost_ns, "costs", "ns", "its time, less what it would take if it divided evenly"),
};
static const struct table parts_table =
    TABLE(scaling_part_cells, "parts", "a row a part of the program and count", part_columns);

static double cost_at(const struct scaling *scaling, double first_ns, double ns, double count)
{
    const struct scaling_count *first = VEC_AT(&scaling->counts, struct scaling_count,
                                               scaling->first == SIZE_MAX ? 0 : scaling->first);
    return ns - first_ns * first->count / count;
}

static void add_measured(struct table_rows *rows, const struct scaling *scaling, const char *part,
                         double first_ns, const struct scaling_count *count, double ns)
{
    double cost = cost_at(scaling, first_ns, ns, count->count);
    if (!isnan(ns))
        TABLE_ROW(rows, scaling_part_cells, part, (uint64_t)count->count, ns_of(ns), UINT64_MAX,
                  UINT64_MAX, isnan(cost) ? 0 : signed_ns(cost), ns / count->wall_ns, false);
}

static void add_predicted(struct table_rows *rows, const struct scaling *scaling, const char *part,
                          double first_ns, size_t ahead, const struct law_interval *ns)
{
    double count = scaling->ahead[ahead], cost = cost_at(scaling, first_ns, ns->value, count);
    if (!isnan(ns->value) && !isnan(cost))
        TABLE_ROW(rows, scaling_part_cells, part, (uint64_t)count, ns_of(ns->value), ns_of(ns->low),
                  ns_of(ns->high), signed_ns(cost), ns->value / scaling->whole_ahead[ahead].value,
                  true);
}

static void add_whole(struct table_rows *rows, const struct scaling *scaling)
{
    double first_ns = scaling->first == SIZE_MAX
                          ? NAN
                          : VEC_AT(&scaling->counts, struct scaling_count, scaling->first)->wall_ns;
    VEC_EACH (count, &scaling->counts, struct scaling_count)
        add_measured(rows, scaling, WHOLE, first_ns, count, count->wall_ns);
    for (size_t i = 0; i < SCALING_AHEAD; i++)
        add_predicted(rows, scaling, WHOLE, first_ns, i, &scaling->whole_ahead[i]);
}

static struct table_rows part_rows(const void *subject)
{
    const struct scaling_view *view = subject;
    const struct scaling *scaling = view->scaling;
    struct table_rows rows = table_rows__of(&parts_table);
    add_whole(&rows, scaling);
    VEC_EACH (part, &scaling->parts, struct scaling_part) {
        double first_ns = part->ns[scaling->first];
        for (size_t i = 0; i < scaling->counts.count; i++)
            add_measured(&rows, scaling, part->label, first_ns,
                         VEC_AT(&scaling->counts, struct scaling_count, i), part->ns[i]);
        for (size_t i = 0; i < SCALING_AHEAD; i++)
            add_predicted(&rows, scaling, part->label, first_ns, i, &part->ahead[i]);
    }
    return rows;
}

/* ---- laws ------------------------------------------------------------------------------------ */

struct law_cells {
    const char *part, *law, *why_none;
    bool tested;
    double sigma, sigma_least, sigma_most, kappa, kappa_least, kappa_most, scatter, misfit;
    uint64_t counts, runs;
};

#define LAW(member, title, unit, help) COLUMN(law_cells, member, title, unit, help)
static const struct column law_columns[] = {
    LAW(part, "part", "", "of the program"),
    LAW(law, "law", "", "linear, Amdahl, universal, overhead, or none"),
    LAW(why_none, NULL, "", "why it is none"),
    LAW(tested, "tested", "", "whether there were more counts than figures in the law"),
    LAW(sigma, "sigma", "", "the share that does not divide"),
    LAW(sigma_least, NULL, "", "at least (95 in 100)"),
    LAW(sigma_most, NULL, "", "at most"),
    LAW(kappa, "kappa", "", "what each pair of threads adds, as a share"),
    LAW(kappa_least, NULL, "", "at least (95 in 100)"),
    LAW(kappa_most, NULL, "", "at most"),
    LAW(scatter, "scatter", "share", "standard deviation of equal runs, over their mean"),
    LAW(misfit, "misfit", "share", "the largest difference of a count to the law"),
    LAW(counts, NULL, "", "that it is of"),
    LAW(runs, NULL, "", "likewise"),
};
static const struct table laws_table =
    TABLE(law_cells, "laws", "a row a part of the program", law_columns);

static void add_law(struct table_rows *rows, const char *part, const struct law *law)
{
    TABLE_ROW(rows, law_cells, part, law_kind__name(law->kind), law_refusal__name(law->refusal),
              law->is_tested, law->sigma.value, law->sigma.low, law->sigma.high, law->kappa.value,
              law->kappa.low, law->kappa.high, law->scatter, fabs(law->misfit), law->counts,
              law->samples);
}

static struct table_rows law_rows(const void *subject)
{
    const struct scaling_view *view = subject;
    struct table_rows rows = table_rows__of(&laws_table);
    add_law(&rows, WHOLE, &view->scaling->law);
    VEC_EACH (part, &view->scaling->parts, struct scaling_part)
        add_law(&rows, part->label, &part->law);
    return rows;
}

/* ---- speed-up loss --------------------------------------------------------------------------- */

struct speedup_cells {
    uint32_t threads, cpus;
    uint64_t alone, recorded, cpu_ns, cycles;
    double scatter, omega, at_work, speedup, lost_inflated, lost_waiting, no_cpu, spin;
    const char *refused;
};

#define SPEEDUP(member, title, unit, help) COLUMN(speedup_cells, member, title, unit, help)
static const struct column speedup_columns[] = {
    SPEEDUP(threads, "m", "", "threads"),
    SPEEDUP(cpus, "n", "", "CPUs"),
    SPEEDUP(cpu_ns, "C(n)", "ns", "CPU time of all threads, of runs alone: median"),
    SPEEDUP(cycles, NULL, "", "the same in cycles of the processor's time stamps"),
    SPEEDUP(scatter, NULL, "share", "its standard deviation over its mean"),
    SPEEDUP(omega, "omega", "", "work inflation: C(n) / C(1) − 1"),
    SPEEDUP(at_work, "A(m, n)", "", "threads on a CPU on the average, while there was one"),
    SPEEDUP(speedup, "S", "", "speed-up that is left: A / (1 + omega)"),
    SPEEDUP(lost_inflated, "R", "", "lost because the work takes longer: A omega / (1 + omega)"),
    SPEEDUP(lost_waiting, "D", "", "lost because threads wait, or have no CPU: m − A"),
    SPEEDUP(no_cpu, NULL, "", "of it, there are fewer CPUs than threads"),
    SPEEDUP(spin, NULL, "share", "of the CPU time, that threads waited on a CPU"),
    SPEEDUP(alone, NULL, "", "runs by themselves"),
    SPEEDUP(recorded, NULL, "", "runs that were recorded"),
    SPEEDUP(refused, "refused", "", "why S and R are not told; nothing: they are"),
};
static const struct table speedup_table =
    TABLE(speedup_cells, "speedup", "a row a number of threads and of CPUs", speedup_columns);

static uint64_t cycles_of(const struct scaling_view *view, double ns)
{
    double cycles = ns * 1e-9 * (double)view->cycles_a_second;
    return isnan(ns) || !view->cycles_a_second ? UINT64_MAX : (uint64_t)llround(cycles);
}

static struct table_rows speedup_rows(const void *subject)
{
    const struct scaling_view *view = subject;
    struct table_rows rows = table_rows__of(&speedup_table);
    VEC_EACH (row, view->speedups, struct speedup_row) {
        bool stands = row->refusal == SPEEDUP_STANDS;
        const char *refused = table_rows__keep(&rows, speedup_row__refusal(row));
        TABLE_ROW(&rows, speedup_cells, row->threads, row->cpus, row->alone, row->recorded,
                  ns_of(row->cpu_ns), cycles_of(view, row->cpu_ns), row->scatter,
                  stands ? row->omega : NAN, row->at_work, stands ? row->speedup : NAN,
                  stands ? row->inflated : NAN, row->waiting, row->no_cpu, row->spin, refused);
    }
    return rows;
}

/* ---- tables by name -------------------------------------------------------------------------- */

const struct named_table scaling_tables[] = {{&parts_table, part_rows},
                                             {&counts_table, count_rows},
                                             {&laws_table, law_rows},
                                             {&speedup_table, speedup_rows},
                                             {NULL, NULL}};

/* ---- the document ---------------------------------------------------------------------------- */

struct scaling_root {
    const struct scaling_view *view;
    const char *command, *directory, *axis, *sentence, *limit;
    uint64_t ahead;
    double speedup, speedup_least, speedup_most, recording;
    uint64_t held_out_ns;
};

static const struct scaling_view *view_of(const void *root)
{
    return ((const struct scaling_root *)root)->view;
}

static struct table_rows counts_of_root(const void *root)
{
    return count_rows(view_of(root));
}

static struct table_rows parts_of_root(const void *root)
{
    return part_rows(view_of(root));
}

static struct table_rows laws_of_root(const void *root)
{
    return law_rows(view_of(root));
}

static struct table_rows speedup_of_root(const void *root)
{
    return speedup_rows(view_of(root));
}

static struct table_rows refused_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&texts_table);
    VEC_EACH (text, view_of(root)->refused, char *)
        text_rows__take(&rows, memory__text(*text));
    return rows;
}

static struct table_rows notes_of_root(const void *root)
{
    struct table_rows rows = table_rows__of(&texts_table);
    struct vec notes = scaling__notes(view_of(root));
    VEC_EACH (text, &notes, char *)
        text_rows__take(&rows, memory__text(*text));
    texts__free(&notes);
    return rows;
}

static const struct table root_table =
    OBJECT(scaling_root, FIELD_SCHEMA("heurt.scale/1"),
           FIELDS(scaling_root, command, directory, axis, sentence, limit),
           FIELD("predicted_at", scaling_root, ahead),
           FIELDS(scaling_root, speedup, speedup_least, speedup_most, held_out_ns, recording),
           FIELD_LIST("counts", counts_of_root), FIELD_LIST("parts", parts_of_root),
           FIELD_LIST("laws", laws_of_root), FIELD_LIST("speedup_loss", speedup_of_root),
           FIELD_LIST("refused", refused_of_root), FIELD_LIST("notes", notes_of_root));

void scaling__put_json(const struct scaling_view *view, FILE *out)
{
    const struct scaling *scaling = view->scaling;
    const struct scaling_part *limit = scaling__limit(scaling);
    const struct law_interval speedup = scaling__speedup_ahead(scaling, 0);
    char *sentence = scaling__sentence(view);
    const struct scaling_root root = {
        .view = view,
        .command = view->command,
        .directory = view->directory,
        .axis = scaling->axis == SCALING_CPUS ? "CPUs" : "threads",
        .sentence = sentence,
        .limit = limit ? limit->label : NULL,
        .ahead = isnan(scaling->ahead[0]) ? UINT64_MAX : (uint64_t)scaling->ahead[0],
        .speedup = speedup.value,
        .speedup_least = speedup.low,
        .speedup_most = speedup.high,
        .held_out_ns = ns_of(scaling->held_out.value),
        .recording = scaling->recording};
    document__put(&root_table, &root, out);
    free(sentence);
}
