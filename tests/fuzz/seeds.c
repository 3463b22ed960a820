/* seeds.c: writes whole, valid inputs for the fuzzers to start from:
 *     seeds READER_DIRECTORY SYMBOLS_DIRECTORY   (which exist) */
#include "base/memory.h"
#include "fixture.h"
#include "format/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
};

static int write_trace(const char *directory, size_t number)
{
    struct error error = {""};
    char *trace = memory__format("%s.tmp", directory);
    char *events = memory__format("%s/" HEURT_EVENTS_FILE, trace);
    char *seed = memory__format("%s/seed-%zu", directory, number);
    int code = fixture__write(trace, traces[number], &error);
    if (code < 0)
        fprintf(stderr, "seeds: %s\n", error.text);
    else
        code = rename(events, seed);
    rmdir(trace);
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
    if (argc != 3) {
        fprintf(stderr, "usage: %s READER_DIRECTORY SYMBOLS_DIRECTORY\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++)
        if (write_trace(argv[1], i) < 0)
            return 1;
    return write_symbols(argv[2]) < 0;
}
