/* window.h: a trace of a part of a run that goes on: the chunks in which the part lies, copied.
 *
 *     run       [def][  t0  ][  t1  ][  t0  ][  t1  ][  t0  ]…
 *     window    [def]        [  t1  ][  t0  ][  t1  ]           and its bounds, in the header
 *
 * Chunks begin before the window and end behind it; who opens the trace cuts them (cmd/load.h).
 * A window may be made while the program writes: what comes after the copying is not in it.
 *
 * In goes the mapped file, out comes a directory with an events file, not packed, without names.
 * It costs a look at each chunk's header and the copying. It stands on layout.h and directory.h. */
#ifndef HEURT_FORMAT_WINDOW_H
#define HEURT_FORMAT_WINDOW_H

#include "base/error.h"
#include "format/layout.h"

#include <stddef.h>
#include <stdint.h>

struct trace_window {
    uint64_t from_tick, behind_tick; /* events from the first on, and before the second */
    struct heurt_clock_pair end;     /* what time it is; 0: header has the run's end */
};

/* bytes: the file, of which the chunks below header's next_unit are looked at; header: believed in
 * place of what the file begins with. directory is not there yet, or empty. 0, or a negative errno
 * with a sentence, and no directory is left. */
int trace_window__write(const char *bytes, size_t size, const struct heurt_session *header,
                        const struct trace_window *window, const char *directory,
                        struct error *error);

/* Likewise into a file, which is empty. 0, or a negative errno. */
int trace_window__write_file(const char *bytes, size_t size, const struct heurt_session *header,
                             const struct trace_window *window, int fd);

#endif
