/* live_windows.h: what becomes of a recording while it goes on: it is stopped and started, marked,
 * and parts of it become traces of their own, windows, which every command reads.
 *
 *     heurt.data/events           ──►  heurt.data/1, heurt.data/2, …
 *     heurt ctl, signals, time, triggers: when
 *
 * A window is copied where the recording is served, in some milliseconds; names are looked up and
 * the trace is packed in a process of its own, which answers whoever asked. It stands on
 * recorder/control.h, triggers.h and format/window.h. One recording at a time. */
#ifndef HEURT_CMD_LIVE_WINDOWS_H
#define HEURT_CMD_LIVE_WINDOWS_H

#include "cmd/record_options.h"
#include "cmd/triggers.h"
#include "recorder/control.h"

struct live_windows {
    const struct recording *recording;
    struct trace_writer *writer; /* NULL: the recording has ended */
    struct control control;
    struct triggers triggers;
    char *why;        /* a trigger came, and its window is made at due_ns; NULL: none did */
    uint64_t due_ns;  /* CLOCK_MONOTONIC */
    bool is_numbered; /* what is left in the end are windows alone */
    bool is_paused;
    uint64_t since_tick; /* it is recorded since then */
    uint64_t segment_ns; /* when this segment ends, CLOCK_MONOTONIC */
    unsigned last;       /* number of the last window */
    struct vec makers;   /* struct window_maker: windows that are being made */
};

/* Before the program starts. 0, or a negative errno with a sentence; live_windows__free it. */
int live_windows__begin(struct live_windows *windows, const struct recording *recording,
                        struct trace_writer *writer, struct error *error);
/* Signals that mean this recording are taken from now on; after launch__start. */
void live_windows__take_signals(const struct live_windows *windows);
/* For poll(2). */
int live_windows__fd(const struct live_windows *windows);
/* To be called at least every 64 ms. True: the program is busy, look soon. */
bool live_windows__look(struct live_windows *windows);
/* The program has ended: no more requests; before trace_writer__finish. */
void live_windows__end(struct live_windows *windows);
/* After it, where is_numbered: makes the last window, if there is to be one, and leaves nothing but
 * windows. *directory becomes it (free()), or NULL. 0, or a negative errno with a sentence. */
int live_windows__conclude(struct live_windows *windows, int wait_status, char **directory,
                           struct error *error);
void live_windows__free(struct live_windows *windows);

#endif
