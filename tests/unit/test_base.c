#include "base/error.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/proto.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/worker.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void vec_keeps_items_while_growing(void **state)
{
    (void)state;
    struct vec vec = VEC_OF(uint32_t);
    for (uint32_t i = 0; i < 1000; i++)
        vec__push(&vec, &i);
    assert_int_equal(vec.count, 1000);
    uint32_t expected = 0;
    VEC_EACH (item, &vec, uint32_t)
        assert_int_equal(*item, expected++);
    assert_int_equal(expected, 1000);
    assert_int_equal(*(uint32_t *)vec__push(&vec, NULL), 0);
    vec__free(&vec);
    assert_int_equal(vec.count, 0);
}

static void vec_finds_what_is_in_order(void **state)
{
    (void)state;
    for (size_t count = 0; count < 20; count++) {
        struct vec vec = VEC_OF(uint64_t);
        for (uint64_t i = count; i-- > 0;)
            vec__push(&vec, &(uint64_t){10 * i});
        vec__sort(&vec, order__u64);
        for (uint64_t sought = 0; sought < 10 * count + 5; sought++) {
            size_t place = VEC_FIRST(item, &vec, uint64_t, *item >= sought);
            assert_int_equal(place, (sought + 9) / 10 < count ? (sought + 9) / 10 : count);
        }
        vec__free(&vec);
    }
    struct pair {
        uint32_t key, value;
    } pairs[] = {{2, 20}, {3, 30}, {7, 70}};
    struct vec vec = {pairs, 3, 3, sizeof *pairs};
    assert_int_equal(VEC_FIND(&vec, struct pair, key, 3)->value, 30);
    assert_null(VEC_FIND(&vec, struct pair, key, 4));
    assert_null(VEC_FIND(&vec, struct pair, key, 8));
}

static void vec_sorts_numbers(void **state)
{
    (void)state;
    static const uint64_t masks[] = {0xff, 0xff00ff00, UINT64_MAX, 0xff00000000000000, 0};
    for (size_t mask = 0; mask < sizeof masks / sizeof *masks; mask++)
        for (size_t count = 0; count < 500; count = count * 2 + 1) {
            struct vec sorted = VEC_OF(uint64_t), other = VEC_OF(uint64_t);
            for (uint64_t i = 0; i < count; i++) {
                uint64_t number = (i + 1) * 0x9e3779b97f4a7c15ull & masks[mask];
                vec__push(&sorted, &number);
                vec__push(&other, &number);
            }
            vec__sort_numbers(&sorted);
            vec__sort(&other, order__u64);
            assert_int_equal(sorted.count, other.count);
            if (count)
                assert_memory_equal(sorted.items, other.items, count * sizeof(uint64_t));
            vec__push(&sorted, &(uint64_t){1}); /* it can still grow */
            vec__free(&sorted);
            vec__free(&other);
        }
}

static void map_finds_what_was_put_first(void **state)
{
    (void)state;
    struct map map = {0};
    assert_true(map__get(&map, "a", 1) == MAP_ABSENT);
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(map__put(&map, &i, sizeof i, i * 3), i * 3);
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(map__put(&map, &i, sizeof i, 7), i * 3);
    uint64_t absent = 5000;
    assert_true(map__get(&map, &absent, sizeof absent) == MAP_ABSENT);
    assert_int_equal(map__put(&map, "", 0, 1), 1);
    assert_int_equal(map__get(&map, "", 0), 1);
    char text[64] = {0}; /* keys of all lengths, that differ in their last byte alone */
    for (size_t length = 1; length < sizeof text; length++)
        for (int last = 1; last < 3; last++) {
            text[length - 1] = (char)last;
            assert_int_equal(map__put(&map, text, length, length * 10 + (size_t)last),
                             length * 10 + (size_t)last);
            text[length - 1] = 0;
        }
    for (size_t length = 1; length < sizeof text; length++)
        for (int last = 1; last < 3; last++) {
            text[length - 1] = (char)last;
            assert_int_equal(map__get(&map, text, length), length * 10 + (size_t)last);
            text[length - 1] = 0;
        }
    map__free(&map);
}

static void error_cuts_long_sentences(void **state)
{
    (void)state;
    struct error error;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_int_equal(error__set(&error, -EINVAL, "%s", text), -EINVAL);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(error__set(NULL, -EIO, "nobody listens"), -EIO);
}

static void text_grows_behind_what_is_there(void **state)
{
    (void)state;
    char *text = text__join(NULL, ", ", "one");
    text = text__join(text, ", ", "two");
    text = text__append(text, " and %d more", 3);
    assert_string_equal(text, "one, two and 3 more");
    free(text);
    text = text__append(NULL, "%s", "");
    assert_string_equal(text, "");
    text = text__join(text, ", ", "one");
    assert_string_equal(text, "one");
    free(text);
}

static bool is_less(const uint32_t *left, const uint32_t *right)
{
    return *left < *right;
}

