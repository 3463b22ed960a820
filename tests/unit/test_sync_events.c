#include "analysis/sync/sync_events.h"
#include "base/memory.h"
#include "fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const type_names[] = {"started",  "ended",  "created",  "waits",     "acquired",
                                         "released", "busy",   "gave up",  "signalled", "woken",
                                         "left",     "joined", "received", "back",      "called",
                                         "returned", "off",    "lost"};

static int add_who(char *to, size_t room, const struct sync_event *sync_event)
{
    int length = 0;
    if (sync_event->since)
        length += snprintf(to, room, " since %" PRIu64, sync_event->since);
    if (sync_event->by != SYNC_EVENT_NOBODY)
        length += snprintf(to + length, room - (size_t)length, " by %u at %" PRIu64, sync_event->by,
                           sync_event->by_tick);
    return length;
}

/* "tick thread type [object's address] …", a line each. */
static char *text_of(const char *fixture, const struct sync_scope *scope)
{
    struct trace *trace = fixture__open(fixture);
    struct sync_events *walk = sync_events__start_for(trace, scope);
    struct sync_event sync_event;
    char *text = memory__zeroed(1 << 16, 1);
    size_t length = 0, room = 1 << 16;
    while (sync_events__next(walk, &sync_event)) {
        char line[256];
        int used = snprintf(line, sizeof line, "%" PRIu64 " %u %s", sync_event.tick,
                            sync_event.thread, type_names[sync_event.type]);
        if (sync_event.object != SYNC_EVENT_NO_OBJECT)
            used += snprintf(line + used, sizeof line - (size_t)used, " %" PRIx64,
                             sync_events__object(walk, sync_event.object)->address);
        used += add_who(line + used, sizeof line - (size_t)used, &sync_event);
        snprintf(line + used, sizeof line - (size_t)used, "%s%s%s%s",
                 sync_event.how == 1 && sync_event.type != SYNC_EVENT_BACK ? " how 1" : "",
                 sync_event.tried ? " tried" : "", sync_event.again ? " again" : "",
                 sync_event.is_open ? " open" : "");
        length += (size_t)snprintf(text + length, room - length, "%s\n", line);
    }
    sync_events__free(walk);
    trace__close(trace);
    return text;
}

static void check_of(const char *fixture, const struct sync_scope *scope, const char *expected)
{
    char *text = text_of(fixture, scope);
    assert_string_equal(text, expected);
    free(text);
}

static void check(const char *fixture, const char *expected)
{
    check_of(fixture, &(struct sync_scope){0}, expected);
}

#define TWO_THREADS \
    "end 9000\n"    \
    "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
#define WORKER "thread 1 worker\n1100 thread_start 0x22 0 0x400100\n"

static void a_lock_is_handed_over(void **state)
{
    (void)state;
    check(TWO_THREADS "2000 lock_acquired 0x1/0 0x70\n"
                      "3000 lock_released 0x2/0 0x70\n"
                      "9000 thread_end 0 0\n" WORKER "2500 lock_wait 0x3/0 0x70\n"
                      "3100 leave lock_wait 0\n"
                      "3200 lock_busy 0x3/0 0x71\n"
                      "3500 lock_released 0x4/0 0x70\n"
                      "4000 lock_wait 0x3/0 0x71\n"
                      "4100 leave lock_wait 110\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 0 acquired 70\n"
          "2500 1 waits 70\n"
          "3000 0 released 70 since 2000\n"
          "3100 1 acquired 70 since 2500 by 0 at 3000\n"
          "3200 1 busy 71\n"
          "3500 1 released 70 since 3100\n"
          "4000 1 waits 71\n"
          "4100 1 gave up 71 since 4000\n"
          "8000 1 ended\n"
          "9000 0 ended\n");
}

/* Told when it is over, it began before the wait of another one did; events in between are not in
 * its way. */
