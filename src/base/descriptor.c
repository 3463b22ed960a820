#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool descriptor__read_all(int descriptor, void *bytes, size_t count)
{
    for (size_t got = 0; got < count;) {
        ssize_t result = read(descriptor, (char *)bytes + got, count - got);
        if (result < 0 && errno == EINTR)
            continue;
        if (result <= 0)
            return false;
        got += (size_t)result;
    }
    return true;
}

bool descriptor__write_all(int descriptor, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t result = write(descriptor, (const char *)bytes + done, count - done);
        if (result < 0 && errno == EINTR)
            continue;
        if (result < 0)
            return false;
        done += (size_t)result;
    }
    return true;
}

int descriptor__open_plain(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return -1;
    errno = EINVAL;
    if (!S_ISREG(status.st_mode))
        return -1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0 || (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)))
        return descriptor;
    close(descriptor); /* it has been swapped meanwhile */
    errno = EINVAL;
    return -1;
}

bool descriptor__is_own(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
}
