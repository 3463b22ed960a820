#include "base/descriptor.h"

#include <errno.h>
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

bool descriptor__is_own(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
}
