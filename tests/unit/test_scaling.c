/* Made programs of which the law is known: what is found of it, what is predicted, which part
 * limits; and that no law is found in what has none. */
#include "analysis/scaling/scaling.h"

#include "base/memory.h"
#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1e9
#define REPEATS 3

static double universal(double sigma, double kappa, double n)
{
    return (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n;
}

#define ASSERT_NEAR(value, truth, part) \
    assert_true(fabs((value) - (truth)) <= (part)*fabs((double)(truth)))

/* ---- laws ------------------------------------------------------------------------------------ */

static struct vec samples;

static void sample(double count, double seconds, double noise)
{
    double ns = SECOND * seconds * exp(noise * normal());
    vec__push(&samples, &(struct law_sample){count, ns, fmax(ns, SECOND)});
}

static struct law law_from(const double *counts, size_t count, double sigma, double kappa,
                           double noise)
{
    samples = VEC_OF(struct law_sample);
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (size_t i = 0; i < count; i++)
            sample(counts[i], 8 * universal(sigma, kappa, counts[i]), noise);
    struct law law = law__of(&samples);
    vec__free(&samples);
    return law;
}

static const double one_two_four[] = {1, 2, 4};
static const double five[] = {1, 2, 3, 4, 8};

static void sigma_and_kappa_from_1_2_and_4_threads(void **unused)
{
    static const double known[][2] = {{.02, .01}, {.1, .02}, {.3, .05}, {.05, .1}, {.5, .02}};
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct law law = law_from(one_two_four, 3, known[i][0], known[i][1], 2e-4);
        assert_int_equal(law.kind, LAW_UNIVERSAL);
        assert_false(law.is_tested); /* three counts, three figures */
        ASSERT_NEAR(law.sigma.value, known[i][0], .1);
        ASSERT_NEAR(law.kappa.value, known[i][1], .1);
        ASSERT_NEAR(law__ns(&law, 8).value, 8 * SECOND * universal(known[i][0], known[i][1], 8),
                    .05);
    }
}

static void more_threads_than_the_fastest_take_longer(void **unused)
{
    struct law law = law_from(five, 5, .05, .02, 0);
    double fastest = law__fastest(&law);
    (void)unused;
    ASSERT_NEAR(fastest, sqrt(.95 / .02), .02);
    assert_true(law__ns(&law, fastest + 1).value > law__ns(&law, fastest).value);
    assert_true(law__ns(&law, fastest - 1).value > law__ns(&law, fastest).value);
    law = law_from(five, 5, .05, 0, 0);
    assert_true(isinf(law__fastest(&law)));
}

static void amdahl_has_no_kappa(void **unused)
{
    static const double sigmas[] = {.02, .1, .4, 1};
    (void)unused;
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        struct law law = law_from(one_two_four, 3, sigmas[i], 0, 0);
        assert_int_equal(law.kind, LAW_AMDAHL);
        assert_true(law.is_tested);
        ASSERT_NEAR(law.sigma.value, sigmas[i], .01);
        assert_true(law.kappa.value == 0);
    }
}

static void work_that_divides_is_linear(void **unused)
{
    struct law law = law_from(five, 5, 0, 0, .005);
    (void)unused;
    assert_int_equal(law.kind, LAW_LINEAR);
    ASSERT_NEAR(law__ns(&law, 16).value, SECOND / 2, .02);
}

/* Of many programs with chance in their times, about 95 in 100 intervals hold the truth. */
static void intervals_hold_the_truth(void **unused)
{
    unsigned held = 0, told = 0;
    (void)unused;
    state = 7;
    for (unsigned round = 0; round < 400; round++) {
        struct law law = law_from(five, 5, .1, .02, .01);
        if (law.kind != LAW_UNIVERSAL)
            continue;
        told++;
        held += law.kappa.low <= .02 && .02 <= law.kappa.high && law.sigma.low <= .1 &&
                .1 <= law.sigma.high;
    }
    assert_true(told > 380);
    assert_in_range(held, told * 85 / 100, told);
}

static void noise_has_no_law(void **unused)
{
    unsigned laws = 0;
    (void)unused;
    state = 11;
    for (unsigned round = 0; round < 200; round++)
        laws += law_from(five, 5, .1, .02, .4).kind != LAW_NONE;
    assert_in_range(laws, 0, 10);
}

static struct law law_of_times(const double *counts, const double *seconds, size_t count)
{
    samples = VEC_OF(struct law_sample);
    for (size_t i = 0; i < count; i++)
        for (unsigned repeat = 0; repeat < REPEATS; repeat++)
            sample(counts[i], seconds[i], 0);
    struct law law = law__of(&samples);
    vec__free(&samples);
    return law;
}

