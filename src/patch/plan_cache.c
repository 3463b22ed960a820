#include "patch/plan_cache.h"

#include "base/descriptor.h"
#include "symbol/kept_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "heurtpln"
#define ENDING ".plan"

enum { VECS = 6 };

/* In front of the items of the six vecs, in the order of all_vecs(). */
struct header {
    char magic[8];
    uint64_t checksum; /* of all bytes of the file, this being 0 */
    struct kept_identity of;
    uint64_t counts[VECS];
    uint32_t stripped;
    uint32_t has_system_calls;
};

static void all_vecs(struct facts *facts, struct vec *vecs[VECS])
{
    vecs[0] = &facts->functions;
    vecs[1] = &facts->names;
    vecs[2] = &facts->tails;
    vecs[3] = &facts->moves;
    vecs[4] = &facts->texts;
    vecs[5] = &facts->system_calls;
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    return sum ^ sum >> 29;
}

static uint64_t add_to_checksum(uint64_t sum, const void *bytes, size_t count)
{
    uint64_t word;
    size_t at = 0;
    for (; at + sizeof word <= count; at += sizeof word) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        sum = mix(sum, word);
    }
    word = 0;
    if (at < count)
        memcpy(&word, (const char *)bytes + at, count - at);
    return mix(mix(sum, word), count);
}

static uint64_t checksum_of(const struct header *header, struct facts *facts)
{
    struct vec *vecs[VECS];
    struct header plain = *header;
    plain.checksum = 0;
    uint64_t sum = add_to_checksum(0, &plain, sizeof plain);
    all_vecs(facts, vecs);
    for (int i = 0; i < VECS; i++)
        sum = add_to_checksum(sum, vecs[i]->items, vecs[i]->count * vecs[i]->item_bytes);
    return sum;
}

static char *path_of(const struct facts *facts)
{
    return kept_file__path(facts->cache, facts->build_id, facts->build_id_bytes, ENDING);
}

static struct kept_identity identity_of(const struct facts *facts)
{
    return kept_identity__of(facts->path, facts->build_id, facts->build_id_bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_vecs(int fd, const struct header *header, uint64_t left, struct facts *facts)
{
    struct vec *vecs[VECS];
    all_vecs(facts, vecs);
    for (int i = 0; i < VECS; i++) {
        struct vec *vec = vecs[i];
        if (header->counts[i] > left / vec->item_bytes)
            return false;
        size_t bytes = header->counts[i] * vec->item_bytes;
        left -= bytes;
        if (!descriptor__read_all(fd, vec__extend(vec, header->counts[i]), bytes))
            return false;
    }
    return left == 0;
}

static bool is_span(uint32_t first, uint32_t count, const struct vec *vec)
{
    return first <= vec->count && count <= vec->count - first;
}

static bool is_function_sound(const struct facts *facts, const struct fact_function *function)
{
    return is_span(function->first_name, function->name_count, &facts->names) &&
           is_span(function->first_tail, function->tail_count, &facts->tails) &&
           function->choice < facts->texts.count && frame_fault__is_known(function->frame.fault) &&
           move_fault__is_known(function->move_fault) &&
           (function->move != FACT_YES || facts__move_is_whole(facts, function->moved));
}

/* Whether all places lie where they should: a checksum does not tell who computed it. */
static bool is_sound(const struct facts *facts)
{
    const struct vec *texts = &facts->texts;
    if (!texts->count || *VEC_AT(texts, char, texts->count - 1))
        return false;
    VEC_EACH (function, &facts->functions, struct fact_function)
        if (!is_function_sound(facts, function))
            return false;
    VEC_EACH (name, &facts->names, struct fact_name)
        if (name->text >= texts->count)
            return false;
    VEC_EACH (tail, &facts->tails, struct fact_tail)
        if (tail->name >= texts->count ||
            (tail->function != FACT_NO_FUNCTION && tail->function >= facts->functions.count))
            return false;
    VEC_EACH (call, &facts->system_calls, struct fact_system_call)
        if (!facts__move_is_whole(facts, call->moved))
            return false;
    return true;
}

static bool load(int fd, uint64_t bytes, struct facts *facts)
{
    struct header header;
    struct kept_identity expected = identity_of(facts);
    if (bytes < sizeof header || !descriptor__read_all(fd, &header, sizeof header) ||
        memcmp(header.magic, MAGIC, sizeof header.magic) != 0 ||
        memcmp(&header.of, &expected, sizeof expected) != 0 ||
        !read_vecs(fd, &header, bytes - sizeof header, facts))
        return false;
    facts->stripped = header.stripped;
    facts->has_system_calls = header.has_system_calls;
    return checksum_of(&header, facts) == header.checksum && is_sound(facts);
}

static void forget(struct facts *facts)
{
    struct vec *vecs[VECS];
    all_vecs(facts, vecs);
    for (int i = 0; i < VECS; i++)
        vec__free(vecs[i]);
}

bool plan_cache__load(struct facts *facts)
{
    if (!facts->cache)
        return false;
    struct stat status;
    char *path = path_of(facts);
    int fd = kept_file__open(path, &status);
    free(path);
    if (fd < 0)
        return false;
    bool loaded = load(fd, (uint64_t)status.st_size, facts);
    if (!loaded)
        forget(facts);
    close(fd);
    return loaded;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_facts(int fd, void *context)
{
    struct facts *facts = context;
    struct vec *vecs[VECS];
    struct header header = {.magic = MAGIC, .of = identity_of(facts)};
    all_vecs(facts, vecs);
    for (int i = 0; i < VECS; i++)
        header.counts[i] = vecs[i]->count;
    header.stripped = facts->stripped;
    header.has_system_calls = facts->has_system_calls;
    header.checksum = checksum_of(&header, facts);
    bool written = descriptor__write_all(fd, &header, sizeof header);
    for (int i = 0; i < VECS && written; i++)
        written = descriptor__write_all(fd, vecs[i]->items, vecs[i]->count * vecs[i]->item_bytes);
    return written;
}

void plan_cache__save(struct facts *facts)
{
    if (!facts->cache)
        return;
    char *path = path_of(facts);
    kept_file__save(facts->cache, path, ENDING, PLAN_CACHE_BYTES_MAX, write_facts, facts);
    free(path);
}
