/* comparison.h: several runs of before against several runs of after: is one faster, and what
 * makes the difference.
 *
 *     run ──► its table's rows ──► run_figures: a name that other runs have, too, and its figure
 *     before: run_figures …  ┐
 *     after:  run_figures …  ┴─► comparison: a verdict on the wall time, and rows by their change
 *
 * What stands for a side is the run of median wall time, of an even number the mean of the two in
 * the middle: so figures before, after and changes of rows add up to those of the whole, to the
 * ns, where the table's rows do in each run. Whether what is seen is chance, all runs of both
 * sides tell (shift.h).
 *
 * Runs are pairs where they were made in turns: the first of one side and the first of the other
 * before the second of either, and so on, and there are as many of both.
 *
 * A row is the same one in another run by its texts: what it is, the demangled function, the name
 * of the object; never by addresses, lines, ranks or numbers of threads. */
#ifndef HEURT_ANALYSIS_COMPARE_COMPARISON_H
#define HEURT_ANALYSIS_COMPARE_COMPARISON_H

#include "analysis/compare/renames.h"
#include "analysis/compare/shift.h"
#include "base/table.h"

#include <stdint.h>

/* Of the changes that are not marked as possible chance, more than none is chance in at most that
 * part of all comparisons of a program with itself. */
#define ROWS_RISK 0.02
#define ROWS_TESTED_MOST 10   /* the largest: of many rows chance makes some large */
#define ROWS_TESTED_FROM 0.01 /* and no smaller part of the whole */

/* A row of a run. */
struct figures_row {
    char *key;   /* owned; what makes it the same in other runs */
    char *label; /* owned; as people read it */
    double value, lives_ns;
    /* Of a function that was perhaps renamed: what it was called before, and the label that says
     * so: "working in parse → parse_line, renamed?"; owned; NULL: it was not. */
    char *was, *told;
};

/* What is known of a run when its trace is closed. */
struct run_figures {
    const char *directory; /* as it was written */
    char *command;         /* owned */
    uint64_t start_ns;     /* of the real time, since 1970; 0: not known */
    uint64_t wall_ns, lives_ns;
    double cpus_of_others; /* CPUs that other programs used meanwhile */
    char *imported;        /* owned; by what it was recorded; NULL: by heurt */
    char *machine;         /* owned; "AMD EPYC 9B14, 2 CPUs"; NULL: not known */
    struct vec rows;       /* struct figures_row, each key once */
};
void run_figures__free(struct run_figures *run);

/* Adds the rows of a table, those of equal keys as one: counts and times are added up; of the
 * least, of shares and of ranks of durations (p99) the largest or least stands. value, lives: the
 * columns that are compared; lives: NULL: none. False: the table's rows have nothing by which they
 * could be found in another run. */
bool run_figures__add(struct run_figures *run, const struct table_rows *rows,
                      const struct column *value, const struct column *lives);
/* The first column of times that a screen shows; NULL: there is none. */
const struct column *table__first_time(const struct table *table);
/* Whether a row's name has that part. */
bool run_figures__has(const struct run_figures *run, const char *part);
/* Rows of renamed functions (struct renamed) get the names of after, and say what they were. */
void run_figures__rename(struct run_figures *run, const struct vec *renames, bool is_before);

struct comparison_row {
    const char *key, *label; /* a run's */
    const char *was, *told;  /* likewise; NULL: its function was not renamed */
    double before, after;    /* 0: it is not there */
    double lives_before, lives_after;
    struct shift shift; /* of the figures of all runs */
    bool is_shown;      /* the change is no chance; seen together with the other rows */
    bool is_new, is_gone;
};

struct runs_comparison {
    size_t before_count, after_count;
    bool are_pairs;
    struct shift_rule rule; /* by which the whole, and sums of rows, were tested */
    /* What stands for each side, of an even number the faster one of the two in the middle. */
    const struct run_figures *before_run, *after_run;
    struct comparison_row whole;        /* the wall time; its lives are those of all threads */
    struct shift factor;                /* of the logarithms of wall times */
    bool is_of_others;                  /* a difference is seen, but other programs make it */
    double others_before, others_after; /* CPUs that they used: medians */
    struct vec rows;                    /* struct comparison_row, by the size of their change */
    bool adds_up;                       /* the rows to the whole */
    size_t common;                      /* rows that both sides have */
};

/* before, after: struct run_figures, one at least; they outlive it. */
struct runs_comparison comparison__of(const struct vec *before, const struct vec *after,
                                      bool adds_up, const struct shift_rule *rule);
void comparison__free(struct runs_comparison *comparison);

/* All rows that are meant, as one: their sums in each run. key and label are NULL. */
struct comparison_row
comparison__sum(const struct vec *before, const struct vec *after, const struct shift_rule *rule,
                bool (*is_meant)(const struct figures_row *row, const void *what),
                const void *what);

/* How many times as long after takes: of the whole; at least, at most: NaN: too few runs. */
struct wall_change {
    double part, least, most; /* -0.25: a quarter less */
};
struct wall_change comparison__change(const struct runs_comparison *comparison);

#endif
