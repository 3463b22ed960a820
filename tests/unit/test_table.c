/* Tables: every format, columns that are chosen, rows that are filtered and sorted. */
#include "base/memory.h"
#include "present/table/table_format.h"
#include "present/table/table_source.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *name;
    uint64_t wait_ns;
    double score, gain;
    int64_t more_ns;
    uint32_t line;
    uint64_t address;
    bool idle;
};

static const struct column columns[] = {
    COLUMN(row, name, "lock", "", "what it is called"),
    COLUMN(row, wait_ns, "waited", "ns", "how long"),
    COLUMN(row, score, "score", "share", "of the life"),
    COLUMN_AS(COLUMN_FACTOR, row, gain, NULL, "×", "how many times as fast"),
    COLUMN(row, more_ns, NULL, "ns", "than usual"),
    COLUMN(row, line, NULL, "", "in the source"),
    COLUMN_AS(COLUMN_ADDRESS, row, address, NULL, "", "where it lies"),
    COLUMN(row, idle, "idle", "", "whether it is"),
};
static const struct table table = TABLE(row, "made", "rows by hand", columns);

static const struct row made[] = {
    {"queue.lock", 1500000, 0.25, 1.5, -2000, 31, 0x4a0040, false},
    {"a,b \"c\"|_\033[1m", UINT64_MAX, COLUMN_UNKNOWN, 0, 7, UINT32_MAX, UINT64_MAX, true},
    {NULL, 20000, 0.001, 2.25, 0, 7, 0, false},
    {"queue.signal", 20000, 0.5, 0, 9000000, 8, 0xffffffffffffull, true},
};
#define ROWS (sizeof made / sizeof made[0])

static struct table_rows new_rows(void)
{
    struct table_rows rows = table_rows__of(&table);
    for (size_t i = 0; i < ROWS; i++)
        *(struct row *)table_rows__add(&rows) = made[i];
    return rows;
}

