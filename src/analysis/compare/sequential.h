/* sequential.h: when runs that come one after the other have shown enough: looks at fixed numbers
 * of runs, among which the risk of a wrong answer is divided.
 *
 *     runs     8     10     14     20     28     40
 *     risk   .40    .30    .10    .10    .05    .05    of SEQUENTIAL_RISK, on each side
 *
 * Who looks again and again until something is seen, and uses the whole risk at each look, is wrong
 * far more often than that. Here the risks of all looks add up to the whole: whatever figures do
 * between looks, some look is wrong with no more than that (Bonferroni's inequality; alpha
 * spending: Lan and DeMets 1983, "Discrete sequential boundaries for clinical trials", Biometrika
 * 70, whose spending function is this table). Of eight runs the first look's share just allows what
 * all eight show: 2^-8 = .0039.
 *
 * A change is tested by signed ranks of pairs (shift.h). In each pair chance decides which run
 * comes first, so without a change each difference is as likely to have the other sign, whatever
 * the machine does over time: the test is one of randomisation (Fisher 1935, "The design of
 * experiments", chapter III) and needs neither that runs are independent nor how they scatter. When
 * time is over between two looks, what is left of the risk serves one more, at that number of runs:
 * how long a pair takes does not depend on its order, and so the end does not on the signs.
 *
 * What is asked of each run alone (a share, a score) is tested by how many of the runs it is so of
 * (the sign test: Hollander, Wolfe, Chicken 2014, 3.4): it fails where it is shown that more runs
 * than half do, and holds where it is shown that fewer do. That needs runs that are independent,
 * and looks at numbers that are fixed before: what is left of the risk when time is over is not
 * used, because how long a run takes may depend on what is asked of it.
 *
 * What one look has decided stays so: the risk of each look is that it decides wrongly, and a later
 * one that took it back would only spend more of it.
 *
 * In go numbers, out come numbers; nothing is kept. It stands on base/ alone. Any thread may call
 * it. */
#ifndef HEURT_ANALYSIS_COMPARE_SEQUENTIAL_H
#define HEURT_ANALYSIS_COMPARE_SEQUENTIAL_H

#include <stddef.h>

/* That a gate says of any condition that it fails, though it does not; likewise that it holds. */
#define SEQUENTIAL_RISK 0.01
#define SEQUENTIAL_FIRST 8 /* runs at the first look */
#define SEQUENTIAL_LAST 40 /* at the last one */

/* The risk, on one side, of the look at so many runs, where several conditions are asked together;
 * 0: there is no look. */
double sequential__risk(size_t runs, size_t conditions);
/* What the looks at more runs than that would use: for one at the end, in their place. 0: there
 * were too few runs for a look. */
double sequential__rest(size_t runs, size_t conditions);
/* The chance that of so many runs so many or more are of one sort, if either sort is as likely. */
double sequential__sign_chance(size_t runs, size_t of_them);

#endif
