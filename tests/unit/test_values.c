#include "cmd/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void times_have_a_number_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {{"1ms", 1000000},  {"20us", 20000},
                 {"20µs", 20000},   {"0.5s", 500000000},
                 {"7ns", 7},        {"0s", 0},
                 {"1.5us", 1500},   {"3600s", 3600000000000},
                 {".25ms", 250000}, {"1000000000s", 1000000000000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t ns = 1;
        if (!duration__parse(cases[i].text, &ns) || ns != cases[i].ns)
            fail_msg("%s became %lu", cases[i].text, (unsigned long)ns);
    }
}

static void nothing_else_is_a_time(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",      "1",    "ms",   "-1ms", "+1ms", " 1ms",   "1 ms", "1ms ", "1m",   "1S",
        "1e3ms", "0x1s", "infs", "nans", "1..s", "1.2.3s", "..s",  ".s",   "1,5s", "2000000000s"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t ns = 77;
        if (duration__parse(wrong[i], &ns) || ns != 77)
            fail_msg("'%s' is taken for %lu", wrong[i], (unsigned long)ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_a_number_and_a_unit),
        cmocka_unit_test(nothing_else_is_a_time),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
