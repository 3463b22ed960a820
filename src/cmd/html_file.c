#include "cmd/html_file.h"

#include "cmd/command.h"
#include "cmd/whole_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define LARGE_BYTES 3000000 /* mail servers take more, people do not like it */

/* 0, or an errno. */
static int write_all(FILE *out, void (*put)(const void *subject, FILE *out), const void *subject)
{
    put(subject, out);
    return fflush(out) != 0 || ferror(out) ? errno ? errno : EIO : 0;
}

static int write_file(const char *directory, const char *path,
                      void (*put)(const void *subject, FILE *out), const void *subject)
{
    struct whole_file file;
    struct stat status;
    int code = whole_file__open(&file, directory, path);
    if (code == 0)
        code = whole_file__close(&file, write_all(file.out, put, subject));
    if (code == 0 && stat(path, &status) == 0 && status.st_size > LARGE_BYTES)
        say("%.100s has %.1f MB", path, (double)status.st_size / 1e6);
    return code;
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
        if (code)
            say("the page could not be written: %s", strerror(code));
        return code ? EXIT_HEURT : 0;
    }
    if (!is_replaceable(path)) {
        say("%.100s is no regular file; give the name of a file, or - for the standard output",
            path);
        return EXIT_HEURT;
    }
    return write_file(directory, path, put, subject);
}
