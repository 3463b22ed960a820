#include "recorder/named_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Names of sockets are short: where the directory's is long, its descriptor stands for it, which is
 * returned; else -1. */
static int make_address(const char *directory, const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path, sizeof address->sun_path, "%s/%s", directory, name);
    if ((size_t)length < sizeof address->sun_path)
        return -1;
    int place = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", place, name);
    return place;
}

int named_socket__bind(int fd, const char *directory, const char *name)
{
    struct sockaddr_un address;
    int place = make_address(directory, name, &address), code = 0;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(address.sun_path, 0600) != 0)
        code = -errno;
    if (place >= 0)
        close(place);
    return code;
}

int named_socket__connect(int fd, const char *directory, const char *name)
{
    struct sockaddr_un address;
    int place = make_address(directory, name, &address), code;
    do
        code = connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
    while (code == -EINTR);
    if (place >= 0)
        close(place);
    return code;
}

bool named_socket__is_own(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}
