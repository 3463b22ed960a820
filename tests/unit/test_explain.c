/* The time on the CPU is explained by what a trace was made from, and by nothing else. */
#include "scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { F = 1024, G = 1026, H = 1028 };
#define LEFT | 1
#define MUTEX HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)

/* A thread that calls one function after the other. */
struct line {
    struct scene *scene;
    uint32_t thread;
    uint64_t tick, seed;
};

static void begin_scene(struct scene *scene)
{
    scene__begin(scene);
    scene__function(scene, 0, F, 0x401000, "f", "n,m");
    scene__function(scene, 0, G, 0x401100, "g", "");
    scene__function(scene, 0, H, 0x401200, "h", "");
}

static int begin(void **state)
{
    static struct scene scene;
    begin_scene(&scene);
    *state = &scene;
    return 0;
}

static struct line begin_line(struct scene *scene, uint32_t thread, uint64_t seed)
{
    struct line line = {scene, thread, 1000, (seed + 1) * 0x9e3779b97f4a7c15u};
    scene__start(scene, thread, 1000);
    PUT(scene, thread, 1000, HEURT_EVENT_KERNEL, thread);
    return line;
}

static void end_line(struct line *line)
{
    scene__end(line->scene, line->thread, line->tick);
}

static uint64_t random_of(struct line *line)
{
    line->seed ^= line->seed << 13;
    line->seed ^= line->seed >> 7;
    line->seed ^= line->seed << 17;
    return line->seed >> 8;
}

/* Most often small, sometimes very large. */
static uint64_t heavy(struct line *line)
{
    double even = (double)(random_of(line) % 1000000) / 1e6;
    return (uint64_t)(300 * (pow(1 - even, -1 / 1.3) - 1));
}

static void enter(struct line *line, uint32_t id)
{
    PUT(line->scene, line->thread, line->tick, id);
}

static void leave(struct line *line, uint32_t id, uint64_t ticks)
{
    line->tick += ticks;
    PUT(line->scene, line->thread, line->tick, id LEFT);
    line->tick += 10;
}

static void call(struct line *line, uint32_t id, uint64_t ticks)
{
    enter(line, id);
    leave(line, id, ticks);
}

static void call_with(struct line *line, uint64_t n, uint64_t m, uint64_t ticks)
{
    PUT(line->scene, line->thread, line->tick, F, n, m);
    leave(line, F, ticks);
}

static const struct profile_class *class_of(const struct scene *scene, const char *function)
{
    return scene__class(scene, CLASS_CALL, function, 0, 0);
}

static double share_of(const struct profile_class *class, enum reason reason)
{
    return (double)class->why_ns[reason] / (double)class->excess_ns;
}

static const struct profile_evidence *first_of(const struct profile_class *class)
{
    assert_true(class->evidence.count > 0);
    return VEC_AT(&class->evidence, struct profile_evidence, 0);
}

static void assert_about(double value, double expected, double away)
{
    if (!(fabs(value - expected) <= away))
        fail_msg("%f, not %f", value, expected);
}

/* ---- the workload ---------------------------------------------------------------------------- */

static void arguments_explain_what_they_make(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 1);
    double truth = 0, all = 0;
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t n = random_of(&line) % 200, noise = random_of(&line) % 400;
        call_with(&line, n, random_of(&line) % 5, 1000 + 20 * n + noise);
        truth += 20. * (double)n;
        all += 20. * (double)n + (double)noise;
    }
    end_line(&line);
    scene__profile(scene);
    const struct profile_class *f = class_of(scene, "f");
    assert_about(share_of(f, REASON_WORKLOAD), truth / all, 0.03);
    assert_int_equal(f->verdict, VERDICT_WORKLOAD);
    assert_int_equal(f->evidence.count, 1);
    assert_string_equal(first_of(f)->argument, "n");
    assert_int_equal(first_of(f)->ns, f->why_ns[REASON_WORKLOAD]);
    assert_int_equal(first_of(f)->confidence, CONFIDENCE_ESTIMATED);
    assert_int_equal(first_of(f)->other, UINT32_MAX);
    assert_true(first_of(f)->explained > 0.9 && first_of(f)->null < 0.1);
}

