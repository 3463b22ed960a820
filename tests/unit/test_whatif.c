/* heurt whatif but for the replay: what it is asked, whom that means, who answers, and how it is
 * shown (tests/golden/whatif). The replay is a fake that answers at once. */
#include "analysis/findings/wall_gains.h"
#include "analysis/replay/predictions.h"
#include "cmd/changes.h"
#include "cmd/targets.h"
#include "golden.h"
#include "present/whatif/whatif_screens.h"
#include "report_fixture.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull

/* ---- the fake -------------------------------------------------------------------------------- */

struct whatif {
    atomic_uint opened, asked;
    uint64_t most_events;
};

static struct whatif fake;
static bool fake_refuses;

int whatif__open(const struct trace *trace, const struct symbols *symbols,
                 const struct profile *profile, uint64_t most_events, struct whatif **whatif,
                 struct error *error)
{
    (void)trace, (void)symbols, (void)profile;
    *whatif = &fake;
    fake.most_events = most_events;
    if (fake_refuses)
        return error__set(error, -ENOTSUP, "not this one");
    atomic_fetch_add(&fake.opened, 1);
    return 0;
}

double whatif__replayed_share(const struct whatif *whatif)
{
    return whatif->most_events < 1000000 ? 0.25 : 1;
}

void whatif__close(struct whatif *whatif)
{
    atomic_fetch_sub(&whatif->opened, 1);
}

/* Twice as fast without class 0, a bit faster without any other; of class 99 nothing is told. */
int whatif__predict(struct whatif *whatif, const struct change *changes, size_t count,
                    struct prediction *prediction, struct error *error)
{
    assert_int_equal(count, 1);
    atomic_fetch_add(&whatif->asked, 1);
    if (changes->class == 99)
        return error__set(error, -ENOTSUP, "class 99 cannot be removed");
    double gain = changes->class ? 1 + changes->class / 1000.0 : 2;
    *prediction = (struct prediction){.wall_ns = (uint64_t)(1e9 / gain),
                                      .gain = {gain, gain + 0.5},
                                      .objects = VEC_OF(struct whatif_object)};
    return 0;
}

void prediction__free(struct prediction *prediction)
{
    vec__free(&prediction->objects);
}

/* ---- the command line ------------------------------------------------------------------------ */

typedef int reader(const char *value, struct asked *asked, struct error *error);

