#include "analysis/callsite/rules_file.h"

#include "analysis/ledger/profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int enter_directory(void **state)
{
    char *path = strdup("/tmp/heurt-rules-XXXXXX");
    assert_non_null(mkdtemp(path));
    *state = path;
    return chdir(path) < 0 ? -1 : mkdir("heurt.data", 0700);
}

static int leave_directory(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    assert_int_equal(chdir("/"), 0);
    free(*state);
    return system(command) ? -1 : 0;
}

static void write_rules(const char *text)
{
    FILE *file = fopen("heurt.data/rules", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_file(const char *expected)
{
    char text[1024] = "";
    FILE *file = fopen("heurt.data/rules", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static struct rules load(void)
{
    struct rules rules;
    struct error error;
    if (rules__load("heurt.data", &rules, &error) < 0)
        fail_msg("%s", error.text);
    return rules;
}

static void the_file_lies_in_the_trace(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"heurt.data", "heurt.data/rules"},
                                           {"heurt.data//", "heurt.data/rules"},
                                           {"/c", "/c/rules"},
                                           {".", "./rules"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rules rules;
        struct error error;
        rules__load(cases[i][0], &rules, &error);
        assert_string_equal(rules.path, cases[i][1]);
        rules__free(&rules);
    }
}

static void rules_are_parsed(void **state)
{
    (void)state;
    write_rules("# heading\n\n key  a::operator==(int, int)=arg1,size \n\tignore b*  c\nignore d "
                "in e::f(int)");
    struct rules rules = load();
    struct vec list = rules__list(&rules);
    assert_int_equal(list.count, 3);
    struct profile_rule *rule = list.items;
    assert_int_equal(rule[0].type, RULE_KEY);
    assert_string_equal(rule[0].function, "a::operator==(int, int)");
    assert_string_equal(rule[0].arguments, "arg1,size");
    assert_int_equal(rule[1].type, RULE_IGNORE);
    assert_string_equal(rule[1].function, "b*  c");
    assert_null(rule[1].arguments);
    assert_null(rule[1].caller);
    assert_string_equal(rule[2].function, "d");
    assert_string_equal(rule[2].caller, "e::f(int)");
    rules__free_list(&list);
    rules__free(&rules);
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "key",       "key f",  "key =a",  "key f=",   "key f=a,", "key f=,a",
        "key f=a b", "ignore", "ignore ", "forget f", "keyf=a",   "ignore f in "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[64];
        struct rules rules;
        struct error error;
        snprintf(text, sizeof text, "# one\n%s\n", bad[i]);
        write_rules(text);
        assert_int_equal(rules__load("heurt.data", &rules, &error), -EINVAL);
        if (!strstr(error.text, "heurt.data/rules, line 2: expected"))
            fail_msg("%s: %s", bad[i], error.text);
        rules__free(&rules);
    }
}

static void changes_keep_comments_and_order(void **state)
{
    (void)state;
    struct error error;
    write_rules("# mine\nkey f=arg1\n\nignore f\nignore g\n");
    struct rules rules = load();
    assert_int_equal(rules__add_key(&rules, "f=arg1", &error), 0);
    assert_false(rules.changed);
    assert_int_equal(rules__add_key(&rules, "f=arg2", &error), 0); /* in place of arg1 */
    assert_int_equal(rules__add_ignore(&rules, "h", &error), 0);
    assert_int_equal(rules__forget(&rules, "g"), 1);
    assert_int_equal(rules__forget(&rules, "nobody"), 0);
    assert_int_equal(rules__add_ignore(&rules, "x\nkey y=z", &error), -EINVAL);
    assert_true(rules.changed);
    assert_int_equal(rules__save(&rules, &error), 0);
    assert_file("# mine\n\nignore f\nkey f=arg2\nignore h\n");
    assert_int_equal(rules__forget(&rules, "f"), 2);
    assert_int_equal(rules__add_ignore(&rules, "h in main", &error), 0); /* beside h alone */
    assert_int_equal(rules__forget(&rules, "h"), 1);
    assert_int_equal(rules__forget(&rules, "h in other"), 0);
    assert_int_equal(rules__forget(&rules, "h in main"), 1);
    rules__free(&rules);
}

static void a_file_that_cannot_be_written_is_said(void **state)
{
    (void)state;
    struct rules rules;
    struct error error;
    rules__load("nowhere/heurt.data", &rules, &error);
    assert_int_equal(rules__add_ignore(&rules, "f", &error), 0);
    assert_int_equal(rules__save(&rules, &error), -ENOENT);
    assert_non_null(strstr(error.text, "nowhere/heurt.data/rules"));
    assert_true(rules.changed);
    rules__free(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_lies_in_the_trace),
        cmocka_unit_test(rules_are_parsed),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(changes_keep_comments_and_order),
        cmocka_unit_test(a_file_that_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests_name("rules", tests, enter_directory, leave_directory);
}
