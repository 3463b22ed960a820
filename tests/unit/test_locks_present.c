/* Screens of locks are compared with files in tests/golden/locks. */
#include "golden.h"
#include "locks_fixture.h"

#include "base/memory.h"
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

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_80 = {.columns = 80, .colour = false, .unicode = true};
static const struct style terminal_120 = {.columns = 120, .colour = false, .unicode = true};
static const struct style terminal_ascii = {.columns = 80, .colour = true, .unicode = false};

enum view { SUMMARY, ONE, PATH, AUDIT, DOT };

/* What a presenter writes. free() it. */
static char *render(struct locks_fixture *locks, const struct locks_presenter *presenter,
                    enum view view, size_t rank, const struct style *style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    locks->report.critical = view == PATH ? &locks->critical : NULL;
    if (view == SUMMARY || view == ONE)
        presenter->locks(&locks->report, rank, style, out);
    else if (view == PATH)
        presenter->path(&locks->report, style, out);
    else if (view == AUDIT)
        presenter->audit(&locks->report, style, out);
    else
        locks__dot(&locks->report, style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Takes over text. */
static void assert_golden(const char *name, char *text)
{
    char path[128];
    snprintf(path, sizeof path, "locks/%s", name);
    golden__assert(path, text);
}

/* ---- golden ---------------------------------------------------------------------------------- */

static void the_first_screen_is_as_in_the_files(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    assert_golden("busy-80.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_80));
    assert_golden("busy-120.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_120));
    assert_golden("busy-ascii.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_ascii));
    assert_golden("busy.txt", render(&locks, &locks_text, SUMMARY, 0, &to_file));
    assert_golden("busy.json", render(&locks, &locks_json, SUMMARY, 0, &to_file));
    assert_golden("busy.csv", render(&locks, &locks_csv, SUMMARY, 0, &to_file));
    assert_golden("busy.dot", render(&locks, &locks_text, DOT, 0, &to_file));
    locks_fixture__free(&locks);
}

static void each_kind_in_depth_is_as_in_the_files(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    assert_golden("mutex-80.txt", render(&locks, &locks_text, ONE, 1, &terminal_80));
    assert_golden("mutex-120.txt", render(&locks, &locks_text, ONE, 1, &terminal_120));
    assert_golden("mutex.json", render(&locks, &locks_json, ONE, 1, &to_file));
    assert_golden("rwlock-120.txt", render(&locks, &locks_text, ONE, 2, &terminal_120));
    assert_golden("barrier-80.txt", render(&locks, &locks_text, ONE, 3, &terminal_80));
    assert_golden("condition-ascii.txt", render(&locks, &locks_text, ONE, 4, &terminal_ascii));
    assert_golden("semaphore-80.txt", render(&locks, &locks_text, ONE, 5, &terminal_80));
    locks_fixture__free(&locks);
}

static void the_path_is_as_in_the_files(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    assert_golden("path-80.txt", render(&locks, &locks_text, PATH, 0, &terminal_80));
    assert_golden("path-120.txt", render(&locks, &locks_text, PATH, 0, &terminal_120));
    assert_golden("path.csv", render(&locks, &locks_csv, PATH, 0, &to_file));
    locks_fixture__free(&locks);
}

static void the_audit_is_as_in_the_files(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    assert_golden("audit-80.txt", render(&locks, &locks_text, AUDIT, 0, &terminal_80));
    assert_golden("audit.csv", render(&locks, &locks_csv, AUDIT, 0, &to_file));
    assert_true(locks__add_up(&locks.report));
    struct locks_check *check = VEC_AT(&locks.result.checks, struct locks_check, 0);
    check->right--;
    check->is_good = false;
    assert_golden("audit-wrong-80.txt", render(&locks, &locks_text, AUDIT, 0, &terminal_80));
    assert_false(locks__add_up(&locks.report));
    locks_fixture__free(&locks);
}

static void a_filtered_lock_says_what_is_left_out(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    locks.filter = (struct locks_filter){.lock = "queue*",
                                         .thread = "ingest",
                                         .min_wait_ns = 1000000,
                                         .from_ns = 1000000000,
                                         .to_ns = 2000000000};
    locks.fixture.report.profile = NULL;
    assert_golden("filtered-80.txt", render(&locks, &locks_text, ONE, 1, &terminal_80));
    locks.fixture.report.profile = &locks.fixture.profile;
    locks_fixture__free(&locks);
}

static void nothing_to_show_is_one_sentence(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__none(&locks);
    assert_golden("none-80.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_80));
    assert_golden("none.csv", render(&locks, &locks_csv, SUMMARY, 0, &to_file));
    locks.filter.lock = "missing*";
    assert_golden("none-filtered-80.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_80));
    locks_fixture__free(&locks);
    locks_fixture__empty(&locks);
    assert_golden("empty-80.txt", render(&locks, &locks_text, SUMMARY, 0, &terminal_80));
    assert_golden("empty-path-80.txt", render(&locks, &locks_text, PATH, 0, &terminal_80));
    assert_golden("empty.json", render(&locks, &locks_json, PATH, 0, &to_file));
    assert_golden("empty.dot", render(&locks, &locks_text, DOT, 0, &to_file));
    locks_fixture__free(&locks);
}

/* ---- what must hold for any screen ----------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static void assert_obeys_nothing(const char *text)
{
    for (const char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\n') || byte == 0x7f || byte == 0xff)
            fail_msg("byte 0x%02x in:\n%s", byte, text);
    }
}

static struct json_object *parse_json(char *text)
{
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    if (!root)
        fail_msg("%s", json_tokener_error_desc(json_tokener_get_error(tokener)));
    json_tokener_free(tokener);
    free(text);
    return root;
}

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value;
    if (!json_object_object_get_ex(object, name, &value))
        fail_msg("there is no \"%s\" in %s", name, json_object_to_json_string(object));
    return value;
}

static void assert_fits(char *text, unsigned columns)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (text__width(line) > columns)
            fail_msg("%u columns, but %u wide: %s", columns, text__width(line), line);
    free(text);
}

static void lines_fit_the_terminal(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    for (unsigned columns = 80; columns < 200; columns += 10) {
        const struct style style = {.columns = columns, .unicode = true};
        assert_fits(render(&locks, &locks_text, SUMMARY, 0, &style), columns);
        assert_fits(render(&locks, &locks_text, PATH, 0, &style), columns);
        for (size_t rank = 1; rank <= locks.result.rows.count; rank++)
            assert_fits(render(&locks, &locks_text, ONE, rank, &style), columns);
    }
    locks_fixture__free(&locks);
}

static void a_terminal_is_not_commanded_by_names(void **state)
{
    (void)state;
    const struct style *const styles[] = {&to_file, &terminal_80};
    struct locks_fixture locks;
    locks_fixture__hostile(&locks);
    for (int i = 0; i < 2; i++)
        for (int view = SUMMARY; view <= DOT; view++)
            for (size_t rank = 1; rank <= locks.result.rows.count; rank++) {
                char *text = render(&locks, &locks_text, (enum view)view, rank, styles[i]);
                assert_obeys_nothing(text);
                free(text);
            }
    struct json_object *root = parse_json(render(&locks, &locks_json, PATH, 0, &to_file));
    json_object_put(root);
    free(render(&locks, &locks_csv, SUMMARY, 0, &to_file));
    locks_fixture__free(&locks);
}

static void locks_that_cost_little_are_counted(void **state)
{
    (void)state;
    static const struct {
        size_t locks, shown;
        const char *note;
    } cases[] = {{4, 3, "and 1 more that nobody waited for"},
                 {10, 5, "and 5 more that nobody waited for"},
                 {40, 15, "and 25 more, of which nobody waited for 5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct locks_fixture locks;
        locks_fixture__many(&locks, cases[i].locks);
        char *text = render(&locks, &locks_text, SUMMARY, 0, &to_file);
        assert_int_equal(count_of(text, " 0x7ffc5"), cases[i].shown);
        if (!strstr(text, cases[i].note))
            fail_msg("no \"%s\" in\n%s", cases[i].note, text);
        free(text);
        locks_fixture__free(&locks);
    }
}

/* Everything of the contract in docs/heurt-locks.md. */
static void json_has_every_field_of_the_contract(void **state)
{
    (void)state;
    static const char *const run[] = {"schema", "audit",      "command",  "exit_status",
                                      "signal", "machine",    "wall_ns",  "lifetime_ns",
                                      "filter", "all",        "pressure", "warnings",
                                      "locks",  "inversions", "path",     "threads"};
    static const char *const of_lock[] = {
        "rank",          "kind",         "address",     "name",
        "process",       "mutex",        "initialised", "wait_ns",
        "wait_share",    "acquisitions", "contended",   "exclusive",
        "shared",        "signals",      "broadcasts",  "signals_for_nobody",
        "wake",          "rounds",       "spread",      "last_arriver",
        "last_arrivals", "on_path",      "sites",       "pairs",
        "holders",       "longest",      "acquiring_ns"};
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    struct json_object *root = parse_json(render(&locks, &locks_json, PATH, 0, &to_file));
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++)
        member(root, run[i]);
    struct json_object *list = member(root, "locks");
    assert_int_equal(json_object_array_length(list), locks.result.rows.count);
    for (size_t r = 0; r < json_object_array_length(list); r++)
        for (size_t i = 0; i < sizeof of_lock / sizeof of_lock[0]; i++)
            member(json_object_array_get_idx(list, r), of_lock[i]);
    struct json_object *pieces = member(member(root, "path"), "pieces");
    assert_int_equal(json_object_array_length(pieces), locks.critical.pieces.count);
    assert_int_equal(json_object_array_length(member(member(root, "pressure"), "running_ns")),
                     locks.result.steps);
    json_object_put(root);
    locks_fixture__free(&locks);
}

/* The phase is where it was put: in the second third, and the strip is blank at the end. */
static void a_phase_of_high_pressure_is_seen(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    char *text = render(&locks, &locks_text, SUMMARY, 0, &terminal_120);
    char *strip = strstr(text, "  all locks");
    assert_non_null(strip);
    char *full = strstr(strip, "█"), *end = strchr(strip, '\n');
    assert_true(full && full < end);
    assert_non_null(strstr(strip, "max 209 % at 4.14 s"));
    free(text);
    locks_fixture__free(&locks);
}

/* ---- dot: a checker of the language as far as it is used ------------------------------------- */

static void skip_blanks(const char **at)
{
    while (isspace((unsigned char)**at))
        (*at)++;
}

static bool take(const char **at, const char *word)
{
    skip_blanks(at);
    if (strncmp(*at, word, strlen(word)) != 0)
        return false;
    *at += strlen(word);
    return true;
}

/* An identifier, a number, or a quoted string, in which only \" ends nothing. */
static bool take_id(const char **at)
{
    skip_blanks(at);
    if (**at == '"') {
        for (++*at; **at && **at != '"'; ++*at)
            if (**at == '\\' && !*++*at)
                return false;
        return *(*at)++ == '"';
    }
    const char *start = *at;
    bool is_number = isdigit((unsigned char)**at);
    while (isalnum((unsigned char)**at) || **at == '_' || (is_number && **at == '.'))
        ++*at;
    return *at > start;
}

static bool take_attributes(const char **at)
{
    if (!take(at, "["))
        return true;
    do
        if (!take_id(at) || !take(at, "=") || !take_id(at))
            return false;
    while (take(at, ","));
    return take(at, "]");
}

/* Returns the number of edges; fails when it is no graph. */
static size_t edges_of(const char *dot)
{
    const char *at = dot;
    size_t edges = 0;
    bool fine = take(&at, "digraph") && take_id(&at) && take(&at, "{");
    while (fine && !take(&at, "}")) {
        fine = take_id(&at);
        if (fine && take(&at, "->")) {
            fine = take_id(&at);
            edges++;
        }
        fine = fine && take_attributes(&at) && take(&at, ";");
    }
    skip_blanks(&at);
    if (!fine || *at)
        fail_msg("no graph from here on: %s\nin:\n%s", at, dot);
    return edges;
}

static void dot_is_a_graph(void **state)
{
    (void)state;
    struct locks_fixture locks;
    locks_fixture__busy(&locks);
    char *dot = render(&locks, &locks_text, DOT, 0, &to_file);
    assert_int_equal(edges_of(dot), 6);
    free(dot);
    locks_fixture__free(&locks);
    locks_fixture__hostile(&locks);
    dot = render(&locks, &locks_text, DOT, 0, &to_file);
    assert_int_equal(edges_of(dot), 1);
    free(dot);
    locks_fixture__free(&locks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_screen_is_as_in_the_files),
        cmocka_unit_test(each_kind_in_depth_is_as_in_the_files),
        cmocka_unit_test(the_path_is_as_in_the_files),
        cmocka_unit_test(the_audit_is_as_in_the_files),
        cmocka_unit_test(a_filtered_lock_says_what_is_left_out),
        cmocka_unit_test(nothing_to_show_is_one_sentence),
        cmocka_unit_test(lines_fit_the_terminal),
        cmocka_unit_test(a_terminal_is_not_commanded_by_names),
        cmocka_unit_test(locks_that_cost_little_are_counted),
        cmocka_unit_test(json_has_every_field_of_the_contract),
        cmocka_unit_test(a_phase_of_high_pressure_is_seen),
        cmocka_unit_test(dot_is_a_graph),
    };
    return cmocka_run_group_tests_name("locks_present", tests, NULL, NULL);
}
