#include "cmd/kept_ranks.h"

#include "analysis/analysis.h"
#include "base/memory.h"
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const char *directory, const char *suffix)
{
    return memory__format("%s/" HEURT_RANKS_FILE "%s", directory, suffix);
}

int kept_ranks__write(const char *directory, const struct trace *trace, const struct mpi_use *use)
{
    size_t size;
    char *bytes = mpi_use__bytes(use, trace, &size);
    char *path = path_of(directory, ""), *new = path_of(directory, ".new");
    unlink(new);
    int file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    bool is_written = out && fwrite(bytes, 1, size, out) == size;
    is_written = out && fclose(out) == 0 && is_written && rename(new, path) == 0;
    if (!is_written) {
        say("the tables of ranks could not be written to %.100s: %s", path, strerror(errno));
        unlink(new);
    }
    free(path);
    free(new);
    free(bytes);
    return is_written ? 0 : EXIT_HEURT;
}

struct mpi_use *kept_ranks__read(const char *directory, const struct trace *trace)
{
    struct mpi_use *use = NULL;
    struct stat status;
    char *path = path_of(directory, "");
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH))) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            use = mpi_use__of_bytes(bytes, size, trace);
            munmap(bytes, size);
        }
    }
    close(file);
    return use;
}