static void a_section_that_was_left_out_is_in_its_place(void **state)
{
    (void)state;
    check(TWO_THREADS "2600 lock_acquired 0x1/0 0x71\n"
                      "2700 lock_released 0x2/0 0x71\n"
                      "3000 lock_held 0x1/0 0x70 510\n"
                      "3010 lock_released 0x2/0 0x70\n"
                      "9000 thread_end 0 0\n" WORKER "2500 lock_wait 0x3/0 0x70\n"
                      "3100 leave lock_wait 0\n"
                      "3500 lock_released 0x4/0 0x70\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2490 0 acquired 70\n"
          "2500 1 waits 70\n"
          "2600 0 acquired 71\n"
          "2700 0 released 71 since 2600\n"
          "3010 0 released 70 since 2490\n"
          "3100 1 acquired 70 since 2500 by 0 at 3010\n"
          "3500 1 released 70 since 3100\n"
          "8000 1 ended\n"
          "9000 0 ended\n");
}

/* Tries that succeed say so; a wait or a failed try is none. */
static void locks_that_are_tried(void **state)
{
    (void)state;
    check(TWO_THREADS "2000 lock_acquired 0x1/256 0x70\n"
                      "2100 lock_acquired 0x1/257 0x72\n"
                      "2200 lock_acquired 0x1/0 0x74\n"
                      "3000 lock_released 0x2/0 0x70\n"
                      "3100 lock_released 0x2/4 0x72\n"
                      "3200 lock_released 0x2/0 0x74\n"
                      "9000 thread_end 0 0\n",
          "1000 0 started\n"
          "2000 0 acquired 70 tried\n"
          "2100 0 acquired 72 how 1 tried\n"
          "2200 0 acquired 74\n"
          "3000 0 released 70 since 2000\n"
          "3100 0 released 72 since 2100 how 1\n"
          "3200 0 released 74 since 2200\n"
          "9000 0 ended\n");
}

/* Recursion is one acquisition; a late release is told when another thread has the lock, once. */
static void recursion_and_clocks(void **state)
{
    (void)state;
    check(TWO_THREADS "2000 lock_acquired 0x1/0 0x70\n"
                      "2100 lock_acquired 0x1/0 0x70\n"
                      "2200 lock_released 0x1/0 0x70\n"
                      "3010 lock_released 0x2/0 0x70\n"
                      "4000 lock_released 0x2/0 0x72\n"
                      "9000 thread_end 0 0\n" WORKER "2500 lock_wait 0x3/0 0x70\n"
                      "3000 leave lock_wait 0\n"
                      "3500 lock_released 0x4/0 0x70\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 0 acquired 70\n"
          "2500 1 waits 70\n"
          "3000 0 released 70 since 2000\n"
          "3000 1 acquired 70 since 2500 by 0 at 3000\n"
          "3500 1 released 70 since 3000\n"
          "4000 0 released 72\n"
          "8000 1 ended\n"
          "9000 0 ended\n");
}

static void a_condition_gives_its_mutex_back(void **state)
{
    (void)state;
    check(TWO_THREADS "3000 lock_acquired 0x1/0 0x70\n"
                      "3100 condition_signalled 0x5/1 0x80\n"
                      "3200 lock_released 0x2/0 0x70\n"
                      "9000 thread_end 0 0\n" WORKER "2000 lock_acquired 0x3/0 0x70\n"
                      "2500 condition_wait 0x4 0x80 0x70\n"
                      "3300 leave condition_wait 0\n"
                      "4000 condition_wait 0x4 0x80 0x70\n"
                      "5000 leave condition_wait 110\n"
                      "5500 lock_released 0x4/0 0x70\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 1 acquired 70\n"
          "2500 1 released 70 since 2000 again\n"
          "2500 1 waits 80\n"
          "3000 0 acquired 70\n"
          "3100 0 signalled 80 how 1\n"
          "3200 0 released 70 since 3000\n"
          "3300 1 woken 80 since 2500 by 0 at 3100\n"
          "3300 1 acquired 70 again\n"
          "4000 1 released 70 since 3300 again\n"
          "4000 1 waits 80\n"
          "5000 1 gave up 80 since 4000\n"
          "5000 1 acquired 70 again\n"
          "5500 1 released 70 since 5000\n"
          "8000 1 ended\n"
          "9000 0 ended\n");
}

