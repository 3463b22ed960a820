/* span_feed.h: what threads did, for an exporter of spans.
 *
 * In go a trace with its names and an exporter, out comes what it writes. One walk over the trace
 * (analysis/events/span_walk.h), in which ticks become ns and numbers names. Memory: of threads,
 * labels and objects. It stands on present/export/span_names.h. */
#ifndef HEURT_CMD_SPAN_FEED_H
#define HEURT_CMD_SPAN_FEED_H

#include "present/export/span_exporters.h"
#include "present/present.h"

/* What is asked for. */
struct span_request {
    const struct span_exporter *exporter;
    const char *of;        /* the exporter's option, or NULL */
    const bool *chosen;    /* by thread; NULL: all */
    const char *directory; /* of a format that is one, else NULL */
};

/* remarks: char *, what the exporter has to say, added. Returns 0, or the errno of a write that
 * failed. */
int span_feed__tell(const struct report *report, const struct span_request *request, FILE *out,
                    struct vec *remarks);

#endif
