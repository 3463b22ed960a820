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
