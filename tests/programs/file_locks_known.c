/* file_locks_known.c: two processes and one file: waits for its lock that are certain, by fcntl,
 * flock and lockf. */
#include "known.h"

#include <sys/file.h>
#include <sys/wait.h>

enum { WAYS = 3, ROUNDS = 4 };

static int file, tells[2], asks[2];

static int set_lock(int way, bool locks)
{
    struct flock lock = {.l_type = locks ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET};
    return way == 0   ? fcntl(file, F_SETLKW, &lock)
           : way == 1 ? flock(file, locks ? LOCK_EX : LOCK_UN)
                      : lockf(file, locks ? F_LOCK : F_ULOCK, 0);
}

static void tell(int to)
{
    KNOWN_CHECK(syscall(SYS_write, to, "x", 1) == 1);
}

static void hear(int from)
{
    char byte;
    KNOWN_CHECK(syscall(SYS_read, from, &byte, 1) == 1);
}

static void wait_each_time(const char *path)
{
    file = (int)syscall(SYS_open, path, O_RDWR); /* flock's are of the open file */
    for (int i = 0; i < WAYS * ROUNDS; i++) {
        hear(asks[0]);
        KNOWN_CHECK(set_lock(i % WAYS, true) == 0);
        KNOWN_CHECK(set_lock(i % WAYS, false) == 0);
        tell(tells[1]);
    }
    exit(0);
}

/* Until the kernel lists a process that is blocked by a lock of this one: "-> " and its pid. */
static void await_blocked(int pid)
{
    char text[8192], line[32];
    snprintf(line, sizeof line, " %d ", pid);
    for (;;) {
        long from = syscall(SYS_open, "/proc/locks", O_RDONLY);
        long got = syscall(SYS_read, from, text, sizeof text - 1);
        syscall(SYS_close, from);
        text[got > 0 ? got : 0] = 0;
        for (char *at = text; (at = strstr(at, "->")); at++)
            if (strstr(at, line) && strstr(at, line) < at + strcspn(at, "\n"))
                return;
        known__yield();
    }
}

int main(void)
{
    static const char path[] = "file_locks_known.tmp";
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status;
    file = (int)syscall(SYS_open, path, O_RDWR | O_CREAT, 0600);
    KNOWN_CHECK(file >= 0 && syscall(SYS_pipe, tells) == 0 && syscall(SYS_pipe, asks) == 0);
    pid_t child = fork();
    if (child == 0)
        wait_each_time(path);
    for (int i = 0; i < WAYS * ROUNDS; i++) {
        KNOWN_CHECK(set_lock(i % WAYS, true) == 0);
        tell(asks[1]);
        await_blocked(child);
        KNOWN_CHECK(set_lock(i % WAYS, false) == 0);
        hear(tells[0]);
    }
    KNOWN_CHECK(wait(&status) == child && status == 0);
    KNOWN_CHECK(fcntl(file, F_SETLK, &lock) == 0 && fcntl(file, F_GETFD) == 0);
    KNOWN_CHECK(fcntl(-1, F_SETLKW, &lock) == -1 && errno == EBADF);
    KNOWN_CHECK(flock(-1, LOCK_EX) == -1 && errno == EBADF);
    unlink(path);
    known__number("waits", WAYS * ROUNDS);
    return 0;
}
