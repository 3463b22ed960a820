#include "place/place_sensors.h"

#include "base/memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS_BYTES 64.0 /* a cache line */

/* ---- small files ----------------------------------------------------------------------------- */

/* "name: 12 kB" or "name 12": the sum of the lines of that name. False: there is none. */
static bool read_line_of(const char *root, const char *file, const char *name, uint64_t *sum)
{
    char *path = memory__format("%s%s", root, file), line[256];
    FILE *in = fopen(path, "re");
    size_t length = strlen(name);
    bool any = false;
    while (in && fgets(line, sizeof line, in)) {
        const char *behind = line + length;
        if (strncmp(line, name, length) != 0 || (*behind != ':' && *behind != ' '))
            continue;
        *sum += strtoull(behind + 1, NULL, 10);
        any = true;
    }
    if (in)
        fclose(in);
    free(path);
    return any;
}

/* Of the folders in folder whose name begins so, the sum of what sum_up finds in each. */
static bool each_folder(const char *root, const char *folder, const char *begins,
                        bool (*sum_up)(const char *root, const char *folder, uint64_t *sums),
                        uint64_t *sums)
{
    char *path = memory__format("%s%s", root, folder);
    DIR *directory = opendir(path);
    bool any = false;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, begins, strlen(begins)) != 0)
            continue;
        char *inner = memory__format("%s/%s", folder, entry->d_name);
        any |= sum_up(root, inner, sums);
        free(inner);
    }
    if (directory)
        closedir(directory);
    free(path);
    return any;
}

/* ---- /proc/meminfo --------------------------------------------------------------------------- */

static double memory_used(const char *root)
{
    uint64_t total = 0, available = 0;
    bool is_told = read_line_of(root, "/proc/meminfo", "MemTotal", &total) &&
                   read_line_of(root, "/proc/meminfo", "MemAvailable", &available);
    return is_told && total ? 1 - (double)available / (double)total : NAN;
}

static bool open_meminfo(const char *root, struct place_sensor_state *state)
{
    (void)state;
    return !isnan(memory_used(root));
}

static void round_meminfo(const char *root, struct place_sensor_state *state, double seconds,
                          struct place_sensed *sensed)
{
    (void)state, (void)seconds;
    sensed->memory_used = memory_used(root);
}

/* ---- resctrl --------------------------------------------------------------------------------- */

static bool sum_domain(const char *root, const char *folder, uint64_t *sums)
{
    char *path = memory__format("%s%s/mbm_total_bytes", root, folder);
    FILE *in = fopen(path, "re");
    uint64_t bytes;
    bool is_told = in && fscanf(in, "%" SCNu64, &bytes) == 1; /* else "Unavailable" */
    if (is_told)
        *sums += bytes;
    if (in)
        fclose(in);
    free(path);
    return is_told;
}

static bool read_resctrl(const char *root, uint64_t now[2])
{
    return each_folder(root, "/sys/fs/resctrl/mon_data", "mon_", sum_domain, now);
}

static bool open_resctrl(const char *root, struct place_sensor_state *state)
{
    return read_resctrl(root, state->last);
}

static void round_resctrl(const char *root, struct place_sensor_state *state, double seconds,
                          struct place_sensed *sensed)
{
    uint64_t now[2] = {0};
    if (read_resctrl(root, now) && now[0] >= state->last[0] && seconds > 0)
        sensed->maptu = (double)(now[0] - state->last[0]) / ACCESS_BYTES / (seconds * 1e6);
    memcpy(state->last, now, sizeof now);
}

/* ---- two counters, of which the share is told ------------------------------------------------ */

static double share_since(struct place_sensor_state *state, const uint64_t now[2])
{
    double first = now[0] >= state->last[0] ? (double)(now[0] - state->last[0]) : 0,
           second = now[1] >= state->last[1] ? (double)(now[1] - state->last[1]) : 0;
    memcpy(state->last, now, sizeof state->last);
    return first + second > 0 ? first / (first + second) : NAN;
}

/* ---- numastat -------------------------------------------------------------------------------- */

static bool sum_node(const char *root, const char *folder, uint64_t *sums)
{
    char *file = memory__format("%s/numastat", folder);
    bool is_told = read_line_of(root, file, "numa_miss", &sums[0]) &&
                   read_line_of(root, file, "numa_hit", &sums[1]);
    free(file);
    return is_told;
}

static bool read_numastat(const char *root, uint64_t now[2])
{
    return each_folder(root, "/sys/devices/system/node", "node", sum_node, now);
}

static bool open_numastat(const char *root, struct place_sensor_state *state)
{
    return read_numastat(root, state->last);
}

static void round_numastat(const char *root, struct place_sensor_state *state, double seconds,
                           struct place_sensed *sensed)
{
    uint64_t now[2] = {0};
    (void)seconds;
    if (read_numastat(root, now))
        sensed->missed = share_since(state, now);
}

/* ---- NUMA balancing -------------------------------------------------------------------------- */

/* Local ones, and all others. */
static bool read_hints(const char *root, uint64_t now[2])
{
    uint64_t all = 0;
    if (!read_line_of(root, "/proc/vmstat", "numa_hint_faults", &all) ||
        !read_line_of(root, "/proc/vmstat", "numa_hint_faults_local", &now[0]))
        return false;
    now[1] = all > now[0] ? all - now[0] : 0;
    return true;
}

static bool open_hints(const char *root, struct place_sensor_state *state)
{
    uint64_t mode = 0;
    char *path = memory__format("%s/proc/sys/kernel/numa_balancing", root);
    FILE *in = fopen(path, "re");
    bool is_on = in && fscanf(in, "%" SCNu64, &mode) == 1 && mode;
    if (in)
        fclose(in);
    free(path);
    return is_on && read_hints(root, state->last);
}

static void round_hints(const char *root, struct place_sensor_state *state, double seconds,
                        struct place_sensed *sensed)
{
    uint64_t now[2] = {0};
    (void)seconds;
    if (read_hints(root, now))
        sensed->hint_local = share_since(state, now);
}

/* ---- all of them ----------------------------------------------------------------------------- */

const struct place_sensor place_sensor_rows[PLACE_SENSORS] = {
    {"meminfo", "how much memory is in use", 1, "/proc/meminfo does not tell", open_meminfo,
     round_meminfo},
    {"resctrl", "accesses to memory", 1, "no bandwidth counters: resctrl is not mounted, or none",
     open_resctrl, round_resctrl},
    {"numastat", "pages taken from another node than wanted", 0.5, "no nodes in /sys",
     open_numastat, round_numastat},
    {"hint faults", "local accesses, as NUMA balancing sees them", 0.3,
     "kernel.numa_balancing is off", open_hints, round_hints},
};

struct place_sensors place_sensors__open(const char *root)
{
    struct place_sensors self = {.root = root};
    for (unsigned i = 0; i < PLACE_SENSORS; i++)
        self.states[i].is_open = place_sensor_rows[i].open(root, &self.states[i]);
    return self;
}

struct place_sensed place_sensors__round(struct place_sensors *self, double seconds)
{
    struct place_sensed sensed = {NAN, NAN, NAN, NAN};
    for (unsigned i = 0; i < PLACE_SENSORS; i++)
        if (self->states[i].is_open)
            place_sensor_rows[i].round(self->root, &self->states[i], seconds, &sensed);
    return sensed;
}
