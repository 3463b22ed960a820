/* Screens and documents of sweeps are compared with files in tests/golden/scaling. */
#include "golden.h"

#include "base/memory.h"
#include "base/text.h"
#include "present/scaling/scaling_screens.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1e9
#define REPEATS 3
#define CPUS 8

static const struct style wide = {.columns = 100, .unicode = true};
static const struct style narrow = {.columns = 80, .unicode = true};

/* ---- made sweeps ----------------------------------------------------------------------------- */

static struct vec runs, figures, refused;

static void add_row(struct run_figures *run, const char *label, double seconds)
{
    if (seconds <= 0)
        return;
    const struct figures_row row = {
        memory__text(label), memory__text(label), SECOND * seconds, 0, NULL, NULL};
    vec__push(&run->rows, &row);
    run->wall_ns += (uint64_t)(SECOND * seconds);
}

/* A relaxation: 1 s before it, 7 s that divide, waits at its ends, a barrier that costs more with
 * each thread. alone: times as long, which stands for chance. */
static void add_runs(uint32_t threads, uint32_t cpus, double alone)
{
    double n = threads < cpus ? threads : cpus, spread = .01 * (threads - 1);
    struct run_figures *run = memory__zeroed(1, sizeof *run);
    run->rows = VEC_OF(struct figures_row);
    vec__push(&figures, &run);
    add_row(run, "work in region relax relax.c:24", 7 / n);
    add_row(run, "between parallel regions (mostly in read_input)", 1);
    add_row(run, "waiting at the end of region relax relax.c:24", spread);
    add_row(run, "starting and ending the program", .002);
    vec__push(&runs, &(struct sweep_run){.threads = threads,
                                         .cpus = cpus,
                                         .wall_ns = (uint64_t)((double)run->wall_ns * alone),
                                         .cpu_ns = (uint64_t)(8 * SECOND * (1 + .02 * n) * alone)});
    vec__push(&runs, &(struct sweep_run){.threads = threads,
                                         .cpus = cpus,
                                         .is_recorded = true,
                                         .wall_ns = (uint64_t)((double)run->wall_ns * 1.02),
                                         .figures = run,
                                         .use = {.at_work = 8 / (1 + 7 / n),
                                                 .alone = 1 / (1 + 7 / n),
                                                 .others = 0,
                                                 .work = VEC_OF(struct sweep_work)}});
}

static struct sweep_run *last_run(void)
{
    return VEC_AT(&runs, struct sweep_run, runs.count - 1);
}

static int begin(void **unused)
{
    (void)unused;
    runs = VEC_OF(struct sweep_run);
    figures = VEC_OF(struct run_figures *);
    refused = VEC_OF(char *);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    VEC_EACH (run, &runs, struct sweep_run)
        vec__free(&run->use.work);
    VEC_EACH (run, &figures, struct run_figures *) {
        run_figures__free(*run);
        free(*run);
    }
    vec__free(&runs);
    vec__free(&figures);
    texts__free(&refused);
    return 0;
}

/* ---- shown ----------------------------------------------------------------------------------- */

enum form { SCREEN, JSON, CSV };

static void shows(const char *name, enum form form, const struct style *style, uint32_t seen)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct scaling scaling = scaling__of(&runs);
    struct vec speedups = speedup__rows(&runs);
    const struct scaling_view view = {.command = "/opt/bin/relax 2000",
                                      .directory = "heurt.scale",
                                      .scaling = &scaling,
                                      .speedups = &speedups,
                                      .refused = &refused,
                                      .trace = "heurt.scale/8-threads.1",
                                      .cpus = CPUS,
                                      .seen = seen,
                                      .is_openmp = true,
                                      .cycles_a_second = 2000000000};
    if (form == JSON)
        scaling__put_json(&view, out);
    else if (form == CSV)
        named_table__put(scaling_tables, "parts", &view, &table_csv, style, out);
    else
        scaling__put_text(&view, style, out);
    fclose(out);
    scaling__free(&scaling);
    vec__free(&speedups);
    golden__assert(name, text);
}

static void add_all_threads(void)
{
    static const double chance[REPEATS] = {1, 1.002, .998};
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (uint32_t threads = 1; threads <= 2 * CPUS; threads *= 2)
            add_runs(threads, CPUS, chance[repeat]);
}

static void what_limits_stands_first(void **unused)
{
    (void)unused;
    add_all_threads();
    char *failed = memory__text("3 threads, recorded: status 3");
    vec__push(&refused, &failed);
    shows("scaling/threads.txt", SCREEN, &wide, 0);
    shows("scaling/threads-80.txt", SCREEN, &narrow, 0);
    shows("scaling/threads.json", JSON, &wide, 0);
    shows("scaling/threads.csv", CSV, &wide, 0);
}

static void where_nothing_tells_the_number_that_is_said(void **unused)
{
    (void)unused;
    add_all_threads();
    shows("scaling/deaf.txt", SCREEN, &wide, 5);
}

static void noise_is_said(void **unused)
{
    static const double chance[REPEATS] = {1, 1.7, .6};
    (void)unused;
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (uint32_t threads = 1; threads <= CPUS; threads *= 2)
            add_runs(threads, CPUS, chance[(repeat + threads) % REPEATS]);
    shows("scaling/noise.txt", SCREEN, &wide, 0);
}

/* The row of the whole has a figure ahead all the same: where it is from is said. */
static void without_a_law_of_the_whole_its_parts_are_added(void **unused)
{
    static const double longer[] = {[1] = 1, [2] = 1, [4] = 1.8, [8] = 1};
    (void)unused;
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (uint32_t threads = 1; threads <= CPUS; threads *= 2)
            add_runs(threads, CPUS, longer[threads]);
    shows("scaling/misfit.txt", SCREEN, &wide, 0);
}

static void two_counts_beside_others_are_a_guess(void **unused)
{
    (void)unused;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        add_runs(threads, CPUS, 1);
        last_run()->use.others = 3;
    }
    shows("scaling/rough.txt", SCREEN, &wide, 0);
}

static void one_count_tells_nothing(void **unused)
{
    (void)unused;
    add_runs(4, CPUS, 1);
    shows("scaling/one.txt", SCREEN, &wide, 0);
}

static void on_cpus_the_lost_speedup_is_divided(void **unused)
{
    (void)unused;
    for (uint32_t cpus = 1; cpus <= CPUS; cpus *= 2) {
        add_runs(CPUS, cpus, 1);
        last_run()->use.spin = cpus == 4 ? .2 : 0;
        vec__push(&last_run()->use.work,
                  &(struct sweep_work){"calls of parallel regions", cpus == 8 ? 1100 : 1000});
    }
    shows("scaling/cpus.txt", SCREEN, &wide, 0);
    shows("scaling/cpus.json", JSON, &wide, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_limits_stands_first, begin, end),
        cmocka_unit_test_setup_teardown(where_nothing_tells_the_number_that_is_said, begin, end),
        cmocka_unit_test_setup_teardown(noise_is_said, begin, end),
        cmocka_unit_test_setup_teardown(without_a_law_of_the_whole_its_parts_are_added, begin, end),
        cmocka_unit_test_setup_teardown(two_counts_beside_others_are_a_guess, begin, end),
        cmocka_unit_test_setup_teardown(one_count_tells_nothing, begin, end),
        cmocka_unit_test_setup_teardown(on_cpus_the_lost_speedup_is_divided, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