static void a_second_argument_is_asked_for_the_rest(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 2);
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t n = random_of(&line) % 200, m = random_of(&line) % 5000;
        call_with(&line, n, m, 1000 + 20 * n + m / 2 + random_of(&line) % 100);
    }
    end_line(&line);
    scene__profile(scene);
    const struct profile_class *f = class_of(scene, "f");
    assert_int_equal(f->evidence.count, 2);
    assert_string_equal(first_of(f)->argument, "n");
    assert_string_equal(first_of(f)[1].argument, "m");
    assert_true(share_of(f, REASON_WORKLOAD) > 0.9);
}

static void arguments_together_are_one_value(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 3);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t n = random_of(&line) % 4, m = random_of(&line) % 4;
        call_with(&line, n, m, 1000 + (n ^ m) * 500 + random_of(&line) % 100);
    }
    end_line(&line);
    scene__profile(scene);
    const struct profile_class *f = class_of(scene, "f");
    assert_string_equal(first_of(f)->argument, "arguments together");
    assert_true(share_of(f, REASON_WORKLOAD) > 0.9);
}

static void calls_inside_are_work(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 4);
    for (unsigned i = 0; i < 1000; i++) {
        enter(&line, H);
        for (uint64_t n = 1 + random_of(&line) % 19; n > 0; n--)
            call(&line, G, 100 + random_of(&line) % 10);
        leave(&line, H, 100 + random_of(&line) % 100);
    }
    end_line(&line);
    scene__profile(scene);
    const struct profile_class *h = class_of(scene, "h");
    assert_string_equal(first_of(h)->argument, "calls inside");
    assert_true(share_of(h, REASON_WORKLOAD) > 0.9);
    assert_int_equal(class_of(scene, "g")->evidence.count, 0);
}

static void put_instructions(struct line *line, uint64_t *all, uint64_t more)
{
    *all += more;
    PUT(line->scene, line->thread, line->tick, HEURT_EVENT_INSTRUCTIONS, *all);
}

/* waits: with a lock inside, while it waits for which a thread may turn. */
static void instructed(struct scene *scene, bool waits)
{
    struct line line = begin_line(scene, 0, 5);
    uint64_t all = 1;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t work = random_of(&line) % 5000;
        put_instructions(&line, &all, 77);
        enter(&line, G);
        if (waits) {
            PUT(scene, 0, line.tick, HEURT_EVENT_LOCK_WAIT, MUTEX, 0x7000);
            PUT(scene, 0, line.tick + 5, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        }
        line.tick += 100 + work;
        put_instructions(&line, &all, 50 + 2 * work);
        leave(&line, G, random_of(&line) % 100);
    }
    end_line(&line);
    scene__profile(scene);
}

static void instructions_are_work(void **state)
{
    struct scene *scene = *state;
    instructed(scene, false);
    const struct profile_class *g = class_of(scene, "g");
    assert_string_equal(first_of(g)->argument, "instructions");
    assert_int_equal(first_of(g)->confidence, CONFIDENCE_MEASURED);
    assert_true(share_of(g, REASON_WORKLOAD) > 0.9);
}

static void what_may_turn_has_no_work_to_count(void **state)
{
    struct scene *scene = *state;
    instructed(scene, true);
    assert_int_equal(class_of(scene, "g")->evidence.count, 0);
}

/* Which thread it is, an address of its own tells; that one thread is slower is not its work. */
static void an_address_for_each_thread_is_no_work(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 4; thread++) {
        struct line line = begin_line(scene, thread, thread);
        for (unsigned i = 0; i < 500; i++)
            call_with(&line, 0x7f0000001000 + thread * 64, 1,
                      1000 + 1000 * thread + random_of(&line) % 100);
        end_line(&line);
    }
    scene__profile(scene);
    assert_int_equal(class_of(scene, "f")->why_ns[REASON_WORKLOAD], 0);
    assert_int_equal(class_of(scene, "f")->verdict, VERDICT_UNCLEAR);
}

