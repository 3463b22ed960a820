/* Screens of outlines are compared with files in tests/golden/structure. */
#include "golden.h"
#include "report_fixture.h"

#include "base/memory.h"
#include "present/shared.h"
#include "present/structure/structure_grammar.h"
#include "present/structure/structure_screens.h"

#include <ctype.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_80 = {.columns = 80, .colour = false, .unicode = true};
static const struct style terminal_120 = {.columns = 120, .colour = false, .unicode = true};
static const struct style terminal_ascii = {.columns = 80, .colour = true, .unicode = false};

/* An outline that is filled by hand, over the classes of a report. */
struct outlined {
    struct fixture fixture;
    struct structure structure;
    struct outline outline;
    struct outline_options options;
    struct sequences sequences;
    struct structure_report shown;
};

static void start(struct outlined *outlined)
{
    outlined->structure.shapes = shapes__new();
    outlined->structure.places = VEC_OF(struct structure_place);
    outlined->structure.threads = VEC_OF(struct structure_thread);
    outlined->outline.is_sampled = false;
    outlined->outline.groups = VEC_OF(struct outline_group);
    outlined->outline.rows = VEC_OF(struct outline_row);
    outlined->outline.folded = VEC_OF(uint32_t);
    outlined->options = (struct outline_options){.least_share = 0.005};
    outlined->sequences = (struct sequences){VEC_OF(struct sequence), 48 * SECOND};
    VEC_EACH (class, &outlined->fixture.profile.classes, struct profile_class) {
        struct structure_place *place = vec__push(&outlined->structure.places, NULL);
        place->what = class->what;
    }
    for (uint32_t i = 0; i < trace__threads(outlined->fixture.report.trace)->count; i++)
        vec__push(&outlined->structure.threads, &(struct structure_thread){.thread = i});
    outlined->fixture.report.profile = NULL;
    outlined->shown = (struct structure_report){.report = &outlined->fixture.report,
                                                .structure = &outlined->structure,
                                                .outline = &outlined->outline,
                                                .options = &outlined->options,
                                                .sequences = &outlined->sequences};
}

static void finish(struct outlined *outlined)
{
    VEC_EACH (group, &outlined->outline.groups, struct outline_group)
        vec__free(&group->threads);
    vec__free(&outlined->outline.groups);
    vec__free(&outlined->outline.rows);
    vec__free(&outlined->outline.folded);
    VEC_EACH (sequence, &outlined->sequences.rows, struct sequence)
        vec__free(&sequence->items);
    vec__free(&outlined->sequences.rows);
    shapes__free(outlined->structure.shapes);
    vec__free(&outlined->structure.places);
    vec__free(&outlined->structure.threads);
    fixture__free(&outlined->fixture);
}

static uint32_t place_named(const struct outlined *outlined, const char *function)
{
    for (uint32_t i = 0; i < outlined->structure.places.count; i++)
        if (strcmp(VEC_AT(&outlined->structure.places, struct structure_place, i)->what.at.function,
                   function) == 0)
            return i;
    fail_msg("no place %s", function);
    return 0;
}

static void group(struct outlined *outlined, uint32_t first_thread, uint32_t threads,
                  uint64_t lifetime_ns)
{
    struct outline_group *group = vec__push(&outlined->outline.groups, NULL);
    group->threads = VEC_OF(uint32_t);
    group->lifetime_ns = lifetime_ns;
    group->first_row = (uint32_t)outlined->outline.rows.count;
    for (uint32_t i = 0; i < threads; i++)
        vec__push(&group->threads, &(uint32_t){first_thread + i});
}

/* Of the last group. */
static struct outline_row *row(struct outlined *outlined, enum outline_kind kind, uint32_t depth,
                               uint64_t count, uint64_t sum_ns)
{
    struct outline_group *last =
        VEC_AT(&outlined->outline.groups, struct outline_group, outlined->outline.groups.count - 1);
    const struct outline_row row = {.kind = kind,
                                    .depth = depth,
                                    .group = (uint32_t)outlined->outline.groups.count - 1,
                                    .threads = (uint32_t)last->threads.count,
                                    .shapes = 1,
                                    .same_as = OUTLINE_NONE,
                                    .count = count,
                                    .sum_ns = sum_ns,
                                    .min_ns = count ? sum_ns / count / 2 : 0,
                                    .max_ns = count ? sum_ns / count * 3 : 0};
    last->row_count++;
    return vec__push(&outlined->outline.rows, &row);
}

static struct outline_row *occurrence(struct outlined *outlined, uint32_t depth,
                                      const char *function, uint64_t count, uint64_t sum_ns)
{
    struct outline_row *added = row(outlined, OUTLINE_OCCURRENCE, depth, count, sum_ns);
    added->place = place_named(outlined, function);
    return added;
}

static struct outline_row *loop(struct outlined *outlined, uint32_t depth, uint64_t loops,
                                uint64_t least, uint64_t most, uint64_t count, uint64_t sum_ns)
{
    struct outline_row *added = row(outlined, OUTLINE_LOOP, depth, count, sum_ns);
    added->iterations = (struct shape_iterations){count, least, most};
    added->loops = loops;
    return added;
}

