/* findings_of.h: the findings of a scene, for tests of them. */
#ifndef HEURT_TESTS_FINDINGS_OF_H
#define HEURT_TESTS_FINDINGS_OF_H

#include "analysis/findings/findings.h"
#include "scene.h"

/* The first one of that category; NULL: none is. */
static inline const struct finding *find_kind(const struct findings *findings,
                                              enum finding_category category)
{
    VEC_EACH (finding, &findings->rows, struct finding)
        if (finding->category == category)
            return finding;
    return NULL;
}

/* Of a scene that ends then. */
static inline struct findings *findings_of(struct scene *scene, uint64_t end)
{
    scene->end = (struct heurt_clock_pair){end, end};
    const struct profile *profile = scene__profile(scene);
    return findings__find(scene->trace, scene->symbols, profile);
}

#endif
