/* Shapes of long and irregular bodies: nothing is lost of any string, equal ones have equal shapes
 * whatever was before, iterations of several kinds become a choice, and room is bounded. */
#include "analysis/structure/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SYMBOLS 128u
#define ROOT 1000u
#define TICKS 3u /* of each occurrence */

struct made {
    struct shapes *shapes;
    struct shape_builder *builder;
    uint64_t now, random;
    uint64_t counts[SYMBOLS];
};

static uint64_t draw(struct made *made, uint64_t bound)
{
    made->random = made->random * 6364136223846793005ull + 1442695040888963407ull;
    return (made->random >> 33) % bound;
}

static int setup(void **state)
{
    static struct made made;
    made = (struct made){.shapes = shapes__new(), .random = 1};
    made.builder = shape_builder__new(made.shapes);
    *state = &made;
    return 0;
}

static int teardown(void **state)
{
    struct made *made = *state;
    shape_builder__free(made->builder);
    shapes__free(made->shapes);
    return 0;
}

static void add(struct made *made, uint32_t symbol, uint32_t depth, uint64_t start)
{
    const struct shaped one = {symbol, 1, depth, start, made->now, made->now - start};
    shape_builder__add(made->builder, &one);
}

static void put(struct made *made, uint32_t symbol)
{
    uint64_t start = made->now;
    made->now += TICKS;
    add(made, symbol, 0, start);
    made->counts[symbol]++;
    made->now++;
}

static uint32_t end(struct made *made)
{
    return shape_builder__end(made->builder, ROOT, 0, made->now);
}

static const struct shape_item *item_at(const struct made *made, uint32_t shape, uint32_t place)
{
    assert_true(place < shapes__get(made->shapes, shape)->item_count);
    return &shapes__items(made->shapes, shape)[place];
}

static enum shape_kind kind_of(const struct made *made, uint32_t shape)
{
    return shapes__get(made->shapes, shape)->kind;
}

/* ---- nothing is lost ------------------------------------------------------------------------- */

/* Every occurrence is at one place of one body. */
static void assert_all_there(const struct made *made)
{
    uint64_t counts[SYMBOLS] = {0}, sums[SYMBOLS] = {0};
    for (uint32_t i = 0; i < shapes__count(made->shapes); i++)
        for (uint32_t j = 0; j < shapes__get(made->shapes, i)->item_count; j++) {
            const struct shape_item *item = &shapes__items(made->shapes, i)[j];
            const struct shape *shape = shapes__get(made->shapes, item->shape);
            if (shape->kind != SHAPE_OCCURRENCE)
                continue;
            counts[shape->symbol] += item->time.count;
            sums[shape->symbol] += item->time.sum;
        }
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        assert_int_equal(counts[i], made->counts[i]);
        assert_int_equal(sums[i], made->counts[i] * TICKS);
    }
}

static void put_random(struct made *made, uint32_t length, uint32_t symbols)
{
    for (uint32_t i = 0; i < length; i++)
        put(made, (uint32_t)draw(made, symbols));
}

static void put_fibonacci(struct made *made, uint32_t length)
{
    char *word = calloc(2 * length + 2, 1);
    uint32_t have = 2, before = 1;
    word[1] = 1;
    while (have < length) {
        memcpy(word + have, word, before);
        uint32_t sum = have + before;
        before = have;
        have = sum;
    }
    for (uint32_t i = 0; i < length; i++)
        put(made, (uint32_t)word[i]);
    free(word);
}

/* Greedy: every string of that many symbols once. */
static void put_de_bruijn(struct made *made, uint32_t order)
{
    uint32_t mask = (1u << order) - 1, at = 0;
    uint8_t *seen = calloc(1u << order, 1);
    seen[0] = 1;
    for (uint32_t i = 0; i < order; i++)
        put(made, 0);
    for (;;) {
        uint32_t one = (at << 1 | 1) & mask, zero = at << 1 & mask;
        if (seen[one] && seen[zero])
            break;
        at = seen[one] ? zero : one;
        seen[at] = 1;
        put(made, at & 1);
    }
    free(seen);
}

static void put_periodic(struct made *made, uint32_t length, uint32_t period)
{
    uint32_t *word = calloc(period, sizeof *word);
    for (uint32_t i = 0; i < period; i++)
        word[i] = (uint32_t)draw(made, 20);
    for (uint32_t i = 0; i < length; i++)
        put(made, word[i % period]);
    free(word);
}

#define STRINGS 40u

static void put_string(struct made *made, uint32_t which)
{
    static const uint32_t lengths[] = {5, 100, 300, 1500, 9000};
    uint32_t length = lengths[which % 5];
    made->random = which;
    switch (which / 5) {
    case 0:
        put_random(made, length, 2);
        break;
    case 1:
        put_random(made, length, 3);
        break;
    case 2:
        put_random(made, length, SYMBOLS);
        break;
    case 3:
        put_fibonacci(made, length);
        break;
    case 4:
        put_de_bruijn(made, 3 + which % 5 * 2);
        break;
    case 5:
        put_periodic(made, length, 7);
        break;
    case 6:
        put_periodic(made, length, 70);
        break;
    default:
        put_periodic(made, length, 700);
    }
}

