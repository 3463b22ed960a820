/* The view of a run, driven by keys: what its rows say. */
#include "present/view/view.h"

#include "base/memory.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WAIT HEURT_EVENT_LOCK_WAIT
#define LEFT | 1
#define LOCK_SITE HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)
#define LOCK 0x7000
#define US 1000ull
#define ROWS_MOST 64
#define KEY_F(number) ((uint32_t)VIEW_KEY_F1 + (number)-1)

/* Made once: threads 0 and 1 work, 1 waits for 0's lock 30 times, ever longer; 2 waits for work. */
static struct {
    struct scene scene;
    struct run run;
    struct report report;
    struct view *view;
    char *rows[ROWS_MOST];
    bool marked[ROWS_MOST];
    unsigned count;
} made;

static void put_row(void *screen, unsigned row, const char *text, bool is_marked)
{
    assert_ptr_equal(screen, &made);
    assert_true(row < ROWS_MOST);
    free(made.rows[row]);
    made.rows[row] = memory__text(text);
    made.marked[row] = is_marked;
    made.count = row + 1 > made.count ? row + 1 : made.count;
}

static void draw(void)
{
    made.count = 0;
    view__draw(made.view, put_row, &made);
}

static void press(uint32_t key)
{
    assert_true(view__key(made.view, key));
    draw();
}

static void type(const char *text)
{
    for (; *text; text++)
        press((unsigned char)*text);
    press('\n');
}

/* The first row that has it; ROWS_MOST: none has. */
static unsigned row_with(const char *text)
{
    for (unsigned row = 0; row < made.count; row++)
        if (strstr(made.rows[row], text))
            return row;
    return ROWS_MOST;
}

static void assert_shows(const char *text)
{
    if (row_with(text) < ROWS_MOST)
        return;
    for (unsigned row = 0; row < made.count; row++)
        print_error("%s\n", made.rows[row]);
    fail_msg("no row has '%s'", text);
}

static bool read_time(const char *text, void *ns)
{
    char *end;
    *(uint64_t *)ns = strtoull(text, &end, 10) * US;
    return end > text && strcmp(end, "us") == 0;
}

/* ---- what is made ---------------------------------------------------------------------------- */

static uint64_t wait_for(uint64_t at, uint64_t length)
{
    PUT(&made.scene, 0, at, HEURT_EVENT_LOCK_ACQUIRED, LOCK_SITE, LOCK);
    PUT(&made.scene, 1, at + 100, WAIT, LOCK_SITE, LOCK);
    PUT(&made.scene, 0, at + length, HEURT_EVENT_LOCK_RELEASED, LOCK_SITE, LOCK);
    PUT(&made.scene, 1, at + length + 100, WAIT LEFT, 0);
    PUT(&made.scene, 1, at + length + 200, HEURT_EVENT_LOCK_RELEASED, LOCK_SITE, LOCK);
    return at + length + 5 * US;
}

static void make_trace(void)
{
    struct scene *scene = &made.scene;
    scene__begin(scene);
    for (uint32_t thread = 0; thread < 3; thread++) {
        scene__start(scene, thread, 1000);
        PUT(scene, thread, 1000, HEURT_EVENT_KERNEL, 0);
    }
    PUT(scene, 2, 1100, HEURT_EVENT_CONDITION_WAIT, HEURT_SITE(0x9100, 0), 0x8000, 0x8100);
    uint64_t at = 2 * US;
    for (uint64_t i = 1; i <= 30; i++)
        at = wait_for(at, i * 20 * US);
    for (uint32_t thread = 0; thread < 2; thread++)
        PUT(scene, thread, at, HEURT_EVENT_THREAD_END, 9000 * US, 0);
    scene->end = (struct heurt_clock_pair){at, at};
}

static int make(void **state)
{
    struct error error = {""};
    (void)state;
    make_trace();
    if (trace_writer__finish(made.scene.writer, 0, made.scene.end, &error) < 0 ||
        trace__open(made.scene.directory, &made.scene.trace, &error) < 0)
        fail_msg("%s", error.text);
    made.scene.writer = NULL;
    made.run = run__of(made.scene.trace, made.scene.symbols);
    run__ask(&made.run, &thread_times_analysis, NULL);
    if (run__analyse(&made.run, &error) < 0)
        fail_msg("%s", error.text);
    made.report = (struct report){.trace = made.scene.trace,
                                  .symbols = made.scene.symbols,
                                  .profile = run__result(&made.run, &profile_analysis),
                                  .findings = run__result(&made.run, &findings_analysis),
                                  .directory = "heurt.data"};
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    run__free(&made.run);
    scene__free(&made.scene);
    for (unsigned row = 0; row < ROWS_MOST; row++)
        free(made.rows[row]);
    return 0;
}

static int open_view(void **state)
{
    const struct view_subject subject = {&made.report,
                                         run__result(&made.run, &thread_times_analysis), read_time};
    (void)state;
    made.view = view__new(&subject, &(struct style){.columns = 80});
    view__resize(made.view, 24, 80);
    draw();
    return 0;
}

