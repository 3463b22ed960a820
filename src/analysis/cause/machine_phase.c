#include "analysis/cause/machine_phase.h"

#include "base/map.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICES 64u
#define PLACES_MOST 256u /* CPUs, or threads whose CPUs are not known */
#define LEAST_IN_CELL 4u
#define LEAST_CELLS 16u
#define LEAST_FACTOR 1.03
#define LEAST_CORRELATION 0.7

/* Fastest occurrences by place and slice, then logarithms of what they are times the usual one.
 * NaN: there are not enough. */
struct cells {
    double *factors;
    double usual; /* ticks */
};

struct phases {
    const struct look *looks;
    size_t count;
    uint64_t begin, step;
    struct map places; /* CPU or thread -> place */
    uint64_t recent_key_and_1, recent_place;
    struct cells *cells;
    size_t cell_count;
    double *common; /* by cell: logarithm of the factor by which it was slow; 0: it was not */
};

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64_t place_of(struct phases *phases, const struct occurrence *occurrence)
{
    uint64_t key = occurrence->cpu != UINT16_MAX ? occurrence->cpu : 65536ull + occurrence->thread;
    if (key + 1 == phases->recent_key_and_1)
        return phases->recent_place;
    uint64_t place = map__get(&phases->places, &key, sizeof key);
    if (place == MAP_ABSENT && phases->places.count < PLACES_MOST)
        place = map__put(&phases->places, &key, sizeof key, phases->places.count);
    phases->recent_key_and_1 = key + 1;
    return phases->recent_place = place;
}

/* SIZE_MAX: in none. */
static size_t cell_of(struct phases *phases, const struct occurrence *occurrence)
{
    uint64_t place = place_of(phases, occurrence);
    uint64_t from = occurrence->start > phases->begin ? occurrence->start - phases->begin : 0;
    uint64_t slice = from / phases->step;
    if (place == MAP_ABSENT)
        return SIZE_MAX;
    return (size_t)(place * SLICES + (slice < SLICES ? slice : SLICES - 1));
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Of the fastest ones of its cells, the one of which a quarter is not slower. */
static double usual_of(const double *fastest, size_t cell_count)
{
    double *sorted = memory__zeroed(cell_count, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < cell_count; i++) {
        if (!isnan(fastest[i]))
            sorted[count++] = fastest[i];
    }
    qsort(sorted, count, sizeof *sorted, by_size);
    double usual = count ? sorted[count / 4] : 0;
    free(sorted);
    return usual;
}

static void fill_cells(struct phases *phases, size_t number)
{
    const struct look *look = &phases->looks[number];
    struct cells *cells = &phases->cells[number];
    unsigned *counts = memory__zeroed(phases->cell_count, sizeof *counts);
    cells->factors = memory__zeroed(phases->cell_count, sizeof *cells->factors);
    for (size_t i = 0; i < look->count; i++) {
        size_t cell = cell_of(phases, look->items[i]);
        if (cell == SIZE_MAX)
            continue;
        if (!counts[cell]++ || look->left[i] < cells->factors[cell])
            cells->factors[cell] = look->left[i];
    }
    for (size_t i = 0; i < phases->cell_count; i++) {
        if (counts[i] < LEAST_IN_CELL)
            cells->factors[i] = NAN;
    }
    cells->usual = usual_of(cells->factors, phases->cell_count);
    for (size_t i = 0; i < phases->cell_count; i++) {
        double fastest = cells->factors[i];
        bool known = !isnan(fastest) && cells->usual > 0;
        cells->factors[i] = known ? log(fmax(fastest, 1) / cells->usual) : NAN;
    }
    free(counts);
}

/* ---- pairs of classes ------------------------------------------------------------------------ */

/* Open at the same time on one thread. The items are by thread, then by end, and those of one class
 * do not overlap. */
static bool are_related(const struct look *left, const struct look *right)
{
    for (size_t i = 0, j = 0; i < left->count && j < right->count;) {
        const struct occurrence *a = left->items[i], *b = right->items[j];
        if (a->thread != b->thread)
            *(a->thread < b->thread ? &i : &j) += 1;
        else if (a->end <= b->start)
            i++;
        else if (b->end <= a->start)
            j++;
        else
            return true;
    }
    return false;
}

/* Of the factors in the cells that both have; right's slices are shifted in a circle. */
static double correlation(const struct phases *phases, const double *left, const double *right,
                          size_t shift)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < phases->cell_count; i++) {
        double a = left[i], b = right[i / SLICES * SLICES + (i + shift) % SLICES];
        if (isnan(a) || isnan(b))
            continue;
        n++;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    double variance = (xx - x * x / n) * (yy - y * y / n);
    return n >= LEAST_CELLS && variance > 0 ? (xy - x * y / n) / sqrt(variance) : 0;
}

