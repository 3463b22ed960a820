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
/* Whether they are the same whenever the event is: they depend on its process, id and words. */
bool event__fields_last(const struct shown_trace *shown, const struct shown_thread *thread,
                        const struct event *event);
void event__put_fields(const struct shown_trace *shown, const struct shown_thread *thread,
                       const struct event *event, const struct fields *fields);

struct fields_texts *fields_texts__new(void);
void fields_texts__free(struct fields_texts *texts);

#endif
