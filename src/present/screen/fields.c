#include "present/screen/fields.h"

#include "base/memory.h"
#include "present/shared.h"
#include "present/table/document.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>

void text__print(FILE *out, const char *text)
{
    char *blunted = text__is_harmless(text) ? NULL : memory__text(text);
    if (blunted)
        text__blunt(blunted, "");
    text__put(out, blunted ? blunted : text);
    free(blunted);
}

void text__put_number(FILE *out, uint64_t number)
{
    char digits[20], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    fwrite_unlocked(first, 1, (size_t)(digits + sizeof digits - first), out);
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text == 0x7f || *text == '"' || *text == '\\' || *text == '/')
            return false;
    return true;
}

void text__put_json(FILE *out, const char *text)
{
    if (is_plain(text)) {
        putc_unlocked('"', out);
        text__put(out, text);
        putc_unlocked('"', out);
        return;
    }
    struct json_object *string = json__new_text(text);
    json__put_harmless(json_object_to_json_string_ext(string, JSON_C_TO_STRING_PLAIN), out);
    json_object_put(string);
}

static void add(const struct fields *fields, const char *name, const char *unit,
                struct json_object *value)
{
    char *key = memory__format("%s%s%s", name, unit ? "_" : "", unit ? unit : "");
    char *clean = text__utf8(key);
    json_object_object_add(fields->json, clean, value);
    free(clean);
    free(key);
}

static void print_name(const struct fields *fields, const char *name)
{
    fputc(' ', fields->out);
    text__print(fields->out, name);
    fputc('=', fields->out);
}

static void print_unit(const struct fields *fields, const char *unit)
{
    if (unit)
        fprintf(fields->out, " %s", unit);
}

void fields__number(const struct fields *fields, const char *name, const char *unit, uint64_t value)
{
    if (fields->json) {
        add(fields, name, unit, json_object_new_uint64(value));
        return;
    }
    print_name(fields, name);
    fprintf(fields->out, "%" PRIu64, value);
    print_unit(fields, unit);
}

void fields__signed(const struct fields *fields, const char *name, const char *unit, int64_t value)
{
    if (fields->json) {
        add(fields, name, unit, json_object_new_int64(value));
        return;
    }
    print_name(fields, name);
    fprintf(fields->out, "%" PRId64, value);
    print_unit(fields, unit);
}

void fields__unknown(const struct fields *fields, const char *name, const char *unit)
{
    if (fields->json) {
        add(fields, name, unit, NULL);
        return;
    }
    print_name(fields, name);
    fputc('?', fields->out);
}

void fields__address(const struct fields *fields, const char *name, uint64_t address)
{
    char *text = memory__format("0x%" PRIx64, address);
    fields__text(fields, name, text);
}

void fields__text(const struct fields *fields, const char *name, char *text)
{
    if (fields->json) {
        add(fields, name, NULL, json__new_text(text));
    } else {
        print_name(fields, name);
        text__print(fields->out, text);
    }
    free(text);
}
