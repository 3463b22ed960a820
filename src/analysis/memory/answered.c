#include "analysis/memory/answered.h"

#include "base/table.h"

void answered__add(struct answered *self, const struct heurt_answer *answer, uint64_t ns)
{
    if (!answer)
        return;
    struct answers *level = &self->levels[answer->level < HEURT_LEVELS ? answer->level : 0];
    level->samples++;
    level->ns += ns;
    level->timed += answer->latency > 0;
    level->cycles += answer->latency;
    self->modified += (answer->flags & HEURT_ANSWER_MODIFIED) != 0;
}

static void add(struct answers *self, const struct answers *other)
{
    self->samples += other->samples;
    self->ns += other->ns;
    self->timed += other->timed;
    self->cycles += other->cycles;
}

void answered__join(struct answered *self, const struct answered *other)
{
    for (size_t i = 0; i < HEURT_LEVELS; i++)
        add(&self->levels[i], &other->levels[i]);
    self->modified += other->modified;
}

struct answers answered__all(const struct answered *self)
{
    struct answers all = {0};
    for (size_t i = 0; i < HEURT_LEVELS; i++)
        add(&all, &self->levels[i]);
    return all;
}

static struct answers sum_of(const struct answered *self, enum heurt_level one,
                             enum heurt_level other)
{
    struct answers both = self->levels[one];
    add(&both, &self->levels[other]);
    return both;
}

struct answers answered__remote(const struct answered *self)
{
    return sum_of(self, HEURT_LEVEL_REMOTE_MEMORY, HEURT_LEVEL_REMOTE_CACHE);
}

struct answers answered__of_memory(const struct answered *self)
{
    return sum_of(self, HEURT_LEVEL_REMOTE_MEMORY, HEURT_LEVEL_MEMORY);
}

double answers__latency(const struct answers *self)
{
    return self->timed ? (double)self->cycles / (double)self->timed : COLUMN_UNKNOWN;
}
