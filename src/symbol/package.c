#include "symbol/package.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static char *named_after(const char *list)
{
    size_t architecture = strcspn(list, ":"), length = strlen(list) - strlen(LIST);
    return memory__format("%.*s-dbgsym", (int)(architecture < length ? architecture : length),
                          list);
}

char *package__with_names(const char *lists, const char *path)
{
    char *package = NULL;
    DIR *directory = *path == '/' ? opendir(lists) : NULL;
    if (!directory)
        return NULL;
    for (struct dirent *entry; !package && (entry = readdir(directory));)
        if (is_list(entry->d_name) && list_has(lists, entry->d_name, path))
            package = named_after(entry->d_name);
    closedir(directory);
    return package;
}
