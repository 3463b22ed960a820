/* Return addresses that are put aside (src/runtime/return_slot.c, compiled into this test): what
 * call stacks are made to look like, whatever words functions have left on them. */
#include "runtime/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- what the runtime has elsewhere ---------------------------------------------------------- */

struct state heurt_state;
__thread struct thread heurt_thread TLS_MODEL;
extern const char heurt_return_slot_first[], heurt_return_slot_last[];
const char heurt_return_slot_first[16], heurt_return_slot_last[1];

void event__count_lost(struct thread *thread)
{
    (void)thread;
    fail_msg("no record was left");
}

uint64_t signals__block(void)
{
    return 0;
}

void signals__restore(uint64_t mask)
{
    (void)mask;
}

/* ---- records --------------------------------------------------------------------------------- */

/* As stub.S knows it. */
struct record {
    uint64_t caller, rbx, next, slot, body, tick, more[2];
};

enum { CALLER = 0x1000, RBX = 0x2000, WORDS = 8 };

static struct record *take(void)
{
    struct record *record = (struct record *)return_slot__take(&heurt_thread);
    assert_non_null(record);
    record->caller = CALLER;
    record->rbx = RBX;
    return record;
}

static void translate(uint64_t words[WORDS], uint64_t rbx,
                      uint64_t registers[HEURT_STACK_REGISTERS])
{
    memset(registers, 0, HEURT_STACK_REGISTERS * sizeof *registers);
    registers[1] = (uint64_t)words;
    registers[3] = rbx;
    return_slot__translate(registers, words, WORDS);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void what_leads_to_records_is_replaced_by_what_is_aside(void **state)
{
    (void)state;
    uint64_t words[WORDS] = {1, 2, 3}, registers[HEURT_STACK_REGISTERS];
    struct record *outer = take(), *inner = take();
    inner->rbx = (uint64_t)outer;
    outer->slot = (uint64_t)&words[5];
    words[5] = (uint64_t)outer;
    words[2] = (uint64_t)inner;
    translate(words, (uint64_t)inner, registers);
    assert_int_equal(words[1], 2);
    assert_int_equal(words[2], RBX);
    assert_int_equal(words[5], CALLER);
    assert_int_equal(registers[3], RBX);
}

static void records_that_lead_in_a_circle_are_left(void **state)
{
    (void)state;
    for (unsigned length = 1; length < 40; length++) {
        uint64_t words[WORDS] = {0}, registers[HEURT_STACK_REGISTERS];
        struct record *first = take(), *last = first;
        for (unsigned i = 1; i < length; i++) {
            struct record *next = take();
            last->rbx = (uint64_t)next;
            last = next;
        }
        last->rbx = (uint64_t)first;
        struct record *before = take();
        before->rbx = (uint64_t)first;
        words[0] = (uint64_t)last;
        words[1] = (uint64_t)before;
        translate(words, (uint64_t)before, registers);
        assert_int_equal(words[0], 0);
        assert_int_equal(words[1], 0);
        assert_int_equal(registers[3], 0);
    }
}

static void a_long_way_is_gone_to_its_end(void **state)
{
    (void)state;
    uint64_t words[WORDS] = {0}, registers[HEURT_STACK_REGISTERS];
    struct record *last = take();
    for (unsigned i = 0; i < 2000; i++) {
        struct record *next = take();
        next->rbx = (uint64_t)last;
        last = next;
    }
    words[3] = (uint64_t)last;
    translate(words, 7, registers);
    assert_int_equal(words[3], RBX);
    assert_int_equal(registers[3], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leads_to_records_is_replaced_by_what_is_aside),
        cmocka_unit_test(records_that_lead_in_a_circle_are_left),
        cmocka_unit_test(a_long_way_is_gone_to_its_end),
    };
    heurt_state.recording = true;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
