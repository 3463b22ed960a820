/* fuzz_reader.c: libFuzzer over the trace reader: opens any bytes and reads all that they give. */
#include "walk.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct trace *trace;
    struct error error;
    if (trace__open_memory(bytes, count, &trace, &error) == 0)
        walk_trace(trace);
    trace__close(trace);
    return 0;
}
