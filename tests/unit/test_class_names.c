/* Names of classes by structure: what tells those of one function apart. */
#include "present/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct call {
    uint32_t level;
    const char *function;
    uint64_t least, most;
};

/* Classes of handle, and a report of them. */
struct named {
    struct profile profile;
    struct report report;
};

static void begin(struct named *named)
{
    *named = (struct named){.profile = {.classes = VEC_OF(struct profile_class)}};
    named->report.profile = &named->profile;
}

static void end(struct named *named)
{
    VEC_EACH (class, &named->profile.classes, struct profile_class)
        profile_structure__free(class->what.structure);
    vec__free(&named->profile.classes);
}

/* Functions with equal names are one place. */
static void add(struct named *named, bool is_rest, const struct call *calls, size_t count)
{
    struct profile_class class = {.what.at.function = "handle",
                                  .what.keys = VEC_OF(struct profile_key)};
    class.what.structure = calloc(1, sizeof *class.what.structure);
    class.what.structure->is_rest = is_rest;
    class.what.structure->inside = VEC_OF(struct profile_inside);
    for (size_t i = 0; i < count; i++) {
        const struct profile_inside inside = {.level = calls[i].level,
                                              .place = (uint32_t)calls[i].function[0],
                                              .function = calls[i].function,
                                              .least = calls[i].least,
                                              .most = calls[i].most};
        vec__push(&class.what.structure->inside, &inside);
    }
    vec__push(&named->profile.classes, &class);
}
#define ADD(named, ...)                             \
    add(named, false, (struct call[]){__VA_ARGS__}, \
        sizeof((struct call[]){__VA_ARGS__}) / sizeof(struct call))

static void expect_name(struct named *named, size_t place, const char *name)
{
    const struct place where = {.function = "handle"};
    char *found = class__name(&named->report,
                              VEC_AT(&named->profile.classes, struct profile_class, place), &where);
    assert_string_equal(found, name);
    free(found);
}

static void what_they_call_themselves_is_enough(void **state)
{
    struct named named;
    (void)state;
    begin(&named);
    ADD(&named, {1, "parse", 1, 1}, {2, "word", 0, 0}, {1, "store", 1, 8});
    ADD(&named, {1, "parse", 1, 1}, {2, "word", 0, 0}, {1, "look_up", 3, 3});
    add(&named, true, NULL, 0);
    expect_name(&named, 0, "handle (parse, store x1..8)");
    expect_name(&named, 1, "handle (parse, look_up x3)");
    expect_name(&named, 2, "handle (other structures)");
    end(&named);
}

static void what_is_deeper_is_told_where_it_differs(void **state)
{
    struct named named;
    (void)state;
    begin(&named);
    ADD(&named, {1, "parse", 1, 1}, {2, "word", 0, 0}, {1, "store", 1, 1});
    ADD(&named, {1, "parse", 1, 1}, {2, "line", 0, 0}, {3, "key", 0, 0}, {1, "store", 1, 1});
    expect_name(&named, 0, "handle (parse (word), store)");
    expect_name(&named, 1, "handle (parse (line (key)), store)");
    end(&named);
}

static void of_many_calls_those_that_differ_are_told(void **state)
{
    struct named named;
    (void)state;
    begin(&named);
    ADD(&named, {1, "accept_request", 1, 1}, {1, "parse_request", 1, 1}, {1, "store", 1, 1},
        {1, "reply_to_request", 1, 1});
    ADD(&named, {1, "accept_request", 1, 1}, {1, "parse_request", 1, 1},
        {1, "reply_to_request", 1, 1});
    expect_name(&named, 0, "handle (... store ...)");
    expect_name(&named, 1, "handle (without store)");
    end(&named);
}

static void one_that_calls_nothing_says_so(void **state)
{
    struct named named;
    (void)state;
    begin(&named);
    ADD(&named, {1, "parse", 1, 1});
    add(&named, false, NULL, 0);
    expect_name(&named, 0, "handle (parse)");
    expect_name(&named, 1, "handle (calls nothing)");
    end(&named);
}

static void a_class_of_a_whole_site_has_its_own_name(void **state)
{
    struct named named;
    const struct profile_class class = {.what.at.function = "handle"};
    (void)state;
    begin(&named);
    vec__push(&named.profile.classes, &class);
    expect_name(&named, 0, "handle");
    end(&named);
}

static void names_inside_are_bare(void **state)
{
    static const char *const cases[][2] = {
        {"parse", "parse"},
        {"words::Reader::peek() const", "Reader::peek"},
        {"main::{lambda(int)#1}::operator()(int) const", "lambda in main"},
        {"a::pool::pool(unsigned int)::{lambda()#1}::operator()() const", "lambda in pool"},
        {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
        {"std::enable_if<true, int>::type words::make<a::B>(a::B const&)", "words::make<a::B>"},
        {"Table<std::pair<int, long> >::add(int)", "Table<std::pair<int, long> >::add"},
        {"", ""},
        {"(anonymous namespace)::run()", "(anonymous namespace)::run"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *bare = function__bare(cases[i][0]);
        assert_string_equal(bare, cases[i][1]);
        free(bare);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_they_call_themselves_is_enough),
        cmocka_unit_test(what_is_deeper_is_told_where_it_differs),
        cmocka_unit_test(of_many_calls_those_that_differ_are_told),
        cmocka_unit_test(one_that_calls_nothing_says_so),
        cmocka_unit_test(names_inside_are_bare),
        cmocka_unit_test(a_class_of_a_whole_site_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
