/* event_fields.h: what the words of one event mean. Private to this room. */
#ifndef HEURT_PRESENT_EXPORT_EVENT_FIELDS_H
#define HEURT_PRESENT_EXPORT_EVENT_FIELDS_H

#include "present/export/events.h"
#include "present/screen/fields.h"

#include <stdbool.h>

/* payload: the first word of the enter's or point's, NULL when there is none. */
struct event_title event__title(const struct shown_thread *thread, uint32_t id,
                                const uint64_t *payload);

bool event__has_fields(const struct shown_thread *thread, const struct event *event);
void event__put_fields(const struct shown_trace *shown, const struct shown_thread *thread,
                       const struct event *event, const struct fields *fields);

#endif
