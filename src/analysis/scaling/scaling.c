#include "analysis/scaling/scaling.h"

#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART_FROM 0.01 /* of the run, at some count */
#define WORKING "working"
#define OTHER_WORK "working in other code"
#define ALL_ELSE "all else"
#define HELD_OUT_FROM 4
#define LIMIT_FROM 0.02 /* of the run ahead: what costs less limits nothing */

static const struct scaling_count *count_at(const struct scaling *scaling, size_t place)
{
    return VEC_AT(&scaling->counts, struct scaling_count, place);
}

/* ---- medians --------------------------------------------------------------------------------- */

/* Numbers of which the median is wanted; those that are not known are none. */
struct numbers {
    struct vec values; /* double */
};

static void numbers__add(struct numbers *numbers, double value)
{
    if (!isnan(value))
        vec__push(&numbers->values, &value);
}

static double numbers__median(const struct numbers *numbers)
{
    return numbers->values.count ? shift__median(numbers->values.items, numbers->values.count)
                                 : NAN;
}

static struct numbers numbers__new(void)
{
    return (struct numbers){VEC_OF(double)};
}

/* Its median; frees it. */
static double numbers__take_median(struct numbers *numbers)
{
    double median = numbers__median(numbers);
    vec__free(&numbers->values);
    return median;
}

static double spread_of(const struct numbers *numbers)
{
    double least = INFINITY, most = 0;
    VEC_EACH (value, &numbers->values, double) {
        least = fmin(least, *value);
        most = fmax(most, *value);
    }
    return numbers->values.count > 1 ? (most - least) / numbers__median(numbers) : NAN;
}

/* ---- the counts ------------------------------------------------------------------------------ */

static uint32_t most_cpus(const struct vec *runs)
{
    uint32_t most = 0;
    VEC_EACH (run, runs, struct sweep_run)
        most = run->cpus > most ? run->cpus : most;
    return most;
}

static enum scaling_axis axis_of(const struct vec *runs)
{
    bool differ_threads = false, differ_cpus = false;
    const struct sweep_run *first = runs->items;
    VEC_EACH (run, runs, struct sweep_run) {
        differ_threads = differ_threads || run->threads != first->threads;
        differ_cpus = differ_cpus || run->cpus != first->cpus;
    }
    return differ_cpus && !differ_threads ? SCALING_CPUS : SCALING_THREADS;
}

static double count_of(const struct scaling *scaling, const struct sweep_run *run)
{
    return scaling->axis == SCALING_CPUS ? run->cpus : run->threads;
}

/* By threads, those are meant that had all the CPUs. */
static bool is_meant(const struct scaling *scaling, const struct vec *runs,
                     const struct sweep_run *run)
{
    return scaling->axis == SCALING_CPUS || run->cpus == most_cpus(runs);
}

static int by_count(const void *left, const void *right)
{
    const struct scaling_count *one = left, *other = right;
    return ORDER(one->count, other->count);
}

static struct scaling_count *find_count(struct scaling *scaling, double count)
{
    VEC_EACH (at, &scaling->counts, struct scaling_count)
        if (at->count == count)
            return at;
    return NULL;
}

static void add_counts(struct scaling *scaling, const struct vec *runs)
{
    VEC_EACH (run, runs, struct sweep_run) {
        double count = count_of(scaling, run);
        if (!is_meant(scaling, runs, run) || find_count(scaling, count))
            continue;
        bool is_crowded = run->threads > run->cpus;
        bool is_useless = scaling->axis == SCALING_CPUS && run->cpus > run->threads;
        vec__push(&scaling->counts,
                  &(struct scaling_count){.threads = run->threads,
                                          .cpus = run->cpus,
                                          .count = count,
                                          .is_crowded = is_crowded,
                                          .is_used = scaling->axis == SCALING_CPUS ? !is_useless
                                                                                   : !is_crowded});
    }
    vec__sort(&scaling->counts, by_count);
}

static bool is_of(const struct scaling *scaling, const struct vec *runs,
                  const struct scaling_count *count, const struct sweep_run *run)
{
    return is_meant(scaling, runs, run) && count_of(scaling, run) == count->count;
}

