#include "patch/loop_bound.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Loops whose times follow from their code; each has a label before and behind it. */
__asm__(".text\n"
        ".globl chained, chained_end, wide, wide_end, updating, updating_end, moving, moving_end\n"
        ".globl locked, locked_end, calling, calling_end, outside, outside_end\n"
        "chained: 1: imul %rax, %rax\n imul %rax, %rax\n imul %rax, %rax\n dec %rdx\n jnz 1b\n"
        "chained_end:\n"
        "wide: 1: xor %eax, %eax\n inc %rbx\n inc %rsi\n inc %rdi\n inc %r8\n inc %r9\n nop\n "
        "nop\n nop\n"
        "nop\n dec %rdx\n jnz 1b\n wide_end:\n"
        "updating: 1: addq $1, (%rdi)\n dec %rdx\n jnz 1b\n updating_end:\n"
        "moving: 1: addq $1, (%rdi)\n add $8, %rdi\n dec %rdx\n jnz 1b\n moving_end:\n"
        "locked: 1: lock addq $1, (%rdi)\n dec %rdx\n jnz 1b\n locked_end:\n"
        "calling: 1: call multiplies\n dec %rdx\n jnz 1b\n ret\n"
        "multiplies: imul %rax, %rax\n imul %rax, %rax\n ret\n calling_end:\n"
        "outside: 1: call *%rax\n dec %rdx\n jnz 1b\n outside_end:\n");

#define LOOP(name) extern const uint8_t name[], name##_end[]
LOOP(chained);
LOOP(wide);
LOOP(updating);
LOOP(moving);
LOOP(locked);
LOOP(calling);
LOOP(outside);

/* branch: bytes from the beginning to the branch back. */
static double least(const uint8_t *start, const uint8_t *end, uint64_t branch)
{
    static const struct instruction_times times = {.cycle = 1, .update = 4, .atomic = 20};
    ZydisDecoder decoder;
    decoder__start(&decoder);
    return counted_code__least_ns(
        &(struct counted_code){&decoder, start, (uint64_t)(end - start), 0, branch}, &times);
}

/* The branch is two bytes, the last ones. */
#define LEAST(name) least(name, name##_end, (uint64_t)(name##_end - name) - 2)

static void what_an_iteration_needs_of_the_one_before_it_counts(void **state)
{
    (void)state;
    assert_float_equal(LEAST(chained), 9, 0.01);
    assert_float_equal(LEAST(updating), 5, 0.01);
}

static void what_it_does_not_need_is_done_side_by_side(void **state)
{
    (void)state;
    assert_float_equal(LEAST(wide), 3, 0.01);
    assert_float_equal(LEAST(moving), 1, 0.01);
}

static void locked_instructions_wait_for_each_other(void **state)
{
    (void)state;
    assert_float_equal(LEAST(locked), 20, 0.01);
}

static void calls_are_followed_and_others_not_known(void **state)
{
    (void)state;
    assert_float_equal(least(calling, calling_end, 8), 6, 0.01);
    assert_float_equal(LEAST(outside), 0, 0);
}

static void times_of_a_machine_are_measured(void **state)
{
    (void)state;
    struct instruction_times times = instruction_times__measure();
    assert_true(times.cycle > 0 && times.update >= 0 && times.atomic > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_iteration_needs_of_the_one_before_it_counts),
        cmocka_unit_test(what_it_does_not_need_is_done_side_by_side),
        cmocka_unit_test(locked_instructions_wait_for_each_other),
        cmocka_unit_test(calls_are_followed_and_others_not_known),
        cmocka_unit_test(times_of_a_machine_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
