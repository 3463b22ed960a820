/* foreign.h: how much of the machine other programs use, so that a benchmark can tell a disturbed
 * measurement from a quiet one without looking at its result. */
#ifndef HEURT_BENCH_FOREIGN_H
#define HEURT_BENCH_FOREIGN_H

struct cpu_use {
    double wall_s;
    double busy_s; /* of all CPUs, stolen time included (/proc/stat; steps of 10 ms) */
    double ours_s; /* of this process and of the children that it waited for */
    long cpus;
};

struct cpu_use cpu_use__now(void);

/* The share of all CPUs that others used in between, 0 … 1; 0 when the system does not tell. */
double cpu_use__foreign(const struct cpu_use *before, const struct cpu_use *after);

/* Waits until other programs leave the machine alone, but at most two seconds. */
void cpu_use__await_quiet(void);

#endif
