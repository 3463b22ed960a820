/* kept_file.h: what was found out about a file of code, kept from run to run in a directory of the
 * user's own, one file for each build-id.
 *
 * In go a file's path and build-id, out comes what tells whether what is kept is still about that
 * file; and the kept file, to be read or replaced at once. What is there is used only when it is
 * this user's and made by this very build of heurt, of the same file and the same debug file (of
 * its build-id; one that is only linked by name is not looked at). Nothing here fails loudly:
 * without it everything only takes longer. It costs a few system calls and stands on libc. */
#ifndef HEURT_SYMBOL_KEPT_FILE_H
#define HEURT_SYMBOL_KEPT_FILE_H

#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct kept_identity {
    uint8_t maker[HEURT_BUILD_ID_MAX]; /* build-id of the heurt that wrote it */
    uint8_t build_id[HEURT_BUILD_ID_MAX];
    struct kept_version {
        uint64_t bytes;
        uint64_t changed_ns;
    } file, debug_file; /* zeroes: there is none */
};

struct kept_identity kept_identity__of(const char *path, const uint8_t *build_id, size_t bytes);

/* Its place in the directory, with such an ending (".plan"); free() it. */
char *kept_file__path(const char *directory, const uint8_t *build_id, size_t bytes,
                      const char *ending);

/* Opened for reading, and its age set back; -1: there is none that is this user's alone. */
int kept_file__open(const char *path, struct stat *status);

/* Replaces it at once by what write puts into the descriptor, unless that returns false; makes the
 * directory, and where that has one file more then, removes files of that ending, those first that
 * were not used for longest, until they have no more than most_bytes. */
void kept_file__save(const char *directory, const char *path, const char *ending,
                     uint64_t most_bytes, bool (*write)(int fd, void *context), void *context);

#endif
