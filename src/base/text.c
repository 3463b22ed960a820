#include "base/text.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *text__append(char *text, const char *format, ...)
{
    char *more = NULL;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vasprintf(&more, format, arguments);
    va_end(arguments);
    if (bytes < 0)
        out_of_memory(strlen(format));
    text = text__join(text, "", more);
    free(more);
    return text;
}

char *text__join(char *text, const char *between, const char *more)
{
    size_t length = text ? strlen(text) : 0, gap = length ? strlen(between) : 0;
    text = memory__resize(text, length + gap + strlen(more) + 1, 1);
    memcpy(text + length, between, gap);
    strcpy(text + length + gap, more);
    return text;
}

void texts__free(struct vec *texts)
{
    VEC_EACH (text, texts, char *)
        free(*text);
    vec__free(texts);
}

const char *path__name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
