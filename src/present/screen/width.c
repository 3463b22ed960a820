#include "present/shared.h"

unsigned text__width(const char *text)
{
    unsigned columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

size_t text__bytes_of_columns(const char *text, unsigned columns)
{
    const char *at = text;
    for (; *at; at++) {
        if (((unsigned char)*at & 0xc0) == 0x80)
            continue;
        if (columns-- == 0)
            break;
    }
    return (size_t)(at - text);
}
