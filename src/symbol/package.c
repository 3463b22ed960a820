#include "symbol/package.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIST ".list"

static bool is_list(const char *name)
{
    size_t length = strlen(name), ending = strlen(LIST);
    return length > ending && strcmp(name + length - ending, LIST) == 0;
}

/* /lib is a link to /usr/lib, and a list has the one or the other. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool has_line(FILE *list, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    for (ssize_t bytes; !found && (bytes = getline(&line, &room, list)) > 0;) {
        line[bytes - 1] = line[bytes - 1] == '\n' ? 0 : line[bytes - 1];
        found = strcmp(without_usr(line), without_usr(path)) == 0;
    }
    free(line);
    return found;
}

static bool list_has(const char *lists, const char *name, const char *path)
{
    char *file = memory__format("%s/%s", lists, name);
    FILE *list = fopen(file, "re");
    bool found = list && has_line(list, path);
    if (list)
        fclose(list);
    free(file);
    return found;
}

/* The C library's is older than the others, and is named otherwise. */
static char *named_after(const char *list)
{
    size_t architecture = strcspn(list, ":"), length = strlen(list) - strlen(LIST);
    size_t bytes = architecture < length ? architecture : length;
    bool is_libc = bytes == strlen("libc6") && memcmp(list, "libc6", bytes) == 0;
    return memory__format("%.*s-%s", (int)bytes, list, is_libc ? "dbg" : "dbgsym");
}

/* Most packages begin as their files do: "libx264-164" has libx264.so.164. */
#define ALIKE_BYTES 5

static bool is_alike(const char *list, const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncasecmp(list, slash + 1, ALIKE_BYTES) == 0;
}

/* In those lists that are named as the file is, or in all others. */
static char *search(DIR *directory, const char *lists, const char *path, bool in_alike)
{
    char *package = NULL;
    rewinddir(directory);
    for (struct dirent *entry; !package && (entry = readdir(directory));)
        if (is_list(entry->d_name) && is_alike(entry->d_name, path) == in_alike &&
            list_has(lists, entry->d_name, path))
            package = named_after(entry->d_name);
    return package;
}

char *package__with_names(const char *lists, const char *path)
{
    DIR *directory = *path == '/' ? opendir(lists) : NULL;
    if (!directory)
        return NULL;
    char *package = search(directory, lists, path, true);
    if (!package)
        package = search(directory, lists, path, false);
    closedir(directory);
    return package;
}
