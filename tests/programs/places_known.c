/* places_known.c: prints where its memory lies and what it is given: the same with heurt as
 * without.
 *
 * Places of the heap are told modulo 4,096 (where it begins) and 64 (each of 1,000 pieces, which
 * decides about cache lines), those of stacks modulo 4,096: of the main thread's only where the
 * kernel does not choose it by chance (--stack). */
#include "known.h"

#include <elf.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

static unsigned within(const void *address, unsigned size)
{
    return (unsigned)((uintptr_t)address % size);
}

static void print_heap(void)
{
    unsigned long long hash = 1469598103934665603ull;
    for (unsigned i = 0; i < 1000; i++) {
        size_t size = 1 + i * 37 % 700;
        unsigned char *piece = i % 3 ? malloc(size) : calloc(1, size);
        if (i < 3)
            printf("piece_%u=%u\n", i, within(piece, 64));
        hash = (hash ^ within(piece, 64)) * 1099511628211ull;
        if (i % 5 == 0)
            free(piece);
    }
    printf("pieces=%llx\n", hash);
}

static void count_keys(void)
{
    pthread_key_t keys[PTHREAD_KEYS_MAX + 1];
    unsigned count = 0;
    while (count <= PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    unsigned long long sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += keys[i];
    printf("keys=%u first=%u sum=%llu\n", count, keys[0], sum);
    for (unsigned i = 0; i < count; i++)
        KNOWN_CHECK(pthread_key_delete(keys[i]) == 0);
}

static void print_environ(void)
{
    char text[1 << 16];
    int file = open("/proc/self/environ", O_RDONLY);
    printf("descriptor=%d\n", file);
    ssize_t length = read(file, text, sizeof text);
    close(file);
    KNOWN_CHECK(length >= 0);
    for (ssize_t i = 0; i < length; i++)
        putchar(text[i] ? text[i] : '\n');
    printf("environ_bytes=%zd\n", length);
    for (char **entry = environ; *entry; entry++)
        printf("environ: %s\n", *entry);
}

/* As runtimes do that begin before libc: the auxiliary vector stands behind the environment. */
static void find_auxiliary_vector(void)
{
    char **entry = environ;
    while (*entry)
        entry++;
    const Elf64_auxv_t *vector = (const void *)(entry + 1);
    unsigned long page = 0;
    for (; vector->a_type != AT_NULL; vector++)
        if (vector->a_type == AT_PAGESZ)
            page = vector->a_un.a_val;
    printf("page=%lu known=%d\n", page, page == getauxval(AT_PAGESZ));
}

static void *print_thread(void *unused)
{
    unsigned place = 0;
    printf("thread: stack=%u self=%u\n", within(&place, 4096),
           within((void *)pthread_self(), 4096));
    return unused;
}

/* Of a thread that begins when the program has had all keys. */
static void *print_later(void *unused)
{
    printf("later: self=%u\n", within((void *)pthread_self(), 4096));
    return unused;
}

int main(int argc, char **argv)
{
    void *first = malloc(1);
    pthread_t thread;
    printf("heap=%u\n", within(first, 4096));
    if (argc > 1 && strcmp(argv[1], "--stack") == 0)
        printf("stack=%u\n", within(&argc, 4096));
    print_heap();
    print_environ();
    find_auxiliary_vector();
    KNOWN_CHECK(pthread_create(&thread, NULL, print_thread, NULL) == 0);
    KNOWN_CHECK(pthread_join(thread, NULL) == 0);
    count_keys();
    KNOWN_CHECK(pthread_create(&thread, NULL, print_later, NULL) == 0);
    KNOWN_CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
