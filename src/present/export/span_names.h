/* span_names.h: the labels, places and objects of exported spans, each made once.
 *
 * In go an event, an address, an object of synchronisation; out comes what an exporter writes of
 * it, which lives until span_names__free. A look-up costs a hash. It stands on
 * present/shared.h. */
#ifndef HEURT_PRESENT_EXPORT_SPAN_NAMES_H
#define HEURT_PRESENT_EXPORT_SPAN_NAMES_H

#include "analysis/sync/sync_events.h"
#include "present/export/span_exporters.h"
#include "present/present.h"

struct span_names;

/* With a profile in the report, labels are idle or not. */
struct span_names *span_names__new(const struct report *report);
void span_names__free(struct span_names *names);

/* Of an event that begins a span, or is a point; process: index into trace__processes. */
const struct span_label *span_names__label(struct span_names *names, uint32_t process,
                                           const struct event *event);
/* Whether the event's first word is a place. */
bool span_names__has_site(const struct event *event);
/* NULL of address 0. process: serial. */
const struct span_place *span_names__place(struct span_names *names, uint32_t process,
                                           uint64_t address);
const struct span_object *span_names__object(struct span_names *names,
                                             const struct sync_object *object);

#endif