static void changes_are_read(void **state)
{
    (void)state;
    static const struct {
        reader *read;
        const char *value;
        struct asked asked;
    } cases[] = {
        {asked__remove, "3", {CHANGE_REMOVE, ASKED_OF_CLASS, 3, NULL, 0, 0, false, "--remove 3"}},
        {asked__remove,
         "queue_push",
         {CHANGE_REMOVE, ASKED_OF_FUNCTION, 0, "queue_push", 0, 0, false, "--remove queue_push"}},
        {asked__remove,
         "lock=0x4a0040",
         {CHANGE_REMOVE_LOCK, ASKED_OF_LOCK, 0, "0x4a0040", 0, 0, false, "--remove lock=0x4a0040"}},
        {asked__speed,
         "std::vector<int>::at(unsigned long)=2.5x",
         {CHANGE_SPEED, ASKED_OF_FUNCTION, 0, "std::vector<int>::at(unsigned long)", 2.5, 0, false,
          "--speed std::vector<int>::at(unsigned long)=2.5x"}},
        {asked__speed,
         "f=0.5",
         {CHANGE_SPEED, ASKED_OF_FUNCTION, 0, "f", 0.5, 0, false, "--speed f=0.5"}},
        {asked__shrink,
         "lock=pool::lock:50%",
         {CHANGE_SHRINK, ASKED_OF_LOCK, 0, "pool::lock", 0.5, 0, false,
          "--shrink lock=pool::lock:50%"}},
        {asked__shrink,
         "lock=0x1:0",
         {CHANGE_SHRINK, ASKED_OF_LOCK, 0, "0x1", 0, 0, false, "--shrink lock=0x1:0"}},
        {asked__split,
         "lock=table[3].lock:16",
         {CHANGE_SPLIT, ASKED_OF_LOCK, 0, "table[3].lock", 0, 16, false,
          "--split lock=table[3].lock:16"}},
        {asked__split,
         "lock=0x1:site",
         {CHANGE_SPLIT, ASKED_OF_LOCK, 0, "0x1", 0, 0, true, "--split lock=0x1:site"}},
        {asked__remove,
         "critical=till",
         {CHANGE_REMOVE_LOCK, ASKED_OF_LOCK, 0, "critical(till)", 0, 0, false,
          "--remove critical=till"}},
        {asked__schedule,
         "relax=dynamic,16",
         {CHANGE_BALANCE, ASKED_OF_REGION, 0, "relax", 0, 16, false, "--schedule relax=dynamic,16",
          true}},
        {asked__schedule,
         "2=guided",
         {CHANGE_BALANCE, ASKED_OF_REGION, 0, "2", 0, 0, false, "--schedule 2=guided", true}},
        {asked__balance,
         "1",
         {CHANGE_BALANCE, ASKED_OF_REGION, 0, "1", 0, 0, false, "--balance 1"}},
        {asked__threads, "8", {CHANGE_THREADS, ASKED_OF_ALL, 0, NULL, 0, 8, false, "--threads 8"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct asked *expected = &cases[i].asked;
        struct asked asked;
        struct error error;
        if (cases[i].read(cases[i].value, &asked, &error) != 0)
            fail_msg("%s: %s", cases[i].value, error.text);
        assert_int_equal(asked.type, expected->type);
        assert_int_equal(asked.of, expected->of);
        assert_int_equal(asked.rank, expected->rank);
        assert_true(asked.factor == expected->factor);
        assert_int_equal(asked.count, expected->count);
        assert_int_equal(asked.by_site, expected->by_site);
        assert_int_equal(asked.is_shared, expected->is_shared);
        assert_string_equal(asked.option, expected->option);
        assert_int_equal(asked.target == NULL, expected->target == NULL);
        if (asked.target)
            assert_string_equal(asked.target, expected->target);
        asked__free(&asked);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        reader *read;
        const char *option, *values[12];
    } cases[] = {
        {asked__remove, "--remove", {"", "0", "lock=", "99999999999999999999"}},
        {asked__speed,
         "--speed",
         {"", "f", "=2x", "f=", "f=x", "f=-1", "f=0", "f=2y", "f=nan", "f=inf"}},
        {asked__shrink,
         "--shrink",
         {"", "lock=", "lock=0x1", "lock=0x1:", "0x1:50%", "lock=:50%", "lock=0x1:101%",
          "lock=0x1:-1%", "lock=0x1:2", "lock=0x1:half", "lock=0x1:nan"}},
        {asked__split,
         "--split",
         {"", "lock=0x1", "lock=0x1:1", "lock=0x1:0", "lock=0x1:-2", "lock=0x1:two", "lock=0x1:2x",
          "lock=0x1:100001", "f:2"}},
        {asked__threads, "--threads", {"", "0", "-1", "four", "4x", "100001"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; k < 12 && cases[i].values[k]; k++) {
            struct asked asked;
            struct error error;
            int code = cases[i].read(cases[i].values[k], &asked, &error);
            if (code != -EINVAL)
                fail_msg("%s '%s' came through", cases[i].option, cases[i].values[k]);
            assert_memory_equal(error.text, cases[i].option, strlen(cases[i].option));
            asked__free(&asked);
        }
}

/* ---- whom it means --------------------------------------------------------------------------- */

static int resolve(const struct report *report, const char *value, struct vec *changes,
                   struct lock_target *lock, struct error *error)
{
    struct asked asked;
    *changes = VEC_OF(struct change);
    *lock = (struct lock_target){0};
    assert_int_equal(asked__remove(value, &asked, error), 0);
    int code = asked__resolve(&asked, report, NULL, changes, lock, error);
    asked__free(&asked);
    return code;
}

static void ranks_functions_and_locks_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        size_t changes;
        uint32_t class;
        uint64_t lock;
    } cases[] = {
        {"2", 1, 1, 0},                      /* parse_chunk */
        {"parse_chunk", 1, 1, 0},            /* a function */
        {"queue_push", 1, 0, 0},             /* the caller of a lock */
        {"pthread_*", 3, 0, 0},              /* lock, condition, join */
        {"lock=queue_lock", 1, 0, 0x4a0040}, /* a variable */
        {"lock=0x4a0040", 1, 0, 0x4a0040},   /* its address */
        {"lock=0x1234", 1, 0, 0x1234},       /* nobody waited for it */
        {"3x", 0, 0, 0},                     /* no such function */
        {"13", 0, 0, 0},                     /* no such class */
        {"lock=queue", 0, 0, 0},             /* no such variable */
    };
    struct fixture fixture;
    fixture__busy(&fixture);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vec changes;
        struct lock_target lock;
        struct error error;
        int code = resolve(&fixture.report, cases[i].value, &changes, &lock, &error);
        assert_int_equal(code, cases[i].changes ? 0 : -EINVAL);
        assert_int_equal(changes.count, cases[i].changes);
        assert_int_equal(lock.address, cases[i].lock);
        if (changes.count)
            assert_int_equal(VEC_AT(&changes, struct change, 0)->class, cases[i].class);
        if (changes.count)
            assert_int_equal(VEC_AT(&changes, struct change, 0)->lock, cases[i].lock);
        vec__free(&changes);
    }
    fixture__free(&fixture);
}

static void one_name_for_two_locks_is_not_guessed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vec changes;
    struct lock_target lock;
    struct error error;
    fixture__busy(&fixture);
    struct symbol symbol = {
        .function = "queue_lock", .module = "/opt/ingest/bin/ingest", .named = true};
    struct profile_class *condition = VEC_AT(&fixture.profile.classes, struct profile_class, 3);
    condition->what.at.kind = CLASS_LOCK;
    condition->what.object = 0x4a0100;
    symbols__put_variable(fixture.symbols, 0, 0x4a0100, &symbol);
    assert_int_equal(resolve(&fixture.report, "lock=queue_lock", &changes, &lock, &error), -EINVAL);
    assert_non_null(strstr(error.text, "2 locks"));
    assert_non_null(strstr(error.text, "lock=0x4a0040, lock=0x4a0100"));
    assert_int_equal(changes.count, 0);
    vec__free(&changes);
    fixture__free(&fixture);
}