static void fold(struct outlined *outlined, uint32_t depth, uint64_t rows, uint64_t sum_ns,
                 const char *one, const char *other)
{
    struct outline_row *rest = row(outlined, OUTLINE_REST, depth, rows, sum_ns);
    rest->first_folded = (uint32_t)outlined->outline.folded.count;
    rest->folded_count = 2;
    vec__push(&outlined->outline.folded, &(uint32_t){place_named(outlined, one)});
    vec__push(&outlined->outline.folded, &(uint32_t){place_named(outlined, other)});
}

/* The shape of a call of a place, with nothing in it; twice: of a loop of that. */
static uint32_t shape(struct outlined *outlined, const char *function, uint64_t times)
{
    struct shape_builder *builder = shape_builder__new(outlined->structure.shapes);
    uint32_t symbol = place_named(outlined, function), last = 0;
    for (uint64_t i = 0; i < times; i++) {
        const struct shaped one = {symbol, 1, 0, 100 * i, 100 * i + 100, 100};
        last = shape_builder__add(builder, &one);
    }
    uint32_t root = shape_builder__end(builder, STRUCTURE_THREAD, 0, 100 * times);
    shape_builder__free(builder);
    return times > 1 ? shapes__items(outlined->structure.shapes, root)->shape : last;
}

static struct sequence *sequence(struct outlined *outlined, uint64_t count, uint64_t places,
                                 uint64_t sum_ns)
{
    const struct sequence new = {.items = VEC_OF(struct sequence_item),
                                 .length = 3,
                                 .places = places,
                                 .occurrences = count,
                                 .sum_ns = sum_ns};
    return vec__push(&outlined->sequences.rows, &new);
}

/* One of two calls, one that holds it, a rare one. */
static void add_sequences(struct outlined *outlined)
{
    uint32_t lock = shape(outlined, "pthread_mutex_lock", 1);
    uint32_t read = shape(outlined, "pread", 1), loop = shape(outlined, "hist_add", 2);
    struct sequence *first = sequence(outlined, 900, 4, 12 * SECOND);
    vec__push(&first->items, &(struct sequence_item){false, read, 1});
    vec__push(&first->items, &(struct sequence_item){false, lock, 3});
    struct sequence *second = sequence(outlined, 300, 2, 5 * SECOND);
    vec__push(&second->items, &(struct sequence_item){true, 0, 1});
    vec__push(&second->items, &(struct sequence_item){false, loop, 1});
    struct sequence *rare = sequence(outlined, 2, 2, 4 * SECOND);
    vec__push(&rare->items, &(struct sequence_item){false, lock, 1});
    vec__push(&rare->items, &(struct sequence_item){false, loop, 1});
}

/* Three workers in one loop, an odd one out, the main thread; every kind of row. */
static void fill(struct outlined *outlined)
{
    fixture__busy(&outlined->fixture);
    start(outlined);
    group(outlined, 1, 3, 36 * SECOND);
    occurrence(outlined, 0, "warm_up", 3, 300 * MILLISECOND);
    loop(outlined, 0, 3, 198, 200, 598, 34 * SECOND)->excess_ns = 8 * SECOND;
    occurrence(outlined, 1, "parse_chunk", 598, 20 * SECOND)->shapes = 2;
    loop(outlined, 2, 598, 8, 8, 4784, 8 * SECOND);
    occurrence(outlined, 3, "hist_add", 4784, 8 * SECOND)->is_excess_estimated = true;
    loop(outlined, 2, 598, 2, 5, 2000, 10 * SECOND)->is_estimated = true;
    occurrence(outlined, 3, "pread", 2000, 9 * SECOND)->is_estimated = true;
    fold(outlined, 3, 12, 400 * MILLISECOND, "hist_add", "flush");
    row(outlined, OUTLINE_UNRECORDED, 2, 0, 2 * SECOND);
    struct outline_row *lock =
        occurrence(outlined, 1, "pthread_mutex_lock", 598, 13900 * MILLISECOND);
    lock->excess_ns = 13800 * MILLISECOND;
    struct outline_row *flush = occurrence(outlined, 0, "flush", 2, 500 * MILLISECOND);
    flush->threads = 2;
    flush->is_cut = true;
    row(outlined, OUTLINE_SCATTERED, 0, 77, 300 * MILLISECOND)->place =
        place_named(outlined, "nanosleep");
    group(outlined, 0, 1, 12 * SECOND);
    occurrence(outlined, 0, "parse_chunk", 1, 40 * MILLISECOND)->same_as = 2;
    loop(outlined, 0, 1, 3, 3, 3, 11 * SECOND);
    occurrence(outlined, 1, "pthread_join", 3, 11 * SECOND);
    add_sequences(outlined);
}

/* ---- what is written ------------------------------------------------------------------------- */

