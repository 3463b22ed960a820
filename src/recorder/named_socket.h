/* named_socket.h: Unix sockets in the directory of a trace, between processes of one user.
 *
 * In goes a socket, a directory and the socket's name there, out comes whether it is bound or
 * connected. It costs some system calls. It stands on libc alone; any thread may call it. */
#ifndef HEURT_RECORDER_NAMED_SOCKET_H
#define HEURT_RECORDER_NAMED_SOCKET_H

#include <stdbool.h>

/* 0, or a negative errno. Nobody but this user may connect. */
int named_socket__bind(int fd, const char *directory, const char *name);
int named_socket__connect(int fd, const char *directory, const char *name);
/* Whether the process at the other end is this user's. */
bool named_socket__is_own(int fd);

#endif
