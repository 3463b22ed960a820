/* heurt structure --interesting on a screen: where in the program, then one by one. */
#include "base/memory.h"
#include "present/outliers/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LEVELS 3      /* of a point's path that the list shows */
#define WHY_FROM_SHARE 0.1 /* of what a point took */

static const char *mark(const struct style *style)
{
    return style->unicode ? "…" : "...";
}

/* ---- where in the program -------------------------------------------------------------------- */

/* A path with the points in it, and those in what is inside of it. */
struct point_sum {
    uint64_t own, own_lost, longest;
    uint64_t points, lost;
};

static struct point_sum *sum_paths(const struct points_report *shown)
{
    size_t count = shown->found->paths.count;
    struct point_sum *sums = memory__zeroed(count, sizeof *sums);
    VEC_EACH (point, &shown->found->points, const struct point) {
        struct point_sum *sum = &sums[point->path];
        if (point->reason == POINT_RARE)
            continue;
        sum->own++;
        sum->own_lost += point->lost_ns;
        sum->longest = point->took_ns > sum->longest ? point->took_ns : sum->longest;
    }
    for (size_t i = count; i-- > 0;) { /* an outer one stands before those in it */
        sums[i].points += sums[i].own;
        sums[i].lost += sums[i].own_lost;
        uint32_t outer = points__path(shown, (uint32_t)i)->outer;
        if (i) {
            sums[outer].points += sums[i].points;
            sums[outer].lost += sums[i].lost;
        }
    }
    return sums;
}

struct tree {
    const struct points_report *shown;
    const struct style *style;
    const struct point_sum *sums;
    struct grid grid;
};

static void put_path(struct tree *tree, uint32_t path, unsigned depth)
{
    const struct points_report *shown = tree->shown;
    const struct point_sum *sum = &tree->sums[path];
    const struct class_definition *place = points__place(shown, points__path(shown, path)->place);
    char unknown[32],
        *name = place ? function__short(place->at.function) : memory__text("(outside)");
    char *clean = text__for_screen(name);
    grid__cell(&tree->grid, memory__format("%*s%s", (int)(2 * depth), "", clean), INK_PLAIN);
    grid__count(&tree->grid, sum->points);
    grid__duration(&tree->grid, sum->lost);
    if (sum->own)
        grid__duration(&tree->grid, sum->longest);
    else
        grid__cell(&tree->grid, memory__text(""), INK_PLAIN);
    struct place where = {.function = ""};
    if (place)
        where = place__of_class(shown->report, place, unknown);
    grid__take(&tree->grid, place ? place__source(&where, false) : memory__text(""), INK_DIM);
    free(clean);
    free(name);
}

static int by_lost(const void *left, const void *right, void *sums)
{
    const struct point_sum *a = (struct point_sum *)sums + *(const uint32_t *)left;
    const struct point_sum *b = (struct point_sum *)sums + *(const uint32_t *)right;
    return (a->lost < b->lost) - (a->lost > b->lost);
}

/* Those just inside of the path that hold points, what lost most first. uint32_t. */
static struct vec inner_paths(const struct tree *tree, uint32_t path)
{
    struct vec inner = VEC_OF(uint32_t);
    for (uint32_t i = path + 1; i < tree->shown->found->paths.count; i++)
        if (points__path(tree->shown, i)->outer == path && tree->sums[i].points)
            vec__push(&inner, &i);
    if (inner.count)
        qsort_r(inner.items, inner.count, sizeof(uint32_t), by_lost, (void *)tree->sums);
    return inner;
}

static void put_paths_in(struct tree *tree, uint32_t path, unsigned depth)
{
    struct vec inner = inner_paths(tree, path);
    VEC_EACH (one, &inner, const uint32_t) {
        put_path(tree, *one, depth);
        put_paths_in(tree, *one, depth + 1);
    }
    vec__free(&inner);
}