static void fill_count(const struct scaling *scaling, const struct vec *runs,
                       struct scaling_count *count)
{
    struct numbers alone = numbers__new(), recorded = alone, told = alone;
    struct numbers at_work = alone, single = alone, cpu = alone;
    VEC_EACH (run, runs, struct sweep_run) {
        if (!is_of(scaling, runs, count, run))
            continue;
        numbers__add(run->is_recorded ? &recorded : &alone, (double)run->wall_ns);
        numbers__add(&cpu, run->is_recorded || !run->cpu_ns ? NAN : (double)run->cpu_ns);
        if (!run->is_recorded)
            continue;
        numbers__add(&told, run->figures ? (double)run->figures->wall_ns : NAN);
        numbers__add(&at_work, run->use.at_work);
        numbers__add(&single, run->use.alone);
    }
    count->alone = alone.values.count;
    count->recorded = recorded.values.count;
    count->scatter = spread_of(&alone);
    count->wall_ns = numbers__take_median(&alone);
    count->cpu_ns = numbers__take_median(&cpu);
    count->recorded_ns = numbers__take_median(&recorded);
    count->told_ns = numbers__take_median(&told);
    count->at_work = numbers__take_median(&at_work);
    count->alone_share = numbers__take_median(&single);
    count->is_used = count->is_used && count->alone;
}

