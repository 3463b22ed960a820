/* disk.c: threads that read from one disk at the same time.
 *
 * Interference   Every thread reads 512 bytes at random places of a file, past the page cache
 *                (O_DIRECT).  The first thread's reads queue behind those of the others, the more
 *                often these (every --delay microseconds) read.
 * See it         heurt ./disk
 *                The class pread in first_thread_read has a score, its cause is the disk.
 * Cure           One reader and larger reads, the page cache (--cached), or another disk.
 *
 * elapsed_ns and operations are the first thread's.  The file is made in --directory, which must
 * be on a real disk (tmpfs is not), and is removed at once.
 */
#include "example.h"

#include <fcntl.h>
#include <sys/prctl.h>

enum { READ_BYTES = 512, BLOCK_BYTES = 1 << 20, BUFFER_ALIGNMENT = 4096 };

struct shared {
    long iterations, delay;
    long blocks; /* length of the file */
    int descriptor;
    atomic_bool done, failed;
};

static bool read_somewhere(const struct shared *shared, void *buffer, uint64_t *random)
{
    uint64_t places = (uint64_t)shared->blocks * (BLOCK_BYTES / READ_BYTES);
    off_t offset = (off_t)(example__random(random) % places * READ_BYTES);
    return pread(shared->descriptor, buffer, READ_BYTES, offset) == READ_BYTES;
}

/* A call site of its own: what the others read does not belong to its class. */
__attribute__((noinline)) bool first_thread_read(int descriptor, void *buffer, off_t offset);
bool first_thread_read(int descriptor, void *buffer, off_t offset)
{
    ssize_t got = pread(descriptor, buffer, READ_BYTES, offset);
    return got == READ_BYTES;
}

static void wait_microseconds(long microseconds)
{
    const struct timespec span = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (microseconds)
        nanosleep(&span, NULL);
}

static void *read_buffer(void)
{
    void *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_ALIGNMENT);
    if (!buffer)
        abort();
    return buffer;
}

static void read_all(long index, void *argument)
{
    struct shared *shared = argument;
    uint64_t random = 88172645463325252u + (uint64_t)index;
    uint64_t places = (uint64_t)shared->blocks * (BLOCK_BYTES / READ_BYTES);
    void *buffer = read_buffer();
    bool good = true;
    prctl(PR_SET_TIMERSLACK, 1UL); /* sleep as long as asked, not 50 µs longer */
    if (index == 0) {
        for (long i = 0; good && i < shared->iterations; i++)
            good = first_thread_read(shared->descriptor, buffer,
                                     (off_t)(example__random(&random) % places * READ_BYTES));
        atomic_store(&shared->done, true);
    }
    while (good && !atomic_load(&shared->done)) {
        wait_microseconds(shared->delay);
        good = read_somewhere(shared, buffer, &random);
    }
    if (!good)
        atomic_store(&shared->failed, true);
    free(buffer);
}

/* Makes the file, filled so that no read finds a hole, and unlinks it. */
static int make_file(const char *directory, long blocks, bool cached)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/heurt-disk-XXXXXX", directory);
    int descriptor = mkostemp(path, 0);
    void *block = aligned_alloc(BUFFER_ALIGNMENT, BLOCK_BYTES);
    if (descriptor < 0 || !block) {
        fprintf(stderr, "disk: cannot make a file in %s: %s\n", directory, strerror(errno));
        exit(1);
    }
    unlink(path);
    memset(block, 0x5a, BLOCK_BYTES);
    for (long i = 0; i < blocks; i++) {
        if (write(descriptor, block, BLOCK_BYTES) != BLOCK_BYTES) {
            fprintf(stderr, "disk: cannot write %ld MiB in %s: %s\n", blocks, directory,
                    strerror(errno));
            exit(1);
        }
    }
    free(block);
    fsync(descriptor);
    if (!cached && fcntl(descriptor, F_SETFL, O_DIRECT) != 0)
        fprintf(stderr,
                "disk: the file system of %s refuses O_DIRECT (%s): the reads come from the page "
                "cache and show no interference; choose another with --directory\n",
                directory, strerror(errno));
    return descriptor;
}

int main(int argc, char **argv)
{
    struct shared shared = {.iterations = 2000, .delay = 0, .blocks = 16};
    long threads = example__cpus();
    const char *directory = "/var/tmp";
    bool cached = false;
    const struct example_option options[] = {
        {"threads", .number = &threads, .help = "how many threads"},
        {"iterations", .number = &shared.iterations, .help = "reads of the first thread"},
        {"delay", .number = &shared.delay, .help = "microseconds the others wait between reads"},
        {"size", .number = &shared.blocks, .help = "MiB of the file"},
        {"directory", .word = &directory, .help = "where to make the file (/var/tmp)"},
        {"cached", .flag = &cached, .help = "cure: read through the page cache"},
        {NULL},
    };
    example__options(argc, argv, options);
    if (shared.blocks < 1)
        shared.blocks = 1;
    shared.descriptor = make_file(directory, shared.blocks, cached);
    uint64_t first_ns;
    crew__run(threads, read_all, &shared, &first_ns);
    if (atomic_load(&shared.failed)) {
        fprintf(stderr, "disk: a read of %d bytes failed; the disk may want larger ones\n",
                READ_BYTES);
        return 1;
    }
    close(shared.descriptor);
    example__result(first_ns, shared.iterations);
    return 0;
}
