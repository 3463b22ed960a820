/* memory_events.h: how this machine's processor is asked to sample accesses to memory.
 *
 *     /sys/bus/event_source/devices  ──►  struct perf_event_attr
 *
 * AMD: ibs_op samples operations by cycles; those that are none of memory are dropped when they
 * come (ring.c). Intel: mem-loads of LATENCY_LEAST cycles at least and mem-stores, which some
 * processors only count in a group that mem-loads-aux leads. A hybrid processor has a unit for each
 * kind of core.
 *
 * In goes the path of such a directory, the kernel's or one that was written down, out come
 * attributes, complete but for when they begin and whom they follow. It opens no event. */
#ifndef HEURT_KERNEL_MEMORY_EVENTS_H
#define HEURT_KERNEL_MEMORY_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_UNITS_MOST 3
#define MEMORY_EVENTS_MOST 3
#define MEMORY_LATENCY_LEAST 30 /* cycles, of Intel's loads: L1 and L2 answer faster */

struct memory_event {
    struct perf_event_attr attributes;
    bool leads; /* samples nothing: the next one is in its group */
};

struct memory_unit {
    const char *name; /* for screens: "AMD IBS", "Intel PEBS" */
    size_t count;
    struct memory_event events[MEMORY_EVENTS_MOST];
};

/* What PERF_RECORD_SAMPLEs of these events hold: record__decode_access reads it. */
#define MEMORY_SAMPLE_TYPE                                                                         \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | \
     PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC)

/* How many units there are that sample accesses: 0 on most virtual machines. */
size_t memory_units__describe(const char *devices, unsigned hz,
                              struct memory_unit units[MEMORY_UNITS_MOST]);

#endif
