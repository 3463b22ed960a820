#include "kernel/memory_events.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of DEVICES/DEVICE/NAME, to be freed; NULL: there is none. */
static char *line_of(const char *devices, const char *device, const char *name)
{
    char *path = memory__format("%s/%s/%s", devices, device, name), *line = NULL;
    FILE *file = fopen(path, "re");
    size_t room = 0;
    ssize_t length = file ? getline(&line, &room, file) : -1;
    if (length < 0) {
        free(line);
        line = NULL;
    }
    if (line)
        line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
    free(path);
    return line;
}

/* A number of a file; false: it says none. */
static bool number_of(const char *devices, const char *device, const char *name, uint64_t *number)
{
    char *line = line_of(devices, device, name), *end = NULL;
    *number = line ? strtoull(line, &end, 0) : 0;
    bool is_number = line && end != line && !*end;
    free(line);
    return is_number;
}

static __u64 *word_of(struct perf_event_attr *attributes, const char *format, size_t length)
{
    static const char *const names[] = {"config", "config1", "config2"};
    __u64 *words[] = {&attributes->config, &attributes->config1, &attributes->config2};
    for (size_t i = 0; i < 3; i++)
        if (strlen(names[i]) == length && strncmp(format, names[i], length) == 0)
            return words[i];
    return NULL;
}

/* Puts the value into the bits that a format names: "config1:0-15", "config:0-7,32-35". False: it
 * is none, or the value does not fit. */
static bool put_bits(struct perf_event_attr *attributes, const char *format, uint64_t value)
{
    size_t length = strcspn(format, ":");
    __u64 *word = word_of(attributes, format, length);
    const char *at = format + length;
    while (word && (*at == ':' || *at == ',')) {
        char *end;
        unsigned long first = strtoul(at + 1, &end, 10), last = first;
        if (end == at + 1)
            return false;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (last < first || last > 63)
            return false;
        uint64_t mask = last - first == 63 ? UINT64_MAX : (1ull << (last - first + 1)) - 1;
        *word = (*word & ~(mask << first)) | (value & mask) << first;
        value = last - first == 63 ? 0 : value >> (last - first + 1);
        at = end;
    }
    return word && !*at && at > format + length && !value;
}

static bool put_term(const char *devices, const char *device, const char *term, uint64_t value,
                     struct perf_event_attr *attributes)
{
    char *name = memory__format("format/%s", term);
    char *format = line_of(devices, device, name);
    bool is_known = format && put_bits(attributes, format, value);
    free(format);
    free(name);
    return is_known;
}

/* "event=0xcd,umask=0x1,ldlat=3". */
static bool put_terms(const char *devices, const char *device, char *terms,
                      struct perf_event_attr *attributes)
{
    char *rest = NULL;
    for (char *term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(term, '=');
        uint64_t value = equals ? strtoull(equals + 1, NULL, 0) : 1;
        if (equals)
            *equals = 0;
        if (strlen(term) > 32 || !put_term(devices, device, term, value, attributes))
            return false;
    }
    return true;
}

static struct perf_event_attr attributes_of(uint32_t type, unsigned hz)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = type,
        .freq = hz > 0,
        .sample_freq = hz,
        .sample_type = MEMORY_SAMPLE_TYPE,
        .use_clockid = 1,
        .clockid = 1, /* CLOCK_MONOTONIC */
        .sample_id_all = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .exclude_idle = 1,
    };
}

/* ---- AMD ------------------------------------------------------------------------------------- */

/* It leaves nothing out by itself, unless the kernel does so behind it (swfilt). The address of the
 * operation is exact. */
static bool describe_ibs(const char *devices, unsigned hz, struct memory_unit *unit)
{
    uint64_t type;
    if (!number_of(devices, "ibs_op", "type", &type))
        return false;
    struct perf_event_attr attributes = attributes_of((uint32_t)type, hz);
    attributes.exclude_hv = attributes.exclude_idle = 0;
    attributes.exclude_kernel = put_term(devices, "ibs_op", "swfilt", 1, &attributes);
    *unit = (struct memory_unit){.name = "AMD IBS", .count = 1, .events = {{attributes, false}}};
    return true;
}

/* ---- Intel ----------------------------------------------------------------------------------- */

/* Adds what the file describes; false: it is not there, or not understood. */
static bool add_event(const char *devices, const char *device, const char *name, unsigned hz,
                      struct memory_unit *unit)
{
    enum { PRECISE = 2 }; /* the address is of the instruction itself */
    uint64_t type, most;
    char *path = memory__format("events/%s", name), *terms = line_of(devices, device, path);
    bool is_there = terms && number_of(devices, device, "type", &type);
    if (is_there) {
        struct perf_event_attr attributes = attributes_of((uint32_t)type, hz);
        bool tells = number_of(devices, device, "caps/max_precise", &most);
        attributes.precise_ip = hz ? (tells && most < PRECISE ? most & 3 : PRECISE) : 0;
        is_there = put_terms(devices, device, terms, &attributes);
        if (is_there)
            unit->events[unit->count++] = (struct memory_event){attributes, hz == 0};
    }
    free(terms);
    free(path);
    return is_there;
}

/* Loads first: a unit without them is none. */
static bool describe_loads(const char *devices, const char *device, unsigned hz,
                           struct memory_unit *unit)
{
    *unit = (struct memory_unit){.name = "Intel PEBS"};
    add_event(devices, device, "mem-loads-aux", 0, unit);
    if (!add_event(devices, device, "mem-loads", hz, unit))
        return false;
    put_term(devices, device, "ldlat", MEMORY_LATENCY_LEAST,
             &unit->events[unit->count - 1].attributes);
    add_event(devices, device, "mem-stores", hz, unit);
    return true;
}

size_t memory_units__describe(const char *devices, unsigned hz,
                              struct memory_unit units[MEMORY_UNITS_MOST])
{
    static const char *const intel[] = {"cpu", "cpu_core", "cpu_atom"};
    size_t count = 0;
    if (describe_ibs(devices, hz, &units[0]))
        return 1;
    for (size_t i = 0; i < sizeof intel / sizeof *intel; i++)
        count += describe_loads(devices, intel[i], hz, &units[count]);
    return count;
}
