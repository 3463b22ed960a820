/* test_members.c: which processes belong to a program, from records of the whole machine. */
#include "kernel/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool acts(struct members *members, uint32_t pid)
{
    return members__take(members, MEMBER_ACTS, pid, 0);
}

static void who_was_started_by_a_member_is_one(void **state)
{
    (void)state;
    struct members members = members__of(10);
    assert_true(acts(&members, 10));
    assert_false(acts(&members, 11));
    assert_false(members__take(&members, MEMBER_BEGINS, 12, 11));
    assert_false(acts(&members, 12));
    assert_true(members__take(&members, MEMBER_BEGINS, 11, 10));
    assert_true(members__take(&members, MEMBER_BEGINS, 13, 11));
    assert_true(acts(&members, 13));
    members__free(&members);
}

/* The first thread may be done before the others. */
static void a_process_is_a_member_until_its_last_thread_ends(void **state)
{
    (void)state;
    struct members members = members__of(10);
    assert_true(members__take(&members, MEMBER_BEGINS, 10, 10));
    assert_true(members__take(&members, MEMBER_ENDS, 10, 1));
    assert_true(acts(&members, 10));
    assert_true(members__take(&members, MEMBER_ENDS, 10, 1));
    assert_false(acts(&members, 10));
    assert_false(members__take(&members, MEMBER_ENDS, 10, 1));
    assert_false(members__take(&members, MEMBER_BEGINS, 11, 10));
    members__free(&members);
}

static void a_number_that_somebody_else_gets_is_his(void **state)
{
    (void)state;
    struct members members = members__of(10);
    assert_true(members__take(&members, MEMBER_BEGINS, 11, 10)); /* its end is lost */
    assert_false(members__take(&members, MEMBER_BEGINS, 11, 2));
    assert_false(acts(&members, 11));
    assert_true(members__take(&members, MEMBER_BEGINS, 11, 10));
    assert_true(acts(&members, 11));
    assert_true(members__take(&members, MEMBER_ENDS, 11, 10));
    assert_false(acts(&members, 11));
    members__free(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_started_by_a_member_is_one),
        cmocka_unit_test(a_process_is_a_member_until_its_last_thread_ends),
        cmocka_unit_test(a_number_that_somebody_else_gets_is_his),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