static void what_fits_none_has_no_law(void **unused)
{
    static const double odd[] = {8, 4, 6, 2, 3}, caches[] = {8, 3.4, 2, 1.4, .7};
    (void)unused;
    struct law law = law_of_times(five, odd, 5);
    assert_int_equal(law.kind, LAW_NONE);
    assert_int_equal(law.refusal, LAW_MISFIT);
    assert_true(fabs(law.misfit) > .05);
    law = law_of_times(five, caches, 5);
    assert_int_equal(law.refusal, LAW_SUPERLINEAR);
    law = law_of_times(five, odd, 1);
    assert_int_equal(law.refusal, LAW_FEW);
}

static void what_others_cause_is_overhead(void **unused)
{
    static const double waits[] = {0, 1, 2, 3, 7};
    (void)unused;
    struct law law = law_of_times(five, waits, 5);
    assert_int_equal(law.kind, LAW_OVERHEAD);
    ASSERT_NEAR(law__ns(&law, 16).value, 15 * SECOND, .01);
    assert_true(isnan(law.sigma.value));
}

static void one_run_a_count_has_no_interval(void **unused)
{
    (void)unused;
    samples = VEC_OF(struct law_sample);
    for (size_t i = 0; i < 3; i++)
        sample(one_two_four[i], universal(.2, 0, one_two_four[i]), 0);
    struct law law = law__of(&samples);
    vec__free(&samples);
    assert_int_equal(law.kind, LAW_AMDAHL);
    assert_true(isnan(law.sigma.high) && isnan(law__ns(&law, 8).low));
}

/* ---- programs -------------------------------------------------------------------------------- */

static struct vec runs;
static struct run_figures *figures[64];
static size_t figure_count;

static void add_row(struct run_figures *run, const char *key, double seconds)
{
    const struct figures_row row = {
        memory__text(key), memory__text(key), SECOND * seconds, 0, NULL, NULL};
    vec__push(&run->rows, &row);
    run->wall_ns += (uint64_t)row.value;
}

static struct run_figures *add_recorded(uint32_t threads, uint32_t cpus)
{
    struct run_figures *run = figures[figure_count++] = memory__zeroed(1, sizeof *run);
    run->rows = VEC_OF(struct figures_row);
    vec__push(&runs, &(struct sweep_run){
                         .threads = threads,
                         .cpus = cpus,
                         .is_recorded = true,
                         .figures = run,
                         .use = {.at_work = NAN, .alone = NAN, .work = VEC_OF(struct sweep_work)}});
    return run;
}

/* The wall time is that of the rows: recording made it longer by so much. */
static void end_recorded(double alone_seconds)
{
    struct sweep_run *run = VEC_AT(&runs, struct sweep_run, runs.count - 1);
    run->wall_ns = run->figures->wall_ns;
    struct sweep_run alone = {
        .threads = run->threads, .cpus = run->cpus, .wall_ns = (uint64_t)(SECOND * alone_seconds)};
    vec__push(&runs, &alone);
}

/* 8 s of work, 1 s serial, a lock that is waited for; recording makes all of it 1.1 times as long.
 */
static void add_program(uint32_t threads, uint32_t cpus, bool names_work)
{
    double n = threads, work = 7 / n, lock = .05 * (n - 1);
    struct run_figures *run = add_recorded(threads, cpus);
    add_row(run, names_work ? "working\nsolve" : "working", 1.1 * work);
    add_row(run, "working\nread", 1.1);
    if (n > 1)
        add_row(run, "lock\nqueue", 1.1 * lock);
    add_row(run, "page faults", .001);
    end_recorded(1 + work + lock);
}

static void begin(void)
{
    runs = VEC_OF(struct sweep_run);
    figure_count = 0;
}

static void end(struct scaling *scaling)
{
    scaling__free(scaling);
    for (size_t i = 0; i < figure_count; i++) {
        run_figures__free(figures[i]);
        free(figures[i]);
    }
    vec__free(&runs);
}

static const struct scaling_part *part(const struct scaling *scaling, const char *label)
{
    VEC_EACH (one, &scaling->parts, struct scaling_part)
        if (strcmp(one->label, label) == 0)
            return one;
    fail_msg("no part %s", label);
    return NULL;
}

