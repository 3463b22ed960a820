#include "import/import_perf_file.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_MIN 100000u /* records that are sorted at a time, at least */
#define FEATURE_BUILD_ID 2u
#define BUILD_ID_SIZE_TOLD (1u << 15)

/* Records of perf itself, beside the kernel's. */
enum perf_record {
    PERF_ATTRIBUTE = 64,
    PERF_TRACING_DATA = 66,
    PERF_BUILD_ID = 67,
    PERF_FINISHED_ROUND = 68,
    PERF_AUXTRACE = 71,
    PERF_COMPRESSED = 81,
};

/* Of perf_event_attr what its records are read by. */
struct perf_attribute {
    uint64_t sample_type, read_format;
    bool tells_ids, has_switches;
};

struct perf_place {
    uint64_t ns, at;
};

void perf_cursor__take(struct perf_cursor *cursor, void *into, size_t bytes)
{
    memset(into, 0, bytes);
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->broke = true;
        cursor->at = cursor->end;
        return;
    }
    memcpy(into, cursor->at, bytes);
    cursor->at += bytes;
}

uint64_t perf_cursor__take64(struct perf_cursor *cursor)
{
    uint64_t value;
    perf_cursor__take(cursor, &value, sizeof value);
    return value;
}

uint32_t perf_cursor__take32(struct perf_cursor *cursor)
{
    uint32_t value;
    perf_cursor__take(cursor, &value, sizeof value);
    return value;
}

const char *perf_cursor__text(const struct perf_cursor *cursor)
{
    size_t room = (size_t)(cursor->end - cursor->at);
    return memchr(cursor->at, 0, room) ? (const char *)cursor->at : "";
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void add_attribute(struct perf_file *file, struct perf_cursor attribute,
                          struct perf_cursor ids)
{
    struct perf_event_attr told = {0};
    size_t bytes = (size_t)(attribute.end - attribute.at);
    memcpy(&told, attribute.at, bytes < sizeof told ? bytes : sizeof told);
    const struct perf_attribute one = {.sample_type = told.sample_type,
                                       .read_format = told.read_format,
                                       .tells_ids = told.sample_id_all,
                                       .has_switches = told.context_switch};
    if (bytes < PERF_ATTR_SIZE_VER0 || file->attributes.count >= 10000)
        return;
    while (ids.end - ids.at >= 8) {
        uint64_t id = perf_cursor__take64(&ids);
        map__put(&file->by_id, &id, sizeof id, file->attributes.count);
    }
    vec__push(&file->attributes, &one);
}

/* A part of the file, as far as it is there. */
static struct perf_cursor section(const struct perf_file *file, uint64_t offset, uint64_t size)
{
    uint64_t from = offset < file->count ? offset : file->count;
    uint64_t room = file->count - from;
    const uint8_t *at = file->bytes + from;
    return (struct perf_cursor){at, at + (size < room ? size : room), false};
}

static void read_attributes(struct perf_file *file, uint64_t offset, uint64_t size, uint64_t each)
{
    struct perf_cursor all = section(file, offset, size);
    while (each > 16 && each < 65536 && (uint64_t)(all.end - all.at) >= each) {
        struct perf_cursor attribute = {all.at, all.at + each - 16, false};
        struct perf_cursor where = {all.at + each - 16, all.at + each, false};
        uint64_t ids_at = perf_cursor__take64(&where), ids_size = perf_cursor__take64(&where);
        add_attribute(file, attribute, section(file, ids_at, ids_size));
        all.at += each;
    }
}

/* In a pipe's attribute its own size tells where the ids begin. */
static void take_attribute(struct perf_file *file, struct perf_cursor record)
{
    struct perf_cursor head = record;
    perf_cursor__take32(&head);
    uint32_t bytes = perf_cursor__take32(&head);
    bytes = bytes ? bytes : PERF_ATTR_SIZE_VER0;
    if (bytes > (size_t)(record.end - record.at))
        return;
    const uint8_t *ids = record.at + bytes;
    add_attribute(file, (struct perf_cursor){record.at, ids, false},
                  (struct perf_cursor){ids, record.end, false});
}

static const struct perf_attribute *attribute_of_id(const struct perf_file *file, uint64_t id)
{
    uint64_t place = map__get(&file->by_id, &id, sizeof id);
    return VEC_AT(&file->attributes, struct perf_attribute, place == MAP_ABSENT ? 0 : place);
}

/* ---- what each record tells ------------------------------------------------------------------ */

/* Where events of several attributes are told apart: by the first word of samples, by the last one
 * of others. */
static const struct perf_attribute *attribute_of(const struct perf_file *file,
                                                 const struct perf_event_header *header,
                                                 struct perf_cursor record)
{
    const struct perf_attribute *first = VEC_AT(&file->attributes, struct perf_attribute, 0);
    if (file->attributes.count < 2 || !(first->sample_type & PERF_SAMPLE_IDENTIFIER) ||
        record.end - record.at < 8)
        return first;
    if (header->type != PERF_RECORD_SAMPLE)
        record.at = record.end - 8;
    return attribute_of_id(file, perf_cursor__take64(&record));
}

/* The words that stand behind every record that is no sample. */
static struct perf_sample read_trailer(const struct perf_attribute *attribute,
                                       struct perf_cursor record)
{
    struct perf_sample sample = {0};
    uint64_t type = attribute->sample_type;
    size_t words = (size_t)__builtin_popcountll(type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                        PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                                        PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
    if (!attribute->tells_ids || (size_t)(record.end - record.at) < words * 8)
        return sample;
    record.at = record.end - words * 8;
    if ((sample.has_tid = type & PERF_SAMPLE_TID)) {
        sample.pid = perf_cursor__take32(&record);
        sample.tid = perf_cursor__take32(&record);
    }
    if ((sample.has_ns = type & PERF_SAMPLE_TIME))
        sample.ns = perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_ID)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_STREAM_ID)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_CPU)
        sample.cpu = perf_cursor__take32(&record);
    return sample;
}

