/* The pure parts of the benchmarks: statistics, plot, reading of outcomes. */
#include "bench/cause.h"
#include "bench/forecast.h"
#include "bench/foreign.h"
#include "bench/outcome.h"
#include "bench/plot.h"
#include "bench/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_close(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected)));
}

static void medians(void **state)
{
    (void)state;
    double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_close(samples__median(odd, 3), 5);
    assert_close(samples__median(even, 4), 2.5);
    assert_close(samples__median(one, 1), 7);
    assert_true(isnan(samples__median(one, 0)));
}

static void correlations(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4}, up[] = {10, 20, 30, 40}, down[] = {4, 3, 2, 1};
    const double level[] = {5, 5, 5, 5}, cross[] = {1, -1, -1, 1}, some[] = {1, 3, 2, 4};
    assert_close(samples__correlation(x, up, 4), 1);
    assert_close(samples__correlation(x, down, 4), -1);
    assert_close(samples__correlation(x, cross, 4), 0);
    assert_close(samples__correlation(x, some, 4), 0.8);
    assert_true(isnan(samples__correlation(x, level, 4)));
    assert_true(isnan(samples__correlation(x, up, 1)));
}

static void fits(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 3, 5}, same[] = {2, 2, 2};
    assert_close(samples__fit(x, y, 3).slope, 2);
    assert_close(samples__fit(x, y, 3).offset, 1);
    assert_close(samples__fit(same, y, 3).slope, 0);
    assert_close(samples__fit(same, y, 3).offset, 3);
}

static void steps(void **state)
{
    (void)state;
    assert_close(axis__step(1, 5), 0.2);
    assert_close(axis__step(10, 5), 2);
    assert_close(axis__step(0.7, 6), 0.2);
    assert_close(axis__step(3000, 6), 500);
    assert_close(axis__step(6, 6), 1);
    assert_close(axis__step(0, 6), 1);
}

/* What lies between two marks of the document, as a number. */
static double number_after(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    assert_non_null(at);
    return strtod(at + strlen(mark), NULL);
}

static char *plotted(const struct panel *panels, size_t count)
{
    enum { BYTES = 1 << 18 };
    char *text = calloc(1, BYTES);
    FILE *out = fmemopen(text, BYTES, "w");
    plot__write(out, "a < b & c", panels, count, 3);
    fclose(out);
    return text;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    while ((text = strstr(text, what)) != NULL) {
        count++;
        text += strlen(what);
    }
    return count;
}

static void plots(void **state)
{
    (void)state;
    const double x[] = {1, 2}, y[] = {0, 1};
    struct panel panel = {"title", "note", "x", "y", x, y, 2, 1, 1};
    struct panel panels[4] = {panel, panel, panel, panel};
    char *text = plotted(panels, 4);
    assert_non_null(strstr(text, "a &lt; b &amp; c"));
    assert_int_equal(occurrences(text, "<circle"), 8);
    assert_int_equal(occurrences(text, "class=\"fit\""), 4);
    assert_int_equal(occurrences(text, ">title<"), 4);
    /* four panels in rows of three: two rows */
    assert_close(number_after(text, "width=\""), 3 * 340);
    assert_close(number_after(text, "height=\""), 40 + 2 * 290);
    /* the first point lies where the axes meet, the second at their far ends */
    assert_close(number_after(text, "cx=\""), 58);
    assert_close(number_after(text, "cy=\""), 40 + 290 - 46);
    assert_close(number_after(strstr(text, "<circle") + 1, "<circle class=\"point\" cx=\""),
                 340 - 18);
    free(text);
}

static void plots_nothing(void **state)
{
    (void)state;
    const double same[] = {1, 1};
    struct panel none = {"t", "n", "x", "y", NULL, NULL, 0, 1, 1};
    struct panel level = {"t", "n", "x", "y", same, same, 2, 1, 1};
    char *text = plotted(&none, 1);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    text = plotted(&level, 1);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
}

static void elapsed_times(void **state)
{
    (void)state;
    struct error error;
    double elapsed_ns = 0;
    assert_int_equal(outcome__elapsed("x\nelapsed_ns=1200 operations=5\n", &elapsed_ns, &error), 0);
    assert_close(elapsed_ns, 1200);
    assert_true(outcome__elapsed("nothing", &elapsed_ns, &error) < 0);
    assert_true(outcome__elapsed("elapsed_ns=x", &elapsed_ns, &error) < 0);
    assert_true(outcome__elapsed("elapsed_ns=0 operations=0", &elapsed_ns, &error) < 0);
}

