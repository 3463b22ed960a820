#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *memory__zeroed(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        out_of_memory(count * size);
    return memory;
}

void *memory__resize(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count ? count : 1, size);
    if (!memory)
        out_of_memory(count * size);
    return memory;
}

char *memory__text(const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    return memcpy(memory__zeroed(bytes, 1), text, bytes);
}

char *memory__format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        out_of_memory(strlen(format));
    va_end(arguments);
    return text;
}
