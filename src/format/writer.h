/* writer.h: making a trace: the recorder's side, and whole traces for tests.
 *
 * trace_writer__create makes the directory (an older trace becomes DIRECTORY.old), writes the
 * session header and maps the file sparse at its full bound; recorded processes map the same file.
 * trace_writer__finish cuts it to what was used.
 *
 * In go definitions and refusals, and what recorded processes write into the mapping; out comes a
 * trace. It costs a copy of each definition, nothing an event. It stands on directory.h and
 * layout.h. */
#ifndef HEURT_FORMAT_WRITER_H
#define HEURT_FORMAT_WRITER_H

#include "base/error.h"
#include "format/layout.h"
#include "format/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_writer;

/* settings: clock, flags, stack_every, stack_bytes, limit_units, next_process and next_thread
 * (where serials begin), patience_ms, later_ns, start, argument_key, with RING cells_unit (how many
 * units the ring has) are taken from it; the rest is filled in. */
int trace_writer__create(const char *directory, const struct heurt_session *settings,
                         struct trace_writer **writer, struct error *error);

struct heurt_session *trace_writer__session(struct trace_writer *writer);

/* Appends one definition (body_bytes of body after the header) to the recorder's chunk about a
 * process image (HEURT_NO_SERIAL: about the session). -ENOSPC when the trace is full. */
int trace_writer__define(struct trace_writer *writer, uint32_t process,
                         enum heurt_definition_type type, const void *body, size_t body_bytes);
int trace_writer__meta(struct trace_writer *writer, const char *key, const char *value);
int trace_writer__refuse(struct trace_writer *writer, uint32_t process, const char *function,
                         const char *module, const char *reason);

/* Appends what the kernel told of a thread: run (its bytes are filled in), then the words of whole
 * events. May run beside all the others, in one thread. -ENOSPC when the trace is full. */
int trace_writer__run(struct trace_writer *writer, const struct heurt_run *run,
                      const uint64_t *words, size_t count);

/* Makes real what the recorded threads will claim next, by as much as they claimed since the last
 * call, so that they need not wait for the file system to find and clear it.  Changes no byte of
 * the file and may run beside anything.  True when something was claimed since the last call. */
bool trace_writer__prepare(struct trace_writer *writer);

/* For traces that nobody records: imported ones, and those of tests. Who the thread is; its pid
 * and tid are made up where nobody tells. Before its first event. */
void trace_writer__name_thread(struct trace_writer *writer, uint32_t thread, uint32_t pid,
                               uint32_t tid);
/* Likewise: appends events to a thread, in chunks claimed as the runtime would. */
int trace_writer__event(struct trace_writer *writer, uint32_t process, uint32_t thread,
                        uint64_t tick, uint32_t id, const uint64_t *payload, size_t words);

/* Of a ring: gives threads the room of the oldest events; to be called at least every 64 ms. True
 * when they took any since the last call. */
bool trace_writer__recycle(struct trace_writer *writer);

/* Since when all that was recorded is there; 0: since the start. */
uint64_t trace_writer__whole_tick(const struct trace_writer *writer);

/* Makes a trace of what lies in the window so far, in a directory that is not there yet; nothing
 * in this one changes. Not beside trace_writer__recycle. 0, or a negative errno with a sentence. */
int trace_writer__window(const struct trace_writer *writer, const struct trace_window *window,
                         const char *directory, struct error *error);

/* Likewise a file, which is empty. 0, or a negative errno. */
int trace_writer__window_file(const struct trace_writer *writer, const struct trace_window *window,
                              int fd);

/* Threads record nothing until it is taken back; what they are about to write they still write. */
void trace_writer__pause(struct trace_writer *writer, bool is_paused);

/* What somebody said at that tick. -ENOSPC when the trace is full. */
int trace_writer__mark(struct trace_writer *writer, uint64_t tick, const char *text);

/* The trace is not to be: all is as it was before. Frees the writer. */
void trace_writer__discard(struct trace_writer *writer);

/* Marks the session closed, writes end and wait_status, truncates. Frees the writer. */
int trace_writer__finish(struct trace_writer *writer, int wait_status, struct heurt_clock_pair end,
                         struct error *error);

#endif