static void foreign_shares(void **state)
{
    (void)state;
    struct cpu_use before = {.wall_s = 10, .busy_s = 100, .ours_s = 5, .cpus = 2};
    struct cpu_use after = {.wall_s = 12, .busy_s = 103, .ours_s = 7, .cpus = 2};
    assert_close(cpu_use__foreign(&before, &after), 0.25); /* 1 s of 2 × 2 s */
    after.busy_s = 101;                                    /* ticks are coarse: less than ours */
    assert_close(cpu_use__foreign(&before, &after), 0);
    after.busy_s = 200;
    assert_close(cpu_use__foreign(&before, &after), 1);
    assert_close(cpu_use__foreign(&before, &before), 0);
}

static const char report[] =
    "{\"schema\": \"heurt.report/1\", \"classes\": ["
    "{\"kind\": \"lock\", \"function\": \"pthread_mutex_lock\", \"score\": 0.2, \"min_ns\": 5,"
    " \"count\": 10, \"caller\": {\"function\": \"a\"}},"
    "{\"kind\": \"lock\", \"function\": \"pthread_mutex_lock\", \"score\": 0.4, \"min_ns\": 7,"
    " \"count\": 20, \"caller\": {\"function\": \"b\"}},"
    "{\"kind\": \"disk\", \"function\": \"pread64\", \"score\": 0.1, \"min_ns\": 9, \"count\": 3,"
    " \"caller\": null}]}";

static void classes(void **state)
{
    (void)state;
    struct error error;
    struct class_outcome outcome;
    struct class_choice choice = {"lock", "pthread_mutex_lock", NULL};
    assert_int_equal(outcome__class(report, &choice, &outcome, &error), 0);
    assert_close(outcome.score, 0.4);
    assert_close(outcome.min_ns, 7);
    assert_close(outcome.count, 20);
    choice.caller = "a";
    assert_int_equal(outcome__class(report, &choice, &outcome, &error), 0);
    assert_close(outcome.score, 0.2);
    choice = (struct class_choice){"disk", "pread", NULL};
    assert_int_equal(outcome__class(report, &choice, &outcome, &error), 0);
    assert_close(outcome.min_ns, 9);
    choice.caller = "a";
    assert_true(outcome__class(report, &choice, &outcome, &error) < 0);
    choice = (struct class_choice){"lock", "pthread_mutex", NULL};
    assert_true(outcome__class(report, &choice, &outcome, &error) < 0);
    assert_true(outcome__class("{}", &choice, &outcome, &error) < 0);
    assert_true(outcome__class("not json", &choice, &outcome, &error) < 0);
}

/* ---- programs of known cause ----------------------------------------------------------------- */

static const struct cause_program locker = {"locker", CAUSE_INTERFERENCE, {"lock"}};
static const struct cause_program mixer = {"mixer", CAUSE_MIXED, {"lock", "sleep"}};
static const struct cause_program faulter = {"faulter", CAUSE_INTERFERENCE, {"page_fault"}};
static const struct cause_program varier = {"varier", CAUSE_DATA, {"workload"}};
static const struct cause_program calm = {"calm", CAUSE_QUIET, {NULL}};

/* A truth, and what is found when all of it is seen. */
static struct cause_truth truth_of(double first, double second, double runnable)
{
    return (struct cause_truth){{first, second}, runnable, .excess_ns = 500, .lifetime_ns = 1000};
}

static struct cause_found found_of(const char *verdict, const char *cause, double first,
                                   double second, double score)
{
    struct cause_found found = {.share = {first, second}, .score = score};
    strcpy(found.verdict, verdict);
    strcpy(found.cause, cause);
    return found;
}

static void injected_is_read(void **state)
{
    (void)state;
    struct cause_truth truth;
    struct error error;
    const char *text = "cause=mixer\ninjected_lock_ns=70\ninjected_sleep_ns=20\n"
                       "runnable_ns=5\nexcess_ns=100\nlifetime_ns=400\n";
    assert_int_equal(cause_truth__read(&mixer, text, &truth, &error), 0);
    assert_close(truth.share[0], 0.7);
    assert_close(truth.share[1], 0.2);
    assert_close(truth.runnable, 0.05);
    assert_close(truth.lifetime_ns, 400);
    assert_true(cause_truth__read(&varier, text, &truth, &error) < 0);
    assert_true(cause_truth__read(&locker, "injected_lock_ns=1\n", &truth, &error) < 0);
}

