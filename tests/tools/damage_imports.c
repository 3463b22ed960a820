/* damage_imports [--first N] CASES SEED SOURCE ROOM: imports damaged copies of a file or directory
 * that another tool recorded, one after the other, each in a process of its own.
 *
 * A case is the seed and its number: one to three of the source's files are damaged, each in one to
 * four places. What an importer of heurt's own does then must end in 10 s and 1 GB, without a
 * signal; one that reads by a library may be ended by that, or go round in it for ever, which heurt
 * import ends and tells (counted as "by the library"). What fails is printed, and the damaged
 * source is kept in ROOM/case-NUMBER. The last line counts; the status is 1 when anything failed.
 */
#include "base/memory.h"
#include "base/text.h"
#include "base/vec.h"
#include "import/import.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 10
#define DATA_BYTES_MAX (1ull << 30)

struct source_file {
    char *path; /* below the source; "" where that is a file */
    struct vec bytes;
};

static struct vec files = VEC_OF(struct source_file);
static uint64_t state; /* of the random numbers */

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return below ? (z ^ z >> 31) % below : 0;
}

static void fail(const char *what)
{
    fprintf(stderr, "damage_imports: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- the source ------------------------------------------------------------------------------ */

static void read_file(const char *path, const char *name)
{
    struct source_file file = {memory__text(name), VEC_OF(char)};
    char block[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(path);
    for (ssize_t bytes; (bytes = read(fd, block, sizeof block)) > 0;)
        memcpy(vec__extend(&file.bytes, (size_t)bytes), block, (size_t)bytes);
    close(fd);
    vec__push(&files, &file);
}

static void read_source(const char *root, const char *name)
{
    struct stat status;
    char *path = *name ? memory__format("%s/%s", root, name) : memory__text(root);
    if (stat(path, &status) < 0)
        fail(path);
    if (!S_ISDIR(status.st_mode)) {
        read_file(path, name);
        free(path);
        return;
    }
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *inner =
            *name ? memory__format("%s/%s", name, entry->d_name) : memory__text(entry->d_name);
        if (entry->d_name[0] != '.')
            read_source(root, inner);
        free(inner);
    }
    closedir(directory);
    free(path);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void change_bytes(struct vec *bytes)
{
    size_t at = draw(bytes->count);
    for (uint64_t i = 0, count = 1 + draw(8); i < count && at + i < bytes->count; i++)
        *VEC_AT(bytes, char, at + i) = (char)draw(256);
}

static void flip_bit(struct vec *bytes)
{
    *VEC_AT(bytes, char, draw(bytes->count)) ^= (char)(1 << draw(8));
}

/* A number as files have them, that is a little or much too large. */
static void change_number(struct vec *bytes)
{
    static const uint64_t numbers[] = {0,          1,          0xff,       0x7fff,     0xffff,
                                       0x7fffffff, 0xffffffff, 1ull << 40, 1ull << 63, ~0ull};
    size_t width = 1ull << draw(4), at = draw(bytes->count);
    uint64_t number = numbers[draw(sizeof numbers / sizeof numbers[0])];
    if (at + width <= bytes->count)
        memcpy(VEC_AT(bytes, char, at), &number, width);
}

static void cut_piece(struct vec *bytes)
{
    size_t at = draw(bytes->count), length = 1 + draw(draw(2) ? 16 : bytes->count - at);
    length = length < bytes->count - at ? length : bytes->count - at;
    memmove(VEC_AT(bytes, char, at), VEC_AT(bytes, char, at + length), bytes->count - at - length);
    bytes->count -= length;
}

static void copy_piece(struct vec *bytes)
{
    size_t from = draw(bytes->count), to = draw(bytes->count), length = 1 + draw(64);
    size_t room = bytes->count - (from > to ? from : to);
    memmove(VEC_AT(bytes, char, to), VEC_AT(bytes, char, from), length < room ? length : room);
}

static void damage_once(struct vec *bytes)
{
    static void (*const ways[])(struct vec *) = {change_bytes, flip_bit, change_number, cut_piece,
                                                 copy_piece};
    if (bytes->count && draw(12) == 0)
        bytes->count = draw(bytes->count);
    else if (bytes->count)
        ways[draw(sizeof ways / sizeof ways[0])](bytes);
}

static struct vec damaged_copy(const struct vec *bytes)
{
    struct vec copy = VEC_OF(char);
    if (bytes->count)
        memcpy(vec__extend(&copy, bytes->count), bytes->items, bytes->count);
    for (uint64_t i = 0, count = 1 + draw(4); i < count; i++)
        damage_once(&copy);
    return copy;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void make_directories(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            fail(path);
        *at = '/';
    }
}

static void write_one(const char *target, const struct source_file *file, const struct vec *bytes)
{
    char *path = *file->path ? memory__format("%s/%s", target, file->path) : memory__text(target);
    make_directories(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes->items, bytes->count) != (ssize_t)bytes->count)
        fail(path);
    close(fd);
    free(path);
}

/* damaged: by place, what is written in place of the file; of the others, what they are. */
static void write_source(const char *target, const bool *damaged, bool whole)
{
    for (size_t i = 0; i < files.count; i++) {
        const struct source_file *file = VEC_AT(&files, struct source_file, i);
        struct vec copy = damaged[i] ? damaged_copy(&file->bytes) : file->bytes;
        if (damaged[i] || whole)
            write_one(target, file, &copy);
        if (damaged[i])
            vec__free(&copy);
    }
}

static int import_here(const char *target, const char *trace)
{
    struct import_source source;
    struct import_outcome outcome;
    struct error error;
    const struct rlimit limit = {DATA_BYTES_MAX, DATA_BYTES_MAX};
    setrlimit(RLIMIT_DATA, &limit);
    alarm(SECONDS_MAX);
    if (import_source__open(target, &source, &error) < 0)
        return 1;
    const struct importer *importer = importer__of(&source);
    return importer ? importer__run(importer, &source, trace, &outcome, &error) < 0 : 1;
}

static const char *library_of(const char *target)
{
    struct import_source source;
    struct error error;
    if (import_source__open(target, &source, &error) < 0)
        return NULL;
    const struct importer *importer = importer__of(&source);
    return importer ? importer->library : NULL;
}

/* The status of the process that imports it. */
static int try_import(const char *target, const char *trace)
{
    int status = 0;
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0)
        _exit(import_here(target, trace));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void remove_trace(const char *trace)
{
    char *command = memory__format("rm -rf '%s' '%s.old'", trace, trace);
    if (access(trace, F_OK) == 0 && system(command) != 0)
        fail(command);
    free(command);
}

struct counts {
    uint64_t read, refused, by_library, failed;
};

static void keep(const char *target, const char *room, uint64_t number, int status)
{
    char *command = memory__format("cp -r '%s' '%s/case-%" PRIu64 "'", target, room, number);
    printf("case %" PRIu64 ": %s %d, kept in %s/case-%" PRIu64 "\n", number,
           WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), room, number);
    fflush(stdout);
    if (system(command) != 0)
        fail(command);
    free(command);
}

static void run_case(const char *room, uint64_t seed, uint64_t number, struct counts *counts)
{
    char *target = memory__format("%s/source", room), *trace = memory__format("%s/trace", room);
    bool *damaged = memory__zeroed(files.count, sizeof *damaged);
    state = seed ^ number * 0xd1342543de82ef95ull;
    for (uint64_t i = 0, count = 1 + draw(3); i < count; i++)
        damaged[draw(files.count)] = true;
    write_source(target, damaged, false);
    int status = try_import(target, trace);
    bool was_library = WIFSIGNALED(status) && library_of(target);
    if (was_library)
        counts->by_library++;
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1) {
        counts->failed++;
        keep(target, room, number, status);
    } else
        *(WEXITSTATUS(status) ? &counts->refused : &counts->read) += 1;
    remove_trace(trace);
    for (size_t i = 0; i < files.count; i++)
        if (damaged[i]) {
            const struct source_file *file = VEC_AT(&files, struct source_file, i);
            write_one(target, file, &file->bytes);
        }
    free(damaged);
    free(target);
    free(trace);
}

int main(int argc, char **argv)
{
    uint64_t first = 0;
    if (argc > 2 && strcmp(argv[1], "--first") == 0) {
        first = strtoull(argv[2], NULL, 10);
        argc -= 2;
        argv += 2;
    }
    if (argc != 5) {
        fprintf(stderr, "usage: damage_imports [--first N] CASES SEED SOURCE ROOM\n");
        return 2;
    }
    struct counts counts = {0};
    uint64_t cases = strtoull(argv[1], NULL, 10), seed = strtoull(argv[2], NULL, 10);
    read_source(argv[3], "");
    char *target = memory__format("%s/source", argv[4]);
    bool *none = memory__zeroed(files.count, sizeof *none);
    write_source(target, none, true);
    for (uint64_t i = first; i < first + cases; i++)
        run_case(argv[4], seed, i, &counts);
    printf("%s: %" PRIu64 " read, %" PRIu64 " refused, %" PRIu64 " by the library, %" PRIu64
           " failed\n",
           argv[3], counts.read, counts.refused, counts.by_library, counts.failed);
    free(none);
    free(target);
    return counts.failed > 0;
}
