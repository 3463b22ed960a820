#include "base/nearest.h"

#include "base/memory.h"
#include "base/sanitize.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t words__distance(const char *left, const char *right)
{
    size_t rows[3][LONGEST + 1], lefts = strlen(left), rights = strlen(right);
    if (lefts > LONGEST || rights > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= rights; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= lefts; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= rights; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1,
                           above[j - 1] + (left[i - 1] != right[j - 1]));
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[lefts % 3][rights];
}

struct nearest nearest__to(const char *typed)
{
    size_t allowed = strlen(typed) / 3;
    return (struct nearest){typed, NULL, (allowed ? allowed : 1) + 1};
}

void nearest__offer(struct nearest *nearest, const char *word)
{
    size_t typed = strlen(nearest->typed), offered = strlen(word);
    if ((typed > offered ? typed - offered : offered - typed) >= nearest->distance)
        return; /* so many letters at least are dropped or added */
    size_t distance = words__distance(nearest->typed, word);
    if (distance >= nearest->distance)
        return;
    nearest->word = word;
    nearest->distance = distance;
}

char *nearest__question(const struct nearest *nearest)
{
    if (!nearest->word)
        return memory__text("");
    char *question = memory__format("; did you mean '%s'?", nearest->word);
    text__blunt(question, "");
    return question;
}