/* free() it. */
static char *render(const struct table_format *format, const struct table_view *view)
{
    static const struct style style = {.columns = 0, .unicode = true};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    format->put(view, 1, &style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_rendered(const struct table_format *format, const char *chosen,
                            const char *wanted)
{
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    if (chosen)
        assert_int_equal(table_view__choose(&view, chosen, NULL), 0);
    char *text = render(format, &view);
    assert_string_equal(text, wanted);
    free(text);
    table_view__free(&view);
    table_rows__free(&rows);
}

static void csv_has_digits_and_quotes(void **state)
{
    (void)state;
    assert_rendered(&table_csv, NULL,
                    "name,wait_ns,score,gain,more_ns,line,address,idle\n"
                    "queue.lock,1500000,0.250000,1.5000,-2000,31,0x4a0040,0\n"
                    "\"a,b \"\"c\"\"|_?[1m\",,,,7,,,1\n"
                    ",20000,0.001000,2.2500,0,7,0x0,0\n"
                    "queue.signal,20000,0.500000,,9000000,8,0xffffffffffff,1\n");
}

static void text_has_units(void **state)
{
    (void)state;
    assert_rendered(&table_text, "name,wait_ns,score,idle",
                    "made: rows by hand\n"
                    "  lock               waited  score  idle\n"
                    "  queue.lock        1.50 ms   25 %    no\n"
                    "  a,b \"c\"|_\\x1b[1m                   yes\n"
                    "                    20.0 us   <1 %    no\n"
                    "  queue.signal      20.0 us   50 %   yes\n");
}

static void latex_and_markdown_escape(void **state)
{
    (void)state;
    assert_rendered(
        &table_markdown, "name,score",
        "| lock | score |\n| --- | ---: |\n| queue.lock | 25 % |\n"
        "| a,b \"c\"\\|\\_\\\\x1b\\[1m |  |\n|  | &lt;1 % |\n| queue.signal | 50 % |\n");
    assert_rendered(
        &table_latex, "name,score",
        "% made: rows by hand\n\\begin{tabular}{lr}\n  \\hline\n  lock & score \\\\\n"
        "  \\hline\n  queue.lock & 25 \\% \\\\\n"
        "  a,b \\textquotedbl{}c\\textquotedbl{}\\textbar{}\\_\\textbackslash{}x1b[1m & "
        " \\\\\n   & \\textless{}1 \\% \\\\\n  queue.signal & 50 \\% \\\\\n"
        "  \\hline\n\\end{tabular}\n");
}

static void json_knows_what_is_not_known(void **state)
{
    (void)state;
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    char *text = render(&table_json, &view);
    assert_non_null(strstr(text, "\"schema\": \"heurt.tables/1\""));
    assert_non_null(strstr(text, "\"score\": 0.250000"));
    assert_non_null(strstr(text, "\"wait_ns\": null"));
    assert_non_null(strstr(text, "\"address\": \"0x4a0040\""));
    assert_non_null(strstr(text, "\"more_ns\": -2000"));
    assert_non_null(strstr(text, "\"idle\": true"));
    free(text);
    table_view__free(&view);
    table_rows__free(&rows);
}

/* The rows that are left, by their places in made: "02". */
static void assert_left(const char *condition, const char *wanted)
{
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    char left[ROWS + 1] = "";
    struct error error = {""};
    int code = table_view__where(&view, condition, &error);
    if (code)
        print_error("%s: %s\n", condition, error.text);
    assert_int_equal(code, 0);
    for (size_t i = 0; i < view.rows.count; i++)
        left[i] = (char)('0' + (*VEC_AT(&view.rows, const struct row *, i) -
                                (const struct row *)rows.rows.items));
    if (strcmp(left, wanted) != 0)
        print_error("%s leaves %s\n", condition, left);
    assert_string_equal(left, wanted);
    table_view__free(&view);
    table_rows__free(&rows);
}

static void conditions_leave_rows(void **state)
{
    (void)state;
    assert_left("score>0.1", "03");
    assert_left("score>=25%", "03");
    assert_left("score<=0.25", "02");
    assert_left("wait_ns=20us", "23");
    assert_left("wait_ns==20000", "23");
    assert_left("wait_ns!=20us", "01"); /* what is not known is no 20 us */
    assert_left("wait_ns>=1.5ms", "0");
    assert_left("waited<1s", "023"); /* by its title */
    assert_left("wait_ns=", "1");
    assert_left("wait_ns!=", "023");
    assert_left("more_ns<0", "0");
    assert_left("more_ns>-3us", "0123");
    assert_left("idle=yes", "13");
    assert_left("idle!=true", "02");
    assert_left("name~queue.*", "03");
    assert_left("name=queue.lock", "0");
    assert_left("name=", "2");
    assert_left("address=0xffffffffffff", "3");
    assert_left("gain>=2x", "2");
}

static void assert_refused(const char *condition, const char *part)
{
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    struct error error = {""};
    assert_int_equal(table_view__where(&view, condition, &error), -EINVAL);
    if (!strstr(error.text, part))
        print_error("%s: %s\n", condition, error.text);
    assert_non_null(strstr(error.text, part));
    assert_int_equal(view.rows.count, ROWS);
    table_view__free(&view);
    table_rows__free(&rows);
}

static void what_is_no_condition_is_refused(void **state)
{
    (void)state;
    assert_refused("score", "expected a column, a comparison");
    assert_refused("", "expected a column");
    assert_refused("scroe>1", "did you mean 'score'?");
    assert_refused("score>much", "'much' is no value of column score (share)");
    assert_refused("score>1ms", "'1ms' is no value");
    assert_refused("wait_ns>5%", "is no value");
    assert_refused("idle>perhaps", "is no value");
    assert_refused("wait_ns~2*", "is no value");
}

static void assert_order(const char *key, const char *wanted)
{
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    char order[ROWS + 1] = "";
    assert_int_equal(table_view__sort(&view, key, NULL), 0);
    for (size_t i = 0; i < view.rows.count; i++)
        order[i] = (char)('0' + (*VEC_AT(&view.rows, const struct row *, i) -
                                 (const struct row *)rows.rows.items));
    assert_string_equal(order, wanted);
    table_view__free(&view);
    table_rows__free(&rows);
}

static void rows_are_sorted(void **state)
{
    (void)state;
    assert_order("wait_ns", "0231"); /* equal ones keep their order, unknown ones are last */
    assert_order("-wait_ns", "2301");
    assert_order("score", "3021");
    assert_order("name", "1032");
    assert_order("-name", "3012");
    assert_order("more_ns", "3120");
}

static void a_column_that_there_is_not_is_told(void **state)
{
    (void)state;
    struct table_rows rows = new_rows();
    struct table_view view = table_view__of(&rows);
    struct error error;
    assert_int_equal(table_view__choose(&view, "name,wait_n", &error), -EINVAL);
    assert_string_equal(error.text, "table made has no column 'wait_n'; did you mean 'wait_ns'?; "
                                    "heurt tables lists them");
    assert_int_equal(table_view__sort(&view, "-zzz", &error), -EINVAL);
    assert_string_equal(error.text, "table made has no column 'zzz'; heurt tables lists them");
    table_view__free(&view);
    table_rows__free(&rows);
}

/* ---- all tables that there are --------------------------------------------------------------- */

static void assert_key(const char *key)
{
    assert_true(strlen(key) > 0);
    assert_int_equal(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(key));
}

/* Times end in _ns, or are called ns; nothing else does. Help is a part of a sentence. */
static void assert_column(const struct table *of, const struct column *column)
{
    size_t length = strlen(column->key);
    bool is_named_ns = strcmp(column->key, "ns") == 0 ||
                       (length > 3 && strcmp(column->key + length - 3, "_ns") == 0);
    bool is_time = strcmp(column->unit, "ns") == 0;
    if (is_named_ns != is_time)
        print_error("%s.%s is counted in '%s'\n", of->name, column->key, column->unit);
    assert_int_equal(is_named_ns, is_time);
    assert_key(column->key);
    assert_true(strlen(column->help) > 0);
    assert_true(column->help[strlen(column->help) - 1] != '.');
    assert_true(column->offset < of->row_bytes);
    assert_ptr_equal(table__column(of, column->key), column); /* keys are there once */
}

/* A document's object has each member once, too; what nests says how. */
static void assert_member(const struct table *of, size_t index)
{
    const struct column *column = &of->columns[index];
    for (size_t i = 0; i < index; i++)
        assert_true(of->columns[i].use == COLUMN_FLAT ||
                    strcmp(of->columns[i].key, column->key) != 0);
    bool has_columns = column->type == COLUMN_OBJECT || column->type == COLUMN_OPTIONAL;
    bool has_rows =
        column->type == COLUMN_LIST || column->type == COLUMN_ONE || column->type == COLUMN_MAP;
    assert_key(column->key);
    assert_int_equal(column->of != NULL, has_columns);
    assert_int_equal(column->rows != NULL, has_rows);
    assert_int_equal(column->word != NULL, column->type == COLUMN_WORD);
}

static void every_table_is_described(void **state)
{
    (void)state;
    for (const struct table_source *const *source = table_sources; *source; source++) {
        const struct table *of = (*source)->table;
        size_t titled = 0;
        assert_key(of->name);
        assert_ptr_equal(table_source__named(of->name), *source);
        for (size_t i = 0; i < of->column_count; i++) {
            if (of->columns[i].use != COLUMN_NESTED)
                assert_column(of, &of->columns[i]);
            if (of->columns[i].use != COLUMN_FLAT)
                assert_member(of, i);
            titled += of->columns[i].title != NULL;
        }
        assert_in_range(titled, 1, 16); /* a screen has room for them */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_digits_and_quotes),
        cmocka_unit_test(text_has_units),
        cmocka_unit_test(latex_and_markdown_escape),
        cmocka_unit_test(json_knows_what_is_not_known),
        cmocka_unit_test(conditions_leave_rows),
        cmocka_unit_test(what_is_no_condition_is_refused),
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(a_column_that_there_is_not_is_told),
        cmocka_unit_test(every_table_is_described),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