/* The second round begins before the first one's last thread has left. */
static void rounds_of_a_barrier(void **state)
{
    (void)state;
    check(TWO_THREADS "2000 barrier_wait 0x1 0x90\n"
                      "2510 leave barrier_wait 0\n"
                      "2520 barrier_wait 0x1 0x90\n"
                      "2700 leave barrier_wait 0\n"
                      "9000 thread_end 0 0\n" WORKER "2500 barrier_wait 0x2 0x90\n"
                      "2550 leave barrier_wait -1\n"
                      "2600 barrier_wait 0x2 0x90\n"
                      "2650 leave barrier_wait -1\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 0 waits 90\n"
          "2500 1 waits 90\n"
          "2510 0 left 90 since 2000 by 1 at 2500\n"
          "2520 0 waits 90\n"
          "2550 1 left 90 since 2500 by 1 at 2500\n"
          "2600 1 waits 90\n"
          "2650 1 left 90 since 2600 by 1 at 2600\n"
          "2700 0 left 90 since 2520 by 1 at 2600\n"
          "8000 1 ended\n"
          "9000 0 ended\n");
}

static void semaphores_joins_and_the_kernel(void **state)
{
    (void)state;
    check(TWO_THREADS "1090 thread_created 0x1 0x22\n"
                      "2000 semaphore_wait 0x1 0xa0\n"
                      "3100 off_cpu 900/0 0 0\n"
                      "3150 leave semaphore_wait 0\n"
                      "4000 join 0x1 0x22\n"
                      "8100 leave join 0\n"
                      "9000 thread_end 0 0\n" WORKER "1200 semaphore_acquired 0x2 0xa0\n"
                      "3000 semaphore_posted 0x2 0xa0\n"
                      "8000 thread_end 0 0\n",
          "1000 0 started\n"
          "1090 0 created\n"
          "1100 1 started by 0 at 1090\n"
          "1200 1 acquired a0\n"
          "2000 0 waits a0\n"
          "3000 1 signalled a0\n"
          "3100 0 back since 2200\n"
          "3150 0 acquired a0 since 2000 by 1 at 3000\n"
          "4000 0 waits\n"
          "8000 1 ended\n"
          "8100 0 joined since 4000 by 1 at 8000\n"
          "9000 0 ended\n");
}

/* One begins after it was joined, one before its creator says that it created it; they have one
 * pthread_t. */
static void threads_begin_early_and_late(void **state)
{
    (void)state;
    check(TWO_THREADS "1050 thread_created 0x1 0x22\n"
                      "1060 join 0x1 0x22\n"
                      "1210 leave join 0\n"
                      "1320 thread_created 0x1 0x22\n"
                      "1330 join 0x1 0x22\n"
                      "1410 leave join 0\n"
                      "9000 thread_end 0 0\n" WORKER "1200 thread_end 0 0\n"
                      "thread 2 second\n1300 thread_start 0x22 0 0x400100\n"
                      "1400 thread_end 0 0\n",
          "1000 0 started\n"
          "1050 0 created\n"
          "1060 0 waits\n"
          "1100 1 started by 0 at 1050\n"
          "1200 1 ended\n"
          "1210 0 joined since 1060 by 1 at 1200\n"
          "1300 2 started by 0 at 1300\n"
          "1320 0 created\n"
          "1330 0 waits\n"
          "1400 2 ended\n"
          "1410 0 joined since 1330 by 2 at 1400\n"
          "9000 0 ended\n");
}

/* Readers share; who has not ended is told when all else was, one in a wait at its process's end.
 */
