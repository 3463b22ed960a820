#include "symbol/kept_file.h"

#include "base/memory.h"
#include "base/vec.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static struct kept_version version_of(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return (struct kept_version){0};
    return (struct kept_version){(uint64_t)status.st_size,
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

struct kept_identity kept_identity__of(const char *path, const uint8_t *build_id, size_t bytes)
{
    struct kept_identity identity = {.file = version_of(path)};
    dl_iterate_phdr(take_build_id, identity.maker);
    memcpy(identity.build_id, build_id, bytes);
    char *id = hexadecimal(build_id, bytes);
    char *debug_path = memory__format("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    identity.debug_file = version_of(debug_path);
    free(debug_path);
    free(id);
    return identity;
}

/* ---- the file -------------------------------------------------------------------------------- */

char *kept_file__path(const char *directory, const uint8_t *build_id, size_t bytes,
                      const char *ending)
{
    char *id = hexadecimal(build_id, bytes);
    char *path = memory__format("%s/%s%s", directory, id, ending);
    free(id);
    return path;
}

/* Another user's file, or one that others may write, could be made to say anything. */
static bool is_own(int fd, struct stat *status)
{
    return fstat(fd, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

int kept_file__open(const char *path, struct stat *status)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && !is_own(fd, status)) {
        close(fd);
        return -1;
    }
    if (fd >= 0)
        futimens(fd, NULL);
    return fd;
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

struct kept_entry {
    struct timespec used;
    uint64_t bytes;
    char *path;
};

static int by_age(const void *left, const void *right)
{
    const struct timespec *a = &((const struct kept_entry *)left)->used,
                          *b = &((const struct kept_entry *)right)->used;
    return ORDER(a->tv_sec, b->tv_sec) ?: ORDER(a->tv_nsec, b->tv_nsec);
}

static uint64_t list_entries(const char *directory, const char *ending, struct vec *entries)
{
    uint64_t bytes = 0;
    struct dirent *item;
    struct stat status;
    DIR *listing = opendir(directory);
    while (listing && (item = readdir(listing))) {
        if (!strstr(item->d_name, ending)) /* also what a killed writer left */
            continue;
        char *path = memory__format("%s/%s", directory, item->d_name);
        if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            vec__push(entries,
                      &(struct kept_entry){status.st_mtim, (uint64_t)status.st_size, path});
            bytes += (uint64_t)status.st_size;
        } else
            free(path);
    }
    if (listing)
        closedir(listing);
    return bytes;
}

static void bound_directory(const char *directory, const char *ending, uint64_t limit)
{
    struct vec entries = VEC_OF(struct kept_entry);
    uint64_t bytes = list_entries(directory, ending, &entries);
    if (bytes > limit)
        qsort(entries.items, entries.count, sizeof(struct kept_entry), by_age);
    VEC_EACH (entry, &entries, struct kept_entry) {
        if (bytes > limit && unlink(entry->path) == 0)
            bytes -= entry->bytes;
        free(entry->path);
    }
    vec__free(&entries);
}

void kept_file__save(const char *directory, const char *path, const char *ending,
                     uint64_t most_bytes, bool (*write)(int fd, void *context), void *context)
{
    if (!make_directory(directory))
        return;
    char *temporary = memory__format("%s.XXXXXX", path);
    bool is_more = access(path, F_OK) != 0; /* to look at all each time would take long */
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd >= 0) {
        bool written = write(fd, context);
        written &= close(fd) == 0;
        if (!written || rename(temporary, path) != 0)
            unlink(temporary);
        if (is_more)
            bound_directory(directory, ending, most_bytes);
    }
    free(temporary);
}