/* A small number that each thread has is what it has to do. */
static void a_size_for_each_thread_is_work(void **state)
{
    struct scene *scene = *state;
    for (uint32_t thread = 0; thread < 4; thread++) {
        struct line line = begin_line(scene, thread, thread);
        for (unsigned i = 0; i < 500; i++)
            call_with(&line, 100 * thread, 1, 1000 + 1000 * thread + random_of(&line) % 100);
        end_line(&line);
    }
    scene__profile(scene);
    assert_true(share_of(class_of(scene, "f"), REASON_WORKLOAD) > 0.9);
}

static void work_is_ranked_behind_what_is_not_known(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 8);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t n = random_of(&line) % 200;
        call_with(&line, n, 1, 1000 + 100 * n);
        call(&line, G, 1000 + random_of(&line) % 1000);
    }
    end_line(&line);
    const struct profile *profile = scene__profile(scene);
    const struct profile_class *first = VEC_AT(&profile->classes, struct profile_class, 0);
    assert_string_equal(first->what.at.function, "g");
    assert_int_equal(first->verdict, VERDICT_UNCLEAR);
    assert_int_equal(first[1].verdict, VERDICT_WORKLOAD);
    assert_true(first[1].score > 5 * first->score);
}

/* Enough to see what it is, too few to be sure. */
static void of_few_the_evidence_is_weak(void **state)
{
    struct scene *scene = *state;
    struct line line = begin_line(scene, 0, 9);
    for (unsigned i = 0; i < 90; i++)
        call_with(&line, i % 5, 1, 1000 + i % 5 * 1000 + random_of(&line) % 100);
    end_line(&line);
    scene__profile(scene);
    assert_int_equal(first_of(class_of(scene, "f"))->confidence, CONFIDENCE_WEAK);
}

static void noise_is_not_explained(void **state)
{
    (void)state;
    unsigned found = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct scene scene;
        begin_scene(&scene);
        for (uint32_t thread = 0; thread < 2; thread++) {
            struct line line = begin_line(&scene, thread, 10 + 2 * seed + thread);
            for (unsigned i = 0; i < 400; i++) {
                call_with(&line, random_of(&line) % 10, i, 1000 + heavy(&line));
                call(&line, G, 500 + heavy(&line));
            }
            end_line(&line);
        }
        scene__profile(&scene);
        found += class_of(&scene, "f")->evidence.count > 0;
        found += class_of(&scene, "g")->evidence.count > 0;
        assert_int_equal(class_of(&scene, "g")->verdict, VERDICT_UNCLEAR);
        scene__free(&scene);
    }
    assert_in_range(found, 0, 2);
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* g and h in turns; a third of the time one or both take longer. */
static void phased(struct scene *scene, double g_factor, double h_factor, bool nested)
{
    struct line line = begin_line(scene, 0, 6);
    for (unsigned i = 0; i < 6000; i++) {
        bool slow = i / 2000 == 1;
        uint64_t g = 1000 + random_of(&line) % 20, h = 3000 + random_of(&line) % 60;
        if (nested)
            enter(&line, H);
        call(&line, G, slow ? (uint64_t)((double)g * g_factor) : g);
        if (!nested)
            enter(&line, H);
        leave(&line, H, slow ? (uint64_t)((double)h * h_factor) : h);
    }
    end_line(&line);
    scene__profile(scene);
}