static void readers_and_threads_without_an_end(void **state)
{
    (void)state;
    check(TWO_THREADS "2000 lock_acquired 0x1/1 0x70\n"
                      "3000 lock_released 0x2/4 0x70\n"
                      "6000 lock_busy 0x2/0 0x71\n" WORKER "2100 lock_acquired 0x3/1 0x70\n"
                      "2200 lock_released 0x3/4 0x70\n"
                      "2500 lock_wait 0x3/2 0x70\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 0 acquired 70 how 1\n"
          "2100 1 acquired 70 how 1\n"
          "2200 1 released 70 since 2100 how 1\n"
          "2500 1 waits 70\n"
          "3000 0 released 70 since 2000 how 1\n"
          "6000 0 busy 71\n"
          "6000 0 ended open\n"
          "6000 1 gave up 70 since 2500 open\n"
          "6000 1 ended open\n");
}

/* A thread ends with two locks; one is robust, and had by who waited for it. */
static void a_thread_ends_with_locks(void **state)
{
    (void)state;
    check(TWO_THREADS "3000 lock_wait 0x2/0 0x70\n"
                      "5100 leave lock_wait 130\n"
                      "9000 thread_end 0 0\n" WORKER "2000 lock_acquired 0x1/0 0x70\n"
                      "2100 lock_acquired 0x1/1 0x72\n"
                      "5000 thread_end 0 0\n",
          "1000 0 started\n"
          "1100 1 started by 0 at 1100\n"
          "2000 1 acquired 70\n"
          "2100 1 acquired 72 how 1\n"
          "3000 0 waits 70\n"
          "5000 1 released 72 since 2100 how 1\n"
          "5000 1 released 70 since 2000\n"
          "5000 1 ended\n"
          "5100 0 acquired 70 since 3000 by 1 at 5000\n"
          "9000 0 released 70 since 5100\n"
          "9000 0 ended\n");
}

static void where_objects_are_made(void **state)
{
    (void)state;
    struct trace *trace = fixture__open(TWO_THREADS "1500 initialised 0x9/1 0x70 0\n"
                                                    "1600 initialised 0x8/5 0x90 4\n"
                                                    "2000 lock_acquired 0x1/1 0x70\n" WORKER
                                                    "1700 initialised 0x7/0 0x70 0\n");
    struct sync_events *walk = sync_events__start(trace);
    struct sync_event sync_event;
    while (sync_events__next(walk, &sync_event))
        ;
    assert_int_equal(sync_events__objects(walk), 3);
    const struct sync_object *lock = sync_events__object(walk, 0);
    assert_int_equal(lock->lock, HEURT_LOCK_WRITE);
    assert_int_equal(lock->initialised_site, 9);
    assert_int_equal(lock->initialised_by, 0);
    assert_int_equal(sync_events__object(walk, 1)->initial, 4);
    assert_int_equal(sync_events__object(walk, 1)->kind, CLASS_BARRIER);
    assert_int_equal(sync_events__object(walk, 2)->lock, HEURT_LOCK_MUTEX);
    assert_int_equal(sync_events__object(walk, 2)->initialised_by, 1);
    sync_events__free(walk);
    trace__close(trace);
}

/* What threads do apart from others, for who asks for it; the wait of a handler within a call is no
 * business of others. */
static void details(void **state)
{
    (void)state;
    const char *fixture = TWO_THREADS "2000 lock_acquired 0x1/0 0x70\n"
                                      "2100 sleep 0x2/1 500\n"
                                      "2200 lock_wait 0x3/0 0x71\n"
                                      "2300 leave lock_wait 0\n"
                                      "2600 leave sleep\n"
                                      "3100 off_cpu 300/0 100 0\n"
                                      "4000 lost 7\n"
                                      "9000 thread_end 0 0\n";
    check_of(fixture, &(struct sync_scope){.details = true},
             "1000 0 started\n"
             "2000 0 acquired 70\n"
             "2100 0 called\n"
             "2600 0 returned\n"
             "2800 0 off since 2800\n"
             "3000 0 off since 2800\n"
             "3100 0 back since 2800\n"
             "4000 0 lost\n"
             "9000 0 ended\n");
}

