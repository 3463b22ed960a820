/* amend.h: what is learnt about OFF_CPU events when a run has ended is stored in place.
 *
 * In goes a trace that is not packed yet and a function that looks at each of these events; out
 * comes the same file with other payloads. It costs one walk over all events and a write for each
 * changed word, and stands on reader.h. */
#ifndef HEURT_FORMAT_AMEND_H
#define HEURT_FORMAT_AMEND_H

#include "format/reader.h"

/* Looks at the payload of one OFF_CPU event of a thread and may change it. */
typedef void off_cpu_amend(void *context, uint32_t tid, uint64_t tick, uint64_t words[3]);

/* Calls amend for every OFF_CPU event, thread by thread, in the order in which they were written.
 * The trace must not be packed; it was opened from that directory. Each word is stored at once, so
 * that whoever is killed in between leaves a trace in which some events are amended. */
int trace__amend_off_cpu(const struct trace *trace, const char *directory, off_cpu_amend *amend,
                         void *context, struct error *error);

#endif
