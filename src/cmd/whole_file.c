/* whole_file.c: see whole_file.h. */
#include "cmd/whole_file.h"

#include "base/memory.h"
#include "cmd/command.h"
#include "format/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int not_written(const char *path, int code)
{
    say("%.100s could not be written: %s", path, strerror(code));
    return EXIT_HEURT;
}

static bool is_replaceable(const char *path)
{
    struct stat status;
    return stat(path, &status) < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

static int open_beside(struct whole_file *file)
{
    file->beside = memory__format("%s.%d.part", file->path, (int)getpid());
    int number = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    file->out = number >= 0 ? fdopen(number, "w") : NULL;
    return file->out ? 0 : errno;
}

int whole_file__open(struct whole_file *file, const char *directory, const char *path)
{
    struct stat status;
    *file = (struct whole_file){.path = path};
    if (trace_directory__holds(directory, path)) {
        say("%.100s is a file of the trace itself, which would be lost; give another name", path);
        return EXIT_HEURT;
    }
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return not_written(path, EISDIR);
    int code = 0;
    if (is_replaceable(path))
        code = open_beside(file);
    else if (!(file->out = fopen(path, "we")))
        code = errno;
    if (!code)
        return 0;
    free(file->beside);
    return not_written(path, code);
}

int whole_file__close(struct whole_file *file, int failed)
{
    if (fclose(file->out) != 0 && !failed)
        failed = errno;
    if (file->beside && !failed && rename(file->beside, file->path) < 0)
        failed = errno;
    if (file->beside && failed)
        unlink(file->beside);
    free(file->beside);
    return failed ? not_written(file->path, failed) : 0;
}
