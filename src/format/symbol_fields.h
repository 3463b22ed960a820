/* symbol_fields.h: what symbols.h keeps of the types of the program's memory: the fields that
 * instructions access, and what calls that allocate give. For symbols.c alone.
 *
 * In go addresses with names, out come two tables of the symbols' file, and later the same again.
 * A look-up costs one hash. It stands on json-c and base/map.h. */
#ifndef HEURT_FORMAT_SYMBOL_FIELDS_H
#define HEURT_FORMAT_SYMBOL_FIELDS_H

#include "base/map.h"
#include "base/vec.h"
#include "format/symbols.h"

#include <json-c/json.h>

struct symbol_fields {
    struct map field_index, type_index, asked_index, layout_index;
    struct vec fields;  /* struct kept_field *: those that were given out must not move */
    struct vec types;   /* struct kept_type * */
    struct vec layouts; /* struct symbol_type *: each once, of the fields */
    struct vec asked;   /* struct made_site */
};

struct symbol_fields symbol_fields__new(void);
void symbol_fields__free(struct symbol_fields *self);

void symbol_fields__put(struct symbol_fields *self, uint32_t process, uint64_t instruction,
                        const struct symbol_field *field);
const struct symbol_field *symbol_fields__get(const struct symbol_fields *self, uint32_t process,
                                              uint64_t instruction);
void symbol_fields__ask_type(struct symbol_fields *self, uint32_t process, uint64_t address);
void symbol_fields__put_type(struct symbol_fields *self, uint32_t process, uint64_t address,
                             const struct symbol_type *type);
const struct symbol_type *symbol_fields__type(const struct symbol_fields *self, uint32_t process,
                                              uint64_t address);

/* Adds the tables "types", "fields" and "made". */
void symbol_fields__to_json(const struct symbol_fields *self, struct json_object *root);
/* Reads a row of each, those of "types" first; false: it is damaged. */
bool symbol_fields__load_layout(struct symbol_fields *self, struct json_object *row);
bool symbol_fields__load(struct symbol_fields *self, struct json_object *row);
bool symbol_fields__load_type(struct symbol_fields *self, struct json_object *row);

#endif
