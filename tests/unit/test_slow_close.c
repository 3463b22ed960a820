/* A socket that lingers is slow to close: the system waits until the other side has read. */
#include "kernel/slow_close.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

/* A connection over the loopback: ends[0] lingers and has sent more than ends[1] takes. */
static void connect_lingering(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const struct linger linger = {.l_onoff = 1, .l_linger = 600};
    static const char bytes[4096];
    int listener = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    assert_int_equal(bind(listener, (void *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (void *)&address, &length), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    assert_int_equal(connect(ends[0], (void *)&address, length), 0);
    ends[1] = accept(listener, NULL, NULL);
    assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while (send(ends[0], bytes, sizeof bytes, 0) > 0)
        ;
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
    close(listener);
}

static void all_is_closed_here_at_once_and_everywhere_in_the_end(void **state)
{
    enum { MANY = 600 };
    int ends[2], descriptors[MANY];
    char byte;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < MANY; i++)
        assert_true((descriptors[i] = dup(ends[1])) >= 0);
    close(ends[1]);
    slow_close(descriptors, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(fcntl(descriptors[i], F_GETFD), -1);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* when the kernel has closed the last one */
    close(ends[0]);
}

/* The time that closing takes here is that of its reader, who reads only afterwards. */
static void who_calls_does_not_wait(void **state)
{
    struct utsname system;
    int ends[2], major, minor;
    char bytes[65536];
    (void)state;
    assert_int_equal(uname(&system), 0);
    assert_int_equal(sscanf(system.release, "%d.%d", &major, &minor), 2);
    if (major < 6 || (major == 6 && minor < 9))
        skip();
    connect_lingering(ends);
    slow_close(&ends[0], 1);
    while (read(ends[1], bytes, sizeof bytes) > 0)
        ;
    close(ends[1]);
}

static void nothing_to_close_is_nothing(void **state)
{
    (void)state;
    slow_close(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_closed_here_at_once_and_everywhere_in_the_end),
        cmocka_unit_test(who_calls_does_not_wait),
        cmocka_unit_test(nothing_to_close_is_nothing),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