/* free() it. */
static char *render(const struct outlined *outlined, const struct structure_presenter *presenter,
                    const struct style *style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    presenter->outline(&outlined->shown, style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *render_grammar(const struct grammar_report *shown,
                            const struct grammar_presenter *presenter, const struct style *style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    presenter->put(shown, style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Takes over text. */
static void assert_golden(const char *name, char *text)
{
    char path[128];
    snprintf(path, sizeof path, "structure/%s", name);
    golden__assert(path, text);
}

static void outlines_are_as_in_the_files(void **state)
{
    (void)state;
    struct outlined outlined;
    fill(&outlined);
    assert_golden("known-80.txt", render(&outlined, &structure_text, &terminal_80));
    assert_golden("known-120.txt", render(&outlined, &structure_text, &terminal_120));
    assert_golden("known-ascii.txt", render(&outlined, &structure_text, &terminal_ascii));
    assert_golden("known.txt", render(&outlined, &structure_text, &to_file));
    assert_golden("known.json", render(&outlined, &structure_json, &to_file));
    assert_golden("known.csv", render(&outlined, &structure_csv, &to_file));
    finish(&outlined);
}

static void what_has_no_events_says_so(void **state)
{
    (void)state;
    struct outlined outlined;
    fixture__empty(&outlined.fixture);
    start(&outlined);
    assert_golden("empty-80.txt", render(&outlined, &structure_text, &terminal_80));
    assert_golden("empty.json", render(&outlined, &structure_json, &to_file));
    assert_golden("empty.csv", render(&outlined, &structure_csv, &to_file));
    finish(&outlined);
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
    struct outlined outlined;
    fill(&outlined);
    for (unsigned columns = 80; columns < 200; columns += 10) {
        const struct style style = {.columns = columns, .unicode = true};
        assert_fits(render(&outlined, &structure_text, &style), columns);
    }
    finish(&outlined);
}

static unsigned lines_of(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void what_was_sampled_is_told(void **state)
{
    (void)state;
    struct outlined outlined;
    fill(&outlined);
    outlined.outline.is_sampled = true;
    char *text = render(&outlined, &structure_text, &to_file);
    assert_non_null(strstr(text, "one call in many was recorded"));
    free(text);
    finish(&outlined);
}

/* A thousand kinds of threads are no wall of text. */
static void many_groups_are_cut(void **state)
{
    (void)state;
    struct outlined outlined;
    fixture__busy(&outlined.fixture);
    start(&outlined);
    for (uint32_t i = 0; i < 1000; i++) {
        group(&outlined, i % 4, 1, SECOND);
        occurrence(&outlined, 0, "parse_chunk", 1 + i, SECOND / 2);
    }
    char *text = render(&outlined, &structure_text, &terminal_80);
    assert_true(lines_of(text) < 60);
    assert_non_null(strstr(text, "and 992 more threads of 992 kinds"));
    free(text);
    finish(&outlined);
}

static void grammars_are_as_in_the_files(void **state)
{
    (void)state;
    struct outlined outlined;
    fill(&outlined);
    struct grammar *grammar = grammar__new();
    for (int i = 0; i < 200; i++)
        for (const char *const *name =
                 (const char *const[]){"pthread_mutex_lock", "pread", "hist_add", "hist_add", NULL};
             *name; name++)
            grammar__add(grammar, place_named(&outlined, *name));
    grammar__add(grammar, place_named(&outlined, "flush"));
    grammar__end(grammar);
    const struct grammar_report shown = {&outlined.fixture.report, &outlined.structure, grammar, 1,
                                         SIZE_MAX};
    assert_golden("grammar-80.txt", render_grammar(&shown, &grammar_text, &terminal_80));
    assert_golden("grammar.json", render_grammar(&shown, &grammar_json, &to_file));
    assert_golden("grammar.csv", render_grammar(&shown, &grammar_csv, &to_file));
    grammar__free(grammar);
    finish(&outlined);
}

/* ---- hostile --------------------------------------------------------------------------------- */

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
    struct outlined outlined;
    fixture__hostile(&outlined.fixture);
    start(&outlined);
    group(&outlined, 0, 3, 3 * SECOND);
    loop(&outlined, 0, 3, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX)->excess_ns = UINT64_MAX;
    row(&outlined, OUTLINE_OCCURRENCE, 1, UINT64_MAX, 0)->min_ns = UINT64_MAX;
    char *text = render(&outlined, &structure_text, &terminal_80);
    assert_true(is_clean(text));
    free(text);
    free(render(&outlined, &structure_csv, &to_file));
    text = render(&outlined, &structure_json, &to_file);
    struct json_object *root = json_tokener_parse(text);
    assert_non_null(root);
    json_object_put(root);
    free(text);
    finish(&outlined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlines_are_as_in_the_files),
        cmocka_unit_test(what_has_no_events_says_so),
        cmocka_unit_test(grammars_are_as_in_the_files),
        cmocka_unit_test(lines_fit_the_terminal),
        cmocka_unit_test(what_was_sampled_is_told),
        cmocka_unit_test(many_groups_are_cut),
        cmocka_unit_test(hostile_names_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
