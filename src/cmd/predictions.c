#include "cmd/predictions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MOST 64

/* Events that a report replays for its column "wall gain", over all classes. 4.1 million of them
 * and two classes took 2 s on one CPU of a machine of 2023, so this is 4 s at most; who wants to
 * know more of longer traces asks heurt whatif. */
#define REPLAYED_EVENTS_MOST 8000000u

struct question question__of(const struct change *change)
{
    struct question question = {.changes = VEC_OF(struct change)};
    if (change)
        vec__push(&question.changes, change);
    return question;
}

void question__free(struct question *question)
{
    vec__free(&question->changes);
    if (question->told)
        prediction__free(&question->prediction);
    question->told = false;
}

/* ---- on all CPUs ----------------------------------------------------------------------------- */

/* What the threads share; each takes the next question that nobody has. */
struct crew {
    struct whatif *whatif;
    struct question *questions;
    size_t count;
    atomic_size_t next;
};

static void *answer_all(void *argument)
{
    struct crew *crew = argument;
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->count;) {
        struct question *question = &crew->questions[i];
        question->told =
            whatif__predict(crew->whatif, question->changes.items, question->changes.count,
                            &question->prediction, &question->error) == 0;
    }
    return NULL;
}

void predictions__make(struct whatif *whatif, struct question *questions, size_t count)
{
    struct crew crew = {.whatif = whatif, .questions = questions, .count = count};
    pthread_t threads[THREADS_MOST];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cpus > 1 ? (size_t)cpus - 1 : 0, started = 0;
    while (started < wanted && started < THREADS_MOST && started + 1 < count &&
           pthread_create(&threads[started], NULL, answer_all, &crew) == 0)
        started++;
    answer_all(&crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* ---- the report's column --------------------------------------------------------------------- */

static bool is_wanted(const struct profile_class *class, size_t place, size_t only)
{
    return class->verdict == VERDICT_INTERFERENCE && class->excess_ns && !class->idle &&
           !class->what.ignored && (only == 0 || only == place);
}

/* Questions about classes, and their places (size_t, from 0). */
static void ask(const struct profile *profile, size_t only, struct vec *questions,
                struct vec *places)
{
    size_t most = REPLAYED_EVENTS_MOST / (profile->events + 1);
    for (size_t i = 0; i < profile->classes.count && questions->count < most; i++) {
        const struct profile_class *class = VEC_AT(&profile->classes, struct profile_class, i);
        if (!is_wanted(class, i + 1, only))
            continue;
        const struct question question =
            question__of(&(struct change){.type = CHANGE_REMOVE, .class = class->number});
        vec__push(questions, &question);
        vec__push(places, &i);
    }
}

static void keep_gains(struct profile *profile, struct vec *questions, const struct vec *places)
{
    for (size_t i = 0; i < questions->count; i++) {
        struct question *question = VEC_AT(questions, struct question, i);
        struct profile_class *class =
            VEC_AT(&profile->classes, struct profile_class, *VEC_AT(places, size_t, i));
        for (int k = 0; question->told && k < 2; k++)
            class->wall_gain[k] = question->prediction.gain[k];
        question__free(question);
    }
}

void predictions__fill_gains(const struct trace *trace, const struct symbols *symbols,
                             struct profile *profile, size_t only)
{
    struct vec questions = VEC_OF(struct question), places = VEC_OF(size_t);
    struct whatif *whatif;
    ask(profile, only, &questions, &places);
    if (questions.count && whatif__open(trace, symbols, profile, &whatif, NULL) == 0) {
        predictions__make(whatif, questions.items, questions.count);
        whatif__close(whatif);
    }
    keep_gains(profile, &questions, &places);
    vec__free(&questions);
    vec__free(&places);
}