static void unrelated_classes_tell_of_a_slow_machine(void **state)
{
    struct scene *scene = *state;
    phased(scene, 1.3, 1.3, false);
    const struct profile_class *g = class_of(scene, "g"), *h = class_of(scene, "h");
    /* 2000 of 6000 have 300 more, all of them 10 (h: thrice) on the average. */
    assert_about((double)g->why_ns[REASON_SLOW_MACHINE], 2000 * 300, 2000 * 300 * 0.1);
    assert_about((double)h->why_ns[REASON_SLOW_MACHINE], 2000 * 900, 2000 * 900 * 0.1);
    assert_int_equal(first_of(g)->reason, REASON_SLOW_MACHINE);
    assert_true(first_of(g)->explained > 0.8 && first_of(g)->null < first_of(g)->explained);
    assert_int_equal(g->verdict, VERDICT_UNCLEAR);
}

static void one_slow_class_is_not_the_machine(void **state)
{
    struct scene *scene = *state;
    phased(scene, 1.3, 1, false);
    assert_int_equal(class_of(scene, "g")->why_ns[REASON_SLOW_MACHINE], 0);
}

static void nested_classes_are_not_the_machine(void **state)
{
    struct scene *scene = *state;
    phased(scene, 1.3, 1.3, true);
    assert_int_equal(class_of(scene, "g")->why_ns[REASON_SLOW_MACHINE], 0);
    assert_int_equal(class_of(scene, "h")->why_ns[REASON_SLOW_MACHINE], 0);
}

/* ---- other threads --------------------------------------------------------------------------- */

#define OTHERS 400

/* When h is in the state that disturbs g: at random. */
struct other {
    uint64_t begin[OTHERS], end[OTHERS];
};

static void begin_other(struct other *other, struct line *line, uint64_t length)
{
    uint64_t tick = line->tick;
    for (unsigned i = 0; i < OTHERS; i++) {
        other->begin[i] = tick + length / 4 + random_of(line) % (2 * length);
        other->end[i] = other->begin[i] + length / 2 + random_of(line) % length;
        tick = other->end[i];
    }
}

static bool is_disturbed(const struct other *other, unsigned every, uint64_t tick)
{
    for (unsigned i = 0; i < OTHERS; i += every) {
        if (tick >= other->begin[i] && tick < other->end[i])
            return true;
    }
    return false;
}

/* g, which goes on with half the speed while h runs on the other CPU. Returns what g lost by it. */
static uint64_t disturbed(struct scene *scene)
{
    struct line h = begin_line(scene, 1, 21), g = begin_line(scene, 0, 22);
    struct other other;
    uint64_t lost = 0;
    begin_other(&other, &h, 20000);
    for (unsigned i = 0; i < OTHERS; i++) {
        h.tick = other.begin[i];
        call(&h, H, other.end[i] - other.begin[i]);
    }
    while (g.tick < h.tick) {
        uint64_t ticks = 0, work = 2000 + random_of(&g) % 100;
        for (uint64_t done = 0; done < 2 * work; ticks += 20)
            done += is_disturbed(&other, 1, g.tick + ticks) ? 20 : 40;
        call(&g, G, ticks);
        lost += ticks - work;
    }
    end_line(&g);
    end_line(&h);
    scene__profile(scene);
    return lost;
}

static void overlap_names_the_other_class(void **state)
{
    struct scene *scene = *state;
    double lost = (double)disturbed(scene);
    const struct profile_class *g = class_of(scene, "g");
    assert_about((double)g->why_ns[REASON_OVERLAP], lost, 0.1 * lost);
    assert_int_equal(g->verdict, VERDICT_INTERFERENCE);
    assert_int_equal(g->cause, REASON_OVERLAP);
    assert_int_equal(first_of(g)->other, class_of(scene, "h")->number);
    assert_int_equal(first_of(g)->thread, 1);
    assert_about(first_of(g)->slope_ns, 2000, 200);
    assert_true(first_of(g)->explained > 0.9 && first_of(g)->null < 0.5);
}

/* h holds something and is preempted; g turns until it goes on: every first or second time. When
 * it does not always, it takes as long for other reasons, too. waits: g has a lock inside, so that
 * it may be turning. */
