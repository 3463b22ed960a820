/* whatif_session.h: questions about one trace, and their answers: for heurt whatif, and for whoever
 * shows what it tells as a table.
 *
 * In goes a report with its profile, out come answers, sorted by what they would gain. It costs a
 * replay for each question. It stands on analysis/replay/predictions.h and targets.h. */
#ifndef HEURT_CMD_WHATIF_SESSION_H
#define HEURT_CMD_WHATIF_SESSION_H

#include "analysis/replay/predictions.h"
#include "present/whatif/whatif_screens.h"

/* What is known of the run, and what is asked of it. */
struct whatif_session {
    const struct report *report; /* with its profile */
    struct whatif *whatif;
    struct vec questions; /* struct question */
    struct vec answers;   /* struct whatif_answer, one a question; asked is owned */
    size_t hidden;        /* classes that were not asked about */
};

/* At most so many events are replayed for each question: of a longer run, windows of it. Fails with
 * a sentence where the trace cannot be replayed; nothing is to be closed then. */
int whatif_session__open(struct whatif_session *session, const struct report *report,
                         uint64_t most_events, struct error *error);
void whatif_session__close(struct whatif_session *session);

/* Takes over both. */
void whatif_session__ask(struct whatif_session *session, struct question question,
                         struct whatif_answer answer);
/* Of every class that lost something (is_all; else of the first ones), and of the locks. */
void whatif_session__ask_about_all(struct whatif_session *session, bool is_all);
/* Of the locks that cost most, each with two in place of it. */
void whatif_session__ask_about_splits(struct whatif_session *session);
/* Answers all that was asked, on all CPUs; the answers are then sorted by the predicted wall time.
 */
void whatif_session__answer(struct whatif_session *session);
/* Valid as long as the session. */
struct whatif_view whatif_session__view(const struct whatif_session *session);

#endif
