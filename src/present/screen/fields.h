/* fields.h: named values of one event, as text (" name=value unit") or as members of a JSON object
 * ("name_unit": value). Private to this room. */
#ifndef HEURT_PRESENT_SCREEN_FIELDS_H
#define HEURT_PRESENT_SCREEN_FIELDS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct json_object;

struct fields {
    FILE *out;                /* where the text goes */
    struct json_object *json; /* NULL: text */
};

/* unit: NULL when there is none. */
void fields__number(const struct fields *fields, const char *name, const char *unit,
                    uint64_t value);
void fields__signed(const struct fields *fields, const char *name, const char *unit, int64_t value);
void fields__unknown(const struct fields *fields, const char *name, const char *unit);
void fields__address(const struct fields *fields, const char *name, uint64_t address);
/* Frees the text. What would steer a terminal is not shown. */
void fields__text(const struct fields *fields, const char *name, char *text);

/* Names come from the recorded program: what would steer a terminal is not printed. */
void text__print(FILE *out, const char *text);
/* Text as it is; a number's digits; a string of valid UTF-8 with its quotes: for what is written
 * many million times, for which formats and documents would take too long. */
static inline void text__put(FILE *out, const char *text)
{
    fwrite_unlocked(text, 1, strlen(text), out);
}
void text__put_number(FILE *out, uint64_t number);
void text__put_json(FILE *out, const char *text);

#endif