static void every_string_is_all_there(void **state)
{
    for (uint32_t which = 0; which < STRINGS; which++) {
        struct made *made = *state;
        put_string(made, which);
        end(made);
        assert_all_there(made);
        teardown(state);
        setup(state);
    }
}

/* Also after all the others, whose shapes are there then. */
static void equal_strings_have_equal_shapes(void **state)
{
    struct made *made = *state;
    uint32_t shapes[STRINGS];
    for (uint32_t which = 0; which < STRINGS; which++) {
        put_string(made, which);
        shapes[which] = end(made);
    }
    for (uint32_t which = STRINGS; which-- > 0;) {
        put_string(made, which);
        assert_int_equal(end(made), shapes[which]);
    }
}

/* ---- choices --------------------------------------------------------------------------------- */

enum { POLL, FIRST, BODY, LAST, KINDS = 10, INIT = 60, EXIT = 70 };

/* A request of that kind: of 1 + kind calls, the second of which iteration a while in some. */
static void put_request(struct made *made, uint32_t kind)
{
    put(made, POLL);
    for (uint32_t i = 0; i <= kind; i++)
        put(made, KINDS + 5 * kind + i);
    for (uint64_t i = kind & 1 ? 2 + draw(made, 9) : 0; i; i--)
        put(made, BODY);
}

#define REQUESTS 20000u

/* Of choices, by their items; of all choices; of loops with two items. */
static uint64_t *told_iterations(void)
{
    static uint64_t iterations[5];
    return iterations;
}

static void count_iteration(void *context, const struct shape_iteration *iteration)
{
    const struct made *made = context;
    const struct shape *loop = shapes__get(made->shapes, iteration->loop);
    told_iterations()[4] += loop->kind == SHAPE_LOOP && loop->item_count == 2;
    if (loop->kind != SHAPE_CHOICE)
        return;
    const struct shape *alternative = shapes__get(made->shapes, iteration->alternative);
    assert_int_equal(alternative->kind, SHAPE_SEQUENCE);
    assert_int_equal(alternative->symbol, POLL);
    assert_int_equal(iteration->first, !told_iterations()[3]);
    assert_true(iteration->end - iteration->start >= (TICKS + 1) * alternative->item_count - 1);
    told_iterations()[alternative->item_count - 2]++;
    told_iterations()[3]++;
}

static void serve(struct made *made, uint64_t counts[3], uint32_t one_in)
{
    for (uint32_t i = 0; i < 3; i++)
        put(made, INIT + i);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t kind = draw(made, one_in) ? 0 : 1 + (uint32_t)draw(made, 2);
        counts[kind]++;
        put_request(made, kind);
    }
    put(made, EXIT);
}

/* Alternatives by their items: poll and 1, 2 (and a loop) or 3 calls. */
static void requests_are_a_choice(void **state)
{
    struct made *made = *state;
    uint64_t counts[3] = {0}, *told = told_iterations();
    memset(told, 0, 5 * sizeof *told);
    shape_builder__tell_iterations(made->builder, 0, count_iteration, made);
    serve(made, counts, 2);
    uint32_t root = end(made);
    assert_int_equal(shapes__get(made->shapes, root)->item_count, 5);
    const struct shape_item *place = item_at(made, root, 3);
    assert_int_equal(kind_of(made, place->shape), SHAPE_CHOICE);
    assert_int_equal(shapes__get(made->shapes, place->shape)->symbol, POLL);
    assert_int_equal(place->time.count, 1);
    assert_int_equal(place->iterations.sum, REQUESTS);
    assert_int_equal(shapes__get(made->shapes, place->shape)->time.count, REQUESTS);
    assert_int_equal(shapes__get(made->shapes, place->shape)->item_count, 3);
    uint64_t found[3] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        const struct shape_item *alternative = item_at(made, place->shape, i);
        uint32_t calls = item_at(made, alternative->shape, 1)->shape;
        uint32_t kind = (shapes__get(made->shapes, calls)->symbol - KINDS) / 5;
        found[kind] = alternative->time.count;
        assert_int_equal(shapes__get(made->shapes, alternative->shape)->time.count, found[kind]);
        assert_int_equal(shapes__get(made->shapes, alternative->shape)->time.sum,
                         alternative->time.sum);
    }
    for (uint32_t kind = 0; kind < 3; kind++)
        assert_int_equal(found[kind], counts[kind]);
    assert_int_equal(told[0], counts[0]);
    assert_int_equal(told[1] + told[2], counts[1] + counts[2]);
    assert_all_there(made);
}

/* Whatever each of them was asked for. */
static void servers_are_alike(void **state)
{
    struct made *made = *state;
    uint64_t counts[3];
    uint32_t roots[3];
    for (uint32_t i = 0; i < 3; i++) {
        serve(made, counts, 2 + 2 * i);
        roots[i] = end(made);
    }
    assert_int_equal(roots[0], roots[1]);
    assert_int_equal(roots[0], roots[2]);
    assert_all_there(made);
}