static void put_tree(const struct points_report *shown, const struct style *style, FILE *out)
{
    static const struct grid_column columns[] = {
        {"where", LEFT}, {"places", RIGHT}, {"lost", RIGHT}, {"longest", RIGHT}, {"", WRAPPED},
    };
    struct point_sum *sums = sum_paths(shown);
    struct tree tree = {shown, style, sums, grid__start(columns, 5, 2)};
    if (sums[0].own) {
        sums[0].points = sums[0].own;
        sums[0].lost = sums[0].own_lost;
        put_path(&tree, 0, 0);
    }
    put_paths_in(&tree, 0, 0);
    fputc('\n', out);
    grid__end(&tree.grid, style, out);
    free(sums);
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* "disk 80 %, running 20 %": what takes the most of it first. free() it. */
static char *why_text(const struct point *point)
{
    char *text = memory__text(""), share[16];
    uint64_t left[COMPONENTS];
    memcpy(left, point->component_ns, sizeof left);
    for (;;) {
        unsigned most = 0;
        for (unsigned i = 1; i < COMPONENTS; i++)
            if (left[i] > left[most])
                most = i;
        double part = point->took_ns ? (double)left[most] / (double)point->took_ns : 0;
        if (part < WHY_FROM_SHARE)
            return text;
        char *longer = memory__format("%s%s%s %s", text, *text ? ", " : "", component__words(most),
                                      share__format(part, share));
        free(text);
        text = longer;
        left[most] = 0;
    }
}

/* free() it; NULL: there is none. */
static char *name_of(const struct points_report *shown, uint32_t place)
{
    const struct class_definition *class = points__place(shown, place);
    return class ? function__short(class->at.function) : NULL;
}

/* "iterate > sweep, between read and write". free() it. */
static char *what_text(const struct points_report *shown, const struct point *point,
                       const struct style *style)
{
    char *previous = name_of(shown, point->previous), *next = name_of(shown, point->next), *text;
    char *path = points__path_text(shown, point->path, PATH_LEVELS, mark(style));
    if (previous && next)
        text = memory__format("%s, between %s and %s", path, previous, next);
    else if (previous || next)
        text = memory__format("%s, %s %s", path, previous ? "after" : "before",
                              previous ? previous : next);
    else
        text = memory__format("%s%s", path, point->reason == POINT_WHOLE ? ", as a whole" : "");
    free(path);
    free(previous);
    free(next);
    return text;
}

#define WIDE_FROM_COLUMNS 112 /* a narrower terminal shows less of each */

static bool is_wide(const struct style *style)
{
    return !style->columns || style->columns >= WIDE_FROM_COLUMNS;
}

static void put_usual(struct grid *grid, const struct point *point)
{
    if (point->reason == POINT_RARE)
        grid__cell(grid, memory__text(""), INK_PLAIN);
    else
        grid__duration(grid, point->usual_ns);
}

static void put_point(struct grid *grid, const struct points_report *shown,
                      const struct point *point, const struct style *style)
{
    uint64_t ns = point->start_ns;
    const struct trace_thread *thread = points__thread(shown, point);
    const char *name = is_wide(style) ? thread->name : "";
    grid__duration(grid, point->lost_ns);
    if (is_wide(style))
        grid__duration(grid, point->took_ns);
    put_usual(grid, point);
    grid__cell(grid,
               memory__format("%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000),
               INK_PLAIN);
    grid__take(grid, memory__format("%s%s#%" PRIu32, name, *name ? " " : "", thread->tid),
               INK_PLAIN);
    grid__take(grid, what_text(shown, point, style), INK_PLAIN);
    grid__take(grid, why_text(point), INK_DIM);
}

static const struct grid_column wide_columns[] = {
    {"lost", RIGHT},  {"took", RIGHT},   {"usually", RIGHT}, {"at (s)", RIGHT},
    {"thread", LEFT}, {"what", WRAPPED}, {"why", WRAPPED},
};
static const struct grid_column narrow_columns[] = {
    {"lost", RIGHT},  {"usually", RIGHT}, {"at (s)", RIGHT},
    {"thread", LEFT}, {"what", WRAPPED},  {"why", WRAPPED},
};

/* Those from first to before end. */
static void put_list(const struct points_report *shown, size_t first, size_t end,
                     const struct style *style, FILE *out)
{
    size_t most = shown->rows_at_most, shown_end = end - first > most ? first + most : end;
    struct grid grid =
        is_wide(style) ? grid__start(wide_columns, 7, 2) : grid__start(narrow_columns, 6, 2);
    for (size_t i = first; i < shown_end; i++)
        put_point(&grid, shown, points__at(shown, i), style);
    if (shown_end < end)
        grid__note(&grid,
                   memory__format("%s %zu more (--all shows them)", mark(style), end - shown_end));
    grid__end(&grid, style, out);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static size_t first_rare(const struct points_report *shown)
{
    size_t first = 0;
    while (first < shown->found->points.count && points__at(shown, first)->reason != POINT_RARE)
        first++;
    return first;
}

static void put_header(const struct points_report *shown, const struct style *style, FILE *out)
{
    char wall[16];
    struct flow flow = flow__start(style, out, 2);
    flow__take(&flow, report__title(shown->report, style), INK_BOLD, 3);
    flow__take(
        &flow,
        memory__format("took %s", duration__format(trace__wall_ns(shown->report->trace), wall)),
        INK_PLAIN, 3);
    flow__take(&flow, memory__text(shown->report->directory), INK_PLAIN, 3);
    flow__end(&flow);
}

/* free() it. */
static char *sentence(const struct points_report *shown, size_t with_like)
{
    char events[32], kept[16], lost[16];
    const struct stand_out *found = shown->found;
    uint64_t lost_ns = 0;
    for (size_t i = 0; i < with_like; i++)
        lost_ns += points__at(shown, i)->lost_ns;
    double share = found->events ? (double)found->kept_events / (double)found->events : 0;
    count__format(found->events, events);
    if (!with_like)
        return memory__format("No outliers (%s events).", events);
    return memory__format(
        "%zu outlier%s lost %s. With what is around %s that is %s of the %s events (heurt export "
        "--interesting).",
        with_like, with_like == 1 ? "" : "s", duration__format(lost_ns, lost),
        with_like == 1 ? "it" : "them", share__format(share, kept), events);
}

static void put_text(const struct points_report *shown, const struct style *style, FILE *out)
{
    size_t rare = first_rare(shown), all = shown->found->points.count;
    put_header(shown, style, out);
    fputc('\n', out);
    paragraph__take(style, out, "  ", sentence(shown, rare));
    if (rare) {
        put_tree(shown, style, out);
        fputc('\n', out);
        put_list(shown, 0, rare, style, out);
    }
    if (rare < all) {
        heading__put(style, out, "rare but long (too few to compare)");
        put_list(shown, rare, all, style, out);
    }
    if (!shown->found->left_out)
        return;
    fputc('\n', out);
    paragraph__take(style, out, "  ",
                    memory__format("%" PRIu64 " more outliers lost less than any of these; "
                                   "they are left out.",
                                   shown->found->left_out));
}

const struct points_presenter points_text = {"text", put_text};
