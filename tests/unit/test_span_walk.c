/* The walk that feeds viewers: enters with their leaves, who ended a wait, who has a lock, when a
 * thread was off the CPU; by time, and a thread at a time. */
#include "analysis/events/span_walk.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Writes a line for each call. */
struct told {
    struct span_taker taker; /* first */
    FILE *out;
};

static FILE *begin_line(struct span_taker *taker, uint32_t thread, uint64_t tick)
{
    FILE *out = ((struct told *)taker)->out;
    fprintf(out, "%llu t%u ", (unsigned long long)tick, thread);
    return out;
}

static void entered(struct span_taker *taker, uint32_t thread, uint64_t tick,
                    const struct event *event, const struct sync_object *object,
                    struct walked_span *span)
{
    FILE *out = begin_line(taker, thread, tick);
    fprintf(out, "enter %u", event->id);
    if (object)
        fprintf(out, " of 0x%llx", (unsigned long long)object->address);
    fprintf(out, span->weight == 1 ? "\n" : " for %u\n", span->weight);
    span->own[0] = taker;
}

static void left(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct walked_span *span, const struct span_cause *cause,
                 enum span_ending ending)
{
    static const char *const endings[] = {"left", "cut", "unfinished"};
    FILE *out = begin_line(taker, thread, tick);
    assert_ptr_equal(span->own[0], taker);
    fprintf(out, "%s %u since %llu", endings[ending], span->id, (unsigned long long)span->tick);
    if (cause)
        fprintf(out, " by t%u at %llu", cause->by, (unsigned long long)cause->by_tick);
    fputc('\n', out);
}

static void point(struct span_taker *taker, uint32_t thread, uint64_t tick,
                  const struct event *event, const struct sync_object *object)
{
    (void)object;
    fprintf(begin_line(taker, thread, tick), "point %u\n", event->id);
}

static void state(struct span_taker *taker, uint32_t thread, uint64_t tick, enum component state)
{
    fprintf(begin_line(taker, thread, tick), "%s\n",
            state == COMPONENT_RUNNING    ? "on"
            : state == COMPONENT_RUNNABLE ? "wants"
                                          : "off");
}

static void began(struct span_taker *taker, uint32_t thread, uint64_t tick)
{
    fputs("began\n", begin_line(taker, thread, tick));
}

static void ended(struct span_taker *taker, uint32_t thread, uint64_t tick)
{
    fputs("ended\n", begin_line(taker, thread, tick));
}

static void held(struct span_taker *taker, uint32_t thread, uint64_t tick,
                 const struct sync_object *object, uint64_t site, bool is_shared)
{
    (void)object, (void)site;
    fputs(is_shared ? "has shared\n" : "has\n", begin_line(taker, thread, tick));
}

static void released(struct span_taker *taker, uint32_t thread, uint64_t tick,
                     const struct sync_object *object, uint64_t since)
{
    (void)object;
    fprintf(begin_line(taker, thread, tick), "had since %llu\n", (unsigned long long)since);
}

static void tells(const char *text, enum span_order order, const bool *chosen, const char *expected)
{
    char *lines;
    size_t bytes;
    struct told told = {.taker = {.entered = entered,
                                  .left = left,
                                  .point = point,
                                  .state = state,
                                  .began = began,
                                  .ended = ended,
                                  .held = held,
                                  .released = released},
                        .out = open_memstream(&lines, &bytes)};
    struct trace *trace = fixture__open(text);
    span_walk__tell(trace, order, chosen, &told.taker);
    fclose(told.out);
    assert_string_equal(lines, expected);
    free(lines);
    trace__close(trace);
}

/* ---- spans ----------------------------------------------------------------------------------- */

#define FUNCTIONS                          \
    "start 1000\nprocess 0 100 /bin/app\n" \
    "function 0 1024 f 0x401000\nfunction 0 1026 g 0x402000\n"

static void what_is_open_is_left_in_order(void **unused)
{
    (void)unused;
    tells(FUNCTIONS "thread 0 a\n1000 f\n1100 g\n1200 leave f\n1300 leave g\n1400 g\n1500 f\n"
                    "1600 unwound\n1700 f\n1800 thread_end\n",
          SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 enter 1024\n"
          "1100 t0 enter 1026\n"
          "1200 t0 cut 1026 since 1100\n"
          "1200 t0 left 1024 since 1000\n"
          "1400 t0 enter 1026\n"
          "1500 t0 enter 1024\n"
          "1600 t0 cut 1024 since 1500\n"
          "1700 t0 enter 1024\n"
          "1800 t0 unfinished 1024 since 1700\n"
          "1800 t0 unfinished 1026 since 1400\n"
          "1800 t0 ended\n");
}

static void threads_that_do_not_end_live_until_the_trace_does(void **unused)
{
    (void)unused;
    tells(FUNCTIONS "thread 0 a\n1000 f\nthread 1 b\n1100 g\n1900 leave g\n", SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 enter 1024\n"
          "1100 t1 began\n"
          "1100 t1 enter 1026\n"
          "1900 t1 left 1026 since 1100\n"
          "1900 t0 unfinished 1024 since 1000\n"
          "1900 t0 ended\n"
          "1900 t1 ended\n");
}

