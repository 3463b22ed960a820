#include "patch/plan_cache.h"

#include "base/descriptor.h"
#include "base/memory.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "heurtpln"
#define SUFFIX ".plan"

enum { VECS = 6 };

/* In front of the items of the six vecs, in the order of all_vecs(). */
struct header {
    char magic[8];
    uint64_t checksum;                 /* of all bytes of the file, this being 0 */
    uint8_t maker[HEURT_BUILD_ID_MAX]; /* build-id of the heurt that wrote it */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
    struct identity {
        uint64_t bytes;
        uint64_t changed_ns;
    } file, debug_file; /* zeroes: there is none */
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

/* ---- what has to be the same ----------------------------------------------------------------- */

static size_t padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

static int take_build_id(struct dl_phdr_info *info, size_t size, void *result)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        const char *end = at + info->dlpi_phdr[i].p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *bytes = at + sizeof *note + padded(note->n_namesz);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= HEURT_BUILD_ID_MAX)
                memcpy(result, bytes, note->n_descsz);
            at = bytes + padded(note->n_descsz);
        }
    }
    return 1; /* the first is the program itself */
}

static struct identity identity_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return (struct identity){0};
    return (struct identity){(uint64_t)status.st_size,
                             (uint64_t)status.st_mtim.tv_sec * 1000000000u +
                                 (uint64_t)status.st_mtim.tv_nsec};
}

static char *hexadecimal(const uint8_t *bytes, size_t count)
{
    char *text = memory__zeroed(2 * count + 1, 1);
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* Everything but checksum, counts and what was found. */
static struct header expected_header(const struct facts *facts)
{
    struct header header = {.magic = MAGIC, .file = identity_of(facts->path)};
    dl_iterate_phdr(take_build_id, header.maker);
    memcpy(header.build_id, facts->build_id, facts->build_id_bytes);
    char *id = hexadecimal(facts->build_id, facts->build_id_bytes);
    char *debug_path = memory__format("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    header.debug_file = identity_of(debug_path);
    free(debug_path);
    free(id);
    return header;
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
    char *id = hexadecimal(facts->build_id, facts->build_id_bytes);
    char *path = memory__format("%s/%s" SUFFIX, facts->cache, id);
    free(id);
    return path;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Another user's file, or one that others may write, could be made to patch anything. */
static bool is_own(int fd, struct stat *status)
{
    return fstat(fd, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

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

static bool is_expected(const struct header *header, const struct header *expected)
{
    return memcmp(header->magic, expected->magic, sizeof header->magic) == 0 &&
           memcmp(header->maker, expected->maker, sizeof header->maker) == 0 &&
           memcmp(header->build_id, expected->build_id, sizeof header->build_id) == 0 &&
           memcmp(&header->file, &expected->file, sizeof header->file) == 0 &&
           memcmp(&header->debug_file, &expected->debug_file, sizeof header->debug_file) == 0;
}

static bool load(int fd, struct facts *facts)
{
    struct stat status;
    struct header header, expected = expected_header(facts);
    if (!is_own(fd, &status) || (uint64_t)status.st_size < sizeof header ||
        !descriptor__read_all(fd, &header, sizeof header) || !is_expected(&header, &expected) ||
        !read_vecs(fd, &header, (uint64_t)status.st_size - sizeof header, facts))
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
    char *path = path_of(facts);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return false;
    bool loaded = load(fd, facts);
    if (loaded)
        futimens(fd, NULL); /* the oldest are those that were not used for long */
    else
        forget(facts);
    close(fd);
    return loaded;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t result = write(fd, (const char *)bytes + done, count - done);
        if (result < 0 && errno == EINTR)
            continue;
        if (result <= 0)
            return false;
        done += (size_t)result;
    }
    return true;
}

static bool write_facts(int fd, struct facts *facts)
{
    struct vec *vecs[VECS];
    struct header header = expected_header(facts);
    all_vecs(facts, vecs);
    for (int i = 0; i < VECS; i++)
        header.counts[i] = vecs[i]->count;
    header.stripped = facts->stripped;
    header.has_system_calls = facts->has_system_calls;
    header.checksum = checksum_of(&header, facts);
    bool written = write_all(fd, &header, sizeof header);
    for (int i = 0; i < VECS && written; i++)
        written = write_all(fd, vecs[i]->items, vecs[i]->count * vecs[i]->item_bytes);
    return written;
}

/* Makes the directory and those above it, in directories of this user alone: root leaves nothing
 * in the home of somebody else. */
static bool make_directory(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) && status.st_uid == geteuid();
    char *above = memory__text(path), *slash = strrchr(above, '/');
    bool made = slash && slash != above;
    if (made) {
        *slash = 0;
        made = make_directory(above) && (mkdir(path, 0700) == 0 || errno == EEXIST);
    }
    free(above);
    return made;
}

struct entry {
    struct timespec used;
    uint64_t bytes;
    char *path;
};

static int by_age(const void *left, const void *right)
{
    const struct timespec *a = &((const struct entry *)left)->used,
                          *b = &((const struct entry *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static uint64_t list_entries(const char *directory, struct vec *entries)
{
    uint64_t bytes = 0;
    struct dirent *item;
    struct stat status;
    DIR *listing = opendir(directory);
    while (listing && (item = readdir(listing))) {
        if (!strstr(item->d_name, SUFFIX)) /* also what a killed writer left */
            continue;
        char *path = memory__format("%s/%s", directory, item->d_name);
        if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            vec__push(entries, &(struct entry){status.st_mtim, (uint64_t)status.st_size, path});
            bytes += (uint64_t)status.st_size;
        } else
            free(path);
    }
    if (listing)
        closedir(listing);
    return bytes;
}

static void bound_directory(const char *directory, uint64_t limit)
{
    struct vec entries = VEC_OF(struct entry);
    uint64_t bytes = list_entries(directory, &entries);
    if (bytes > limit)
        qsort(entries.items, entries.count, sizeof(struct entry), by_age);
    VEC_EACH (entry, &entries, struct entry) {
        if (bytes > limit && unlink(entry->path) == 0)
            bytes -= entry->bytes;
        free(entry->path);
    }
    vec__free(&entries);
}

void plan_cache__save(struct facts *facts)
{
    if (!facts->cache || !make_directory(facts->cache))
        return;
    char *path = path_of(facts);
    char *temporary = memory__format("%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd >= 0) {
        bool written = write_facts(fd, facts);
        written &= close(fd) == 0;
        if (!written || rename(temporary, path) != 0)
            unlink(temporary);
        bound_directory(facts->cache, PLAN_CACHE_BYTES_MAX);
    }
    free(temporary);
    free(path);
}
