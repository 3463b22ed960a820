/* What is taken on purpose: never more than was asked, nothing at level 0, and not what there is
 * not. That it comes near to what was asked, only a machine of one's own could hold. */
#include "base/clock.h"
#include "induce/stream_loss.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define BURST 1100.0 /* requests of one loader that an earlier setting may have begun */

static struct induce_plan plan_of(enum induce_kind kind, uint64_t bytes)
{
    struct induce_plan plan = {.kind = kind, .node = -1, .bytes = bytes, .directory = "."};
    cpu_set_t allowed;
    CPU_ZERO(&plan.cpus);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; kind != INDUCE_DISK && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && CPU_COUNT(&plan.cpus) == 0)
            CPU_SET(cpu, &plan.cpus);
    return plan;
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static struct inducer *start(const struct induce_plan *plan)
{
    struct inducer *inducer = NULL;
    struct error error = {.text = ""};
    if (inducer__start(plan, &inducer, &error) < 0)
        fail_msg("%s", error.text);
    return inducer;
}

/* Requests are counted before and after, so that the time is at most what lies between. */
static void holds_its_level(struct inducer *inducer, double level)
{
    uint64_t began_ns = clock__ns(CLOCK_MONOTONIC);
    inducer__set(inducer, level);
    struct induce_told told;
    do
        wait_a_little();
    while ((told = inducer__told(inducer)).requests <= 0 && inducer__failure(inducer) == 0);
    double seconds = (double)(clock__ns(CLOCK_MONOTONIC) - began_ns) * 1e-9;
    assert_int_equal(inducer__failure(inducer), 0);
    assert_float_equal(told.asked, level, 1e-6);
    assert_true(told.had * inducer__most(inducer) * seconds <=
                level * inducer__most(inducer) * seconds * 1.001 + BURST);
}

/* Soon, and then for three looks: one that gets no CPU meanwhile ends its burst later. */
static void is_quiet_at_none(struct inducer *inducer)
{
    for (unsigned quiet = 0; quiet < 3;) {
        inducer__set(inducer, 0);
        wait_a_little();
        quiet = inducer__told(inducer).requests > 0 ? 0 : quiet + 1;
    }
}

static void memory_is_taken_as_asked(void **unused)
{
    (void)unused;
    const struct induce_plan plan = plan_of(INDUCE_MEMORY, 8 << 20);
    struct inducer *inducer = start(&plan);
    assert_true(inducer__most(inducer) > 0);
    holds_its_level(inducer, 0.1);
    holds_its_level(inducer, 0.5);
    is_quiet_at_none(inducer);
    inducer__stop(inducer);
}

static void a_cache_is_taken_by_its_bytes(void **unused)
{
    (void)unused;
    const struct induce_plan plan = plan_of(INDUCE_CACHE, 1 << 20);
    struct inducer *inducer = start(&plan);
    inducer__set(inducer, 0.5);
    while (inducer__told(inducer).requests <= 0)
        wait_a_little();
    assert_float_equal(inducer__told(inducer).had, 0.5, 1e-6);
    is_quiet_at_none(inducer);
    inducer__stop(inducer);
}

/* CPU time is counted in bursts of 50 us, of which four may have begun. */
static void cpus_are_taken_no_more_than_asked(void **unused)
{
    (void)unused;
    const struct induce_plan plan = plan_of(INDUCE_CPU, 0);
    struct inducer *inducer = start(&plan);
    assert_float_equal(inducer__most(inducer), 1e9, 1);
    uint64_t began_ns = clock__ns(CLOCK_MONOTONIC);
    inducer__set(inducer, 0.3);
    struct induce_told told;
    do
        wait_a_little();
    while ((told = inducer__told(inducer)).requests <= 0);
    double ns = (double)(clock__ns(CLOCK_MONOTONIC) - began_ns);
    assert_true(told.had * ns <= 0.3 * ns + 8 * 200000);
    is_quiet_at_none(inducer);
    inducer__stop(inducer);
}

