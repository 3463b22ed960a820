/* Whether the parts of the ledger add up to the whole, shown as identities with both sides. */
#include "base/memory.h"
#include "present/shared.h"

#include <inttypes.h>
#include <stdlib.h>

#define CLASSES_AT_MOST 15

/* ---- the identities -------------------------------------------------------------------------- */

/* An identity: of each class (then wrong counts classes, and the sides are sums over all), or of
 * the whole. */
struct identity_check {
    const char *name, *left_name, *right_name, *unit;
    uint64_t left, right;
    uint64_t wrong;
    bool of_classes;
    bool is_estimate; /* of sampled occurrences: it need not hold */
};

#define CHECKS 5

static uint64_t sum_of_components(const struct accumulator *accumulator)
{
    uint64_t sum = 0;
    for (int c = 0; c < COMPONENTS; c++)
        sum += (uint64_t)accumulator__component_excess(accumulator, (enum component)c);
    return sum;
}

static uint64_t excess_of(const struct accumulator *accumulator)
{
    return accumulator__excess(accumulator, accumulator->minimum);
}

/* Sums over all classes. Unsigned: what a damaged trace makes of them may overflow. */
struct identity_sums {
    uint64_t components, threads, excess_ns, reasons_ns;
};

static struct identity_sums sums_of(const struct report *report)
{
    struct identity_sums sums = {0};
    VEC_EACH (class, &report->profile->classes, struct profile_class) {
        sums.components += sum_of_components(class->accumulator);
        sums.threads += class->thread_excess;
        sums.excess_ns += class->excess_ns;
        for (int c = 0; c < REASONS; c++)
            sums.reasons_ns += (uint64_t) class->why_ns[c];
    }
    return sums;
}

static void fill_checks(const struct report *report, struct identity_check checks[CHECKS])
{
    const struct profile_audit *audit = &report->profile->audit;
    struct identity_sums sums = sums_of(report);
    bool sampled = audit->sampled_classes > 0;
    checks[0] =
        (struct identity_check){"components",  "lost",          "sum of its components", "ticks",
                                audit->excess, sums.components, audit->wrong_components, true,
                                false};
    checks[1] = (struct identity_check){"reasons",      "lost",          "sum of its reasons", "ns",
                                        sums.excess_ns, sums.reasons_ns, audit->wrong_reasons, true,
                                        false};
    checks[2] = (struct identity_check){
        "threads",     "lost",       "sum of what its threads lost", "ticks",
        audit->excess, sums.threads, audit->wrong_threads,           true,
        false};
    checks[3] = (struct identity_check){"exclusive", "time covered", "sum of exclusive times",
                                        "ticks",     audit->covered, audit->own_sum,
                                        0,           false,          sampled};
    checks[4] = (struct identity_check){"exclusive_excess",
                                        "sum of exclusive times, less the least possible",
                                        "sum of the exclusive excesses",
                                        "ticks",
                                        audit->own_sum - audit->own_least,
                                        audit->own_excess,
                                        0,
                                        false,
                                        false};
}

static bool check__is_exact(const struct identity_check *check)
{
    return check->left == check->right && check->wrong == 0;
}

bool report__adds_up(const struct report *report)
{
    struct identity_check checks[CHECKS];
    fill_checks(report, checks);
    for (int i = 0; i < CHECKS; i++)
        if (!checks[i].is_estimate && !check__is_exact(&checks[i]))
            return false;
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static char *difference(uint64_t left, uint64_t right)
{
    char number[32];
    if (left == right)
        return memory__text("exact");
    return memory__format("off by %s%s", left < right ? "-" : "",
                          count__format(left < right ? right - left : left - right, number));
}

static char *result(const struct identity_check *check, uint64_t classes)
{
    char wrong[32], all[32];
    count__format(classes, all);
    if (check->wrong)
        return memory__format("off in %s of %s classes", count__format(check->wrong, wrong), all);
    char *text = difference(check->left, check->right);
    if (check__is_exact(check) && !check->of_classes)
        return text;
    char *longer = check__is_exact(check)
                       ? memory__format("exact, in all %s classes", all)
                       : memory__format("%s%s", text, check->is_estimate ? " (estimates)" : "");
    free(text);
    return longer;
}

static void put_checks(const struct report *report, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"this", WRAPPED}, {"", RIGHT}, {"must be this", WRAPPED}, {"", RIGHT}, {"", WRAPPED}};
    struct identity_check checks[CHECKS];
    fill_checks(report, checks);
    struct grid grid = grid__start(columns, 5, 2);
    for (int i = 0; i < CHECKS; i++) {
        const struct identity_check *check = &checks[i];
        bool wrong = !check__is_exact(check) && !check->is_estimate;
        grid__cell(&grid, memory__format("%s (%s)", check->left_name, check->unit), INK_PLAIN);
        grid__count(&grid, check->left);
        grid__cell(&grid, memory__text(check->right_name), INK_PLAIN);
        grid__count(&grid, check->right);
        grid__cell(&grid, result(check, report->profile->audit.classes),
                   wrong ? INK_ALARM : INK_PLAIN);
    }
    grid__end(&grid, style, out);
}

