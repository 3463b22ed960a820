/* make_trace DIRECTORY <TEXT: a trace from readable text (tests/unit/fixture.h). */
#include "base/memory.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "make_trace: out of memory (%zu bytes)\n", bytes);
    exit(2);
}

int main(int argc, char **argv)
{
    static char text[1 << 20];
    struct error error;
    if (argc != 2) {
        fputs("usage: make_trace DIRECTORY <TEXT\n", stderr);
        return 2;
    }
    size_t bytes = fread(text, 1, sizeof text - 1, stdin);
    text[bytes] = 0;
    if (fixture__write(argv[1], text, &error) == 0)
        return 0;
    fprintf(stderr, "make_trace: %s\n", error.text);
    return 1;
}
