#include "base/memory.h"
#include "locks_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "A>B", "A>B" …: a thread takes A, then B, in the first word's way: m, r, w; "G:A>B": with G
 * before; "A>G>B": with G between. One digit a lock: 0x70 + digit. */
static char *order_trace(const char *const *threads)
{
    char *text = memory__text("start 1000\nend 900000\n");
    for (size_t i = 0; threads[i]; i++) {
        unsigned tick = 2000 + 1000 * (unsigned)i;
        char *more =
            memory__format("%sthread %zu t\n1000 thread_start %zu 0xffffffff 1\n", text, i, i + 1);
        free(text);
        text = more;
        for (const char *at = threads[i]; *at; tick += 10) {
            char held[16] = "";
            int count = 0;
            for (; *at && *at != ' '; at += 2) { /* way and lock */
                held[count++] = at[1];
                held[count++] = at[0];
                more = memory__format("%s%u lock_acquired 0x1%c/%d 0x7%c\n", text, tick++, at[1],
                                      at[0] == 'r'   ? 1
                                      : at[0] == 'w' ? 2
                                                     : 0,
                                      at[1]);
                free(text);
                text = more;
            }
            while (count) {
                count -= 2;
                more = memory__format("%s%u lock_released 0x2/%d 0x7%c\n", text, tick++,
                                      held[count + 1] == 'm' ? 0 : 4, held[count]);
                free(text);
                text = more;
            }
            at += *at == ' ';
        }
    }
    return text;
}

/* "70-71 times 1,1 sites 10,11 [guarded] [one thread]; …" */
static char *inversions_of(const char *const *threads)
{
    char *trace = order_trace(threads), *text = memory__zeroed(4096, 1);
    struct made made = make(trace);
    size_t length = 0;
    VEC_EACH (inversion, &made.result->inversions, struct lock_inversion) {
        length += (size_t)sprintf(text + length, "%s", length ? "; " : "");
        for (size_t i = 0; i < inversion->objects.count; i++) {
            uint32_t row = *VEC_AT(&inversion->objects, uint32_t, i);
            length +=
                (size_t)sprintf(text + length, "%s%llx@%llx*%llu", i ? " " : "",
                                (unsigned long long)VEC_AT(&made.result->rows, struct lock_row, row)
                                    ->object.address,
                                (unsigned long long)*VEC_AT(&inversion->sites, uint64_t, i),
                                (unsigned long long)*VEC_AT(&inversion->times, uint64_t, i));
        }
        length += (size_t)sprintf(text + length, "%s%s", inversion->guarded ? " guarded" : "",
                                  inversion->one_thread ? " one thread" : "");
    }
    drop(&made);
    free(trace);
    return text;
}

static void check_inversions(const char *const *threads, const char *expected)
{
    char *text = inversions_of(threads);
    assert_string_equal(text, expected);
    free(text);
}
#define CHECK_INVERSIONS(expected, ...) \
    check_inversions((const char *const[]){__VA_ARGS__, NULL}, expected)

static void inversions(void **state)
{
    (void)state;
    CHECK_INVERSIONS("", "m0m1 m0m1", "m0m1 m1");
    CHECK_INVERSIONS("70@10*1 71@11*2", "m0m1 m0m1", "m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*1 one thread", "m0m1 m1m0", "m0");
    CHECK_INVERSIONS("70@10*1 71@11*2", "m0m1 m1m0", "m0m1");
    CHECK_INVERSIONS("70@10*1 71@11*1 72@12*1", "m0m1", "m1m2", "m2m0");
    CHECK_INVERSIONS("70@10*1 71@11*1 72@12*1; 70@10*1 72@12*1", "m0m1", "m1m2", "m2m0", "m0m2");
    CHECK_INVERSIONS("70@10*1 71@11*1", "m0m1", "m1m0", "m0m2");
    CHECK_INVERSIONS("", "m0m0", "m0");
}

static void gates(void **state)
{
    (void)state;
    CHECK_INVERSIONS("70@10*1 71@11*1 guarded", "m5m0m1", "m5m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*2", "m5m0m1 m0m1", "m5m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*1", "m5m0m1", "m6m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*1", "r5m0m1", "r5m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*2", "w5m0m1 r5m0m1", "w5m1m0");
    CHECK_INVERSIONS("70@10*1 71@11*1 guarded", "m6m5m0m1", "m5m1m0");
    /* A lock that is taken in between guards nothing: it is in circles of its own. */
    CHECK_INVERSIONS("70@10*1 75@15*1; 70@10*1 71@11*1; 75@15*1 71@11*1", "m0m5m1", "m1m5m0");
}

static void readers_do_not_invert(void **state)
{
    (void)state;
    CHECK_INVERSIONS("", "r0m1", "m1r0");
    CHECK_INVERSIONS("", "r0r1", "r1r0");
    CHECK_INVERSIONS("70@10*1 71@11*1", "r0m1", "m1w0");
    CHECK_INVERSIONS("70@10*1 71@11*1", "w0r1", "w1r0");
    CHECK_INVERSIONS("", "w0r1", "r1w0");
}

/* A thread takes 200 locks, one after the other, holding all; another the last and then the first.
 */
static void very_many_held_locks(void **state)
{
    (void)state;
    char *text = memory__zeroed(1 << 16, 1);
    size_t length = (size_t)sprintf(text, "%s", BEGIN);
    for (unsigned i = 0; i < 200; i++)
        length +=
            (size_t)sprintf(text + length, "%u lock_acquired 0x1/0 0x%x\n", 2000 + i, 0x1000 + i);
    for (unsigned i = 200; i-- > 0;)
        length +=
            (size_t)sprintf(text + length, "%u lock_released 0x1/0 0x%x\n", 3000 - i, 0x1000 + i);
    sprintf(text + length, "%s",
            END WORKER "4000 lock_acquired 0x2/0 0x10c7\n"
                       "4001 lock_acquired 0x3/0 0x1000\n"
                       "4002 lock_released 0x3/0 0x1000\n"
                       "4003 lock_released 0x2/0 0x10c7\n" END);
    struct made made = make(text);
    assert_true(made.result->inversions.count > 0);
    VEC_EACH (inversion, &made.result->inversions, struct lock_inversion) {
        assert_int_equal(*VEC_AT(&inversion->sites, uint64_t, 0), 0x3);
        assert_false(inversion->guarded || inversion->one_thread);
    }
    drop(&made);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inversions),
        cmocka_unit_test(gates),
        cmocka_unit_test(readers_do_not_invert),
        cmocka_unit_test(very_many_held_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