static bool is_similar(double a, double b)
{
    return fmin(a, b) >= log(LEAST_FACTOR) && fabs(a - b) <= fmax(a, b) / 2;
}

/* Cells in which both are slow. */
static void mark_cells(struct phases *phases, const double *left, const double *right)
{
    for (size_t i = 0; i < phases->cell_count; i++) {
        if (!isnan(left[i]) && !isnan(right[i]) && is_similar(left[i], right[i]))
            phases->common[i] = fmax(phases->common[i], fmin(left[i], right[i]));
    }
}

static bool try_pair(struct phases *phases, size_t a, size_t b, struct phase_answer *answer)
{
    const double *left = phases->cells[a].factors, *right = phases->cells[b].factors;
    double together = correlation(phases, left, right, 0), null = 0;
    if (together < LEAST_CORRELATION || are_related(&phases->looks[a], &phases->looks[b]))
        return false;
    for (size_t shift = SLICES / 4; shift <= SLICES * 3 / 4; shift++)
        null = fmax(null, correlation(phases, left, right, shift));
    *answer = (struct phase_answer){together * together, null * null};
    if (together <= null)
        return false;
    mark_cells(phases, left, right);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void give_parts(struct phases *phases, size_t number, double *parts)
{
    const struct look *look = &phases->looks[number];
    const struct cells *cells = &phases->cells[number];
    for (size_t i = 0; i < look->count; i++) {
        size_t cell = cell_of(phases, look->items[i]);
        if (cell == SIZE_MAX || !phases->common[cell] || isnan(cells->factors[cell]))
            continue;
        double factor = exp(fmin(phases->common[cell], fmax(cells->factors[cell], 0)));
        parts[i] = fmax(fmin((factor - 1) * cells->usual, look->left[i] - look->least), 0);
    }
}

static bool try_pairs(struct phases *phases, struct phase_answer *answers)
{
    bool found = false;
    for (size_t a = 0; a < phases->count; a++) {
        for (size_t b = a + 1; b < phases->count; b++) {
            struct phase_answer answer;
            if (!try_pair(phases, a, b, &answer))
                continue;
            found = true;
            answers[a] = answer.explained > answers[a].explained ? answer : answers[a];
            answers[b] = answer.explained > answers[b].explained ? answer : answers[b];
        }
    }
    return found;
}

bool phases__find(const struct occurrences *all, const struct look *looks, size_t count,
                  double **parts, struct phase_answer *answers)
{
    const struct window *first = VEC_AT(&all->windows, struct window, 0);
    if (count < 2)
        return false;
    struct phases phases = {.looks = looks, .count = count, .begin = first->begin};
    phases.step = all->windows.count > 1 ? first[1].begin - first->begin
                                         : (first->end - first->begin) / SLICES + 1;
    phases.cells = memory__zeroed(count, sizeof *phases.cells);
    for (size_t i = 0; i < count; i++) { /* all places are known before the cells */
        for (size_t j = 0; j < looks[i].count; j++)
            place_of(&phases, looks[i].items[j]);
    }
    phases.cell_count = phases.places.count * SLICES;
    phases.common = memory__zeroed(phases.cell_count, sizeof *phases.common);
    for (size_t i = 0; i < count; i++)
        fill_cells(&phases, i);
    bool found = try_pairs(&phases, answers);
    for (size_t i = 0; i < count; i++) {
        if (found)
            give_parts(&phases, i, parts[i]);
        free(phases.cells[i].factors);
    }
    map__free(&phases.places);
    free(phases.cells);
    free(phases.common);
    return found;
}
