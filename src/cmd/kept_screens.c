#include "cmd/kept_screens.h"

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/layout.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_BYTES_MAX ((size_t)16 << 20)
#define FORMAT "heurt screens 1"

/* ---- what they are the screens of ------------------------------------------------------------ */

/* A copy of the file, or another state of it, has other figures: nobody can choose the time of its
 * last change. */
static char *add_file(char *key, const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return text__append(key, " -");
    return text__append(key, " %ju:%ju:%jd:%jd.%09ld", (uintmax_t)status.st_dev,
                        (uintmax_t)status.st_ino, (intmax_t)status.st_size,
                        (intmax_t)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

static char *key_of(const char *directory)
{
    static const char *const names[] = {HEURT_EVENTS_FILE, HEURT_SYMBOLS_FILE, HEURT_RULES_FILE};
    char *key = add_file(memory__text(FORMAT " " HEURT_PROGRAM_VERSION), "/proc/self/exe");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = memory__format("%s/%s", directory, names[i]);
        key = add_file(key, path);
        free(path);
    }
    key = text__append(key, " %s", directory);
    for (char *at = key; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return key;
}

static char *path_of(const char *directory)
{
    return memory__format("%s/" HEURT_SCREENS_FILE, directory);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The whole file as a text; NULL: it is none of one's own, too long, or holds zeroes. */
static char *read_own(int descriptor)
{
    struct stat status;
    if (!descriptor__is_own(descriptor) || fstat(descriptor, &status) < 0 ||
        status.st_mode & (S_IWGRP | S_IWOTH) || (size_t)status.st_size > KEPT_BYTES_MAX)
        return NULL;
    size_t bytes = (size_t)status.st_size;
    char *text = memory__zeroed(bytes + 1, 1);
    if (descriptor__read_all(descriptor, text, bytes) && strlen(text) == bytes)
        return text;
    free(text);
    return NULL;
}

/* The screen that begins there, and behind it the next one; NULL: it is not whole. */
static const char *read_screen(const char *at, struct vec *screens)
{
    char *end;
    size_t bytes = strtoul(at, &end, 10);
    const char *line = strchr(at, '\n');
    if (end == at || *end != ' ' || !line || strnlen(line + 1, bytes) < bytes)
        return NULL;
    kept_screens__add(screens, memory__format("%.*s", (int)(line - end - 1), end + 1),
                      memory__format("%.*s", (int)bytes, line + 1));
    return line + 1 + bytes;
}

static void read_screens(const char *text, const char *key, struct vec *screens)
{
    size_t length = strlen(key);
    if (strncmp(text, key, length) != 0 || text[length] != '\n')
        return;
    for (const char *at = text + length + 1; *at;)
        if (!(at = read_screen(at, screens))) {
            kept_screens__free(screens);
            return;
        }
}

struct vec kept_screens__read(const char *directory)
{
    struct vec screens = VEC_OF(struct kept_screen);
    char *path = path_of(directory), *text = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor >= 0) {
        text = read_own(descriptor);
        close(descriptor);
    }
    if (text) {
        char *key = key_of(directory);
        read_screens(text, key, &screens);
        free(key);
    }
    free(text);
    free(path);
    return screens;
}

char *kept_screens__name(const char *what, bool is_screen, const struct style *style)
{
    if (!is_screen)
        return memory__text(what);
    return memory__format("%s %u%s%s", what, style->columns, style->colour ? " colour" : "",
                          style->unicode ? " unicode" : "");
}

const char *kept_screens__find(const struct vec *screens, const char *name)
{
    VEC_EACH (screen, screens, const struct kept_screen)
        if (strcmp(screen->name, name) == 0)
            return screen->text;
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

void kept_screens__add(struct vec *screens, char *name, char *text)
{
    VEC_EACH (screen, screens, struct kept_screen)
        if (strcmp(screen->name, name) == 0) {
            free(name);
            free(screen->text);
            screen->text = text;
            return;
        }
    vec__push(screens, &(struct kept_screen){name, text});
}

static size_t bytes_of(const struct kept_screen *screen)
{
    return strlen(screen->name) + strlen(screen->text) + 32;
}

/* The first one of the last ones that have room together. */
static size_t first_with_room(const struct vec *screens, size_t room)
{
    size_t first = screens->count;
    while (first > 0) {
        size_t bytes = bytes_of(VEC_AT(screens, struct kept_screen, first - 1));
        if (bytes > room)
            break;
        room -= bytes;
        first--;
    }
    return first;
}

static bool put_screens(int descriptor, const char *key, const struct vec *screens)
{
    FILE *out = fdopen(descriptor, "w");
    if (!out) {
        close(descriptor);
        return false;
    }
    fprintf(out, "%s\n", key);
    for (size_t i = first_with_room(screens, KEPT_BYTES_MAX - strlen(key) - 1); i < screens->count;
         i++) {
        const struct kept_screen *screen = VEC_AT(screens, struct kept_screen, i);
        fprintf(out, "%zu %s\n%s", strlen(screen->text), screen->name, screen->text);
    }
    bool failed = ferror(out);
    return fclose(out) == 0 && !failed;
}

/* Where others can write, a name may be a trap. */
static bool is_own_alone(const char *directory)
{
    struct stat status;
    return stat(directory, &status) == 0 && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IWGRP | S_IWOTH));
}

void kept_screens__write(const char *directory, const struct vec *screens)
{
    if (!is_own_alone(directory))
        return;
    char *path = path_of(directory), *key = key_of(directory);
    char *fresh = memory__format("%s.new", path);
    unlink(fresh); /* of a heurt that was killed */
    int descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor >= 0 && (!put_screens(descriptor, key, screens) || rename(fresh, path) < 0))
        unlink(fresh);
    free(fresh);
    free(key);
    free(path);
}

void kept_screens__free(struct vec *screens)
{
    VEC_EACH (screen, screens, struct kept_screen) {
        free(screen->name);
        free(screen->text);
    }
    vec__free(screens);
}