static int close_view(void **state)
{
    (void)state;
    view__free(made.view);
    return 0;
}

/* ---- from page to page ----------------------------------------------------------------------- */

static void enter_goes_down_to_threads_and_q_back(void **state)
{
    (void)state;
    assert_shows("heurt view: findings");
    assert_shows("One lock holds 1 thread back.");
    press('\n');
    assert_shows("heurt view: finding 1");
    press('\n');
    assert_shows("heurt view: call stacks of finding 1");
    assert_shows("No call stack was taken.");
    press('\n');
    assert_shows("heurt view: occurrences of finding 1");
    press('\n');
    assert_shows("heurt view: threads by time");
    for (int i = 0; i < 4; i++)
        press('q');
    assert_shows("heurt view: findings");
    press(VIEW_KEY_LEFT); /* goes nowhere, and does not end it */
    assert_false(view__key(made.view, 'q'));
}

/* A page that is open already is come back to, so that they do not pile up. */
static void pages_are_reached_by_their_keys(void **state)
{
    (void)state;
    press(KEY_F(9));
    assert_shows("occurrences of finding 1");
    press(KEY_F(2));
    assert_shows("threads by time");
    press('o');
    assert_shows("occurrences of finding 1");
    press('q');
    assert_shows("heurt view: findings");
    press(KEY_F(5));
    assert_shows("call stacks");
    press('?');
    assert_shows("heurt view: help");
    assert_false(view__key(made.view, KEY_F(10)));
}

