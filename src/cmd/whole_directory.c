#include "cmd/whole_directory.h"

#include "base/memory.h"
#include "cmd/command.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int whole_directory__open(struct whole_directory *directory, const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0) {
        say("%.100s is there already; give the name of a new directory with -o", path);
        return EXIT_HEURT;
    }
    *directory = (struct whole_directory){path, memory__format("%s.%d.part", path, (int)getpid())};
    if (mkdir(directory->beside, 0777) == 0)
        return 0;
    say("%.100s could not be written: %s", path, strerror(errno));
    free(directory->beside);
    return EXIT_HEURT;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status, (void)type, (void)at;
    return remove(path);
}

int whole_directory__close(struct whole_directory *directory, int failed)
{
    if (!failed && rename(directory->beside, directory->path) < 0)
        failed = errno;
    if (failed) {
        nftw(directory->beside, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        say("%.100s could not be written: %s", directory->path, strerror(failed));
    }
    free(directory->beside);
    return failed ? EXIT_HEURT : 0;
}
