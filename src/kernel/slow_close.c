/* A socket on its way through itself is garbage as soon as nobody has it open, and everything that
 * is on its way with it: the kernel collects that in a work queue (net/unix/garbage.c). */
#include "kernel/slow_close.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SENT_AT_ONCE = 250 }; /* SCM_MAX_FD is 253; one is the socket */

static void send_through_itself(const int ends[2], const int *descriptors, size_t count)
{
    union {
        char bytes[CMSG_SPACE((SENT_AT_ONCE + 1) * sizeof(int))];
        struct cmsghdr aligned;
    } room;
    struct iovec byte = {.iov_base = "", .iov_len = 1};
    size_t bytes = (count + 1) * sizeof *descriptors;
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = CMSG_SPACE(bytes)};
    memset(&room, 0, sizeof room);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &ends[1], sizeof ends[1]);
    memcpy(CMSG_DATA(header) + sizeof ends[1], descriptors, bytes - sizeof ends[1]);
    sendmsg(ends[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void slow_close(const int *descriptors, size_t count)
{
    int ends[2] = {-1, -1};
    if (count && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0)
        for (size_t at = 0; at < count; at += SENT_AT_ONCE)
            send_through_itself(ends, descriptors + at,
                                count - at < SENT_AT_ONCE ? count - at : SENT_AT_ONCE);
    for (size_t i = 0; i < count; i++)
        close(descriptors[i]);
    if (ends[0] >= 0) {
        close(ends[1]);
        close(ends[0]); /* which makes the kernel look */
    }
}