static uint64_t turned(struct scene *scene, bool waits, unsigned every)
{
    struct line h = begin_line(scene, 1, 31), g = begin_line(scene, 0, 32);
    struct other other;
    uint64_t lost = 0;
    begin_other(&other, &h, 20000);
    for (unsigned i = 0; i < OTHERS; i++) {
        h.tick = other.begin[i] - 500;
        enter(&h, H);
        PUT(scene, 1, other.end[i], HEURT_EVENT_OFF_CPU,
            HEURT_OFF(other.end[i] - other.begin[i], HEURT_OFF_PREEMPTED),
            HEURT_BACK(HEURT_NOT_KNOWN, 1), 0);
        h.tick = other.end[i];
        leave(&h, H, 500);
    }
    while (g.tick < h.tick) {
        uint64_t work = 1000 + random_of(&g) % 50, ticks = work;
        enter(&g, G);
        if (waits) {
            PUT(scene, 0, g.tick, HEURT_EVENT_LOCK_WAIT, MUTEX, 0x7000);
            PUT(scene, 0, g.tick + 5, HEURT_EVENT_LOCK_WAIT LEFT, 0);
        }
        while (is_disturbed(&other, every, g.tick + ticks))
            ticks += 20;
        if (every > 1 && random_of(&g) % 30 == 0)
            ticks += 20000;
        leave(&g, G, ticks);
        lost += ticks - work;
    }
    end_line(&g);
    end_line(&h);
    scene__profile(scene);
    return lost;
}

static void turning_for_a_preempted_holder_is_spinning(void **state)
{
    struct scene *scene = *state;
    double lost = (double)turned(scene, true, 1);
    const struct profile_class *g = class_of(scene, "g");
    assert_about((double)g->why_ns[REASON_SPIN], lost, 0.15 * lost);
    assert_int_equal(g->cause, REASON_SPIN);
    assert_int_equal(first_of(g)->other, class_of(scene, "h")->number);
    assert_int_equal(first_of(g)->thread, 1);
}

/* That both come together more often than by chance is not enough. */
static void coincidence_is_no_spinning(void **state)
{
    struct scene *scene = *state;
    turned(scene, true, 2);
    assert_int_equal(class_of(scene, "g")->why_ns[REASON_SPIN], 0);
}

static void what_has_no_locks_does_not_spin(void **state)
{
    struct scene *scene = *state;
    turned(scene, false, 1);
    assert_int_equal(class_of(scene, "g")->why_ns[REASON_SPIN], 0);
}

/* ---- doubts ---------------------------------------------------------------------------------- */

static unsigned doubts_of_g(struct scene *scene)
{
    scene__profile(scene);
    return class_of(scene, "g")->doubts;
}

static void a_steady_class_has_no_doubts(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, 1000 + random_of(&line) % 100);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), 0);
    assert_int_equal(class_of(*state, "g")->confidence, CONFIDENCE_MEASURED);
}

/* The thread had less CPU time than its calls ran: some of that was something else. */
static void what_the_system_contradicts_is_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, 100000 + random_of(&line) % 100);
    PUT(line.scene, 0, line.tick, HEURT_EVENT_THREAD_END, 50000000, UINT64_MAX);
    const struct profile *profile = scene__profile(*state);
    const struct profile_check *check = &profile->checks[CHECK_RUNNING];
    assert_true(check->known);
    assert_false(check->holds);
    assert_int_equal(check->counted, 50000000);
    assert_false(profile->checks[CHECK_LIVES].known);
    assert_int_equal(class_of(*state, "g")->doubts, DOUBT_KERNEL);
    assert_int_equal(class_of(*state, "g")->confidence, CONFIDENCE_ESTIMATED);
}

static void few_are_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 99; i++)
        call(&line, G, 1000);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), DOUBT_FEW);
}

static void an_outlier_is_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    call(&line, G, 600);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, 1000 + random_of(&line) % 100);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state) & ~(unsigned)DOUBT_HALVES, DOUBT_OUTLIER);
}

