/* place_sensors.h: what the machine itself tells, beside samples of programs: a table of sensors,
 * of which each says what it is worth, or why it is not there.
 *
 *     meminfo      how much of the memory is in use                /proc/meminfo
 *     resctrl      accesses to memory per us (MAPTU)               /sys/fs/resctrl/mon_data
 *     numastat     pages that were wanted on another node          /sys/devices/system/node
 *     hint faults  what NUMA balancing sees, while it is on        /proc/vmstat
 *
 * In go files below a root ("" is this machine, else a captured one), out comes what grew since the
 * last round. It costs some reads of small files. One thread at a time. */
#ifndef HEURT_PLACE_PLACE_SENSORS_H
#define HEURT_PLACE_PLACE_SENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NaN: not told. */
struct place_sensed {
    double maptu;       /* accesses to memory per us: bytes that resctrl counts / 64 */
    double memory_used; /* share of the machine's memory */
    double missed;      /* share of the pages that were taken since: on another node than wanted */
    double hint_local;  /* share of NUMA hinting faults since that were at a local page */
};

struct place_sensor_state {
    bool is_open;
    uint64_t last[2]; /* of counters that only grow */
};

struct place_sensor {
    const char *name, *tells; /* "resctrl", "accesses to memory" */
    double quality;           /* 0 … 1 */
    const char *missing;      /* in a few words, where it is not there */
    bool (*open)(const char *root, struct place_sensor_state *state);
    void (*round)(const char *root, struct place_sensor_state *state, double seconds,
                  struct place_sensed *sensed);
};

#define PLACE_SENSORS 4u
extern const struct place_sensor place_sensor_rows[PLACE_SENSORS];

struct place_sensors {
    const char *root;
    struct place_sensor_state states[PLACE_SENSORS];
};

struct place_sensors place_sensors__open(const char *root);
/* seconds: since the last round, or since they were opened. */
struct place_sensed place_sensors__round(struct place_sensors *self, double seconds);

#endif