static void pass_counters(struct perf_cursor *record, uint64_t format)
{
    uint64_t nr = 1, each = 1;
    each += format & PERF_FORMAT_ID ? 1 : 0;
    each += format & (1u << 4) ? 1 : 0; /* PERF_FORMAT_LOST */
    if (format & PERF_FORMAT_GROUP)
        nr = perf_cursor__take64(record);
    uint64_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
                     (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0);
    uint64_t room = (uint64_t)(record->end - record->at) / 8;
    uint64_t words = nr > room ? room : nr * each + times;
    record->at += 8 * (words < room ? words : room);
}

static struct perf_sample read_sample(const struct perf_attribute *attribute,
                                      struct perf_cursor record)
{
    struct perf_sample sample = {0};
    uint64_t type = attribute->sample_type;
    if (type & PERF_SAMPLE_IDENTIFIER)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_IP)
        sample.ip = perf_cursor__take64(&record);
    if ((sample.has_tid = type & PERF_SAMPLE_TID)) {
        sample.pid = perf_cursor__take32(&record);
        sample.tid = perf_cursor__take32(&record);
    }
    if ((sample.has_ns = type & PERF_SAMPLE_TIME))
        sample.ns = perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_ADDR)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_ID)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_STREAM_ID)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_CPU) {
        sample.cpu = perf_cursor__take32(&record);
        perf_cursor__take32(&record);
    }
    if (type & PERF_SAMPLE_PERIOD)
        perf_cursor__take64(&record);
    if (type & PERF_SAMPLE_READ)
        pass_counters(&record, attribute->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        sample.nr = perf_cursor__take64(&record);
        sample.stack = record.at;
        uint64_t room = (uint64_t)(record.end - record.at) / 8;
        sample.nr = sample.nr < room ? sample.nr : room;
    }
    sample.has_ns &= !record.broke;
    return sample;
}

