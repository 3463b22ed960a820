/* Screens of points of interest are compared with files in tests/golden/structure. */
#include "golden.h"
#include "report_fixture.h"

#include "base/memory.h"
#include "present/outliers/points.h"
#include "present/shared.h"

#include <ctype.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MICROSECOND 1000ull
#define MILLISECOND 1000000ull

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_80 = {.columns = 80, .colour = false, .unicode = true};
static const struct style terminal_ascii = {.columns = 120, .colour = true, .unicode = false};

/* Points that are filled by hand, over the classes of a report. */
struct pointed {
    struct fixture fixture;
    struct stand_out found;
    struct points_report shown;
};

static void start(struct pointed *pointed)
{
    pointed->found = (struct stand_out){.points = VEC_OF(struct point),
                                        .paths = VEC_OF(struct point_path),
                                        .places = VEC_OF(struct class_definition),
                                        .events = 123456,
                                        .kept_events = 300};
    VEC_EACH (class, &pointed->fixture.profile.classes, struct profile_class)
        vec__push(&pointed->found.places, &class->what);
    vec__push(&pointed->found.paths, &(struct point_path){0, STAND_OUT_THREAD});
    pointed->fixture.report.profile = NULL;
    pointed->shown = (struct points_report){&pointed->fixture.report, &pointed->found, NULL, 3};
}

static void finish(struct pointed *pointed)
{
    vec__free(&pointed->found.points);
    vec__free(&pointed->found.paths);
    vec__free(&pointed->found.places);
    fixture__free(&pointed->fixture);
}

static uint32_t place_named(const struct pointed *pointed, const char *function)
{
    for (uint32_t i = 0; i < pointed->found.places.count; i++)
        if (strcmp(VEC_AT(&pointed->found.places, struct class_definition, i)->at.function,
                   function) == 0)
            return i;
    fail_msg("no place %s", function);
    return 0;
}

static uint32_t path(struct pointed *pointed, uint32_t outer, const char *function)
{
    const struct point_path path = {outer, place_named(pointed, function)};
    vec__push(&pointed->found.paths, &path);
    return (uint32_t)pointed->found.paths.count - 1;
}

static struct point *add(struct pointed *pointed, enum point_reason reason, uint32_t in,
                         uint64_t took, uint64_t usual)
{
    size_t already = pointed->found.points.count;
    const struct point point = {.reason = reason,
                                .thread = (uint32_t)already % 4,
                                .path = in,
                                .previous = STAND_OUT_NOTHING,
                                .next = STAND_OUT_NOTHING,
                                .start_ns = 4000 + already * MILLISECOND,
                                .end_ns = 4000 + already * MILLISECOND + took,
                                .took_ns = took,
                                .usual_ns = reason == POINT_RARE ? UINT64_MAX : usual,
                                .lost_ns = took - usual,
                                .component_ns = {[COMPONENT_RUNNING] = took}};
    return vec__push(&pointed->found.points, &point);
}

/* Every kind of point; more than are shown. */
static void fill(struct pointed *pointed)
{
    fixture__busy(&pointed->fixture);
    start(pointed);
    uint32_t parse = path(pointed, 0, "parse_chunk"), hist = path(pointed, parse, "hist_add");
    uint32_t lock = path(pointed, hist, "pthread_mutex_lock");
    uint32_t deep = path(pointed, lock, "pread");
    struct point *point = add(pointed, POINT_LONG, deep, 40 * MILLISECOND, 3 * MILLISECOND);
    point->component_ns[COMPONENT_RUNNING] = 9 * MILLISECOND;
    point->component_ns[COMPONENT_DISK] = 30 * MILLISECOND;
    point->component_ns[COMPONENT_RUNNABLE] = MILLISECOND;
    point = add(pointed, POINT_LONG, parse, 900 * MICROSECOND, 10 * MICROSECOND);
    point->previous = point->next = place_named(pointed, "hist_add");
    add(pointed, POINT_WHOLE, parse, 600 * MICROSECOND, 100 * MICROSECOND);
    add(pointed, POINT_LONG, 0, 50 * MICROSECOND, 0)->next = place_named(pointed, "parse_chunk");
    add(pointed, POINT_RARE, path(pointed, 0, "warm_up"), 70 * MILLISECOND, 0);
    add(pointed, POINT_RARE, 0, 60 * MICROSECOND, 0)->previous = place_named(pointed, "warm_up");
    pointed->found.left_out = 12;
}

/* free() it. */
static char *render(const struct pointed *pointed, const struct points_presenter *presenter,
                    const struct style *style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    presenter->points(&pointed->shown, style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void points_are_as_in_the_files(void **state)
{
    (void)state;
    struct pointed pointed;
    fill(&pointed);
    golden__assert("structure/points.txt", render(&pointed, &points_text, &to_file));
    golden__assert("structure/points-80.txt", render(&pointed, &points_text, &terminal_80));
    golden__assert("structure/points-ascii.txt", render(&pointed, &points_text, &terminal_ascii));
    golden__assert("structure/points.json", render(&pointed, &points_json, &to_file));
    golden__assert("structure/points.csv", render(&pointed, &points_csv, &to_file));
    finish(&pointed);
}

static void nothing_stands_out(void **state)
{
    (void)state;
    struct pointed pointed;
    fixture__empty(&pointed.fixture);
    start(&pointed);
    golden__assert("structure/points-none.txt", render(&pointed, &points_text, &terminal_80));
    golden__assert("structure/points-none.csv", render(&pointed, &points_csv, &to_file));
    finish(&pointed);
}

/* Takes over text. */
static void assert_fits(char *text, unsigned columns)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (text__width(line) > columns)
            fail_msg("wider than %u columns: %s", columns, line);
    free(text);
}

static void lines_fit_the_terminal(void **state)
{
    (void)state;
    struct pointed pointed;
    fill(&pointed);
    for (unsigned columns = 80; columns < 200; columns += 10) {
        const struct style style = {.columns = columns, .unicode = true};
        assert_fits(render(&pointed, &points_text, &style), columns);
    }
    finish(&pointed);
}

static bool is_clean(const char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text) && *text != '\n')
            return false;
    return true;
}

static void hostile_names_do_no_harm(void **state)
{
    (void)state;
    struct pointed pointed;
    fixture__hostile(&pointed.fixture);
    start(&pointed);
    for (uint32_t i = 0; i < pointed.found.places.count; i++) {
        vec__push(&pointed.found.paths, &(struct point_path){i, i});
        struct point *point = add(&pointed, POINT_LONG, i + 1, UINT64_MAX, i);
        point->thread = 0;
        point->previous = i;
    }
    char *text = render(&pointed, &points_text, &terminal_80);
    assert_true(is_clean(text));
    free(text);
    text = render(&pointed, &points_csv, &to_file);
    free(text);
    text = render(&pointed, &points_json, &to_file);
    struct json_object *root = json_tokener_parse(text);
    assert_non_null(root);
    json_object_put(root);
    free(text);
    finish(&pointed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_as_in_the_files),
        cmocka_unit_test(nothing_stands_out),
        cmocka_unit_test(lines_fit_the_terminal),
        cmocka_unit_test(hostile_names_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