/* The word of SAMPLED is the id in its high half, and the number. */
static void one_that_was_drawn_stands_for_many(void **unused)
{
    (void)unused;
    tells(FUNCTIONS "thread 0 a\n1000 sampled 7:1024\n1000 f\n1100 leave f\n1200 f\n1300 leave f\n",
          SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 enter 1024 for 7\n"
          "1100 t0 left 1024 since 1000\n"
          "1200 t0 enter 1024\n"
          "1300 t0 left 1024 since 1200\n"
          "1300 t0 ended\n");
}

/* ---- what threads do to each other ----------------------------------------------------------- */

#define LOCK                                                                               \
    "start 1000\nprocess 0 100 /bin/app\nthread 0 a\n1000 lock_acquired 0x401000 0x7000\n" \
    "2000 lock_released 0x401010 0x7000\n3000 thread_end\nthread 1 b\n"                    \
    "1500 lock_wait 0x401020 0x7000\n2100 leave lock_wait 0\n"                             \
    "2200 lock_released 0x401030 0x7000\n3000 thread_end\n"

static void the_holder_ends_a_wait(void **unused)
{
    (void)unused;
    tells(LOCK, SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 has\n"
          "1500 t1 began\n"
          "1500 t1 enter 6 of 0x7000\n"
          "2000 t0 had since 1000\n"
          "2100 t1 has\n"
          "2100 t1 left 6 since 1500 by t0 at 2000\n"
          "2200 t1 had since 2100\n"
          "3000 t0 ended\n"
          "3000 t1 ended\n");
}

static void of_chosen_threads_alone_is_told(void **unused)
{
    const bool chosen[] = {false, true};
    (void)unused;
    tells(LOCK, SPANS_BY_TIME, chosen,
          "1500 t1 began\n"
          "1500 t1 enter 6 of 0x7000\n"
          "2100 t1 has\n"
          "2100 t1 left 6 since 1500 by t0 at 2000\n"
          "2200 t1 had since 2100\n"
          "3000 t1 ended\n");
}

static void thread_by_thread_nobody_knows_who_ended_a_wait(void **unused)
{
    (void)unused;
    tells(LOCK, SPANS_BY_THREAD, NULL,
          "1000 t0 began\n"
          "1000 t0 has\n"
          "2000 t0 had since 1000\n"
          "3000 t0 ended\n"
          "1500 t1 began\n"
          "1500 t1 enter 6 of 0x7000\n"
          "2100 t1 has\n"
          "2100 t1 left 6 since 1500\n"
          "2200 t1 had since 2100\n"
          "3000 t1 ended\n");
}

/* An OFF_CPU at 1500 that began 300 before, of which it wanted a CPU for the last 100. */
static void times_off_the_cpu_are_told_as_they_begin(void **unused)
{
    (void)unused;
    tells(FUNCTIONS
          "thread 0 a\n1000 f\n1500 off_cpu 300/0 100/0 0\n1600 leave f\n1700 thread_end\n",
          SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 enter 1024\n"
          "1200 t0 off\n"
          "1400 t0 wants\n"
          "1500 t0 on\n"
          "1600 t0 left 1024 since 1000\n"
          "1700 t0 ended\n");
}

/* Such a time stands before the leave of what it was in, by a clock that may be ahead of it. */
static void what_the_kernel_tells_later_moves_no_call(void **unused)
{
    (void)unused;
    tells(FUNCTIONS "thread 0 a\n1000 f\n1205 off_cpu 100/0 10/0 0\n1200 leave f\n"
                    "1201 g\n1203 leave g\n1300 f\n1400 leave f\n1500 thread_end\n"
                    "thread 1 b\n1202 f\n1204 leave f\n1500 thread_end\n",
          SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 enter 1024\n"
          "1105 t0 off\n"
          "1195 t0 wants\n"
          "1200 t0 left 1024 since 1000\n"
          "1201 t0 enter 1026\n"
          "1202 t1 began\n"
          "1202 t1 enter 1024\n"
          "1203 t0 left 1026 since 1201\n"
          "1204 t1 left 1024 since 1202\n"
          "1205 t0 on\n"
          "1300 t0 enter 1024\n"
          "1400 t0 left 1024 since 1300\n"
          "1500 t0 ended\n"
          "1500 t1 ended\n");
}

static void who_reads_a_lock_is_told_first_and_last(void **unused)
{
    (void)unused;
    tells("start 1000\nprocess 0 100 /bin/app\nthread 0 a\n1000 lock_acquired 0x401000/1 0x7000\n"
          "2000 lock_released 0x401010/4 0x7000\nthread 1 b\n1100 lock_acquired 0x401000/1 0x7000\n"
          "2200 lock_released 0x401030/4 0x7000\n",
          SPANS_BY_TIME, NULL,
          "1000 t0 began\n"
          "1000 t0 has shared\n"
          "1100 t1 began\n"
          "2200 t0 had since 1000\n"
          "2200 t0 ended\n"
          "2200 t1 ended\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_open_is_left_in_order),
        cmocka_unit_test(threads_that_do_not_end_live_until_the_trace_does),
        cmocka_unit_test(one_that_was_drawn_stands_for_many),
        cmocka_unit_test(the_holder_ends_a_wait),
        cmocka_unit_test(of_chosen_threads_alone_is_told),
        cmocka_unit_test(thread_by_thread_nobody_knows_who_ended_a_wait),
        cmocka_unit_test(times_off_the_cpu_are_told_as_they_begin),
        cmocka_unit_test(what_the_kernel_tells_later_moves_no_call),
        cmocka_unit_test(who_reads_a_lock_is_told_first_and_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
