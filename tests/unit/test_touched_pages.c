/* Which page faults are at pages that were made before (src/analysis/events/touched_pages.c). */
#include "analysis/events/touched_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PAGE = 4096, BLOCK = 64 * PAGE };

static int begin(void **state)
{
    *state = touched_pages__new();
    return 0;
}

static int end(void **state)
{
    touched_pages__free(*state);
    return 0;
}

/* All pages from an address on, once. Returns how many were made before. */
static unsigned touch(struct touched_pages *pages, uint64_t address, unsigned count)
{
    unsigned again = 0;
    for (unsigned i = 0; i < count; i++)
        again += touched_pages__add(pages, address + i * PAGE, true);
    return again;
}

static unsigned count(struct touched_pages *pages, uint64_t address, unsigned faults)
{
    unsigned again = 0;
    for (unsigned i = 0; i < faults; i++)
        again += touched_pages__add(pages, address, false);
    return again;
}

static void a_page_is_made_once(void **state)
{
    assert_int_equal(touch(*state, 0x7f0000000000, 1000), 0);
    assert_int_equal(touch(*state, 0x7f0000000000, 1000), 1000);
    assert_true(touched_pages__add(*state, 0x7f0000000fff, true)); /* on the first page */
}

static void counted_faults_are_second_ones_beyond_the_pages_there_are(void **state)
{
    const uint64_t block = 5ull * BLOCK;
    assert_int_equal(count(*state, block + 3 * PAGE, 40), 0);
    assert_int_equal(count(*state, block + 40 * PAGE, 40), 16);
    assert_int_equal(count(*state, block, 300), 300);
    assert_int_equal(count(*state, block + BLOCK, 64), 0);
}

/* The first round was told one by one, the next one is only counted. */
static void what_was_told_counts(void **state)
{
    touch(*state, 8ull * BLOCK, 64);
    assert_int_equal(count(*state, 8ull * BLOCK, 64), 64);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_page_is_made_once),
        TEST(counted_faults_are_second_ones_beyond_the_pages_there_are),
        TEST(what_was_told_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