static void refuses(const struct induce_plan *plan, int code, const char *what)
{
    struct inducer *inducer = NULL;
    struct error error = {.text = ""};
    assert_int_equal(inducer__start(plan, &inducer, &error), code);
    assert_null(inducer);
    assert_non_null(strstr(error.text, what));
}

static void what_is_not_there_is_refused(void **unused)
{
    (void)unused;
    struct induce_plan plan = plan_of(INDUCE_MEMORY, 1ull << 50);
    refuses(&plan, -ENOMEM, "might swap");
    plan = plan_of(INDUCE_CACHE, 1ull << 50);
    refuses(&plan, -ENOMEM, "might swap");
    plan = plan_of(INDUCE_DISK, 1 << 20);
    plan.directory = "/nowhere";
    refuses(&plan, -ENOENT, "no file can be made in /nowhere");
    plan = plan_of(INDUCE_MEMORY, 1 << 20);
    plan.node = 1000; /* no machine that this runs on */
    refuses(&plan, -EINVAL, "cannot begin");
}

/* ---- what a program that streams loses --------------------------------------------------------
 */

static void a_loss_is_had_at_its_rate(void **unused)
{
    (void)unused;
    struct stream_loss loss = {
        .most = {.3, .2, .4}, .at = {.06, .06, .18, .3}, .had_there = {.25, .5, .7, .8}};
    assert_true(stream_loss__is_shown(&loss));
    assert_float_equal(stream_loss__rate(&loss, 0), 0, 1e-9);
    assert_float_equal(stream_loss__rate(&loss, .03), .125, 1e-9);
    assert_float_equal(stream_loss__rate(&loss, .12), .625, 1e-9);
    assert_float_equal(stream_loss__rate(&loss, .3), 1, 1e-9);
    assert_float_equal(stream_loss__rate(&loss, .9), 1, 1e-9); /* more is not to be had */
    for (double lost = .07; lost < .3; lost += .01) {
        double rate = stream_loss__rate(&loss, lost);
        assert_float_equal(stream_loss__at(&loss, rate, 1), lost, 1e-9);
    }
    assert_float_equal(stream_loss__at(&loss, 1, .7), .18, 1e-9); /* others left less */
    assert_float_equal(stream_loss__at(&loss, .5, 0), 0, 1e-9);
    loss.most.low = -.01;
    assert_false(stream_loss__is_shown(&loss));
}

/* Loaders that note to what they were set, and take nothing. */
struct noted {
    unsigned sets, at_none;
    double last;
};

static void note(void *self, double rate)
{
    struct noted *noted = self;
    noted->sets++;
    noted->at_none += rate <= 0;
    noted->last = rate;
}

static uint64_t count_none(void *self)
{
    (void)self;
    return 0;
}

/* A machine without a CPU for the probe says nothing: then there is no figure. */
static void each_look_has_one_without_the_loaders(void **unused)
{
    (void)unused;
    const struct induce_plan plan = plan_of(INDUCE_MEMORY, 1 << 20);
    struct noted noted = {0};
    const struct loss_loaders loaders = {note, count_none, &noted, 1e9};
    struct stream_loss loss;
    assert_int_equal(stream_loss__measure(&plan.cpus, &loaders, &loss), 0);
    assert_true(noted.sets > 2 * LOSS_RATES && noted.last <= 0);
    assert_int_equal(noted.at_none * 2, noted.sets + 1);
    for (unsigned i = 0; i < LOSS_RATES; i++) {
        assert_true(loss.at[i] >= (i ? loss.at[i - 1] : 0) || isnan(loss.at[i]));
        assert_true(loss.at[i] < 1 || isnan(loss.at[i]));
        assert_float_equal(loss.had_there[i], 0, 1e-9);
    }
    assert_true(loss.most.low <= loss.most.high || isnan(loss.most.low));
    assert_true(stream_loss__bytes(&plan.cpus) >= 2 * induce__cache_bytes());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_taken_as_asked),
        cmocka_unit_test(a_cache_is_taken_by_its_bytes),
        cmocka_unit_test(cpus_are_taken_no_more_than_asked),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(a_loss_is_had_at_its_rate),
        cmocka_unit_test(each_look_has_one_without_the_loaders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