static struct perf_sample told_by(const struct perf_file *file,
                                  const struct perf_event_header *header, struct perf_cursor record)
{
    if (file->attributes.count == 0)
        return (struct perf_sample){0};
    const struct perf_attribute *attribute = attribute_of(file, header, record);
    return header->type == PERF_RECORD_SAMPLE ? read_sample(attribute, record)
                                              : read_trailer(attribute, record);
}

/* ---- in the order of times ------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct perf_place *a = left, *b = right;
    return a->ns != b->ns ? ORDER(a->ns, b->ns) : ORDER(a->at, b->at);
}

static void take_place(struct perf_file *file, uint64_t at)
{
    struct perf_event_header header;
    memcpy(&header, file->bytes + at, sizeof header);
    struct perf_cursor record = section(file, at + sizeof header, header.size - sizeof header);
    const struct perf_sample told = told_by(file, &header, record);
    file->taker->take(file->self, &header, record, &told);
}

static void flush(struct perf_file *file, uint64_t until_ns)
{
    size_t done = 0;
    vec__sort(&file->places, by_time);
    struct perf_place *places = file->places.items;
    for (; done < file->places.count && places[done].ns <= until_ns; done++)
        if (!import__is_full(file->import))
            take_place(file, places[done].at);
    file->left = file->places.count -= done;
    if (done)
        memmove(places, places + done, file->left * sizeof *places);
}

/* What is of a round before the last one is complete. */
static void end_round(struct perf_file *file)
{
    if (file->places.count >= FLUSH_MIN && file->places.count / 2 >= file->left)
        flush(file, file->before_ns);
    file->before_ns = file->round_ns;
}

static void keep_build_id(struct perf_file *file, const struct perf_event_header *header,
                          struct perf_cursor record)
{
    uint8_t id[PERF_BUILD_ID_BYTES];
    perf_cursor__take32(&record);
    perf_cursor__take(&record, id, sizeof id);
    const char *path = perf_cursor__text(&record);
    if (!(header->misc & BUILD_ID_SIZE_TOLD))
        id[20] = 20;
    if (record.broke || !*path)
        return;
    uint64_t place = map__put(&file->builds, path, strlen(path), file->ids.count);
    if (place == file->ids.count)
        vec__push(&file->ids, id);
}

static void keep_place(struct perf_file *file, const struct perf_event_header *header,
                       struct perf_cursor record, uint64_t at)
{
    const struct perf_sample told = told_by(file, header, record);
    if (told.has_ns && told.ns < INT64_MAX)
        file->last_ns = told.ns;
    else if (told.has_ns)
        return;
    file->taker->meet(file->self, header, record);
    if (file->last_ns > file->round_ns)
        file->round_ns = file->last_ns;
    const struct perf_place place = {told.has_ns ? told.ns : file->last_ns, at};
    vec__push(&file->places, &place);
}

static void meet_record(struct perf_file *file, const struct perf_event_header *header,
                        struct perf_cursor record, uint64_t at)
{
    if (header->type < PERF_ATTRIBUTE)
        keep_place(file, header, record, at);
    else if (header->type == PERF_ATTRIBUTE)
        take_attribute(file, record);
    else if (header->type == PERF_BUILD_ID)
        keep_build_id(file, header, record);
    else if (header->type == PERF_FINISHED_ROUND)
        end_round(file);
    else if (header->type == PERF_COMPRESSED)
        import__pass_over(file->import, "records that are compressed (perf record -z)");
}

/* What stands behind a record and is not counted in its size. */
static uint64_t bytes_behind(const struct perf_event_header *header, struct perf_cursor record)
{
    if (header->type == PERF_TRACING_DATA)
        return (perf_cursor__take32(&record) + 7ull) & ~7ull;
    return header->type == PERF_AUXTRACE ? perf_cursor__take64(&record) : 0;
}

