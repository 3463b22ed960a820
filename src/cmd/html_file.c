#include "cmd/html_file.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "format/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_BYTES 3000000 /* mail servers take more, people do not like it */

static int not_written(const char *path, int code)
{
    say("%.100s could not be written: %s", path, strerror(code));
    return EXIT_HEURT;
}

/* 0, or an errno. */
static int write_all(FILE *out, void (*put)(const void *subject, FILE *out), const void *subject)
{
    put(subject, out);
    return fflush(out) != 0 || ferror(out) ? errno ? errno : EIO : 0;
}

static int write_beside(const char *beside, void (*put)(const void *subject, FILE *out),
                        const void *subject)
{
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!out)
        return errno;
    int code = write_all(out, put, subject);
    if (fclose(out) != 0 && !code)
        code = errno;
    return code;
}

static int write_file(const char *path, void (*put)(const void *subject, FILE *out),
                      const void *subject)
{
    struct stat status;
    char *beside = memory__format("%s.%d.tmp", path, (int)getpid());
    int code = write_beside(beside, put, subject);
    if (!code && (stat(beside, &status) < 0 || rename(beside, path) < 0))
        code = errno;
    if (code && code != EEXIST)
        unlink(beside);
    free(beside);
    if (code)
        return not_written(path, code);
    if (status.st_size > LARGE_BYTES)
        say("%.100s has %.1f MB", path, (double)status.st_size / 1e6);
    return 0;
}

/* A device or a pipe would be replaced by a file. */
static bool is_replaceable(const char *path)
{
    struct stat status;
    return lstat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
}

int html_file__write(const char *directory, const char *path,
                     void (*put)(const void *subject, FILE *out), const void *subject)
{
    if (strcmp(path, "-") == 0) {
        int code = write_all(stdout, put, subject);
        return code ? not_written("the page", code) : 0;
    }
    if (trace_directory__holds(directory, path)) {
        say("%.100s is a file of the trace itself, which would be lost; give another name", path);
        return EXIT_HEURT;
    }
    if (!is_replaceable(path)) {
        say("%.100s is no regular file; give the name of a file, or - for the standard output",
            path);
        return EXIT_HEURT;
    }
    return write_file(path, put, subject);
}