/* ---- who answers ----------------------------------------------------------------------------- */

static void every_question_is_answered_once(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    struct question questions[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        questions[i] = question__of(&(struct change){.type = CHANGE_REMOVE, .class = i});
    atomic_store(&fake.asked, 0);
    predictions__make(&fake, questions, COUNT);
    assert_int_equal(atomic_load(&fake.asked), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(questions[i].told, i != 99);
        if (i == 99)
            assert_string_equal(questions[i].error.text, "class 99 cannot be removed");
        else
            assert_true(questions[i].prediction.gain[0] == (i ? 1 + i / 1000.0 : 2));
        question__free(&questions[i]);
    }
    predictions__make(&fake, NULL, 0);
}

static double gain_of(const struct fixture *fixture, size_t place)
{
    return VEC_AT(&fixture->profile.classes, struct profile_class, place)->wall_gain[0];
}

static void clear_gains(struct fixture *fixture)
{
    VEC_EACH (class, &fixture->profile.classes, struct profile_class)
        class->wall_gain[0] = class->wall_gain[1] = 0;
}

static void ranked_classes_get_their_gain(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture__ledger(&fixture);
    struct profile *profile = &fixture.profile;
    profile->events = 1000;
    clear_gains(&fixture);
    wall_gains__fill(fixture.report.trace, fixture.symbols, profile, NULL, 0);
    assert_true(gain_of(&fixture, 0) == 2);
    assert_true(gain_of(&fixture, 5) == 1); /* below the threshold: at most what it lost */

    clear_gains(&fixture);
    profile->threshold = 0;
    wall_gains__fill(fixture.report.trace, fixture.symbols, profile, NULL, 0);
    assert_true(gain_of(&fixture, 0) == 2);
    assert_true(gain_of(&fixture, 5) == 1.005);
    for (size_t i = 6; i < profile->classes.count; i++) /* unclear, workload, idle */
        assert_true(gain_of(&fixture, i) == 0);

    clear_gains(&fixture);
    wall_gains__fill(fixture.report.trace, fixture.symbols, profile, NULL, 3);
    assert_true(gain_of(&fixture, 0) == 0 && gain_of(&fixture, 2) == 1.002);

    clear_gains(&fixture);
    profile->events = UINT64_MAX / 2; /* all of them, too, at once: from windows */
    wall_gains__fill(fixture.report.trace, fixture.symbols, profile, NULL, 0);
    assert_true(gain_of(&fixture, 0) == 2 && gain_of(&fixture, 5) == 1.005);
    assert_in_range(fake.most_events, 50000, 300000);
    assert_true(profile->replayed_share > 0 && !profile->no_gains);

    clear_gains(&fixture);
    profile->events = 1000;
    fake_refuses = true;
    wall_gains__fill(fixture.report.trace, fixture.symbols, profile, NULL, 0);
    fake_refuses = false;
    assert_true(gain_of(&fixture, 0) == 0);
    assert_string_equal(profile->no_gains, "not this one");
    free(profile->no_gains);
    assert_int_equal(atomic_load(&fake.opened), 0);
    fixture__free(&fixture);
}

/* ---- how it is shown ------------------------------------------------------------------------- */

static const struct style to_file = {.columns = 0, .colour = false, .unicode = true};
static const struct style terminal_80 = {.columns = 80, .colour = false, .unicode = false};
static const struct style terminal_120 = {.columns = 120, .colour = true, .unicode = true};

enum { ROWS = 4 };

/* A view over a fixture's classes; the rows are in order of gain. */
struct scene {
    struct fixture fixture;
    struct whatif_view view;
    struct whatif_answer rows[ROWS];
    struct prediction predictions[ROWS];
};

static void predict(struct prediction *prediction, uint64_t wall_ms, unsigned percent)
{
    const double unrecorded = 12100;
    prediction->wall_ns = wall_ms * MILLISECOND;
    prediction->least_ns = prediction->wall_ns - prediction->wall_ns / 100 * percent;
    prediction->most_ns = prediction->wall_ns + prediction->wall_ns / 100 * percent;
    prediction->gain[0] = unrecorded * MILLISECOND / (double)prediction->most_ns;
    prediction->gain[1] = unrecorded * MILLISECOND / (double)prediction->least_ns;
    prediction->threads = 8;
    prediction->objects = VEC_OF(struct whatif_object);
}

static void wait_for(struct prediction *prediction, uint64_t address, enum class_kind kind,
                     uint64_t before_ms, uint64_t after_ms)
{
    const struct whatif_object object = {.address = address,
                                         .kind = kind,
                                         .waited_before_ns = before_ms * MILLISECOND,
                                         .waited_after_ns = after_ms * MILLISECOND};
    vec__push(&prediction->objects, &object);
}

static void scene__make(struct scene *scene)
{
    *scene = (struct scene){0};
    fixture__ledger(&scene->fixture);
    predict(&scene->predictions[0], 6400, 3);
    wait_for(&scene->predictions[0], 0x4a0080, CLASS_BARRIER, 12000, 14100);
    wait_for(&scene->predictions[0], 0x4a0100, CLASS_LOCK, 3, 400);
    wait_for(&scene->predictions[0], 0x4a0140, CLASS_LOCK, 3, 20); /* below 1 % of the wall */
    wait_for(&scene->predictions[0], 0x4a0040, CLASS_LOCK, 40000, 0);
    predict(&scene->predictions[1], 7100, 5);
    wait_for(&scene->predictions[1], 0x4a0040, CLASS_LOCK, 40000, 100);
    predict(&scene->predictions[2], 12300, 4);
    scene->rows[0] =
        (struct whatif_answer){.asked = "--remove 1", .rank = 1, .lost_ns = 40 * SECOND};
    scene->rows[1] = (struct whatif_answer){.asked = "--remove lock=0x4a0040",
                                            .has_lock = true,
                                            .lock = 0x4a0040,
                                            .lost_ns = 41 * SECOND};
    scene->rows[2] =
        (struct whatif_answer){.asked = "--remove 3", .rank = 3, .lost_ns = 8 * SECOND};
    scene->rows[3] = (struct whatif_answer){
        .asked = "--remove 7", .rank = 7, .lost_ns = 4 * SECOND, .refusal = "too few of them"};
    for (int i = 0; i < 3; i++)
        scene->rows[i].prediction = &scene->predictions[i];
    scene->view = (struct whatif_view){.report = &scene->fixture.report,
                                       .replayed_share = 1,
                                       .measured_ns = 12410 * MILLISECOND,
                                       .replayed_ns = 12160 * MILLISECOND,
                                       .unrecorded_ns = 12100 * MILLISECOND,
                                       .rows = scene->rows,
                                       .count = ROWS,
                                       .hidden = 3};
}

static void scene__free(struct scene *scene)
{
    for (int i = 0; i < 3; i++)
        prediction__free(&scene->predictions[i]);
    fixture__free(&scene->fixture);
}

typedef void presenter_view(const struct whatif_view *view, const struct style *style, FILE *out);

static void assert_golden(const char *name, presenter_view *put, const struct whatif_view *view,
                          const struct style *style)
{
    char *text = NULL, path[64];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    put(view, style, out);
    assert_int_equal(fclose(out), 0);
    snprintf(path, sizeof path, "whatif/%s", name);
    golden__assert(path, text);
}

static void the_table_is_as_in_the_files(void **state)
{
    (void)state;
    struct scene scene;
    scene__make(&scene);
    assert_golden("table.txt", whatif_text.table, &scene.view, &to_file);
    assert_golden("table-80.txt", whatif_text.table, &scene.view, &terminal_80);
    assert_golden("table-120.txt", whatif_text.table, &scene.view, &terminal_120);
    assert_golden("table.json", whatif_json.table, &scene.view, &to_file);
    assert_golden("table.csv", whatif_csv.table, &scene.view, &to_file);
    scene.view.count = 0;
    scene.view.hidden = 0;
    assert_golden("nothing.txt", whatif_text.table, &scene.view, &terminal_80);
    scene__free(&scene);
}

static void a_question_is_as_in_the_files(void **state)
{
    (void)state;
    struct scene scene;
    scene__make(&scene);
    scene.view.count = 1;
    assert_golden("class.txt", whatif_text.question, &scene.view, &terminal_80);
    assert_golden("class.json", whatif_json.question, &scene.view, &to_file);
    scene.view.rows = &scene.rows[1];
    scene.view.replayed_ns = 15000 * MILLISECOND; /* not to be trusted */
    assert_golden("lock.txt", whatif_text.question, &scene.view, &to_file);
    scene.rows[0] = (struct whatif_answer){.asked = "--speed 'hist_*=2x' --threads 16",
                                           .lost_ns = UINT64_MAX,
                                           .prediction = &scene.predictions[2]};
    scene.view.rows = scene.rows;
    scene.view.told_threads = 1;
    scene.view.replayed_share = 0.042;
    assert_golden("several.txt", whatif_text.question, &scene.view, &to_file);
    assert_golden("several.csv", whatif_csv.question, &scene.view, &to_file);
    scene__free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_read),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(ranks_functions_and_locks_are_found),
        cmocka_unit_test(one_name_for_two_locks_is_not_guessed),
        cmocka_unit_test(every_question_is_answered_once),
        cmocka_unit_test(ranked_classes_get_their_gain),
        cmocka_unit_test(the_table_is_as_in_the_files),
        cmocka_unit_test(a_question_is_as_in_the_files),
    };
    return cmocka_run_group_tests_name("whatif", tests, NULL, NULL);
}