static void found_is_read(void **state)
{
    (void)state;
    struct cause_found found;
    struct error error;
    const char *text =
        "{\"classes\": [{\"kind\": \"lock\", \"function\": \"work\"},"
        "{\"kind\": \"call\", \"function\": \"work\", \"excess_ns\": 200, \"score\": 0.5,"
        " \"why_ns\": {\"lock\": 150, \"sleep\": 40, \"runnable\": 10, \"page_fault\": 20, "
        "\"overhead\": 40},"
        " \"verdict\": \"interference\", \"cause\": \"lock\"}]}";
    assert_int_equal(cause_found__read(&mixer, text, &found, &error), 0);
    assert_close(found.share[0], 0.75);
    assert_close(found.share[1], 0.2);
    assert_close(found.runnable, 0.05);
    assert_string_equal(cause_found__word(&found), "lock");
    assert_int_equal(cause_found__read(&faulter, text, &found, &error), 0);
    assert_close(found.share[0], 0.3); /* recording a fault is in what the program measures */
    assert_true(cause_found__read(&mixer, "{\"classes\": []}", &found, &error) < 0);
    assert_true(cause_found__read(&mixer, "not json", &found, &error) < 0);
}

static void right_answers(void **state)
{
    (void)state;
    struct cause_truth most = truth_of(0.9, 0, 0.05), two = truth_of(0.7, 0.3, 0);
    struct cause_found lock = found_of("interference", "lock", 0.9, 0, 0.4);
    struct cause_found nothing = found_of("unclear", "null", 0, 0, 0.4);
    struct cause_found little = found_of("interference", "lock", 0.9, 0, 0.04);
    assert_true(cause__is_right(&locker, &most, &lock));
    assert_false(cause__is_right(&locker, &most, &nothing));
    assert_false(cause__is_right(&mixer, &two, &lock)); /* the second one is missing */
    struct cause_found both = found_of("interference", "lock", 0.75, 0.25, 0.4);
    assert_true(cause__is_right(&mixer, &two, &both));
    assert_close(cause__difference(&mixer, &two, &both), 0.05);
    struct cause_truth halves = truth_of(0.52, 0.48, 0);
    struct cause_found other = found_of("interference", "sleep", 0.5, 0.5, 0.4);
    assert_true(cause__is_right(&mixer, &halves, &other));
    assert_false(cause__is_right(&mixer, &two, &other));
    assert_true(cause__is_right(&varier, &most, &nothing));
    assert_false(cause__is_right(&varier, &most, &lock));
    struct cause_truth quiet = truth_of(0, 0, 0.05);
    assert_true(cause__is_right(&calm, &quiet, &nothing));
    assert_true(cause__is_right(&calm, &quiet, &little));
    assert_false(cause__is_right(&calm, &quiet, &lock));
    assert_string_equal(cause_found__word(&little), "nothing");
    assert_string_equal(cause_found__word(&nothing), "unclear");
}

/* Calls that lost more by waiting for a CPU than by what was injected. */
static void disturbed_runs(void **state)
{
    (void)state;
    struct cause_truth disturbed = truth_of(0.3, 0, 0.7), tied = truth_of(0.52, 0, 0.48);
    struct cause_truth alone = truth_of(0.9, 0, 0.1);
    struct cause_found runnable = found_of("interference", "runnable", 0.3, 0, 0.4);
    struct cause_found lock = found_of("interference", "lock", 0.5, 0, 0.4);
    assert_true(cause__is_disturbed(&locker, &disturbed));
    assert_true(cause__is_disturbed(&locker, &tied));
    assert_false(cause__is_disturbed(&locker, &alone));
    struct cause_truth little = alone;
    little.lifetime_ns = 20 * little.excess_ns;
    assert_true(cause__is_disturbed(&locker, &little));
    assert_string_equal(cause__expected(&locker, &disturbed), "runnable");
    assert_string_equal(cause__expected(&locker, &alone), "lock");
    assert_true(cause__is_right(&locker, &disturbed, &runnable));
    assert_false(cause__is_right(&locker, &disturbed, &lock));
    assert_false(cause__is_right(&locker, &alone, &runnable));
    assert_true(cause__is_right(&locker, &tied, &runnable));
    assert_true(cause__is_right(&locker, &tied, &lock));
    assert_string_equal(cause__expected(&calm, &disturbed), "runnable");
    assert_true(cause__is_right(&calm, &disturbed, &runnable));
    assert_false(cause__is_right(&calm, &disturbed, &lock));
}

