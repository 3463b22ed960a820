#include "kernel/tracepoint.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_BYTES_MAX 65536u

/* The number behind key in the line that starts at line; false when it is not there. */
static bool number_after(const char *line, const char *end, const char *key, uint32_t *number)
{
    const char *at = strstr(line, key);
    if (!at || at >= end)
        return false;
    char *after;
    errno = 0;
    unsigned long value = strtoul(at + strlen(key), &after, 10);
    if (errno || after == at + strlen(key) || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* The name of a declaration such as "unsigned char comm[16]": its last word. */
static bool declares(const char *declaration, const char *end, const char *name)
{
    size_t length = strlen(name);
    const char *start = end;
    while (start > declaration && start[-1] != ' ' && start[-1] != '*')
        start--;
    return (size_t)(end - start) == length && memcmp(start, name, length) == 0;
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static void read_field(const char *line, const char *end, struct tracepoint_field *fields,
                       size_t count)
{
    const char *declaration = strstr(line, "field:");
    if (!declaration || declaration >= end)
        return;
    const char *semicolon = memchr(declaration, ';', (size_t)(end - declaration));
    if (!semicolon)
        return;
    uint32_t offset, bytes;
    if (!number_after(semicolon, end, "offset:", &offset) ||
        !number_after(semicolon, end, "size:", &bytes))
        return;
    bool is_number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    for (size_t i = 0; i < count && is_number; i++)
        if (declares(declaration, semicolon, fields[i].name)) {
            fields[i].offset = offset;
            fields[i].bytes = bytes;
        }
}

int tracepoint__parse(const char *text, uint32_t *number, struct tracepoint_field *fields,
                      size_t count)
{
    bool has_number = false;
    for (size_t i = 0; i < count; i++)
        fields[i].bytes = 0;
    while (*text) {
        const char *end = text + strcspn(text, "\n");
        if (!*end)
            break; /* a line that was cut */
        if (strncmp(text, "ID: ", 4) == 0)
            has_number = number_after(text, end, "ID: ", number);
        read_field(text, end, fields, count);
        text = end + 1;
    }
    return has_number ? 0 : -EBADMSG;
}

static int read_format(const char *path, char **text)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return -errno;
    *text = memory__zeroed(FORMAT_BYTES_MAX, 1);
    size_t bytes = fread(*text, 1, FORMAT_BYTES_MAX - 1, file);
    int code = ferror(file) ? -EIO : bytes == 0 ? -EBADMSG : 0;
    fclose(file);
    if (code < 0)
        free(*text);
    return code;
}

int tracepoint__read(const char *root, const char *event, uint32_t *number,
                     struct tracepoint_field *fields, size_t count)
{
    static const char *const mounts[] = TRACEFS_MOUNTS;
    int result = -ENOENT;
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        char *path = memory__format("%s%s/events/%s/format", root, mounts[i], event), *text = NULL;
        int code = read_format(path, &text);
        free(path);
        if (code == 0) {
            code = tracepoint__parse(text, number, fields, count);
            free(text);
            return code;
        }
        if (code != -ENOENT)
            result = code;
    }
    return result;
}

uint64_t tracepoint_field__get(const struct tracepoint_field *field, const void *raw, size_t size)
{
    uint64_t number = 0;
    if (field->bytes > sizeof number || field->offset > size || field->bytes > size - field->offset)
        return 0;
    memcpy(&number, (const char *)raw + field->offset, field->bytes);
    return number;
}
