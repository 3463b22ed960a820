#include "cmd/whatif_session.h"

#include "base/memory.h"
#include "cmd/targets.h"
#include "cmd/waiting.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROWS_AT_MOST 20
#define SPLITS_AT_MOST 3

int whatif_session__open(struct whatif_session *session, const struct report *report,
                         uint64_t most_events, struct error *error)
{
    *session = (struct whatif_session){.report = report,
                                       .questions = VEC_OF(struct question),
                                       .answers = VEC_OF(struct whatif_answer)};
    struct waiting *waiting = waiting__start("preparing the replay", NULL);
    int code = whatif__open(report->trace, report->symbols, report->profile, most_events,
                            &session->whatif, error);
    waiting__end(waiting);
    return code;
}

void whatif_session__close(struct whatif_session *session)
{
    VEC_EACH (answer, &session->answers, struct whatif_answer)
        free((char *)answer->asked);
    VEC_EACH (question, &session->questions, struct question)
        question__free(question);
    vec__free(&session->answers);
    vec__free(&session->questions);
    whatif__close(session->whatif);
}

/* ---- questions ------------------------------------------------------------------------------- */

void whatif_session__ask(struct whatif_session *session, struct question question,
                         struct whatif_answer answer)
{
    vec__push(&session->questions, &question);
    vec__push(&session->answers, &answer);
}

static void ask_about_class(struct whatif_session *session, const struct profile_class *class,
                            size_t rank)
{
    const struct change change = {.type = CHANGE_REMOVE, .class = class->number};
    whatif_session__ask(session, question__of(&change),
                        (struct whatif_answer){.asked = memory__format("--remove %zu", rank),
                                               .rank = rank,
                                               .lost_ns = class->excess_ns});
}

/* Only of a lock that several classes wait for is there more to tell than of its class. */
static void ask_about_locks(struct whatif_session *session, bool is_all)
{
    struct vec locks = targets__locks(session->report);
    VEC_EACH (lock, &locks, struct lock_target) {
        const struct change change = {
            .type = CHANGE_REMOVE_LOCK, .lock = lock->address, .process = lock->process};
        if (lock->classes < 2 || !lock->lost_ns)
            continue;
        if (!is_all && session->questions.count >= ROWS_AT_MOST) {
            session->hidden++;
            continue;
        }
        whatif_session__ask(session, question__of(&change),
                            (struct whatif_answer){
                                .asked = memory__format("--remove lock=0x%" PRIx64, lock->address),
                                .has_lock = true,
                                .process = lock->process,
                                .lock = lock->address,
                                .lost_ns = lock->lost_ns});
    }
    vec__free(&locks);
}

void whatif_session__ask_about_all(struct whatif_session *session, bool is_all)
{
    size_t rank = 0, most = is_all ? SIZE_MAX : ROWS_AT_MOST;
    VEC_EACH (class, &session->report->profile->classes, struct profile_class) {
        rank++;
        if (!class->excess_ns || class->idle || class->what.ignored)
            continue;
        if (session->questions.count < most)
            ask_about_class(session, class, rank);
        else
            session->hidden++;
    }
    ask_about_locks(session, is_all);
}

void whatif_session__ask_about_splits(struct whatif_session *session)
{
    struct vec locks = targets__locks(session->report);
    for (size_t i = 0; i < locks.count && i < SPLITS_AT_MOST; i++) {
        const struct lock_target *lock = VEC_AT(&locks, struct lock_target, i);
        const struct change change = {
            .type = CHANGE_SPLIT, .lock = lock->address, .process = lock->process, .count = 2};
        if (lock->lost_ns)
            whatif_session__ask(
                session, question__of(&change),
                (struct whatif_answer){
                    .asked = memory__format("--split lock=0x%" PRIx64 ":2", lock->address),
                    .has_lock = true,
                    .process = lock->process,
                    .lock = lock->address,
                    .lost_ns = lock->lost_ns});
    }
    vec__free(&locks);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* By the predicted wall time; what was refused comes last. */
static int compare_answers(const void *left, const void *right)
{
    const struct whatif_answer *a = left, *b = right;
    uint64_t first = a->prediction ? a->prediction->wall_ns : UINT64_MAX;
    uint64_t second = b->prediction ? b->prediction->wall_ns : UINT64_MAX;
    return ORDER(first, second) ?: ORDER(a->rank, b->rank);
}

void whatif_session__answer(struct whatif_session *session)
{
    struct waiting *waiting = waiting__start("replaying the run", NULL);
    predictions__make(session->whatif, session->questions.items, session->questions.count);
    waiting__end(waiting);
    for (size_t i = 0; i < session->questions.count; i++) {
        const struct question *question = VEC_AT(&session->questions, struct question, i);
        struct whatif_answer *answer = VEC_AT(&session->answers, struct whatif_answer, i);
        answer->prediction = question->told ? &question->prediction : NULL;
        answer->refusal = question->error.text;
    }
    vec__sort(&session->answers, compare_answers);
}

struct whatif_view whatif_session__view(const struct whatif_session *session)
{
    return (struct whatif_view){.report = session->report,
                                .measured_ns = whatif__measured_ns(session->whatif),
                                .replayed_ns = whatif__replayed_ns(session->whatif),
                                .unrecorded_ns = whatif__unrecorded_ns(session->whatif),
                                .replayed_share = whatif__replayed_share(session->whatif),
                                .told_threads = whatif__told_threads(session->whatif),
                                .rows = session->answers.items,
                                .count = session->answers.count,
                                .hidden = session->hidden};
}
