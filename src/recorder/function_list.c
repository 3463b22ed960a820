#include "recorder/function_list.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* One line taken apart in place; both empty for a line without a function. */
struct line {
    char *function, *module;
};

static char *trimmed(char *text)
{
    while (is_blank(*text))
        text++;
    size_t length = strlen(text);
    while (length && is_blank(text[length - 1]))
        text[--length] = 0;
    return text;
}

/* Where after start an unquoted mark stands at the beginning or after a blank, or NULL. */
static char *find_mark(char *text, char mark)
{
    bool after_blank = true;
    for (char *at = text; *at; at++) {
        if (*at == mark && after_blank)
            return at;
        after_blank = is_blank(*at);
        if (*at == '\\' && at[1])
            at++;
    }
    return NULL;
}

static struct line take_apart(char *text)
{
    char *comment = find_mark(text, '#');
    if (comment)
        *comment = 0;
    char *module = find_mark(text, '@');
    if (module)
        *module++ = 0;
    return (struct line){trimmed(text), module ? trimmed(module) : NULL};
}

static int read_line(char *text, size_t bytes, size_t number, struct vec *patterns,
                     struct error *error)
{
    if (strlen(text) != bytes)
        return error__set(error, -EINVAL, "line %zu of the function list is not text", number);
    struct line line = take_apart(text);
    if (!*line.function && !line.module)
        return 0;
    if (!*line.function)
        return error__set(error, -EINVAL,
                          "line %zu of the function list names the module %s but no function "
                          "(\"* @%s\" means all of its functions)",
                          number, line.module, line.module);
    if (line.module && !*line.module)
        return error__set(error, -EINVAL,
                          "line %zu of the function list: a module is missing after \"%s @\"",
                          number, line.function);
    char *pattern = line.module ? memory__format("%s @%s", line.function, line.module)
                                : memory__text(line.function);
    vec__push(patterns, &pattern);
    return 0;
}

int function_list__read(FILE *in, struct vec *patterns, struct error *error)
{
    char *text = NULL;
    size_t capacity = 0, number = 0;
    ssize_t bytes;
    int code = 0;
    errno = 0;
    while (code == 0 && (bytes = getline(&text, &capacity, in)) >= 0)
        code = read_line(text, (size_t)bytes, ++number, patterns, error);
    if (code == 0 && ferror(in))
        code = error__set(error, errno ? -errno : -EIO, "the function list cannot be read: %s",
                          strerror(errno ? errno : EIO));
    free(text);
    return code;
}

static bool is_special(const char *name, size_t at)
{
    if (name[at] == '#' || name[at] == '@')
        return at == 0 || is_blank(name[at - 1]);
    return strchr("*?[]\\", name[at]) != NULL;
}

char *function_list__quote(const char *name)
{
    char *text = memory__zeroed(2 * strlen(name) + 1, 1), *out = text;
    for (size_t i = 0; name[i]; i++) {
        if (is_special(name, i))
            *out++ = '\\';
        *out++ = name[i];
    }
    return text;
}

bool function_list__is_plain(const char *name)
{
    for (size_t i = 0; name[i]; i++)
        if (is_special(name, i) || name[i] == '\n' || name[i] == '\r')
            return false;
    return *name && !is_blank(*name) && !is_blank(name[strlen(name) - 1]);
}
