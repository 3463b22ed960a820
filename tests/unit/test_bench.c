/* The pure parts of the benchmarks: statistics, plot, reading of outcomes. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),       cmocka_unit_test(correlations),
        cmocka_unit_test(fits),          cmocka_unit_test(steps),
        cmocka_unit_test(plots),         cmocka_unit_test(plots_nothing),
        cmocka_unit_test(elapsed_times), cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