static int by_excess(const void *left, const void *right)
{
    const struct profile_class *a = *(const struct profile_class *const *)left;
    const struct profile_class *b = *(const struct profile_class *const *)right;
    uint64_t of_a = excess_of(a->accumulator), of_b = excess_of(b->accumulator);
    return ORDER(of_b, of_a) ?: ORDER(a, b);
}

static void put_audited_class(struct grid *grid, const struct report *report,
                              const struct profile_class *class)
{
    char unknown[32];
    struct place place = place__of_class(report, &class->what, unknown);
    uint64_t excess = excess_of(class->accumulator);
    uint64_t components = sum_of_components(class->accumulator);
    char *name = class__name(report, class, &place);
    size_t rank = 1 + (size_t)(class - VEC_AT(&report->profile->classes, struct profile_class, 0));
    grid__cell(grid, memory__format("%zu", rank), INK_PLAIN);
    grid__cell(grid, text__for_screen(name), INK_BOLD);
    grid__cell(grid, text__for_screen(class_kind__name(class->what.at.kind)), INK_PLAIN);
    grid__count(grid, excess);
    grid__count(grid, components);
    grid__cell(grid, difference(excess, components), excess == components ? INK_PLAIN : INK_ALARM);
    free(name);
}

static void put_largest(const struct report *report, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"#", RIGHT},    {"class", WRAPPED},    {"", LEFT},
        {"lost", RIGHT}, {"components", RIGHT}, {"", WRAPPED}};
    const struct vec *classes = &report->profile->classes;
    if (classes->count == 0)
        return;
    const struct profile_class **order = memory__zeroed(classes->count, sizeof(void *));
    for (size_t i = 0; i < classes->count; i++)
        order[i] = VEC_AT(classes, struct profile_class, i);
    qsort(order, classes->count, sizeof(void *), by_excess);
    fputs("\nthe classes that lost the most, in ticks\n", out);
    struct grid grid = grid__start(columns, 6, 2);
    size_t shown = 0;
    for (; shown < classes->count && shown < CLASSES_AT_MOST; shown++)
        put_audited_class(&grid, report, order[shown]);
    if (shown < classes->count)
        grid__note(&grid, memory__format("and %zu more", classes->count - shown));
    grid__end(&grid, style, out);
    free(order);
}

static void put_sampled(const struct report *report, const struct style *style, FILE *out)
{
    uint64_t sampled = report->profile->audit.sampled_classes;
    char number[32];
    if (!sampled)
        return;
    char *text = memory__format(
        "%s class%s sampled: one occurrence stands for several, so that exclusive times are "
        "estimates and need not add up to the time covered.",
        count__format(sampled, number), sampled == 1 ? " is" : "es are");
    paragraph__put(style, out, INK_PLAIN, "  ", text);
    free(text);
}

/* Against what the system counted. */
static void put_system_checks(const struct report *report, FILE *out)
{
    static const char *const names[PROFILE_CHECKS] = {
        [CHECK_RUNNING] = "running time, at most the CPU time",
        [CHECK_LIVES] = "lives of threads, as long as the kernel's",
        [CHECK_FAULT_TIME] = "page faults on a CPU, at most the CPU time in the kernel",
        [CHECK_FAULT_COUNT] = "page faults, at most the system's count",
    };
    char ours[32], counted[32];
    bool any = false;
    for (int i = 0; i < PROFILE_CHECKS; i++) {
        const struct profile_check *check = &report->profile->checks[i];
        bool counts = i == CHECK_FAULT_COUNT;
        if (!check->known)
            continue;
        if (!any)
            fputs("\nagainst what the system counted (to 1 %):\n", out);
        any = true;
        fprintf(out, "  %s: %s of %s, %s\n", names[i],
                counts ? count__format(check->ours, ours) : duration__format(check->ours, ours),
                counts ? count__format(check->counted, counted)
                       : duration__format(check->counted, counted),
                check->holds ? "holds" : "does not hold");
    }
}

void text__audit(const struct report *report, const struct style *style, FILE *out)
{
    bool holds = report__adds_up(report);
    ink__put(style, out, INK_BOLD, "do the parts add up to the whole?");
    fputc('\n', out);
    put_checks(report, style, out);
    put_sampled(report, style, out);
    put_system_checks(report, out);
    put_largest(report, style, out);
    fputc('\n', out);
    if (holds)
        fputs("Everything adds up.\n", out);
    else
        paragraph__put(style, out, INK_ALARM, "",
                       "Not everything adds up: the trace is damaged, or "
                       "this is a defect of heurt.");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void csv__audit(const struct report *report, const struct style *style, FILE *out)
{
    (void)style;
    struct identity_check checks[CHECKS];
    fill_checks(report, checks);
    fputs("check,unit,left,right,wrong_classes,exact,estimate\n", out);
    for (int i = 0; i < CHECKS; i++)
        fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,%d\n", checks[i].name,
                checks[i].unit, checks[i].left, checks[i].right, checks[i].wrong,
                check__is_exact(&checks[i]), checks[i].is_estimate);
}