static void left_out(void **state)
{
    (void)state;
    const bool second[] = {false, true};
    check_of(TWO_THREADS "2000 lock_acquired 0x1/0 0x70\n"
                         "3000 lock_wait 0x3/0 0x71\n"
                         "3100 leave lock_wait 110\n"
                         "9000 thread_end 0 0\n" WORKER "2500 lock_acquired 0x1/0 0x72\n",
             &(struct sync_scope){.left_out = second, .no_locks = true},
             "1000 0 started\n"
             "3000 0 waits 71\n"
             "3100 0 gave up 71 since 3000\n"
             "9000 0 ended\n");
}

static void check_holders(struct sync_events *walk, size_t count, uint32_t thread, uint64_t site)
{
    struct vec holders = VEC_OF(struct lock_holder);
    sync_events__holders(walk, 0, &holders);
    assert_int_equal(holders.count, count);
    const struct lock_holder *last = count ? VEC_AT(&holders, struct lock_holder, count - 1) : NULL;
    if (last)
        assert_true(last->thread == thread && last->site == site);
    vec__free(&holders);
}

/* Whoever ended with a lock keeps those waiting who come for it. */
static void who_has_a_lock(void **state)
{
    (void)state;
    struct trace *trace =
        fixture__open(TWO_THREADS "2000 lock_acquired 0x1/1 0x70\n"
                                  "3000 lock_released 0x2/4 0x70\n"
                                  "9000 thread_end 0 0\n" WORKER "2100 lock_acquired 0x3/1 0x70\n"
                                  "3100 lock_released 0x4/4 0x70\n"
                                  "3200 lock_acquired 0x5/2 0x70\n"
                                  "4000 thread_end 0 0\n");
    struct sync_events *walk = sync_events__start(trace);
    struct sync_event event;
    while (sync_events__next(walk, &event) && event.tick < 9000) {
        if (event.tick == 2100)
            check_holders(walk, 2, 1, 0x3);
        else if (event.tick == 3000)
            check_holders(walk, 1, 1, 0x3);
        else if (event.tick == 3100)
            check_holders(walk, 0, 0, 0);
        else if (event.tick >= 3200)
            check_holders(walk, 1, 1, 0x5);
    }
    sync_events__free(walk);
    trace__close(trace);
}

static void check_messages(const char *fixture, const char *expected)
{
    check_of(fixture, &(struct sync_scope){.messages = true}, expected);
}

/* Of a pair of sockets, 3 and 4: the first read sleeps, and has the bytes of the first write; the
 * next two have those of the second, whose end is told later; what comes is told to who polls for
 * it. */
static void messages_are_counted_in_bytes(void **state)
{
    (void)state;
    check_messages(TWO_THREADS "1010 channel 3:2 0x30 0x40\n"
                               "1020 channel 4:2 0x40 0x30\n"
                               "2000 io 0x1/2 3:2 8\n"
                               "2100 leave io 8\n"
                               "3000 io 0x1/2 3:2 16\n"
                               "3500 leave io 16\n"
                               "5000 io 0x1/2 3:2 8\n"
                               "5100 leave io 8\n"
                               "9000 thread_end 0 0\n" WORKER "1500 io 0x3/1 4:2 100\n"
                               "2140 off_cpu 600/0 0 0\n"
                               "2200 leave io 8\n"
                               "3100 io 0x3/1 4:2 12\n"
                               "3110 leave io 12\n"
                               "3600 io 0x3/1 4:2 12\n"
                               "3700 leave io 4\n"
                               "4000 io 0x3/14 -1:0 0\n"
                               "5200 leave io 1\n"
                               "8000 thread_end 0 0\n",
                   "1000 0 started\n"
                   "1100 1 started by 0 at 1100\n"
                   "2140 1 back since 1540\n"
                   "2200 1 received since 1500 by 0 at 2100 how 1\n"
                   "3110 1 received since 3100 by 0 at 3000\n"
                   "3700 1 received since 3600 by 0 at 3500\n"
                   "5200 1 received since 4000 by 0 at 5000\n"
                   "8000 1 ended\n"
                   "9000 0 ended\n");
}

