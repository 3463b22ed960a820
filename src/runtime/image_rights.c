/* image_rights.c: whether a program that is about to be run gets rights that its caller lacks: the
 * loader keeps our library out of such an image, and nothing of the recording is its business.
 */
#include "runtime/new_image.h"
#include "runtime/raw.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As the kernel decides it from the real ids (security/commoncap.c), but for no_new_privs. */
bool image__gains_rights(int directory, const char *path, int flags)
{
    struct stat status;
    flags &= AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
    if (RAW4(newfstatat, directory, path, &status, flags) != 0)
        return false;
    uid_t user = (uid_t)RAW0(getuid);
    gid_t group = (gid_t)RAW0(getgid);
    const mode_t as_group = S_ISGID | S_IXGRP;
    if ((status.st_mode & S_ISUID && status.st_uid != user) ||
        ((status.st_mode & as_group) == as_group && status.st_gid != group))
        return true;
    static const char capabilities[] = "security.capability";
    return user != 0 && (*path ? RAW4(getxattr, path, capabilities, NULL, 0)
                               : RAW4(fgetxattr, directory, capabilities, NULL, 0)) > 0;
}

/* Writes the next entry of a list like PATH and the file's name behind it; where the next one
 * begins, NULL behind the last. */
static const char *next_candidate(const char *list, const char *file, char *candidate)
{
    size_t part = strcspn(list, ":"), length = text__length(file);
    *candidate = 0;
    if (part + length + 2 <= PATH_BYTES) {
        bytes__copy(candidate, list, part);
        candidate[part] = '/';
        bytes__copy(candidate + part + (part > 0), file, length + 1);
    }
    return list[part] ? list + part + 1 : NULL;
}

/* The same of a file that is looked for along PATH, as execvp does. */
bool image__gains_rights_by_name(const char *file, struct image_room *room)
{
    char *candidate = room->path;
    if (strchr(file, '/'))
        return image__gains_rights(AT_FDCWD, file, 0);
    const char *list = getenv("PATH");
    for (list = list ? list : "/bin:/usr/bin"; list;) {
        list = next_candidate(list, file, candidate);
        if (*candidate && RAW2(access, candidate, 1 /* X_OK */) == 0)
            return image__gains_rights(AT_FDCWD, candidate, 0);
    }
    return false;
}