static void rows_are_as_many_as_the_screen_has(void **state)
{
    (void)state;
    view__resize(made.view, 30, 60);
    draw();
    assert_int_equal(made.count, 30);
    assert_int_equal(strlen(made.rows[0]), 60);
    assert_true(made.marked[0] && made.marked[29]);
    view__resize(made.view, 2, 5); /* too small to draw on: the least is drawn */
    draw();
    assert_int_equal(made.count, 8);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void occurrences_are_sorted(void **state)
{
    (void)state;
    press('o');
    assert_shows("by duration");
    unsigned longest = row_with("600 us"), next = row_with("580 us");
    assert_int_equal(next, longest + 1);
    assert_true(made.marked[longest] && made.rows[longest][0] == '>');
    press('s');
    assert_shows("by time");
    assert_int_equal(row_with("40.0 us"), row_with(" 20.0 us") + 1);
    press('G');
    assert_shows("600 us");
    assert_int_equal(made.rows[row_with("600 us")][0], '>');
    press('k');
    assert_int_equal(made.rows[row_with("580 us")][0], '>');
    press('g');
    assert_int_equal(made.rows[row_with(" 20.0 us")][0], '>');
}

static void a_search_goes_around(void **state)
{
    (void)state;
    press('o');
    press('/');
    type("580 US"); /* capitals count */
    assert_shows("Nothing here has '580 US'.");
    press('/');
    type("80 us");
    assert_true(made.marked[row_with("580 us")]);
    press('n');
    assert_true(made.marked[row_with("480 us")]);
    press('N');
    press('N');
    assert_true(made.marked[row_with("180 us")]);
    press('n');
    assert_true(made.marked[row_with("580 us")]);
}

static void what_is_typed_can_be_erased(void **state)
{
    (void)state;
    press('/');
    press('x');
    press(0xe9); /* é */
    assert_shows("/x\xc3\xa9_");
    press(VIEW_KEY_BACKSPACE);
    assert_shows("/x_");
    press(VIEW_KEY_BACKSPACE);
    assert_true(row_with("/_") < ROWS_MOST);
    press(VIEW_KEY_BACKSPACE); /* there is nothing left: the prompt goes */
    assert_true(row_with("/_") == ROWS_MOST);
    press('j');
    assert_shows("heurt view: findings");
}

/* ---- filters --------------------------------------------------------------------------------- */

static void filter(const char *text)
{
    press(KEY_F(4));
    press(21); /* ^U */
    type(text);
}

static void filters_let_through_what_they_name(void **state)
{
    (void)state;
    press('o');
    assert_shows("The 30 longest of");
    filter("from=3000us");
    assert_shows("filter: from=3000us");
    assert_true(row_with("600 us") < ROWS_MOST && row_with("100 us") == ROWS_MOST);
    filter("to=3000us");
    assert_true(row_with("600 us") == ROWS_MOST && row_with("100 us") < ROWS_MOST);
    filter("thread=nobody");
    assert_shows("The filter lets no occurrence");
    filter("function=pthread_mutex*");
    assert_shows("The 30 longest of");
    filter("function=parse");
    assert_shows("The filter lets no occurrence");
    press('q');
    assert_shows("The filter lets no finding through.");
    filter("");
    assert_shows("1 ");
    assert_true(row_with("filter:") == ROWS_MOST);
}

static void a_wrong_filter_is_answered_and_changes_nothing(void **state)
{
    (void)state;
    press('o');
    filter("from=3000us");
    filter("fron=1us");
    assert_shows("'fron=1us' is no filter: thread=NAME function=NAME from=1.2s to=1.5s");
    filter("thread=");
    assert_shows("'thread=' is no filter");
    filter("to=yesterday");
    assert_shows("'to=yesterday' is no filter");
    filter("from=20us to=10us");
    assert_shows("from= must be earlier than to=");
    assert_shows("filter: from=3000us");
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The cells of the row that has that text, from where they begin. */
static const char *cells_of(const char *thread)
{
    const char *row = made.rows[row_with(thread)];
    return row + 2 + 80 / 4 + 1;
}

static void cells_have_the_letters_of_states(void **state)
{
    (void)state;
    press('t');
    assert_true(strspn(cells_of("1000"), "#") == strlen(cells_of("1000")));
    assert_true(strspn(cells_of("1001"), "#L") == strlen(cells_of("1001")));
    assert_int_equal(cells_of("1001")[50], 'L');
    assert_shows("L waiting for a lock");
    press('j');
    assert_shows("waiting for a lock 9");
}

static void idle_threads_are_one_row_until_they_are_asked_for(void **state)
{
    (void)state;
    press('t');
    assert_shows("+idle:");
    assert_true(row_with("1002") == ROWS_MOST);
    press('j');
    press('j');
    press('\n');
    assert_shows("-idle:");
    assert_int_equal(strspn(cells_of("1002"), "."), strlen(cells_of("1002")));
    press('\n');
    assert_true(row_with("1002") == ROWS_MOST);
    filter("thread=1002"); /* who is named is seen */
    assert_shows("1002");
}

/* What "a cell: " stands in front of. */
static char *cell_length(void)
{
    char *row = strstr(made.rows[1], "a cell: ");
    return memory__format("%.*s", 12, row);
}

static void the_range_is_halved_doubled_and_moved(void **state)
{
    (void)state;
    press('t');
    char *whole = cell_length(), *axis = memory__text(made.rows[1]);
    press('+');
    char *half = cell_length();
    assert_string_not_equal(whole, half);
    char *before = memory__text(made.rows[1]);
    press(VIEW_KEY_RIGHT);
    assert_string_not_equal(made.rows[1], before);
    press(VIEW_KEY_LEFT);
    assert_string_equal(made.rows[1], before);
    press('-');
    assert_string_equal(made.rows[1], axis);
    press('-'); /* there is no more */
    assert_string_equal(made.rows[1], axis);
    for (int i = 0; i < 100; i++)
        press('+');
    assert_shows("a cell: 1 ns");
    press('0');
    assert_string_equal(made.rows[1], axis);
    free(whole);
    free(half);
    free(axis);
    free(before);
}

static void an_occurrence_is_shown_where_it_was(void **state)
{
    (void)state;
    press('o');
    press('\n');
    unsigned row = row_with("1001");
    assert_int_equal(made.rows[row][0], '>');
    assert_int_equal(cells_of("1001")[40], 'L');
    assert_int_equal(row_with("a cell: 21.1 us"), 1); /* twice as long as it: 57 cells */
    press('q');
    press('s');
    press('g');
    press('\n');
    assert_shows("a cell: 701 ns");
    assert_int_equal(cells_of("1001")[0], '#');
    assert_int_equal(cells_of("1001")[28], 'L');
    assert_int_equal(cells_of("1001")[33], '#');
}

static void an_aggregated_run_has_findings_alone(void **state)
{
    const struct view_subject subject = {&made.report, NULL, read_time};
    (void)state;
    close_view(NULL);
    made.view = view__new(&subject, &(struct style){.columns = 80});
    view__resize(made.view, 24, 80);
    press('o');
    assert_shows("keeps no single occurrences");
    press('t');
    assert_shows("keeps no order of events");
    press('+');
    press('j');
    press('\n');
    press('s');
}

#define VIEW_TEST(function) cmocka_unit_test_setup_teardown(function, open_view, close_view)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VIEW_TEST(enter_goes_down_to_threads_and_q_back),
        VIEW_TEST(pages_are_reached_by_their_keys),
        VIEW_TEST(rows_are_as_many_as_the_screen_has),
        VIEW_TEST(occurrences_are_sorted),
        VIEW_TEST(a_search_goes_around),
        VIEW_TEST(what_is_typed_can_be_erased),
        VIEW_TEST(filters_let_through_what_they_name),
        VIEW_TEST(a_wrong_filter_is_answered_and_changes_nothing),
        VIEW_TEST(cells_have_the_letters_of_states),
        VIEW_TEST(idle_threads_are_one_row_until_they_are_asked_for),
        VIEW_TEST(the_range_is_halved_doubled_and_moved),
        VIEW_TEST(an_occurrence_is_shown_where_it_was),
        VIEW_TEST(an_aggregated_run_has_findings_alone),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
