/* How a program scales, on a screen. */
#include "base/memory.h"
#include "present/scaling/scaling_screens.h"
#include "present/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS_MOST 12
#define PARTS_MOST 8
#define PART_FROM 0.01 /* of the run, now or ahead */
#define LABEL_COLUMNS 26
#define CELL_COLUMNS 10

/* Which counts a screen has room for: the first ones, and the last. */
struct shown_counts {
    size_t places[COUNTS_MOST], count;
    char *titles[COUNTS_MOST + 2];
    struct grid_column columns[COUNTS_MOST + 3];
    size_t column_count;
    bool has_ahead;
};

static const struct scaling_count *count_at(const struct scaling *scaling, size_t place)
{
    return VEC_AT(&scaling->counts, struct scaling_count, place);
}

static void add_title(struct shown_counts *shown, char *title)
{
    size_t place = shown->column_count - 1;
    shown->titles[place] = title;
    shown->columns[shown->column_count++] = (struct grid_column){title, RIGHT};
}

static void choose_counts(const struct scaling_view *view, const struct style *style,
                          struct shown_counts *shown)
{
    const struct scaling *scaling = view->scaling;
    unsigned columns = style->columns ? style->columns : 200;
    size_t room = columns > LABEL_COLUMNS ? (columns - LABEL_COLUMNS) / CELL_COLUMNS : 2;
    room = room > 4 ? room - 2 : 2;
    room = room > COUNTS_MOST ? COUNTS_MOST : room;
    for (size_t i = 0; i < scaling->counts.count; i++)
        if (shown->count + 1 < room || i + 1 == scaling->counts.count)
            shown->places[shown->count++] = i;
    shown->columns[shown->column_count++] = (struct grid_column){"", WRAPPED};
    for (size_t i = 0; i < shown->count; i++) {
        const struct scaling_count *count = count_at(scaling, shown->places[i]);
        char *text = i ? memory__format("%.0f", count->count)
                       : scaling__count_text(scaling->axis, count->count);
        bool is_marked = count->is_crowded && scaling->axis == SCALING_THREADS;
        add_title(shown, text__append(text, "%s", is_marked ? "*" : ""));
    }
    shown->has_ahead = scaling->parts.count && !view->seen && !isnan(scaling->whole_ahead[0].value);
    if (!shown->has_ahead)
        return;
    add_title(shown, memory__format("at %.0f", scaling->ahead[0]));
    add_title(shown, memory__text("costs there"));
}

