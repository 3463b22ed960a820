/* Conditions of --fail-if: what they mean, and that nothing that is written there does harm. */
#include "cmd/condition.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fail_condition parsed(const char *text)
{
    struct fail_condition condition;
    struct error error;
    if (condition__parse(text, &condition, &error) < 0)
        fail_msg("%s", error.text);
    return condition;
}

static void parts_are_taken_apart(void **context)
{
    (void)context;
    struct fail_condition condition = parsed("lock > 10 %");
    assert_string_equal(condition.quantity, "lock");
    assert_null(condition.pattern);
    assert_null(condition.field);
    assert_true(condition.is_more && !condition.is_with && !condition.has_sign);
    assert_int_equal(condition.unit, CONDITION_SHARE);
    assert_true(condition.limit == 0.1);
    condition__free(&condition);

    condition = parsed(" finding( queue.c:30 ) . lost<=-50ms ");
    assert_string_equal(condition.quantity, "finding");
    assert_string_equal(condition.pattern, " queue.c:30 ");
    assert_string_equal(condition.field, "lost");
    assert_true(!condition.is_more && condition.is_with && condition.has_sign);
    assert_int_equal(condition.unit, CONDITION_TIME);
    assert_true(condition.limit == -50e6);
    condition__free(&condition);

    condition = parsed("wanted  a CPU>1.5s");
    assert_string_equal(condition.quantity, "wanted a CPU");
    assert_true(condition.limit == 1.5e9);
    condition__free(&condition);

    condition = parsed("row(f(int, std::map<int>)).gain >= 2 ×");
    assert_string_equal(condition.pattern, "f(int, std::map<int>)");
    assert_int_equal(condition.unit, CONDITION_FACTOR);
    char *limit = condition__limit(&condition);
    assert_string_equal(limit, ">= 2 ×");
    free(limit);
    condition__free(&condition);

    condition = parsed("findings > 0");
    assert_int_equal(condition.unit, CONDITION_NUMBER);
    condition__free(&condition);
}

static void units_are_all_known(void **context)
{
    static const struct {
        const char *text;
        double limit;
    } cases[] = {{"a > 3ns", 3}, {"a > 3us", 3e3}, {"a > 3ms", 3e6}, {"a>3 s", 3e9}, {"a>3x", 3}};
    (void)context;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fail_condition condition = parsed(cases[i].text);
        assert_true(condition.limit == cases[i].limit);
        condition__free(&condition);
    }
}

static void what_is_met_is_more_or_less(void **context)
{
    (void)context;
    struct fail_condition more = parsed("a > 2"), with = parsed("a >= 2"), less = parsed("a < 2");
    assert_true(!condition__is_met(&more, 2) && condition__is_met(&more, 2.1));
    assert_true(condition__is_met(&with, 2) && !condition__is_met(&with, 1.9));
    assert_true(condition__is_met(&less, 1) && !condition__is_met(&less, 2));
    condition__free(&more);
    condition__free(&with);
    condition__free(&less);
}

static void mistakes_have_a_sentence(void **context)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "expected what is looked at at the end"},
        {"> 3", "expected what is looked at, found '> 3'"},
        {"lock", "expected '>' or '<' at the end"},
        {"lock 3 %", "expected '>' or '<', found '%'"},
        {"lock = 3", "expected '>' or '<', found '= 3'"},
        {"lock > ", "expected a number at the end"},
        {"lock > many", "expected a number, found 'many'"},
        {"lock > 3 parsec", "behind the number, found 'parsec'"},
        {"lock > 3 % or so", "behind the number, found '% or so'"},
        {"finding(x > 3", "expected ')' and a comparison"},
        {"finding() > 3", "expected a pattern in the brackets"},
        {"finding(x). > 3", "expected a word behind the '.'"},
        {"a > 1e30", "expected a number, found '1e30'"},
    };
    (void)context;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fail_condition condition;
        struct error error = {""};
        assert_int_equal(condition__parse(cases[i].text, &condition, &error), -EINVAL);
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("'%s': %s", cases[i].text, error.text);
    }
}

/* Whatever stands there, it is read or refused with a sentence, and nothing is lost (the sanitizers
 * tell). */
static void nonsense_is_refused(void **context)
{
    static const char pieces[] =
        "lock wall finding row ( ) . > >= < <= + - 1 10 0.5 % ms s x × \t é";
    uint64_t state = 7;
    (void)context;
    for (unsigned round = 0; round < 100000; round++) {
        char text[64];
        size_t length = 0;
        while (length < sizeof text - 1) {
            state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
            size_t at = (size_t)(state >> 33) % (sizeof pieces + 8);
            if (at >= sizeof pieces)
                break;
            size_t count = 1 + (size_t)(state >> 60);
            for (; count-- && length < sizeof text - 1 && pieces[at]; at++)
                text[length++] = pieces[at];
        }
        text[length] = 0;
        struct fail_condition condition;
        struct error error = {""};
        if (condition__parse(text, &condition, &error) == 0) {
            char *limit = condition__limit(&condition);
            assert_true(*condition.quantity && strpbrk(limit, "<>") == limit);
            free(limit);
            condition__free(&condition);
        } else {
            assert_true(*error.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_taken_apart),       cmocka_unit_test(units_are_all_known),
        cmocka_unit_test(what_is_met_is_more_or_less), cmocka_unit_test(mistakes_have_a_sentence),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
