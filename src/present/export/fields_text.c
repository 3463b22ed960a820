/* The fields of events as text. A lock is taken at the same place a million times: what was written
 * last is kept, by what it is made of. */
#include "base/memory.h"
#include "base/sanitize.h"
#include "present/export/event_fields.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 1024u /* a power of two */
#define KEPT_WORDS 3u

/* What the text depends on. */
struct fields_key {
    const struct trace_process *process;
    uint32_t id, words;
    bool json;
    uint64_t payload[KEPT_WORDS];
};

struct kept_fields {
    struct fields_key key;
    char *text; /* NULL: nothing is kept here */
};

struct fields_texts {
    struct kept_fields kept[KEPT];
    char *text; /* what stream wrote */
    size_t bytes;
    FILE *stream;
};

struct fields_texts *fields_texts__new(void)
{
    struct fields_texts *texts = memory__zeroed(1, sizeof *texts);
    texts->stream = open_memstream(&texts->text, &texts->bytes);
    if (!texts->stream)
        out_of_memory(sizeof *texts);
    return texts;
}

void fields_texts__free(struct fields_texts *texts)
{
    for (unsigned i = 0; i < KEPT; i++)
        free(texts->kept[i].text);
    fclose(texts->stream);
    free(texts->text);
    free(texts);
}

/* Valid until the next one is written. */
static const char *write_fields(const struct shown_trace *shown, const struct shown_event *what,
                                bool json)
{
    struct fields_texts *texts = shown->texts;
    struct fields fields = {texts->stream, json ? json_object_new_object() : NULL};
    rewind(texts->stream);
    event__put_fields(shown, what->thread, what->event, &fields);
    if (json)
        json__put_harmless(json_object_to_json_string_ext(fields.json, JSON_C_TO_STRING_PLAIN),
                           texts->stream);
    json_object_put(fields.json);
    fputc('\0', texts->stream);
    fflush(texts->stream);
    return texts->text;
}

static struct kept_fields *place_of(struct fields_texts *texts, const struct fields_key *key)
{
    uint64_t hash = key->id + ((uint64_t)key->words << 32);
    for (unsigned i = 0; i < KEPT_WORDS; i++)
        hash = (hash ^ hash >> 29 ^ key->payload[i]) * 0x9e3779b97f4a7c15ull;
    return &texts->kept[hash >> 32 & (KEPT - 1)];
}

static bool is_same(const struct fields_key *left, const struct fields_key *right)
{
    return left->id == right->id && left->words == right->words && left->json == right->json &&
           left->process == right->process &&
           memcmp(left->payload, right->payload, sizeof left->payload) == 0;
}

const char *shown_event__fields(const struct shown_trace *shown, const struct shown_event *what,
                                bool json)
{
    const struct event *event = what->event;
    struct fields_key key = {what->thread->process, event->id, event->words, json, {0}};
    if (event->words > KEPT_WORDS)
        return write_fields(shown, what, json);
    for (uint32_t i = 0; i < event->words; i++)
        key.payload[i] = event->payload[i];
    struct kept_fields *kept = place_of(shown->texts, &key);
    if (kept->text && is_same(&kept->key, &key))
        return kept->text;
    const char *text = write_fields(shown, what, json);
    if (!event__fields_last(shown, what->thread, event))
        return text;
    free(kept->text);
    *kept = (struct kept_fields){key, memory__text(text)};
    return kept->text;
}
