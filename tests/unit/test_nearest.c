/* The word that somebody meant who mistyped one. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *meant(const char *typed)
{
    static const char *const words[] = {"record", "report", "locks", "structure", "whatif", "dump"};
    struct nearest nearest = nearest__to(typed);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        nearest__offer(&nearest, words[i]);
    return nearest.word ? nearest.word : "";
}

static void distances_count_letters(void **state)
{
    (void)state;
    assert_int_equal(words__distance("", ""), 0);
    assert_int_equal(words__distance("lock", "lock"), 0);
    assert_int_equal(words__distance("lock", "locks"), 1);
    assert_int_equal(words__distance("lokc", "lock"), 1); /* neighbours, swapped */
    assert_int_equal(words__distance("kitten", "sitting"), 3);
    assert_int_equal(words__distance("", "abc"), 3);
    assert_int_equal(words__distance("abc", ""), 3);
    assert_int_equal(words__distance("ca", "abc"), 3); /* restricted: nothing between the two */
}

static void the_nearest_word_is_found(void **state)
{
    (void)state;
    assert_string_equal(meant("reprot"), "report");
    assert_string_equal(meant("lock"), "locks");
    assert_string_equal(meant("strcuture"), "structure");
    assert_string_equal(meant("what-if"), "whatif");
    assert_string_equal(meant("dmup"), "dump");
}

static void what_is_far_is_nothing(void **state)
{
    (void)state;
    char longer[200];
    memset(longer, 'l', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_string_equal(meant("sort"), "");
    assert_string_equal(meant(""), "");
    assert_string_equal(meant(longer), "");
}

static void the_question_names_it(void **state)
{
    (void)state;
    struct nearest nearest = nearest__to("scroe");
    char *none = nearest__question(&nearest);
    nearest__offer(&nearest, "score");
    char *question = nearest__question(&nearest);
    struct nearest control = nearest__to("one line");
    nearest__offer(&control, "one\x1bline");
    char *shown = nearest__question(&control);
    assert_string_equal(shown, "; did you mean 'one?line'?");
    free(shown);
    assert_string_equal(none, "");
    assert_string_equal(question, "; did you mean 'score'?");
    free(none);
    free(question);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_letters),
        cmocka_unit_test(the_nearest_word_is_found),
        cmocka_unit_test(what_is_far_is_nothing),
        cmocka_unit_test(the_question_names_it),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