static void parts_are_scaled_to_the_runs_alone_and_add_up(void **unused)
{
    (void)unused;
    begin();
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (uint32_t n = 1; n <= 8; n *= 2)
            add_program(n, 8, true);
    struct scaling scaling = scaling__of(&runs);
    assert_int_equal(scaling.counts.count, 4);
    ASSERT_NEAR(scaling.recording, .1, .02);
    for (size_t i = 0; i < 4; i++) {
        double sum = 0;
        const struct scaling_count *count = VEC_AT(&scaling.counts, struct scaling_count, i);
        VEC_EACH (one, &scaling.parts, struct scaling_part)
            sum += one->ns[i];
        ASSERT_NEAR(sum, count->wall_ns, 1e-6);
        assert_true(count->is_used && !count->is_crowded);
    }
    assert_int_equal(part(&scaling, "working\nsolve")->law.kind, LAW_LINEAR);
    ASSERT_NEAR(part(&scaling, "working\nread")->law.sigma.value, 1, .01);
    assert_int_equal(part(&scaling, "lock\nqueue")->law.kind, LAW_OVERHEAD);
    assert_ptr_equal(scaling__limit(&scaling), part(&scaling, "working\nread"));
    assert_true(scaling.ahead[0] == 16 && scaling.ahead[1] == 32);
    /* At 16 threads: 1 + 7/16 + 0.75 s; what divides costs nothing. */
    ASSERT_NEAR(scaling.whole_ahead[0].value, 2.1875 * SECOND, .01);
    ASSERT_NEAR(scaling__speedup_ahead(&scaling, 0).value, 8 / 2.1875, .01);
    ASSERT_NEAR(part(&scaling, "lock\nqueue")->cost_ns[0], .75 * SECOND, .01);
    ASSERT_NEAR(part(&scaling, "working\nread")->cost_ns[0], 15. / 16 * SECOND, .01);
    ASSERT_NEAR(scaling.held_out.value, VEC_AT(&scaling.counts, struct scaling_count, 3)->wall_ns,
                .01);
    ASSERT_NEAR(scaling__efficiency(&scaling, VEC_AT(&scaling.counts, struct scaling_count, 1)),
                8 / 4.55 / 2, .01);
    end(&scaling);
}

static void more_threads_than_cpus_are_no_scaling(void **unused)
{
    (void)unused;
    begin();
    for (unsigned repeat = 0; repeat < REPEATS; repeat++)
        for (uint32_t n = 1; n <= 8; n *= 2)
            add_program(n, 4, true);
    struct scaling scaling = scaling__of(&runs);
    assert_true(VEC_AT(&scaling.counts, struct scaling_count, 3)->is_crowded);
    assert_int_equal(scaling.law.counts, 3);
    assert_true(scaling.ahead[0] == 8);
    assert_true(isnan(scaling.held_out.value));
    end(&scaling);
}

static void work_that_some_counts_do_not_name_is_one_part(void **unused)
{
    (void)unused;
    begin();
    add_program(1, 4, true);
    add_program(2, 4, false);
    add_program(4, 4, true);
    struct scaling scaling = scaling__of(&runs);
    const struct scaling_part *other = part(&scaling, "working in other code");
    assert_int_equal(other->law.kind, LAW_LINEAR);
    ASSERT_NEAR(other->ns[1], 3.5 * SECOND, 1e-3);
    end(&scaling);
}

/* One number of threads on several numbers of CPUs: those are what it scales by. */
static void cpus_are_an_axis(void **unused)
{
    (void)unused;
    begin();
    for (uint32_t cpus = 1; cpus <= 4; cpus *= 2) {
        add_row(add_recorded(4, cpus), "working\nsolve", 8. / cpus);
        end_recorded(8. / cpus);
    }
    struct scaling scaling = scaling__of(&runs);
    assert_int_equal(scaling.axis, SCALING_CPUS);
    assert_int_equal(scaling.law.kind, LAW_LINEAR);
    assert_int_equal(scaling.law.counts, 3);
    assert_null(scaling__limit(&scaling));
    end(&scaling);
}

static void nothing_that_is_usable_tells_nothing(void **unused)
{
    (void)unused;
    begin();
    struct scaling scaling = scaling__of(&runs);
    assert_int_equal(scaling.law.refusal, LAW_FEW);
    assert_null(scaling__limit(&scaling));
    assert_true(isnan(scaling__speedup_ahead(&scaling, 0).value));
    end(&scaling);
    begin();
    add_program(4, 2, true);
    scaling = scaling__of(&runs);
    assert_int_equal(scaling.law.refusal, LAW_FEW);
    assert_null(scaling__limit(&scaling));
    end(&scaling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sigma_and_kappa_from_1_2_and_4_threads),
        cmocka_unit_test(more_threads_than_the_fastest_take_longer),
        cmocka_unit_test(amdahl_has_no_kappa),
        cmocka_unit_test(work_that_divides_is_linear),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(noise_has_no_law),
        cmocka_unit_test(what_fits_none_has_no_law),
        cmocka_unit_test(what_others_cause_is_overhead),
        cmocka_unit_test(one_run_a_count_has_no_interval),
        cmocka_unit_test(parts_are_scaled_to_the_runs_alone_and_add_up),
        cmocka_unit_test(more_threads_than_cpus_are_no_scaling),
        cmocka_unit_test(work_that_some_counts_do_not_name_is_one_part),
        cmocka_unit_test(cpus_are_an_axis),
        cmocka_unit_test(nothing_that_is_usable_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
