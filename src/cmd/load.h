/* load.h: a trace, the names of its addresses and its profile, as every command that reports on one
 * wants them.
 *
 * In goes the directory of a trace; out come its reader, its names and, when asked for, the classes
 * as heurt report numbers them. Opening costs a look at each chunk's header, the profile two walks
 * over all events. It stands on format/, symbol/ and analysis/ledger/. One thread at a time. */
#ifndef HEURT_CMD_LOAD_H
#define HEURT_CMD_LOAD_H

#include "format/reader.h"
#include "format/symbols.h"
#include "present/present.h"

#define SCORE_THRESHOLD 0.2 /* classes with such a score, from 0 to 1, are shown first */

struct loaded {
    struct trace *trace;
    struct symbols *symbols;
    struct profile *profile; /* NULL until loaded__profile */
    struct report report;    /* of these; for presenters */
};

/* 0, or EXIT_HEURT after a sentence. The recorder makes the names when the run has ended; when it
 * was killed before, they are made and kept now. directory must outlive it. */
int loaded__open(const char *directory, struct loaded *loaded);
/* Makes the profile, by what heurt.rules beside the trace says. 0, or EXIT_HEURT after a sentence.
 */
int loaded__profile(struct loaded *loaded, enum class_view view);
/* Likewise, by these rules (struct profile_rule). */
int loaded__profile_by(struct loaded *loaded, enum class_view view, const struct vec *rules,
                       double threshold);
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
