/* seeds.c: writes whole, valid inputs for the fuzzers to start from:
 *     seeds READER_DIRECTORY BLOCK_DIRECTORY SYMBOLS_DIRECTORY   (which exist) */
#include "aggregated.h"
#include "base/memory.h"
#include "fixture.h"
#include "format/pack.h"
#include "format/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char *const traces[] = {
    "start 100\nmeta command ./app\nend 300\n",
    "clock tsc\nstart 100 50\n"
    "process 0 100 /bin/app\n"
    "module 0 100 0x400000 0x500000 /bin/app\n"
    "module 0 150 0x7f0000 0x7f9000 /lib/one.so\n"
    "gone 0 190 0x7f0000\n"
    "function 0 1024 work 0x401000 x,y\n"
    "region 0 1026 parse 0x401100 a.c:12\n"
    "refusal 0 tiny /bin/app too short\n"
    "note 0 a note\n"
    "process 1 101 /bin/app 0 250\n"
    "thread 0 main\n"
    "200 thread_start 1 0xffffffff 0x401000\n"
    "210 work 3 4\n"
    "220 lock_wait 0x401010 0x7000\n"
    "230 leave lock_wait 0\n"
    "235 stack 1 2 3 4 5 6 7 8 9\n"
    "240 leave work\n"
    "300 thread_end 90 10\n"
    "thread 1 worker 1\n"
    "210 parse\n"
    "212 io 0x401020/1 5:1 512\n"
    "220 leave io 512\n"
    "290 leave parse\n",
    "clock tsc\nstart 100 50\n"
    "process 0 100 /bin/app\n"
    "function 0 1024 work 0x401000\n"
    "thread 0 main\n"
    "200 kernel 3\n"
    "210 work\n"
    "212 instructions 1000\n"
    "220 off_cpu 5/1 0xffffffffffff/3 0\n"
    "230 off_cpu 6/0 2/7 1001\n"
    "235 kernel_lost 4\n"
    "240 fault 7/0 0x7f0000001000\n"
    "245 fault 7/1 0x7f0000002000\n"
    "247 paused 5\n"
    "250 instructions 2000\n"
    "250 leave work\n",
};

/* This one once more, as of an aggregated run of which so many words are folded. */
enum { AGGREGATED = 1, FOLDED_WORDS = 7 };

static char *read_file(const char *path, size_t *bytes)
{
    struct stat status = {0};
    FILE *file = fopen(path, "r");
    if (!file || fstat(fileno(file), &status) < 0) {
        perror(path);
        exit(1);
    }
    char *all = memory__zeroed((size_t)status.st_size, 1);
    *bytes = fread(all, 1, (size_t)status.st_size, file);
    fclose(file);
    return all;
}

/* A block's header and what its frame holds. */
static void write_block(const char *directory, size_t number,
                        const struct heurt_packed_block *block)
{
    static char content[HEURT_PACKED_WORDS_MAX * 32];
    size_t bytes = ZSTD_decompress(content, sizeof content, block + 1, block->frame_bytes);
    char *path = memory__format("%s/seed-%zu", directory, number);
    FILE *file = fopen(path, "w");
    if (ZSTD_isError(bytes) || !file || fwrite(block, sizeof *block, 1, file) != 1 ||
        fwrite(content, 1, bytes, file) != bytes || fclose(file) != 0)
        exit(1);
    free(path);
}

/* The first block of every chunk of a packed events file. */
static void write_blocks(const char *directory, size_t number, const char *events)
{
    size_t bytes;
    char *file = read_file(events, &bytes);
    for (size_t at = HEURT_PACKED_START_BYTES; at < bytes;) {
        const struct heurt_chunk *chunk = (const void *)(file + at);
        size_t length = chunk->units * HEURT_PACKED_UNIT_BYTES;
        if (chunk->kind & HEURT_CHUNK_PACKED && length > sizeof *chunk)
            write_block(directory, number++, (const void *)(chunk + 1));
        at += length;
    }
    free(file);
}

/* The trace as it is written and, as the next number, packed; the blocks of that. */
static int write_trace(const char *directory, const char *blocks, const char *text, size_t number,
                       bool aggregated)
{
    struct error error = {""};
    struct pack_options options = {.threads = 1};
    enum pack_outcome outcome;
    char *trace = memory__format("%s.tmp", directory);
    char *events = memory__format("%s/" HEURT_EVENTS_FILE, trace);
    char *seed = memory__format("%s/seed-%zu", directory, 2 * number);
    char *packed = memory__format("%s/seed-%zu", directory, 2 * number + 1);
    char *copy = memory__format("cp %s %s", events, seed);
    int code = fixture__write(trace, text, &error);
    if (code == 0 && aggregated)
        code = aggregated__make(trace, FOLDED_WORDS);
    if (code == 0 && system(copy) != 0)
        code = -1;
    if (code == 0)
        code = trace__pack(trace, &options, &outcome, &error);
    if (code == 0)
        write_blocks(blocks, 100 * number, events);
    if (code == 0)
        code = rename(events, packed);
    if (code < 0)
        fprintf(stderr, "seeds: %s\n", error.text);
    rmdir(trace);
    free(copy);
    free(packed);
    free(seed);
    free(events);
    free(trace);
    return code;
}

static int write_symbols(const char *directory)
{
    struct error error = {""};
    struct symbols *symbols = symbols__new();
    struct symbol outer = {.function = "outer", .module = "/bin/app", .file = "a.c", .line = 3};
    struct symbol inner = {.function = "inner", .module = "/bin/app", .inlined_by = &outer};
    const uint64_t frames[] = {0x401000, 0x401001};
    inner.named = outer.named = true;
    symbols__put(symbols, 0, 0x401000, &inner);
    symbols__put(symbols, 1, 0x401001, &outer);
    symbols__put_variable(symbols, 1, 0x401001, &outer);
    symbols__put_stack(symbols, 0, 0x401000, frames, 2);
    symbols__warn(symbols, "/bin/app is stripped");
    int code = symbols__save(symbols, directory, &error);
    if (code < 0)
        fprintf(stderr, "seeds: %s\n", error.text);
    symbols__free(symbols);
    return code;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s READER_DIRECTORY BLOCK_DIRECTORY SYMBOLS_DIRECTORY\n", argv[0]);
        return 2;
    }
    const size_t count = sizeof traces / sizeof traces[0];
    for (size_t i = 0; i <= count; i++)
        if (write_trace(argv[1], argv[2], traces[i < count ? i : AGGREGATED], i, i == count) < 0)
            return 1;
    return write_symbols(argv[3]) < 0;
}