/* A loop of its own follows, and is seen before all ends. */
static void a_phase_ends_a_choice(void **state)
{
    struct made *made = *state;
    memset(told_iterations(), 0, 5 * sizeof *told_iterations());
    shape_builder__tell_iterations(made->builder, 0, count_iteration, made);
    for (uint32_t i = 0; i < REQUESTS; i++)
        put_request(made, (uint32_t)draw(made, 3));
    for (uint32_t i = 0; i < 10000; i++) {
        put(made, FIRST);
        put(made, LAST);
    }
    assert_true(told_iterations()[4] > 1000);
    uint32_t root = end(made);
    assert_int_equal(shapes__get(made->shapes, root)->item_count, 2);
    assert_int_equal(kind_of(made, item_at(made, root, 0)->shape), SHAPE_CHOICE);
    assert_int_equal(item_at(made, root, 0)->iterations.sum, REQUESTS);
    assert_int_equal(kind_of(made, item_at(made, root, 1)->shape), SHAPE_LOOP);
    assert_int_equal(item_at(made, root, 1)->iterations.sum, 10000);
    assert_all_there(made);
}

/* 3 of 5 symbols in any order: 125 kinds. */
static void rare_alternatives_are_one(void **state)
{
    struct made *made = *state;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        put(made, POLL);
        for (uint32_t j = 0; j < 3; j++)
            put(made, KINDS + 10 * j + (uint32_t)draw(made, 5));
    }
    uint32_t root = end(made), others = 0, choice = SHAPE_NONE;
    for (uint32_t i = 0; i < shapes__get(made->shapes, root)->item_count; i++)
        if (kind_of(made, item_at(made, root, i)->shape) == SHAPE_CHOICE)
            choice = item_at(made, root, i)->shape;
    assert_int_not_equal(choice, SHAPE_NONE);
    const struct shape *what = shapes__get(made->shapes, choice);
    uint64_t iterations = 0;
    assert_true(what->item_count >= SHAPE_ALTERNATIVES_MAX - 1);
    assert_true(what->item_count <= SHAPE_ALTERNATIVES_MAX);
    for (uint32_t i = 0; i < what->item_count; i++) {
        const struct shape_item *alternative = item_at(made, choice, i);
        others += shapes__get(made->shapes, alternative->shape)->other;
        iterations += alternative->time.count;
        assert_true(alternative->time.count > 0);
    }
    assert_int_equal(others, 1);
    assert_int_equal(iterations, what->time.count);
    assert_true(iterations > REQUESTS / 2);
    assert_true(shapes__get(made->shapes, root)->item_count < 100);
}

/* ---- room ------------------------------------------------------------------------------------ */

static void noise_has_a_short_body(void **state)
{
    struct made *made = *state;
    put_random(made, 1000000, 100);
    assert_true(shapes__get(made->shapes, end(made))->item_count < 8192);
    assert_true(shapes__count(made->shapes) < 2000);
}

static void deep_recursion(void **state)
{
    struct made *made = *state;
    const uint32_t deep = 100000;
    for (uint32_t i = 0; i < deep; i++) {
        made->now = 2 * i + 1;
        add(made, 1, i + 1, 2 * i);
    }
    for (uint32_t i = deep; i-- > 0;) {
        made->now++;
        add(made, 2, i, 2 * i);
    }
    assert_int_equal(shapes__count(made->shapes), deep + 1);
    uint32_t root = end(made);
    assert_int_equal(shapes__get(made->shapes, root)->item_count, 1);
}

/* As many bodies of one symbol as there is room for, and more. */
static void unknown_bodies_are_one_shape(void **state)
{
    struct made *made = *state;
    const uint32_t side = 1060;
    uint64_t added = 0;
    uint32_t last = SHAPE_NONE;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++, added++) {
            uint64_t start = made->now;
            made->now++;
            add(made, 2000 + i, 1, start);
            made->now++;
            add(made, 4000 + j, 1, start + 1);
            const struct shaped one = {1, 1, 0, start, made->now, 2};
            last = shape_builder__add(made->builder, &one);
        }
    assert_true(added > SHAPES_MAX);
    assert_true(shapes__get(made->shapes, last)->other);
    assert_int_equal(shapes__get(made->shapes, last)->symbol, 1);
    assert_true(shapes__count(made->shapes) < SHAPES_MAX + 5000);
    uint64_t counted = 0;
    for (uint32_t i = 0; i < shapes__count(made->shapes); i++)
        if (kind_of(made, i) == SHAPE_OCCURRENCE && shapes__get(made->shapes, i)->symbol == 1)
            counted += shapes__get(made->shapes, i)->time.count;
    assert_int_equal(counted, added);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_string_is_all_there, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_strings_have_equal_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(requests_are_a_choice, setup, teardown),
        cmocka_unit_test_setup_teardown(servers_are_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(a_phase_ends_a_choice, setup, teardown),
        cmocka_unit_test_setup_teardown(rare_alternatives_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(noise_has_a_short_body, setup, teardown),
        cmocka_unit_test_setup_teardown(deep_recursion, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_bodies_are_one_shape, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
