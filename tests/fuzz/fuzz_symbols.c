/* fuzz_symbols.c: libFuzzer over the loader of a trace's symbols. */
#include "walk.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct symbols *symbols;
    struct error error;
    if (symbols__load_memory((const char *)bytes, count, &symbols, &error) == 0)
        for (uint64_t i = 0; i < 4; i++)
            walk_symbols(symbols, (uint32_t)i / 2, 0x401000 + i % 2);
    symbols__free(symbols);
    return 0;
}
