#include "base/memory.h"
#include "recorder/function_list.h"

#include <errno.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct error error;

/* Reads bytes as a list; its patterns joined by '|', then the code when it is not 0. free() it. */
static char *read_bytes(const char *bytes, size_t size)
{
    FILE *in = fmemopen((void *)bytes, size, "r");
    struct vec patterns = VEC_OF(char *);
    int code = function_list__read(in, &patterns, &error);
    char *joined = memory__text("");
    VEC_EACH (pattern, &patterns, char *) {
        char *longer = memory__format("%s%s|", joined, *pattern);
        free(joined);
        free(*pattern);
        joined = longer;
    }
    vec__free(&patterns);
    fclose(in);
    if (code < 0) {
        assert_int_equal(code, -EINVAL);
        char *longer = memory__format("%sinvalid", joined);
        free(joined);
        return longer;
    }
    return joined;
}

static void expect(const char *text, const char *patterns)
{
    char *found = read_bytes(text, strlen(text));
    assert_string_equal(found, patterns);
    free(found);
}

static void lines_are_functions_modules_comments(void **state)
{
    (void)state;
    expect("\n", "");
    expect("parse\n", "parse|");
    expect("parse", "parse|");
    expect("parse @libz.so.1\n", "parse @libz.so.1|");
    expect("  parse \t @ libz.so.1 \t # 12 %  a # b @ c\r\n", "parse @libz.so.1|");
    expect("# comment\n   # another @ x\n\t\na\nb # c\n", "a|b|");
    expect("* @lib*\n", "* @lib*|");
}

static void names_may_hold_what_else_has_a_meaning(void **state)
{
    (void)state;
    expect("operator<<(std::ostream&, A const&) const @app  # 1 %\n",
           "operator<<(std::ostream&, A const&) const @app|");
    expect("main::{lambda()#1}::operator()() const # x\n",
           "main::{lambda()#1}::operator()() const|");
    expect("f<(char)64>@plt\n", "f<(char)64>@plt|");
    expect("memcpy@GLIBC_2.14 @libc.so.6\n", "memcpy@GLIBC_2.14 @libc.so.6|");
    expect("odd \\#name \\@home @m # c\n", "odd \\#name \\@home @m|");
    expect("back\\\\ # c\n", "back\\\\|");
    expect("end\\", "end\\|");
}

static void lines_that_say_nothing_are_refused(void **state)
{
    (void)state;
    expect("a\n@libz.so\nb\n", "a|invalid");
    assert_non_null(strstr(error.text, "line 2"));
    expect("a @\n", "invalid");
    expect("a @ # b\n", "invalid");
    char *found = read_bytes("a\nb\0c\nd\n", 8);
    assert_string_equal(found, "a|invalid");
    assert_non_null(strstr(error.text, "line 2"));
    free(found);
}

static const char *const odd_names[] = {
    "plain",
    "operator*(A, B)",
    "main.(*T).f",
    "operator[](int)",
    "a #b",
    "a @b",
    "#a",
    "@a",
    "back\\slash",
    "what?",
    "f<char*[3]>",
    "a\\ #b",
    "{lambda(auto:1)#2}",
    "x::f(char const*) @b #c",
};

/* What was quoted, read and matched as a glob is the name, and nothing else. */
static void quoted_names_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof odd_names / sizeof odd_names[0]; i++) {
        char *quoted = function_list__quote(odd_names[i]);
        char *line = memory__format("%s @m  # 3 %%  # @ x\n", quoted);
        char *expected = memory__format("%s @m|", quoted);
        expect(line, expected);
        for (size_t j = 0; j < sizeof odd_names / sizeof odd_names[0]; j++)
            assert_int_equal(fnmatch(quoted, odd_names[j], 0) == 0, i == j);
        assert_int_equal(function_list__is_plain(odd_names[i]), strcmp(quoted, odd_names[i]) == 0);
        free(quoted);
        free(line);
        free(expected);
    }
    assert_false(function_list__is_plain(""));
    assert_false(function_list__is_plain(" a"));
    assert_false(function_list__is_plain("a\nb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_functions_modules_comments),
        cmocka_unit_test(names_may_hold_what_else_has_a_meaning),
        cmocka_unit_test(lines_that_say_nothing_are_refused),
        cmocka_unit_test(quoted_names_come_back),
    };
    return cmocka_run_group_tests_name("function_list", tests, NULL, NULL);
}
