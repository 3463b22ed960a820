/* block.h: how the words of a packed chunk's block become few bytes, and back.  This is the one
 * place that knows: another way to take events apart changes this file, block_*.[ch] and
 * docs/format.md.
 *
 * What a block holds is at most HEURT_PACKED_WORDS_MAX words.  Unpacking takes any bytes: it gives
 * the words that were packed, or says that it cannot. */
#ifndef HEURT_FORMAT_BLOCK_H
#define HEURT_FORMAT_BLOCK_H

#include "format/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not to be used by two threads at once. */
struct block_packer;
struct block_packer *block_packer__new(void);
void block_packer__free(struct block_packer *packer); /* NULL is allowed */

/* Begins a chunk of events; start_tick is what stands in its header. */
void block_packer__begin(struct block_packer *packer, uint64_t start_tick);

/* Adds an event, its word and its payload, to the block. False: it does not fit, so finish the
 * block first; one that does not even fit into an empty block cannot be packed. */
bool block_packer__add(struct block_packer *packer, const uint64_t *event, size_t words);

/* Writes the block of the events that were added, if any, and begins the next one. The result is
 * its length; 0 when it needs more than capacity bytes. */
size_t block_packer__finish(struct block_packer *packer, void *block, size_t capacity);
bool block_packer__is_empty(const struct block_packer *packer);

/* Writes a block of words that are no events; as finish. */
size_t block_packer__plain(struct block_packer *packer, const void *words, size_t count,
                           void *block, size_t capacity);

/* Not to be used by two threads at once. */
struct block_unpacker;
struct block_unpacker *block_unpacker__new(void);
void block_unpacker__free(struct block_unpacker *unpacker); /* NULL is allowed */

/* The block at the start of these bytes, which are aligned to 8: its length, 0 where the blocks
 * end, or SIZE_MAX when it cannot be one or is not whole. */
size_t block__length(const void *block, size_t bytes);

/* Unpacks a whole block to its block->words words. False: the block is damaged. */
bool block_unpacker__unpack(struct block_unpacker *unpacker, const struct heurt_packed_block *block,
                            uint64_t start_tick, uint64_t *words);

#endif
