/* The bytes that the recorder writes into a running program. */
#include "recorder/live_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct heurt_plan plan_of(const uint8_t *original, size_t count)
{
    struct heurt_plan plan = {.moved = (uint8_t)count, .code_bytes = (uint8_t)count};
    memcpy(plan.original, original, count);
    memcpy(plan.code, original, count);
    return plan;
}

static void slot_leads_to_the_stub_and_holds_the_moved_code(void **state)
{
    (void)state;
    static const uint8_t original[] = {0x55, 0x48, 0x89, 0xe5, 0x53}; /* push; mov; push */
    struct heurt_plan plan = plan_of(original, sizeof original);
    uint8_t code[HEURT_LIVE_SLOT_BYTES];
    uint32_t id = 61448;
    uint64_t stub = 0x7f1234567890;
    assert_true(live_code__write(code, 0x10000, id, stub, &plan));
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    assert_int_equal(code[0], 0x68);
    assert_memory_equal(code + 1, &id, sizeof id);
    assert_memory_equal(code + 5, jump, sizeof jump);
    assert_memory_equal(code + 11, &stub, sizeof stub);
    assert_memory_equal(code + LIVE_STUB_BYTES, original, sizeof original);
}

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

static void fixups_are_counted_from_where_the_code_lies(void **state)
{
    (void)state;
    static const uint8_t lea[] = {0x48, 0x8d, 0x05, 0, 0, 0, 0}; /* lea 0(%rip), %rax */
    struct heurt_plan plan = plan_of(lea, sizeof lea);
    plan.fixup_count = 1;
    plan.fixups[0] = (struct heurt_plan_fixup){.target = 0x30000, .offset = 3, .next = 7};
    uint8_t code[HEURT_LIVE_SLOT_BYTES];
    assert_true(live_code__write(code, 0x20000, HEURT_EVENT_LIVE, 0, &plan));
    int32_t field;
    memcpy(&field, code + LIVE_STUB_BYTES + 3, sizeof field);
    assert_int_equal(field, 0x30000 - (0x20000 + LIVE_STUB_BYTES + 7));
    plan.fixups[0].target = 0x20000 + (1ull << 32);
    assert_false(live_code__write(code, 0x20000, HEURT_EVENT_LIVE, 0, &plan));
    plan.fixups[0].next = HEURT_FIXUP_ABSOLUTE; /* reaches everywhere */
    assert_true(live_code__write(code, 0x20000, HEURT_EVENT_LIVE, 0, &plan));
}

static void jumps_reach_two_gibibytes(void **state)
{
    (void)state;
    uint8_t jump[HEURT_PATCH_BYTES];
    int32_t field;
    assert_true(live_code__jump(jump, 0x100000000, 0x90000000));
    assert_int_equal(jump[0], 0xe9);
    memcpy(&field, jump + 1, sizeof field);
    assert_int_equal((uint64_t)(0x100000000 + 5 + (int64_t)field), 0x90000000);
    assert_false(live_code__jump(jump, 0x200000000, 0x10000000));
}

static void a_call_that_returns_into_the_jump_is_seen(void **state)
{
    (void)state;
    static const uint8_t indirect[] = {0x53, 0xff, 0xd0, 0x90, 0x90}; /* push; call *%rax */
    static const uint8_t direct[] = {0xe8, 1, 0, 0, 0};               /* returns behind it */
    static const uint8_t later[] = {0x53, 0xe8, 1, 0, 0, 0};
    static const uint8_t none[] = {0x31, 0xc0, 0xc3, 0x90, 0x90};
    struct heurt_plan plan = plan_of(indirect, sizeof indirect);
    assert_true(live_code__has_return_inside(&plan));
    plan = plan_of(direct, sizeof direct);
    assert_false(live_code__has_return_inside(&plan));
    plan = plan_of(later, sizeof later);
    assert_false(live_code__has_return_inside(&plan));
    plan = plan_of(none, sizeof none);
    assert_false(live_code__has_return_inside(&plan));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slot_leads_to_the_stub_and_holds_the_moved_code),
        cmocka_unit_test(what_depends_on_its_place_is_filled_in),
        cmocka_unit_test(what_is_too_far_away_is_told),
        cmocka_unit_test(fixups_are_counted_from_where_the_code_lies),
        cmocka_unit_test(jumps_reach_two_gibibytes),
        cmocka_unit_test(a_call_that_returns_into_the_jump_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
