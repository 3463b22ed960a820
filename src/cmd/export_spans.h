/* export_spans.h: heurt export in the formats of viewers.
 *
 * In go the trace's directory, an exporter and what is asked for, out comes a file, or a sentence.
 * It stands on span_feed.h, whole_file.h and load.h. */
#ifndef HEURT_CMD_EXPORT_SPANS_H
#define HEURT_CMD_EXPORT_SPANS_H

#include "base/vec.h"
#include "present/export/span_exporters.h"

struct span_wishes {
    const char *directory;
    const char *output; /* NULL: stdout */
    const struct span_exporter *exporter;
    const char *of;            /* NULL: not said */
    const struct vec *threads; /* const char *; empty: all */
    uint64_t from_ns, to_ns;   /* UINT64_MAX: to the end */
};

/* The exit status. */
int export_spans(const struct span_wishes *wishes);

#endif
