/* service.h: what threads did with the CPUs, exactly, while it happens: from records of switches
 * alone, without a trace.
 *
 *     thread 1   |-------|        |-----|
 *     thread 2       |---------|
 *                1   2   1     0  1           on a CPU at a time; A = ∫ their number / ∫ [one at
 * least]
 *
 * Pure: whoever has the records feeds it. Records come by time; what contradicts itself (a record
 * that is there twice, or whose like was lost) changes nothing. Memory: a few hundred bytes a
 * thread, none a record; an interval costs a look at each thread that lives. One thread at a time.
 */
#ifndef HEURT_ANALYSIS_TIMELINE_SERVICE_H
#define HEURT_ANALYSIS_TIMELINE_SERVICE_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum service_event {
    SERVICE_BEGINS, /* and wants a CPU */
    SERVICE_RUNS,
    SERVICE_BLOCKS,
    SERVICE_IS_PREEMPTED,
    SERVICE_ENDS,
    SERVICE_IS_NAMED,
    SERVICE_IS_ANOTHER, /* program: named, and on a CPU */
};

struct service_record {
    enum service_event event;
    uint32_t pid, tid, cpu;
    uint64_t time_ns;
    const char *name; /* of the last two; is copied */
};

#define SERVICE_SCALES 3 /* of the interval: 1, 4 and 16 times as long */
#define SERVICE_SCALE(i) (1u << 2 * (i))
#define SERVICE_NAME_BYTES 16

enum service_state { SERVICE_ON_CPU, SERVICE_BLOCKED, SERVICE_WANTS };

struct service_thread {
    uint32_t pid, tid;
    char name[SERVICE_NAME_BYTES];
    uint64_t begin_ns, end_ns;
    uint64_t state_ns[SERVICE_WANTS + 1]; /* in each state; they add up to its life */
    uint64_t voluntary, involuntary;      /* times that it left a CPU: blocked, preempted */
    uint64_t migrations;                  /* it got another CPU than it had */
    uint64_t delay_ns; /* waits for a CPU as the system counts them; UINT64_MAX: not known */
    /* Private: */
    enum service_state state;
    bool is_guessed; /* the state: it was there before the first record */
    bool has_cpu, has_ended;
    uint32_t cpu;
    size_t place; /* in living */
    uint64_t since_ns;
    uint64_t counted_ns[SERVICE_SCALES]; /* of its service, in intervals that are over */
};

/* Times with so many threads. */
struct service_level {
    uint64_t running_ns; /* on a CPU */
    uint64_t wanting_ns; /* on one, or without one that they want */
    uint64_t work_ns;    /* Σ of CPU time while so many want one */
};

struct service_interval {
    uint64_t length_ns;
    uint64_t sum_ns, longest_ns; /* Σ of all threads' service; Σ of the longest of each interval */
    uint64_t next_ns;            /* private, as what follows: the end of this one */
    uint64_t ended_sum_ns, ended_most_ns; /* of threads that ended in it */
};

struct service_log {
    struct vec threads; /* struct service_thread, as they began */
    struct vec levels;  /* struct service_level, from 0 threads on */
    struct service_interval intervals[SERVICE_SCALES];
    uint64_t begin_ns, end_ns;
    /* Private: */
    struct vec living;  /* size_t: which threads have not ended */
    struct map numbers; /* tid → index of latest */
    struct vec latest;  /* size_t: the thread that lives with that number; SIZE_MAX: none */
    uint64_t now_ns;
    uint32_t running, wanting;
};

/* From begin_ns on, in intervals of so many ns (at least 1). service_log__free it. */
struct service_log service_log__of(uint64_t begin_ns, uint64_t interval_ns);
void service_log__free(struct service_log *log);

/* A thread that is there already, and what it seems to do. */
void service_log__join(struct service_log *log, const struct service_record *record,
                       enum service_state state);
void service_log__add(struct service_log *log, const struct service_record *record);
/* Until then threads did what they did last; nothing is added any more. */
void service_log__finish(struct service_log *log, uint64_t end_ns);
/* The one of that number that lives, or NULL. */
struct service_thread *service_log__living(struct service_log *log, uint32_t tid);

/* Σ of threads' times on a CPU, and how long one at least was. */
uint64_t service_log__work_ns(const struct service_log *log);
uint64_t service_log__active_ns(const struct service_log *log);
/* A: threads on a CPU on the average, while there was one. NaN: there never was. */
double service_log__at_work(const struct service_log *log);
/* Likewise by intervals (Σ_k Σ_i s_ik / Σ_k max_i s_ik), which is never less: threads that take
 * turns within an interval look as if they were at work at a time. */
double service_interval__at_work(const struct service_interval *interval);
/* On the average of the whole time: on a CPU; and on one or wanting one. */
double service_log__mean_running(const struct service_log *log);
double service_log__mean_wanting(const struct service_log *log);
/* A as it would be on so many CPUs: 1 / Σ_k (p_k / min(k, cpus)), p_k: the part of the CPU time
 * that was spent while k threads wanted a CPU. As many would want one, whatever the CPUs. */
double service_log__modelled(const struct service_log *log, uint32_t cpus);

#endif
