/* Requests: what a thread that serves does between two waits for work. */
#include "analysis/timeline/requests.h"

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LEFT | 1
#define IO HEURT_EVENT_IO
#define WAIT HEURT_EVENT_LOCK_WAIT
#define SLEEP HEURT_EVENT_SLEEP
#define MUTEX HEURT_SITE(0x9000, HEURT_LOCK_MUTEX)
#define CALL(call) HEURT_SITE(0x9000, HEURT_IO_##call)
#define SOCKET ((uint64_t)HEURT_DESCRIPTOR_SOCKET << 32 | 4)
#define NOTHING ((uint64_t)HEURT_DESCRIPTOR_UNKNOWN << 32 | 5)

static void wait_for_work(struct scene *scene, uint64_t from, uint64_t to)
{
    PUT(scene, 0, from, IO, CALL(EPOLL_WAIT), NOTHING, 100);
    PUT(scene, 0, to, IO LEFT, 1);
}

static void answer(struct scene *scene, uint64_t from, uint64_t to)
{
    PUT(scene, 0, from, IO, CALL(SEND), SOCKET, 100);
    PUT(scene, 0, to, IO LEFT, 100);
}

/* NULL: there are none. */
static struct requests *requests_of(struct scene *scene)
{
    struct requests *requests = NULL;
    struct error error = {""};
    scene__profile(scene);
    if (run__one(scene->trace, scene->symbols, &requests_analysis, NULL, (void **)&requests,
                 &error) < 0)
        fail_msg("%s", error.text);
    return requests;
}

static void a_request_is_between_two_waits_for_work(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    answer(scene, 1010, 1020); /* before the first wait: none */
    wait_for_work(scene, 1100, 1200);
    answer(scene, 1250, 1280);
    wait_for_work(scene, 1300, 1400);
    wait_for_work(scene, 1450, 1500); /* nothing was answered in between */
    answer(scene, 1510, 1520);
    PUT(scene, 0, 1530, SLEEP, HEURT_SITE(0x9000, HEURT_SLEEP_NANOSLEEP), 100);
    PUT(scene, 0, 1630, SLEEP LEFT);
    wait_for_work(scene, 1700, 1800);
    answer(scene, 1810, 1820); /* behind the last wait: none */
    scene__end(scene, 0, 1900);
    struct requests *requests = requests_of(scene);
    assert_non_null(requests);
    assert_int_equal(requests->count, 2);
    assert_int_equal(requests->longest_ns, 200);
    const struct served_request *slowest = VEC_AT(&requests->slowest, struct served_request, 0);
    assert_int_equal(slowest->start_ns, 500);
    assert_int_equal(slowest->duration_ns, 200);
    assert_int_equal(slowest->component_ns[COMPONENT_SLEEP], 100);
    assert_int_equal(slowest->component_ns[COMPONENT_NETWORK], 10);
    assert_int_equal(slowest->component_ns[COMPONENT_RUNNING], 90);
    assert_int_equal(VEC_AT(&requests->slowest, struct served_request, 1)->duration_ns, 100);
    requests_analysis.free(requests);
}

static void whom_the_longest_wait_was_for_is_told(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    scene__start(scene, 1, 1000);
    wait_for_work(scene, 1100, 1200);
    PUT(scene, 1, 1210, HEURT_EVENT_LOCK_ACQUIRED, MUTEX, 0x7000);
    PUT(scene, 0, 1220, WAIT, MUTEX, 0x7000);
    PUT(scene, 1, 1290, HEURT_EVENT_LOCK_RELEASED, HEURT_SITE(0x9100, HEURT_LOCK_MUTEX), 0x7000);
    PUT(scene, 0, 1300, WAIT LEFT, 0);
    PUT(scene, 0, 1310, HEURT_EVENT_LOCK_RELEASED, MUTEX, 0x7000);
    answer(scene, 1320, 1330);
    wait_for_work(scene, 1400, 1500);
    scene__end(scene, 0, 1600);
    scene__end(scene, 1, 1600);
    struct requests *requests = requests_of(scene);
    assert_int_equal(requests->count, 1);
    requests__blame(scene->trace, requests);
    const struct served_request *request = requests->slowest.items;
    assert_int_equal(request->component_ns[COMPONENT_LOCK], 80);
    assert_int_equal(request->wait.wait_ns, 80);
    assert_int_equal(request->wait.object, 0x7000);
    assert_int_equal(request->wait.by, 1);
    assert_int_equal(request->wait.by_site, 0x9100);
    requests_analysis.free(requests);
}

static void the_slowest_are_kept_and_quantiles_are_of_all(void **state)
{
    enum { COUNT = 300 };
    struct scene *scene = *state;
    uint64_t at = 1000;
    scene__start(scene, 0, at);
    for (uint64_t i = 1; i <= COUNT; i++) {
        wait_for_work(scene, at, at + 10);
        answer(scene, at + 11, at + 12);
        at += 10 + 10 * (i * 7 % COUNT + 1); /* each duration once */
    }
    wait_for_work(scene, at, at + 10);
    scene__end(scene, 0, at + 20);
    struct requests *requests = requests_of(scene);
    assert_int_equal(requests->count, COUNT);
    assert_int_equal(requests->median_ns, 10 * (COUNT / 2 + 1));
    assert_int_equal(requests->p99_ns, 10 * (COUNT - COUNT / 100));
    assert_int_equal(requests->longest_ns, 10 * COUNT);
    assert_int_equal(requests->slowest.count, REQUESTS_KEPT);
    for (size_t i = 0; i < REQUESTS_KEPT; i++)
        assert_int_equal(VEC_AT(&requests->slowest, struct served_request, i)->duration_ns,
                         10 * (COUNT - i));
    requests_analysis.free(requests);
}

static void who_uses_no_network_serves_nobody(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    wait_for_work(scene, 1100, 1200);
    wait_for_work(scene, 1300, 1400);
    scene__end(scene, 0, 1500);
    assert_null(requests_of(scene));
}

/* Each message is waited for in a call that nobody knows as a wait for work. */
static void many_messages_between_two_waits_are_no_request(void **state)
{
    struct scene *scene = *state;
    scene__start(scene, 0, 1000);
    wait_for_work(scene, 1100, 1200);
    for (uint64_t i = 0; i < 100; i++)
        answer(scene, 1210 + 20 * i, 1220 + 20 * i);
    wait_for_work(scene, 3300, 3400);
    scene__end(scene, 0, 3500);
    struct requests *requests = requests_of(scene);
    assert_non_null(requests);
    assert_int_equal(requests->count, 0);
    assert_int_equal(requests->slowest.count, 0);
    requests_analysis.free(requests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_request_is_between_two_waits_for_work, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(whom_the_longest_wait_was_for_is_told, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(the_slowest_are_kept_and_quantiles_are_of_all, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(who_uses_no_network_serves_nobody, scene__setup,
                                        scene__teardown),
        cmocka_unit_test_setup_teardown(many_messages_between_two_waits_are_no_request,
                                        scene__setup, scene__teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
