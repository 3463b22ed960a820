/* fuzz_block.c: libFuzzer over the unpacking of a block.  The input is a block's header and the
 * content of its frame, which is made here: behind the checksum of a frame that is invented as a
 * whole a fuzzer would never come. */
#include "format/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Lets the parts add up to the content, where that can be. */
static void fit(struct heurt_packed_block *block, size_t content_bytes)
{
    size_t others = (size_t)block->shape_bytes + block->tick_rest_bytes +
                    (size_t)block->events * (block->shapes > 256 ? 3 : 2);
    if (others <= content_bytes)
        block->payload_bytes = (uint32_t)(content_bytes - others);
}

static void unpack(const struct heurt_packed_block *block, size_t bytes)
{
    size_t length = block__length(block, bytes);
    if (length == 0 || length == SIZE_MAX)
        return;
    struct block_unpacker *unpacker = block_unpacker__new();
    uint64_t *words = malloc(block->words * sizeof *words);
    block_unpacker__unpack(unpacker, block, 12345, words);
    free(words);
    block_unpacker__free(unpacker);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct heurt_packed_block header;
    if (count < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    bytes += sizeof header;
    count -= sizeof header;
    fit(&header, count);
    size_t room = (sizeof header + ZSTD_compressBound(count) + 7) & ~(size_t)7;
    struct heurt_packed_block *block = calloc(1, room);
    size_t frame_bytes = ZSTD_compress(block + 1, room - sizeof header, bytes, count, 1);
    *block = header;
    block->frame_bytes = (uint32_t)frame_bytes;
    unpack(block, room);
    free(block);
    return 0;
}
