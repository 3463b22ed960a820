/* The code that is written into a running program for one function. */
#include "cmd/live_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_depends_on_its_place_is_filled_in(void **state)
{
    (void)state;
    enum { ADDRESS = 0x10000000, TARGET = 0x10002000, NEAR = 2, FAR = 10, FAR_BYTES = 18 };
    struct heurt_plan plan = {
        .code_bytes = FAR_BYTES,
        .fixup_count = 2,
        .fixups = {{.target = TARGET, .offset = NEAR, .next = NEAR + 4},
                   {.target = TARGET, .offset = FAR, .next = HEURT_FIXUP_ABSOLUTE}},
    };
    uint8_t code[HEURT_LIVE_SLOT_BYTES];
    int32_t distance;
    uint64_t absolute;
    assert_true(live_code__write(code, ADDRESS, 1024, 0, &plan));
    memcpy(&distance, code + LIVE_STUB_BYTES + NEAR, sizeof distance);
    memcpy(&absolute, code + LIVE_STUB_BYTES + FAR, sizeof absolute);
    assert_int_equal(ADDRESS + LIVE_STUB_BYTES + NEAR + 4 + distance, TARGET);
    assert_int_equal(absolute, TARGET);
}

static void what_is_too_far_away_is_told(void **state)
{
    (void)state;
    struct heurt_plan plan = {.code_bytes = 5, .fixup_count = 1};
    uint8_t code[HEURT_LIVE_SLOT_BYTES];
    plan.fixups[0] = (struct heurt_plan_fixup){.target = 1ull << 40, .offset = 1, .next = 5};
    assert_false(live_code__write(code, 0x10000000, 1024, 0, &plan));
    plan.fixups[0].next = HEURT_FIXUP_ABSOLUTE; /* reaches everywhere */
    assert_true(live_code__write(code, 0x10000000, 1024, 0, &plan));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_depends_on_its_place_is_filled_in),
        cmocka_unit_test(what_is_too_far_away_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
