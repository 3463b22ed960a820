/* Shapes: loops found in what was made with them, equal ones are one, times at their places. */
#include "analysis/structure/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct made {
    struct shapes *shapes;
    struct shape_builder *builder;
    uint64_t now;
};

static int setup(void **state)
{
    static struct made made;
    made = (struct made){.shapes = shapes__new()};
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

/* Each letter is an occurrence of 10 ticks at that depth. */
static void put(struct made *made, const char *letters, uint32_t depth)
{
    for (; *letters; letters++, made->now += 10) {
        const struct shaped one = {.symbol = (uint32_t)*letters,
                                   .weight = 1,
                                   .depth = depth,
                                   .start = made->now,
                                   .end = made->now + 10,
                                   .duration = 10};
        shape_builder__add(made->builder, &one);
    }
}

static void write_shape(const struct shapes *shapes, uint32_t shape, char **to)
{
    const struct shape *what = shapes__get(shapes, shape);
    if (what->kind == SHAPE_OCCURRENCE)
        *(*to)++ = (char)what->symbol;
    if (what->item_count || what->kind == SHAPE_LOOP)
        *(*to)++ = what->kind == SHAPE_LOOP ? '{' : '(';
    for (uint32_t i = 0; i < what->item_count; i++)
        write_shape(shapes, shapes__items(shapes, shape)[i].shape, to);
    if (what->item_count || what->kind == SHAPE_LOOP)
        *(*to)++ = what->kind == SHAPE_LOOP ? '}' : ')';
}

static void assert_shape(const struct made *made, uint32_t shape, const char *expected)
{
    char text[256], *end = text;
    write_shape(made->shapes, shape, &end);
    *end = '\0';
    assert_string_equal(text, expected);
}

static uint32_t end(struct made *made)
{
    return shape_builder__end(made->builder, 'R', 0, made->now);
}

static void loops_are_found(void **state)
{
    struct made *made = *state;
    put(made, "abbbcabbcabbbbc", 0);
    uint32_t root = end(made);
    assert_shape(made, root, "R({a{b}c})");
    const struct shape_item *loop = shapes__items(made->shapes, root);
    assert_int_equal(loop->iterations.sum, 3);
    assert_int_equal(loop->time.sum, 150);
    assert_int_equal(shapes__get(made->shapes, loop->shape)->time.max, 60);
    const struct shape_item *inner = shapes__items(made->shapes, loop->shape) + 1;
    assert_int_equal(inner->iterations.sum, 9);
    assert_int_equal(inner->iterations.min, 2);
    assert_int_equal(inner->iterations.max, 4);
    assert_int_equal(inner->time.count, 3);
}

static void nested_occurrences_have_equal_shapes(void **state)
{
    struct made *made = *state;
    uint32_t shapes[2];
    for (int i = 0; i < 2; i++) {
        put(made, "xxy", 1);
        const struct shaped one = {'f', 1, 0, made->now - 30, made->now, 30};
        shapes[i] = shape_builder__add(made->builder, &one);
    }
    assert_int_equal(shapes[0], shapes[1]);
    assert_shape(made, end(made), "R({f({x}y)})");
    assert_shape(made, shapes__cut(made->shapes, shapes[0], 0), "f");
    assert_int_equal(shapes__cut(made->shapes, shapes[0], 1), shapes[0]);
}

/* What was left without an end leaves what is in it to what is around it. */
static void jumped_out_of(void **state)
{
    struct made *made = *state;
    put(made, "z", 2);
    const struct shaped one = {'f', 1, 0, 10, 40, 30};
    made->now = 10;
    put(made, "x", 3);
    put(made, "y", 1);
    assert_shape(made, shape_builder__add(made->builder, &one), "f(xy)");
    assert_shape(made, end(made), "R(zf(xy))");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(nested_occurrences_have_equal_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(jumped_out_of, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
