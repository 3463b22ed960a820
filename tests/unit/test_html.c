/* The page of a report: names of the trace stand in it as data alone. */
#include "scene.h"

#include "analysis/findings/findings.h"
#include "present/html/html.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026 };
#define LEFT | 1
#define HOSTILE "</script><script>alert(1)</script><!--&\"'\x01\xff\xe2\x80\xae"
#define DATA_BEGINS "<script type=\"application/json\" id=\"data\">"

/* free() it. */
static char *page_of(const struct scene *scene, struct findings *findings)
{
    struct timeline *timeline;
    struct error error = {""};
    struct report report = {scene->trace, scene->symbols, scene->profile, findings, "t", 0};
    assert_int_equal(run__one(scene->trace, scene->symbols, &timeline_analysis, NULL,
                              (void **)&timeline, &error),
                     0);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    html__put(&(struct html_page){.report = &report, .timeline = timeline}, out);
    fclose(out);
    timeline__free(timeline);
    return text;
}

static size_t times(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strcasestr(at, what)); at++)
        count++;
    return count;
}

static void fill(struct scene *scene, const char *name)
{
    scene__module(scene, 0, 0x400000, 0x500000, 1, "/nowhere/" HOSTILE);
    scene__function(scene, 0, F, 0x401000, name, "");
    for (uint64_t i = 0; i < 100; i++) {
        PUT(scene, 0, 1000 + 100 * i, F);
        PUT(scene, 0, 1000 + 100 * i + (i % 10 ? 10 : 90), F LEFT);
    }
    scene__end(scene, 0, 12000);
    scene__profile(scene);
}

/* The data of the page; json_object_put it. */
static struct json_object *data_in(const char *page)
{
    const char *begin = strstr(page, DATA_BEGINS);
    assert_non_null(begin);
    begin += strlen(DATA_BEGINS);
    const char *end = strchr(begin, '<');
    assert_non_null(end);
    assert_memory_equal(end, "</script>", 9);
    char *text = strndup(begin, (size_t)(end - begin));
    struct json_object *data = json_tokener_parse(text);
    assert_non_null(data);
    free(text);
    return data;
}

static void names_are_data(void **state)
{
    struct scene *scene = *state;
    fill(scene, HOSTILE);
    struct findings *findings = findings__find(scene->trace, scene->symbols, scene->profile);
    char *page = page_of(scene, findings);
    assert_int_equal(times(page, "<script"), 2);
    assert_int_equal(times(page, "</script"), 2);
    assert_int_equal(times(page, "<!--"), 0);
    assert_int_equal(times(page, "\x01"), 0);
    struct json_object *data = data_in(page), *classes, *name;
    classes = json_object_object_get(json_object_object_get(data, "report"), "classes");
    name = json_object_object_get(json_object_array_get_idx(classes, 0), "function");
    assert_string_equal(json_object_get_string(name),
                        "</script><script>alert(1)</script><!--&\"'\x01\xef\xbf\xbd\xe2\x80\xae");
    json_object_put(data);
    free(page);
    findings__free(findings);
}

static void the_timeline_has_the_lives(void **state)
{
    struct scene *scene = *state;
    fill(scene, "f");
    struct findings *findings = findings__find(scene->trace, scene->symbols, scene->profile);
    char *page = page_of(scene, findings);
    struct json_object *data = data_in(page), *timeline, *lane, *states;
    timeline = json_object_object_get(data, "timeline");
    lane = json_object_array_get_idx(json_object_object_get(timeline, "lanes"), 0);
    states = json_object_object_get(lane, "state_ns");
    uint64_t sum = 0;
    for (size_t i = 0; i < json_object_array_length(states); i++)
        sum += json_object_get_uint64(json_object_array_get_idx(states, i));
    assert_int_equal(json_object_array_length(states), TIMELINE_STATES);
    assert_int_equal(sum, json_object_get_uint64(json_object_object_get(lane, "to_ns")) -
                              json_object_get_uint64(json_object_object_get(lane, "from_ns")));
    assert_true(sum > 0);
    assert_int_equal(json_object_array_length(json_object_object_get(timeline, "least_ns")),
                     json_object_array_length(json_object_object_get(lane, "levels")));
    json_object_put(data);
    free(page);
    findings__free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_data, scene__setup, scene__teardown),
        cmocka_unit_test_setup_teardown(the_timeline_has_the_lives, scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
