/* Reports are compared with files in tests/golden/report. */
#include "golden.h"
#include "report_fixture.h"

#include "base/memory.h"
#include "present/shared.h"

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
static const struct style terminal_60 = {.columns = 60, .colour = false, .unicode = true};
static const struct style terminal_100 = {.columns = 100, .colour = false, .unicode = true};
static const struct style terminal_140 = {.columns = 140, .colour = false, .unicode = true};
static const struct style terminal_120 = {.columns = 120, .colour = false, .unicode = true};
static const struct style terminal_200 = {.columns = 200, .colour = false, .unicode = true};
static const struct style terminal_80_ascii = {.columns = 80, .colour = false, .unicode = false};
static const struct style terminal_ascii = {.columns = 120, .colour = true, .unicode = false};

enum view { SUMMARY, FIRST_SCREEN, ONE_CLASS, COVERAGE, AUDIT };

static void put_first_screen(const struct fixture *fixture, const struct style *style, FILE *out)
{
    struct report report = fixture->report;
    struct findings *findings = findings__find(report.trace, report.symbols, report.profile);
    report.findings = findings;
    presenter_text.classes(&report, 0, style, out);
    findings__free(findings);
}

/* What a presenter writes. free() it. */
static char *render(const struct fixture *fixture, const struct presenter *presenter,
                    enum view view, size_t rank, const struct style *style)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (view == FIRST_SCREEN)
        put_first_screen(fixture, style, out);
    else if (view == SUMMARY || view == ONE_CLASS)
        presenter->classes(&fixture->report, rank, style, out);
    else if (view == COVERAGE)
        presenter->coverage(&fixture->report, style, out);
    else
        presenter->audit(&fixture->report, style, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Takes over text. */
static void assert_golden(const char *name, char *text)
{
    char path[128];
    snprintf(path, sizeof path, "report/%s", name);
    golden__assert(path, text);
}

/* ---- golden ---------------------------------------------------------------------------------- */

static void busy_is_as_in_the_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__busy(&fixture);
    assert_golden("busy.txt", render(&fixture, &presenter_text, SUMMARY, 0, &to_file));
    assert_golden("busy-80.txt", render(&fixture, &presenter_text, SUMMARY, 0, &terminal_80));
    assert_golden("busy-ascii.txt", render(&fixture, &presenter_text, SUMMARY, 0, &terminal_ascii));
    assert_golden("busy-lock.txt", render(&fixture, &presenter_text, ONE_CLASS, 1, &to_file));
    assert_golden("busy-function.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 2, &terminal_80));
    assert_golden("busy-coverage.txt", render(&fixture, &presenter_text, COVERAGE, 0, &to_file));
    assert_golden("busy.json", render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    assert_golden("busy.csv", render(&fixture, &presenter_csv, SUMMARY, 0, &to_file));
    assert_golden("busy-coverage.csv", render(&fixture, &presenter_csv, COVERAGE, 0, &to_file));
    fixture__free(&fixture);
}

static void ledger_is_as_in_the_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__ledger(&fixture);
    assert_golden("ledger-80.txt", render(&fixture, &presenter_text, SUMMARY, 0, &terminal_80));
    assert_golden("ledger-120.txt", render(&fixture, &presenter_text, SUMMARY, 0, &terminal_120));
    assert_golden("ledger-200.txt", render(&fixture, &presenter_text, SUMMARY, 0, &terminal_200));
    assert_golden("ledger-ascii.txt",
                  render(&fixture, &presenter_text, SUMMARY, 0, &terminal_80_ascii));
    assert_golden("ledger-lock.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 1, &terminal_120));
    assert_golden("ledger-barrier.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 2, &terminal_80));
    assert_golden("ledger-overlap.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 3, &terminal_80));
    assert_golden("ledger-unclear.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 7, &terminal_120));
    assert_golden("ledger-workload.txt",
                  render(&fixture, &presenter_text, ONE_CLASS, 10, &terminal_ascii));
    assert_golden("ledger.json", render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    assert_golden("ledger.csv", render(&fixture, &presenter_csv, SUMMARY, 0, &to_file));
    assert_golden("ledger-audit.txt", render(&fixture, &presenter_text, AUDIT, 0, &terminal_120));
    assert_golden("ledger-audit.csv", render(&fixture, &presenter_csv, AUDIT, 0, &to_file));
    fixture__free(&fixture);
}

static void quiet_and_empty_say_what_that_means(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__quiet(&fixture);
    assert_golden("quiet.txt", render(&fixture, &presenter_text, SUMMARY, 0, &to_file));
    assert_golden("quiet-coverage.txt", render(&fixture, &presenter_text, COVERAGE, 0, &to_file));
    fixture__free(&fixture);
    fixture__empty(&fixture);
    assert_golden("empty.txt", render(&fixture, &presenter_text, SUMMARY, 0, &to_file));
    assert_golden("empty.json", render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    assert_golden("empty.csv", render(&fixture, &presenter_csv, SUMMARY, 0, &to_file));
    fixture__free(&fixture);
}

static void hostile_is_as_in_the_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__hostile(&fixture);
    assert_golden("hostile.txt", render(&fixture, &presenter_text, SUMMARY, 0, &to_file));
    assert_golden("hostile.csv", render(&fixture, &presenter_csv, SUMMARY, 0, &to_file));
    fixture__free(&fixture);
}

static void assert_first_screens(const struct fixture *fixture, const char *name)
{
    static const struct style *const styles[] = {&terminal_60, &terminal_80, &terminal_100,
                                                 &terminal_140, &terminal_80_ascii};
    static const char *const ends[] = {"60", "80", "100", "140", "ascii"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char file[64];
        snprintf(file, sizeof file, "first-%s-%s.txt", name, ends[i]);
        assert_golden(file, render(fixture, &presenter_text, FIRST_SCREEN, 0, styles[i]));
    }
}

static void first_screens_are_as_in_the_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*make)(struct fixture *fixture);
    } fixtures[] = {{"busy", fixture__busy},
                    {"ledger", fixture__ledger},
                    {"quiet", fixture__quiet},
                    {"empty", fixture__empty},
                    {"hostile", fixture__hostile}};
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct fixture fixture;
        fixtures[i].make(&fixture);
        assert_first_screens(&fixture, fixtures[i].name);
        fixture__free(&fixture);
    }
}

/* ---- what must hold for any report ----------------------------------------------------------- */

static void assert_obeys_nothing(const char *text)
{
    for (const char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\n') || byte == 0x7f || byte == 0xff)
            fail_msg("byte 0x%02x in:\n%s", byte, text);
        assert_false(byte == 0xc2 && ((unsigned char)at[1] & 0xe0) == 0x80);
    }
    assert_null(strstr(text, "\xe2\x80\xae"));
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

/* The class, evidence for it and whom it is blamed on, of names and numbers that nobody checked. */
static void add_hostile_ledger(struct fixture *fixture, enum verdict verdict)
{
    struct profile_class *class = VEC_AT(&fixture->profile.classes, struct profile_class, 0);
    const struct profile_blame blame = {
        .process = 77, .thread = 0, .wait_ns = 1, .doing_ns = {[COMPONENT_DISK] = 1}};
    vec__push(&class->blames, &blame);
    class->verdict = verdict;
    class->cause = verdict == VERDICT_WORKLOAD ? REASON_WORKLOAD : REASON_OVERLAP;
    class->doubts = ~0u;
    for (int i = 0; i < 3; i++) {
        const struct profile_evidence evidence = {
            .reason = i ? REASON_OVERLAP : REASON_WORKLOAD,
            .explained = -1e300,
            .slope_ns = 1e300,
            .argument = i ? NULL : "\x1b[31mn\xff\n",
            .other = i == 1 ? 12345 : class->number,
            .thread = 4711,
        };
        vec__push(&class->evidence, &evidence);
    }
}

static void a_terminal_is_not_commanded_by_names(void **state)
{
    (void)state;
    const struct style *const styles[] = {&to_file, &terminal_80};
    for (unsigned verdict = VERDICT_INTERFERENCE; verdict <= VERDICT_UNCLEAR; verdict++) {
        struct fixture fixture;
        fixture__hostile(&fixture);
        add_hostile_ledger(&fixture, (enum verdict)verdict);
        for (int i = 0; i < 2; i++)
            for (int view = SUMMARY; view <= AUDIT; view++) {
                char *text = render(&fixture, &presenter_text, (enum view)view, 1, styles[i]);
                assert_obeys_nothing(text);
                free(text);
            }
        char *document = render(&fixture, &presenter_json, SUMMARY, 0, &to_file);
        assert_obeys_nothing(document);
        json_object_put(parse_json(document));
        fixture__free(&fixture);
    }
}

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value;
    if (!json_object_object_get_ex(object, name, &value))
        fail_msg("there is no \"%s\" in %s", name, json_object_to_json_string(object));
    return value;
}

static void json_survives_hostile_names(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__hostile(&fixture);
    struct json_object *root = parse_json(render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    struct json_object *class = json_object_array_get_idx(member(root, "classes"), 0);
    const char *function = json_object_get_string(member(class, "function"));
    assert_string_equal(function,
                        "\x1b[31mred\x07 \"quo,ted\"\nnext\tline\xef\xbf\xbd\xef\xbf\xbd( "
                        "\xc2\x9b"
                        "31m \xe2\x80\xae"
                        "flip \xc3\xa9t\xc3\xa9");
    assert_int_equal(json_object_get_int64(member(class, "line")), 4294967295);
    assert_null(member(root, "exit_status"));
    json_object_put(root);
    fixture__free(&fixture);
}

static void json_has_every_field_of_the_contract(void **state)
{
    (void)state;
    static const char *const run[] = {"schema",      "command",  "exit_status", "wall_ns",
                                      "threads",     "overhead", "coverage",    "classes",
                                      "thread_time", "kernel",   "audit"};
    static const char *const of_class[] = {
        "evidence",  "doubts",     "rank",   "kind",      "function",
        "module",    "file",       "line",   "caller",    "object",
        "key",       "threads",    "count",  "min_ns",    "p50_ns",
        "p99_ns",    "max_ns",     "sum_ns", "excess_ns", "exclusive_excess_ns",
        "score",     "score_all",  "why_ns", "verdict",   "cause",
        "wall_gain", "confidence", "stacks"};
    struct fixture fixture;
    fixture__busy(&fixture);
    struct json_object *root = parse_json(render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++)
        member(root, run[i]);
    struct json_object *classes = member(root, "classes");
    assert_int_equal(json_object_array_length(classes), fixture.profile.classes.count);
    for (size_t c = 0; c < json_object_array_length(classes); c++) {
        struct json_object *class = json_object_array_get_idx(classes, c);
        for (size_t i = 0; i < sizeof of_class / sizeof of_class[0]; i++)
            member(class, of_class[i]);
        int64_t sum = 0;
        json_object_object_foreach(member(class, "why_ns"), key, value)
        {
            (void)key;
            sum += json_object_get_int64(value);
        }
        assert_int_equal(sum, json_object_get_int64(member(class, "excess_ns")));
    }
    json_object_put(root);
    fixture__free(&fixture);
}

static void thread_components_add_up_to_the_lifetime(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__busy(&fixture);
    struct json_object *root = parse_json(render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    struct json_object *threads = member(root, "threads");
    assert_int_equal(json_object_array_length(threads), 4);
    for (size_t i = 0; i < 4; i++) {
        struct json_object *thread = json_object_array_get_idx(threads, i);
        int64_t sum = 0;
        json_object_object_foreach(member(thread, "components_ns"), key, value)
        {
            (void)key;
            sum += json_object_get_int64(value); /* null counts as 0 */
        }
        assert_int_equal(sum, json_object_get_int64(member(thread, "lifetime_ns")));
    }
    json_object_put(root);
    fixture__free(&fixture);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static struct json_object *class_of(struct json_object *root, size_t rank)
{
    return json_object_array_get_idx(member(root, "classes"), rank - 1);
}

static void json_names_verdicts_and_causes(void **state)
{
    (void)state;
    static const struct {
        size_t rank;
        const char *verdict, *cause;
    } cases[] = {{1, "interference", "lock"},
                 {3, "interference", "overlap"},
                 {4, "interference", "runnable"},
                 {7, "unclear", NULL},
                 {10, "workload", "workload"}};
    struct fixture fixture;
    fixture__ledger(&fixture);
    struct json_object *root = parse_json(render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json_object *class = class_of(root, cases[i].rank);
        const char *cause = json_object_get_string(member(class, "cause"));
        assert_string_equal(json_object_get_string(member(class, "verdict")), cases[i].verdict);
        assert_string_equal(cause ? cause : "", cases[i].cause ? cases[i].cause : "");
        if (cause)
            member(member(class, "why_ns"), cause);
    }
    struct json_object *evidence =
        json_object_array_get_idx(member(class_of(root, 3), "evidence"), 0);
    assert_int_equal(json_object_get_int(member(member(evidence, "other"), "rank")), 7);
    assert_int_equal(json_object_array_length(member(class_of(root, 7), "doubts")), 5);
    json_object_put(root);
    fixture__free(&fixture);
}

/* Only what interferes is in the table; the rest of the screen names the others. */
static void only_interference_is_ranked(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__ledger(&fixture);
    char *text = render(&fixture, &presenter_text, SUMMARY, 0, &to_file);
    char *apart = strstr(text, "not enough evidence, not ranked: #7 hist_sum 0.22");
    char *varies = strstr(text, "work varies, not ranked: #10 parse_chunk 0.31 (93 % with n)");
    assert_non_null(apart);
    assert_non_null(varies);
    assert_null(strstr(text, "\n 7  "));
    assert_null(strstr(text, "\n10  "));
    assert_non_null(strstr(text, "\n 3  "));
    free(text);
    fixture__free(&fixture);
}

static void without_the_kernels_records_running_is_not_known(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__ledger(&fixture);
    VEC_AT(&fixture.profile.threads, struct profile_thread, 2)->has_kernel = false;
    struct json_object *root = parse_json(render(&fixture, &presenter_json, SUMMARY, 0, &to_file));
    struct json_object *time = member(member(root, "thread_time"), "components_ns");
    assert_null(member(time, "running"));
    assert_int_equal(json_object_get_int64(member(time, "rest")), 39920000000);
    assert_false(json_object_get_boolean(member(member(root, "kernel"), "records")));
    assert_non_null(member(member(root, "kernel"), "why"));
    struct json_object *threads = member(root, "threads");
    for (size_t i = 0; i < 8; i++) {
        struct json_object *components =
            member(json_object_array_get_idx(threads, i), "components_ns");
        assert_true((member(components, "running") == NULL) == (i == 2));
        assert_true((member(components, "rest") == NULL) == (i != 2));
    }
    json_object_put(root);
    char *text = render(&fixture, &presenter_text, FIRST_SCREEN, 0, &to_file);
    assert_non_null(strstr(text, "working or not known 40 %"));
    assert_non_null(strstr(text, "1 of 8 threads could not open the kernel's records"));
    free(text);
    fixture__free(&fixture);
}

/* Whatever does not add up is said, and the report is not held to be right. */
/* 5 % are nobody's wish: whoever reads of --overhead looks for it on the command line in vain. */
static void a_budget_is_called_by_what_set_it(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__busy(&fixture);
    struct heurt_session *session = (struct heurt_session *)trace__session(fixture.report.trace);
    session->overhead_permille = 50;
    char *budget = report__budget(&fixture.report);
    assert_string_equal(budget, "--overhead 5% (the default)");
    free(budget);
    session->overhead_permille = 5;
    session->flags |= HEURT_SESSION_SAMPLE_SEMAPHORES; /* it was given */
    budget = report__budget(&fixture.report);
    assert_string_equal(budget, "--overhead 0.5%");
    free(budget);
    fixture__free(&fixture);
}

static void the_audit_tells_what_is_wrong(void **state)
{
    (void)state;
    for (int broken = 0; broken < 6; broken++) {
        struct fixture fixture;
        fixture__ledger(&fixture);
        struct profile_audit *audit = &fixture.profile.audit;
        struct profile_class *first = VEC_AT(&fixture.profile.classes, struct profile_class, 0);
        audit->wrong_components = broken == 1;
        first->why_ns[COMPONENT_LOCK] += broken == 2;
        first->thread_excess -= broken == 3;
        audit->covered += broken == 4;
        audit->own_excess += broken == 5;
        char *text = render(&fixture, &presenter_text, AUDIT, 0, &to_file);
        assert_int_equal(profile__adds_up(fixture.report.profile), broken == 0);
        assert_int_equal(count_of(text, "Everything adds up."), broken == 0);
        assert_int_equal(count_of(text, "Not everything adds up:"), broken != 0);
        assert_int_equal(count_of(text, "off in 1 of 12 classes"), broken == 1);
        assert_int_equal(count_of(text, "off by 1\n") + count_of(text, "off by -1\n"), broken > 1);
        free(text);
        /* Of sampled occurrences it cannot be asked. */
        audit->sampled_classes = 1;
        assert_int_equal(profile__adds_up(fixture.report.profile), broken == 0 || broken == 4);
        fixture__free(&fixture);
    }
}

static void one_class_as_json_is_that_class(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__busy(&fixture);
    struct json_object *root =
        parse_json(render(&fixture, &presenter_json, ONE_CLASS, 3, &to_file));
    struct json_object *classes = member(root, "classes");
    assert_int_equal(json_object_array_length(classes), 1);
    struct json_object *class = json_object_array_get_idx(classes, 0);
    assert_int_equal(json_object_get_int(member(class, "rank")), 3);
    assert_string_equal(json_object_get_string(member(class, "function")), "pread");
    json_object_put(root);
    fixture__free(&fixture);
}

/* Fields of the CSV line at *at; moves it behind the line. Quotes as in RFC 4180. */
static size_t csv_fields(const char **at, char *fields[], size_t size)
{
    size_t count = 0;
    for (bool more = true; more; count++) {
        assert_true(count < size);
        char *to = fields[count] = memory__zeroed(1, strlen(*at) + 1);
        bool quoted = **at == '"';
        *at += quoted;
        while (**at && !(quoted ? **at == '"' && (*at)[1] != '"' : strchr(",\n", **at) != NULL)) {
            assert_true(quoted || **at != '"');
            *at += quoted && **at == '"';
            *to++ = *(*at)++;
        }
        *at += quoted;
        more = **at == ',';
        assert_true(more || **at == '\n');
        (*at)++;
    }
    return count;
}

static void csv_lines_have_the_fields_of_the_header(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__hostile(&fixture);
    char *text = render(&fixture, &presenter_csv, SUMMARY, 0, &to_file);
    const char *at = text;
    char *names[64], *values[64];
    size_t count = csv_fields(&at, names, 64);
    assert_int_equal(csv_fields(&at, values, 64), count);
    assert_true(*at == 0);
    assert_string_equal(names[2], "function");
    assert_non_null(strstr(values[2], "\"quo,ted\"\nnext\tline"));
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
        free(values[i]);
    }
    free(text);
    fixture__free(&fixture);
}

static void assert_fits(char *text, unsigned columns)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (text__width(line) > columns)
            fail_msg("%u columns, but %u wide: %s", columns, text__width(line), line);
    free(text);
}

/* Rows of a table may not stick out of a terminal; one long word is broken. */
static void assert_everything_fits(const struct fixture *fixture)
{
    for (unsigned columns = 72; columns < 200; columns += 16) {
        const struct style style = {.columns = columns, .unicode = true};
        for (size_t rank = 0; rank <= fixture->profile.classes.count; rank++)
            assert_fits(render(fixture, &presenter_text, rank ? ONE_CLASS : SUMMARY, rank, &style),
                        columns);
        if (columns >= 80)
            assert_fits(render(fixture, &presenter_text, AUDIT, 0, &style), columns);
    }
}

static void lines_fit_the_terminal(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__busy(&fixture);
    assert_everything_fits(&fixture);
    fixture__free(&fixture);
    fixture__ledger(&fixture);
    assert_everything_fits(&fixture);
    fixture__free(&fixture);
}

static void ten_classes_or_all_above_the_threshold(void **state)
{
    (void)state;
    static const struct {
        size_t count, above, shown;
    } cases[] = {{3, 0, 3}, {25, 0, 10}, {25, 4, 10}, {25, 17, 17}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        fixture__many(&fixture, cases[i].count, cases[i].above);
        char *text = render(&fixture, &presenter_text, SUMMARY, 0, &to_file);
        assert_int_equal(count_of(text, "class_"), cases[i].shown);
        assert_int_equal(count_of(text, "more cost less"), cases[i].shown < cases[i].count);
        assert_int_equal(count_of(text, "No class reaches"), cases[i].above == 0);
        assert_int_equal(count_of(text, "below the threshold of 0.2:"),
                         cases[i].above < cases[i].shown);
        free(text);
        fixture__free(&fixture);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static void durations_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0 ns"},
                 {999, "999 ns"},
                 {1000, "1.00 us"},
                 {9994, "9.99 us"},
                 {9996, "10.0 us"},
                 {99960, "100 us"},
                 {999499, "999 us"},
                 {999500, "1.00 ms"},
                 {3200000, "3.20 ms"},
                 {41800000000, "41.8 s"},
                 {999499999999, "999 s"},
                 {1234500000000, "1235 s"},
                 {UINT64_MAX, "18446744074 s"}};
    char buffer[16];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(duration__format(cases[i].ns, buffer), cases[i].text);
}

static void numbers_are_grouped(void **state)
{
    (void)state;
    char buffer[32];
    assert_string_equal(count__format(0, buffer), "0");
    assert_string_equal(count__format(999, buffer), "999");
    assert_string_equal(count__format(1000, buffer), "1,000");
    assert_string_equal(count__format(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
    char bytes[16];
    assert_string_equal(bytes__format(38200000, bytes), "38.2 MB");
    assert_string_equal(bytes__format(UINT64_MAX, bytes), "18446744073 GB");
}

static void gains_are_as_sure_as_they_are(void **state)
{
    (void)state;
    static const struct {
        double gain[2];
        const char *text, *plain;
    } cases[] = {
        {{1.72, 1.94}, "1.7–1.9×", "1.7-1.9x"},
        {{1.94, 1.94}, "1.9×", "1.9x"},
        {{1.004, 1.12}, "≤ 1.1×", "<= 1.1x"},
        {{0.8, 1.05}, "≤ 1.05×", "<= 1.05x"},
        {{1.03, 1.3}, "1.03–1.3×", "1.03-1.3x"},
        {{1.094, 1.097}, "1.09–1.1×", "1.09-1.1x"},
        {{1, 1.009}, "none", "none"},
        {{0.7, 1.001}, "none", "none"},
        {{0.71, 0.82}, "0.71–0.82×", "0.71-0.82x"},
        {{9.94, 38.2}, "9.9–38×", "9.9-38x"},
        {{0, 0}, "?", "?"},
        {{0.0 / 0.0, 1}, "?", "?"},
        {{1, 1e300}, "?", "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[GAIN_BYTES];
        assert_string_equal(gain__format(cases[i].gain, true, buffer), cases[i].text);
        assert_string_equal(gain__format(cases[i].gain, false, buffer), cases[i].plain);
    }
}

static void bars_are_as_long_as_their_share(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *blocks, *signs;
    } cases[] = {
        {0, "", ""},         {0.0001, "▏", "#"},  {0.5, "██", "##"}, {0.53125, "██▏", "###"},
        {1, "████", "####"}, {7, "████", "####"}, {-1, "", ""}};
    const struct style blocks = {.unicode = true}, signs = {.unicode = false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = bar__format(&blocks, cases[i].share, 4);
        assert_string_equal(text, cases[i].blocks);
        free(text);
        text = bar__format(&signs, cases[i].share, 4);
        assert_string_equal(text, cases[i].signs);
        free(text);
    }
}

static void foreign_bytes_are_shown(void **state)
{
    (void)state;
    static const struct {
        const char *from, *screen, *utf8;
    } cases[] = {
        {"été", "été", "été"},
        {"a\xffz", "a\\xffz", "a\xef\xbf\xbdz"},
        {"\xc0\xaf", "\\xc0\\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* not the shortest form */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xe2\x82", "\\xe2\\x82", "\xef\xbf\xbd\xef\xbf\xbd"}, /* cut off */
        {"\xc2\x9b", "\\x9b", "\xc2\x9b"},
        {NULL, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = text__for_screen(cases[i].from);
        assert_string_equal(text, cases[i].screen);
        free(text);
        text = text__utf8(cases[i].from);
        assert_string_equal(text, cases[i].utf8);
        free(text);
    }
}

static void foreign_bytes_are_blunted(void **state)
{
    (void)state;
    char text[] = "\xc3\xa9\x1b\n\xc2\x9b\xe2\x80\xae\xff\xd8\x9cz";
    assert_false(text__is_harmless(text));
    text__blunt(text, "\n");
    assert_string_equal(text, "\xc3\xa9?\n????z");
    text__blunt(text, "");
    assert_string_equal(text, "\xc3\xa9??????z");
    assert_true(text__is_harmless(text));
    assert_true(text__is_harmless(""));
    char *written = NULL;
    size_t bytes;
    FILE *out = open_memstream(&written, &bytes);
    json__put_harmless("[\"\xc2\x9b\xc3\xa9\xe2\x80\xae\x7f\"\n]", out);
    fclose(out);
    assert_string_equal(written, "[\"\\u009b\xc3\xa9\\u202e\\u007f\"\n]");
    free(written);
}

static void long_names_are_shortened(void **state)
{
    (void)state;
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"f", "f"},
        {"", ""},
        {"queue__take.constprop.0", "queue__take"},
        {"f.isra.0.part.3", "f"},
        {"Queue::wait(int) [clone .part.0]", "Queue::wait(int)"},
        {"f.cold", "f"},
        {"pool::take(int) const", "pool::take(int) const"},
        {"a<" STRING ">::add(" STRING " const&)", "a<std::string>::add(std::string const&)"},
        {"quite_a_long_function_name_indeed(unsigned long, void (*)(int)) const",
         "quite_a_long_function_name_indeed"},
        {"(anonymous namespace)::quite_a_long_function_name_without_any_parameters",
         "(anonymous namespace)::quite_a_long_function_name_without_any_parameters"},
        {"operator()()", "operator()()"},
        {"void world::each<int>(int)", "world::each<int>(int)"},
        {"std::vector<int> make<int>(unsigned long)", "make<int>(unsigned long)"},
        {"std::ostream& operator<< <char>(int)", "operator<< <char>(int)"},
        {"non-virtual thunk to list<int>::size()", NULL},
        {"vtable for list<int>", NULL},
        {"game::world::each_slice<int>(game::world::step()::{lambda(long)#2})::{lambda()#1}::"
         "operator()() const",
         "game::world::each_slice<...>::{lambda()#1}::operator()"},
        {"absl::flat_hash_map<std::string, std::vector<int> >::find_or_insert(int)",
         "absl::flat_hash_map<...>::find_or_insert"},
        {"a_long_name_of_a_class_that_has_operators<int>::operator<<(stream_of_characters&)",
         "a_long_name_of_a_class_that_has_operators<...>::operator<<"},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((", NULL},
        {"))))))))))))))))))))))))))))))))))))))))))))))))))))))", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = function__short(cases[i].from);
        assert_string_equal(text, cases[i].to ? cases[i].to : cases[i].from);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(numbers_are_grouped),
        cmocka_unit_test(gains_are_as_sure_as_they_are),
        cmocka_unit_test(bars_are_as_long_as_their_share),
        cmocka_unit_test(foreign_bytes_are_shown),
        cmocka_unit_test(long_names_are_shortened),
        cmocka_unit_test(ten_classes_or_all_above_the_threshold),
        cmocka_unit_test(lines_fit_the_terminal),
        cmocka_unit_test(json_has_every_field_of_the_contract),
        cmocka_unit_test(thread_components_add_up_to_the_lifetime),
        cmocka_unit_test(json_names_verdicts_and_causes),
        cmocka_unit_test(only_interference_is_ranked),
        cmocka_unit_test(without_the_kernels_records_running_is_not_known),
        cmocka_unit_test(a_budget_is_called_by_what_set_it),
        cmocka_unit_test(the_audit_tells_what_is_wrong),
        cmocka_unit_test(one_class_as_json_is_that_class),
        cmocka_unit_test(json_survives_hostile_names),
        cmocka_unit_test(foreign_bytes_are_blunted),
        cmocka_unit_test(csv_lines_have_the_fields_of_the_header),
        cmocka_unit_test(a_terminal_is_not_commanded_by_names),
        cmocka_unit_test(busy_is_as_in_the_files),
        cmocka_unit_test(first_screens_are_as_in_the_files),
        cmocka_unit_test(ledger_is_as_in_the_files),
        cmocka_unit_test(quiet_and_empty_say_what_that_means),
        cmocka_unit_test(hostile_is_as_in_the_files),
    };
    return cmocka_run_group_tests_name("present", tests, NULL, NULL);
}
