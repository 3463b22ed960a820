#include "analysis/replay/predictions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MOST 64

struct question question__of(const struct change *change)
{
    struct question question = {.changes = VEC_OF(struct change)};
    if (change)
        vec__push(&question.changes, change);
    return question;
}

struct question question__of_classes(const struct profile *profile, const struct vec *places)
{
    struct question question = question__of(NULL);
    VEC_EACH (place, places, uint32_t) {
        uint32_t number = VEC_AT(&profile->classes, struct profile_class, *place)->number;
        vec__push(&question.changes, &(struct change){.type = CHANGE_REMOVE, .class = number});
    }
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
struct prediction_crew {
    struct whatif *whatif;
    struct question *questions;
    size_t count;
    atomic_size_t next;
};

static void *answer_all(void *argument)
{
    struct prediction_crew *crew = argument;
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
    struct prediction_crew crew = {.whatif = whatif, .questions = questions, .count = count};
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
