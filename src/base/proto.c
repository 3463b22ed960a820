/* proto.c: see proto.h. */
#include "base/proto.h"

#include "base/memory.h"
#include "base/sanitize.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256u

void proto__free(struct proto *proto)
{
    free(proto->bytes);
    *proto = (struct proto){0};
}

void proto__grow(struct proto *proto, size_t bytes)
{
    size_t room = proto->room ? proto->room : ROOM_FIRST;
    while (room - proto->count < bytes)
        room *= 2;
    proto->bytes = memory__resize(proto->bytes, room, 1);
    proto->room = room;
}

void proto__fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
    proto__put_tag(proto, field, PROTO_FIXED64);
    proto__reserve(proto, sizeof value);
    for (unsigned i = 0; i < sizeof value; i++)
        proto->bytes[proto->count++] = (uint8_t)(value >> 8 * i);
}

void proto__double(struct proto *proto, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    proto__fixed64(proto, field, bits);
}

void proto__bytes(struct proto *proto, uint32_t field, const void *bytes, size_t count)
{
    proto__put_tag(proto, field, PROTO_BYTES);
    proto__put_varint(proto, count);
    proto__reserve(proto, count);
    if (count)
        memcpy(proto->bytes + proto->count, bytes, count);
    proto->count += count;
}

void proto__text(struct proto *proto, uint32_t field, const char *text)
{
    char *clean = text__utf8(text);
    proto__bytes(proto, field, clean, strlen(clean));
    free(clean);
}

void proto__message(struct proto *proto, uint32_t field, const struct proto *message)
{
    proto__bytes(proto, field, message->bytes, message->count);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct proto_reader proto_reader__of(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    return (struct proto_reader){.at = at, .end = count ? at + count : at};
}

struct proto_reader proto_reader__inner(const struct proto_reader *reader)
{
    return proto_reader__of(reader->bytes, reader->count);
}

static bool take_varint(struct proto_reader *reader, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 7 * PROTO_VARINT_MOST && reader->at < reader->end;
         shift += 7) {
        uint8_t byte = *reader->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool take_fixed(struct proto_reader *reader, unsigned bytes, uint64_t *value)
{
    *value = 0;
    if ((size_t)(reader->end - reader->at) < bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)*reader->at++ << 8 * i;
    return true;
}

static bool take_bytes(struct proto_reader *reader)
{
    uint64_t count;
    if (!take_varint(reader, &count) || count > (uint64_t)(reader->end - reader->at))
        return false;
    reader->bytes = reader->at;
    reader->count = (size_t)count;
    reader->at += count;
    return true;
}

static bool take_value(struct proto_reader *reader)
{
    switch (reader->wire) {
    case PROTO_VARINT:
        return take_varint(reader, &reader->number);
    case PROTO_FIXED64:
        return take_fixed(reader, 8, &reader->number);
    case PROTO_FIXED32:
        return take_fixed(reader, 4, &reader->number);
    case PROTO_BYTES:
        return take_bytes(reader);
    }
    return false;
}

bool proto_reader__next(struct proto_reader *reader)
{
    uint64_t tag;
    reader->number = 0;
    reader->bytes = NULL;
    reader->count = 0;
    if (reader->is_damaged || reader->at >= reader->end)
        return false;
    reader->is_damaged = true;
    if (!take_varint(reader, &tag) || tag >> 3 == 0 || tag >> 3 >= 1u << 29)
        return false;
    reader->field = (uint32_t)(tag >> 3);
    reader->wire = (enum proto_wire)(tag & 7);
    reader->is_damaged = !take_value(reader);
    return !reader->is_damaged;
}
