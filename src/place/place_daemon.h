/* place_daemon.h: repairs where the memory of running processes is, round by round:
 *
 *     processes ──► samples, nodes of pages ──► place_engine ──► place_actuator ──► what it brought
 *     (place_processes) (place_sampler, place_sensors)                              (place_status)
 *
 * Safe by what it does: it moves pages, which changes nothing but time, and only those of processes
 * that were chosen. It keeps no state in them: wherever it ends, also by a crash, they go on, with
 * pages where they are. What it costs is bounded: on the average of a minute no more than
 * settings.cpu_share of one CPU, for looking and moving together, by sampling less and moving fewer
 * pages; beside that each sample takes some 10 us of the thread's own time.
 *
 * It prints nothing. One thread at a time. */
#ifndef HEURT_PLACE_PLACE_DAEMON_H
#define HEURT_PLACE_PLACE_DAEMON_H

#include "place/place_actuator.h"
#include "place/place_processes.h"
#include "place/place_status.h"

struct place_settings {
    struct place_thresholds thresholds;
    struct place_selection whom;
    uint64_t interval_ns; /* between rounds; for the status alone: who calls keeps it */
    unsigned hz;          /* samples a second of a running thread, at most */
    double cpu_share;     /* of one CPU, that the daemon may take */
    bool is_dry;          /* decides, and does nothing */
    uint64_t seed;
    const char *root; /* of sensors' files: "" is this machine */
    /* For tests: nodes as /sys tells them ("0:0;1:1"); NULL: those of this machine. */
    const char *nodes;
    const struct place_calls *calls;
};
struct place_settings place_settings__usual(void);

/* A round, as it was. Valid until the next one. */
struct place_round {
    uint32_t number;
    const struct place_outcome *outcome;
    const uint8_t *effects; /* enum place_effect: of each decision */
    uint64_t moved, back;   /* pages of 4 KiB */
};

struct place_daemon;

/* NULL after a sentence: processes that are not there or another user's, no cgroup, no samples. The
 * settings are copied, what they point to is kept. place_daemon__free it. */
struct place_daemon *place_daemon__new(const struct place_settings *settings, struct error *error);
void place_daemon__free(struct place_daemon *self);
/* To be called ten times a second: the kernel's rings are small. */
void place_daemon__drain(struct place_daemon *self);
struct place_round place_daemon__round(struct place_daemon *self);
/* Whether any process is followed. Of a cgroup or a user there may be some later. */
bool place_daemon__has_any(const struct place_daemon *self);
/* Of an application that was followed until now; "?": none. */
const char *place_daemon__name(const struct place_daemon *self, uint32_t application);
pid_t place_daemon__pid(const struct place_daemon *self, uint32_t application);
uint32_t place_daemon__node_id(const struct place_daemon *self, uint16_t index);
/* What it would tell now; place_status__free it. state: "watching", "stopped", … */
struct place_status place_daemon__tell(const struct place_daemon *self, const char *state);

/* "migrate", "spread", … and what a verdict means, in a few words. */
const char *place_decision__name(enum place_decision_kind kind);
const char *place_verdict__words(enum place_verdict verdict);

#endif