HEAP_OF(numbers, uint32_t, is_less)

/* Takes the first of count items until there is none, each at least as large as the one before. */
static void assert_goes_up(uint32_t *items, size_t count)
{
    for (uint32_t last = 0; count > 0; last = items[count]) {
        uint32_t first = items[0];
        assert_true(first >= last);
        items[0] = items[--count];
        items[count] = first;
        if (count)
            numbers__sink(items, count, 0);
    }
}

static void heap_gives_the_first_first(void **state)
{
    (void)state;
    uint32_t items[200], risen[200];
    for (size_t count = 0; count <= 200; count++) {
        for (size_t i = 0; i < count; i++) {
            items[i] = risen[i] = (uint32_t)(i * 7919 % 101);
            numbers__rise(risen, i);
        }
        numbers__order(items, count);
        assert_goes_up(items, count);
        assert_goes_up(risen, count);
    }
}

static void proto_reads_what_it_has_written(void **state)
{
    (void)state;
    struct proto message = {0}, inner = {0};
    proto__number(&inner, 1, 7);
    proto__number(&message, 3, UINT64_MAX);
    proto__message(&message, 2, &inner);
    proto__fixed64(&message, 2000, 0x0102030405060708);
    struct proto_reader reader = proto_reader__of(message.bytes, message.count);
    assert_true(proto_reader__next(&reader));
    assert_int_equal(reader.field, 3);
    assert_true(reader.number == UINT64_MAX);
    assert_true(proto_reader__next(&reader));
    struct proto_reader within = proto_reader__inner(&reader);
    assert_true(proto_reader__next(&within));
    assert_int_equal(within.number, 7);
    assert_false(proto_reader__next(&within));
    assert_false(within.is_damaged);
    assert_true(proto_reader__next(&reader));
    assert_int_equal(reader.field, 2000);
    assert_true(reader.number == 0x0102030405060708);
    assert_false(proto_reader__next(&reader));
    assert_false(reader.is_damaged);
    proto__free(&message);
    proto__free(&inner);
}

/* Fields that end behind the message, varints without an end, wires and fields that there are not.
 */
static void proto_tells_what_is_damaged(void **state)
{
    static const struct {
        size_t count;
        uint8_t bytes[12];
    } damaged[] = {{3, {0x12, 0x05, 0x08}},
                   {2, {0x08, 0x80}},
                   {12, {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
                   {4, {0x09, 1, 2, 3}},
                   {2, {0x0b, 0x00}},
                   {2, {0x00, 0x00}}};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        struct proto_reader reader = proto_reader__of(damaged[i].bytes, damaged[i].count);
        assert_false(proto_reader__next(&reader));
        assert_true(reader.is_damaged);
        assert_false(proto_reader__next(&reader));
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

#define PATIENCE_S 10

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether it still goes first after so much work with waits; NULL: it may not. */
static void *works(void *until)
{
    struct first_worker self;
    worker__go_first(&self);
    if (sched_getscheduler(0) == SCHED_OTHER)
        return NULL;
    while (cpu_s() < *(double *)until)
        worker__has_waited(&self);
    const char *end = sched_getscheduler(0) == SCHED_OTHER ? "last" : "first";
    worker__go_last(&self);
    return (void *)end;
}

/* Whether it is last once it never waits, before it has taken so much; NULL: it may not go first.
 */
static void *takes_all(void *until)
{
    struct first_worker self;
    worker__go_first(&self);
    if (sched_getscheduler(0) == SCHED_OTHER)
        return NULL;
    while (cpu_s() < *(double *)until && sched_getscheduler(0) != SCHED_OTHER)
        ;
    const char *end = sched_getscheduler(0) == SCHED_OTHER ? "last" : "first";
    worker__go_last(&self);
    return (void *)end;
}

static const char *end_of(void *(*work)(void *), double until)
{
    pthread_t thread;
    void *end;
    assert_int_equal(worker__start(&thread, work, &until), 0);
    pthread_join(thread, &end);
    return end;
}

static void who_goes_first_and_never_waits_steps_back(void **state)
{
    (void)state;
    const char *end = end_of(works, 2.2);
    if (!end)
        skip();
    assert_string_equal(end, "first");
    assert_string_equal(end_of(takes_all, PATIENCE_S), "last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vec_keeps_items_while_growing),
        cmocka_unit_test(vec_finds_what_is_in_order),
        cmocka_unit_test(vec_sorts_numbers),
        cmocka_unit_test(map_finds_what_was_put_first),
        cmocka_unit_test(error_cuts_long_sentences),
        cmocka_unit_test(text_grows_behind_what_is_there),
        cmocka_unit_test(heap_gives_the_first_first),
        cmocka_unit_test(proto_reads_what_it_has_written),
        cmocka_unit_test(proto_tells_what_is_damaged),
        cmocka_unit_test(who_goes_first_and_never_waits_steps_back),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
