/* stdio_known.c: streams that two threads use: waits for a FILE's lock that are certain, reads and
 * writes inside libc, arguments of all kinds; and calls that change what the process has mapped.
 *
 * usage: stdio_known [FILE]     which is made anew */
#include "known.h"

#include <float.h>
#include <signal.h>
#include <sys/mman.h>

enum { WAITS = 20, LINES = 5000, MAPS = 30 };

static FILE *shared;
static int turn, tid, stopped;

/* Waits for the stream each time: the other thread has it until this one sleeps. */
static void *print_lines(void *unused)
{
    __atomic_store_n(&tid, known__tid(), __ATOMIC_RELEASE);
    for (int i = 1; i <= WAITS; i++) {
        known__await(&turn, i);
        if (i % 3 == 0)
            fprintf(shared, "%d %s %.3f %Lf\n", i, "fprintf", i / 8.0, (long double)i / 4);
        else if (i % 3 == 1)
            fputs("fputs\n", shared);
        else
            putc('p', shared);
        __atomic_store_n(&turn, -i, __ATOMIC_RELEASE);
    }
    known__await(&stopped, 1);
    return unused;
}

static void make_it_wait(void)
{
    while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
        known__yield();
    for (int i = 1; i <= WAITS; i++) {
        flockfile(shared);
        __atomic_store_n(&turn, i, __ATOMIC_RELEASE);
        known__await_sleep(tid, NULL, 0);
        funlockfile(shared);
        known__await(&turn, -i);
    }
}

/* How often what fits into the buffer was written, and read. */
static void write_and_read(const char *path)
{
    char line[64], *longer = NULL;
    size_t room = 0;
    long lines = 0, bytes = 0;
    FILE *file = fopen(path, "w+");
    KNOWN_CHECK(file && setvbuf(file, NULL, _IOFBF, 4096) == 0);
    for (int i = 0; i < LINES; i++)
        KNOWN_CHECK(fprintf(file, "%07d\n", i) == 8);
    KNOWN_CHECK(fflush(file) == 0);
    rewind(file);
    while (fgets(line, sizeof line, file))
        lines++;
    rewind(file);
    for (int c; (c = getc(file)) != EOF;)
        bytes++;
    rewind(file);
    while (getline(&longer, &room, file) > 0)
        lines++;
    rewind(file);
    for (size_t got; (got = fread(line, 1, 50, file)) > 0;)
        bytes += (long)got;
    KNOWN_CHECK(lines == 2 * LINES && bytes == 2 * 8 * LINES);
    free(longer);
    fclose(file);
    known__number("writes", (8 * LINES + 4095) / 4096);
    known__number("reads", 4 * ((8 * LINES + 4095) / 4096 + 1)); /* the last finds the end */
}

static void *block_in_write(void *stream)
{
    __atomic_store_n(&tid, known__tid(), __ATOMIC_RELEASE);
    fputs("more than there is room for\n", stream);
    return NULL;
}

/* Who is cancelled while it writes lets go of the stream. */
static void cancel_a_writer(void)
{
    int ends[2];
    pthread_t thread;
    void *value;
    KNOWN_CHECK(pipe(ends) == 0);
    FILE *stream = fdopen(ends[1], "w");
    setvbuf(stream, NULL, _IONBF, 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    static const char page[4096];
    while (syscall(SYS_write, ends[1], page, sizeof page) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    tid = 0;
    flockfile(stream);
    KNOWN_CHECK(pthread_create(&thread, NULL, block_in_write, stream) == 0);
    while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
        known__yield();
    known__await_sleep(tid, stream->_lock, sizeof(int));
    funlockfile(stream);
    while (known__sleeps(tid, stream->_lock, sizeof(int)) || !known__sleeps(tid, NULL, 0))
        known__yield();
    KNOWN_CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &value) == 0);
    known__number("cancelled", value == PTHREAD_CANCELED);
    known__number("free_afterwards", ftrylockfile(stream) == 0);
}

static void map_memory(void)
{
    for (int i = 0; i < MAPS; i++) {
        char *memory = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        KNOWN_CHECK(memory != MAP_FAILED && mprotect(memory, 8192, PROT_READ | PROT_WRITE) == 0);
        memory = mremap(memory, 8192, 16384, MREMAP_MAYMOVE);
        KNOWN_CHECK(memory != MAP_FAILED && madvise(memory, 16384, MADV_DONTNEED) == 0);
        KNOWN_CHECK(munmap(memory, 16384) == 0);
    }
    errno = 0;
    KNOWN_CHECK(munmap((void *)1, 1) == -1 && errno == EINVAL);
    KNOWN_CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
                errno == EINVAL);
    known__number("maps", MAPS);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    KNOWN_CHECK((shared = fopen(argc > 1 ? argv[1] : "/dev/null", "w")));
    write_and_read("stdio_known.tmp");
    unlink("stdio_known.tmp");
    KNOWN_CHECK(pthread_create(&thread, NULL, print_lines, NULL) == 0);
    make_it_wait();
    map_memory();
    __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    KNOWN_CHECK(pthread_join(thread, NULL) == 0);
    cancel_a_writer();
    fclose(shared); /* not before: another stream could lie there */
    known__number("waits", WAITS + 1);
    printf("%d %s %c %.2f %.1Lf %e\n", 7, "text", 'c', 3.25, 8.5L, 1e9);
    return 0;
}