static void halves_that_differ_are_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, (i < 500 ? 1000 : 1080) + random_of(&line) % 100);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), DOUBT_HALVES);
    assert_int_equal(class_of(*state, "g")->confidence, CONFIDENCE_WEAK);
}

static void modes_are_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, (i % 3 ? 1000 : 4000) + random_of(&line) % 100);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), DOUBT_MODES);
}

/* Wide, but without a dip. */
static void a_wide_class_has_no_modes(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 2000; i++)
        call(&line, G, (uint64_t)(1000 * exp2((double)(random_of(&line) % 3000) / 1000)));
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), 0);
}

static void a_fastest_one_that_waited_is_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++) {
        enter(&line, G);
        line.tick += 50;
        PUT(line.scene, 0, line.tick, HEURT_EVENT_OFF_CPU, HEURT_OFF(20, HEURT_OFF_PREEMPTED),
            HEURT_BACK(HEURT_NOT_KNOWN, 0), 0);
        leave(&line, G, 1000 + random_of(&line) % 100);
    }
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), DOUBT_UNCLEAN);
    assert_int_equal(class_of(*state, "g")->confidence, CONFIDENCE_WEAK);
}

static void missing_records_of_the_kernel_are_doubted(void **state)
{
    struct scene *scene = *state;
    struct line line = {scene, 0, 1000, 99};
    for (unsigned i = 0; i < 1000; i++) {
        call(&line, G, 1000 + random_of(&line) % 100);
        PUT(scene, 0, line.tick, HEURT_EVENT_LOCK_ACQUIRED, MUTEX, 0x7000);
    }
    assert_int_equal(doubts_of_g(scene), DOUBT_KERNEL);
    assert_int_equal(class_of(scene, "g")->confidence, CONFIDENCE_ESTIMATED);
    /* What the hooks see of a lock needs none of them. */
    assert_int_equal(scene__class(scene, CLASS_LOCK, "pthread_mutex_lock", 0, 0)->doubts, 0);
}

static void lost_records_of_the_kernel_are_doubted(void **state)
{
    struct line line = begin_line(*state, 0, 7);
    for (unsigned i = 0; i < 1000; i++)
        call(&line, G, 1000 + random_of(&line) % 100);
    PUT(line.scene, 0, line.tick, HEURT_EVENT_KERNEL_LOST, 3);
    end_line(&line);
    assert_int_equal(doubts_of_g(*state), DOUBT_KERNEL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, scene__teardown)
    const struct CMUnitTest tests[] = {
        TEST(arguments_explain_what_they_make),
        TEST(a_second_argument_is_asked_for_the_rest),
        TEST(arguments_together_are_one_value),
        TEST(calls_inside_are_work),
        TEST(instructions_are_work),
        TEST(what_may_turn_has_no_work_to_count),
        TEST(an_address_for_each_thread_is_no_work),
        TEST(a_size_for_each_thread_is_work),
        TEST(work_is_ranked_behind_what_is_not_known),
        TEST(of_few_the_evidence_is_weak),
        cmocka_unit_test(noise_is_not_explained),
        TEST(unrelated_classes_tell_of_a_slow_machine),
        TEST(one_slow_class_is_not_the_machine),
        TEST(nested_classes_are_not_the_machine),
        TEST(overlap_names_the_other_class),
        TEST(turning_for_a_preempted_holder_is_spinning),
        TEST(coincidence_is_no_spinning),
        TEST(what_has_no_locks_does_not_spin),
        TEST(a_steady_class_has_no_doubts),
        TEST(what_the_system_contradicts_is_doubted),
        TEST(few_are_doubted),
        TEST(an_outlier_is_doubted),
        TEST(halves_that_differ_are_doubted),
        TEST(modes_are_doubted),
        TEST(a_wide_class_has_no_modes),
        TEST(a_fastest_one_that_waited_is_doubted),
        TEST(missing_records_of_the_kernel_are_doubted),
        TEST(lost_records_of_the_kernel_are_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