static void shown_counts__free(struct shown_counts *shown)
{
    for (size_t i = 0; i + 1 < shown->column_count; i++)
        free(shown->titles[i]);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_nothing(struct grid *grid)
{
    grid__cell(grid, memory__text(""), INK_PLAIN);
}

static void put_ns(struct grid *grid, double ns, const char *mark)
{
    char text[16];
    if (isnan(ns) || ns < 0.5)
        grid__cell(grid, memory__text(isnan(ns) ? "" : "0"), INK_PLAIN);
    else
        grid__cell(grid,
                   memory__format("%s%s", mark, duration__format((uint64_t)fmax(ns, 0), text)),
                   INK_PLAIN);
}

static void put_line(struct grid *grid, const struct scaling_view *view,
                     const struct shown_counts *shown, const char *label,
                     char *(*cell)(const struct scaling *, const struct scaling_count *))
{
    grid__cell(grid, memory__text(label), INK_DIM);
    for (size_t i = 0; i < shown->count; i++)
        grid__cell(grid, cell(view->scaling, count_at(view->scaling, shown->places[i])), INK_DIM);
    for (size_t i = shown->count + 1; i < shown->column_count; i++)
        put_nothing(grid);
}

static char *speedup_cell(const struct scaling *scaling, const struct scaling_count *count)
{
    double speedup = scaling__speedup(scaling, count);
    return isnan(speedup) ? memory__text("") : memory__format("%.2f", speedup);
}

static char *efficiency_cell(const struct scaling *scaling, const struct scaling_count *count)
{
    char text[16];
    double efficiency = scaling__efficiency(scaling, count);
    return memory__text(isnan(efficiency) || !count->is_used ? ""
                                                             : share__format(efficiency, text));
}

static char *cpu_cell(const struct scaling *scaling, const struct scaling_count *count)
{
    char text[16];
    (void)scaling;
    return memory__text(isnan(count->cpu_ns) ? ""
                                             : duration__format((uint64_t)count->cpu_ns, text));
}

static char *at_work_cell(const struct scaling *scaling, const struct scaling_count *count)
{
    (void)scaling;
    return isnan(count->at_work) ? memory__text("") : memory__format("%.2f", count->at_work);
}

static char *alone_cell(const struct scaling *scaling, const struct scaling_count *count)
{
    char text[16];
    (void)scaling;
    return memory__text(isnan(count->alone_share) ? "" : share__format(count->alone_share, text));
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put_whole(struct grid *grid, const struct scaling_view *view,
                      const struct shown_counts *shown)
{
    const struct scaling *scaling = view->scaling;
    grid__cell(grid, memory__text("the whole run"), INK_BOLD);
    for (size_t i = 0; i < shown->count; i++)
        put_ns(grid, count_at(scaling, shown->places[i])->wall_ns, "");
    if (shown->has_ahead) {
        const struct law_interval *ahead = &scaling->whole_ahead[0];
        const struct scaling_count *first = count_at(scaling, scaling->first);
        put_ns(grid, ahead->value, scaling->is_of_parts || !scaling->law.is_tested ? "~" : "");
        put_ns(grid, ahead->value - first->wall_ns * first->count / scaling->ahead[0], "");
    }
    put_line(grid, view, shown, "  times as fast", speedup_cell);
    put_line(grid, view, shown, "  efficiency", efficiency_cell);
    put_line(grid, view, shown, "  CPU time", cpu_cell);
    put_line(grid, view, shown, "  threads at work", at_work_cell);
    put_line(grid, view, shown, "  one alone at work", alone_cell);
}

/* The larger of what it costs ahead and what it takes at some count, as a part of the run there. */
static double weight_of(const struct scaling *scaling, const struct scaling_part *part)
{
    double weight = part->cost_ns[0] / scaling->whole_ahead[0].value;
    weight = isnan(weight) ? 0 : weight;
    for (size_t i = 0; i < scaling->counts.count; i++)
        weight = fmax(weight, part->ns[i] / count_at(scaling, i)->wall_ns);
    return strcmp(part->label, "all else") == 0 ? 0 : weight;
}

/* So heavy a part has a line. */
static double least_weight(const struct scaling *scaling)
{
    double least = PART_FROM;
    VEC_EACH (part, &scaling->parts, struct scaling_part) {
        size_t heavier = 0;
        double weight = weight_of(scaling, part);
        VEC_EACH (other, &scaling->parts, struct scaling_part)
            heavier += weight_of(scaling, other) > weight;
        if (heavier >= PARTS_MOST)
            least = fmax(least, nextafter(weight, INFINITY));
    }
    return least;
}

static void put_part(struct grid *grid, const struct shown_counts *shown,
                     const struct scaling_part *part)
{
    grid__take(grid, memory__text(part->label), INK_PLAIN);
    for (size_t i = 0; i < shown->count; i++)
        put_ns(grid, part->ns[shown->places[i]], "");
    if (!shown->has_ahead)
        return;
    bool is_guess = part->law.kind == LAW_NONE || !part->law.is_tested;
    put_ns(grid, part->ahead[0].value, is_guess ? "~" : "");
    put_ns(grid, part->cost_ns[0], "");
}

/* Where laws are of. */
static bool is_there(const struct scaling *scaling, const struct scaling_part *part)
{
    for (size_t i = 0; i < scaling->counts.count; i++)
        if (count_at(scaling, i)->is_used && part->ns[i] > 0)
            return true;
    return false;
}

static void put_law(struct grid *grid, const struct scaling_view *view,
                    const struct scaling_part *part)
{
    char *law = law__text(&part->law, view->scaling->axis);
    grid__below(grid, text__for_screen(law));
    free(law);
}

/* Of those that have no line of their own. */
static void put_rest(struct grid *grid, const struct shown_counts *shown, const struct vec *rest)
{
    double sums[COUNTS_MOST] = {0}, ahead = 0, cost = 0;
    VEC_EACH (part, rest, const struct scaling_part *) {
        for (size_t i = 0; i < shown->count; i++)
            sums[i] += (*part)->ns[shown->places[i]];
        ahead += (*part)->ahead[0].value;
        cost += (*part)->cost_ns[0];
    }
    if (!rest->count)
        return;
    grid__cell(grid, memory__text("all else"), INK_DIM);
    for (size_t i = 0; i < shown->count; i++)
        put_ns(grid, sums[i], "");
    if (!shown->has_ahead)
        return;
    put_ns(grid, ahead, "~");
    put_ns(grid, cost, "");
}

static void put_parts(struct grid *grid, const struct scaling_view *view,
                      const struct shown_counts *shown)
{
    struct vec rest = VEC_OF(const struct scaling_part *);
    double least = least_weight(view->scaling);
    VEC_EACH (part, &view->scaling->parts, struct scaling_part) {
        if (weight_of(view->scaling, part) < least) {
            const struct scaling_part *one = part;
            vec__push(&rest, &one);
            continue;
        }
        put_part(grid, shown, part);
        if (shown->has_ahead && is_there(view->scaling, part))
            put_law(grid, view, part);
    }
    put_rest(grid, shown, &rest);
    vec__free(&rest);
}

static void put_table(const struct scaling_view *view, const struct style *style, FILE *out)
{
    struct shown_counts shown = {.count = 0};
    if (!view->scaling->counts.count)
        return;
    choose_counts(view, style, &shown);
    struct grid grid = grid__start(shown.columns, shown.column_count, 2);
    put_whole(&grid, view, &shown);
    put_parts(&grid, view, &shown);
    grid__end(&grid, style, out);
    shown_counts__free(&shown);
    fputc('\n', out);
}

/* ---- speed-up loss --------------------------------------------------------------------------- */

static void put_real(struct grid *grid, double value, const char *form)
{
    char text[32];
    snprintf(text, sizeof text, form, value);
    grid__cell(grid, memory__text(isnan(value) ? "" : text), INK_PLAIN);
}

static void put_speedup(struct grid *grid, const struct speedup_row *row)
{
    bool stands = row->refusal == SPEEDUP_STANDS;
    grid__cell(grid, memory__format("%" PRIu32, row->threads), INK_PLAIN);
    grid__cell(grid, memory__format("%" PRIu32, row->cpus), INK_PLAIN);
    put_ns(grid, row->cpu_ns, "");
    put_real(grid, stands ? 100 * row->omega : NAN, "%+.1f %%");
    put_real(grid, row->at_work, "%.2f");
    put_real(grid, stands ? row->speedup : NAN, "%.2f");
    put_real(grid, stands ? row->inflated : NAN, "%+.2f");
    put_real(grid, row->waiting - row->no_cpu, "%.2f");
    put_real(grid, row->no_cpu, "%.0f");
    char *refusal = speedup_row__refusal(row);
    if (refusal)
        grid__below(grid, memory__format("not divided: %s", refusal));
    free(refusal);
}

static void put_speedups(const struct scaling_view *view, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"threads", RIGHT},        {"CPUs", RIGHT},    {"CPU time", RIGHT},
        {"inflation", RIGHT},      {"at work", RIGHT}, {"speed-up", RIGHT},
        {"lost: inflated", RIGHT}, {"waiting", RIGHT}, {"no CPU", RIGHT}};
    if (!view->speedups->count)
        return;
    paragraph__put(style, out, INK_PLAIN, "  ",
                   "Where the speed-up goes (Tudor and Teo): threads = speed-up + lost because the "
                   "same work takes more CPU time (work inflation) + lost while threads wait + "
                   "threads without a CPU.");
    struct grid grid = grid__start(columns, sizeof columns / sizeof *columns, 2);
    VEC_EACH (row, view->speedups, struct speedup_row)
        put_speedup(&grid, row);
    grid__end(&grid, style, out);
    fputc('\n', out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* "3 runs each, and 3 recorded" of the count that has fewest. */
static char *runs_text(const struct scaling *scaling)
{
    size_t alone = SIZE_MAX, recorded = SIZE_MAX;
    VEC_EACH (count, &scaling->counts, struct scaling_count) {
        alone = count->alone < alone ? count->alone : alone;
        recorded = count->recorded < recorded ? count->recorded : recorded;
    }
    if (!scaling->counts.count)
        return memory__text("no runs");
    return memory__format("%zu run%s each alone, %zu recorded", alone, alone == 1 ? "" : "s",
                          recorded);
}

static void put_head(const struct scaling_view *view, const struct style *style, FILE *out)
{
    struct flow flow = flow__start(style, out, 2);
    const char *slash = memrchr(view->command, '/', strcspn(view->command, " "));
    flow__take(&flow, memory__text(slash ? slash + 1 : view->command), INK_BOLD, 3);
    char *runs = runs_text(view->scaling);
    flow__take(
        &flow,
        memory__format("%s, on %" PRIu32 " CPU%s", runs, view->cpus, view->cpus == 1 ? "" : "s"),
        INK_PLAIN, 3);
    free(runs);
    flow__end(&flow);
}

static void put_more(const struct scaling_view *view, const struct style *style, FILE *out)
{
    char *try = scaling__try(view);
    if (try)
        paragraph__take(style, out, "  To try: ", try);
    if (!view->trace)
        return;
    paragraph__take(style, out, "  More: ",
                    memory__format("heurt report -i %s · heurt %s -i %s", view->trace,
                                   view->is_openmp ? "openmp" : "locks", view->trace));
}

void scaling__put_text(const struct scaling_view *view, const struct style *style, FILE *out)
{
    struct vec notes = scaling__notes(view);
    put_head(view, style, out);
    fputc('\n', out);
    char *sentence = scaling__sentence(view);
    char *clean = text__for_screen(sentence);
    paragraph__put(style, out, INK_BOLD, "  ", clean);
    free(clean);
    free(sentence);
    fputc('\n', out);
    put_table(view, style, out);
    put_speedups(view, style, out);
    VEC_EACH (text, &notes, char *)
        paragraph__take(style, out, "  ", memory__text(*text));
    put_more(view, style, out);
    texts__free(&notes);
}