static void read_records(struct perf_file *file, uint64_t from, uint64_t size)
{
    struct perf_cursor data = section(file, from, size);
    struct perf_event_header header;
    while ((size_t)(data.end - data.at) >= sizeof header && !import__is_full(file->import)) {
        memcpy(&header, data.at, sizeof header);
        uint64_t room = (uint64_t)(data.end - data.at);
        if (header.size < sizeof header || header.size > room)
            break;
        struct perf_cursor record = {data.at + sizeof header, data.at + header.size, false};
        uint64_t bytes = header.size + bytes_behind(&header, record);
        meet_record(file, &header, record, (uint64_t)(data.at - file->bytes));
        if (bytes < header.size || bytes > room)
            break;
        data.at += bytes;
    }
    bool is_cut = size != UINT64_MAX && (uint64_t)(data.end - file->bytes) - from < size;
    if (data.at < data.end || is_cut)
        import__pass_over(file->import, "what follows where the file breaks off");
    flush(file, UINT64_MAX);
}

/* ---- the file -------------------------------------------------------------------------------- */

struct perf_head {
    uint64_t magic, size, attribute_size;
    uint64_t attributes_at, attributes_size, data_at, data_size, types_at, types_size;
    uint64_t features[4];
};

/* Which files were mapped, by their build ids: one of the features, which stand behind the data. */
static void read_build_ids(struct perf_file *file, const struct perf_head *head)
{
    uint64_t before = head->features[0] & ((1u << FEATURE_BUILD_ID) - 1);
    struct perf_cursor table = section(
        file, head->data_at + head->data_size + 16u * (uint64_t)__builtin_popcountll(before), 16);
    struct perf_event_header header;
    if (!(head->features[0] & 1u << FEATURE_BUILD_ID) || head->data_size == 0)
        return;
    uint64_t at = perf_cursor__take64(&table), size = perf_cursor__take64(&table);
    struct perf_cursor all = section(file, at, size);
    while ((size_t)(all.end - all.at) >= sizeof header) {
        memcpy(&header, all.at, sizeof header);
        if (header.size < sizeof header || header.size > all.end - all.at)
            return;
        keep_build_id(file, &header,
                      (struct perf_cursor){all.at + sizeof header, all.at + header.size, false});
        all.at += header.size;
    }
}

static void read_all(struct perf_file *file)
{
    struct perf_head head = {0};
    memcpy(&head, file->bytes, file->count < sizeof head ? file->count : sizeof head);
    if (head.size == 16) {
        read_records(file, 16, UINT64_MAX);
        return;
    }
    read_attributes(file, head.attributes_at, head.attributes_size, head.attribute_size);
    read_build_ids(file, &head);
    /* perf that was killed has not written how much there is. */
    read_records(file, head.data_at, head.data_size ? head.data_size : UINT64_MAX);
}

void perf_file__read(struct perf_file *file)
{
    file->attributes = VEC_OF(struct perf_attribute);
    file->places = VEC_OF(struct perf_place);
    file->ids = (struct vec){.item_bytes = PERF_BUILD_ID_BYTES};
    read_all(file);
}

void perf_file__free(struct perf_file *file)
{
    vec__free(&file->attributes);
    vec__free(&file->places);
    vec__free(&file->ids);
    map__free(&file->by_id);
    map__free(&file->builds);
}

bool perf_file__has_switches(const struct perf_file *file)
{
    VEC_EACH (attribute, &file->attributes, struct perf_attribute)
        if (attribute->has_switches)
            return true;
    return false;
}

bool perf_file__build_id(const struct perf_file *file, const char *path,
                         uint8_t id[PERF_BUILD_ID_BYTES])
{
    uint64_t place = map__get(&file->builds, path, strlen(path));
    if (place != MAP_ABSENT)
        memcpy(id, (const uint8_t *)file->ids.items + place * PERF_BUILD_ID_BYTES,
               PERF_BUILD_ID_BYTES);
    return place != MAP_ABSENT;
}
