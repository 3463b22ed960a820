/* control.h: what heurt ctl asks of the recorder while it records: a word or two, and an answer.
 *
 * In goes a request as text from one end of a Unix socket in the trace's directory, out comes a
 * sentence at the other. Requests and answers are one packet each. It stands on named_socket.h. */
#ifndef HEURT_RECORDER_CONTROL_H
#define HEURT_RECORDER_CONTROL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_TEXT 1024 /* bytes of a request or an answer, its end included */

struct control {
    int fd;     /* listening: for poll(2); -1: none */
    char *path; /* of the socket; owned */
};

/* 0, or a negative errno with a sentence. */
int control__open(struct control *control, const char *directory, struct error *error);
void control__close(struct control *control);

/* The next request that waits, of this user's; the descriptor is for its answer. -1: none waits. */
int control__next(const struct control *control, char text[CONTROL_TEXT]);
/* is_done: it was done as it was asked. Closes the descriptor. */
void control__answer(int fd, bool is_done, const char *sentence);

/* The other end: asks the recorder of the trace in directory. Returns 1 (done) or 0 (not) with its
 * sentence in answer, or a negative errno with one of ours. */
int control__ask(const char *directory, const char *request, char answer[CONTROL_TEXT],
                 struct error *error);

#endif
