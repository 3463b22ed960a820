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
struct plan_cache_header {
    char magic[8];
    uint64_t checksum; /* of all bytes of the file, this being 0 */
    struct kept_identity of;
    uint64_t counts[VECS];
    uint32_t stripped;
    uint32_t has_system_calls;
};

static void all_vecs(struct function_info *info, struct vec *vecs[VECS])
{
    vecs[0] = &info->functions;
    vecs[1] = &info->names;
    vecs[2] = &info->tails;
    vecs[3] = &info->moves;
    vecs[4] = &info->texts;
    vecs[5] = &info->system_calls;
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

static uint64_t checksum_of(const struct plan_cache_header *header, struct function_info *info)
{
    struct vec *vecs[VECS];
    struct plan_cache_header plain = *header;
    plain.checksum = 0;
    uint64_t sum = add_to_checksum(0, &plain, sizeof plain);
    all_vecs(info, vecs);
    for (int i = 0; i < VECS; i++)
        sum = add_to_checksum(sum, vecs[i]->items, vecs[i]->count * vecs[i]->item_bytes);
    return sum;
}

static char *path_of(const struct function_info *info)
{
    return kept_file__path(info->cache, info->build_id, info->build_id_bytes, ENDING);
}

static struct kept_identity identity_of(const struct function_info *info)
{
    return kept_identity__of(info->path, info->build_id, info->build_id_bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_vecs(int fd, const struct plan_cache_header *header, uint64_t left,
                      struct function_info *info)
{
    struct vec *vecs[VECS];
    all_vecs(info, vecs);
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

static bool is_function_sound(const struct function_info *info,
                              const struct info_function *function)
{
    return is_span(function->first_name, function->name_count, &info->names) &&
           is_span(function->first_tail, function->tail_count, &info->tails) &&
           function->choice < info->texts.count && frame_fault__is_known(function->frame.fault) &&
           move_fault__is_known(function->move_fault) &&
           (function->move != INFO_YES || function_info__move_is_whole(info, function->moved));
}

/* Whether all places lie where they should: a checksum does not tell who computed it. */
static bool is_sound(const struct function_info *info)
{
    const struct vec *texts = &info->texts;
    if (!texts->count || *VEC_AT(texts, char, texts->count - 1))
        return false;
    VEC_EACH (function, &info->functions, struct info_function)
        if (!is_function_sound(info, function))
            return false;
    VEC_EACH (name, &info->names, struct info_name)
        if (name->text >= texts->count)
            return false;
    VEC_EACH (tail, &info->tails, struct info_tail)
        if (tail->name >= texts->count ||
            (tail->function != INFO_NO_FUNCTION && tail->function >= info->functions.count))
            return false;
    VEC_EACH (call, &info->system_calls, struct info_system_call)
        if (!function_info__move_is_whole(info, call->moved))
            return false;
    return true;
}

static bool load(int fd, uint64_t bytes, struct function_info *info)
{
    struct plan_cache_header header;
    struct kept_identity expected = identity_of(info);
    if (bytes < sizeof header || !descriptor__read_all(fd, &header, sizeof header) ||
        memcmp(header.magic, MAGIC, sizeof header.magic) != 0 ||
        memcmp(&header.of, &expected, sizeof expected) != 0 ||
        !read_vecs(fd, &header, bytes - sizeof header, info))
        return false;
    info->stripped = header.stripped;
    info->has_system_calls = header.has_system_calls;
    return checksum_of(&header, info) == header.checksum && is_sound(info);
}

static void forget(struct function_info *info)
{
    struct vec *vecs[VECS];
    all_vecs(info, vecs);
    for (int i = 0; i < VECS; i++)
        vec__free(vecs[i]);
}

bool plan_cache__load(struct function_info *info)
{
    if (!info->cache)
        return false;
    struct stat status;
    char *path = path_of(info);
    int fd = kept_file__open(path, &status);
    free(path);
    if (fd < 0)
        return false;
    bool loaded = load(fd, (uint64_t)status.st_size, info);
    if (!loaded)
        forget(info);
    close(fd);
    return loaded;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_info(int fd, void *context)
{
    struct function_info *info = context;
    struct vec *vecs[VECS];
    struct plan_cache_header header = {.magic = MAGIC, .of = identity_of(info)};
    all_vecs(info, vecs);
    for (int i = 0; i < VECS; i++)
        header.counts[i] = vecs[i]->count;
    header.stripped = info->stripped;
    header.has_system_calls = info->has_system_calls;
    header.checksum = checksum_of(&header, info);
    bool written = descriptor__write_all(fd, &header, sizeof header);
    for (int i = 0; i < VECS && written; i++)
        written = descriptor__write_all(fd, vecs[i]->items, vecs[i]->count * vecs[i]->item_bytes);
    return written;
}

void plan_cache__save(struct function_info *info)
{
    if (!info->cache)
        return;
    char *path = path_of(info);
    kept_file__save(info->cache, path, ENDING, PLAN_CACHE_BYTES_MAX, write_info, info);
    free(path);
}
