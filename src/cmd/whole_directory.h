/* whole_directory.h: a directory that is there as a whole or not at all: for formats of many files.
 *
 * In goes a path, out comes the name of an empty directory beside it, which gets the path's name
 * when all is written. Nothing that stands at the path is ever replaced. It stands on base/. */
#ifndef HEURT_CMD_WHOLE_DIRECTORY_H
#define HEURT_CMD_WHOLE_DIRECTORY_H

struct whole_directory {
    const char *path;
    char *beside;
};

/* 0, or EXIT_HEURT after a sentence; path outlives it. */
int whole_directory__open(struct whole_directory *directory, const char *path);
/* failed: an errno with which writing failed, or 0. Then the directory is renamed, else removed,
 * with all that is in it. 0, or EXIT_HEURT after a sentence. */
int whole_directory__close(struct whole_directory *directory, int failed);

#endif