static void fill_counts(struct scaling *scaling, const struct vec *runs)
{
    struct numbers recording = numbers__new(), others = recording;
    VEC_EACH (run, runs, struct sweep_run)
        numbers__add(&others, run->is_recorded ? run->use.others : NAN);
    scaling->others = numbers__take_median(&others);
    scaling->first = scaling->last = SIZE_MAX;
    VEC_EACH (count, &scaling->counts, struct scaling_count) {
        size_t place = (size_t)(count - (struct scaling_count *)scaling->counts.items);
        fill_count(scaling, runs, count);
        numbers__add(&recording, count->recorded_ns / count->wall_ns - 1);
        if (!count->is_used)
            continue;
        scaling->first = scaling->first == SIZE_MAX ? place : scaling->first;
        scaling->last = place;
    }
    scaling->recording = numbers__take_median(&recording);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_sample(const struct scaling *scaling, const struct vec *runs,
                      const struct sweep_run *run, const struct scaling_count **count)
{
    VEC_EACH (at, &scaling->counts, struct scaling_count)
        if (at->is_used && is_of(scaling, runs, at, run)) {
            *count = at;
            return true;
        }
    return false;
}

/* behind: only counts below. */
static struct law law_of_whole(const struct scaling *scaling, const struct vec *runs, double behind)
{
    struct vec samples = VEC_OF(struct law_sample);
    const struct scaling_count *count;
    VEC_EACH (run, runs, struct sweep_run) {
        if (run->is_recorded || !is_sample(scaling, runs, run, &count) || count->count >= behind)
            continue;
        double ns = (double)run->wall_ns;
        vec__push(&samples, &(struct law_sample){count->count, ns, ns});
    }
    struct law law = law__of(&samples);
    vec__free(&samples);
    return law;
}

static void hold_out(struct scaling *scaling, const struct vec *runs)
{
    scaling->held_out = (struct law_interval){NAN, NAN, NAN};
    if (scaling->last == SIZE_MAX || scaling->law.counts < HELD_OUT_FROM)
        return;
    double last = count_at(scaling, scaling->last)->count;
    struct law law = law_of_whole(scaling, runs, last);
    if (law.kind != LAW_NONE)
        scaling->held_out = law__ns(&law, last);
}

/* ---- the parts ------------------------------------------------------------------------------- */

/* A row of some run, as it stands in the table of parts. */
struct part_name {
    const char *key, *label;
    bool is_everywhere; /* in a run of each count that is used */
    bool is_large;
    size_t place; /* of the part that it belongs to */
};

/* Rows by run: what each part took. */
struct part_table {
    const struct vec *runs;
    struct map keys;
    struct vec names; /* struct part_name */
    double *ns;       /* by run, then by name; scaled to the runs alone */
};

static bool has_rows(const struct scaling *scaling, const struct vec *runs,
                     const struct sweep_run *run, const struct scaling_count **count)
{
    if (!run->is_recorded || !run->figures)
        return false;
    VEC_EACH (at, &scaling->counts, struct scaling_count)
        if (is_of(scaling, runs, at, run)) {
            *count = at;
            return !isnan(at->wall_ns) && at->told_ns > 0;
        }
    return false;
}

static void find_names(struct part_table *table)
{
    VEC_EACH (run, table->runs, struct sweep_run)
        VEC_EACH (row, run->figures ? &run->figures->rows : &(struct vec){0}, struct figures_row)
            if (map__put(&table->keys, row->key, strlen(row->key), table->names.count) ==
                table->names.count)
                vec__push(&table->names, &(struct part_name){.key = row->key, .label = row->label});
}

static size_t place_of(const struct part_table *table, const struct sweep_run *run)
{
    return (size_t)(run - (const struct sweep_run *)table->runs->items) * table->names.count;
}

static void fill_table(const struct scaling *scaling, struct part_table *table)
{
    const struct scaling_count *count;
    table->ns = memory__zeroed(table->runs->count * table->names.count + 1, sizeof *table->ns);
    VEC_EACH (run, table->runs, struct sweep_run) {
        if (!has_rows(scaling, table->runs, run, &count))
            continue;
        double scale = count->wall_ns / count->told_ns;
        VEC_EACH (row, &run->figures->rows, struct figures_row) {
            size_t name = map__get(&table->keys, row->key, strlen(row->key));
            double ns = row->value * scale;
            table->ns[place_of(table, run) + name] = ns;
            if (ns >= PART_FROM * count->wall_ns)
                VEC_AT(&table->names, struct part_name, name)->is_large = true;
        }
    }
}

/* Whether some recorded run of each count that is used has it; or there is no such run. */
static bool is_everywhere(const struct scaling *scaling, const struct part_table *table,
                          size_t name)
{
    VEC_EACH (count, &scaling->counts, struct scaling_count) {
        bool is_any = false, is_there = false;
        VEC_EACH (run, table->runs, struct sweep_run) {
            const struct scaling_count *at;
            if (!count->is_used || !has_rows(scaling, table->runs, run, &at) || at != count)
                continue;
            is_any = true;
            is_there = is_there || table->ns[place_of(table, run) + name] > 0;
        }
        if (is_any && !is_there)
            return false;
    }
    return true;
}

static bool is_work(const struct part_name *name)
{
    return strncmp(name->key, WORKING, strlen(WORKING)) == 0;
}

static size_t add_part(struct scaling *scaling, const char *label)
{
    vec__push(&scaling->parts, &(struct scaling_part){.label = label});
    return scaling->parts.count - 1;
}

/* The part that all of that kind belong to. */
static size_t common_part(struct scaling *scaling, const char *label)
{
    for (size_t i = 0; i < scaling->parts.count; i++)
        if (strcmp(VEC_AT(&scaling->parts, struct scaling_part, i)->label, label) == 0)
            return i;
    return add_part(scaling, label);
}

static void make_parts(struct scaling *scaling, struct part_table *table)
{
    VEC_EACH (name, &table->names, struct part_name) {
        size_t place = (size_t)(name - (struct part_name *)table->names.items);
        bool is_other_work = is_work(name) && (strcmp(name->key, WORKING) == 0 ||
                                               !is_everywhere(scaling, table, place));
        name->place = is_other_work    ? common_part(scaling, OTHER_WORK)
                      : name->is_large ? add_part(scaling, name->label)
                                       : common_part(scaling, ALL_ELSE);
    }
}

static double part_in(const struct part_table *table, const struct sweep_run *run, size_t part)
{
    double sum = 0;
    for (size_t i = 0; i < table->names.count; i++)
        if (VEC_AT(&table->names, struct part_name, i)->place == part)
            sum += table->ns[place_of(table, run) + i];
    return sum;
}

static void fill_part(const struct scaling *scaling, const struct part_table *table, size_t place)
{
    struct scaling_part *part = VEC_AT(&scaling->parts, struct scaling_part, place);
    struct vec samples = VEC_OF(struct law_sample);
    part->ns = memory__zeroed(scaling->counts.count, sizeof *part->ns);
    for (size_t i = 0; i < scaling->counts.count; i++) {
        double shares = 0;
        size_t runs = 0;
        const struct scaling_count *count = count_at(scaling, i), *at;
        VEC_EACH (run, table->runs, struct sweep_run) {
            if (!has_rows(scaling, table->runs, run, &at) || at != count)
                continue;
            double ns = part_in(table, run, place);
            shares += ns * count->told_ns / count->wall_ns / (double)run->figures->wall_ns;
            runs++;
            if (count->is_used)
                vec__push(&samples, &(struct law_sample){count->count, ns, count->wall_ns});
        }
        part->ns[i] = runs ? shares / (double)runs * count->wall_ns : NAN;
    }
    part->law = law__of(&samples);
    vec__free(&samples);
}

/* ---- ahead ----------------------------------------------------------------------------------- */

static double cost_of(const struct scaling *scaling, const struct scaling_part *part, double ns,
                      double count)
{
    return ns - part->ns[scaling->first] * count_at(scaling, scaling->first)->count / count;
}

static void look_ahead(const struct scaling *scaling, struct scaling_part *part)
{
    double now = part->ns[scaling->last];
    for (size_t i = 0; i < SCALING_AHEAD; i++) {
        part->ahead[i] = part->law.refusal == LAW_FEW ? (struct law_interval){now, NAN, NAN}
                                                      : law__ns(&part->law, scaling->ahead[i]);
        part->cost_ns[i] = cost_of(scaling, part, part->ahead[i].value, scaling->ahead[i]);
    }
}

static struct law_interval sum_ahead(const struct scaling *scaling, size_t ahead)
{
    struct law_interval sum = {0, NAN, NAN};
    VEC_EACH (part, &scaling->parts, struct scaling_part)
        sum.value += part->ahead[ahead].value;
    return scaling->parts.count ? sum : (struct law_interval){NAN, NAN, NAN};
}

/* Of a program whose runs differ too much, or that no law fits, parts may still tell. */
static void look_ahead_of_whole(struct scaling *scaling)
{
    scaling->is_of_parts = scaling->law.kind == LAW_NONE;
    bool is_told = scaling->law.refusal != LAW_FEW && scaling->law.refusal != LAW_NOISE;
    for (size_t i = 0; i < SCALING_AHEAD; i++)
        scaling->whole_ahead[i] = !scaling->is_of_parts ? law__ns(&scaling->law, scaling->ahead[i])
                                  : is_told             ? sum_ahead(scaling, i)
                                                        : (struct law_interval){NAN, NAN, NAN};
}

static double order_of(const struct scaling_part *part)
{
    double cost = part->cost_ns[0];
    return isnan(cost) ? -INFINITY : cost;
}

static int by_cost(const void *left, const void *right)
{
    const struct scaling_part *one = left, *other = right;
    int order = ORDER(order_of(other), order_of(one));
    return order ? order : strcmp(one->label, other->label);
}

struct scaling scaling__of(const struct vec *runs)
{
    struct scaling scaling = {.axis = axis_of(runs),
                              .counts = VEC_OF(struct scaling_count),
                              .parts = VEC_OF(struct scaling_part)};
    struct part_table table = {.runs = runs, .names = VEC_OF(struct part_name)};
    add_counts(&scaling, runs);
    fill_counts(&scaling, runs);
    scaling.law = law_of_whole(&scaling, runs, INFINITY);
    hold_out(&scaling, runs);
    bool is_any = scaling.last != SIZE_MAX;
    for (size_t i = 0; i < SCALING_AHEAD; i++)
        scaling.ahead[i] = is_any ? count_at(&scaling, scaling.last)->count * (2u << i) : NAN;
    find_names(&table);
    fill_table(&scaling, &table);
    if (is_any)
        make_parts(&scaling, &table);
    for (size_t i = 0; i < scaling.parts.count; i++) {
        fill_part(&scaling, &table, i);
        look_ahead(&scaling, VEC_AT(&scaling.parts, struct scaling_part, i));
    }
    look_ahead_of_whole(&scaling);
    vec__sort(&scaling.parts, by_cost);
    free(table.ns);
    map__free(&table.keys);
    vec__free(&table.names);
    return scaling;
}

void scaling__free(struct scaling *scaling)
{
    VEC_EACH (part, &scaling->parts, struct scaling_part)
        free(part->ns);
    vec__free(&scaling->parts);
    vec__free(&scaling->counts);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

double scaling__speedup(const struct scaling *scaling, const struct scaling_count *count)
{
    return scaling->first == SIZE_MAX ? NAN
                                      : count_at(scaling, scaling->first)->wall_ns / count->wall_ns;
}

double scaling__cpu_growth(const struct scaling *scaling)
{
    return scaling->first == SIZE_MAX ? NAN
                                      : count_at(scaling, scaling->last)->cpu_ns /
                                            count_at(scaling, scaling->first)->cpu_ns;
}

double scaling__efficiency(const struct scaling *scaling, const struct scaling_count *count)
{
    return scaling->first == SIZE_MAX ? NAN
                                      : scaling__speedup(scaling, count) *
                                            count_at(scaling, scaling->first)->count / count->count;
}

/* What is not known stays so. */
static double at_most(double value, double most)
{
    return value > most ? most : value;
}

struct law_interval scaling__speedup_ahead(const struct scaling *scaling, size_t ahead)
{
    const struct law_interval *ns = &scaling->whole_ahead[ahead];
    if (scaling->first == SIZE_MAX)
        return (struct law_interval){NAN, NAN, NAN};
    double first_ns = count_at(scaling, scaling->first)->wall_ns;
    double most = scaling->ahead[ahead] / count_at(scaling, scaling->first)->count;
    return (struct law_interval){at_most(first_ns / ns->value, most),
                                 at_most(first_ns / ns->high, most),
                                 at_most(first_ns / ns->low, most)};
}

/* As rows say it of a run, and of a region. */
static bool is_want_of_cpu(const struct scaling_part *part)
{
    return strstr(part->label, "wanted a CPU") || strstr(part->label, "wanting a CPU");
}

const struct scaling_part *scaling__limit(const struct scaling *scaling)
{
    VEC_EACH (part, &scaling->parts, struct scaling_part) {
        bool is_large =
            part->cost_ns[0] > 0 && part->cost_ns[0] >= LIMIT_FROM * scaling->whole_ahead[0].value;
        bool is_of_others = scaling->others > 0 && is_want_of_cpu(part);
        if (is_large && !is_of_others)
            return part;
    }
    return NULL;
}
