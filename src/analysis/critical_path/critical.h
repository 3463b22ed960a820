/* critical.h: the critical path of a run with all of its pieces (path.h), for who shows it. */
#ifndef HEURT_ANALYSIS_CRITICAL_PATH_CRITICAL_H
#define HEURT_ANALYSIS_CRITICAL_PATH_CRITICAL_H

#include "analysis/critical_path/path.h"

struct critical_path {
    struct path_result path;
    struct vec objects; /* struct sync_object, by the numbers in path */
};

/* Memory grows with the hand-overs. critical_path__free it. */
void critical_path__find(const struct trace *trace, struct critical_path *critical);
void critical_path__free(struct critical_path *critical);

#endif
