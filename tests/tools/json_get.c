/* json_get FILE PATH: prints what a JSON file holds at PATH, for the tests.
 *
 *     a.b[2].c        members and elements
 *     a[].b           of every element, one a line
 *     a[kind=lock].b  of every element whose member kind is the text or number given
 *
 * Strings are printed bare, objects and arrays as JSON on one line. FILE may be "-".
 * Exit status: 0 something was printed; 1 nothing is there; 2 the file is not one JSON value. */
#include <json-c/json.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_value(struct json_object *value)
{
    puts(value ? json_object_is_type(value, json_type_string)
                     ? json_object_get_string(value)
                     : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN)
               : "null");
    return 1;
}

static int walk(struct json_object *value, const char *path);

static int is_chosen(struct json_object *element, size_t index, const char *inside, size_t length)
{
    const char *equals = memchr(inside, '=', length);
    char text[256];
    if (length == 0)
        return 1;
    snprintf(text, sizeof text, "%.*s", (int)length, inside);
    if (!equals)
        return strtoul(text, NULL, 10) == index;
    text[equals - inside] = 0;
    struct json_object *member = NULL;
    if (!json_object_object_get_ex(element, text, &member))
        return 0;
    const char *found = member ? json_object_get_string(member) : "null";
    return strcmp(found, text + (equals - inside) + 1) == 0;
}

static int walk_array(struct json_object *array, const char *path)
{
    const char *close = strchr(path, ']');
    int printed = 0;
    if (!close || !json_object_is_type(array, json_type_array))
        return 0;
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        struct json_object *element = json_object_array_get_idx(array, i);
        if (is_chosen(element, i, path + 1, (size_t)(close - path) - 1))
            printed += walk(element, close + 1);
    }
    return printed;
}

/* The number of values printed. */
static int walk(struct json_object *value, const char *path)
{
    if (*path == '.')
        path++;
    if (!*path)
        return print_value(value);
    if (*path == '[')
        return walk_array(value, path);
    char name[256];
    size_t length = strcspn(path, ".[");
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    struct json_object *member;
    if (!json_object_is_type(value, json_type_object) ||
        !json_object_object_get_ex(value, name, &member))
        return 0;
    return walk(member, path + length);
}

/* All of a file, with a final zero; NULL when it cannot be read. */
static char *read_all(int descriptor, size_t *length)
{
    char *text = NULL;
    ssize_t got = 0;
    *length = 0;
    do {
        *length += (size_t)got;
        char *larger = realloc(text, *length + 65537);
        if (!larger)
            return text;
        text = larger;
        got = read(descriptor, text + *length, 65536);
    } while (got > 0);
    text[*length] = 0;
    return text;
}

static struct json_object *parse(const char *text, size_t length)
{
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *value = json_tokener_parse_ex(tokener, text, (int)length + 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    if (error != json_tokener_success || end + strspn(text + end, " \t\r\n") < length) {
        fprintf(stderr, "json_get: at byte %zu: %s\n", end, json_tokener_error_desc(error));
        json_object_put(value);
        return NULL;
    }
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: json_get FILE PATH\n", stderr);
        return 2;
    }
    int descriptor = strcmp(argv[1], "-") == 0 ? STDIN_FILENO : open(argv[1], O_RDONLY);
    size_t length = 0;
    char *text = descriptor < 0 ? NULL : read_all(descriptor, &length);
    struct json_object *value = text ? parse(text, length) : NULL;
    if (!value)
        return 2;
    int printed = walk(value, argv[2]);
    json_object_put(value);
    free(text);
    return printed ? 0 : 1;
}
