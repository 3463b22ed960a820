/* speedup.h: what a program of m threads loses of a speed-up of m on n CPUs, as Tudor and Teo
 * divide it (2011, "A practical approach for performance analysis of shared-memory programs",
 * IPDPS), here without counters of the processor: for cycles stands the CPU time, which where the
 * clock of the processor's time stamps is invariant is as good as cycles of that clock.
 *
 *     C(n)      CPU time of all threads on n CPUs (of runs alone)
 *     omega     C(n) / C(1) − 1: work inflation, what the same work takes more on n CPUs than on
 * one A(m, n)   threads on a CPU on the average, while there was one: Σ of their times over the
 * time in which one ran at least, from the kernel's records of switches S = A / (1 + omega) the
 * speed-up that is left R = A · omega / (1 + omega)  lost because the work takes longer D = m − A
 * lost because threads wait, of it m − n where n < m for want of CPUs m = S + R + D
 *
 * Work inflation is contention for memory only where nothing else makes work longer: a thread that
 * spins while it waits makes it, too, and a program that does other work on more CPUs. Both are
 * looked for, and refused. */
#ifndef HEURT_ANALYSIS_SCALING_SPEEDUP_H
#define HEURT_ANALYSIS_SCALING_SPEEDUP_H

#include "analysis/scaling/scaling.h"

enum speedup_refusal {
    SPEEDUP_STANDS,
    SPEEDUP_NO_FIRST, /* nothing ran on one CPU */
    SPEEDUP_SPIN,     /* threads waited on a CPU */
    SPEEDUP_WORK,     /* known calls were more or fewer */
    SPEEDUP_SWITCHES, /* when threads were on a CPU was not recorded */
    SPEEDUP_REFUSALS,
};

/* A number of threads on a number of CPUs. NaN: not known. */
struct speedup_row {
    uint32_t threads, cpus;
    size_t alone, recorded; /* runs */
    double cpu_ns;          /* C(n): median */
    double scatter;         /* standard deviation over mean of it; NaN: one run */
    double omega, at_work, speedup, inflated, waiting; /* ω, A, S, R, D */
    double no_cpu; /* of D: there were fewer CPUs than threads */
    double spin;   /* of the CPU time */
    enum speedup_refusal refusal;
    struct sweep_work here, first; /* SPEEDUP_WORK: what differs */
};

/* runs: struct sweep_run. struct speedup_row by threads, then by CPUs, one for each that several
 * numbers of CPUs were tried with; vec__free it. */
struct vec speedup__rows(const struct vec *runs);

#endif
