#include "recorder/control.h"

#include "base/memory.h"
#include "format/layout.h"
#include "recorder/named_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUEST_MS 200    /* who asks has asked by then */
#define ANSWER_SECONDS 60 /* a window of a long trace is packed meanwhile */

int control__open(struct control *control, const char *directory, struct error *error)
{
    control->path = memory__format("%s/" HEURT_CONTROL_FILE, directory);
    control->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int code =
        control->fd < 0 ? -errno : named_socket__bind(control->fd, directory, HEURT_CONTROL_FILE);
    if (code == 0 && listen(control->fd, 16) != 0)
        code = -errno;
    if (code == 0)
        return 0;
    control__close(control);
    return error__set(error, code,
                      "cannot listen for heurt ctl (Unix socket %.80s/" HEURT_CONTROL_FILE "): %s",
                      directory, strerror(-code));
}

void control__close(struct control *control)
{
    if (control->fd >= 0)
        close(control->fd);
    control->fd = -1;
    if (control->path)
        unlink(control->path);
    free(control->path);
    control->path = NULL;
}

static void have_patience(int fd, int which, time_t seconds, suseconds_t us)
{
    const struct timeval patience = {.tv_sec = seconds, .tv_usec = us};
    setsockopt(fd, SOL_SOCKET, which, &patience, sizeof patience);
}

static bool receive(int fd, char text[CONTROL_TEXT])
{
    ssize_t got;
    do
        got = recv(fd, text, CONTROL_TEXT - 1, 0);
    while (got < 0 && errno == EINTR);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

int control__next(const struct control *control, char text[CONTROL_TEXT])
{
    for (int fd; (fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(fd)) {
        have_patience(fd, SO_RCVTIMEO, 0, REQUEST_MS * 1000);
        have_patience(fd, SO_SNDTIMEO, 0, REQUEST_MS * 1000);
        if (named_socket__is_own(fd) && receive(fd, text))
            return fd;
    }
    return -1;
}

void control__answer(int fd, bool is_done, const char *sentence)
{
    char text[CONTROL_TEXT];
    snprintf(text, sizeof text, "%c%s", is_done ? '+' : '-', sentence);
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
}

static int nobody_there(const char *directory, int code, struct error *error)
{
    if (code == -ENOENT || code == -ECONNREFUSED || code == -ENOTDIR)
        return error__set(error, code,
                          "nobody records into %s at this moment: name the directory of a "
                          "recording that goes on (heurt record -o)",
                          directory);
    return error__set(error, code, "the recording of %s cannot be asked: %s", directory,
                      strerror(-code));
}

static int ask(int fd, const char *directory, const char *request, char answer[CONTROL_TEXT],
               struct error *error)
{
    have_patience(fd, SO_RCVTIMEO, ANSWER_SECONDS, 0);
    if (!named_socket__is_own(fd))
        return error__set(error, -EPERM, "the recording of %s is another user's", directory);
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        return nobody_there(directory, -errno, error);
    char text[CONTROL_TEXT];
    if (!receive(fd, text))
        return error__set(error, -ETIMEDOUT,
                          "the recording of %s gave no answer: it ended, or was too busy",
                          directory);
    memcpy(answer, text + 1, sizeof text - 1);
    return *text == '+';
}

int control__ask(const char *directory, const char *request, char answer[CONTROL_TEXT],
                 struct error *error)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error__set(error, -errno, "no socket can be made: %s", strerror(errno));
    int code = named_socket__connect(fd, directory, HEURT_CONTROL_FILE);
    code = code < 0 ? nobody_there(directory, code, error)
                    : ask(fd, directory, request, answer, error);
    close(fd);
    return code;
}
