/* test_retry_loop.c: loops that try again when a compare-and-swap failed. */
#include "patch/retry_loop.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Each has a label before and behind it, and one where it tries. */
__asm__(".text\n"
        ".globl tries_code, tries_end, orders_code, orders_end, adds_code, adds_end\n"
        ".globl tries_here, tries_works, asked_code, asked_end, both_code, both_end\n"
        /* for (n orders) { old = load(); while (new = f(old), !exchange(&old, new)); } The code for
         * the failure is behind the end, as compilers put it. */
        "tries_code: mov %ebx, %ecx\n"
        "mov (%rdi), %rax\n"
        "1: mov $4000, %esi\n"
        "mov %rax, %rdx\n"
        "tries_works: 2: imul %rdx, %rdx\n"
        "dec %esi\n"
        "jne 2b\n"
        "tries_here: lock cmpxchg %rdx, (%rdi)\n"
        "jne 3f\n"
        "dec %ebx\n"
        "jne tries_code\n"
        "ret\n"
        "3: inc %r8\n"
        "jmp 1b\n"
        "tries_end:\n"
        /* for (n orders) { new = f(order); exchange once; if that failed, a short loop adds } */
        "orders_code: mov $4000, %esi\n"
        "2: imul %rdx, %rdx\n"
        "dec %esi\n"
        "jne 2b\n"
        "mov (%rdi), %rax\n"
        "lock cmpxchg %rdx, (%rdi)\n"
        "je orders_code\n"
        "3: lea (%rax,%rdx), %r11\n"
        "lock cmpxchg %r11, (%rdi)\n"
        "jne 3b\n"
        "jmp orders_code\n"
        "orders_end:\n"
        /* do new = old + 2; while (!exchange): the line is what costs. */
        "adds_code: mov (%rdi), %rax\n"
        "1: lea 2(%rax), %rdx\n"
        "lock cmpxchg %rdx, (%rdi)\n"
        "jne 1b\n"
        "ret\n"
        "adds_end:\n"
        /* The flag is kept, and asked then; what is computed is a call. */
        "asked_code: mov (%rdi), %rax\n"
        "1: call *%r9\n"
        "lock cmpxchg %rdx, (%rdi)\n"
        "sete %cl\n"
        "test %cl, %cl\n"
        "je 1b\n"
        "ret\n"
        "asked_end:\n"
        /* Goes on with both: it is no loop that tries until it succeeds. */
        "both_code: mov (%rdi), %rax\n"
        "1: call *%r9\n"
        "lock cmpxchg %rdx, (%rdi)\n"
        "jne 2f\n"
        "inc %r8\n"
        "2: dec %ebx\n"
        "jne 1b\n"
        "ret\n"
        "both_end:\n");

#define CODE(name) extern const uint8_t name##_code[], name##_end[]
CODE(tries);
CODE(orders);
CODE(adds);
CODE(asked);
CODE(both);
extern const uint8_t tries_here[], tries_works[];

#define FIND(name) retry_loops__find(name##_code, (uint64_t)(name##_end - name##_code), 0x1000)

static void who_computes_anew_when_it_failed_retries(void **state)
{
    (void)state;
    struct vec loops = FIND(tries);
    uint64_t exchange = 0x1000 + (uint64_t)(tries_here - tries_code);
    assert_int_equal(loops.count, 1);
    const struct retry_loop *loop =
        retry_loops__at(&loops, 0x1000 + (uint64_t)(tries_works - tries_code));
    assert_non_null(loop);
    assert_int_equal(loop->exchange, exchange);
    assert_false(loop->is_static);                /* what it exchanges is behind a pointer */
    assert_null(retry_loops__at(&loops, 0x1000)); /* the next order is no retry */
    retry_loops__free(&loops);
}

static void how_the_failure_is_asked_does_not_matter(void **state)
{
    (void)state;
    struct vec loops = FIND(asked);
    assert_int_equal(loops.count, 1);
    retry_loops__free(&loops);
}

static void who_computes_but_once_does_not(void **state)
{
    (void)state;
    struct vec loops = FIND(orders);
    assert_int_equal(loops.count, 0);
    retry_loops__free(&loops);
    loops = FIND(both);
    assert_int_equal(loops.count, 0);
    retry_loops__free(&loops);
}

static void who_only_adds_loses_the_line(void **state)
{
    (void)state;
    struct vec loops = FIND(adds);
    assert_int_equal(loops.count, 0);
    retry_loops__free(&loops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_computes_anew_when_it_failed_retries),
        cmocka_unit_test(how_the_failure_is_asked_does_not_matter),
        cmocka_unit_test(who_computes_but_once_does_not),
        cmocka_unit_test(who_only_adds_loses_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