static void forecasts_are_read(void **state)
{
    (void)state;
    static const char predicted[] =
        "{\"measured_ns\": 2000000000, \"replayed_ns\": 1900000000, \"answers\": [{\"prediction\": "
        "{\"wall_ns\": 1000000000, \"least_ns\": 900000000, \"most_ns\": 1200000000}}]}";
    struct forecast forecast;
    struct error error;
    assert_int_equal(forecast__read(predicted, &forecast, &error), 0);
    assert_close(forecast.measured, 2);
    assert_close(forecast.replayed, 1.9);
    assert_close(forecast.wall, 1);
    assert_close(forecast.least, 0.9);
    assert_close(forecast.most, 1.2);
    static const char *const others[] = {"{\"measured_ns\": 1, \"replayed_ns\": 1, \"answers\": "
                                         "[{\"prediction\": null, \"refusal\": "
                                         "\"because\"}]}",
                                         "{\"answers\": []}", "{}", "not JSON", ""};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(forecast__read(others[i], &forecast, &error) < 0);
}

static void losers_are_found(void **state)
{
    (void)state;
    static const char classes[] =
        "{\"classes\": ["
        "{\"rank\": 1, \"kind\": \"call\", \"function\": \"work\", \"excess_ns\": 900, "
        "\"object\": null, \"caller\": {\"function\": null}},"
        "{\"rank\": 2, \"kind\": \"lock\", \"function\": \"pthread_mutex_lock\", \"excess_ns\": "
        "10, "
        "\"object\": \"0x10\", \"caller\": {\"function\": \"f\"}},"
        "{\"rank\": 3, \"kind\": \"lock\", \"function\": \"pthread_mutex_lock\", \"excess_ns\": "
        "20, "
        "\"object\": \"0x20\", \"caller\": {\"function\": \"g\"}}]}";
    static const struct {
        const char *kind, *function, *object;
        size_t rank;
    } cases[] = {{"lock", "", "0x20", 3}, {"lock", "f", "0x10", 2}, {"call", "work", "", 1},
                 {"", "", "", 1},         {"disk", "", "", 0},      {"lock", "h", "", 0}};
    struct loser loser;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int code = loser__find(classes, cases[i].kind, cases[i].function, &loser, &error);
        assert_int_equal(code == 0, cases[i].rank > 0);
        assert_int_equal(loser.rank, cases[i].rank);
        assert_string_equal(loser.object, cases[i].object);
    }
}

static void errors_of_forecasts(void **state)
{
    (void)state;
    const struct forecast_row rows[] = {
        {.cured = 1, .predicted = 1.05, .least = 1.02, .most = 1.1},
        {.cured = 2, .predicted = 1.8, .least = 1.7, .most = 2},
        {.cured = 4, .predicted = 5.2, .least = 5, .most = 6},
    };
    assert_close(forecast_row__error(&rows[1]), -0.1);
    struct forecast_summary all = forecast__summary(rows, 3), two = forecast__summary(rows, 2);
    assert_close(all.median, 0.1);
    assert_close(all.worst, 0.3);
    assert_int_equal(all.in_range, 1);
    assert_false(forecast_summary__is_met(&all));
    assert_close(two.median, 0.075);
    assert_true(forecast_summary__is_met(&two));
    struct forecast_summary far = forecast__summary(&rows[2], 1);
    assert_false(forecast_summary__is_met(&far));
    struct forecast_summary none = forecast__summary(rows, 0);
    assert_true(isnan(none.median) && isnan(none.worst));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),
        cmocka_unit_test(forecasts_are_read),
        cmocka_unit_test(losers_are_found),
        cmocka_unit_test(errors_of_forecasts),
        cmocka_unit_test(correlations),
        cmocka_unit_test(fits),
        cmocka_unit_test(steps),
        cmocka_unit_test(plots),
        cmocka_unit_test(plots_nothing),
        cmocka_unit_test(elapsed_times),
        cmocka_unit_test(classes),
        cmocka_unit_test(foreign_shares),
        cmocka_unit_test(injected_is_read),
        cmocka_unit_test(found_is_read),
        cmocka_unit_test(right_answers),
        cmocka_unit_test(disturbed_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
