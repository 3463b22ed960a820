#include "analysis/replay/predictions.h"

#include "analysis/run.h"

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

struct asked_questions {
    struct whatif *whatif;
    struct question *questions;
};

static void *answer(void *self, unsigned lane, uint32_t place)
{
    const struct asked_questions *asked = self;
    struct question *question = &asked->questions[place];
    (void)lane;
    question->told =
        whatif__predict(asked->whatif, question->changes.items, question->changes.count,
                        &question->prediction, &question->error) == 0;
    return NULL;
}

/* An answer stands with its question: there is nothing to put together. */
static void keep(void *self, uint32_t place, void *part)
{
    (void)self, (void)place, (void)part;
}

void predictions__make(struct whatif *whatif, struct question *questions, size_t count)
{
    static const struct thread_walk one_by_one = {.thread = answer, .join = keep};
    struct asked_questions asked = {whatif, questions};
    run__threads(&one_by_one, &asked, (uint32_t)count, run__lanes((uint32_t)count));
}
