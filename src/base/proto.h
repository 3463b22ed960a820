/* proto.h: messages of protocol buffers, as bytes: field by field, in whatever order they are put,
 * or stand.
 *
 * In go numbers of fields and values, out come the bytes of a message, or the other way round; one
 * within another is bytes. A field is a tag (its number and how it is told) and a varint, 4 or 8
 * bytes, or a length and bytes. That is all of the format that exporters and importers need: a
 * library would bring a compiler of schemas and copies of every message. A field costs a few ns;
 * memory grows with the largest message that is written. It stands on memory.h. */
#ifndef HEURT_BASE_PROTO_H
#define HEURT_BASE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
    uint8_t *bytes;
    size_t count, room;
};

/* All zeroes is an empty message. proto__free leaves such a one. */
void proto__free(struct proto *proto);
void proto__grow(struct proto *proto, size_t bytes);

/* Room for so many more. */
static inline void proto__reserve(struct proto *proto, size_t bytes)
{
    if (proto->room - proto->count < bytes)
        proto__grow(proto, bytes);
}

#define PROTO_VARINT_MOST 10

static inline void proto__clear(struct proto *proto)
{
    proto->count = 0;
}

static inline void proto__put_varint(struct proto *proto, uint64_t value)
{
    proto__reserve(proto, PROTO_VARINT_MOST);
    uint8_t *at = proto->bytes + proto->count;
    for (; value > 0x7f; value >>= 7)
        *at++ = (uint8_t)value | 0x80;
    *at++ = (uint8_t)value;
    proto->count = (size_t)(at - proto->bytes);
}

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

static inline void proto__put_tag(struct proto *proto, uint32_t field, enum proto_wire wire)
{
    proto__put_varint(proto, field << 3 | (uint32_t)wire);
}

/* Unsigned numbers, bools, enums, and signed ones that are not negative. */
static inline void proto__number(struct proto *proto, uint32_t field, uint64_t value)
{
    proto__put_tag(proto, field, PROTO_VARINT);
    proto__put_varint(proto, value);
}

void proto__fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto__double(struct proto *proto, uint32_t field, double value);
void proto__bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count);
/* As UTF-8: each foreign byte becomes U+FFFD. NULL is "". */
void proto__text(struct proto *proto, uint32_t field, const char *text);
void proto__message(struct proto *proto, uint32_t field, const struct proto *message);

/* A message that is read: from at to end. The rest is of the field that was read last. */
struct proto_reader {
    const uint8_t *at, *end;
    bool is_damaged; /* the fields behind it cannot be told */
    uint32_t field;
    enum proto_wire wire;
    uint64_t number;      /* the value; 0 of bytes */
    const uint8_t *bytes; /* within the message; NULL of numbers */
    size_t count;
};

struct proto_reader proto_reader__of(const void *bytes, size_t count);
/* The message in the field that was read last. */
struct proto_reader proto_reader__inner(const struct proto_reader *reader);
/* False: there is none, or it is damaged. */
bool proto_reader__next(struct proto_reader *reader);

#endif
