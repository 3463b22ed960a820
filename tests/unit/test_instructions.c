/* test_instructions.c: how the runtime reads a counter from the page that the kernel shares, on
 * pages that are made up. */
#include "runtime/instructions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What the made-up counter holds, and what the kernel does while it is read. */
static struct {
    struct perf_event_mmap_page page;
    uint64_t value;
    uint32_t counter; /* that was asked for */
    unsigned reads, writes;
} machine;

/* The kernel moves the event to another counter after each of the first reads. */
static uint64_t read_counter(uint32_t counter)
{
    machine.reads++;
    machine.counter = counter;
    uint64_t value = machine.value;
    if (machine.writes) {
        machine.writes--;
        machine.page.lock += 2;
        machine.page.index++;
        machine.page.offset += 1000;
    } else {
        machine.page.lock &= ~1u; /* what it had begun is done */
    }
    return value;
}

static uint64_t no_counter(uint32_t counter)
{
    (void)counter;
    fail_msg("no counter may be read");
    return 0;
}

static void start(uint32_t index, uint16_t width, int64_t offset, uint64_t value)
{
    memset(&machine, 0, sizeof machine);
    machine.page.lock = 6;
    machine.page.index = index;
    machine.page.pmc_width = width;
    machine.page.offset = offset;
    machine.page.cap_user_rdpmc = 1;
    machine.value = value;
}

static void assert_count(uint64_t expected)
{
    uint64_t count = 77;
    assert_true(instructions__count(&machine.page, read_counter, &count));
    assert_true(count == expected);
}

static void an_event_without_a_counter_has_its_offset(void **state)
{
    (void)state;
    uint64_t count = 77;
    start(0, 48, 123456, 999);
    assert_true(instructions__count(&machine.page, no_counter, &count));
    assert_int_equal(count, 123456);
}

static void the_counter_is_added_and_counted_from_1(void **state)
{
    (void)state;
    start(1, 48, 1000, 234);
    assert_count(1234);
    assert_int_equal(machine.counter, 0);
    start(0x40000001, 48, 0, 5); /* a fixed counter of Intel's */
    assert_count(5);
    assert_int_equal(machine.counter, 0x40000000);
}

static void counters_have_a_sign_at_their_width(void **state)
{
    (void)state;
    start(3, 40, 5000, (1ull << 40) - 100);
    assert_count(4900);
    start(3, 48, 5000, (1ull << 40) - 100);
    assert_count(5000 + (1ull << 40) - 100);
    start(3, 48, 5000, (1ull << 48) - 100);
    assert_count(4900);
    start(3, 48, 1ll << 47, 1ull << 47); /* the least value: how the kernel starts one */
    assert_count(0);
    start(3, 40, 1ll << 39, (1ull << 39) - 1);
    assert_count((1ull << 40) - 1);
    start(3, 40, 5000, 0xabull << 56 | 7); /* above the width is nothing */
    assert_count(5007);
    start(3, 64, 5000, UINT64_MAX);
    assert_count(4999);
    start(3, 48, -50, 100);
    assert_count(50);
}

static void what_the_kernel_changed_meanwhile_is_read_again(void **state)
{
    (void)state;
    start(1, 48, 1000, 1);
    machine.writes = 2;
    assert_count(3001);
    assert_int_equal(machine.reads, 3);
    assert_int_equal(machine.counter, 2);
}

static void a_page_that_is_being_written_is_read_again(void **state)
{
    (void)state;
    start(1, 48, 1000, 1);
    machine.page.lock = 7;
    assert_count(1001);
    assert_int_equal(machine.reads, 2);
}

static void what_never_comes_to_rest_is_given_up(void **state)
{
    (void)state;
    uint64_t count = 77;
    start(1, 48, 1000, 1);
    machine.writes = UINT32_MAX;
    assert_false(instructions__count(&machine.page, read_counter, &count));
    assert_int_equal(machine.reads, INSTRUCTIONS_TRIES);
    assert_int_equal(count, 77);
}

static void a_counter_that_programs_may_not_read_is_none(void **state)
{
    (void)state;
    uint64_t count;
    start(1, 48, 1000, 1);
    machine.page.cap_user_rdpmc = 0;
    assert_false(instructions__count(&machine.page, no_counter, &count));
    start(1, 0, 1000, 1); /* a width that none has */
    assert_false(instructions__count(&machine.page, no_counter, &count));
    start(1, 65, 1000, 1);
    assert_false(instructions__count(&machine.page, no_counter, &count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_without_a_counter_has_its_offset),
        cmocka_unit_test(the_counter_is_added_and_counted_from_1),
        cmocka_unit_test(counters_have_a_sign_at_their_width),
        cmocka_unit_test(what_the_kernel_changed_meanwhile_is_read_again),
        cmocka_unit_test(a_page_that_is_being_written_is_read_again),
        cmocka_unit_test(what_never_comes_to_rest_is_given_up),
        cmocka_unit_test(a_counter_that_programs_may_not_read_is_none),
    };
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
