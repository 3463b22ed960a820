/* Whether the parts of the ledger add up to the whole, shown as identities with both sides. */
#include "base/memory.h"
#include "present/shared.h"

#include <stdlib.h>

#define CLASSES_AT_MOST 15

/* ---- text ------------------------------------------------------------------------------------ */

static char *difference(uint64_t left, uint64_t right)
{
    char number[32];
    if (left == right)
        return memory__text("exact");
    return memory__format("off by %s%s", left < right ? "-" : "",
                          count__format(left < right ? right - left : left - right, number));
}

static char *result(const struct profile_identity *check, uint64_t classes)
{
    char wrong[32], all[32];
    count__format(classes, all);
    if (check->wrong)
        return memory__format("off in %s of %s classes", count__format(check->wrong, wrong), all);
    char *text = difference(check->left, check->right);
    if (check->is_exact && !check->of_classes)
        return text;
    char *longer = check->is_exact
                       ? memory__format("exact, in all %s classes", all)
                       : memory__format("%s%s", text, check->is_estimate ? " (estimates)" : "");
    free(text);
    return longer;
}

static void put_checks(const struct report *report, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"this", WRAPPED}, {"", RIGHT}, {"must be this", WRAPPED}, {"", RIGHT}, {"", WRAPPED}};
    struct profile_identity checks[PROFILE_IDENTITIES];
    profile__identities(report->profile, checks);
    struct grid grid = grid__start(columns, 5, 2);
    for (int i = 0; i < PROFILE_IDENTITIES; i++) {
        const struct profile_identity *check = &checks[i];
        bool wrong = !check->is_exact && !check->is_estimate;
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
    uint64_t of_a = profile_class__sides(a).excess, of_b = profile_class__sides(b).excess;
    return ORDER(of_b, of_a) ?: ORDER(a, b);
}

static void put_audited_class(struct grid *grid, const struct report *report,
                              const struct profile_class *class)
{
    char unknown[32];
    struct place place = place__of_class(report, &class->what, unknown);
    const struct profile_sides sides = profile_class__sides(class);
    char *name = class__name(report, class, &place);
    size_t rank = 1 + (size_t)(class - VEC_AT(&report->profile->classes, struct profile_class, 0));
    grid__cell(grid, memory__format("%zu", rank), INK_PLAIN);
    grid__cell(grid, text__for_screen(name), INK_BOLD);
    grid__cell(grid, text__for_screen(class_kind__name(class->what.at.kind)), INK_PLAIN);
    grid__count(grid, sides.excess);
    grid__count(grid, sides.components);
    grid__cell(grid, difference(sides.excess, sides.components),
               sides.excess == sides.components ? INK_PLAIN : INK_ALARM);
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
    bool holds = profile__adds_up(report->profile);
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