/* Another process: it has the pipe of who forked it, and meets it by a name. */
static void messages_pass_between_processes(void **state)
{
    (void)state;
    check_messages("end 9000\nprocess 0 100 /bin/a\nprocess 1 101 /bin/a 0 1500\n"
                   "thread 0 main\n1000 thread_start 0x11 0xffffffff 0x400000\n"
                   "1010 channel 5:3 0x50 0x50\n"
                   "1400 forked\n"
                   "2000 io 0x1/2 5:3 8\n"
                   "2100 leave io 8\n"
                   "4000 channel 7:2 0x70 0xc000000000000001\n"
                   "5000 io 0x1/2 7:2 8\n"
                   "5100 leave io 8\n"
                   "9000 thread_end 0 0\n"
                   "thread 1 child 1\n1600 thread_start 0x11 0xffffffff 0x400000\n"
                   "1700 io 0x3/1 5:3 8\n"
                   "2200 leave io 8\n"
                   "3900 channel 7:2 0x71 0x8000000000000001\n"
                   "4500 io 0x3/21 7:2 8\n"
                   "5200 leave io 8\n"
                   "8000 thread_end 0 0\n",
                   "1000 0 started\n"
                   "1600 1 started by 0 at 1400\n"
                   "2200 1 received since 1700 by 0 at 2100\n"
                   "5200 1 received since 4500 by 0 at 5100\n"
                   "8000 1 ended\n"
                   "9000 0 ended\n");
}

/* A read of an eventfd takes all that was added; of a channel that somebody else writes to, too, it
 * is told who wrote last, and counting begins anew. */
static void messages_that_cannot_be_counted(void **state)
{
    (void)state;
    check_messages(TWO_THREADS "1010 channel 3:5 0x30 0x30\n"
                               "1020 channel 4:3 0x40 0x40\n"
                               "2000 io 0x1/2 3:5 8\n"
                               "2100 leave io 8\n"
                               "2200 io 0x1/2 3:5 8\n"
                               "2300 leave io 8\n"
                               "3000 io 0x1/2 4:3 8\n"
                               "3100 leave io 8\n"
                               "4000 io 0x1/2 4:3 8\n"
                               "4100 leave io 8\n"
                               "9000 thread_end 0 0\n" WORKER "2400 io 0x3/1 3:5 8\n"
                               "2500 leave io 8\n"
                               "3200 io 0x3/1 4:3 12\n"
                               "3300 leave io 12\n"
                               "4200 io 0x3/1 4:3 8\n"
                               "4300 leave io 8\n"
                               "8000 thread_end 0 0\n",
                   "1000 0 started\n"
                   "1100 1 started by 0 at 1100\n"
                   "2500 1 received since 2400 by 0 at 2300\n"
                   "3300 1 received since 3200 by 0 at 3100\n"
                   "4300 1 received since 4200 by 0 at 4100\n"
                   "8000 1 ended\n"
                   "9000 0 ended\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_handed_over),
        cmocka_unit_test(a_section_that_was_left_out_is_in_its_place),
        cmocka_unit_test(locks_that_are_tried),
        cmocka_unit_test(recursion_and_clocks),
        cmocka_unit_test(a_condition_gives_its_mutex_back),
        cmocka_unit_test(rounds_of_a_barrier),
        cmocka_unit_test(semaphores_joins_and_the_kernel),
        cmocka_unit_test(threads_begin_early_and_late),
        cmocka_unit_test(readers_and_threads_without_an_end),
        cmocka_unit_test(where_objects_are_made),
        cmocka_unit_test(a_thread_ends_with_locks),
        cmocka_unit_test(details),
        cmocka_unit_test(messages_are_counted_in_bytes),
        cmocka_unit_test(messages_pass_between_processes),
        cmocka_unit_test(messages_that_cannot_be_counted),
        cmocka_unit_test(left_out),
        cmocka_unit_test(who_has_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
