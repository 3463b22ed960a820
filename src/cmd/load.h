/* load.h: a trace, the names of its addresses and its profile, as every command that reports on one
 * wants them.
 *
 * In goes the directory of a trace; out come its reader, its names and what was asked of its run
 * (analysis/analysis.h), with the classes as heurt report numbers them. Opening costs a look at
 * each chunk's header. It stands on format/, symbol/ and analysis/. One thread at a time. */
#ifndef HEURT_CMD_LOAD_H
#define HEURT_CMD_LOAD_H

#include "analysis/analysis.h"
#include "analysis/callsite/rules_file.h"
#include "analysis/mpi/mpi.h"
#include "format/reader.h"
#include "format/symbols.h"
#include "present/present.h"

#define SCORE_THRESHOLD 0.2 /* classes with such a score, from 0 to 1, are shown first */

/* A part of a run; times since its start. All zeroes: the whole run. */
struct part_asked {
    uint64_t from_ns, to_ns; /* to_ns: 0: to the end */
    uint64_t last_ns;        /* so long before the end it begins; 0: at from_ns */
};

struct findings;

struct loaded {
    struct trace *trace; /* or the part of it that is reported on, */
    struct trace *whole; /* which lives no longer than that; NULL: it is whole */
    struct symbols *symbols;
    struct run run;
    struct report report;    /* of these; for presenters */
    char *threads;           /* the report's; NULL: all */
    struct profile *profile; /* the run's; NULL until it was analysed */
    struct profile_options profile_options;
    struct mpi_options mpi_options;
    struct rules rules;   /* of the profile, */
    struct vec rule_list; /* and what they say */
};

/* 0, or EXIT_HEURT after a sentence. The recorder makes the names when the run has ended; when it
 * was killed before, they are made and kept now. directory must outlive it. */
int loaded__open(const char *directory, struct loaded *loaded);
/* From here on it is of that part. 0, or EXIT_USAGE or EXIT_HEURT after a sentence. */
int loaded__cut(struct loaded *loaded, const struct part_asked *part);
/* From here on only threads are told of that one of these (const char *: numbers, names, globs)
 * means; none: all are. 0, or EXIT_USAGE after a sentence: one means none. */
int loaded__choose_threads(struct loaded *loaded, const struct vec *patterns);
/* Asks for the profile, by what the rules in the trace say; for loaded__analyse. 0, or
 * EXIT_HEURT after a sentence. */
int loaded__ask_profile(struct loaded *loaded, enum class_view view);
/* Likewise, by these rules (struct profile_rule). */
void loaded__ask_profile_by(struct loaded *loaded, enum class_view view, const struct vec *rules,
                            double threshold);
/* Whether the program called MPI. */
bool trace__has_mpi(const struct trace *trace);
/* Asks for the ranks of MPI: what heurt analyse has kept of them, where it has, and all waits count
 * (mpi_options). */
void loaded__ask_mpi(struct loaded *loaded);
/* Runs what was asked for; the report has what it shows of that. 0, or EXIT_HEURT after a sentence.
 */
int loaded__analyse(struct loaded *loaded);
/* What would be gained: wall_gains__fill. */
void loaded__predict(struct loaded *loaded, struct findings *findings, size_t rank);
/* Both. */
int loaded__profile(struct loaded *loaded, enum class_view view);
void loaded__close(struct loaded *loaded);

/* No --class was given. */
#define CLASSES_UNSAID ((enum class_view) - 1)
/* view, or otherwise where it is unsaid. */
static inline enum class_view class_view__or(enum class_view view, enum class_view otherwise)
{
    return view == CLASSES_UNSAID ? otherwise : view;
}
/* "site" or "structure" becomes an enum class_view. */
bool class_view__parse(const char *text, void *view);

#endif
